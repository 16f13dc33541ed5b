/*
 * Refunds of a run by month. Pure.
 */
#include "ledger/core/refunds.h"

#include <stddef.h>
#include <string.h>

#include "ledger/base/check.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Add to the refund of a month in the run's list, which stays ascending and without zeros. */
static void add_to_list(struct run *run, int64_t month, int64_t mcs)
{
    int32_t at = 0;
    while (at < run->refund_count && run->refunds[at].month < month) {
        at++;
    }
    struct month_amount *place = &run->refunds[at];
    size_t behind = (size_t)(run->refund_count - at);
    if (at == run->refund_count || place->month != month) {
        assert(run->refund_count < RECORD_REFUND_MONTHS);
        memmove(place + 1, place, behind * sizeof *place);
        *place = (struct month_amount){month, 0};
        run->refund_count++;
        behind++;
    }
    place->mcs += mcs;
    if (place->mcs == 0) {
        memmove(place, place + 1, (behind - 1) * sizeof *place);
        run->refund_count--;
    }
    run->refunded_mcs += mcs;
}

/* The usage row of a refund of a run: on its last day in that month. */
static void add_usage(struct booking *booking, const struct run *run, int64_t month, int64_t mcs)
{
    const struct calendar *calendar = booking->calendar;
    int64_t month_end_s = calendar_month_start(calendar, (int32_t)month + 1);
    int64_t last_s = smaller(run->ended_s, month_end_s) - 1;
    struct plan *plan = booking->plan;
    assert(plan->usage_count < PLAN_USAGE);
    struct funds_context context = booking_context(booking, ENTRY_REFUND, 0, 0, month);
    plan->usage[plan->usage_count++] = (struct usage_delta){
        .month = context.month,
        .day = calendar_day(calendar, last_s),
        .period = month,
        .kind = USAGE_REFUND,
        .outcome = run->outcome,
        .used_mcs = -mcs,
    };
}

static void give(struct booking *booking, int64_t month, int64_t mcs)
{
    struct run *run = &booking->view->run;
    struct funds_context context =
        booking_context(booking, ENTRY_REFUND, run->task, run->attempt, month);
    int64_t expired_mcs = 0;
    funds_return_used(booking->view, booking->plan, &context, mcs, &expired_mcs);
    booking->plan->run_expired_mcs += expired_mcs;
    add_usage(booking, run, month, mcs);
    add_to_list(run, month, mcs);
}

/* Merge the months of the charge and of the refunds. */
static void list_months(const struct run *run,
                        const struct calendar *calendar,
                        struct refunds *refunds)
{
    struct month_amount charged[BOOKING_MONTHS / 2];
    int32_t count = charge_months(run, calendar, charged, BOOKING_MONTHS / 2);
    refunds->count = 0;
    for (int32_t i = 0, j = 0; i < count || j < run->refund_count;) {
        const struct month_amount *refund = &run->refunds[j];
        bool is_charged =
            i < count && (j >= run->refund_count || charged[i].month <= refund->month);
        bool is_refunded =
            j < run->refund_count && (i >= count || refund->month <= charged[i].month);
        refunds->months[refunds->count++] = (struct refunds_month){
            .month = is_charged ? charged[i].month : refund->month,
            .charged_mcs = is_charged ? charged[i].mcs : 0,
            .before_mcs = is_refunded ? refund->mcs : 0,
        };
        i += is_charged;
        j += is_refunded;
    }
}

void refunds_fit(const struct run *run,
                 const struct calendar *calendar,
                 struct refunds *ret_refunds)
{
    int64_t excess_mcs = 0;
    list_months(run, calendar, ret_refunds);
    for (int32_t i = 0; i < ret_refunds->count; i++) {
        struct refunds_month *month = &ret_refunds->months[i];
        month->kept_mcs = smaller(month->before_mcs, month->charged_mcs);
        excess_mcs += month->before_mcs - month->kept_mcs;
    }
    for (int32_t i = ret_refunds->count - 1; i >= 0; i--) {
        struct refunds_month *month = &ret_refunds->months[i];
        month->moved_mcs = smaller(excess_mcs, month->charged_mcs - month->kept_mcs);
        excess_mcs -= month->moved_mcs;
    }
}

enum error_code refunds_cut(struct booking *booking,
                            const struct run *before,
                            const struct refunds *refunds,
                            struct error *err)
{
    struct run *run = &booking->view->run;
    for (int32_t i = 0; i < refunds->count; i++) {
        const struct refunds_month *month = &refunds->months[i];
        int64_t cut_mcs = month->before_mcs - month->kept_mcs;
        if (cut_mcs == 0) {
            continue;
        }
        struct funds_context context =
            booking_context(booking, ENTRY_REFUND, run->task, run->attempt, month->month);
        enum error_code code = funds_use_over(booking->view, booking->plan, &context, cut_mcs, err);
        if (code != ERR_OK) {
            return code;
        }
        add_usage(booking, before, month->month, -cut_mcs);
        add_to_list(run, month->month, -cut_mcs);
    }
    return ERR_OK;
}

void refunds_move(struct booking *booking, const struct refunds *refunds)
{
    for (int32_t i = 0; i < refunds->count; i++) {
        if (refunds->months[i].moved_mcs > 0) {
            give(booking, refunds->months[i].month, refunds->months[i].moved_mcs);
        }
    }
}

int64_t refunds_left(const struct run *run)
{
    return run->charged_mcs - run->refunded_mcs;
}

void refunds_make(struct booking *booking, int64_t mcs)
{
    struct refunds refunds;
    assert(mcs <= refunds_left(&booking->view->run));
    list_months(&booking->view->run, booking->calendar, &refunds);
    for (int32_t i = refunds.count - 1; i >= 0 && mcs > 0; i--) {
        const struct refunds_month *month = &refunds.months[i];
        int64_t part_mcs = smaller(mcs, month->charged_mcs - month->before_mcs);
        if (part_mcs > 0) {
            give(booking, month->month, part_mcs);
            mcs -= part_mcs;
        }
    }
    assert(mcs == 0);
}
