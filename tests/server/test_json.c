/* JSON in and out: what is written is what is meant, what is refused is named (SPEC 1.3, 1.5). */
#include <limits.h>
#include <string.h>

#include <criterion/criterion.h>

#include "server/json_arena.h"
#include "server/json_in.h"
#include "server/json_out.h"

/* ---- out */

static void write_everything(struct json_out *out)
{
    json_out_object_open(out, NULL);
    json_out_text(out, "text", "a\"b\\c\n\x1f\x7f \xe6\xa0\xb8");
    json_out_text_or_null(out, "none", "");
    json_out_integer(out, "least", INT64_MIN);
    json_out_integer_or_null(out, "absent", 0, 0);
    json_out_bool(out, "yes", true);
    json_out_time(out, "at", 1796083200);
    json_out_time(out, "never", 0);
    json_out_time_ms(out, "at_ms", INT64_C(1796083200007));
    json_out_amount(out, "frozen", 4800000);
    json_out_exact(out, "limit", -1);
    json_out_amount_null(out, "available");
    json_out_numbered(out, "card", "al\"pha", 12);
    json_out_array_open(out, "list");
    json_out_integer(out, NULL, 1);
    json_out_object_open(out, NULL);
    json_out_object_close(out);
    json_out_named_object_open(out, "x");
    json_out_null(out, "y");
    json_out_object_close(out);
    json_out_array_close(out);
    json_out_printf(out, "printed", "%d of %d", 1, 2);
    json_out_object_close(out);
}

static const char head[] =
    "{\"text\":\"a\\\"b\\\\c\\u000a\\u001f\\u007f \xe6\xa0\xb8\",\"none\":null,\"least\":-9223372036854775808,"
    "\"absent\":null,\"yes\":true,\"at\":\"2026-12-01T00:00:00Z\",\"never\":null,"
    "\"at_ms\":\"2026-12-01T00:00:00.007Z\",";

Test(json_out, writes_each_kind_of_value)
{
    struct buffer buffer;
    struct json_out out;
    buffer_init(&buffer, 4096);
    json_out_init(&out, &buffer, false);
    write_everything(&out);
    cr_assert_eq(strncmp(buffer_text(&buffer), head, sizeof(head) - 1), 0, "%s",
                 buffer_text(&buffer));
    cr_assert_str_eq(
        buffer_text(&buffer) + sizeof(head) - 1,
        "\"frozen_mcs\":4800000,\"frozen_core_hours\":\"1.33333\",\"limit\":-1,"
        "\"available_mcs\":null,\"available_core_hours\":null,\"card\":\"al\\\"pha/12\","
        "\"list\":[1,{},\"x\":{\"y\":null}],\"printed\":\"1 of 2\"}");
    buffer_fini(&buffer);
}

Test(json_out, writes_amounts_as_texts_when_asked)
{
    struct buffer buffer;
    struct json_out out;
    buffer_init(&buffer, 4096);
    json_out_init(&out, &buffer, true);
    json_out_object_open(&out, NULL);
    json_out_amount(&out, "x", INT64_MAX);
    json_out_exact(&out, "y", -5);
    json_out_integer(&out, "z", 7);
    json_out_object_close(&out);
    cr_assert_str_eq(
        buffer_text(&buffer),
        "{\"x_mcs\":\"9223372036854775807\",\"x_core_hours\":\"2562047788015.21550\",\"y\":\"-5\",\"z\":7}");
    buffer_fini(&buffer);
}

Test(json_out, a_buffer_that_is_full_fails_once_and_for_all)
{
    struct buffer buffer;
    struct json_out out;
    buffer_init(&buffer, 16);
    json_out_init(&out, &buffer, false);
    write_everything(&out);
    cr_assert_eq(buffer_failure(&buffer), ERR_TOO_LARGE);
    buffer_fini(&buffer);
}

/* ---- in */

Test(json_in, names_the_member_at_which_parsing_stopped)
{
    static const struct {
        const char *bytes;
        enum error_code code;
        const char *field;
    } cases[] = {
        {"", ERR_MALFORMED, ""},
        {"x", ERR_MALFORMED, ""},
        {"7", ERR_MALFORMED, ""},
        {"{\"a\":1,}", ERR_MALFORMED, ""},
        {"{\"a\":{\"b\":[1,2,{\"c\":tru}]}}", ERR_MALFORMED, "a.b.2.c"},
        {"{\"a\":{\"b\":1},\"c\":[1e999]}", ERR_INVALID_FIELD, "c.0"},
        {"{\"a\":-99999999999999999999}", ERR_INVALID_FIELD, "a"},
        {"{\"a\":1,\"a\":2}", ERR_MALFORMED, "a"},
        {"{\"a\":\"\\ud800\"}", ERR_MALFORMED, "a"},
        {"{\"a\\\"b\":x}", ERR_MALFORMED, "a\\\"b"},
        {"{\"a\":1}}", ERR_MALFORMED, ""},
        {"{\"\":x}", ERR_MALFORMED, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error err = {0};
        json_t *top = NULL;
        const enum error_code code =
            json_in_parse(cases[i].bytes, strlen(cases[i].bytes), &top, &err);
        cr_assert_eq(code, cases[i].code, "%s", cases[i].bytes);
        cr_assert_str_eq(err.field, cases[i].field, "%s", cases[i].bytes);
        cr_assert(top == NULL);
    }
}

Test(json_in, takes_nesting_up_to_the_bound_and_no_further)
{
    char bytes[2 * LIMIT_JSON_DEPTH + 3];
    for (size_t depth = LIMIT_JSON_DEPTH; depth <= LIMIT_JSON_DEPTH + 1; depth++) {
        memset(bytes, '[', depth);
        memset(bytes + depth, ']', depth);
        json_t *top = NULL;
        struct error err;
        const enum error_code code = json_in_parse(bytes, 2 * depth, &top, &err);
        cr_assert_eq(code, depth <= LIMIT_JSON_DEPTH ? ERR_OK : ERR_MALFORMED);
        json_decref(top);
    }
    /* Brackets within texts are no nesting. */
    json_t *top = NULL;
    struct error err;
    const char text[] = "[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]";
    cr_assert_eq(json_in_parse(text, sizeof(text) - 1, &top, &err), ERR_OK);
    json_decref(top);
}

Test(json_arena, trees_live_side_by_side_and_large_ones_too)
{
    json_arena_install();
    static char large[200000];
    size_t length = 0;
    large[length++] = '[';
    while (length < sizeof(large) - 8) {
        length += (size_t)snprintf(large + length, 8, "%s1234", length > 1 ? "," : "");
    }
    large[length++] = ']';
    for (int round = 0; round < 3; round++) {
        json_t *first = NULL;
        json_t *second = NULL;
        struct error err;
        cr_assert_eq(json_in_parse("{\"a\":[1,2,3]}", 13, &first, &err), ERR_OK);
        cr_assert_eq(json_in_parse(large, length, &second, &err), ERR_OK);
        cr_assert_eq(json_integer_value(json_array_get(json_object_get(first, "a"), 2)), 3);
        json_decref(first);
        cr_assert_eq(json_integer_value(json_array_get(second, json_array_size(second) - 1)), 1234);
        json_decref(second);
    }
}
