/* The error registry: permanent numbers, one slug each; descriptions that are safe to print. */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/base/error.h"
#include "ledger/base/text.h"

Test(error, every_code_has_its_own_slug_and_number)
{
    for (int a = 0; a < ERR__COUNT; a++) {
        for (int b = 0; b < a; b++) {
            cr_expect_str_neq(error_slug((enum error_code)a), error_slug((enum error_code)b));
            cr_expect_neq(error_number((enum error_code)a), error_number((enum error_code)b));
        }
    }
}

Test(error, every_failure_has_a_4xx_or_5xx_a_number_from_1000_and_a_meaning)
{
    for (int i = 1; i < ERR__COUNT; i++) {
        enum error_code code = (enum error_code)i;
        cr_expect(error_http_status(code) >= 400 && error_http_status(code) <= 599, "%s",
                  error_slug(code));
        cr_expect(error_number(code) >= 1000, "%s", error_slug(code));
        cr_expect(strlen(error_meaning(code)) > 10, "%s", error_slug(code));
    }
}

struct registry_case {
    enum error_code code;
    int32_t number;
    const char *slug;
    uint16_t http_status;
    enum error_retry retry;
};

Test(error, rows_that_clients_rely_on_are_as_published)
{
    static const struct registry_case cases[] = {
        {ERR_OK, 0, "ok", 200, ERROR_RETRY_NEVER},
        {ERR_MALFORMED, 1000, "malformed", 400, ERROR_RETRY_NEVER},
        {ERR_UNKNOWN_HOLD, 1004, "unknown_hold", 404, ERROR_RETRY_NEVER},
        {ERR_QUOTA_INSUFFICIENT, 1006, "quota_insufficient", 409, ERROR_RETRY_NEVER},
        {ERR_ID_REUSED, 1008, "id_reused", 409, ERROR_RETRY_NEVER},
        {ERR_INVALID_FIELD, 1015, "invalid_field", 422, ERROR_RETRY_NEVER},
        {ERR_ROLLED_BACK, 1029, "rolled_back", 424, ERROR_RETRY_NEVER},
        {ERR_UNAVAILABLE, 1033, "unavailable", 503, ERROR_RETRY_SAME_REQUEST},
        {ERR_OVERLOADED, 1034, "overloaded", 503, ERROR_RETRY_AFTER_BACKOFF},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        cr_expect_eq(error_number(cases[i].code), cases[i].number);
        cr_expect_str_eq(error_slug(cases[i].code), cases[i].slug);
        cr_expect_eq(error_http_status(cases[i].code), cases[i].http_status);
        cr_expect_eq(error_retry(cases[i].code), cases[i].retry);
    }
}

Test(error, a_slug_finds_its_code)
{
    for (int i = 0; i < ERR__COUNT; i++) {
        cr_expect_eq(error_from_slug(error_slug((enum error_code)i)), (enum error_code)i);
    }
    cr_expect_eq(error_from_slug("no_such_slug"), ERR__COUNT);
}

Test(error, retry_classes_have_names)
{
    cr_expect_str_eq(error_retry_name(ERROR_RETRY_NEVER), "never");
    cr_expect_str_eq(error_retry_name(ERROR_RETRY_SAME_REQUEST), "same_request");
    cr_expect_str_eq(error_retry_name(ERROR_RETRY_AFTER_BACKOFF), "after_backoff");
}

Test(error, setting_fills_code_and_detail_and_returns_the_code)
{
    struct error err = {.field = "old"};
    cr_expect_eq(error_set(&err, ERR_NOT_FOUND, "no project %s", "vision"), ERR_NOT_FOUND);
    cr_expect_eq(err.code, ERR_NOT_FOUND);
    cr_expect_str_eq(err.field, "");
    cr_expect_str_eq(err.detail, "no project vision");
}

Test(error, setting_with_a_field_names_it)
{
    struct error err = {0};
    cr_expect_eq(error_set_field(&err, ERR_INVALID_FIELD, "resources.gpus.0", "%d", 5),
                 ERR_INVALID_FIELD);
    cr_expect_str_eq(err.field, "resources.gpus.0");
    cr_expect_str_eq(err.detail, "5");
    error_clear(&err);
    cr_expect_eq(err.code, ERR_OK);
    cr_expect_str_eq(err.field, "");
    cr_expect_str_eq(err.detail, "");
}

Test(error, nobody_needs_to_listen)
{
    cr_expect_eq(error_set(NULL, ERR_INTERNAL, "unheard"), ERR_INTERNAL);
    cr_expect_eq(error_set_field(NULL, ERR_INVALID_FIELD, "f", "unheard"), ERR_INVALID_FIELD);
    error_clear(NULL);
}

Test(error, a_detail_is_cut_at_its_size_and_stays_printable)
{
    struct error err = {0};
    char text[LIMIT_ERROR_DETAIL_BYTES * 2];
    /* Three bytes a character, so that the cut falls inside one. */
    for (size_t i = 0; i + 3 < sizeof text; i += 3) {
        memcpy(text + i, "\xe6\xa0\xb8", 4);
    }
    (void)error_set_field(&err, ERR_INTERNAL, text, "a%s", text);
    cr_expect_eq(strlen(err.detail), LIMIT_ERROR_DETAIL_BYTES);
    cr_expect_eq(strlen(err.field), LIMIT_ERROR_FIELD_BYTES);
    cr_expect(text_is_printable(err.detail, strlen(err.detail)));
}

Test(error, control_characters_and_broken_bytes_of_a_value_do_not_reach_the_detail)
{
    struct error err = {0};
    (void)error_set(&err, ERR_INTERNAL, "not \"%s\"", "x\ny\x1b[31m\xff\xe6");
    cr_expect_str_eq(err.detail, "not \"x?y?[31m??\"");
}
