/* The growing buffer: a maximum that holds, a failure that sticks, a NUL that is always there. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/base/buffer.h"
#include "ledger/base/cleanup.h"
#include "tests/lib/random.h"

Test(buffer, an_empty_buffer_is_an_empty_text)
{
    CLEANUP(buffer_fini) struct buffer buffer;
    buffer_init(&buffer, 10);
    cr_expect_str_eq(buffer_text(&buffer), "");
    cr_expect_eq(buffer.length_bytes, 0);
    cr_expect_null(buffer_take(&buffer, NULL));
}

Test(buffer, pieces_follow_each_other)
{
    CLEANUP(buffer_fini) struct buffer buffer;
    buffer_init(&buffer, 100);
    cr_expect_eq(buffer_append_text(&buffer, "one "), ERR_OK);
    cr_expect_eq(buffer_append(&buffer, "two", 3), ERR_OK);
    cr_expect_eq(buffer_append_byte(&buffer, ' '), ERR_OK);
    cr_expect_eq(buffer_printf(&buffer, "%d%s", 3, "!"), ERR_OK);
    cr_expect_eq(buffer_printf(&buffer, "%s", ""), ERR_OK);
    cr_expect_str_eq(buffer_text(&buffer), "one two 3!");
    cr_expect_eq(buffer.length_bytes, 10);
}

Test(buffer, fields_of_csv_are_quoted_where_they_must_be)
{
    static const struct {
        const char *text;
        const char *field;
    } cases[] = {
        {"", ""},
        {"plain text", "plain text"},
        {"a,b", "\"a,b\""},
        {"say \"no\"", "\"say \"\"no\"\"\""},
        {"two\r\nlines", "\"two\r\nlines\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CLEANUP(buffer_fini) struct buffer buffer;
        buffer_init(&buffer, 100);
        cr_expect_eq(buffer_append_csv(&buffer, cases[i].text), ERR_OK);
        cr_expect_str_eq(buffer_text(&buffer), cases[i].field);
    }
}

Test(buffer, the_maximum_is_reached_but_not_exceeded)
{
    CLEANUP(buffer_fini) struct buffer buffer;
    buffer_init(&buffer, 4);
    cr_expect_eq(buffer_append_text(&buffer, "abc"), ERR_OK);
    cr_expect_eq(buffer_append_text(&buffer, "de"), ERR_TOO_LARGE);
    cr_expect_str_eq(buffer_text(&buffer), "abc");
    buffer_reset(&buffer);
    cr_expect_eq(buffer_append_text(&buffer, "abcd"), ERR_OK);
    cr_expect_eq(buffer_printf(&buffer, "%d", 1), ERR_TOO_LARGE);
    cr_expect_str_eq(buffer_text(&buffer), "abcd");
}

Test(buffer, a_failure_sticks_until_reset)
{
    CLEANUP(buffer_fini) struct buffer buffer;
    buffer_init(&buffer, 2);
    cr_expect_eq(buffer_append_text(&buffer, "abc"), ERR_TOO_LARGE);
    cr_expect_eq(buffer_append_text(&buffer, "a"), ERR_TOO_LARGE);
    cr_expect_eq(buffer_failure(&buffer), ERR_TOO_LARGE);
    cr_expect_null(buffer_take(&buffer, NULL));
    buffer_reset(&buffer);
    cr_expect_eq(buffer_failure(&buffer), ERR_OK);
    cr_expect_eq(buffer_append_text(&buffer, "a"), ERR_OK);
    cr_expect_str_eq(buffer_text(&buffer), "a");
}

Test(buffer, taking_hands_over_the_memory_and_leaves_an_empty_buffer)
{
    size_t length = 0;
    CLEANUP(buffer_fini) struct buffer buffer;
    buffer_init(&buffer, 100);
    cr_expect_eq(buffer_append(&buffer, "a\0b", 3), ERR_OK);
    CLEANUP(cleanup_free) char *bytes = buffer_take(&buffer, &length);
    cr_expect_eq(length, 3);
    cr_expect_eq(memcmp(bytes, "a\0b", 4), 0);
    cr_expect_eq(buffer.length_bytes, 0);
    cr_expect_eq(buffer_append_text(&buffer, "next"), ERR_OK);
    cr_expect_str_eq(buffer_text(&buffer), "next");
}

Test(buffer, fini_takes_null_and_zeroed_buffers)
{
    struct buffer zeroed = {0};
    buffer_fini(NULL);
    buffer_fini(&zeroed);
}

Test(buffer, random_appends_equal_a_plain_copy)
{
    enum { MAX_BYTES = 5000 };
    struct test_random random;
    test_random_init(&random, "buffer appends");
    for (int64_t round = test_rounds(200); round > 0; round--) {
        char expected[MAX_BYTES + 1];
        size_t length = 0;
        CLEANUP(buffer_fini) struct buffer buffer;
        buffer_init(&buffer, MAX_BYTES);
        while (buffer_failure(&buffer) == ERR_OK) {
            char piece[400];
            size_t piece_length = (size_t)test_random_range(&random, 0, sizeof piece);
            memset(piece, (int)test_random_range(&random, 0, 255), sizeof piece);
            enum error_code code = buffer_append(&buffer, piece, piece_length);
            cr_assert_eq(code, length + piece_length <= MAX_BYTES ? ERR_OK : ERR_TOO_LARGE);
            if (code == ERR_OK) {
                memcpy(expected + length, piece, piece_length);
                length += piece_length;
            }
            cr_assert_eq(buffer.length_bytes, length);
            cr_assert(length == 0 || memcmp(buffer.bytes, expected, length) == 0);
            cr_assert_eq(buffer_text(&buffer)[length], '\0');
        }
    }
}
