/* The charge of a run: totals, days, months, differences, and the facts it is made of (SPEC 5.4 to 5.7, 8.1). */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/base/zone.h"
#include "ledger/core/charge.h"
#include "tests/lib/random.h"

/* 2026-11-30T19:00:00Z; in UTC five hours before December. */
#define T0 INT64_C(1796065200)

enum { RATE = 16000, MGPUS = 1000, HOUR = 3600, DAY = 86400, NOVEMBER = 2026 * 12 + 10 };

static struct plan plan;

static struct run run_make(int64_t started_s, int64_t until_s)
{
    return (struct run){
        .started_s = started_s,
        .booked_until_s = until_s,
        .segment_count = 1,
        .segments = {{.from_s = started_s, .rate_mcores = RATE, .mgpus = MGPUS}},
    };
}

static struct calendar utc(void)
{
    struct calendar calendar;
    calendar_init_utc(&calendar);
    return calendar;
}

static int64_t sum_used(void)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < plan.usage_count; i++) {
        sum += plan.usage[i].used_mcs;
    }
    return sum;
}

static void book(const struct run *before,
                 const struct run *after,
                 const struct calendar *calendar,
                 int64_t oldest_open_month,
                 enum usage_kind kind)
{
    struct charge_context context = {
        .calendar = calendar, .oldest_open_month = oldest_open_month, .kind = kind};
    struct error err = {0};
    plan.usage_count = 0;
    cr_assert_eq(charge_difference(before, after, &context, &plan, &err), ERR_OK, "%s", err.detail);
}

static void expect_row(int32_t index,
                       enum usage_kind kind,
                       enum outcome outcome,
                       int64_t day,
                       int64_t used_mcs,
                       int64_t runs)
{
    cr_assert_lt(index, plan.usage_count);
    const struct usage_delta *row = &plan.usage[index];
    cr_expect_eq(row->kind, kind, "row %d kind %d", index, row->kind);
    cr_expect_eq(row->outcome, outcome, "row %d outcome %d", index, row->outcome);
    cr_expect_eq(row->day, day, "row %d day %lld", index, (long long)row->day);
    cr_expect_eq(row->used_mcs, used_mcs, "row %d used %lld", index, (long long)row->used_mcs);
    cr_expect_eq(row->runs, runs, "row %d runs %lld", index, (long long)row->runs);
}

/* ---- totals ---- */

Test(charge, a_run_costs_rate_times_unsuspended_seconds_by_segment)
{
    struct run run = run_make(T0, T0 + 300);
    cr_expect_eq(charge_total(&run), 4800000);
    cr_expect_eq(run_resize(&run, T0 + 100, 8000, 500, NULL), ERR_OK);
    cr_expect_eq(charge_total(&run), 100 * 16000 + 200 * 8000);
    struct calendar calendar = utc();
    run_suspend(&run, T0 + 90, &calendar);
    cr_expect_eq(charge_total(&run), 90 * 16000);
    run_resume(&run, T0 + 120);
    cr_expect_eq(charge_total(&run), 90 * 16000 + 180 * 8000);
    int64_t mcs;
    int64_t mgs;
    charge_between(&run, T0 + 80, T0 + 130, &mcs, &mgs);
    cr_expect_eq(mcs, 10 * 16000 + 10 * 8000);
    cr_expect_eq(mgs, 10 * 1000 + 10 * 500);
    charge_between(&run, 0, INT64_MAX, &mcs, &mgs);
    cr_expect_eq(mcs, charge_total(&run));
    charge_between(&run, T0 + 130, T0 + 130, &mcs, &mgs);
    cr_expect_eq(mcs, 0);
    charge_between(&run, T0 + 300, T0 + 400, &mcs, &mgs);
    cr_expect_eq(mcs, 0);
}

Test(charge, what_has_not_started_or_is_of_length_0_costs_nothing)
{
    struct calendar calendar = utc();
    struct month_amount months[4];
    struct run unstarted = {.segment_count = 1, .segments = {{0, RATE, MGPUS}}};
    struct run empty = run_make(T0, T0);
    cr_expect_eq(charge_total(&unstarted), 0);
    cr_expect_eq(charge_total(&empty), 0);
    cr_expect_eq(charge_months(&unstarted, &calendar, months, 4), 0);
    cr_expect_eq(charge_months(&empty, &calendar, months, 4), 0);
    book(NULL, &unstarted, &calendar, 0, USAGE_USAGE);
    cr_expect_eq(plan.usage_count, 0);
    book(&unstarted, &empty, &calendar, 0, USAGE_USAGE);
    cr_expect_eq(plan.usage_count, 0, "it goes on, nothing is booked yet");
}

Test(charge, a_waived_run_is_charged_nothing_and_keeps_its_gross)
{
    struct calendar calendar = utc();
    struct month_amount months[4];
    struct run run = run_make(T0, T0 + 300);
    run.waived = 1;
    cr_expect_eq(charge_total(&run), 0);
    cr_expect_eq(charge_gross(&run), 4800000);
    cr_expect_eq(charge_months(&run, &calendar, months, 4), 0);
}

Test(charge, months_leave_out_those_without_charge)
{
    struct calendar calendar = utc();
    struct month_amount months[4];
    struct run run = run_make(T0, T0 + 40 * DAY);
    run_suspend(&run, T0 + 5 * HOUR, &calendar);
    run_resume(&run, T0 + 5 * HOUR + 31 * DAY);
    cr_assert_eq(charge_months(&run, &calendar, months, 4), 2);
    cr_expect_eq(months[0].month, NOVEMBER);
    cr_expect_eq(months[0].mcs, 5 * HOUR * RATE);
    cr_expect_eq(months[1].month, NOVEMBER + 2);
    cr_expect_eq(months[0].mcs + months[1].mcs, charge_total(&run));
}

Test(charge, an_amount_reaches_as_far_as_it_pays_for)
{
    struct calendar calendar = utc();
    struct run run = run_make(T0, T0);
    cr_assert_eq(run_resize(&run, T0 + 200, 1000, 0, NULL), ERR_OK);
    run_suspend(&run, T0 + 100, &calendar);
    run_resume(&run, T0 + 150);
    cr_expect_eq(charge_reach(&run, 0, T0 + 500), T0);
    cr_expect_eq(charge_reach(&run, RATE - 1, T0 + 500), T0);
    cr_expect_eq(charge_reach(&run, RATE, T0 + 500), T0 + 1);
    cr_expect_eq(charge_reach(&run, 100 * RATE - 1, T0 + 500), T0 + 99);
    cr_expect_eq(charge_reach(&run, 100 * RATE, T0 + 500), T0 + 150, "suspended time is free");
    cr_expect_eq(charge_reach(&run, 100 * RATE, T0 + 120), T0 + 120);
    cr_expect_eq(charge_reach(&run, 150 * RATE + 5999, T0 + 500), T0 + 205);
    cr_expect_eq(charge_reach(&run, INT64_MAX, T0 + 500), T0 + 500);
    cr_expect_eq(charge_reach(&run, INT64_MAX, T0 - 1), T0, "never before the start");
    cr_expect_eq(charge_reach(&run, -1, T0 + 500), T0);
}

/* ---- differences ---- */

Test(charge, a_run_over_midnight_is_booked_by_day_and_counted_on_its_last)
{
    struct calendar calendar = utc();
    int64_t day = T0 / DAY;
    struct run run = run_make(T0, T0);
    run_end(&run, T0 + 29 * HOUR);
    run.outcome = OUTCOME_COMPLETED;
    book(NULL, &run, &calendar, 0, USAGE_USAGE);
    cr_assert_eq(plan.usage_count, 2, "the end at midnight makes no third day");
    expect_row(0, USAGE_USAGE, OUTCOME_COMPLETED, day, INT64_C(5) * HOUR * RATE, 0);
    expect_row(1, USAGE_USAGE, OUTCOME_COMPLETED, day + 1, INT64_C(24) * HOUR * RATE, 1);
    cr_expect_eq(plan.usage[0].month, NOVEMBER);
    cr_expect_eq(plan.usage[1].month, NOVEMBER + 1);
    cr_expect_eq(plan.usage[1].period, NOVEMBER + 1);
    cr_expect_eq(plan.usage[1].mgs, INT64_C(24) * HOUR * MGPUS);
}

Test(charge, a_run_counts_on_the_day_of_its_last_second)
{
    struct calendar calendar = utc();
    int64_t midnight_s = T0 + 5 * HOUR;
    static const int64_t ends[] = {-1, 0, 1, 2};
    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct run run = run_make(T0, T0);
        run_end(&run, midnight_s + ends[i]);
        run.outcome = OUTCOME_COMPLETED;
        book(NULL, &run, &calendar, 0, USAGE_USAGE);
        cr_assert_eq(plan.usage_count, ends[i] > 0 ? 2 : 1);
        const struct usage_delta *last = &plan.usage[plan.usage_count - 1];
        cr_expect_eq(last->runs, 1);
        cr_expect_eq(last->day, T0 / DAY + (ends[i] > 0 ? 1 : 0));
    }
}

Test(charge, a_run_of_length_0_counts_as_a_run)
{
    struct calendar calendar = utc();
    struct run run = run_make(T0, T0);
    run_end(&run, T0);
    run.outcome = OUTCOME_CANCELLED;
    book(NULL, &run, &calendar, 0, USAGE_USAGE);
    cr_assert_eq(plan.usage_count, 1);
    expect_row(0, USAGE_USAGE, OUTCOME_CANCELLED, T0 / DAY, 0, 1);
}

Test(charge, settling_takes_back_what_was_booked_as_running)
{
    struct calendar calendar = utc();
    struct run before = run_make(T0, T0 + 600);
    struct run after = before;
    run_end(&after, T0 + 900);
    after.outcome = OUTCOME_FAILED;
    book(&before, &after, &calendar, 0, USAGE_USAGE);
    cr_assert_eq(plan.usage_count, 2);
    expect_row(0, USAGE_USAGE, OUTCOME_RUNNING, T0 / DAY, -600 * RATE, 0);
    expect_row(1, USAGE_USAGE, OUTCOME_FAILED, T0 / DAY, 900 * RATE, 1);
}

Test(charge, a_waived_end_reverses_provisional_charges_and_shows_the_gross)
{
    struct calendar calendar = utc();
    struct run before = run_make(T0, T0 + 600);
    struct run after = before;
    run_end(&after, T0 + 900);
    after.outcome = OUTCOME_NODE_FAIL;
    after.waived = 1;
    book(&before, &after, &calendar, 0, USAGE_USAGE);
    cr_assert_eq(plan.usage_count, 2);
    expect_row(0, USAGE_USAGE, OUTCOME_RUNNING, T0 / DAY, -600 * RATE, 0);
    expect_row(1, USAGE_WAIVED, OUTCOME_NODE_FAIL, T0 / DAY, 0, 1);
    cr_expect_eq(plan.usage[1].waived_mcs, 900 * RATE);
    cr_expect_eq(plan.usage[1].mgs, 900 * MGPUS);
}

Test(charge, what_ran_in_a_closed_month_is_a_correction_in_the_oldest_open_one)
{
    struct calendar calendar = utc();
    struct run run = run_make(T0, T0);
    run_end(&run, T0 + 6 * HOUR);
    run.outcome = OUTCOME_COMPLETED;
    book(NULL, &run, &calendar, NOVEMBER + 1, USAGE_USAGE);
    cr_assert_eq(plan.usage_count, 2);
    expect_row(0, USAGE_CORRECTION, OUTCOME_COMPLETED, T0 / DAY, INT64_C(5) * HOUR * RATE, 0);
    expect_row(1, USAGE_USAGE, OUTCOME_COMPLETED, T0 / DAY + 1, INT64_C(1) * HOUR * RATE, 1);
    cr_expect_eq(plan.usage[0].month, NOVEMBER + 1);
    cr_expect_eq(plan.usage[0].period, NOVEMBER);
    run.waived = 1;
    book(NULL, &run, &calendar, NOVEMBER + 1, USAGE_USAGE);
    expect_row(0, USAGE_WAIVED, OUTCOME_COMPLETED, T0 / DAY, 0, 0);
    cr_expect_eq(plan.usage[0].month, NOVEMBER + 1);
}

Test(charge, a_correction_of_the_same_outcome_books_only_what_changed)
{
    struct calendar calendar = utc();
    struct run before = run_make(T0, T0);
    run_end(&before, T0 + 30 * HOUR);
    before.outcome = OUTCOME_COMPLETED;
    struct run after = before;
    run_end(&after, T0 + 28 * HOUR);
    book(&before, &after, &calendar, 0, USAGE_CORRECTION);
    cr_assert_eq(plan.usage_count, 2);
    expect_row(0, USAGE_CORRECTION, OUTCOME_COMPLETED, T0 / DAY + 1, INT64_C(-1) * HOUR * RATE, 1);
    expect_row(1, USAGE_CORRECTION, OUTCOME_COMPLETED, T0 / DAY + 2, INT64_C(-1) * HOUR * RATE, -1);
    book(&after, &after, &calendar, 0, USAGE_CORRECTION);
    cr_expect_eq(plan.usage_count, 0);
}

Test(charge, a_heartbeat_of_a_long_run_books_its_own_day_only)
{
    struct calendar calendar = utc();
    struct run before = run_make(T0, T0 + 3000 * INT64_C(86400));
    struct run after = before;
    after.booked_until_s += 60;
    book(&before, &after, &calendar, 0, USAGE_USAGE);
    cr_assert_eq(plan.usage_count, 1);
    cr_expect_eq(plan.usage[0].used_mcs, 60 * RATE);
}

Test(charge, two_states_years_apart_are_booked_each_in_its_time)
{
    struct calendar calendar = utc();
    struct run before = run_make(1000, 1000 + 100);
    struct run after = run_make(LIMIT_TIME_S - 100, LIMIT_TIME_S);
    book(&before, &after, &calendar, 0, USAGE_CORRECTION);
    cr_assert_eq(plan.usage_count, 2);
    expect_row(0, USAGE_CORRECTION, OUTCOME_RUNNING, 0, -100 * RATE, 0);
    expect_row(1, USAGE_CORRECTION, OUTCOME_RUNNING, LIMIT_TIME_S / DAY, 100 * RATE, 0);
    book(&after, &before, &calendar, 0, USAGE_CORRECTION);
    cr_assert_eq(plan.usage_count, 2);
    expect_row(0, USAGE_CORRECTION, OUTCOME_RUNNING, 0, 100 * RATE, 0);
}

Test(charge, the_longest_run_may_be_moved_as_a_whole_in_one_plan)
{
    struct calendar calendar = utc();
    struct month_amount months[RECORD_REFUND_MONTHS];
    int64_t most_s = LIMIT_RUN_DAYS * INT64_C(86400);
    struct run before = run_make(T0 + 1, T0 + 1 + most_s);
    struct run after = run_make(T0 + 1 + 2 * most_s, T0 + 1 + 3 * most_s);
    before.outcome = OUTCOME_FAILED;
    book(&before, &after, &calendar, 0, USAGE_CORRECTION);
    cr_expect_eq(plan.usage_count, 2 * (LIMIT_RUN_DAYS + 1));
    cr_expect_eq(sum_used(), 0);
    cr_expect_gt(charge_months(&before, &calendar, months, RECORD_REFUND_MONTHS), 130);
}

Test(charge, a_run_beyond_the_bounds_is_refused_and_books_nothing)
{
    struct calendar calendar = utc();
    struct charge_context context = {.calendar = &calendar, .kind = USAGE_USAGE};
    struct error err = {0};
    struct run run = run_make(T0, T0 + LIMIT_RUN_DAYS * INT64_C(86400) + 1);
    plan.usage_count = 0;
    cr_expect_eq(charge_difference(NULL, &run, &context, &plan, &err), ERR_INVALID_FIELD);
    cr_expect_eq(plan.usage_count, 0);
    run = run_make(T0, T0 + 2);
    run.segments[0].rate_mcores = LIMIT_COMMAND_MCS / 2;
    cr_expect_eq(charge_difference(NULL, &run, &context, &plan, &err), ERR_OK);
    run.segments[0].rate_mcores++;
    plan.usage_count = 0;
    cr_expect_eq(charge_difference(NULL, &run, &context, &plan, &err), ERR_INVALID_FIELD);
    cr_expect_eq(plan.usage_count, 0);
    run.segments[0].rate_mcores = INT64_MAX;
    run.booked_until_s = LIMIT_TIME_S;
    cr_expect_eq(charge_gross(&run), INT64_MAX, "sums stop at the end of int64");
}

/* ---- facts ---- */

Test(charge, suspensions_stay_ascending_whatever_comes_late)
{
    struct calendar calendar = utc();
    struct run run = run_make(T0, T0 + 1000);
    run_resume(&run, T0 + 5);
    cr_expect_eq(run.suspension_count, 0, "nothing to resume");
    run_suspend(&run, T0 - 10, &calendar);
    run_suspend(&run, T0 + 50, &calendar);
    cr_assert_eq(run.suspension_count, 1, "suspended already");
    cr_expect_eq(run.suspensions[0].from_s, T0, "not before the start");
    run_resume(&run, T0 + 20);
    run_suspend(&run, T0 + 10, &calendar);
    cr_expect_eq(run.suspensions[1].from_s, T0 + 20, "not before the end of the last one");
    run_resume(&run, T0 + 15);
    cr_expect_eq(run.suspension_count, 1, "a suspension that ended before it began never was");
    run_suspend(&run, T0 + 30, &calendar);
    cr_expect_eq(run_suspended_s(&run, T0 + 100), 20 + 70);
    cr_expect_eq(run_suspended_s(&run, T0 + 10), 10);
}

Test(charge, an_end_cuts_what_lies_after_it)
{
    struct calendar calendar = utc();
    struct run run = run_make(T0, T0);
    cr_assert_eq(run_resize(&run, T0 + 100, 1, 1, NULL), ERR_OK);
    cr_assert_eq(run_resize(&run, T0 + 200, 2, 2, NULL), ERR_OK);
    run_suspend(&run, T0 + 50, &calendar);
    run_resume(&run, T0 + 60);
    run_suspend(&run, T0 + 120, &calendar);
    run_resume(&run, T0 + 170);
    run_suspend(&run, T0 + 180, &calendar);
    struct run at_start = run;
    run_end(&run, T0 + 150);
    cr_expect_eq(run.ended_s, T0 + 150);
    cr_expect_eq(run.booked_until_s, T0 + 150);
    cr_expect_eq(run.segment_count, 2);
    cr_assert_eq(run.suspension_count, 2);
    cr_expect_eq(run.suspensions[1].to_s, T0 + 150);
    struct run at_resize = run;
    run_end(&at_resize, T0 + 100);
    cr_expect_eq(at_resize.segment_count, 1, "a segment that would begin at the end never was");
    run_end(&at_start, T0);
    cr_expect_eq(at_start.segment_count, 1);
    cr_expect_eq(at_start.suspension_count, 0);
    cr_expect_eq(charge_total(&at_start), 0);
}

Test(charge, a_start_moves_the_first_segment_and_cuts_what_lies_before_it)
{
    struct calendar calendar = utc();
    struct run run = {.segment_count = 1, .segments = {{0, RATE, MGPUS}}};
    run_start_move(&run, T0 + 100);
    cr_expect_eq(run.started_s, T0 + 100);
    cr_expect_eq(run.booked_until_s, T0 + 100);
    cr_expect_eq(run.segments[0].from_s, T0 + 100);
    run.booked_until_s = T0 + 400;
    cr_assert_eq(run_resize(&run, T0 + 200, 1, 0, NULL), ERR_OK);
    run_suspend(&run, T0 + 110, &calendar);
    run_resume(&run, T0 + 120);
    run_suspend(&run, T0 + 250, &calendar);
    run_resume(&run, T0 + 280);
    run_start_move(&run, T0 + 50);
    cr_expect_eq(charge_total(&run), 140 * RATE + 170);
    run_start_move(&run, T0 + 270);
    cr_expect_eq(run.segment_count, 1);
    cr_expect_eq(run.suspension_count, 1);
    cr_expect_eq(charge_total(&run), 120);
    run_start_move(&run, T0 + 500);
    cr_expect_eq(run.booked_until_s, T0 + 500);
    cr_expect_eq(charge_total(&run), 0);
}

Test(charge, a_resize_that_comes_late_takes_its_place_in_time)
{
    struct run run = {.segment_count = 1, .segments = {{0, RATE, MGPUS}}};
    cr_assert_eq(run_resize(&run, T0, 500, 5, NULL), ERR_OK);
    cr_expect_eq(run.segment_count, 1, "before the start the rate in force changes");
    cr_expect_eq(run.segments[0].from_s, 0);
    run_start_move(&run, T0);
    run.booked_until_s = T0 + 300;
    cr_assert_eq(run_resize(&run, T0 + 200, 10, 0, NULL), ERR_OK);
    cr_assert_eq(run_resize(&run, T0 + 100, 20, 0, NULL), ERR_OK);
    cr_expect_eq(run.segment_count, 3);
    cr_expect_eq(charge_total(&run), 100 * 500 + 100 * 20 + 100 * 10);
    cr_assert_eq(run_resize(&run, T0 + 150, 20, 0, NULL), ERR_OK);
    cr_expect_eq(run.segment_count, 3, "the same rate makes no segment");
    cr_assert_eq(run_resize(&run, T0 + 100, 30, 0, NULL), ERR_OK);
    cr_expect_eq(run.segment_count, 3, "the same time replaces");
    cr_expect_eq(charge_total(&run), 100 * 500 + 100 * 30 + 100 * 10);
    cr_assert_eq(run_resize(&run, T0 - 5, 1, 0, NULL), ERR_OK);
    cr_expect_eq(charge_total(&run), 100 * 1 + 100 * 30 + 100 * 10, "not before the start");
}

Test(charge, a_run_has_a_bounded_number_of_segments)
{
    struct error err = {0};
    struct run run = run_make(T0, T0 + 1000);
    for (int i = 1; i < RECORD_SEGMENTS; i++) {
        cr_assert_eq(run_resize(&run, T0 + i, i, 0, &err), ERR_OK);
    }
    struct run before = run;
    cr_expect_eq(run_resize(&run, T0 + 500, 7, 0, &err), ERR_INVALID_FIELD);
    cr_expect_eq(memcmp(&run, &before, sizeof run), 0);
    cr_expect_eq(run_resize(&run, T0 + 5, 7, 0, &err), ERR_OK, "a replacement needs no room");
}

Test(charge, a_full_list_of_suspensions_joins_the_closest_of_one_day_and_one_rate)
{
    struct calendar calendar = utc();
    struct run run = run_make(T0, T0 + 2000000);
    /* 64 suspensions of 10 s, each 1000 s apart; the fourth gap is 5 s but has a resize in it, the tenth is 20 s. */
    int64_t at_s = T0;
    for (int i = 0; i < RECORD_SUSPENSIONS; i++) {
        at_s += i == 4 ? 5 : i == 10 ? 20 : 1000;
        run_suspend(&run, at_s, &calendar);
        at_s += 10;
        run_resume(&run, at_s);
    }
    cr_assert_eq(run_resize(&run, run.suspensions[4].from_s - 2, 1, 0, NULL), ERR_OK);
    struct run before = run;
    run_suspend(&run, at_s + 1000, &calendar);
    run_resume(&run, at_s + 1010);
    cr_assert_eq(run.suspension_count, RECORD_SUSPENSIONS);
    cr_expect_eq(run_suspended_s(&run, INT64_MAX), (RECORD_SUSPENSIONS + 1) * 10);
    cr_expect_eq(run.suspensions[9].from_s, before.suspensions[9].from_s);
    cr_expect_eq(run.suspensions[9].to_s, before.suspensions[9].to_s + 10);
    cr_expect_eq(run.suspensions[10].from_s, before.suspensions[11].from_s);
}

Test(charge, a_full_list_joins_over_midnight_rather_than_over_a_resize)
{
    struct calendar calendar = utc();
    struct run run = run_make(T0, T0 + 200 * INT64_C(86400));
    for (int i = 0; i < RECORD_SUSPENSIONS; i++) {
        run_suspend(&run, T0 + i * INT64_C(86400), &calendar);
        run_resume(&run, T0 + i * INT64_C(86400) + 100 + (i == 7 ? 50 : 0));
        if (i != 7) {
            cr_assert_eq(run_resize(&run, T0 + i * INT64_C(86400) + 500, RATE + i, 0, NULL),
                         ERR_OK);
        }
    }
    int64_t before = run_suspended_s(&run, INT64_MAX);
    run_suspend(&run, T0 + 100 * INT64_C(86400), &calendar);
    run_resume(&run, T0 + 100 * INT64_C(86400) + 1);
    cr_assert_eq(run.suspension_count, RECORD_SUSPENSIONS);
    cr_expect_eq(run_suspended_s(&run, INT64_MAX), before + 1);
    cr_expect_eq(run.suspensions[7].to_s - run.suspensions[7].from_s, 250);
}

Test(charge, the_suspended_total_of_a_settle_wins_from_the_end_backwards)
{
    struct calendar calendar = utc();
    struct run run = run_make(T0, T0);
    cr_assert_eq(run_resize(&run, T0 + 500, 1000, 0, NULL), ERR_OK);
    run_suspend(&run, T0 + 100, &calendar);
    run_resume(&run, T0 + 200);
    run_suspend(&run, T0 + 800, &calendar);
    run_resume(&run, T0 + 900);
    run_end(&run, T0 + 1000);
    static const struct {
        int64_t total_s;
        int64_t first_s; /* unsuspended seconds of the first segment */
        int64_t second_s;
    } cases[] = {
        {200, 400, 400}, /* as known */
        {199, 400, 401}, {100, 400, 500}, {50, 450, 500}, {0, 500, 500},
        {201, 400, 399}, {300, 400, 300}, /* up to the second suspension */
        {600, 400, 0},   {601, 399, 0},   {1000, 0, 0},   {5000, 0, 0}, /* not more than there is */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct run set = run;
        run_suspended_set(&set, cases[i].total_s, &calendar);
        cr_expect_eq(charge_total(&set), cases[i].first_s * RATE + cases[i].second_s * 1000,
                     "total %lld", (long long)cases[i].total_s);
    }
}

Test(charge, a_freeze_of_the_whole_run_is_what_elapsed_and_the_rest_at_the_new_rate)
{
    struct calendar calendar = utc();
    struct run run = {.segment_count = 1, .segments = {{0, RATE, MGPUS}}};
    int64_t mcs = 0;
    cr_expect_eq(run_freeze_amount(&run, T0, 300, &mcs, NULL), ERR_OK);
    cr_expect_eq(mcs, 4800000, "not started: rate x limit");
    run_start_move(&run, T0);
    cr_expect_eq(run_freeze_amount(&run, T0, 300, &mcs, NULL), ERR_OK);
    cr_expect_eq(mcs, 4800000);
    cr_assert_eq(run_resize(&run, T0 + 100, 1000, 0, NULL), ERR_OK);
    cr_expect_eq(run_freeze_amount(&run, T0 + 100, 300, &mcs, NULL), ERR_OK);
    cr_expect_eq(mcs, 100 * RATE + 200 * 1000);
    cr_expect_eq(run_freeze_amount(&run, T0 + 150, 300, &mcs, NULL), ERR_OK);
    cr_expect_eq(mcs, 100 * RATE + 200 * 1000);
    run_suspend(&run, T0 + 150, &calendar);
    run_resume(&run, T0 + 250);
    cr_expect_eq(run_freeze_amount(&run, T0 + 260, 300, &mcs, NULL), ERR_OK);
    cr_expect_eq(mcs, 100 * RATE + 200 * 1000, "suspended time is no part of the limit");
    cr_expect_eq(run_freeze_amount(&run, T0 + 900, 300, &mcs, NULL), ERR_OK);
    cr_expect_eq(mcs, 100 * RATE + 700 * 1000, "past its limit: what elapsed");
    mcs = 5;
    struct error err = {0};
    cr_expect_eq(run_freeze_amount(&run, T0 + 900, LIMIT_COMMAND_MCS, &mcs, &err),
                 ERR_INVALID_FIELD);
    cr_expect_eq(mcs, 5);
}

/* ---- against second by second ---- */

enum { SECONDS = 1200, MOVES = 12 };

/* A run as two lists of seconds. */
struct naive {
    int64_t rate[SECONDS];
    bool suspended[SECONDS];
};

static int64_t naive_charge(const struct naive *naive, int64_t from, int64_t to)
{
    int64_t sum = 0;
    for (int64_t s = from; s < to; s++) {
        sum += naive->suspended[s] ? 0 : naive->rate[s];
    }
    return sum;
}

/* A random run with the same in seconds; suspensions in order, the last may be open. */
static void random_run(struct test_random *random,
                       int64_t start_s,
                       const struct calendar *calendar,
                       struct run *run,
                       struct naive *naive)
{
    *run = run_make(start_s, start_s + SECONDS);
    memset(naive, 0, sizeof *naive);
    for (int s = 0; s < SECONDS; s++) {
        naive->rate[s] = RATE;
    }
    for (int64_t at = test_random_range(random, 0, 400); at < SECONDS;
         at += test_random_range(random, 1, 400)) {
        int64_t rate = test_random_range(random, 0, 3) * 1000;
        cr_assert_eq(run_resize(run, start_s + at, rate, rate / 4, NULL), ERR_OK);
        for (int64_t s = at; s < SECONDS; s++) {
            naive->rate[s] = rate;
        }
    }
    for (int64_t at = test_random_range(random, 0, 400); at < SECONDS;) {
        int64_t to = at + test_random_range(random, 1, 200);
        run_suspend(run, start_s + at, calendar);
        for (int64_t s = at; s < to && s < SECONDS; s++) {
            naive->suspended[s] = true;
        }
        if (to < SECONDS || test_random_chance(random, 1, 2)) {
            run_resume(run, start_s + to);
        }
        at = to + test_random_range(random, 0, 300);
    }
}

Test(charge, any_stretch_of_any_run_is_the_sum_of_its_seconds)
{
    struct calendar calendar = utc();
    struct test_random random;
    test_random_init(&random, "charge/seconds");
    static struct naive naive;
    for (int64_t round = test_rounds(2000); round > 0; round--) {
        struct run run;
        random_run(&random, T0, &calendar, &run, &naive);
        int64_t from = test_random_range(&random, 0, SECONDS);
        int64_t to = test_random_range(&random, from, SECONDS);
        int64_t mcs;
        int64_t mgs;
        charge_between(&run, T0 + from, T0 + to, &mcs, &mgs);
        cr_assert_eq(mcs, naive_charge(&naive, from, to));
        cr_assert_eq(charge_total(&run), naive_charge(&naive, 0, SECONDS));
        run.booked_until_s = T0 + to;
        cr_assert_eq(charge_total(&run), naive_charge(&naive, 0, to));
    }
}

Test(charge, any_amount_reaches_the_last_second_that_it_pays_for)
{
    struct calendar calendar = utc();
    struct test_random random;
    test_random_init(&random, "charge/reach");
    static struct naive naive;
    for (int64_t round = test_rounds(2000); round > 0; round--) {
        struct run run;
        random_run(&random, T0, &calendar, &run, &naive);
        int64_t mcs = test_random_range(&random, 0, naive_charge(&naive, 0, SECONDS));
        int64_t until = test_random_range(&random, 0, SECONDS);
        int64_t reach = until;
        while (reach > 0 && naive_charge(&naive, 0, reach) > mcs) {
            reach--;
        }
        cr_assert_eq(charge_reach(&run, mcs, T0 + until), T0 + reach);
    }
}

Test(charge, any_suspended_total_wins_from_the_end)
{
    struct calendar calendar = utc();
    struct test_random random;
    test_random_init(&random, "charge/suspended");
    static struct naive naive;
    for (int64_t round = test_rounds(2000); round > 0; round--) {
        struct run run;
        random_run(&random, T0, &calendar, &run, &naive);
        int64_t length = test_random_range(&random, 0, SECONDS);
        run_end(&run, T0 + length);
        int64_t total = test_random_range(&random, 0, length);
        int64_t known = 0;
        for (int64_t s = 0; s < length; s++) {
            known += naive.suspended[s] ? 1 : 0;
        }
        for (int64_t s = length - 1; s >= 0 && known != total; s--) {
            if (naive.suspended[s] != (known < total)) {
                naive.suspended[s] = known < total;
                known += naive.suspended[s] ? 1 : -1;
            }
        }
        run_suspended_set(&run, total, &calendar);
        cr_assert_eq(run_suspended_s(&run, run.ended_s), total);
        cr_assert_eq(charge_total(&run), naive_charge(&naive, 0, length));
    }
}

/* ---- days and months of any zone ---- */

static const char *const ZONES[] = {"UTC",
                                    "Asia/Shanghai",
                                    "Europe/Berlin",
                                    "Australia/Lord_Howe",
                                    "America/Sao_Paulo",
                                    "Asia/Kathmandu",
                                    "Pacific/Apia"};

static struct calendar random_zone(struct test_random *random)
{
    const char *name = ZONES[test_random_range(random, 0, ARRAY_LEN(ZONES) - 1)];
    struct calendar calendar;
    struct error err = {0};
    cr_assert_eq(zone_load(name, 1, &calendar, &err), ERR_OK, "%s: %s", name, err.detail);
    return calendar;
}

/* A start near a step of the zone, a month's turn, or anywhere from 2005 to 2040. */
static int64_t random_start(struct test_random *random, const struct calendar *calendar)
{
    int64_t at_s = test_random_range(random, INT64_C(1104537600), INT64_C(2208988800));
    if (calendar->count > 2 && test_random_chance(random, 1, 3)) {
        at_s = calendar->steps[test_random_range(random, 1, calendar->count - 1)].at_s;
    } else if (test_random_chance(random, 1, 2)) {
        at_s = calendar_month_start(calendar, calendar_month(calendar, at_s));
    }
    at_s -= test_random_range(random, 0, 3 * DAY);
    return at_s > DAY ? at_s : DAY;
}

static int64_t random_length(struct test_random *random)
{
    static const int64_t LENGTHS[] = {HOUR, DAY, 40 * DAY, 800 * (int64_t)DAY};
    return test_random_range(random, 0, LENGTHS[test_random_range(random, 0, 3)]);
}

/* Random facts over a random length. */
static struct run random_facts(struct test_random *random,
                               int64_t start_s,
                               const struct calendar *calendar)
{
    int64_t length_s = random_length(random);
    struct run run = run_make(start_s, start_s + length_s);
    run.segments[0].rate_mcores = test_random_range(random, 0, 1000000);
    for (int64_t i = test_random_range(random, 0, 5); i > 0; i--) {
        int64_t at_s = start_s + test_random_range(random, 0, length_s);
        cr_assert_eq(run_resize(&run, at_s, test_random_range(random, 0, 50000),
                                test_random_range(random, 0, 9000), NULL),
                     ERR_OK);
    }
    int64_t at_s = start_s;
    for (int64_t i = test_random_range(random, 0, 5); i > 0; i--) {
        at_s += test_random_range(random, 0, length_s / 4);
        run_suspend(&run, at_s, calendar);
        at_s += test_random_range(random, 0, length_s / 8);
        run_resume(&run, at_s);
    }
    return run;
}

Test(charge, sum_of_days_is_sum_of_months_is_the_total_in_any_zone)
{
    struct test_random random;
    test_random_init(&random, "charge/days");
    for (int64_t round = test_rounds(400); round > 0; round--) {
        struct calendar calendar = random_zone(&random);
        struct run run = random_facts(&random, random_start(&random, &calendar), &calendar);
        struct month_amount months[RECORD_REFUND_MONTHS];
        int32_t count = charge_months(&run, &calendar, months, RECORD_REFUND_MONTHS);
        book(NULL, &run, &calendar, 0, USAGE_USAGE);
        int64_t total = 0;
        int32_t row = 0;
        for (int32_t i = 0; i < count; i++) {
            int64_t of_month = 0;
            for (; row < plan.usage_count && plan.usage[row].period <= months[i].month; row++) {
                of_month += plan.usage[row].used_mcs;
            }
            cr_assert_eq(of_month, months[i].mcs);
            total += of_month;
        }
        cr_assert_eq(total, charge_total(&run));
        cr_assert_eq(sum_used(), total);
    }
}

Test(charge, each_day_has_what_ran_between_its_midnights)
{
    struct test_random random;
    test_random_init(&random, "charge/midnights");
    for (int64_t round = test_rounds(200); round > 0; round--) {
        struct calendar calendar = random_zone(&random);
        struct run run = random_facts(&random, random_start(&random, &calendar), &calendar);
        book(NULL, &run, &calendar, 0, USAGE_USAGE);
        for (int32_t i = 0; i < plan.usage_count; i++) {
            const struct usage_delta *row = &plan.usage[i];
            int64_t mcs;
            int64_t mgs;
            charge_between(&run, calendar_day_start(&calendar, (int32_t)row->day),
                           calendar_day_start(&calendar, (int32_t)row->day + 1), &mcs, &mgs);
            cr_assert_eq(row->used_mcs, mcs);
            cr_assert_eq(row->mgs, mgs);
            cr_assert(i == 0 || plan.usage[i - 1].day < row->day, "ascending, one row a day");
            cr_assert_eq(row->period, calendar_day_month((int32_t)row->day));
        }
    }
}

/* ---- any sequence of bookings is one booking ---- */

enum { STORE_ROWS = 8192 };

/* Usage as a ledger keeps it: rows of one key added up. */
struct store {
    int32_t count;
    struct usage_delta rows[STORE_ROWS];
};

static bool same_key(const struct usage_delta *a, const struct usage_delta *b)
{
    return a->month == b->month && a->day == b->day && a->period == b->period &&
           a->kind == b->kind && a->outcome == b->outcome;
}

static void store_add(struct store *store, const struct usage_delta *delta)
{
    int32_t i = store->count - 1;
    while (i >= 0 && !same_key(&store->rows[i], delta)) {
        i--;
    }
    if (i < 0) {
        cr_assert_lt(store->count, STORE_ROWS);
        i = store->count++;
        store->rows[i] = *delta;
        return;
    }
    store->rows[i].used_mcs += delta->used_mcs;
    store->rows[i].mgs += delta->mgs;
    store->rows[i].waived_mcs += delta->waived_mcs;
    store->rows[i].runs += delta->runs;
}

static void store_plan(struct store *store)
{
    for (int32_t i = 0; i < plan.usage_count; i++) {
        store_add(store, &plan.usage[i]);
    }
}

static bool row_is_empty(const struct usage_delta *row)
{
    return row->used_mcs == 0 && row->mgs == 0 && row->waived_mcs == 0 && row->runs == 0;
}

/* One random event of a run; time goes on from `*now_s`. */
static void random_event(struct test_random *random,
                         struct run *run,
                         int64_t *now_s,
                         const struct calendar *calendar)
{
    *now_s += test_random_range(random, 0, 2 * DAY);
    int64_t late_s = *now_s - test_random_range(random, 0, DAY);
    switch (test_random_range(random, 0, 4)) {
    case 0:
        run_suspend(run, late_s, calendar);
        break;
    case 1:
        run_resume(run, *now_s);
        break;
    case 2:
        cr_assert_eq(run_resize(run, late_s, test_random_range(random, 0, 9000), 1000, NULL),
                     ERR_OK);
        break;
    case 3:
        run_start_move(run, run->started_s - test_random_range(random, 0, DAY));
        break;
    default:
        run->booked_until_s = *now_s > run->booked_until_s ? *now_s : run->booked_until_s;
        break;
    }
}

/* Ends, is corrected, is waived: whatever the last state is, it ends. */
static void random_end(struct test_random *random,
                       struct run *run,
                       int64_t now_s,
                       const struct calendar *calendar)
{
    run_end(run, now_s + test_random_range(random, 0, DAY));
    run->outcome = (enum outcome)test_random_range(random, 1, OUTCOME__COUNT - 1);
    run->waived = test_random_chance(random, 1, 4) ? 1 : 0;
    if (test_random_chance(random, 1, 2)) {
        run_suspended_set(run, test_random_range(random, 0, run->ended_s - run->started_s),
                          calendar);
    }
}

Test(charge, any_sequence_of_bookings_is_the_booking_of_its_last_state)
{
    struct test_random random;
    test_random_init(&random, "charge/sequence");
    static struct store many;
    static struct store once;
    for (int64_t round = test_rounds(300); round > 0; round--) {
        struct calendar calendar = random_zone(&random);
        int64_t now_s = random_start(&random, &calendar) + 20 * DAY;
        struct run run = {.segment_count = 1, .segments = {{0, RATE, MGPUS}}};
        struct run before = run;
        many.count = 0;
        once.count = 0;
        run_start_move(&run, now_s);
        int64_t events = test_random_range(&random, 0, 15);
        for (int64_t i = 0; i <= events; i++) {
            book(i == 0 ? NULL : &before, &run, &calendar, 0, USAGE_USAGE);
            store_plan(&many);
            before = run;
            if (i < events) {
                random_event(&random, &run, &now_s, &calendar);
            }
        }
        for (int i = 0; i < 2; i++) {
            now_s = run.ended_s == 0 ? now_s : run.started_s;
            now_s = now_s > run.started_s ? now_s : run.started_s;
            random_end(&random, &run, now_s, &calendar);
            book(&before, &run, &calendar, 0, USAGE_USAGE);
            store_plan(&many);
            before = run;
        }
        book(NULL, &run, &calendar, 0, USAGE_USAGE);
        store_plan(&once);
        for (int32_t i = 0; i < once.count; i++) {
            struct usage_delta minus = once.rows[i];
            minus.used_mcs = -minus.used_mcs;
            minus.mgs = -minus.mgs;
            minus.waived_mcs = -minus.waived_mcs;
            minus.runs = -minus.runs;
            store_add(&many, &minus);
        }
        for (int32_t i = 0; i < many.count; i++) {
            cr_assert(row_is_empty(&many.rows[i]), "day %lld", (long long)many.rows[i].day);
        }
    }
}

Test(charge, months_that_close_between_bookings_lose_nothing)
{
    struct test_random random;
    test_random_init(&random, "charge/closing");
    for (int64_t round = test_rounds(200); round > 0; round--) {
        struct calendar calendar = random_zone(&random);
        int64_t now_s = random_start(&random, &calendar) + 20 * DAY;
        struct run run = {.segment_count = 1, .segments = {{0, RATE, MGPUS}}};
        struct run before = run;
        int64_t oldest = 0;
        int64_t booked = 0;
        run_start_move(&run, now_s);
        for (int i = 0; i < 20; i++) {
            now_s += test_random_range(&random, 0, 5 * DAY);
            random_event(&random, &run, &now_s, &calendar);
            book(&before, &run, &calendar, oldest, USAGE_USAGE);
            for (int32_t j = 0; j < plan.usage_count; j++) {
                const struct usage_delta *row = &plan.usage[j];
                cr_assert_geq(row->month, oldest, "a closed month takes no row");
                cr_assert_eq(row->kind, row->period < oldest ? USAGE_CORRECTION : USAGE_USAGE);
            }
            booked += sum_used();
            cr_assert_eq(booked, charge_total(&run));
            before = run;
            oldest = test_random_chance(&random, 1, 3) ? calendar_month(&calendar, now_s) : oldest;
        }
    }
}

Test(charge, suspensions_past_the_bound_keep_their_total)
{
    struct test_random random;
    test_random_init(&random, "charge/many");
    for (int64_t round = test_rounds(100); round > 0; round--) {
        struct calendar calendar = random_zone(&random);
        int64_t at_s = random_start(&random, &calendar);
        struct run run = run_make(at_s, at_s);
        int64_t total_s = 0;
        for (int i = 0; i < 300; i++) {
            at_s += test_random_range(&random, 1, 4000);
            run_suspend(&run, at_s, &calendar);
            int64_t pause_s = test_random_range(&random, 1, 4000);
            at_s += pause_s;
            total_s += pause_s;
            run_resume(&run, at_s);
            cr_assert_leq(run.suspension_count, RECORD_SUSPENSIONS);
            cr_assert_eq(run_suspended_s(&run, at_s), total_s);
        }
        for (int32_t i = 1; i < run.suspension_count; i++) {
            cr_assert_leq(run.suspensions[i - 1].to_s, run.suspensions[i].from_s);
        }
        run.booked_until_s = at_s;
        cr_assert_eq(charge_total(&run), (at_s - run.started_s - total_s) * RATE);
        run_end(&run, at_s + 10);
        run_suspended_set(&run, total_s + 5, &calendar);
        cr_assert_eq(run_suspended_s(&run, run.ended_s), total_s + 5);
    }
}
