/* Texts from outside: what is let in, what is refused, and RFC 3339 times (SPEC 1.4, 1.6). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/base/text.h"
#include "tests/lib/random.h"

struct bytes_case {
    const char *bytes;
    size_t length;
    bool printable;
};

#define BYTES(literal) (literal), sizeof(literal) - 1

Test(text, printable_is_well_formed_utf8_without_controls)
{
    static const struct bytes_case cases[] = {
        {BYTES(""), true},
        {BYTES("plain ASCII ~"), true},
        {BYTES("\xe6\xa0\xb8\xe6\x97\xb6"), true}, /* two Chinese characters */
        {BYTES("\xf0\x9f\x98\x80"), true},         /* U+1F600 */
        {BYTES("\xf4\x8f\xbf\xbf"), true},         /* U+10FFFF */
        {BYTES("\xf4\x90\x80\x80"), false},        /* U+110000 */
        {BYTES("\xc2\xa0"), true},                 /* U+00A0, just above C1 */
        {BYTES("\xc2\x9f"), false},                /* U+009F, C1 */
        {BYTES("\xc2\x80"), false},                /* U+0080, C1 */
        {BYTES("\x7f"), false},                    /* DEL */
        {BYTES("\x1f"), false},
        {BYTES("a\tb"), false},
        {BYTES("a\nb"), false},
        {BYTES("a\0b"), false},
        {BYTES("\xc0\x80"), false},             /* overlong NUL */
        {BYTES("\xc1\xbf"), false},             /* overlong */
        {BYTES("\xe0\x9f\xbf"), false},         /* overlong */
        {BYTES("\xf0\x8f\xbf\xbf"), false},     /* overlong */
        {BYTES("\xed\xa0\x80"), false},         /* U+D800, surrogate */
        {BYTES("\xed\xbf\xbf"), false},         /* U+DFFF, surrogate */
        {BYTES("\xed\x9f\xbf"), true},          /* U+D7FF */
        {BYTES("\xee\x80\x80"), true},          /* U+E000 */
        {BYTES("\x80"), false},                 /* lone continuation */
        {BYTES("\xe6\xa0"), false},             /* cut */
        {BYTES("\xe6\xa0x"), false},            /* broken */
        {BYTES("\xf8\x88\x80\x80\x80"), false}, /* five bytes */
        {BYTES("\xff"), false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        cr_expect_eq(text_is_printable(cases[i].bytes, cases[i].length), cases[i].printable,
                     "row %zu", i);
    }
}

Test(text, anything_becomes_printable_without_changing_its_length)
{
    struct test_random random;
    test_random_init(&random, "make printable");
    for (int64_t round = test_rounds(20000); round > 0; round--) {
        char text[17];
        size_t length = (size_t)test_random_range(&random, 0, 16);
        for (size_t i = 0; i < length; i++) {
            text[i] = (char)test_random_range(&random, 1, 255);
        }
        text[length] = '\0';
        bool printable = text_is_printable(text, length);
        char before[17];
        memcpy(before, text, sizeof before);
        text_make_printable(text);
        cr_assert_eq(strlen(text), length);
        cr_assert(text_is_printable(text, length));
        cr_assert_eq(strcmp(before, text) == 0, printable);
    }
}

static const char *repeat(char c, size_t count, char *ret_text)
{
    memset(ret_text, c, count);
    ret_text[count] = '\0';
    return ret_text;
}

Test(text, names_have_1_to_128_bytes)
{
    char text[200];
    cr_expect(!text_is_name(""));
    cr_expect(text_is_name("a"));
    cr_expect(text_is_name("Zo\xc3\xab Smith"));
    cr_expect(!text_is_name("a\rb"));
    cr_expect(text_is_name(repeat('x', 128, text)));
    cr_expect(!text_is_name(repeat('x', 129, text)));
}

Test(text, ids_have_their_alphabet_and_64_bytes)
{
    char text[200];
    cr_expect(text_is_id("alpha-0193c5e2-7000-7000-8000-000000000000"));
    cr_expect(text_is_id("A.b_c:d-9"));
    cr_expect(text_is_id("0"));
    cr_expect(text_is_id(repeat('x', 64, text)));
    cr_expect(!text_is_id(repeat('x', 65, text)));
    static const char *const refused[] = {"",    "-a",       ".a",  "_a",  ":a",  "a b", "a/b",
                                          "a\n", "\xc3\xa9", "a@b", "a[b", "a`b", "a{"};
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        cr_expect(!text_is_id(refused[i]), "\"%s\"", refused[i]);
    }
}

Test(text, node_names_are_lower_case_and_have_63_bytes)
{
    char text[200];
    cr_expect(text_is_node_name("acme-ai.v2_x"));
    cr_expect(text_is_node_name("9"));
    cr_expect(text_is_node_name(repeat('x', 63, text)));
    cr_expect(!text_is_node_name(repeat('x', 64, text)));
    static const char *const refused[] = {"",   "Acme", "a:b",      "-a", ".a",
                                          "_a", "a b",  "\xc3\xa9", "aB"};
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        cr_expect(!text_is_node_name(refused[i]), "\"%s\"", refused[i]);
    }
}

struct time_case {
    const char *text;
    int64_t time_s; /* -1: refused */
};

Test(text, times_are_read_with_any_offset_and_fractions_cut)
{
    static const struct time_case cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-30T18:51:00Z", 1796064660},
        {"2026-11-30t18:51:00z", 1796064660},
        {"2026-11-30T18:51:00.999999999Z", 1796064660},
        {"2026-12-01T02:51:00+08:00", 1796064660},
        {"2026-11-30T15:21:00.5-03:30", 1796064660},
        {"2026-11-30T18:51:00-00:00", 1796064660},
        {"2024-02-29T23:59:59Z", 1709251199},
        {"2000-02-29T00:00:00Z", 951782400},
        {"9999-12-31T23:59:59Z", 253402300799},
        {"1970-01-01T01:00:00+01:00", 0},
        {"1969-12-31T23:00:00-01:00", 0},
        {"1970-01-01T00:00:00+00:01", -1},
        {"1969-12-31T23:59:59Z", -1},
        {"9999-12-31T23:59:59-00:01", -1},
        {"2026-02-29T00:00:00Z", -1},
        {"2100-02-29T00:00:00Z", -1},
        {"2026-04-31T00:00:00Z", -1},
        {"2026-00-10T00:00:00Z", -1},
        {"2026-13-10T00:00:00Z", -1},
        {"2026-11-00T00:00:00Z", -1},
        {"2026-11-30T24:00:00Z", -1},
        {"2026-11-30T18:60:00Z", -1},
        {"2016-12-31T23:59:60Z", -1},
        {"2026-11-30T18:51:00", -1},
        {"2026-11-30T18:51Z", -1},
        {"2026-11-30 18:51:00Z", -1},
        {"2026-11-30T18:51:00.Z", -1},
        {"2026-11-30T18:51:00,5Z", -1},
        {"2026-11-30T18:51:00+0100", -1},
        {"2026-11-30T18:51:00+24:00", -1},
        {"2026-11-30T18:51:00+01:60", -1},
        {"2026-11-30T18:51:00Zx", -1},
        {" 2026-11-30T18:51:00Z", -1},
        {"26-11-30T18:51:00Z", -1},
        {"2026-1-30T18:51:00Z", -1},
        {"20261130T185100Z", -1},
        {"+2026-11-30T18:51:00Z", -1},
        {"12026-11-30T18:51:00Z", -1},
        {"1796064660", -1},
        {"", -1},
        {"2026", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t time_s = -7;
        enum error_code code = text_parse_time(cases[i].text, &time_s, NULL);
        bool refused = cases[i].time_s < 0;
        cr_expect_eq(code, refused ? ERR_INVALID_FIELD : ERR_OK, "\"%s\"", cases[i].text);
        cr_expect_eq(time_s, refused ? -7 : cases[i].time_s, "\"%s\" gave %" PRId64, cases[i].text,
                     time_s);
    }
}

Test(text, no_prefix_of_a_time_is_a_time)
{
    const char *whole = "2026-11-30T18:51:00.123+08:00";
    for (size_t length = 0; length < strlen(whole); length++) {
        char text[40];
        int64_t time_s;
        (void)snprintf(text, sizeof text, "%.*s", (int)length, whole);
        cr_expect_eq(text_parse_time(text, &time_s, NULL), ERR_INVALID_FIELD, "\"%s\"", text);
    }
}

Test(text, every_time_survives_the_way_out_and_in)
{
    struct test_random random;
    test_random_init(&random, "time round trip");
    for (int64_t round = test_rounds(100000); round > 0; round--) {
        int64_t time_s = test_random_range(&random, 0, LIMIT_TIME_S);
        int64_t again_s = -1;
        char text[TEXT_TIME_BYTES];
        enum error_code code = text_parse_time(text_format_time(time_s, text), &again_s, NULL);
        cr_assert_eq(code, ERR_OK, "%s", text);
        cr_assert_eq(again_s, time_s, "%s", text);
    }
}

Test(text, the_ends_of_time_are_written_in_full)
{
    char text[TEXT_TIME_BYTES];
    cr_expect_str_eq(text_format_time(0, text), "1970-01-01T00:00:00Z");
    cr_expect_str_eq(text_format_time(LIMIT_TIME_S, text), "9999-12-31T23:59:59Z");
    cr_expect_str_eq(text_format_time(1796064660, text), "2026-11-30T18:51:00Z");
}
