/*
 * Ledgers are brought forward, never back, and only along the built-in path.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/store/migrate.h"

static const struct migration_text built_in[] = {
    {1, "sqlite", "0001_a.sqlite.sql", "CREATE 1", 8},
    {2, "sqlite", "0002_b.sqlite.sql", "CREATE 2", 8},
    {3, "sqlite", "0003_c.sqlite.sql", "CREATE 3", 8},
};

/* What a ledger went through that saw the first `count` of them, and `newer` that nobody here knows. */
static enum error_code plan_for(size_t count,
                                size_t newer,
                                size_t *ret_first,
                                struct error *err,
                                const char *spoil)
{
    struct migrate_applied applied[8] = {{0}};
    for (size_t i = 0; i < count + newer; i++) {
        applied[i].number = (int64_t)i + 1;
        if (i < 3) {
            migrate_checksum(&built_in[i], applied[i].checksum);
        }
    }
    if (spoil != NULL) {
        (void)snprintf(applied[0].checksum, sizeof applied[0].checksum, "%s", spoil);
    }
    return migrate_plan(built_in, 3, applied, count + newer, ret_first, err);
}

Test(migrate, a_new_ledger_goes_through_all)
{
    size_t first = 9;
    cr_assert_eq(plan_for(0, 0, &first, NULL, NULL), ERR_OK);
    cr_assert_eq(first, 0);
}

Test(migrate, an_older_ledger_goes_through_the_rest)
{
    size_t first = 9;
    cr_assert_eq(plan_for(2, 0, &first, NULL, NULL), ERR_OK);
    cr_assert_eq(first, 2);
}

Test(migrate, a_ledger_of_today_needs_nothing)
{
    size_t first = 9;
    cr_assert_eq(plan_for(3, 0, &first, NULL, NULL), ERR_OK);
    cr_assert_eq(first, 3);
}

Test(migrate, a_newer_ledger_is_refused)
{
    size_t first = 9;
    struct error err = {.code = ERR_OK};
    cr_assert_eq(plan_for(3, 1, &first, &err, NULL), ERR_UNAVAILABLE);
    cr_assert(strstr(err.detail, "newer") != NULL, "%s", err.detail);
    cr_assert_eq(first, 9);
}

Test(migrate, a_ledger_with_another_history_is_refused)
{
    size_t first = 9;
    struct error err = {.code = ERR_OK};
    cr_assert_eq(plan_for(2, 0, &first, &err, "00"), ERR_UNAVAILABLE);
    cr_assert(strstr(err.detail, "0001_a") != NULL, "%s", err.detail);
}

Test(migrate, a_history_with_a_gap_is_refused)
{
    size_t first = 9;
    struct migrate_applied applied[1] = {{.number = 2}};
    cr_assert_eq(migrate_plan(built_in, 3, applied, 1, &first, NULL), ERR_UNAVAILABLE);
}

Test(migrate, every_engine_has_its_migrations_numbered_from_one)
{
    size_t count = 0;
    const struct migration_text *list = migrate_list("sqlite", &count);
    cr_assert_geq(count, 1);
    for (size_t i = 0; i < count; i++) {
        cr_assert_eq(list[i].number, (int32_t)i + 1);
        cr_assert_str_eq(list[i].engine, "sqlite");
    }
    (void)migrate_list("none", &count);
    cr_assert_eq(count, 0);
}
