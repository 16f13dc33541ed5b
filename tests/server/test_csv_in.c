/* CSV from outside: records, their lines, and what is refused. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "server/csv_in.h"

static struct csv_in in;
static struct csv_record record;
static struct error err;

static void begin(const char *text)
{
    csv_in_init(&in, text, strlen(text));
}

static enum error_code next(bool *ret_found)
{
    return csv_in_next(&in, &record, ret_found, &err);
}

/* The next record's fields are those of `wanted`, ended by NULL, and it begins on a line. */
static void expect(int64_t line, const char *const *wanted)
{
    bool found = false;
    cr_assert_eq(next(&found), ERR_OK, "%s", err.detail);
    cr_assert(found);
    cr_assert_eq(record.line, line);
    size_t count = 0;
    for (; wanted[count] != NULL; count++) {
        cr_assert_lt(count, record.count);
        cr_assert_str_eq(record.fields[count], wanted[count]);
    }
    cr_assert_eq(record.count, count);
}

static void expect_end(void)
{
    bool found = true;
    cr_assert_eq(next(&found), ERR_OK);
    cr_assert_not(found);
}

Test(csv_in, fields_are_cut_at_commas_and_lines_are_counted)
{
    begin("a,b,\n\nc\n");
    expect(1, (const char *const[]){"a", "b", "", NULL});
    expect(3, (const char *const[]){"c", NULL});
    expect_end();
}

Test(csv_in, both_line_ends_a_byte_order_mark_and_no_last_line_end_are_read)
{
    begin("\xef\xbb\xbf"
          "a,b\r\nc,d");
    expect(1, (const char *const[]){"a", "b", NULL});
    expect(2, (const char *const[]){"c", "d", NULL});
    expect_end();
}

Test(csv_in, quotes_protect_commas_and_are_doubled)
{
    begin("\"a,b\",\"say \"\"no\"\"\",\"\"\nx\n");
    expect(1, (const char *const[]){"a,b", "say \"no\"", "", NULL});
    expect(2, (const char *const[]){"x", NULL});
    expect_end();
}

Test(csv_in, a_faulty_record_is_refused_and_reading_goes_on_behind_it)
{
    static const char *const faults[] = {
        "a,\"b\"c,d\n",
        "a\"b\n",
        "\"a\x01\"\n",
        "a\tb\n",
        "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17\n",
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char text[128];
        bool found = false;
        (void)snprintf(text, sizeof text, "%snext\n", faults[i]);
        begin(text);
        cr_assert_eq(next(&found), ERR_INVALID_FIELD, "%s", faults[i]);
        cr_assert(found);
        expect(2, (const char *const[]){"next", NULL});
    }
}

Test(csv_in, a_quote_that_does_not_end_takes_the_rest_and_is_refused)
{
    bool found = false;
    begin("\"a\nb\n");
    cr_assert_eq(next(&found), ERR_INVALID_FIELD);
    cr_assert(found);
    expect_end();
}

Test(csv_in, a_record_longer_than_its_room_is_refused)
{
    static char text[3 * CSV_RECORD_BYTES];
    bool found = false;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 2] = '\n';
    begin(text);
    cr_assert_eq(next(&found), ERR_INVALID_FIELD);
    expect_end();
}

Test(csv_in, a_text_of_nothing_has_no_records)
{
    begin("");
    expect_end();
    begin("\n\r\n\n");
    expect_end();
}
