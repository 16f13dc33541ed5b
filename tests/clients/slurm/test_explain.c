/* What a user reads when a submission is refused; the same cases are tried with the Lua variant. */
#include <string.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "clients/slurm/explain.h"

Test(explain, problems_become_lines)
{
    json_error_t error;
    json_t *file = json_load_file(EXPLAIN_CASES, JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(file, "%s:%d: %s", EXPLAIN_CASES, error.line, error.text);
    size_t i;
    json_t *row;
    json_array_foreach(file, i, row)
    {
        char text[EXPLAIN_BYTES];
        char want[EXPLAIN_BYTES] = "";
        size_t j;
        json_t *line;
        json_array_foreach(json_object_get(row, "lines"), j, line)
        {
            snprintf(want + strlen(want), sizeof want - strlen(want), "%s%s", j > 0 ? "\n" : "",
                     json_string_value(line));
        }
        explain_problem(json_object_get(row, "problem"), json_is_true(json_object_get(row, "zh")),
                        text);
        cr_expect_str_eq(text, want, "%s:\n%s", json_string_value(json_object_get(row, "name")),
                         text);
    }
    cr_assert_gt(i, 5);
    json_decref(file);
}

Test(explain, what_does_not_fit_is_cut_at_a_line)
{
    char text[EXPLAIN_BYTES];
    json_t *violations = json_array();
    for (int i = 0; i < 200; i++) {
        json_array_append_new(violations,
                              json_pack("{s:s, s:s, s:s, s:s, s:i}", "node", "vision", "kind",
                                        "project", "cap", "month", "unit", "mcs", "limit", i));
    }
    json_t *problem = json_pack("{s:s, s:s, s:o}", "code", "quota_insufficient", "title", "no",
                                "violations", violations);
    explain_problem(problem, false, text);
    cr_assert_lt(strlen(text), EXPLAIN_BYTES);
    cr_assert_str_eq(text + strlen(text) - 10, "core-hours");
    json_decref(problem);
}
