/* Counters and months of nodes against holds and usage; indexes of nodes; the queue. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/check.h"

/* Node and month in one number, to look them up by. */
static int64_t month_key(int64_t node_no, int64_t month)
{
    return (int64_t)((uint64_t)node_no << 20 | ((uint64_t)month & 0xfffff));
}

/* ---- usage */

static bool add_to_nodes(struct check *check, const struct usage *usage, const struct dims *dims)
{
    for (int32_t i = 0; i < dims->path_count; i++) {
        int64_t node_no = dims->path[i].node_no;
        struct check_counter *counter =
            check_value(check, &check->counters, node_no, sizeof *counter);
        struct check_node_month *month = check_value(
            check, &check->node_months, month_key(node_no, usage->period), sizeof *month);
        if (counter == NULL || month == NULL) {
            return false;
        }
        counter->sum.node_no = node_no;
        counter->sum.used_mcs += usage->used_mcs;
        month->sum.node_no = node_no;
        month->sum.month = usage->period;
        month->sum.used_mcs += usage->used_mcs;
    }
    return true;
}

static bool check_usage_row(void *context, const void *record)
{
    struct check *check = context;
    const struct usage *usage = record;
    const struct dims *dims = map_get(&check->dims, usage->dims_no);
    struct check_root *root = check_root_of(check, usage->root_no);
    if (root == NULL) {
        return false;
    }
    struct check_month *month = check_value(check, &root->months, usage->period, sizeof *month);
    if (month == NULL) {
        return false;
    }
    month->month = usage->period;
    month->usage_mcs += usage->used_mcs;
    struct check_month *booked = check_value(check, &root->months, usage->month, sizeof *booked);
    if (booked == NULL) {
        return false;
    }
    booked->month = usage->month;
    booked->booked_mcs += usage->used_mcs;
    if (dims == NULL) {
        check_report(check, "usage names dimensions %" PRId64 ", which are not there",
                     usage->dims_no);
        return true;
    }
    return add_to_nodes(check, usage, dims);
}

static void compare_months(struct check *check, const struct check_root *root)
{
    size_t position = 0;
    for (;;) {
        const struct check_month *month = map_next(&root->months, &position);
        if (month == NULL) {
            return;
        }
        char whose[64];
        char text[CALENDAR_MONTH_TEXT_BYTES];
        (void)snprintf(whose, sizeof whose, "usage of %s",
                       calendar_format_month((int32_t)month->month, text));
        check_equal(check, "sum", whose, month->usage_mcs, month->runs_mcs);
    }
}

void check_usage(struct check *check)
{
    if (!check_select(check, SELECT_ALL_USAGE, NULL, check_usage_row)) {
        return;
    }
    size_t position = 0;
    const struct check_root *root = map_next(&check->roots, &position);
    for (; root != NULL; root = map_next(&check->roots, &position)) {
        compare_months(check, root);
    }
}

/* ---- counters */

static int64_t model_mgpus(const struct counter *counter, int64_t model_no)
{
    for (int32_t i = 0; i < counter->model_count; i++) {
        if (counter->models[i].model_no == model_no) {
            return counter->models[i].mgpus;
        }
    }
    return 0;
}

static void compare_counter(struct check *check,
                            const struct counter *stored,
                            const struct counter *sum)
{
    char whose[48];
    (void)snprintf(whose, sizeof whose, "node %" PRId64, sum->node_no);
    check_equal(check, "used_mcs", whose, stored->used_mcs, sum->used_mcs);
    check_equal(check, "frozen_mcs", whose, stored->frozen_mcs, sum->frozen_mcs);
    check_equal(check, "waiting_mcs", whose, stored->waiting_mcs, sum->waiting_mcs);
    check_equal(check, "jobs", whose, stored->jobs, sum->jobs);
    check_equal(check, "mcores", whose, stored->mcores, sum->mcores);
    check_equal(check, "mgpus", whose, stored->mgpus, sum->mgpus);
    check_equal(check, "open_tasks", whose, stored->open_tasks, sum->open_tasks);
    check_equal(check, "waiting_tasks", whose, stored->waiting_tasks, sum->waiting_tasks);
    check_equal(check, "models", whose, stored->model_count, sum->model_count);
    for (int32_t i = 0; i < sum->model_count; i++) {
        check_equal(check, "mgpus of a model", whose, model_mgpus(stored, sum->models[i].model_no),
                    sum->models[i].mgpus);
    }
}

static bool check_counter_row(void *context, const void *record)
{
    struct check *check = context;
    const struct counter *stored = record;
    struct check_counter *known =
        check_value(check, &check->counters, stored->node_no, sizeof *known);
    if (known == NULL) {
        return false;
    }
    known->seen = true;
    known->sum.node_no = stored->node_no;
    compare_counter(check, stored, &known->sum);
    return true;
}

static bool check_node_month_row(void *context, const void *record)
{
    struct check *check = context;
    const struct node_month *stored = record;
    struct check_node_month *known = check_value(
        check, &check->node_months, month_key(stored->node_no, stored->month), sizeof *known);
    if (known == NULL) {
        return false;
    }
    char whose[80];
    char text[CALENDAR_MONTH_TEXT_BYTES];
    known->seen = true;
    (void)snprintf(whose, sizeof whose, "node %" PRId64 " in %s", stored->node_no,
                   calendar_format_month((int32_t)stored->month, text));
    check_equal(check, "used_mcs", whose, stored->used_mcs, known->sum.used_mcs);
    return true;
}

/* What should be there and is not: as if it were stored with zeros. */
static void check_missing(struct check *check)
{
    static const struct counter zero;
    size_t position = 0;
    const struct check_counter *counter = map_next(&check->counters, &position);
    for (; counter != NULL; counter = map_next(&check->counters, &position)) {
        if (!counter->seen) {
            compare_counter(check, &zero, &counter->sum);
        }
    }
    position = 0;
    const struct check_node_month *month = map_next(&check->node_months, &position);
    for (; month != NULL; month = map_next(&check->node_months, &position)) {
        if (!month->seen && month->sum.used_mcs != 0) {
            check_report(check, "node %" PRId64 ": a month of usage is not there",
                         month->sum.node_no);
        }
    }
}

void check_counters(struct check *check)
{
    if (check_select(check, SELECT_ALL_COUNTERS, NULL, check_counter_row) &&
        check_select(check, SELECT_ALL_NODE_MONTHS, NULL, check_node_month_row)) {
        check_missing(check);
    }
}

/* ---- names, the queue */

static bool check_node_name(void *context, const void *record)
{
    struct check *check = context;
    const struct node *node = record;
    bool member = node->kind == NODE_MEMBER;
    struct name name = {
        .space = member ? NAMES_MEMBER : NAMES_NODE,
        .scope_no = member ? node->parent_no : 0,
    };
    bool found = false;
    row_text(name.name, sizeof name.name, node->name);
    enum error_code code = reader_look(check->reader, RECORD_NAME, &name, &found, check->err);
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    if (!found || name.target_no != node->node_no) {
        check_report(check, "node %" PRId64 ": its name does not lead to it", node->node_no);
    }
    return true;
}

static bool check_waiting_row(void *context, const void *record)
{
    struct check *check = context;
    const struct waiting row = *(const struct waiting *)record;
    struct hold hold = {.hold_no = row.hold_no};
    struct task task = {.hold_no = row.hold_no, .task = row.task};
    bool found = false;
    enum error_code code = reader_look(check->reader, RECORD_HOLD, &hold, &found, check->err);
    int64_t wait_no = found ? hold.wait_no : 0;
    if (code == ERR_OK && row.task >= 0) {
        code = reader_look(check->reader, RECORD_TASK, &task, &found, check->err);
        wait_no = found ? task.wait_no : 0;
    }
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    if (wait_no != row.wait_no) {
        check_report(check, "root %" PRId64 ": nobody waits at place %" PRId64 " of the queue",
                     row.root_no, row.wait_no);
    }
    return true;
}

void check_names(struct check *check)
{
    struct select_args args = {.n = {0, -1, 0}};
    if (check_select(check, SELECT_NODES, &args, check_node_name)) {
        (void)check_select(check, SELECT_ALL_WAITING, NULL, check_waiting_row);
    }
}
