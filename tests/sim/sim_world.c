/*
 * The place, and random commands in it.
 *
 *   acme (self, Europe/Berlin, year from April) > acme-ai (self) > vision; acme > speech
 *   bolt (unlimited, America/New_York)          > robots (lists its members)
 *   alpha: all roots, mode full                   beta: all roots, mode window
 */
#include <stdio.h>
#include <string.h>

#include "ledger/base/calendar.h"
#include "tests/sim/sim.h"

#define TEXT(field, value) (void)snprintf((field), sizeof(field), "%s", (value))

static const char *const projects[] = {"vision", "speech", "robots"};
static const char *const organizations[] = {"acme", "acme-ai", "bolt"};
static const char *const clusters[] = {"alpha", "beta"};
static const char *const users[] = {"ann", "ben", "cem", "dee"};
static const char *const models[] = {"a100", "h100", "t4"};

static int64_t between(struct sim *sim, int64_t low, int64_t high)
{
    return test_random_range(&sim->random, low, high);
}

static bool chance(struct sim *sim, int64_t percent)
{
    return test_random_chance(&sim->random, percent, 100);
}

#define PICK(sim, array) \
    ((array)[between((sim), 0, (int64_t)(sizeof(array) / sizeof((array)[0])) - 1)])

/* ---- the place */

static void both(struct sim *sim, const struct command *command)
{
    for (int i = 0; i < 2; i++) {
        if (book_run(&sim->books[i], command) != ERR_OK) {
            sim_die(sim, "setting up: %s", sim->books[i].result.error.detail);
        }
    }
}

static void make_root(struct sim *sim,
                      const char *name,
                      enum node_funding funding,
                      const char *zone)
{
    struct command command = book_organization(name, "", funding);
    command.node.given |=
        1u << NODE_FIELD_TIMEZONE | 1u << NODE_FIELD_FISCAL_YEAR_START | 1u << NODE_FIELD_OVERDRAFT;
    TEXT(command.node.set.timezone, zone);
    command.node.set.fiscal_year_start = 4;
    command.node.set.overdraft_mcs = funding == FUNDING_SELF ? BOOK_HOUR : 0;
    both(sim, &command);
}

static void make_cluster(struct sim *sim, const char *name, enum hold_mode mode)
{
    struct command command = book_cluster(name);
    command.cluster_set.given |= 1u << CLUSTER_FIELD_MODE | 1u << CLUSTER_FIELD_ON_EXHAUSTED;
    command.cluster_set.set.mode = mode;
    command.cluster_set.set.on_exhausted =
        mode == MODE_WINDOW ? EXHAUSTED_STOP : EXHAUSTED_CONTINUE;
    both(sim, &command);
    for (int i = 0; i < 2; i++) {
        if (book_put_rates(&sim->books[i], name, 1, 1) != ERR_OK) {
            sim_die(sim, "rates: %s", sim->books[i].result.error.detail);
        }
    }
}

void sim_world_make(struct sim *sim)
{
    make_root(sim, "acme", FUNDING_SELF, "Europe/Berlin");
    make_root(sim, "bolt", FUNDING_UNLIMITED, "America/New_York");
    struct command command = book_organization("acme-ai", "acme", FUNDING_SELF);
    both(sim, &command);
    command = book_project("vision", "acme-ai");
    both(sim, &command);
    command = book_project("speech", "acme");
    both(sim, &command);
    command = book_project("robots", "bolt");
    command.node.given |= 1u << NODE_FIELD_MEMBERSHIP;
    command.node.set.membership = MEMBERSHIP_LISTED;
    both(sim, &command);
    command = book_command(COMMAND_PUT_NODE);
    command.node.kind = NODE_MEMBER;
    TEXT(command.node.name, "ann");
    TEXT(command.node.parent, "robots");
    both(sim, &command);
    make_cluster(sim, "alpha", MODE_FULL);
    make_cluster(sim, "beta", MODE_WINDOW);
    command = book_grant("first-acme", "acme", 40 * BOOK_HOUR);
    both(sim, &command);
    command = book_grant("first-ai", "acme-ai", 20 * BOOK_HOUR);
    both(sim, &command);
}

/* ---- commands */

static void random_resources(struct sim *sim, struct command_resources *resources)
{
    resources->given = true;
    resources->cores = between(sim, 0, 8);
    resources->gpu_count = (int32_t)between(sim, resources->cores == 0 ? 1 : 0, 2);
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        TEXT(resources->gpus[i].model, chance(sim, 10) ? "" : PICK(sim, models));
        resources->gpus[i].count = between(sim, 1, 2);
        if (chance(sim, 20)) {
            resources->gpus[i].cores_percent = between(sim, 1, 100);
        }
    }
}

/* An id of a hold, mostly one that exists. */
static void random_hold(struct sim *sim, char *id, size_t bytes)
{
    int64_t newest = sim->holds_made;
    int64_t oldest = newest > SIM_IDS ? newest - SIM_IDS : 0;
    (void)snprintf(id, bytes, "h%d", (int)between(sim, oldest, newest));
}

static const char *cluster_of(const char *id)
{
    /* Even numbers live on alpha, odd ones on beta. */
    return (id[strlen(id) - 1] - '0') % 2 == 0 ? "alpha" : "beta";
}

static int64_t now_s(const struct sim *sim)
{
    return sim->books[0].now_ms / 1000;
}

static void freeze(struct sim *sim, struct command *command)
{
    struct command_freeze *given = &command->freeze;
    command->kind = chance(sim, 8) ? COMMAND_QUOTE : COMMAND_FREEZE;
    if (chance(sim, 90)) {
        sim->holds_made++;
    }
    (void)snprintf(given->id, sizeof given->id, "h%d", (int)sim->holds_made);
    TEXT(command->cluster, cluster_of(given->id));
    TEXT(given->account, chance(sim, 2) ? "nobody" : PICK(sim, projects));
    TEXT(given->user, PICK(sim, users));
    random_resources(sim, &given->resources);
    given->tasks = chance(sim, 30) ? between(sim, 1, 6) : 0;
    given->max_running = given->tasks > 1 && chance(sim, 50) ? between(sim, 1, 3) : 0;
    given->time_limit_s = chance(sim, 90) ? between(sim, 1, 40) * 60 : 0;
    given->on_insufficient = chance(sim, 60) ? INSUFFICIENT_WAIT : INSUFFICIENT_UNSET;
    given->ttl_s = chance(sim, 50) ? 100000 : 0;
    if (chance(sim, 30)) {
        given->job.given = true;
        TEXT(given->job.qos, chance(sim, 50) ? "low" : "high");
    }
}

static void verb(struct sim *sim, struct command *command, enum command_kind kind)
{
    command->kind = kind;
    random_hold(sim, command->hold, sizeof command->hold);
    TEXT(command->cluster, cluster_of(command->hold));
    command->task = chance(sim, 80) ? 0 : between(sim, 0, 5);
    command->attempt = chance(sim, 85) ? 0 : between(sim, 0, 2);
    if (kind == COMMAND_START || kind == COMMAND_SETTLE || kind == COMMAND_REQUEUE) {
        TEXT(command->run.hosts, chance(sim, 20) ? "node1,node2" : "");
    }
}

static void bind(struct sim *sim, struct command *command)
{
    verb(sim, command, COMMAND_BIND);
    (void)snprintf(command->bind.job_id, sizeof command->bind.job_id, "%d",
                   (int)between(sim, 1, 30));
    (void)snprintf(command->bind.job_key, sizeof command->bind.job_key, "key-%s", command->hold);
}

static void start(struct sim *sim, struct command *command)
{
    verb(sim, command, COMMAND_START);
    command->run.started_at_s = now_s(sim) - (chance(sim, 70) ? 0 : between(sim, 0, 7200));
}

static void random_end(struct sim *sim, struct command_run *run)
{
    static const enum outcome outcomes[] = {OUTCOME_COMPLETED, OUTCOME_FAILED, OUTCOME_NODE_FAIL,
                                            OUTCOME_CANCELLED, OUTCOME_RUNNING};
    run->ended_at_s = now_s(sim) - (chance(sim, 70) ? 0 : between(sim, 0, 3600));
    if (chance(sim, 40)) {
        run->started_at_s = run->ended_at_s - between(sim, 0, 5000);
    }
    run->outcome = PICK(sim, outcomes);
    if (chance(sim, 15)) {
        run->suspended_given = true;
        run->suspended_s = between(sim, 0, 600);
    }
    if (chance(sim, 15)) {
        random_resources(sim, &run->resources);
    }
}

static void settle(struct sim *sim, struct command *command)
{
    verb(sim, command, COMMAND_SETTLE);
    random_end(sim, &command->run);
}

static void requeue(struct sim *sim, struct command *command)
{
    verb(sim, command, COMMAND_REQUEUE);
    random_end(sim, &command->run);
}

static void correct(struct sim *sim, struct command *command)
{
    verb(sim, command, COMMAND_CORRECT);
    random_end(sim, &command->run);
    TEXT(command->run.source, "sacct");
    TEXT(command->run.reason, "found");
}

static void suspend(struct sim *sim, struct command *command)
{
    verb(sim, command, chance(sim, 50) ? COMMAND_SUSPEND : COMMAND_RESUME);
    command->run.at_s = chance(sim, 70) ? 0 : now_s(sim) - between(sim, 0, 600);
}

static void heartbeat(struct sim *sim, struct command *command)
{
    verb(sim, command, COMMAND_HEARTBEAT);
    command->run.at_s = chance(sim, 80) ? 0 : now_s(sim) - between(sim, 0, 600);
}

static void resize(struct sim *sim, struct command *command)
{
    verb(sim, command, COMMAND_RESIZE);
    command->all_tasks = chance(sim, 60);
    if (chance(sim, 60)) {
        random_resources(sim, &command->run.resources);
    }
    if (chance(sim, 60)) {
        command->run.time_limit_s = between(sim, 1, 60) * 60;
    }
    if (chance(sim, 20)) {
        TEXT(command->run.account, PICK(sim, projects));
    }
}

static void release(struct sim *sim, struct command *command)
{
    verb(sim, command, COMMAND_RELEASE);
    command->all_tasks = true;
    if (chance(sim, 40)) {
        int first = (int)between(sim, 0, 3);
        (void)snprintf(command->tasks, sizeof command->tasks, "%d-%d", first,
                       first + (int)between(sim, 0, 2));
        command->all_tasks = false;
    }
}

static void charge(struct sim *sim, struct command *command)
{
    struct command_charge *given = &command->charge;
    command->kind = COMMAND_CHARGE;
    sim->holds_made++;
    (void)snprintf(given->id, sizeof given->id, "h%d", (int)sim->holds_made);
    TEXT(command->cluster, cluster_of(given->id));
    TEXT(given->account, chance(sim, 10) ? "nobody" : PICK(sim, projects));
    TEXT(given->user, PICK(sim, users));
    random_resources(sim, &given->run.resources);
    given->run.ended_at_s = now_s(sim) - between(sim, 0, 90000);
    given->run.started_at_s = given->run.ended_at_s - between(sim, 0, 90000);
}

static void refund(struct sim *sim, struct command *command)
{
    verb(sim, command, COMMAND_REFUND);
    sim->refunds_made += chance(sim, 90) ? 1 : 0;
    (void)snprintf(command->refund.id, sizeof command->refund.id, "r%d", (int)sim->refunds_made);
    command->refund.all = chance(sim, 30);
    command->refund.amount_mcs = between(sim, 1, BOOK_HOUR);
    TEXT(command->refund.reason, "sorry");
}

static void grant(struct sim *sim, struct command *command)
{
    *command =
        book_grant("", chance(sim, 60) ? "acme" : "acme-ai", between(sim, 1, 20) * BOOK_HOUR);
    sim->grants_made += chance(sim, 90) ? 1 : 0;
    (void)snprintf(command->movement.id, sizeof command->movement.id, "g%d", (int)sim->grants_made);
    if (chance(sim, 50)) {
        command->movement.end_s = now_s(sim) + between(sim, 1, 4000000);
    }
    if (chance(sim, 30)) {
        command->movement.start_s = now_s(sim) + between(sim, -100000, 100000);
    }
}

static void movement(struct sim *sim, struct command *command)
{
    grant(sim, command);
    bool down = chance(sim, 50);
    command->movement.start_s = 0;
    command->movement.end_s = 0;
    TEXT(command->movement.from, down ? "acme" : "acme-ai");
    command->kind = chance(sim, 50) ? COMMAND_TRANSFER : COMMAND_WITHDRAW;
    TEXT(command->movement.to, command->kind == COMMAND_WITHDRAW ? "" : down ? "acme-ai" : "acme");
    command->movement.amount_mcs = between(sim, 1, 10 * BOOK_HOUR);
}

static void cap(struct sim *sim, struct command *command)
{
    static const struct {
        enum cap_kind kind;
        int64_t most;
    } caps[] = {
        {CAP_MONTH, 30 * BOOK_HOUR},
        {CAP_QUARTER, 60 * BOOK_HOUR},
        {CAP_YEAR, 90 * BOOK_HOUR},
        {CAP_TOTAL, 200 * BOOK_HOUR},
        {CAP_GPUS, 8000},
        {CAP_CORES, 120000},
        {CAP_JOBS, 6},
        {CAP_JOB_CORE_HOURS, 20 * BOOK_HOUR},
        {CAP_JOB_GPUS, 4000},
        {CAP_JOB_DURATION, 3000},
    };
    int64_t which = between(sim, 0, 9);
    int64_t where = between(sim, 0, 9);
    enum node_kind kind = where < 3 ? NODE_ORGANIZATION : where < 7 ? NODE_PROJECT : NODE_MEMBER;
    const char *person = chance(sim, 40) ? "*" : PICK(sim, users);
    const char *node = kind == NODE_ORGANIZATION ? PICK(sim, organizations)
                       : kind == NODE_PROJECT    ? PICK(sim, projects)
                                                 : person;
    *command = book_cap(kind, node, caps[which].kind, between(sim, 1, caps[which].most));
    TEXT(command->cap.project, PICK(sim, projects));
    if (caps[which].kind == CAP_GPUS && chance(sim, 50)) {
        TEXT(command->cap.model, PICK(sim, models));
    }
    command->cap.cap.soft = chance(sim, 20) ? 1 : 0;
    if (chance(sim, 60)) {
        command->kind = COMMAND_DELETE_CAP;
    }
}

static void close_node(struct sim *sim, struct command *command)
{
    *command = book_command(COMMAND_PATCH_NODE);
    command->node.kind = NODE_PROJECT;
    TEXT(command->node.name, PICK(sim, projects));
    command->node.given = 1u << NODE_FIELD_STATE;
    command->node.set.state = chance(sim, 25) ? NODE_CLOSED : NODE_OPEN;
    command->if_match = MATCH_ANY;
}

static void settings(struct sim *sim, struct command *command)
{
    *command = book_command(COMMAND_PATCH_NODE);
    command->node.kind = NODE_PROJECT;
    TEXT(command->node.name, "vision");
    command->if_match = MATCH_ANY;
    if (chance(sim, 50)) {
        command->node.given = 1u << NODE_FIELD_PARENT;
        TEXT(command->node.parent, chance(sim, 50) ? "acme" : "acme-ai");
    } else {
        command->node.given = 1u << NODE_FIELD_MODE;
        command->node.set.mode = (enum hold_mode)between(sim, MODE_UNSET, MODE_WINDOW);
    }
}

/* The last month or one before it, by UTC: near its turn this may be one that has not ended. */
static void close_month(struct sim *sim, struct command *command)
{
    struct calendar utc;
    calendar_init_utc(&utc);
    *command = book_command(COMMAND_CLOSE);
    TEXT(command->close.root, chance(sim, 70) ? "acme" : "bolt");
    command->close.month =
        calendar_month(&utc, now_s(sim)) - (chance(sim, 80) ? 1 : between(sim, 0, 3));
}

static void poll_feed(struct sim *sim, struct command *command)
{
    *command = book_command(COMMAND_TOUCH_AGENT);
    TEXT(command->cluster, PICK(sim, clusters));
}

void sim_command(struct sim *sim, struct command *ret_command)
{
    static const struct {
        int64_t weight;
        void (*make)(struct sim *sim, struct command *command);
    } kinds[] = {
        {30, freeze},    {6, bind},     {22, start},     {24, settle},     {6, requeue},
        {4, correct},    {8, suspend},  {12, heartbeat}, {6, resize},      {6, release},
        {4, charge},     {4, refund},   {4, grant},      {3, movement},    {7, cap},
        {2, close_node}, {2, settings}, {1, poll_feed},  {1, close_month},
    };
    int64_t total = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        total += kinds[i].weight;
    }
    int64_t at = between(sim, 1, total);
    size_t which = 0;
    while (at > kinds[which].weight) {
        at -= kinds[which++].weight;
    }
    *ret_command = book_command(COMMAND_FREEZE);
    kinds[which].make(sim, ret_command);
}
