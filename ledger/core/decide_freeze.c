/*
 * Freeze, and quote, which is a freeze that is only decided (SPEC 5.2, 6.5).
 *
 * The order of refusals (SPEC 6.2): fields, closed nodes, membership, time limit, rate, amount,
 * limits. Pure.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ledger/base/amount.h"
#include "ledger/core/booking.h"
#include "ledger/core/decide.h"
#include "ledger/core/hold_state.h"
#include "ledger/core/new_hold.h"
#include "ledger/core/rate.h"

#define DEFAULT_WINDOW_S 300
#define DEFAULT_TTL_S    600

static int64_t first_given(int64_t a, int64_t b, int64_t c, int64_t otherwise)
{
    if (a != 0) {
        return a;
    }
    if (b != 0) {
        return b;
    }
    return c != 0 ? c : otherwise;
}

static enum error_code check_fields(const struct view *view,
                                    const struct command_freeze *freeze,
                                    struct error *err)
{
    if (freeze->tasks > LIMIT_TASKS) {
        return error_set_field(err, ERR_TOO_MANY_TASKS, "tasks",
                               "%" PRId64 " tasks are too many: a hold has 1 to %d", freeze->tasks,
                               LIMIT_TASKS);
    }
    return new_hold_check_resources(&view->resources, "resources", err);
}

/* What is not given comes from the project, then the cluster (SPEC 5.2). */
static void fill_settings(struct view *view, const struct command_freeze *freeze)
{
    struct hold *hold = &view->hold;
    const struct node *project = &view->nodes[1].node;
    const struct cluster *cluster = &view->cluster;
    hold->mode = (enum hold_mode)first_given(freeze->mode, project->mode, cluster->mode, MODE_FULL);
    hold->on_insufficient =
        (enum on_insufficient)first_given(freeze->on_insufficient, project->on_insufficient,
                                          cluster->on_insufficient, INSUFFICIENT_REJECT);
    hold->ttl_s = first_given(freeze->ttl_s, project->ttl_s, cluster->ttl_s, DEFAULT_TTL_S);
    hold->window_s = first_given(project->window_s, cluster->window_s, 0, DEFAULT_WINDOW_S);
    hold->time_limit_s = freeze->time_limit_s;
    hold->tasks = freeze->tasks > 0 ? freeze->tasks : 1;
    hold->max_running = freeze->max_running;
    hold->untouched = hold->tasks;
    hold->resources = view->resources;
    hold->due_s = view->now_s + hold->ttl_s;
    hold->seen_s = view->now_s;
}

static enum error_code check_place(const struct view *view, struct error *err)
{
    enum error_code code = new_hold_check_open(view, err);
    if (code != ERR_OK) {
        return code;
    }
    if (new_hold_is_guest(view)) {
        return error_set_field(
            err, ERR_NOT_A_MEMBER, "user",
            "%s is not a member of project %s, which lists its members: have one "
            "of its leads add them",
            view->nodes[0].node.name, view->nodes[1].node.name);
    }
    if (view->hold.mode == MODE_FULL && view->hold.time_limit_s == 0) {
        return error_set_field(err, ERR_NO_TIME_LIMIT, "time_limit_s",
                               "mode full freezes the whole time limit, and none is given: submit "
                               "with a time limit of 1 s or more");
    }
    return ERR_OK;
}

/* What the hold asks for in all, mcs. */
static enum error_code price(struct view *view,
                             struct plan *plan,
                             int64_t *ret_mcs,
                             struct error *err)
{
    struct hold *hold = &view->hold;
    enum error_code code = new_hold_price(view, plan, err);
    if (code != ERR_OK) {
        return code;
    }
    hold->seconds = hold_freeze_seconds(hold, hold->time_limit_s);
    int64_t task_mcs = 0;
    code = rate_amount(hold->rate_mcores, hold->seconds, &task_mcs, err);
    if (code != ERR_OK) {
        return code;
    }
    int64_t mcs = 0;
    if (!i64_mul(task_mcs, hold->tasks, &mcs) || mcs > LIMIT_COMMAND_MCS) {
        return error_set_field(err, ERR_INVALID_FIELD, "tasks",
                               "%" PRId64 " tasks of %" PRId64 " mcs come to more than one command "
                               "may freeze, %" PRId64 " mcs: submit fewer at a time",
                               hold->tasks, task_mcs, LIMIT_COMMAND_MCS);
    }
    plan->requested_mcores = hold->rate_mcores;
    plan->requested_s = hold->seconds;
    plan->requested_mcs = mcs;
    *ret_mcs = mcs;
    return ERR_OK;
}

/* Freeze, or wait where that is asked for and may help (SPEC 5.13). */
static enum error_code freeze_or_wait(struct booking *booking, int64_t mcs, struct error *err)
{
    struct hold *hold = &booking->view->hold;
    struct booking_freeze freeze = {
        .mcs = mcs,
        .task = -1,
        .per_job = true,
        .job_mcs = hold_job_mcs(hold),
        .job_mgpus = hold->mgpus,
        .job_s = hold->time_limit_s,
        .behind_waiting = true,
    };
    enum error_code code = booking_freeze(booking, &freeze, err);
    bool wait = code == ERR_QUOTA_INSUFFICIENT && hold->on_insufficient == INSUFFICIENT_WAIT &&
                !plan_is_beyond(booking->plan);
    if (!wait) {
        return code;
    }
    error_clear(err);
    hold_move_untouched(hold, TASK_WAITING);
    booking->plan->hold_wait = WAIT_JOIN;
    booking->plan->waits = true;
    return ERR_OK;
}

enum error_code decide_freeze(struct view *view,
                              const struct command *command,
                              const struct calendar *calendar,
                              struct plan *plan,
                              struct error *err)
{
    const struct command_freeze *freeze = &command->freeze;
    struct hold *hold = &view->hold;
    int64_t mcs = 0;
    enum error_code code = check_fields(view, freeze, err);
    if (code != ERR_OK) {
        return code;
    }
    new_hold_name(view, freeze->id, &freeze->job);
    fill_settings(view, freeze);
    if (command->kind == COMMAND_QUOTE) {
        hold->on_insufficient =
            INSUFFICIENT_REJECT; /* it says which limits fail (SPEC 6.5): it never waits */
    }
    code = check_place(view, err);
    if (code == ERR_OK) {
        code = price(view, plan, &mcs, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    hold->untouched_state = TASK_FROZEN;
    hold->counts[TASK_FROZEN] = hold->tasks;
    code = freeze_or_wait(&booking, mcs, err);
    if (code != ERR_OK) {
        return code;
    }
    booking_finish(&booking);
    return ERR_OK;
}
