/* See tasks.h. */
#include "ledger/tasks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/apply.h"
#include "ledger/copy.h"
#include "ledger/execute.h"
#include "ledger/load.h"
#include "ledger/result.h"

/* ---- lists */

/* A number at *at, which moves behind it; -1 when there is none or it is too large. */
static int64_t parse_number(const char **at)
{
    int64_t number = 0;
    const char *from = *at;
    while (**at >= '0' && **at <= '9' && number <= LIMIT_TASKS) {
        number = number * 10 + (**at - '0');
        (*at)++;
    }
    return *at == from || number > LIMIT_TASKS ? -1 : number;
}

static int compare_ranges(const void *a, const void *b)
{
    int64_t first_a = ((const struct task_range *)a)->first;
    int64_t first_b = ((const struct task_range *)b)->first;
    return first_a < first_b ? -1 : first_a > first_b;
}

static size_t merge_ranges(struct task_range *ranges, size_t count)
{
    size_t kept = 0;
    qsort(ranges, count, sizeof ranges[0], compare_ranges);
    for (size_t i = 0; i < count; i++) {
        struct task_range *before = kept > 0 ? &ranges[kept - 1] : NULL;
        if (before == NULL || ranges[i].first > before->last + 1) {
            ranges[kept++] = ranges[i];
        } else if (ranges[i].last > before->last) {
            before->last = ranges[i].last;
        }
    }
    return kept;
}

/* "3-9" or "3" at *at, which moves behind it. */
static struct task_range parse_range(const char **at)
{
    struct task_range range;
    range.first = parse_number(at);
    range.last = range.first;
    if (**at == '-') {
        (*at)++;
        range.last = parse_number(at);
    }
    return range;
}

static enum error_code check_range(const struct task_range *range,
                                   const char *rest,
                                   int64_t tasks,
                                   struct error *err)
{
    if (range->first < 0 || range->last < range->first || (*rest != ',' && *rest != '\0')) {
        return error_set_field(err, ERR_INVALID_FIELD, "tasks",
                               "a list of tasks reads 3-9,12: numbers from 0 on, ascending");
    }
    if (range->last >= tasks) {
        return error_set_field(err, ERR_INVALID_FIELD, "tasks", "the hold has tasks 0 to %lld",
                               (long long)tasks - 1);
    }
    return ERR_OK;
}

enum error_code tasks_parse(const char *text,
                            int64_t tasks,
                            struct task_range *ret_ranges,
                            size_t *ret_count,
                            struct error *err)
{
    size_t count = 0;
    const char *at = text;
    for (;;) {
        struct task_range range = parse_range(&at);
        enum error_code code = check_range(&range, at, tasks, err);
        if (code != ERR_OK) {
            return code;
        }
        assert(count < TASK_RANGES);
        ret_ranges[count++] = range;
        if (*at == '\0') {
            break;
        }
        at++;
    }
    *ret_count = merge_ranges(ret_ranges, count);
    return ERR_OK;
}

/* ---- deciding for each */

/* What the calls for one command come to. */
struct tally {
    bool any_effect;
    bool any_waits;
    int64_t warnings;
    int64_t refunded_mcs; /* what went back from frozen, of all tasks */
    int64_t expired_mcs;  /* the part of it that went to ended grants */
    char *left;           /* result.left_tasks */
    size_t left_length;
    bool left_full;
    struct task_range open; /* of the tasks left, not written yet; first -1: none */
};

static void left_flush(struct tally *tally)
{
    char text[48];
    if (tally->open.first < 0 || tally->left_full) {
        return;
    }
    const char *comma = tally->left_length > 0 ? "," : "";
    int length = tally->open.first == tally->open.last
                     ? snprintf(text, sizeof text, "%s%lld", comma, (long long)tally->open.first)
                     : snprintf(text, sizeof text, "%s%lld-%lld", comma,
                                (long long)tally->open.first, (long long)tally->open.last);
    if (tally->left_length + (size_t)length >= RECORD_TASKS_TEXT_BYTES) {
        tally->left_full = true;
        return;
    }
    memcpy(tally->left + tally->left_length, text, (size_t)length + 1);
    tally->left_length += (size_t)length;
}

static void left_add(struct tally *tally, int64_t task)
{
    if (tally->open.first >= 0 && task == tally->open.last + 1) {
        tally->open.last = task;
        return;
    }
    left_flush(tally);
    tally->open = (struct task_range){task, task};
}

static enum error_code run_task(struct ledger *ledger,
                                const struct decision *decision,
                                const struct command *command,
                                int64_t task,
                                struct tally *tally,
                                struct error *err)
{
    const struct hold *hold = row_get(ledger->set, RECORD_HOLD, ledger->view.hold.hold_no);
    if (hold == NULL) {
        return working_set_failure(ledger->set, err);
    }
    load_hold(ledger, hold);
    load_task(ledger, task, -1);
    load_command(ledger, command);
    enum error_code code = execute_decide(ledger, decision, command, err);
    if (code == ERR_OK && !ledger->plan.replayed) {
        code = apply_plan(ledger, command, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    tally->any_effect = tally->any_effect || !ledger->plan.no_effect;
    tally->any_waits = tally->any_waits || ledger->plan.waits;
    tally->warnings |= ledger->plan.warnings;
    tally->refunded_mcs += ledger->plan.run_refunded_mcs;
    tally->expired_mcs += ledger->plan.run_expired_mcs;
    if (ledger->plan.left) {
        left_add(tally, task);
    }
    return ERR_OK;
}

/* Numbers of the tasks that have rows. */
struct touched {
    int64_t *tasks;
    size_t count;
    size_t room;
};

static bool collect_task(void *context, const void *record)
{
    struct touched *touched = context;
    if (touched->count < touched->room) {
        touched->tasks[touched->count++] = ((const struct task *)record)->task;
    }
    return true;
}

static enum error_code load_touched(struct ledger *ledger,
                                    const struct hold *hold,
                                    struct touched *ret_touched,
                                    struct error *err)
{
    *ret_touched = (struct touched){.room = (size_t)(hold->tasks - hold->untouched)};
    if (ret_touched->room == 0) {
        return ERR_OK;
    }
    ret_touched->tasks = malloc(ret_touched->room * sizeof ret_touched->tasks[0]);
    if (ret_touched->tasks == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory for %zu tasks", ret_touched->room);
    }
    if (hold->tasks == 1) {
        ret_touched->tasks[ret_touched->count++] = 0;
        return ERR_OK;
    }
    struct select_args args = {.n = {hold->hold_no, -1}};
    working_set_select(ledger->set, SELECT_TASKS_OF_HOLD, &args, collect_task, ret_touched);
    return working_set_failure(ledger->set, err);
}

static enum error_code run_all(struct ledger *ledger,
                               const struct decision *decision,
                               const struct command *command,
                               struct tally *tally,
                               struct error *err)
{
    struct touched touched;
    enum error_code code = load_touched(ledger, &ledger->view.hold, &touched, err);
    if (code == ERR_OK) {
        code = run_task(ledger, decision, command, -1, tally, err);
    }
    for (size_t i = 0; i < touched.count && code == ERR_OK; i++) {
        code = run_task(ledger, decision, command, touched.tasks[i], tally, err);
    }
    free(touched.tasks);
    return code;
}

static enum error_code run_list(struct ledger *ledger,
                                const struct decision *decision,
                                const struct command *command,
                                struct tally *tally,
                                struct error *err)
{
    struct task_range ranges[TASK_RANGES];
    size_t count;
    int64_t tasks = ledger->view.hold.tasks;
    enum error_code code = tasks_parse(command->tasks, tasks, ranges, &count, err);
    if (code == ERR_OK && count == 1 && ranges[0].first == 0 && ranges[0].last == tasks - 1) {
        return run_all(ledger, decision, command, tally, err);
    }
    for (size_t i = 0; code == ERR_OK && i < count; i++) {
        for (int64_t task = ranges[i].first; task <= ranges[i].last && code == ERR_OK; task++) {
            code = run_task(ledger, decision, command, task, tally, err);
        }
    }
    return code;
}

/* Keep what a release gave back; one without effect that came before answers that again (SPEC 6.1).
 * Returns whether it did. */
static bool remember_release(struct ledger *ledger, const char *tasks, struct tally *tally)
{
    struct release key = {.hold_no = ledger->view.hold.hold_no};
    row_text(key.tasks, sizeof key.tasks, tasks);
    struct cell *cell = working_set_find(ledger->set, RECORD_RELEASE, &key);
    bool known = cell_exists(cell);
    if (tally->any_effect) {
        struct release *row = working_set_put(ledger->set, cell);
        row->refunded_mcs = tally->refunded_mcs;
        row->expired_mcs = tally->expired_mcs;
    } else if (known) {
        const struct release *row = cell_record(cell);
        tally->refunded_mcs = row->refunded_mcs;
        tally->expired_mcs = row->expired_mcs;
    }
    return known && !tally->any_effect;
}

enum error_code tasks_run(struct ledger *ledger,
                          const struct decision *decision,
                          const struct command *command,
                          const struct hold *hold,
                          struct ledger_result *result,
                          struct error *err)
{
    struct tally tally = {.left = result->left_tasks, .open = {-1, -1}};
    copy_hold(&ledger->view.hold, hold);
    bool release = command->kind == COMMAND_RELEASE;
    bool expire = command->kind == COMMAND_EXPIRE_HOLD;
    enum error_code code;
    if (release && command->tasks[0] != '\0') {
        code = run_list(ledger, decision, command, &tally, err);
    } else if (release || expire || command->all_tasks) {
        code = run_all(ledger, decision, command, &tally, err);
    } else {
        code = run_task(ledger, decision, command, command->task, &tally, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    left_flush(&tally);
    ledger->plan.warnings = tally.warnings;
    ledger->plan.waits = tally.any_waits;
    ledger->plan.replayed = release && remember_release(ledger, command->tasks, &tally);
    ledger->plan.run_refunded_mcs = tally.refunded_mcs;
    ledger->plan.run_expired_mcs = tally.expired_mcs;
    ledger->plan.no_effect = !tally.any_effect;
    result_of_hold(ledger, result);
    return ERR_OK;
}
