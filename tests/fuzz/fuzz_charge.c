/*
 * A run to which anything happens in any order: its facts stay in order, its days and months add up to its total, and what was booked
 * step by step is what it comes to.
 */
#include "ledger/base/zone.h"
#include "ledger/core/charge.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"

enum { START_S = 1780000000, STEPS = 200 };

static struct plan plan;

static void check_facts(const struct run *run)
{
    require(run->segment_count >= 1 && run->segment_count <= RECORD_SEGMENTS);
    require(run->segments[0].from_s == run->started_s);
    for (int32_t i = 1; i < run->segment_count; i++) {
        require(run->segments[i - 1].from_s < run->segments[i].from_s);
    }
    require(run->suspension_count >= 0 && run->suspension_count <= RECORD_SUSPENSIONS);
    for (int32_t i = 0; i < run->suspension_count; i++) {
        require(run->suspensions[i].from_s < run->suspensions[i].to_s);
        require(i == 0 || run->suspensions[i - 1].to_s <= run->suspensions[i].from_s);
    }
    require(run->started_s <= run->booked_until_s);
    require(run_suspended_s(run, run->booked_until_s) <= run->booked_until_s - run->started_s);
}

static void check_reach(const struct run *run, int64_t mcs)
{
    struct run reached = *run;
    reached.booked_until_s = charge_reach(run, mcs, run->booked_until_s);
    require(charge_gross(&reached) <= mcs);
    if (reached.booked_until_s < run->booked_until_s) {
        reached.booked_until_s++;
        require(charge_gross(&reached) > mcs);
    }
}

static int64_t check_months(const struct run *run, const struct calendar *calendar)
{
    static struct month_amount months[RECORD_REFUND_MONTHS];
    int32_t count = charge_months(run, calendar, months, RECORD_REFUND_MONTHS);
    int64_t sum = 0;
    for (int32_t i = 0; i < count; i++) {
        require(months[i].mcs > 0 && (i == 0 || months[i - 1].month < months[i].month));
        sum += months[i].mcs;
    }
    return sum;
}

/* One thing that happens; times may lie before or after all that is known. */
static void happen(struct run *run, struct bytes *bytes, const struct calendar *calendar)
{
    int64_t at_s = START_S + bytes_range(bytes, 0, 40000000);
    switch (bytes_take(bytes) % 8) {
    case 0:
        run_suspend(run, at_s, calendar);
        break;
    case 1:
        run_resume(run, at_s);
        break;
    case 2:
        (void)!run_resize(run, at_s, bytes_range(bytes, 0, 1000000), bytes_range(bytes, 0, 8000),
                          NULL);
        break;
    case 3:
        run_start_move(run, at_s);
        break;
    case 4:
        run_end(run, at_s > run->started_s ? at_s : run->started_s);
        break;
    case 5:
        run->waived = bytes_take(bytes) % 2;
        run->outcome = (enum outcome)(bytes_take(bytes) % OUTCOME__COUNT);
        break;
    case 6:
        if (run->ended_s >= run->started_s) {
            run_end(run, run->ended_s);
            run_suspended_set(run, bytes_range(bytes, 0, 50000000), calendar);
        }
        break;
    default:
        run->booked_until_s = at_s > run->booked_until_s ? at_s : run->booked_until_s;
        break;
    }
}

static int64_t book(const struct run *before,
                    const struct run *after,
                    const struct calendar *calendar,
                    int64_t oldest_open_month)
{
    struct charge_context context = {calendar, oldest_open_month, USAGE_USAGE};
    int64_t used = 0;
    plan.usage_count = 0;
    require(charge_difference(before, after, &context, &plan, NULL) == ERR_OK);
    for (int32_t i = 0; i < plan.usage_count; i++) {
        require(plan.usage[i].month >= oldest_open_month);
        require(i == 0 || plan.usage[i - 1].day <= plan.usage[i].day);
        used += plan.usage[i].used_mcs;
    }
    return used;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const zones[] = {"UTC", "Europe/Berlin", "Australia/Lord_Howe"};
    static struct calendar calendars[3];
    struct bytes bytes = {data, size};
    struct calendar *calendar = &calendars[bytes_take(&bytes) % 3];
    if (calendar->count == 0) {
        require(zone_load(zones[calendar - calendars], 1, calendar, NULL) == ERR_OK);
    }
    struct run run = {.segment_count = 1, .segments = {{0, 16000, 1000}}};
    struct run before = run;
    int64_t booked = 0;
    run_start_move(&run, START_S + 20000000);
    for (int step = 0; step < STEPS && bytes.left > 0; step++) {
        happen(&run, &bytes, calendar);
        check_facts(&run);
        int64_t oldest = calendar_month(calendar, START_S) + bytes_take(&bytes) % 16;
        booked += book(&before, &run, calendar, oldest);
        require(booked == charge_total(&run));
        require(booked == check_months(&run, calendar));
        check_reach(&run, bytes_number(&bytes));
        before = run;
    }
    return 0;
}
