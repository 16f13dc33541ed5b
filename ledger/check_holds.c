/* Runs, tasks and holds against each other and against the journal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/check.h"
#include "ledger/core/booking.h"
#include "ledger/core/caps.h"
#include "ledger/core/charge.h"
#include "ledger/core/hold_state.h"
#include "ledger/counters.h"

static int64_t draws_sum(const struct draw *draws, int32_t count)
{
    int64_t sum_mcs = 0;
    for (int32_t i = 0; i < count; i++) {
        sum_mcs += draws[i].mcs;
    }
    return sum_mcs;
}

static bool add_draws(struct check *check, const struct draw *draws, int32_t count, bool used)
{
    for (int32_t i = 0; i < count; i++) {
        struct check_grant *grant =
            check_value(check, &check->grants, draws[i].grant_no, sizeof *grant);
        if (grant == NULL) {
            return false;
        }
        *(used ? &grant->draws_used_mcs : &grant->draws_frozen_mcs) += draws[i].mcs;
    }
    return true;
}

/* ---- runs */

static bool add_month(struct check *check, struct check_root *root, int64_t month, int64_t mcs)
{
    struct check_month *sum = check_value(check, &root->months, month, sizeof *sum);
    if (sum == NULL) {
        return false;
    }
    sum->month = month;
    sum->runs_mcs += mcs;
    return true;
}

static bool add_months(struct check *check, const struct run *run)
{
    struct month_amount months[RECORD_REFUND_MONTHS + 4];
    struct check_root *root = check_root_of(check, run->root_no);
    if (root == NULL) {
        return false;
    }
    int32_t count = charge_months(run, &root->time.calendar, months, (int32_t)ARRAY_LEN(months));
    for (int32_t i = 0; i < count; i++) {
        if (!add_month(check, root, months[i].month, months[i].mcs)) {
            return false;
        }
    }
    for (int32_t i = 0; i < run->refund_count; i++) {
        if (!add_month(check, root, run->refunds[i].month, -run->refunds[i].mcs)) {
            return false;
        }
    }
    return true;
}

/* The counters along a path; NULL after a failure, or where the dimensions are not there. */
static bool add_to_path(struct check *check, int64_t dims_no, const struct counter_delta *delta)
{
    const struct dims *dims = map_get(&check->dims, dims_no);
    if (dims == NULL) {
        check_report(check, "a hold names dimensions %" PRId64 ", which are not there", dims_no);
        return true;
    }
    for (int32_t i = 0; i < dims->path_count; i++) {
        struct check_counter *counter =
            check_value(check, &check->counters, dims->path[i].node_no, sizeof *counter);
        if (counter == NULL) {
            return false;
        }
        counter->sum.node_no = dims->path[i].node_no;
        counter->sum.frozen_mcs += delta->frozen_mcs;
        counter->sum.waiting_mcs += delta->waiting_mcs;
        counter->sum.jobs += delta->jobs;
        counter->sum.mcores += delta->mcores;
        counter->sum.mgpus += delta->mgpus;
        counter->sum.open_tasks += delta->open_tasks;
        counter->sum.waiting_tasks += delta->waiting_tasks;
        if (!counter_add_models(&counter->sum, delta->models, delta->model_count)) {
            check_report(check, "node %" PRId64 ": too many models in flight",
                         counter->sum.node_no);
        }
    }
    return true;
}

/* Whether a run is the newest attempt of its task: a task counts in flight once, by that one (SPEC 4.4). */
static enum error_code look_newest(struct check *check, const struct run *run, bool *ret_newest)
{
    struct task task = {.hold_no = run->hold_no, .task = run->task};
    bool found = false;
    enum error_code code = reader_look(check->reader, RECORD_TASK, &task, &found, check->err);
    *ret_newest = code == ERR_OK && found && task.attempt == run->attempt;
    return code;
}

/* What needs the run's hold: resources of its own in flight, what it waits for. */
static bool add_with_hold(struct check *check, const struct run *run, struct check_hold *sums)
{
    bool own = run->own_resources != 0 && task_state_is_open(run->state);
    if (!own && run->state != TASK_WAITING) {
        return true;
    }
    struct hold hold = {.hold_no = run->hold_no};
    bool found = false;
    enum error_code code = own ? look_newest(check, run, &own) : ERR_OK;
    if (code == ERR_OK) {
        code = reader_look(check->reader, RECORD_HOLD, &hold, &found, check->err);
    }
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    if (found && run->state == TASK_WAITING) {
        sums->runs_waiting_mcs += run_wanted_mcs(&hold, run);
    }
    struct counter_delta delta = {.model_count = 0};
    in_flight_own(NULL, run, &delta);
    return !found || !own || add_to_path(check, hold.dims_no, &delta);
}

static int64_t refunds_sum(const struct run *run)
{
    int64_t sum_mcs = 0;
    for (int32_t i = 0; i < run->refund_count; i++) {
        sum_mcs += run->refunds[i].mcs;
    }
    return sum_mcs;
}

static bool check_run(void *context, const void *record)
{
    struct check *check = context;
    const struct run *run = record;
    char whose[96];
    (void)snprintf(whose, sizeof whose, "hold %" PRId64 " task %" PRId64 " attempt %" PRId64,
                   run->hold_no, run->task, run->attempt);
    check_equal(check, "charged_mcs", whose, run->charged_mcs,
                run->started_s == 0 ? 0 : charge_total(run));
    check_equal(check, "refunded_mcs", whose, run->refunded_mcs, refunds_sum(run));
    check_equal(check, "sum of draws", whose, draws_sum(run->draws, run->draw_count),
                run->charged_mcs - run->refunded_mcs);
    if (run->frozen_mcs < 0 || run->refunded_mcs < 0 || run->refunded_mcs > run->charged_mcs) {
        check_report(check, "%s: frozen or refunded lies out of range", whose);
    }
    struct check_hold *sums = check_hold_of(check, run->hold_no);
    if (sums == NULL) {
        return false;
    }
    sums->runs_net_mcs += run->charged_mcs - run->refunded_mcs;
    sums->runs_frozen_mcs += run->frozen_mcs;
    bool charged = run->started_s != 0;
    return add_draws(check, run->draws, run->draw_count, true) &&
           (!charged || add_months(check, run)) && add_with_hold(check, run, sums);
}

static bool keep_dims(void *context, const void *record)
{
    struct check *check = context;
    const struct dims *dims = record;
    struct dims *kept = check_value(check, &check->dims, dims->dims_no, sizeof *kept);
    if (kept == NULL) {
        return false;
    }
    *kept = *dims;
    return true;
}

void check_runs(struct check *check)
{
    if (check_select(check, SELECT_ALL_DIMS, NULL, keep_dims)) {
        (void)check_select(check, SELECT_ALL_RUNS, NULL, check_run);
    }
}

/* ---- tasks */

/* The row of the queue that a hold or task says it has. */
static bool check_wait(struct check *check,
                       int64_t root_no,
                       int64_t wait_no,
                       int64_t hold_no,
                       int64_t task)
{
    struct waiting row = {.root_no = root_no, .wait_no = wait_no};
    bool found = false;
    enum error_code code = reader_look(check->reader, RECORD_WAITING, &row, &found, check->err);
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    if (!found || row.hold_no != hold_no || row.task != task) {
        check_report(check, "hold %" PRId64 ": its place %" PRId64 " in the queue is not there",
                     hold_no, wait_no);
    }
    return true;
}

static bool check_task(void *context, const void *record)
{
    struct check *check = context;
    const struct task *task = record;
    struct check_hold *sums = check_hold_of(check, task->hold_no);
    if (sums == NULL) {
        return false;
    }
    sums->task_rows++;
    if ((unsigned)task->state >= TASK__COUNT) {
        check_report(check, "hold %" PRId64 " task %" PRId64 ": no such state", task->hold_no,
                     task->task);
        return true;
    }
    sums->task_counts[task->state]++;
    if (task->wait_no == 0) {
        return true;
    }
    struct hold hold = {.hold_no = task->hold_no};
    bool found = false;
    enum error_code code = reader_look(check->reader, RECORD_HOLD, &hold, &found, check->err);
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    return !found || check_wait(check, hold.root_no, task->wait_no, task->hold_no, task->task);
}

void check_tasks(struct check *check)
{
    (void)check_select(check, SELECT_ALL_TASKS, NULL, check_task);
}

/* ---- holds */

static void compare_counts(struct check *check,
                           const struct hold *hold,
                           const struct check_hold *sums,
                           const char *whose)
{
    check_equal(check, "untouched tasks", whose, hold->untouched, hold->tasks - sums->task_rows);
    for (int state = 0; state < TASK__COUNT; state++) {
        int64_t untouched = state == (int)hold->untouched_state ? hold->untouched : 0;
        check_equal(check, task_state_name((enum task_state)state), whose, hold->counts[state],
                    sums->task_counts[state] + untouched);
    }
}

static void compare_amounts(struct check *check,
                            const struct hold *hold,
                            const struct check_hold *sums,
                            const char *whose)
{
    int64_t untouched_mcs =
        hold->untouched_state == TASK_FROZEN ? hold->untouched * hold_task_mcs(hold) : 0;
    if (check_hold_is_older(check, hold)) {
        check_older_hold(check, hold, sums);
    } else {
        check_equal(check, "frozen_mcs by the journal", whose, sums->entries_frozen_mcs,
                    hold->frozen_mcs);
        check_equal(check, "used_mcs by the journal", whose, sums->entries_used_mcs,
                    hold->used_mcs);
    }
    check_equal(check, "used_mcs by its runs", whose, sums->runs_net_mcs, hold->used_mcs);
    check_equal(check, "frozen_mcs by its tasks", whose, sums->runs_frozen_mcs + untouched_mcs,
                hold->frozen_mcs);
    check_equal(check, "sum of draws", whose, draws_sum(hold->draws, hold->draw_count),
                hold->frozen_mcs);
}

static bool check_indexes(struct check *check, const struct hold *hold, const char *whose)
{
    struct hold_id id = {.cluster_no = hold->cluster_no};
    bool found = false;
    row_text(id.id, sizeof id.id, hold->id);
    enum error_code code = reader_look(check->reader, RECORD_HOLD_ID, &id, &found, check->err);
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    if (!found || id.hold_no != hold->hold_no) {
        check_report(check, "%s: its id %s does not lead to it", whose, hold->id);
    }
    bool waits = hold->untouched > 0 && hold->untouched_state == TASK_WAITING;
    if (waits != (hold->wait_no != 0)) {
        check_report(check, "%s: place in the queue is %" PRId64, whose, hold->wait_no);
    }
    return !waits || check_wait(check, hold->root_no, hold->wait_no, hold->hold_no, -1);
}

/* What the hold counts for at each node of its path. */
static bool add_hold(struct check *check, const struct hold *hold, const struct check_hold *sums)
{
    struct counter_delta delta = {.model_count = 0};
    in_flight_difference(NULL, hold, &delta);
    delta.frozen_mcs = hold->frozen_mcs;
    delta.waiting_tasks = hold->counts[TASK_WAITING];
    delta.open_tasks = hold_open_tasks(hold) + hold->counts[TASK_WAITING];
    delta.waiting_mcs = sums->runs_waiting_mcs;
    if (hold->untouched_state == TASK_WAITING) {
        delta.waiting_mcs += hold->untouched * hold_task_mcs(hold);
    }
    return add_to_path(check, hold->dims_no, &delta);
}

static bool check_hold(void *context, const void *record)
{
    struct check *check = context;
    const struct hold hold = *(const struct hold *)record;
    struct check_hold *sums = check_hold_of(check, hold.hold_no);
    char whose[48];
    if (sums == NULL) {
        return false;
    }
    (void)snprintf(whose, sizeof whose, "hold %" PRId64, hold.hold_no);
    compare_counts(check, &hold, sums, whose);
    compare_amounts(check, &hold, sums, whose);
    if (hold_open_tasks(&hold) < hold.own_open || hold.own_open < 0) {
        check_report(check, "%s: own_open is %" PRId64, whose, hold.own_open);
        return true;
    }
    return check_indexes(check, &hold, whose) &&
           add_draws(check, hold.draws, hold.draw_count, false) && add_hold(check, &hold, sums);
}

void check_holds(struct check *check)
{
    (void)check_select(check, SELECT_ALL_HOLDS, NULL, check_hold);
}
