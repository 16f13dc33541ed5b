/* Refusals for people: the line, the formula, the figures, in two languages (SPEC 6.3). */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "server/problem.h"

static struct ledger_refusal *make_refusal(int32_t count)
{
    struct ledger_refusal *refusal =
        calloc(1, sizeof(*refusal) + (size_t)count * sizeof(refusal->limits[0]));
    refusal->count = count;
    refusal->requested_mcs = 4800000;
    refusal->requested_mcores = 16000;
    refusal->requested_s = 300;
    refusal->requested_tasks = 1;
    for (int32_t i = 0; i < count; i++) {
        refusal->limits[i].violation = (struct violation){
            .node_kind = NODE_PROJECT,
            .kind = CAP_MONTH,
            .limit = INT64_C(1800000000),
            .used = INT64_C(1728360000),
            .frozen = INT64_C(70200000),
            .requested = 4800000,
            .available = 1440000,
            .missing = 3360000,
            .resets_at_s = 1796083200,
            .node = "vision",
        };
    }
    return refusal;
}

static json_t *write(const struct ledger_refusal *refusal,
                     const struct error *error,
                     bool is_chinese)
{
    struct buffer buffer;
    struct json_out out;
    buffer_init(&buffer, 1 << 20);
    json_out_init(&out, &buffer, false);
    const struct problem problem = {
        .error = error,
        .refusal = refusal,
        .is_chinese = is_chinese,
        .request_id = "r1",
    };
    json_out_object_open(&out, NULL);
    problem_write(&out, &problem);
    json_out_object_close(&out);
    json_t *document = json_loads(buffer_text(&buffer), JSON_REJECT_DUPLICATES, NULL);
    cr_assert(document != NULL, "%s", buffer_text(&buffer));
    buffer_fini(&buffer);
    return document;
}

static void assert_text(const json_t *document, const char *key, const char *text)
{
    cr_assert_str_eq(json_string_value(json_object_get(document, key)), text);
}

static const struct error quota = {.code = ERR_QUOTA_INSUFFICIENT};

Test(problem, a_quota_refusal_reads_as_promised)
{
    struct ledger_refusal *refusal = make_refusal(1);
    json_t *document = write(refusal, &quota, false);
    assert_text(document, "title", "quota insufficient to pre-freeze 1.33 core-hours");
    assert_text(
        document, "detail",
        "quota insufficient to pre-freeze 1.33 core-hours (16.000 cores x 5.00 min): project vision month cap 500.00, "
        "used 480.10, frozen 19.50, available 0.40, missing 0.93");
    assert_text(document, "type", "https://corehour.invalid/problems/quota-insufficient");
    assert_text(document, "code", "quota_insufficient");
    cr_assert_eq(json_integer_value(json_object_get(document, "status")), 409);
    cr_assert(json_is_null(json_object_get(document, "earliest_at")));
    const json_t *violation = json_array_get(json_object_get(document, "violations"), 0);
    assert_text(violation, "cap", "month");
    assert_text(violation, "unit", "mcs");
    assert_text(violation, "resets_at", "2026-12-01T00:00:00Z");
    cr_assert(json_is_null(json_object_get(violation, "holders")));
    json_decref(document);
    free(refusal);
}

Test(problem, a_quota_refusal_reads_as_promised_in_chinese)
{
    struct ledger_refusal *refusal = make_refusal(1);
    json_t *document = write(refusal, &quota, true);
    assert_text(document, "title", "配额已不够预冻结，冻结时间5.00 min，折合1.33核时");
    json_decref(document);
    free(refusal);
}

Test(problem, all_limits_are_in_the_document_and_the_first_in_the_detail)
{
    struct ledger_refusal *refusal = make_refusal(12);
    refusal->requested_tasks = 4;
    refusal->waiting_ahead = 2;
    (void)snprintf(refusal->contact, sizeof(refusal->contact), "ops@example.org");
    json_t *document = write(refusal, &quota, false);
    const char *detail = json_string_value(json_object_get(document, "detail"));
    cr_assert_eq(json_array_size(json_object_get(document, "violations")), 12);
    cr_assert(strstr(detail, "x 4 tasks)") != NULL, "%s", detail);
    cr_assert(strstr(detail, "and 4 more") != NULL, "%s", detail);
    cr_assert(strstr(detail, "2 wait ahead; ask: ops@example.org") != NULL, "%s", detail);
    assert_text(document, "contact", "ops@example.org");
    json_decref(document);
    free(refusal);
}

Test(problem, holders_of_other_projects_are_project_and_amount_only)
{
    struct ledger_refusal *refusal = make_refusal(1);
    struct ledger_limit *limit = &refusal->limits[0];
    limit->holders_known = true;
    limit->holder_count = 2;
    limit->holders[0] =
        (struct ledger_holder){.hold = "h-1", .project = "vision", .user = "bob", .frozen_mcs = 36};
    limit->holders[1] =
        (struct ledger_holder){.hold = "h-2", .project = "speech", .frozen_mcs = 72};
    json_t *document = write(refusal, &quota, false);
    const json_t *holders =
        json_object_get(json_array_get(json_object_get(document, "violations"), 0), "holders");
    assert_text(json_array_get(holders, 0), "user", "bob");
    const json_t *other = json_array_get(holders, 1);
    assert_text(other, "project", "speech");
    assert_text(other, "frozen_core_hours", "0.00002");
    cr_assert(json_object_get(other, "hold") == NULL && json_object_get(other, "user") == NULL);
    json_decref(document);
    free(refusal);
}

Test(problem, other_refusals_name_field_and_code)
{
    struct error error;
    (void)error_set_field(&error, ERR_INVALID_FIELD, "resources.gpus.0.count",
                          "0 is not within 1 and 9");
    json_t *document = write(NULL, &error, false);
    assert_text(document, "field", "resources.gpus.0.count");
    assert_text(document, "detail", "resources.gpus.0.count: 0 is not within 1 and 9");
    assert_text(document, "instance", "urn:corehour:request:r1");
    cr_assert_eq(json_integer_value(json_object_get(document, "status")), 422);
    json_decref(document);
}

Test(problem, every_code_has_a_title_in_both_languages)
{
    for (int code = ERR_OK + 1; code < ERR__COUNT; code++) {
        const struct error error = {.code = (enum error_code)code};
        json_t *english = write(NULL, &error, false);
        json_t *chinese = write(NULL, &error, true);
        const char *title = json_string_value(json_object_get(english, "title"));
        cr_assert(strlen(title) > 0);
        cr_assert(strcmp(title, json_string_value(json_object_get(chinese, "title"))) != 0, "%s",
                  title);
        json_decref(english);
        json_decref(chinese);
    }
}

Test(problem, units_and_names_of_limits)
{
    char name[64];
    cr_assert_str_eq(problem_cap_name(CAP_GPUS, "a100", name, sizeof(name)), "gpus:a100");
    cr_assert_str_eq(problem_cap_name(CAP_FUNDS, "", name, sizeof(name)), "funds");
    for (int kind = 0; kind < CAP__COUNT; kind++) {
        cr_assert(problem_unit((enum cap_kind)kind) != NULL);
    }
}

Test(problem, the_language_is_the_one_preferred)
{
    static const struct {
        const char *header;
        bool is_chinese;
    } cases[] = {
        {NULL, false},          {"", false},
        {"zh", true},           {"zh-CN,zh;q=0.9,en;q=0.8", true},
        {"en,zh;q=0.8", false}, {"en;q=0.5, zh-TW;q=0.7", true},
        {"fr, zh;q=0.1", true}, {"zh;q=0", false},
        {"*", false},           {"zh;q=garbage", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        cr_assert_eq(problem_prefers_chinese(cases[i].header), cases[i].is_chinese, "%s",
                     cases[i].header);
    }
}
