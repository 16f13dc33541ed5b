/* Ids that are ordered in time. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <criterion/criterion.h>

#include "clients/ids.h"

TestSuite(ids);

Test(ids, an_id_is_the_prefix_and_a_uuid_of_version_7)
{
    char id[COREHOUR_ID_BYTES];
    cr_assert_eq(corehour_id_create("alpha", id), COREHOUR_OK);
    cr_expect_eq(strlen(id), strlen("alpha-") + 36);
    cr_expect_eq(strncmp(id, "alpha-", 6), 0);
    cr_expect_eq(id[6 + 14], '7', "%s", id);
    cr_expect_neq(strchr("89ab", id[6 + 19]), NULL, "%s", id);
    cr_expect_eq(strspn(id + 6, "0123456789abcdef-"), 36u, "%s", id);
}

Test(ids, ids_made_later_sort_later)
{
    char earlier[COREHOUR_ID_BYTES];
    char later[COREHOUR_ID_BYTES];
    struct timespec wait = {.tv_nsec = 3000000};
    cr_assert_eq(corehour_id_create("alpha", earlier), COREHOUR_OK);
    nanosleep(&wait, NULL);
    cr_assert_eq(corehour_id_create("alpha", later), COREHOUR_OK);
    cr_expect_lt(strcmp(earlier, later), 0, "%s %s", earlier, later);
}

Test(ids, a_thousand_ids_of_one_moment_differ)
{
    static char all[1000][COREHOUR_ID_BYTES];
    for (int i = 0; i < 1000; i++) {
        cr_assert_eq(corehour_id_create("a", all[i]), COREHOUR_OK);
        for (int j = 0; j < i; j++)
            cr_assert_str_neq(all[i], all[j]);
    }
}

Test(ids, a_long_prefix_is_cut_so_that_the_id_stays_legal)
{
    char id[COREHOUR_ID_BYTES];
    cr_assert_eq(corehour_id_create("abcdefghijklmnopqrstuvwxyz0123456789", id), COREHOUR_OK);
    cr_expect_eq(strlen(id), 64u, "%s", id);
    cr_expect_eq(strncmp(id, "abcdefghijklmnopqrstuvwxyz0-", 28), 0, "%s", id);
}

Test(ids, a_prefix_that_no_id_may_begin_with_is_refused)
{
    char id[COREHOUR_ID_BYTES] = "same";
    static const char *const bad[] = {"", "-a", ".a", "a b", "a/b", "ä", "a\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(corehour_id_create(bad[i], id), COREHOUR_INVALID, "%s", bad[i]);
    cr_expect_str_eq(id, "same");
}
