/* Widths, safe printing, languages and tables. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "clients/cli/catalogue.h"
#include "clients/cli/table.h"
#include "clients/cli/text.h"

static void locale_begin(void)
{
    text_locale_init();
    text_language_set(TEXT_ENGLISH);
}

TestSuite(text, .init = locale_begin);

/* What a table prints. */
static char *printed(const struct table *table, bool rows_only)
{
    char *text = NULL;
    size_t text_bytes;
    FILE *out = open_memstream(&text, &text_bytes);
    if (rows_only)
        table_rows_print(table, out, 2);
    else
        table_print(table, out, 0);
    fclose(out);
    return text;
}

Test(text, chinese_takes_two_columns_a_character)
{
    cr_expect_eq(text_width("vision"), 6u);
    cr_expect_eq(text_width("配额"), 4u);
    cr_expect_eq(text_width("爱丽丝-a"), 8u);
    cr_expect_eq(text_width(""), 0u);
}

Test(text, nothing_from_outside_steers_the_terminal)
{
    static const struct {
        const char *text;
        const char *shown;
    } cases[] = {
        {"plain", "plain"},     {"a\033[2Jb", "a?[2Jb"}, {"a\r\nb\tc", "a??b?c"},
        {"\xff\xfe", "??"},     {"a\xe7\x88", "a??"},    {"爱", "爱"},
        {"\x7f\xc2\x9b", "??"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = NULL;
        size_t text_bytes;
        FILE *out = open_memstream(&text, &text_bytes);
        text_print(out, cases[i].text);
        fclose(out);
        cr_expect_str_eq(text, cases[i].shown);
        free(text);
    }
}

Test(text, the_language_comes_from_the_option_before_the_environment)
{
    setenv("LC_ALL", "", 1);
    setenv("LC_MESSAGES", "", 1);
    setenv("LANG", "zh_CN.UTF-8", 1);
    cr_expect_eq(text_language_choose(NULL), TEXT_CHINESE);
    cr_expect_eq(text_language_choose("en"), TEXT_ENGLISH);
    setenv("LC_ALL", "C.UTF-8", 1);
    cr_expect_eq(text_language_choose(NULL), TEXT_ENGLISH);
    cr_expect_eq(text_language_choose("zh"), TEXT_CHINESE);
}

Test(text, a_label_without_an_entry_stays_english)
{
    text_language_set(TEXT_CHINESE);
    cr_expect_str_eq(tr("available"), "可用");
    cr_expect_str_eq(tr("no such label"), "no such label");
    cr_expect_str_eq(text_language_name(), "zh");
    text_language_set(TEXT_ENGLISH);
    cr_expect_str_eq(tr("available"), "available");
    cr_expect_str_eq(text_language_name(), "en");
}

Test(text, no_label_stands_twice_in_the_catalogue)
{
    const char *texts[1000];
    size_t count = 0;
    for (const struct catalogue_entry *const *table = catalogues; *table != NULL; table++)
        for (const struct catalogue_entry *entry = *table; entry->english != NULL; entry++) {
            for (size_t i = 0; i < count; i++)
                cr_expect_str_neq(texts[i], entry->english);
            cr_assert_lt(count, sizeof texts / sizeof texts[0]);
            texts[count++] = entry->english;
        }
    cr_expect_gt(count, 300);
}

Test(text, columns_line_up_under_chinese_and_numbers_to_the_right)
{
    struct table table;
    table_init(&table);
    table_column(&table, "用户", false);
    table_column(&table, "used", true);
    table_column(&table, "note", false);
    table_cell(&table, "爱丽丝");
    table_cell(&table, "1.33");
    table_cell(&table, "");
    table_cell(&table, "bob");
    table_cell(&table, "1000.00");
    table_cell(&table, "x");
    char *text = printed(&table, false);
    cr_expect_str_eq(text, "用户       used  note\n爱丽丝     1.33\nbob     1000.00  x\n", "\n%s",
                     text);
    free(text);
    table_fini(&table);
}

Test(text, a_table_without_rows_prints_nothing)
{
    struct table table;
    table_init(&table);
    table_column(&table, "hold", false);
    char *text = printed(&table, false);
    cr_expect_str_eq(text, "");
    free(text);
    table_fini(&table);
}

Test(text, rows_alone_are_as_wide_as_the_rows)
{
    struct table table;
    table_init(&table);
    table_column(&table, "a very wide title", false);
    table_column(&table, "", false);
    table_cell(&table, "a");
    table_cell(&table, "b");
    char *text = printed(&table, true);
    cr_expect_str_eq(text, "  a  b\n");
    free(text);
    table_fini(&table);
}
