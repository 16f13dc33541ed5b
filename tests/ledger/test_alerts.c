/* Thresholds and their hysteresis. What is told when is tried in tests/system/test_alerts.py. */
#include <criterion/criterion.h>

#include "ledger/alerts.h"

static const struct {
    int64_t committed;
    int64_t limit;
    int64_t level;
    int64_t kept;
} cases[] = {
    {0, 100, 0, 0},     {44, 100, 0, 0},    {45, 100, 0, 50},     {49, 100, 0, 50},
    {50, 100, 50, 50},  {74, 100, 50, 50},  {75, 100, 50, 80},    {79, 100, 50, 80},
    {80, 100, 80, 80},  {85, 100, 80, 90},  {90, 100, 90, 90},    {94, 100, 90, 90},
    {95, 100, 90, 100}, {99, 100, 90, 100}, {100, 100, 100, 100}, {1000, 100, 100, 100},
    {-5, 100, 0, 0},    {1, 3, 0, 0},       {2, 3, 50, 50},
};

Test(alerts, a_level_is_the_highest_threshold_reached_and_is_kept_five_points_below)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cr_assert_eq(alerts_level(cases[i].committed, cases[i].limit), cases[i].level, "%zu", i);
        cr_assert_eq(alerts_kept_level(cases[i].committed, cases[i].limit), cases[i].kept, "%zu",
                     i);
    }
}

Test(alerts, the_largest_figures_do_not_overflow)
{
    cr_assert_eq(alerts_level(INT64_MAX, INT64_MAX), 100);
    cr_assert_eq(alerts_level(INT64_MAX / 2 + 1, INT64_MAX), 50);
    cr_assert_eq(alerts_level(INT64_MAX, 1), 100);
    cr_assert_eq(alerts_level(INT64_MIN, INT64_MAX), 0);
}
