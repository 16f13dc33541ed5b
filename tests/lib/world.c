/*
 * A small world around the pure decisions.
 */
#include "tests/lib/world.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/booking.h"
#include "ledger/core/caps.h"
#include "ledger/core/charge.h"
#include "ledger/core/hold_state.h"
#include "ledger/core/refunds.h"

static struct world the_world;
static struct world saved;

/* ---- making ---- */

static void make_nodes(struct world *world)
{
    static const char *const names[] = {"alice", "vision", "acme-ai", "acme"};
    static const enum node_kind kinds[] = {NODE_MEMBER, NODE_PROJECT, NODE_ORGANIZATION,
                                           NODE_ORGANIZATION};
    for (int i = 0; i < WORLD_NODES; i++) {
        struct node *node = &world->nodes[i].node;
        node->node_no = 10 + i;
        node->root_no = 10 + ACME;
        node->parent_no = i == ACME ? 0 : 11 + i;
        node->kind = kinds[i];
        node->funding = i == ACME ? FUNDING_SELF : FUNDING_PARENT;
        node->fiscal_year_start = 1;
        strcpy(node->name, names[i]);
        world->nodes[i].counter.node_no = node->node_no;
        world->nodes[i].window_end_s[3] = INT64_MAX;
    }
    world->nodes[ACME].node.waived_outcomes = 1 << OUTCOME_NODE_FAIL | 1 << OUTCOME_BOOT_FAIL;
}

static void make_card(struct world *world)
{
    world->card.version = (struct rate_version){
        .cluster_no = 1, .version = 1, .combine = COMBINE_MAX, .row_count = 3, .price_micro = -1};
    struct rate_row row = {
        .cluster_no = 1,
        .version = 1,
        .permille = 1000,
        .core_mcores = 1000,
        .gpu_default_mcores = -1,
        .gpu_count = 2,
        .gpus = {{.model_no = A100, .mcores = 16000, .memory_mib = 81920},
                 {.model_no = H100, .mcores = 32000, .memory_mib = 81920}},
    };
    world->card.rows[2] = row;
    row.permille = 500;
    strcpy(row.qos, "low");
    world->card.rows[0] = row;
    row.permille = 2000;
    row.qos[0] = '\0';
    strcpy(row.partition, "gold");
    world->card.rows[1] = row;
}

struct world *world_new(void)
{
    struct world *world = &the_world;
    memset(world, 0, sizeof *world);
    world->now_s = WORLD_NOW;
    calendar_init_utc(&world->calendar);
    world->oldest_open_month = calendar_month(&world->calendar, WORLD_NOW) - 12;
    make_nodes(world);
    make_card(world);
    world->cluster = (struct cluster){
        .cluster_no = 1,
        .mode = MODE_FULL,
        .on_insufficient = INSUFFICIENT_REJECT,
        .window_s = 300,
        .ttl_s = 600,
        .name = "alpha",
    };
    world->grants[0] = (struct grant){
        .grant_no = ++world->last_grant_no,
        .root_no = 10 + ACME,
        .node_no = 10 + ACME,
        .kind = GRANT_OVERDRAFT,
        .end_s = INT64_MAX,
    };
    world->grant_count = 1;
    world_grant(world, 1000 * HOUR_MCS, WORLD_NOW - 31536000, WORLD_NOW + 31536000);
    return world;
}

void world_cap(struct world *world, int node, enum cap_kind kind, int64_t limit)
{
    struct node *at = &world->nodes[node].node;
    for (int32_t i = 0; i < at->cap_count; i++) {
        if (at->caps[i].kind == kind) {
            at->caps[i].limit = limit;
            return;
        }
    }
    at->caps[at->cap_count++] = (struct cap){.kind = kind, .limit = limit};
}

/* ---- looking ---- */

struct hold *world_hold(struct world *world)
{
    cr_assert_gt(world->hold_count, 0);
    return &world->holds[world->hold_count - 1];
}

static struct hold *find_hold(struct world *world, const char *id)
{
    for (int32_t i = 0; i < world->hold_count; i++) {
        if (strcmp(world->holds[i].id, id) == 0) {
            return &world->holds[i];
        }
    }
    return id[0] == '\0' ? world_hold(world) : NULL;
}

static struct task *find_task(struct world *world, int64_t hold_no, int64_t task)
{
    for (int32_t i = 0; i < world->task_count; i++) {
        if (world->tasks[i].hold_no == hold_no && world->tasks[i].task == task) {
            return &world->tasks[i];
        }
    }
    return NULL;
}

static struct run *find_run(struct world *world, int64_t hold_no, int64_t task, int64_t attempt)
{
    for (int32_t i = 0; i < world->run_count; i++) {
        struct run *run = &world->runs[i];
        if (run->hold_no == hold_no && run->task == task && run->attempt == attempt) {
            return run;
        }
    }
    return NULL;
}

struct run *world_run(struct world *world, int64_t task, int64_t attempt)
{
    return find_run(world, world_hold(world)->hold_no, task, attempt);
}

struct task *world_task(struct world *world, int64_t task)
{
    return find_task(world, world_hold(world)->hold_no, task);
}

enum task_state world_state(struct world *world)
{
    return hold_state(world_hold(world));
}

int64_t world_available(const struct world *world)
{
    int64_t available_mcs = 0;
    for (int32_t i = 0; i < world->grant_count; i++) {
        const struct grant *grant = &world->grants[i];
        if (grant->ended == 0 && grant->start_s <= world->now_s && world->now_s < grant->end_s) {
            available_mcs += grant->available_mcs;
        }
    }
    return available_mcs;
}

int64_t world_used(const struct world *world, int64_t month)
{
    int64_t used_mcs = 0;
    for (int32_t i = 0; i < world->usage_count; i++) {
        used_mcs += world->usage[i].period == month ? world->usage[i].used_mcs : 0;
    }
    return used_mcs;
}

/* ---- loading ---- */

static int64_t window_used(const struct world *world, enum cap_kind kind, int32_t now_month)
{
    int64_t used_mcs = 0;
    const struct calendar *calendar = &world->calendar;
    for (int32_t i = 0; i < world->usage_count; i++) {
        int32_t month = (int32_t)world->usage[i].period;
        bool in = kind == CAP_TOTAL || (kind == CAP_MONTH && month == now_month) ||
                  (kind == CAP_QUARTER && calendar_quarter_first_month(calendar, month) ==
                                              calendar_quarter_first_month(calendar, now_month)) ||
                  (kind == CAP_YEAR && calendar_year_first_month(calendar, month) ==
                                           calendar_year_first_month(calendar, now_month));
        used_mcs += in ? world->usage[i].used_mcs : 0;
    }
    return used_mcs;
}

/* Which caps of the path something waits at. */
static void load_waiting(struct world *world, struct view *view)
{
    for (int32_t i = 0; i < world->waiting_count; i++) {
        for (int32_t j = 0; j < world->waiting[i].limit_count; j++) {
            const struct limit_ref *limit = &world->waiting[i].limits[j];
            view->funds_waiting = view->funds_waiting || limit->kind == CAP_FUNDS;
            for (int n = 0; n < WORLD_NODES; n++) {
                struct view_node *at = &view->nodes[n];
                for (int32_t c = 0; c < at->node.cap_count; c++) {
                    if (at->node.node_no == limit->node_no &&
                        at->node.caps[c].kind == limit->kind &&
                        at->node.caps[c].model_no == limit->model_no) {
                        at->waiting_caps |= UINT32_C(1) << c;
                    }
                }
            }
        }
    }
    view->waiting_ahead = world->waiting_count;
}

static struct view *load_path(struct world *world)
{
    struct view *view = &world->view;
    memset(view, 0, sizeof *view);
    view->now_s = world->now_s;
    view->now_ms = world->now_s * 1000;
    view->month = calendar_month(&world->calendar, world->now_s);
    view->oldest_open_month = world->oldest_open_month;
    view->new_member = world->new_member;
    view->cluster = world->cluster;
    view->card = world->card;
    view->card_found = true;
    view->node_count = WORLD_NODES;
    for (int i = 0; i < WORLD_NODES; i++) {
        view->nodes[i] = world->nodes[i];
        for (int kind = 0; kind < 4; kind++) {
            view->nodes[i].window_used_mcs[kind] =
                window_used(world, (enum cap_kind)kind, (int32_t)view->month);
        }
    }
    view->grant_count = world->grant_count;
    memcpy(view->grants, world->grants, sizeof world->grants);
    load_waiting(world, view);
    return view;
}

static void load_resources(struct view *view, const struct command_resources *given)
{
    view->resources.cores = given->cores;
    view->resources.memory_mib = given->memory_mib;
    view->resources.gpu_count = given->gpu_count;
    for (int32_t i = 0; i < given->gpu_count; i++) {
        const char *model = given->gpus[i].model;
        view->resources.gpus[i] = (struct gpu_request){
            .model_no = strcmp(model, "a100") == 0   ? A100
                        : strcmp(model, "h100") == 0 ? H100
                                                     : MODEL_UNKNOWN,
            .count = given->gpus[i].count,
            .cores_percent = given->gpus[i].cores_percent,
            .memory_mib = given->gpus[i].memory_mib,
        };
    }
}

static struct view *load_new(struct world *world, const struct command *command)
{
    struct view *view = load_path(world);
    load_resources(view, command->kind == COMMAND_CHARGE ? &command->charge.run.resources
                                                         : &command->freeze.resources);
    view->hold.hold_no = world->hold_count + 1;
    view->hold.root_no = 10 + ACME;
    view->hold.cluster_no = 1;
    view->hold.project_no = 10 + VISION;
    view->hold.member_no = 10 + ALICE;
    view->hold.payer_no = 10 + ACME;
    view->hold.created_ms = view->now_ms;
    return view;
}

/* attempt -1: the newest. */
static struct view *load_task(struct world *world,
                              const struct hold *hold,
                              int64_t task,
                              int64_t attempt,
                              const struct command_resources *resources)
{
    struct view *view = load_path(world);
    const struct task *row = find_task(world, hold->hold_no, task);
    if (resources != NULL && resources->given) {
        load_resources(view, resources);
    }
    view->hold_found = true;
    view->hold = *hold;
    view->task_found = row != NULL;
    view->task =
        row != NULL
            ? *row
            : (struct task){.hold_no = hold->hold_no, .task = task, .state = hold->untouched_state};
    attempt = attempt < 0 ? view->task.attempt : attempt;
    const struct run *run = find_run(world, hold->hold_no, task, attempt);
    const struct run *newest = find_run(world, hold->hold_no, task, view->task.attempt);
    view->run_found = run != NULL;
    if (run != NULL) {
        view->run = *run;
    }
    view->previous_found = newest != NULL && newest != run;
    if (view->previous_found) {
        view->previous = *newest;
    }
    return view;
}

/* ---- applying ---- */

static void put_task(struct world *world, const struct task *task)
{
    struct task *row = find_task(world, task->hold_no, task->task);
    if (row == NULL) {
        cr_assert_lt(world->task_count, WORLD_TASKS);
        row = &world->tasks[world->task_count++];
    }
    *row = *task;
}

static void put_run(struct world *world, const struct run *run)
{
    struct run *row = find_run(world, run->hold_no, run->task, run->attempt);
    if (row == NULL) {
        cr_assert_lt(world->run_count, WORLD_RUNS);
        row = &world->runs[world->run_count++];
    }
    *row = *run;
}

static void leave_queue(struct world *world, int64_t wait_no)
{
    int32_t i = 0;
    while (i < world->waiting_count && world->waiting[i].wait_no != wait_no) {
        i++;
    }
    cr_assert_lt(i, world->waiting_count, "row %" PRId64 " is not in the queue", wait_no);
    world->waiting_count--;
    memmove(&world->waiting[i], &world->waiting[i + 1],
            (size_t)(world->waiting_count - i) * sizeof world->waiting[0]);
}

static void list_limits(const struct plan *plan, struct waiting *row)
{
    row->limit_count = 0;
    for (int32_t i = 0; i < plan->violation_count; i++) {
        const struct violation *violation = &plan->violations[i];
        if (!violation->soft) {
            row->limits[row->limit_count++] =
                (struct limit_ref){violation->node_no, violation->kind, violation->model_no};
        }
    }
}

/* Returns the place in the queue afterwards, 0: none. */
static int64_t change_queue(struct world *world,
                            enum wait_change change,
                            int64_t wait_no,
                            int64_t task)
{
    switch (change) {
    case WAIT_NONE:
        return wait_no;
    case WAIT_JOIN: {
        cr_assert_eq(wait_no, 0);
        struct waiting *row = &world->waiting[world->waiting_count++];
        *row = (struct waiting){
            .wait_no = ++world->last_wait_no, .hold_no = world->view.hold.hold_no, .task = task};
        list_limits(&world->plan, row);
        return row->wait_no;
    }
    case WAIT_LEAVE:
        leave_queue(world, wait_no);
        return 0;
    case WAIT_STAY:
        cr_assert_neq(wait_no, 0);
        for (int32_t i = 0; i < world->waiting_count; i++) {
            if (world->waiting[i].wait_no == wait_no) {
                list_limits(&world->plan, &world->waiting[i]);
            }
        }
        return wait_no;
    }
    return 0;
}

static void apply_counters(struct world *world)
{
    const struct counter_delta *delta = &world->plan.delta;
    int64_t used_mcs = 0;
    for (int32_t i = 0; i < world->plan.usage_count; i++) {
        used_mcs += world->plan.usage[i].used_mcs;
    }
    for (int n = 0; n < WORLD_NODES; n++) {
        struct counter *counter = &world->nodes[n].counter;
        counter->used_mcs += used_mcs;
        counter->frozen_mcs += delta->frozen_mcs;
        counter->waiting_mcs += delta->waiting_mcs;
        counter->jobs += delta->jobs;
        counter->mcores += delta->mcores;
        counter->mgpus += delta->mgpus;
        counter->open_tasks += delta->open_tasks;
        counter->waiting_tasks += delta->waiting_tasks;
        for (int32_t i = 0; i < delta->model_count; i++) {
            int32_t at = 0;
            while (at < counter->model_count &&
                   counter->models[at].model_no != delta->models[i].model_no) {
                at++;
            }
            if (at == counter->model_count) {
                counter->models[counter->model_count++] =
                    (struct counter_model){.model_no = delta->models[i].model_no};
            }
            counter->models[at].mgpus += delta->models[i].mgpus;
        }
    }
}

static void apply_money(struct world *world)
{
    const struct plan *plan = &world->plan;
    const struct view *view = &world->view;
    cr_expect(plan_is_balanced(plan), "the plan's entries and its frozen difference differ");
    for (int32_t i = 0; i < view->grant_count; i++) {
        bool changed = (plan->grants_changed[i / 64] >> (i % 64) & 1) != 0;
        bool same = i < world->grant_count &&
                    memcmp(&world->grants[i], &view->grants[i], sizeof view->grants[i]) == 0;
        cr_expect(changed || same || view->grant_count != world->grant_count,
                  "grant %d changed without saying so", i);
    }
    world->grant_count = view->grant_count;
    memcpy(world->grants, view->grants, sizeof world->grants);
    for (int32_t i = 0; i < plan->entry_count; i++) {
        cr_assert_lt(world->entry_count, WORLD_ENTRIES);
        world->entries[world->entry_count++] = plan->entries[i];
    }
}

static void apply(struct world *world)
{
    struct view *view = &world->view;
    struct plan *plan = &world->plan;
    if (plan->no_effect || (plan->replayed && view->hold_found)) {
        cr_expect_eq(plan->entry_count, 0);
        cr_expect_eq(plan->usage_count, 0);
        cr_expect_eq(plan->feed_count, 0);
        cr_expect_not(plan->hold_changed || plan->task_changed || plan->run_changed);
        return;
    }
    view->hold.wait_no = change_queue(world, plan->hold_wait, view->hold.wait_no, -1);
    view->task.wait_no = change_queue(world, plan->task_wait, view->task.wait_no, view->task.task);
    if (plan->hold_changed && !view->hold_found) {
        cr_assert_lt(world->hold_count, WORLD_HOLDS);
        world->holds[world->hold_count++] = view->hold;
    } else if (plan->hold_changed) {
        *find_hold(world, view->hold.id) = view->hold;
    }
    if (plan->task_changed) {
        put_task(world, &view->task);
    }
    if (plan->run_changed) {
        put_run(world, &view->run);
    }
    if (plan->previous_changed) {
        put_run(world, &view->previous);
    }
    if (plan->replaced_changed) {
        put_run(world, &view->replaced);
    }
    apply_money(world);
    apply_counters(world);
    for (int32_t i = 0; i < plan->usage_count; i++) {
        cr_assert_lt(world->usage_count, WORLD_USAGE);
        world->usage[world->usage_count++] = plan->usage[i];
    }
    for (int32_t i = 0; i < plan->feed_count; i++) {
        cr_assert_lt(world->feed_count, WORLD_FEED);
        world->feed[world->feed_count++] = plan->feed[i];
    }
    world->adjustment_count += plan->adjustment_made;
}

/* ---- doing ---- */

static enum error_code decide(struct world *world, const struct command *command)
{
    plan_reset(&world->plan);
    enum error_code code =
        decision_of(command->kind)
            ->decide(&world->view, command, &world->calendar, &world->plan, &world->err);
    cr_expect_eq(world->err.code, code);
    if (code == ERR_OK) {
        apply(world);
    }
    return code;
}

static const struct command_resources *resources_of(const struct command *command)
{
    switch ((int)command->kind) {
    case COMMAND_SETTLE:
    case COMMAND_REQUEUE:
    case COMMAND_CORRECT:
    case COMMAND_RESIZE:
        return &command->run.resources;
    default:
        return NULL;
    }
}

/* A command about tasks: the hold itself first, then each touched one; or the one that is named. */
static enum error_code do_tasks(struct world *world, const struct command *command, const char *id)
{
    const struct command_resources *resources = resources_of(command);
    int64_t count = find_hold(world, id)->tasks;
    int64_t first = command->all_tasks ? -1 : command->task;
    int64_t last = command->all_tasks ? count - 1 : command->task;
    for (int64_t task = first; task <= last; task++) {
        struct hold *hold = find_hold(world, id);
        if (command->all_tasks && task >= 0 && find_task(world, hold->hold_no, task) == NULL) {
            continue;
        }
        load_task(world, hold, task, -1, resources);
        if (command->run.account[0] != '\0') {
            world->view.account_project_no =
                strcmp(command->run.account, "vision") == 0 ? 10 + VISION : -1;
        }
        enum error_code code = decide(world, command);
        if (code != ERR_OK) {
            return code;
        }
    }
    return ERR_OK;
}

static enum error_code do_command(struct world *world, const struct command *command)
{
    enum decide_scope scope = decision_of(command->kind)->scope;
    if (scope == DECIDE_NEW) {
        load_new(world, command);
        return decide(world, command);
    }
    struct hold *hold = find_hold(world, command->hold);
    if (scope == DECIDE_TASKS) {
        char id[RECORD_ID_BYTES];
        strcpy(id, hold->id);
        return do_tasks(world, command, id);
    }
    int64_t task = command->kind == COMMAND_TURN_RUN ? command->due.task : command->task;
    int64_t attempt = command->kind == COMMAND_TURN_RUN ? command->due.attempt : command->attempt;
    load_task(world, hold, task, scope == DECIDE_TASK ? -1 : attempt, resources_of(command));
    return decide(world, command);
}

static void save(const struct world *world)
{
    memcpy(&saved, world, offsetof(struct world, err));
}

static void restore(struct world *world)
{
    memcpy(world, &saved, offsetof(struct world, err));
}

enum error_code world_do(struct world *world, const struct command *command)
{
    error_clear(&world->err);
    save(world);
    enum error_code code = do_command(world, command);
    if (code != ERR_OK) {
        restore(world);
        cr_expect_neq(world->err.detail[0], '\0');
        cr_expect(code != ERR_QUOTA_INSUFFICIENT || world->plan.violation_count > 0);
    }
    world_check(world);
    return code;
}

static bool promote_one(struct world *world, int32_t place)
{
    struct waiting row = world->waiting[place];
    const struct hold *hold = NULL;
    for (int32_t i = 0; i < world->hold_count; i++) {
        hold = world->holds[i].hold_no == row.hold_no ? &world->holds[i] : hold;
    }
    load_task(world, hold, row.task, -1, NULL);
    plan_reset(&world->plan);
    error_clear(&world->err);
    enum error_code code =
        decide_promote(&world->view, &world->calendar, &world->plan, &world->err);
    if (code == ERR_OK) {
        apply(world);
        world_check(world);
    }
    return code == ERR_OK;
}

int world_promote(struct world *world)
{
    int promoted = 0;
    for (int32_t i = 0; i < world->waiting_count;) {
        if (promote_one(world, i)) {
            promoted++;
        } else {
            i++;
        }
    }
    return promoted;
}

void world_grant(struct world *world, int64_t mcs, int64_t start_s, int64_t end_s)
{
    struct view *view = load_path(world);
    struct command command = {
        .kind = COMMAND_GRANT,
        .movement = {.amount_mcs = mcs, .start_s = start_s, .end_s = end_s},
    };
    int32_t row = 0;
    while (view->grants[row].kind == GRANT_TIMED && view->grants[row].end_s <= end_s) {
        row++;
    }
    memmove(&view->grants[row + 1], &view->grants[row],
            (size_t)(view->grant_count - row) * sizeof view->grants[0]);
    view->grants[row] = (struct grant){
        .grant_no = ++world->last_grant_no,
        .root_no = 10 + ACME,
        .node_no = 10 + ACME,
        .kind = GRANT_TIMED,
    };
    view->grant_count++;
    view->nodes[0] = world->nodes[ACME];
    plan_reset(&world->plan);
    cr_assert_eq(decide_grant(view, &command, row, &world->plan, &world->err), ERR_OK);
    apply_money(world);
    world_check(world);
}

void world_end_grants(struct world *world)
{
    for (int32_t row = 0; row < world->grant_count; row++) {
        load_path(world);
        plan_reset(&world->plan);
        cr_assert_eq(decide_grant_end(&world->view, row, &world->plan, &world->err), ERR_OK);
        apply_money(world);
    }
    world_check(world);
}

/* ---- recounting ---- */

static int64_t sum_draws(const struct draw *draws, int32_t count)
{
    int64_t mcs = 0;
    for (int32_t i = 0; i < count; i++) {
        cr_expect_gt(draws[i].mcs, 0);
        mcs += draws[i].mcs;
    }
    return mcs;
}

static void check_run(struct world *world, const struct run *run)
{
    cr_expect_eq(run->charged_mcs, charge_total(run), "the charge is not what the facts say");
    cr_expect_eq(sum_draws(run->draws, run->draw_count), run->charged_mcs - run->refunded_mcs);
    cr_expect_geq(run->frozen_mcs, 0);
    cr_expect_geq(refunds_left(run), 0);
    bool open = task_state_is_open(run->state);
    cr_expect(open || run->frozen_mcs == 0, "a closed run still has frozen core-hours");
    if (run->state == TASK_SETTLED) {
        cr_expect_eq(run->charged_mcs + run->returned_mcs,
                     run->settled_frozen_mcs + run->overrun_mcs);
        cr_expect(run->overrun_mcs == 0 || run->returned_mcs == 0);
    }
    struct refunds refunds;
    refunds_fit(run, &world->calendar, &refunds);
    for (int32_t i = 0; i < refunds.count; i++) {
        cr_expect_eq(refunds.months[i].kept_mcs, refunds.months[i].before_mcs,
                     "a month is refunded more than it was charged");
    }
}

/* What a hold's rows say, against what the hold says. */
static void check_hold(struct world *world, const struct hold *hold, int64_t *waiting_mcs)
{
    int64_t counts[TASK__COUNT] = {0};
    int64_t frozen_mcs = 0;
    int64_t used_mcs = 0;
    int64_t own_open = 0;
    int64_t touched = 0;
    counts[hold->untouched_state] += hold->untouched;
    if (hold->untouched_state == TASK_FROZEN) {
        frozen_mcs += hold->untouched * hold_task_mcs(hold);
    }
    if (hold->untouched_state == TASK_WAITING) {
        *waiting_mcs += hold->untouched * hold_task_mcs(hold);
    }
    for (int32_t i = 0; i < world->task_count; i++) {
        const struct task *task = &world->tasks[i];
        if (task->hold_no != hold->hold_no) {
            continue;
        }
        touched++;
        counts[task->state]++;
        int older_open = 0;
        for (int32_t j = 0; j < world->run_count; j++) {
            const struct run *run = &world->runs[j];
            if (run->hold_no == hold->hold_no && run->task == task->task &&
                run->attempt != task->attempt) {
                older_open += task_state_is_open(run->state);
                cr_expect_lt(run->attempt, task->attempt);
            }
        }
        cr_expect_eq(task->older_open, older_open);
        const struct run *newest = find_run(world, hold->hold_no, task->task, task->attempt);
        bool newest_live =
            newest != NULL && (task_state_is_open(newest->state) || newest->state == TASK_WAITING);
        if (newest_live) {
            cr_expect_eq(task->state, newest->state);
            own_open += newest->own_resources && task_state_is_open(newest->state);
            *waiting_mcs += newest->state == TASK_WAITING ? run_wanted_mcs(hold, newest) : 0;
        } else {
            cr_expect_eq(task->state == TASK_RUNNING, older_open > 0);
        }
        cr_expect_eq(task->state == TASK_WAITING, task->wait_no != 0);
    }
    for (int32_t i = 0; i < world->run_count; i++) {
        if (world->runs[i].hold_no == hold->hold_no) {
            check_run(world, &world->runs[i]);
            frozen_mcs += world->runs[i].frozen_mcs;
            used_mcs += world->runs[i].charged_mcs - world->runs[i].refunded_mcs;
        }
    }
    cr_expect_eq(touched + hold->untouched, hold->tasks);
    for (int state = 0; state < TASK__COUNT; state++) {
        cr_expect_eq(hold->counts[state], counts[state],
                     "hold %s counts %" PRId64 " %s, its rows %" PRId64, hold->id,
                     hold->counts[state], task_state_name((enum task_state)state), counts[state]);
    }
    cr_expect_eq(hold->own_open, own_open);
    cr_expect_eq(hold->frozen_mcs, frozen_mcs, "hold %s has %" PRId64 " frozen, its parts %" PRId64,
                 hold->id, hold->frozen_mcs, frozen_mcs);
    cr_expect_eq(sum_draws(hold->draws, hold->draw_count), hold->frozen_mcs);
    cr_expect_eq(hold->used_mcs, used_mcs);
    cr_expect_eq(hold->wait_no != 0, hold->untouched_state == TASK_WAITING && hold->untouched > 0);
    cr_expect(hold->bound_ms == 0 || hold->due_s == 0, "a bound hold never ends by time");
}

static void check_counters(struct world *world, int64_t waiting_mcs)
{
    struct counter_delta now = {0};
    int64_t frozen_mcs = 0;
    int64_t used_mcs = 0;
    int64_t open = 0;
    int64_t waiting = 0;
    for (int32_t i = 0; i < world->hold_count; i++) {
        const struct hold *hold = &world->holds[i];
        in_flight_difference(NULL, hold, &now);
        frozen_mcs += hold->frozen_mcs;
        used_mcs += hold->used_mcs;
        open += hold_open_tasks(hold) + hold->counts[TASK_WAITING];
        waiting += hold->counts[TASK_WAITING];
    }
    for (int32_t i = 0; i < world->task_count; i++) {
        const struct task *task = &world->tasks[i];
        in_flight_own(NULL, find_run(world, task->hold_no, task->task, task->attempt), &now);
    }
    for (int n = 0; n < WORLD_NODES; n++) {
        const struct counter *counter = &world->nodes[n].counter;
        cr_expect_eq(counter->frozen_mcs, frozen_mcs);
        cr_expect_eq(counter->used_mcs, used_mcs);
        cr_expect_eq(counter->waiting_mcs, waiting_mcs);
        cr_expect_eq(counter->jobs, now.jobs);
        cr_expect_eq(counter->mcores, now.mcores);
        cr_expect_eq(counter->mgpus, now.mgpus);
        cr_expect_eq(counter->open_tasks, open);
        cr_expect_eq(counter->waiting_tasks, waiting);
        int64_t models_mgpus = 0;
        for (int32_t i = 0; i < counter->model_count; i++) {
            models_mgpus += counter->models[i].mgpus;
        }
        cr_expect_eq(models_mgpus, now.mgpus);
    }
}

/* Each grant adds up, holds and grants agree, and the journal leads to the same balances. */
static void check_grants(struct world *world)
{
    int64_t frozen_mcs = 0;
    int64_t used_mcs = 0;
    for (int32_t i = 0; i < world->grant_count; i++) {
        const struct grant *grant = &world->grants[i];
        int64_t parts[PART_EXPIRED + 1] = {0};
        for (int32_t j = 0; j < world->entry_count; j++) {
            const struct entry *entry = &world->entries[j];
            parts[entry->to_part] += entry->to_grant_no == grant->grant_no ? entry->amount_mcs : 0;
            parts[entry->from_part] -=
                entry->from_grant_no == grant->grant_no ? entry->amount_mcs : 0;
        }
        cr_expect_eq(parts[PART_AVAILABLE], grant->available_mcs);
        cr_expect_eq(parts[PART_FROZEN], grant->frozen_mcs);
        cr_expect_eq(parts[PART_USED], grant->used_mcs);
        cr_expect_eq(parts[PART_EXPIRED], grant->expired_mcs);
        cr_expect_eq(grant->available_mcs, grant->granted_mcs + grant->in_mcs - grant->out_mcs -
                                               grant->withdrawn_mcs + grant->moved_mcs -
                                               grant->used_mcs - grant->frozen_mcs -
                                               grant->expired_mcs);
        cr_expect(grant->kind == GRANT_OVERDRAFT ? grant->available_mcs <= 0
                                                 : grant->available_mcs >= 0);
        frozen_mcs += grant->frozen_mcs;
        used_mcs += grant->used_mcs;
    }
    for (int32_t i = 0; i < world->hold_count; i++) {
        frozen_mcs -= world->holds[i].frozen_mcs;
        used_mcs -= world->holds[i].used_mcs;
    }
    cr_expect_eq(frozen_mcs, 0, "grants and holds differ in frozen by %" PRId64, frozen_mcs);
    cr_expect_eq(used_mcs, 0, "grants and holds differ in used by %" PRId64, used_mcs);
}

/* The months of the usage are the months of the charges, less refunds. */
static void check_months(struct world *world)
{
    enum { FIRST = 2010 * 12, MONTHS = 360 };
    static int64_t by_month[MONTHS];
    static int64_t entries[MONTHS];
    memset(by_month, 0, sizeof by_month);
    memset(entries, 0, sizeof entries);
    for (int32_t i = 0; i < world->run_count; i++) {
        const struct run *run = &world->runs[i];
        struct month_amount months[RECORD_REFUND_MONTHS + 4];
        int32_t count = charge_months(run, &world->calendar, months, RECORD_REFUND_MONTHS + 4);
        for (int32_t j = 0; j < count; j++) {
            by_month[months[j].month - FIRST] += months[j].mcs;
        }
        for (int32_t j = 0; j < run->refund_count; j++) {
            by_month[run->refunds[j].month - FIRST] -= run->refunds[j].mcs;
        }
    }
    for (int32_t i = 0; i < world->entry_count; i++) {
        const struct entry *entry = &world->entries[i];
        cr_expect_geq(entry->month, entry->period);
        int64_t sign = (entry->to_part == PART_USED) - (entry->from_part == PART_USED);
        entries[entry->period - FIRST] += sign * entry->amount_mcs;
    }
    for (int i = 0; i < MONTHS; i++) {
        cr_expect_eq(world_used(world, FIRST + i), by_month[i], "month %d of the usage", i);
        cr_expect_eq(entries[i], by_month[i], "month %d of the journal", i);
    }
}

void world_check(struct world *world)
{
    int64_t waiting_mcs = 0;
    for (int32_t i = 0; i < world->hold_count; i++) {
        check_hold(world, &world->holds[i], &waiting_mcs);
    }
    check_counters(world, waiting_mcs);
    check_grants(world);
    check_months(world);
}

/* ---- commands ---- */

struct command_resources a100s(int64_t count)
{
    return (struct command_resources){
        .given = true, .gpu_count = 1, .gpus = {{.model = "a100", .count = count}}};
}

struct command freeze_command(const char *id, int64_t gpus, int64_t limit_s)
{
    struct command command = {.kind = COMMAND_FREEZE};
    (void)snprintf(command.freeze.id, sizeof command.freeze.id, "%s", id);
    strcpy(command.freeze.account, "vision");
    strcpy(command.freeze.user, "alice");
    command.freeze.resources = a100s(gpus);
    command.freeze.time_limit_s = limit_s;
    return command;
}

struct command bind_command(const char *job_id, const char *job_key)
{
    struct command command = {.kind = COMMAND_BIND};
    (void)snprintf(command.bind.job_id, sizeof command.bind.job_id, "%s", job_id);
    (void)snprintf(command.bind.job_key, sizeof command.bind.job_key, "%s", job_key);
    return command;
}

/* A time after WORLD_NOW as it stands in a command; INT64_MIN: not given. */
static int64_t at(int64_t seconds)
{
    return seconds == INT64_MIN ? 0 : WORLD_NOW + seconds;
}

struct command start_command(int64_t task, int64_t attempt, int64_t started_s)
{
    return (struct command){.kind = COMMAND_START,
                            .task = task,
                            .attempt = attempt,
                            .run = {.started_at_s = at(started_s)}};
}

struct command settle_command(int64_t task, int64_t attempt, int64_t started_s, int64_t ended_s)
{
    return (struct command){.kind = COMMAND_SETTLE,
                            .task = task,
                            .attempt = attempt,
                            .run = {.started_at_s = at(started_s), .ended_at_s = at(ended_s)}};
}

struct command requeue_command(int64_t task, int64_t attempt, int64_t started_s, int64_t ended_s)
{
    struct command command = settle_command(task, attempt, started_s, ended_s);
    command.kind = COMMAND_REQUEUE;
    return command;
}

struct command beat_command(int64_t task, int64_t attempt, int64_t at_s)
{
    return (struct command){
        .kind = COMMAND_HEARTBEAT, .task = task, .attempt = attempt, .run = {.at_s = at(at_s)}};
}

struct command pause_command(enum command_kind kind, int64_t task, int64_t at_s)
{
    return (struct command){.kind = kind, .task = task, .run = {.at_s = at(at_s)}};
}

struct command release_command(int64_t task)
{
    return (struct command){
        .kind = COMMAND_RELEASE, .all_tasks = task < 0, .task = task < 0 ? 0 : task};
}

struct command resize_command(int64_t task, int64_t at_s, int64_t gpus, int64_t limit_s)
{
    struct command command = {.kind = COMMAND_RESIZE,
                              .all_tasks = task < 0,
                              .task = task < 0 ? 0 : task,
                              .run = {.at_s = at(at_s), .time_limit_s = limit_s}};
    if (gpus > 0) {
        command.run.resources = a100s(gpus);
    }
    return command;
}

struct command correct_command(int64_t task, int64_t attempt, int64_t started_s, int64_t ended_s)
{
    struct command command = settle_command(task, attempt, started_s, ended_s);
    command.kind = COMMAND_CORRECT;
    strcpy(command.run.source, "sacct");
    strcpy(command.run.reason, "the record says otherwise");
    return command;
}

struct command refund_command(const char *id, int64_t task, int64_t attempt, int64_t mcs)
{
    struct command command = {.kind = COMMAND_REFUND, .task = task, .attempt = attempt};
    (void)snprintf(command.refund.id, sizeof command.refund.id, "%s", id);
    strcpy(command.refund.reason, "the node was slow");
    command.refund.all = mcs < 0;
    command.refund.amount_mcs = mcs < 0 ? 0 : mcs;
    return command;
}

struct command charge_command(const char *id, int64_t gpus, int64_t started_s, int64_t ended_s)
{
    struct command command = {.kind = COMMAND_CHARGE};
    (void)snprintf(command.charge.id, sizeof command.charge.id, "%s", id);
    strcpy(command.charge.job_key, "77@1");
    command.charge.run.resources = a100s(gpus);
    command.charge.run.started_at_s = at(started_s);
    command.charge.run.ended_at_s = at(ended_s);
    return command;
}

struct command expire_command(void)
{
    return (struct command){.kind = COMMAND_EXPIRE_HOLD, .all_tasks = true};
}

struct command turn_command(int64_t task, int64_t attempt, int64_t at_s)
{
    return (struct command){.kind = COMMAND_TURN_RUN,
                            .due = {.task = task, .attempt = attempt, .at_s = WORLD_NOW + at_s}};
}
