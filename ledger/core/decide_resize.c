/*
 * Resize: other resources, another time limit, another partition or qos (SPEC 5.5). The difference
 * is frozen, or refused with nothing changed, or returned. Pure.
 *
 * Of the whole hold (no task named, or it has but one), the hold's own figures change, and with them
 * its untouched tasks; tasks with a row of their own follow one by one. One task of several that is
 * named gets resources of its own (SPEC 4.4).
 */
#include <stdio.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/core/attempt.h"
#include "ledger/core/decide.h"
#include "ledger/core/hold_state.h"
#include "ledger/core/new_hold.h"
#include "ledger/core/rate.h"

enum resize_action {
    RESIZE_DO,
    RESIZE_NONE,   /* it has ended: no effect (SPEC 5.12) */
    RESIZE_REFUSE, /* nothing is frozen for it */
};

static const enum resize_action ACTIONS[TASK__COUNT] = {
    [TASK_WAITING] = RESIZE_DO,     [TASK_FROZEN] = RESIZE_DO,    [TASK_RUNNING] = RESIZE_DO,
    [TASK_SUSPENDED] = RESIZE_DO,   [TASK_SETTLED] = RESIZE_NONE, [TASK_RELEASED] = RESIZE_REFUSE,
    [TASK_EXPIRED] = RESIZE_REFUSE,
};

/* What is asked for, priced. */
struct target {
    struct resources resources;
    struct rate_price price;
    int64_t limit_s;
    int64_t at_s;
    bool hold_too; /* the hold itself changes */
    bool alone;    /* one of several tasks, for itself */
    char partition[RECORD_NAME_BYTES];
    char qos[RECORD_NAME_BYTES];
};

static const char *given_or(const char *given, const char *known)
{
    return given[0] != '\0' ? given : known;
}

/* The run that the resize is about, or NULL for a task that has none. */
static const struct run *run_of(const struct view *view)
{
    return view->run_found ? &view->run : NULL;
}

static bool is_untouched_whole(const struct view *view)
{
    return !view->task_found && (view->task.task < 0 || view->hold.tasks == 1);
}

static enum error_code read_target(struct view *view,
                                   const struct command *command,
                                   struct target *target,
                                   struct error *err)
{
    const struct command_run *given = &command->run;
    const struct hold *hold = &view->hold;
    const struct run *run = run_of(view);
    bool own = run != NULL && run->own_resources != 0;
    target->hold_too = is_untouched_whole(view) || hold->tasks == 1;
    target->alone = !target->hold_too && !command->all_tasks;
    target->at_s = given->at_s > 0 ? given->at_s : view->now_s;
    target->limit_s = given->time_limit_s > 0 ? given->time_limit_s
                      : run != NULL           ? run->limit_s
                                              : hold->time_limit_s;
    target->resources = own ? run->resources : hold->resources;
    if (given->resources.given) {
        enum error_code code = new_hold_check_resources(&view->resources, "resources", err);
        if (code != ERR_OK) {
            return code;
        }
        target->resources = view->resources;
    }
    (void)snprintf(target->partition, sizeof target->partition, "%s",
                   given_or(given->job.given ? given->job.partition : "", hold->partition));
    (void)snprintf(target->qos, sizeof target->qos, "%s",
                   given_or(given->job.given ? given->job.qos : "", hold->qos));
    return rate_price(&view->card, target->partition, target->qos, &target->resources,
                      &target->price, err);
}

static enum error_code check_command(const struct view *view,
                                     const struct command *command,
                                     struct error *err)
{
    enum error_code code = ERR_OK;
    if (view->task.task >= 0) {
        code = attempt_check(view, view->task.task, 0, err);
    }
    if (code == ERR_OK) {
        code = time_check(view, "at", command->run.at_s, err);
    }
    if (code == ERR_OK && view->account_project_no != 0 &&
        view->account_project_no != view->hold.project_no) {
        code =
            error_set_field(err, ERR_INVALID_STATE, "account",
                            "hold %s belongs to project %s: release it and freeze for account %s",
                            view->hold.id, view->nodes[1].node.name, command->run.account);
    }
    return code;
}

static bool same_resources(const struct resources *a, const struct resources *b)
{
    return a->cores == b->cores && a->memory_mib == b->memory_mib && a->gpu_count == b->gpu_count &&
           memcmp(a->gpus, b->gpus, (size_t)a->gpu_count * sizeof a->gpus[0]) == 0;
}

/* Equal to what is in force: nothing to do (SPEC 6.1). */
static bool is_equal(const struct view *view, const struct target *target)
{
    const struct hold *hold = &view->hold;
    const struct run *run = run_of(view);
    bool own = run != NULL && run->own_resources != 0;
    int64_t rate_mcores = hold->rate_mcores;
    int64_t limit_s = hold->time_limit_s;
    if (run != NULL) {
        rate_mcores = run->segments[run->segment_count - 1].rate_mcores;
        limit_s = run->limit_s;
    }
    bool names = !target->hold_too || (strcmp(hold->partition, target->partition) == 0 &&
                                       strcmp(hold->qos, target->qos) == 0);
    return names && limit_s == target->limit_s && rate_mcores == target->price.rate_mcores &&
           same_resources(own ? &run->resources : &hold->resources, &target->resources);
}

/* The hold's figures, and what its untouched tasks then need more (or less), mcs. */
static enum error_code resize_hold(struct booking *booking,
                                   const struct target *target,
                                   int64_t *ret_mcs,
                                   struct error *err)
{
    struct hold *hold = &booking->view->hold;
    int64_t before_mcs = hold_task_mcs(hold);
    int64_t seconds = hold_freeze_seconds(hold, target->limit_s);
    int64_t task_mcs = 0;
    int64_t tasks_mcs = 0;
    enum error_code code = rate_amount(target->price.rate_mcores, seconds, &task_mcs, err);
    if (code == ERR_OK && (task_mcs > LIMIT_COMMAND_MCS / hold->tasks)) {
        code = error_set_field(err, ERR_INVALID_FIELD, "resources",
                               "all tasks come to more than one command may freeze, %lld mcs: ask "
                               "for less",
                               (long long)LIMIT_COMMAND_MCS);
    }
    if (code != ERR_OK) {
        return code;
    }
    if (hold->untouched_state == TASK_FROZEN) {
        tasks_mcs = (task_mcs - before_mcs) * hold->untouched;
    }
    hold->resources = target->resources;
    hold->rate_mcores = target->price.rate_mcores;
    hold->mgpus = target->price.mgpus;
    hold->time_limit_s = target->limit_s;
    hold->seconds = seconds;
    (void)snprintf(hold->partition, sizeof hold->partition, "%s", target->partition);
    (void)snprintf(hold->qos, sizeof hold->qos, "%s", target->qos);
    (void)snprintf(booking->plan->partition, sizeof booking->plan->partition, "%s",
                   target->price.partition);
    booking->plan->dims_changed = true;
    *ret_mcs = tasks_mcs;
    return ERR_OK;
}

/* Whose resources the run has from now on. */
static void resize_owner(struct view *view, const struct target *target)
{
    struct run *run = &view->run;
    const struct hold *hold = &view->hold;
    bool as_hold = same_resources(&hold->resources, &target->resources) &&
                   hold->rate_mcores == target->price.rate_mcores;
    run->own_resources = !as_hold;
    run->resources = as_hold ? (struct resources){0} : target->resources;
}

/* Bring a task that has no run its own, in the state it is in. */
static void bring_run(struct booking *booking)
{
    struct view *view = booking->view;
    enum task_state state = view->task_found ? view->task.state : view->hold.untouched_state;
    if (view->run_found) {
        return;
    }
    attempt_bring(booking, view->task.attempt, (enum stand)state);
    view->run.state = state;
    if (state == TASK_WAITING) {
        booking->plan->task_wait = WAIT_JOIN;
    }
}

/* The run's facts, and what it then needs more (or less), mcs. */
static enum error_code resize_run(struct booking *booking,
                                  const struct target *target,
                                  int64_t *ret_mcs,
                                  struct error *err)
{
    struct view *view = booking->view;
    struct run *run = &view->run;
    int64_t anew_mcs = 0;
    bring_run(booking);
    struct run before = *run;
    int64_t at_s = target->at_s > run->started_s ? target->at_s : run->started_s;
    /* A next attempt will ask for the whole of it. */
    enum error_code code =
        rate_amount(target->price.rate_mcores, hold_freeze_seconds(&view->hold, target->limit_s),
                    &anew_mcs, err);
    if (code == ERR_OK) {
        code = run_resize(run, at_s, target->price.rate_mcores, target->price.mgpus, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    run->limit_s = target->limit_s;
    resize_owner(view, target);
    booking->plan->run_changed = true;
    booking->plan->task_changed = true;
    if (run->started_s > 0) {
        run->seen_s = at_s > run->seen_s ? at_s : run->seen_s;
        code = booking_charge_open(booking, &before, err);
    }
    int64_t needed_mcs = 0;
    if (code == ERR_OK) {
        code = run_needed_mcs(&view->hold, run, at_s, &needed_mcs, err);
    }
    if (code == ERR_OK) {
        *ret_mcs = run->state == TASK_WAITING ? 0 : needed_mcs - run->frozen_mcs;
    }
    return code;
}

/* What the request for caps on single jobs is: only what grows is looked at (SPEC 4.5). */
static struct booking_freeze growth(const struct view *view,
                                    const struct booking *booking,
                                    const struct target *target,
                                    int64_t mcs)
{
    const struct hold *before = &booking->before;
    int64_t before_mcs = hold_job_mcs(before);
    int64_t after_mcs = hold_job_mcs(&view->hold);
    int64_t before_mgpus = before->mgpus;
    if (target->alone) {
        int64_t seconds = target->limit_s > 0 ? target->limit_s : view->hold.seconds;
        int64_t others_mcs = before_mcs / before->tasks * (before->tasks - 1);
        if (!i64_mul(target->price.rate_mcores, seconds, &after_mcs) ||
            !i64_add(after_mcs, others_mcs, &after_mcs)) {
            after_mcs = INT64_MAX;
        }
    }
    return (struct booking_freeze){
        .mcs = mcs > 0 ? mcs : 0,
        .task = view->task_found ? view->task.task : -1,
        .attempt = view->task_found ? view->task.attempt : 0,
        .per_job = true,
        .job_mcs = after_mcs > before_mcs ? after_mcs : 0,
        .job_mgpus = target->price.mgpus > before_mgpus ? target->price.mgpus : 0,
        .job_s = target->limit_s > before->time_limit_s ? target->limit_s : 1,
    };
}

/* What waits is looked at as if it were frozen; it keeps its place and waits for the new limits. */
static enum error_code resize_waiting(struct booking *booking,
                                      struct booking_freeze *freeze,
                                      struct error *err)
{
    struct view *view = booking->view;
    struct plan *plan = booking->plan;
    bool of_task = view->task_found;
    if (of_task) {
        task_move(view, TASK_FROZEN);
        freeze->mcs = run_wanted_mcs(&view->hold, &view->run);
    } else {
        hold_move_untouched(&view->hold, TASK_FROZEN);
        freeze->mcs = view->hold.untouched * hold_task_mcs(&view->hold);
    }
    plan->requested_mcs = freeze->mcs;
    enum error_code code = booking_check(booking, freeze, err);
    if (code == ERR_QUOTA_INSUFFICIENT && plan_is_beyond(plan)) {
        return code;
    }
    error_clear(err);
    if (of_task) {
        task_move(view, TASK_WAITING);
        plan->task_wait = plan->task_wait == WAIT_JOIN ? WAIT_JOIN : WAIT_STAY;
    } else {
        hold_move_untouched(&view->hold, TASK_WAITING);
        plan->hold_wait = WAIT_STAY;
    }
    plan->waits = true;
    plan->room_freed = true; /* it may fit now */
    return ERR_OK;
}

/* Freeze more, or give back. */
static enum error_code settle_difference(struct booking *booking,
                                         const struct booking_freeze *freeze,
                                         int64_t mcs,
                                         struct error *err)
{
    enum error_code code = booking_freeze(booking, freeze, err);
    if (code != ERR_OK) {
        return code;
    }
    if (mcs < 0) {
        booking_unfreeze(booking, freeze->task, freeze->attempt, -mcs);
        booking->plan->run_expired_mcs = 0;
    }
    return ERR_OK;
}

static enum error_code resize(struct booking *booking,
                              const struct target *target,
                              struct error *err)
{
    struct view *view = booking->view;
    struct plan *plan = booking->plan;
    int64_t hold_mcs = 0;
    int64_t run_mcs = 0;
    bool of_run = !is_untouched_whole(view);
    enum error_code code = ERR_OK;
    if (target->hold_too) {
        code = resize_hold(booking, target, &hold_mcs, err);
    }
    if (code == ERR_OK && of_run) {
        code = resize_run(booking, target, &run_mcs, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    struct booking_freeze freeze = growth(view, booking, target, hold_mcs + run_mcs);
    plan->requested_mcs = freeze.mcs;
    plan->requested_mcores = target->price.rate_mcores;
    plan->requested_s = hold_freeze_seconds(&view->hold, target->limit_s);
    enum task_state state = of_run ? view->run.state : view->hold.untouched_state;
    if (state == TASK_WAITING && (of_run || view->hold.untouched > 0)) {
        return resize_waiting(booking, &freeze, err);
    }
    if (of_run) {
        view->run.frozen_mcs += run_mcs;
    }
    return settle_difference(booking, &freeze, hold_mcs + run_mcs, err);
}

/* Whether what the command names is there to be resized. */
static enum resize_action action_of(const struct view *view, const struct command *command)
{
    const struct hold *hold = &view->hold;
    enum task_state state = view->run_found    ? view->run.state
                            : view->task_found ? view->task.state
                                               : hold->untouched_state;
    if (view->task.task < 0 && hold_open_tasks(hold) + hold->counts[TASK_WAITING] > 0) {
        return RESIZE_DO;
    }
    if (view->task.task < 0) {
        state = hold_state(hold);
    }
    enum resize_action action = ACTIONS[state];
    bool one_of_all = command->all_tasks && view->task.task >= 0;
    return action == RESIZE_REFUSE && one_of_all ? RESIZE_NONE : action;
}

enum error_code decide_resize(struct view *view,
                              const struct command *command,
                              const struct calendar *calendar,
                              struct plan *plan,
                              struct error *err)
{
    enum error_code code = check_command(view, command, err);
    if (code != ERR_OK) {
        return code;
    }
    switch (action_of(view, command)) {
    case RESIZE_REFUSE:
        return error_set(
            err, ERR_INVALID_STATE,
            "hold %s is %s, nothing is frozen for it: freeze again with what is needed",
            view->hold.id, task_state_name(hold_state(&view->hold)));
    case RESIZE_NONE:
        plan->no_effect = true;
        return ERR_OK;
    case RESIZE_DO:
        break;
    }
    struct target target;
    code = read_target(view, command, &target, err);
    if (code != ERR_OK) {
        return code;
    }
    if (is_equal(view, &target)) {
        plan->replayed = true;
        return ERR_OK;
    }
    struct booking booking;
    booking_begin(&booking, view, calendar, plan);
    code = resize(&booking, &target, err);
    if (code == ERR_OK) {
        booking_finish(&booking);
    }
    return code;
}
