/*
 * Carrying a decision out on the sheet. Pure.
 *
 * Invariants that hold after booking_finish(): hold.frozen_mcs = untouched frozen tasks x
 * hold_task_mcs() + frozen_mcs of the runs; plan->delta is what the hold's records changed by.
 */
#include "ledger/core/booking.h"

#include <stddef.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/core/caps.h"
#include "ledger/core/hold_state.h"
#include "ledger/core/rate.h"

struct run *view_newest_run(struct view *view)
{
    if (view->run_found && view->run.attempt >= view->task.attempt) {
        return &view->run;
    }
    return view->previous_found ? &view->previous : NULL;
}

int64_t hold_freeze_seconds(const struct hold *hold, int64_t limit_s)
{
    if (hold->mode == MODE_FULL) {
        return limit_s;
    }
    return limit_s > 0 && limit_s < hold->window_s ? limit_s : hold->window_s;
}

int64_t hold_job_mcs(const struct hold *hold)
{
    int64_t seconds = hold->time_limit_s > 0 ? hold->time_limit_s : hold->seconds;
    int64_t mcs = 0;
    if (!i64_mul(hold->rate_mcores, seconds, &mcs) || !i64_mul(mcs, hold->tasks, &mcs)) {
        return INT64_MAX;
    }
    return mcs;
}

int64_t hold_task_mcs(const struct hold *hold)
{
    return hold->rate_mcores * hold->seconds;
}

int64_t run_wanted_mcs(const struct hold *hold, const struct run *run)
{
    return run->segments[run->segment_count - 1].rate_mcores *
           hold_freeze_seconds(hold, run->limit_s);
}

/* A run in window mode: what ran since it was last charged, and one window more, or up to the time
 * limit where that is nearer. */
static enum error_code window_needed(const struct hold *hold,
                                     const struct run *run,
                                     int64_t at_s,
                                     int64_t *ret_mcs,
                                     struct error *err)
{
    int64_t gap_mcs = 0;
    int64_t gap_mgs = 0;
    int64_t window_mcs = 0;
    int64_t elapsed_s = at_s - run->started_s - run_suspended_s(run, at_s);
    int64_t rest_s = hold->window_s;
    if (run->limit_s > 0 && run->limit_s - elapsed_s < rest_s) {
        rest_s = run->limit_s > elapsed_s ? run->limit_s - elapsed_s : 0;
    }
    struct run until = *run;
    until.booked_until_s = at_s;
    charge_between(&until, run->booked_until_s, at_s, &gap_mcs, &gap_mgs);
    enum error_code code =
        rate_amount(run->segments[run->segment_count - 1].rate_mcores, rest_s, &window_mcs, err);
    if (code != ERR_OK) {
        return code;
    }
    if (!i64_add(gap_mcs, window_mcs, ret_mcs)) {
        return error_set(err, ERR_INVALID_FIELD, "the run is too long and too dear to be renewed");
    }
    return ERR_OK;
}

enum error_code run_needed_mcs(const struct hold *hold,
                               const struct run *run,
                               int64_t at_s,
                               int64_t *ret_mcs,
                               struct error *err)
{
    if (run->started_s == 0) {
        return rate_amount(run->segments[run->segment_count - 1].rate_mcores,
                           hold_freeze_seconds(hold, run->limit_s), ret_mcs, err);
    }
    if (hold->mode == MODE_WINDOW) {
        return window_needed(hold, run, at_s, ret_mcs, err);
    }
    int64_t whole_mcs = 0;
    enum error_code code = run_freeze_amount(run, at_s, run->limit_s, &whole_mcs, err);
    if (code == ERR_OK) {
        *ret_mcs = whole_mcs > run->charged_mcs ? whole_mcs - run->charged_mcs : 0;
    }
    return code;
}

/* What the hold's untouched tasks and the view's task wait for. */
static int64_t waiting_mcs(struct view *view)
{
    const struct hold *hold = &view->hold;
    const struct run *run = view->task_found ? view_newest_run(view) : NULL;
    int64_t mcs = 0;
    if (hold->untouched_state == TASK_WAITING) {
        mcs = hold->untouched * hold_task_mcs(hold);
    }
    if (run != NULL && run->state == TASK_WAITING) {
        mcs += run_wanted_mcs(hold, run);
    }
    return mcs;
}

/* The newest run where it counts in flight for itself, or NULL. */
static const struct run *own_run(struct view *view)
{
    const struct run *run = view->task_found ? view_newest_run(view) : NULL;
    bool counts = run != NULL && run->own_resources != 0 && task_state_is_open(run->state);
    return counts ? run : NULL;
}

static void remember(struct booking *booking)
{
    const struct run *own = own_run(booking->view);
    booking->before = booking->view->hold;
    booking->own_found = own != NULL;
    if (own != NULL) {
        booking->own = *own;
    }
    booking->waiting_mcs = waiting_mcs(booking->view);
}

void booking_begin(struct booking *booking,
                   struct view *view,
                   const struct calendar *calendar,
                   struct plan *plan)
{
    booking->view = view;
    booking->plan = plan;
    booking->calendar = calendar;
    if (view->hold_found) {
        remember(booking);
        return;
    }
    memset(&booking->before, 0, sizeof booking->before);
    booking->own_found = false;
    booking->waiting_mcs = 0;
}

/* Add what is in flight now beyond what was before. */
static void add_in_flight(struct booking *booking, struct counter_delta *delta)
{
    struct view *view = booking->view;
    const struct run *own_before = booking->own_found ? &booking->own : NULL;
    const struct run *own_after = own_run(view);
    view->hold.own_open = booking->before.own_open - (own_before != NULL) + (own_after != NULL);
    in_flight_difference(booking->before.tasks > 0 ? &booking->before : NULL, &view->hold, delta);
    in_flight_own(own_before, own_after, delta);
}

static void flag_broken_limits(struct booking *booking)
{
    struct plan *plan = booking->plan;
    int32_t kept = 0;
    for (int32_t i = 0; i < plan->violation_count; i++) {
        const struct violation *violation = &plan->violations[i];
        if (violation->soft) {
            plan->violations[kept++] = *violation;
        } else {
            booking_flag(booking, violation->kind == CAP_FUNDS ? FLAG_OVERDRAWN : FLAG_OVER_CAP);
        }
    }
    plan->violation_count = kept;
}

static enum error_code move_to_frozen(struct booking *booking,
                                      const struct booking_freeze *freeze,
                                      bool forced,
                                      struct error *err)
{
    struct funds_context context =
        booking_context(booking, ENTRY_FREEZE, freeze->task, freeze->attempt, booking->view->month);
    return funds_freeze(booking->view, booking->plan, &context, freeze->mcs, forced, err);
}

enum error_code booking_check(struct booking *booking,
                              const struct booking_freeze *freeze,
                              struct error *err)
{
    struct caps_request request;
    booking->plan->violation_count = 0;
    request.mcs = freeze->mcs;
    memset(&request.in_flight, 0, offsetof(struct counter_delta, models));
    request.per_job = freeze->per_job;
    request.job_mcs = freeze->job_mcs;
    request.job_mgpus = freeze->job_mgpus;
    request.job_s = freeze->job_s;
    request.behind_waiting = freeze->behind_waiting;
    add_in_flight(booking, &request.in_flight);
    if (caps_check(booking->view, &request, booking->plan) > 0) {
        char text[AMOUNT_TEXT_BYTES];
        return error_set(err, ERR_QUOTA_INSUFFICIENT,
                         "quota insufficient to pre-freeze %s core-hours",
                         amount_format_core_hours(amount_from_mcs(freeze->mcs), 2, text));
    }
    return ERR_OK;
}

enum error_code booking_freeze(struct booking *booking,
                               const struct booking_freeze *freeze,
                               struct error *err)
{
    enum error_code code = booking_check(booking, freeze, err);
    return code == ERR_OK ? move_to_frozen(booking, freeze, false, err) : code;
}

enum error_code booking_freeze_more(struct booking *booking,
                                    const struct booking_freeze *freeze,
                                    struct error *err)
{
    enum error_code code = booking_freeze(booking, freeze, err);
    if (code != ERR_TOO_MANY_DRAWS) {
        return code;
    }
    error_clear(err);
    return move_to_frozen(booking, freeze, true, err);
}

enum error_code booking_freeze_anyway(struct booking *booking,
                                      const struct booking_freeze *freeze,
                                      bool *ret_fits,
                                      struct error *err)
{
    enum error_code code = booking_freeze_more(booking, freeze, err);
    bool fits = code != ERR_QUOTA_INSUFFICIENT;
    if (!fits) {
        flag_broken_limits(booking);
        error_clear(err);
        code = move_to_frozen(booking, freeze, true, err);
    }
    if (code == ERR_OK) {
        *ret_fits = fits;
    }
    return code;
}

struct adjustment *booking_adjust(struct booking *booking, int64_t amount_mcs)
{
    const struct run *run = &booking->view->run;
    booking->plan->adjustment_made = true;
    booking->plan->adjustment = (struct adjustment){
        .root_no = run->root_no,
        .hold_no = run->hold_no,
        .task = run->task,
        .attempt = run->attempt,
        .amount_mcs = amount_mcs,
        .at_ms = booking->view->now_ms,
    };
    return &booking->plan->adjustment;
}

void booking_unfreeze(struct booking *booking, int64_t task, int64_t attempt, int64_t mcs)
{
    int64_t expired_mcs = 0;
    struct funds_context context =
        booking_context(booking, ENTRY_UNFREEZE, task, attempt, booking->view->month);
    funds_unfreeze(booking->view, booking->plan, &context, mcs, &expired_mcs);
    booking->plan->run_refunded_mcs += mcs;
    booking->plan->run_expired_mcs += expired_mcs;
}

struct funds_context booking_context(const struct booking *booking,
                                     enum entry_kind kind,
                                     int64_t task,
                                     int64_t attempt,
                                     int64_t period)
{
    const struct view *view = booking->view;
    return (struct funds_context){
        .hold_no = view->hold.hold_no,
        .task = task,
        .attempt = attempt,
        .month = period > view->oldest_open_month ? period : view->oldest_open_month,
        .period = period,
        .kind = kind,
    };
}

int32_t booking_month_differences(const struct run *before,
                                  const struct run *after,
                                  const struct calendar *calendar,
                                  struct month_amount *months)
{
    struct month_amount old[BOOKING_MONTHS / 2];
    struct month_amount new[BOOKING_MONTHS / 2];
    int32_t olds = before == NULL ? 0 : charge_months(before, calendar, old, BOOKING_MONTHS / 2);
    int32_t news = charge_months(after, calendar, new, BOOKING_MONTHS / 2);
    int32_t count = 0;
    for (int32_t i = 0, j = 0; i < olds || j < news;) {
        bool has_old = i < olds && (j >= news || old[i].month <= new[j].month);
        bool has_new = j < news && (i >= olds || new[j].month <= old[i].month);
        int64_t month = has_old ? old[i].month : new[j].month;
        int64_t mcs = (has_new ? new[j].mcs : 0) - (has_old ? old[i].mcs : 0);
        if (mcs != 0) {
            months[count++] = (struct month_amount){month, mcs};
        }
        i += has_old;
        j += has_new;
    }
    return count;
}

/* What the payer owes, 0 or less, mcs. */
static int64_t overdraft_mcs(const struct view *view)
{
    const struct grant *last = &view->grants[view->grant_count - 1];
    return view->grant_count > 0 && last->kind == GRANT_OVERDRAFT ? last->available_mcs : 0;
}

/* Use above the freeze; marked where it goes into overdraft. */
static enum error_code use_over(struct booking *booking,
                                const struct funds_context *context,
                                int64_t mcs,
                                struct error *err)
{
    int64_t before_mcs = overdraft_mcs(booking->view);
    enum error_code code = funds_use_over(booking->view, booking->plan, context, mcs, err);
    if (overdraft_mcs(booking->view) < before_mcs) {
        booking_flag(booking, FLAG_OVERDRAWN);
    }
    return code;
}

/* One month's difference: down to frozen, or up from it and then above it. */
static enum error_code book_month(struct booking *booking,
                                  const struct month_amount *month,
                                  struct error *err)
{
    struct view *view = booking->view;
    struct run *run = &view->run;
    bool down = month->mcs < 0;
    struct funds_context context = booking_context(booking, down ? ENTRY_UNCHARGE : ENTRY_CHARGE,
                                                   run->task, run->attempt, month->month);
    if (down) {
        funds_refreeze(view, booking->plan, &context, -month->mcs);
        run->frozen_mcs -= month->mcs;
        return ERR_OK;
    }
    int64_t frozen_mcs = month->mcs < run->frozen_mcs ? month->mcs : run->frozen_mcs;
    funds_use_frozen(view, booking->plan, &context, frozen_mcs);
    run->frozen_mcs -= frozen_mcs;
    return use_over(booking, &context, month->mcs - frozen_mcs, err);
}

/* All months that go down, or all that go up. */
static enum error_code book_months(struct booking *booking,
                                   const struct month_amount *months,
                                   int32_t count,
                                   bool down,
                                   struct error *err)
{
    enum error_code code = ERR_OK;
    for (int32_t i = 0; i < count && code == ERR_OK; i++) {
        if ((months[i].mcs < 0) == down) {
            code = book_month(booking, &months[i], err);
        }
    }
    return code;
}

enum error_code booking_charge(struct booking *booking, const struct run *before, struct error *err)
{
    struct run *run = &booking->view->run;
    struct charge_context context = {
        .calendar = booking->calendar,
        .oldest_open_month = booking->view->oldest_open_month,
        .kind = USAGE_USAGE,
    };
    enum error_code code = charge_difference(before, run, &context, booking->plan, err);
    if (code != ERR_OK) {
        return code;
    }
    struct month_amount months[BOOKING_MONTHS];
    int32_t count = booking_month_differences(before, run, booking->calendar, months);
    code = book_months(booking, months, count, true, err);
    if (code == ERR_OK) {
        code = book_months(booking, months, count, false, err);
    }
    run->charged_mcs = charge_total(run);
    return code;
}

enum error_code booking_charge_open(struct booking *booking,
                                    const struct run *before,
                                    struct error *err)
{
    struct run *run = &booking->view->run;
    int64_t most_mcs = before->charged_mcs + run->frozen_mcs;
    run->booked_until_s = charge_reach(run, most_mcs, run->booked_until_s);
    return booking_charge(booking, before, err);
}

void booking_flag(struct booking *booking, int64_t flags)
{
    booking->view->hold.flags |= flags;
    booking->plan->warnings |= flags;
    if (booking->view->run_found) {
        booking->view->run.flags |= flags;
    }
}

/* Tasks that are open or wait. */
static int64_t live_tasks(const struct hold *hold)
{
    return hold_open_tasks(hold) + hold->counts[TASK_WAITING];
}

static void add_differences(struct booking *booking)
{
    const struct hold *before = &booking->before;
    const struct hold *hold = &booking->view->hold;
    struct counter_delta *delta = &booking->plan->delta;
    add_in_flight(booking, delta);
    delta->open_tasks += live_tasks(hold) - live_tasks(before);
    delta->waiting_tasks += hold->counts[TASK_WAITING] - before->counts[TASK_WAITING];
    delta->waiting_mcs += waiting_mcs(booking->view) - booking->waiting_mcs;
}

/* The counter's entry of a model, or NULL. */
static struct counter_model *model_of(struct counter *counter, int64_t model_no)
{
    for (int32_t i = 0; i < counter->model_count; i++) {
        if (counter->models[i].model_no == model_no) {
            return &counter->models[i];
        }
    }
    return NULL;
}

static void show_counters(const struct counter_delta *delta, struct counter *counter)
{
    counter->frozen_mcs += delta->frozen_mcs;
    counter->jobs += delta->jobs;
    counter->mcores += delta->mcores;
    counter->mgpus += delta->mgpus;
    for (int32_t i = 0; i < delta->model_count; i++) {
        struct counter_model *model = model_of(counter, delta->models[i].model_no);
        if (model != NULL) {
            model->mgpus += delta->models[i].mgpus;
        }
    }
}

/* The first month of the window of a cap in which a month lies; 0 for total. */
static int32_t window_of(const struct calendar *calendar, int kind, int32_t month)
{
    if (kind == CAP_MONTH) {
        return month;
    }
    if (kind == CAP_QUARTER) {
        return calendar_quarter_first_month(calendar, month);
    }
    return kind == CAP_YEAR ? calendar_year_first_month(calendar, month) : 0;
}

/* What the plan's usage adds to the window of now. */
static int64_t used_in_window(const struct booking *booking, int kind)
{
    const struct plan *plan = booking->plan;
    const struct calendar *calendar = booking->calendar;
    int32_t now = window_of(calendar, kind, (int32_t)booking->view->month);
    int64_t used_mcs = 0;
    for (int32_t i = 0; i < plan->usage_count; i++) {
        bool in = window_of(calendar, kind, (int32_t)plan->usage[i].period) == now;
        used_mcs += in ? plan->usage[i].used_mcs : 0;
    }
    return used_mcs;
}

/* Let the limits of the view see what the plan has booked so far. */
static void show_to_limits(const struct booking *booking)
{
    struct view *view = booking->view;
    for (int kind = CAP_MONTH; kind <= CAP_TOTAL; kind++) {
        int64_t used_mcs = used_in_window(booking, kind);
        for (int32_t i = 0; i < view->node_count; i++) {
            view->nodes[i].window_used_mcs[kind] += used_mcs;
        }
    }
    for (int32_t i = 0; i < view->node_count; i++) {
        show_counters(&booking->plan->delta, &view->nodes[i].counter);
    }
}

void booking_step(struct booking *booking)
{
    add_differences(booking);
    show_to_limits(booking);
    remember(booking);
}

/* Whether anything became less that a limit may be waiting for: what is in flight, or what is frozen
 * and used together in a window of now. What came back from any month at all, funds wait for, is in the
 * window of CAP_TOTAL. */
static bool frees_room(const struct booking *booking)
{
    const struct counter_delta *delta = &booking->plan->delta;
    for (int kind = CAP_MONTH; kind <= CAP_TOTAL; kind++) {
        if (delta->frozen_mcs + used_in_window(booking, kind) < 0) {
            return true;
        }
    }
    if (delta->jobs < 0 || delta->mcores < 0 || delta->mgpus < 0) {
        return true;
    }
    for (int32_t i = 0; i < delta->model_count; i++) {
        if (delta->models[i].mgpus < 0) {
            return true;
        }
    }
    return false;
}

void booking_finish(struct booking *booking)
{
    add_differences(booking);
    booking->plan->hold_changed = true;
    booking->plan->room_freed = booking->plan->room_freed || frees_room(booking);
}
