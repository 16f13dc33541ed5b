/* From the text of a command line to the value of a request. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "clients/cli/kinds.h"
#include "clients/cli/lines.h"

TestSuite(kinds);

struct kind_case {
    enum cli_kind kind;
    const char *text;
    const char *json; /* NULL: refused */
};

Test(kinds, a_text_becomes_the_value_of_its_kind_or_is_refused)
{
    static const struct kind_case cases[] = {
        {CLI_TEXT, "爱丽丝", "\"爱丽丝\""},
        {CLI_TEXT, "\xff", NULL},
        {CLI_FLAG, "", "true"},
        {CLI_YES_NO, "yes", "true"},
        {CLI_YES_NO, "no", "false"},
        {CLI_YES_NO, "maybe", NULL},
        {CLI_COUNT, "8", "8"},
        {CLI_COUNT, "0", "0"},
        {CLI_COUNT, "-1", NULL},
        {CLI_COUNT, "1.0", NULL},
        {CLI_COUNT, "1e3", NULL},
        {CLI_COUNT, "9999999999999999", NULL},
        {CLI_COUNT, "", NULL},
        {CLI_DURATION, "1-12:00:00", "129600"},
        {CLI_DURATION, "soon", NULL},
        {CLI_AMOUNT, "0.10", "\"0.10\""},
        {CLI_AMOUNT, "500", "\"500\""},
        {CLI_AMOUNT, "0.1000000", NULL},
        {CLI_TIME, "-5m", "\"1970-01-01T00:11:40Z\""},
        {CLI_TIME, "2026-12-01T08:00:00+08:00", "\"2026-12-01T00:00:00Z\""},
        {CLI_TIME, "noon", NULL},
        {CLI_MEMORY, "64G", "65536"},
        {CLI_MEMORY, "lots", NULL},
        {CLI_LIST, "a,b", "[\"a\",\"b\"]"},
        {CLI_LIST, "a", "[\"a\"]"},
        {CLI_LIST, "all", "null"},
        {CLI_LIST, "a,,b", NULL},
        {CLI_LIST, "a,", NULL},
        {CLI_LIST, "", NULL},
        {CLI_GPUS, "a100:1", "[{\"model\":\"a100\",\"count\":1}]"},
        {CLI_GPUS, "2", "[{\"count\":2}]"},
        {CLI_GPUS, "a100:1,h100:2",
         "[{\"model\":\"a100\",\"count\":1},{\"model\":\"h100\",\"count\":2}]"},
        {CLI_GPUS, "a100:1:cores=30%:memory=12G",
         "[{\"model\":\"a100\",\"count\":1,\"cores_percent\":30,\"memory_mib\":12288}]"},
        {CLI_GPUS, "1:cores=30", "[{\"count\":1,\"cores_percent\":30}]"},
        {CLI_GPUS, "1g.5gb:2", "[{\"model\":\"1g.5gb\",\"count\":2}]"},
        {CLI_GPUS, "a100", NULL},
        {CLI_GPUS, "a100:", NULL},
        {CLI_GPUS, "a100:x", NULL},
        {CLI_GPUS, "a100:1:cores=30%%", NULL},
        {CLI_GPUS, "a100:1:cores=", NULL},
        {CLI_GPUS, "a100:1:disk=3", NULL},
        {CLI_GPUS, "a100:1,", NULL},
        {CLI_GPUS, "", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *value = NULL;
        enum corehour_result result = kind_convert(cases[i].kind, cases[i].text, 1000, &value);
        char *text =
            result == COREHOUR_OK ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
        if (cases[i].json == NULL)
            cr_expect_neq(result, COREHOUR_OK, "\"%s\" gave %s", cases[i].text, text);
        else
            cr_expect(text != NULL && strcmp(text, cases[i].json) == 0, "\"%s\" gave %s",
                      cases[i].text, text == NULL ? "nothing" : text);
        free(text);
        json_decref(value);
    }
}

Test(kinds, every_kind_says_what_it_expects)
{
    for (int kind = 0; kind < CLI_KINDS; kind++)
        cr_expect_neq(kind_expects((enum cli_kind)kind), NULL);
    cr_expect_eq(kind_metavar(CLI_FLAG), NULL);
}

/* Joins lines with "|". */
struct joined {
    char text[256];
    size_t refuse_after;
    size_t lines;
};

static bool join(void *arg, const char *line, size_t line_bytes)
{
    struct joined *joined = arg;
    cr_expect_eq(strlen(line), line_bytes);
    strcat(joined->text, line);
    strcat(joined->text, "|");
    return ++joined->lines != joined->refuse_after;
}

Test(kinds, lines_come_whole_however_the_bytes_are_cut)
{
    static const char stream[] = "one\n\ntwo, longer\nthree";
    for (size_t part = 1; part < sizeof stream; part++) {
        struct joined joined = {0};
        struct lines lines;
        lines_init(&lines, join, &joined);
        for (size_t at = 0; at < sizeof stream - 1; at += part) {
            size_t left = sizeof stream - 1 - at;
            cr_assert(lines_feed(&lines, stream + at, left < part ? left : part));
        }
        cr_assert(lines_end(&lines));
        cr_expect_str_eq(joined.text, "one||two, longer|three|", "cut at %zu", part);
        lines_fini(&lines);
    }
}

Test(kinds, lines_end_when_their_taker_says_so)
{
    struct joined joined = {.refuse_after = 2};
    struct lines lines;
    lines_init(&lines, join, &joined);
    cr_expect_not(lines_feed(&lines, "a\nb\nc\n", 6));
    cr_expect_eq(joined.lines, 2u);
    lines_fini(&lines);
}
