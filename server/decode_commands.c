/*
 * The field tables of the commands about holds and money, in the order of enum command_kind. Settings (nodes,
 * clusters, tokens) are in decode_settings.c, caps and rates beside it.
 */
#include "server/decode_commands.h"

#include <string.h>

#include "server/decode_shapes.h"

#define GIVES(member) .given_offset = offsetof(struct command, member)

/* Rows that many tables have. */
#define FIELD_ROOT                                                            \
    {                                                                         \
        .name = "root", .kind = DECODE_NODE, DECODE_AT(struct command, root), \
        .null_is_absent = true                                                \
    }
#define FIELD_CLUSTER                                                               \
    {                                                                               \
        .name = "cluster", .kind = DECODE_NODE, DECODE_AT(struct command, cluster), \
        .null_is_absent = true                                                      \
    }
#define FIELD_TASK                                                               \
    {                                                                            \
        .name = "task", .kind = DECODE_INTEGER, DECODE_AT(struct command, task), \
        .max = LIMIT_TASKS - 1                                                   \
    }
#define FIELD_ATTEMPT                                                                  \
    {                                                                                  \
        .name = "attempt", .kind = DECODE_INTEGER, DECODE_AT(struct command, attempt), \
        .max = INT32_MAX                                                               \
    }
#define FIELD_AMOUNT(member)                                                            \
    {.name = "core_hours",                                                              \
     .kind = DECODE_CORE_HOURS,                                                         \
     DECODE_AT(struct command, member),                                                 \
     .min = 1,                                                                          \
     .max = LIMIT_COMMAND_MCS,                                                          \
     .one_of = 1},                                                                      \
    {                                                                                   \
        .name = "mcs", .kind = DECODE_MCS, DECODE_AT(struct command, member), .min = 1, \
        .max = LIMIT_COMMAND_MCS, .one_of = 1                                           \
    }
#define FIELD_JOB(member)                                                        \
    {                                                                            \
        .name = "job", .kind = DECODE_OBJECT, DECODE_AT(struct command, member), \
        GIVES(member.given), .table = &decode_table_job, .null_is_absent = true  \
    }
#define FIELD_HOSTS(member)                                                       \
    {                                                                             \
        .name = "hosts", .kind = DECODE_OTHER, DECODE_AT(struct command, member), \
        .other = decode_hosts, .null_is_absent = true                             \
    }
#define FIELD_OUTCOME(member)                                                        \
    {                                                                                \
        .name = "outcome", .kind = DECODE_CHOICE, DECODE_AT(struct command, member), \
        .choices = choices_outcome, .null_is_absent = true                           \
    }
#define FIELD_SUSPENDED(run)                                                                       \
    {                                                                                              \
        .name = "suspended_s", .kind = DECODE_INTEGER, DECODE_AT(struct command, run.suspended_s), \
        .max = LIMIT_TIME_LIMIT_S, GIVES(run.suspended_given), .null_is_absent = true              \
    }
#define FIELD_RESOURCES(key, member, must)                                       \
    {                                                                            \
        .name = (key), .kind = DECODE_OTHER, DECODE_AT(struct command, member),  \
        .other = decode_resources, .required = (must), .null_is_absent = !(must) \
    }
#define FIELD_TIME(key, member, must)                                                              \
    {                                                                                              \
        .name = (key), .kind = DECODE_TIME, DECODE_AT(struct command, member), .required = (must), \
        .null_is_absent = !(must)                                                                  \
    }
#define FIELD_NAME(key, member, must)                                                              \
    {                                                                                              \
        .name = (key), .kind = DECODE_NAME, DECODE_AT(struct command, member), .required = (must), \
        .null_is_absent = !(must)                                                                  \
    }
#define FIELD_NOTE(key, member, must)                                                              \
    {                                                                                              \
        .name = (key), .kind = DECODE_NOTE, DECODE_AT(struct command, member), .required = (must), \
        .null_is_absent = !(must)                                                                  \
    }
#define FIELD_ID(key, member)                                                                 \
    {                                                                                         \
        .name = (key), .kind = DECODE_ID, DECODE_AT(struct command, member), .required = true \
    }
#define FIELD_NODE(key, member)                                                                 \
    {                                                                                           \
        .name = (key), .kind = DECODE_NODE, DECODE_AT(struct command, member), .required = true \
    }

/* ---- freeze, quote: what is asked for, then what only a freeze has */

static const struct decode_field asked_fields[] = {
    FIELD_NODE("cluster", cluster),
    FIELD_NAME("account", freeze.account, true),
    FIELD_NAME("user", freeze.user, true),
    FIELD_JOB(freeze.job),
    FIELD_RESOURCES("resources", freeze.resources, true),
    {.name = "tasks",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command, freeze.tasks),
     .min = 1,
     .max = LIMIT_TASKS,
     .too_many = ERR_TOO_MANY_TASKS},
    {.name = "max_running",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command, freeze.max_running),
     .min = 1,
     .max = LIMIT_TASKS,
     .null_is_absent = true},
    {.name = "time_limit_s",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command, freeze.time_limit_s),
     .min = 1,
     .max = LIMIT_TIME_LIMIT_S,
     .null_is_absent = true},
    {.name = "mode",
     .kind = DECODE_CHOICE,
     DECODE_AT(struct command, freeze.mode),
     .choices = choices_mode,
     .null_is_absent = true},
};

static const struct decode_table asked_table = {
    .fields = asked_fields,
    .count = ARRAY_LEN(asked_fields),
};

static const struct decode_field freeze_fields[] = {
    FIELD_ID("id", freeze.id),
    {.name = "on_insufficient",
     .kind = DECODE_CHOICE,
     DECODE_AT(struct command, freeze.on_insufficient),
     .choices = choices_on_insufficient,
     .null_is_absent = true},
    {.name = "ttl_s",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command, freeze.ttl_s),
     .min = 1,
     .max = LIMIT_TTL_S,
     .null_is_absent = true},
};

/* ---- verbs */

static const struct decode_field bind_fields[] = {
    FIELD_ID("job_id", bind.job_id),
    FIELD_NAME("job_key", bind.job_key, false),
    FIELD_ROOT,
    FIELD_CLUSTER,
};

static const struct decode_field start_fields[] = {
    FIELD_TASK,
    FIELD_ATTEMPT,
    FIELD_TIME("started_at", run.started_at_s, true),
    FIELD_NAME("run_key", run.run_key, false),
    FIELD_HOSTS(run.hosts),
    FIELD_ROOT,
    FIELD_CLUSTER,
};

static const struct decode_field pause_fields[] = {
    FIELD_TASK, FIELD_ATTEMPT, FIELD_TIME("at", run.at_s, true), FIELD_ROOT, FIELD_CLUSTER,
};

static const struct decode_field resize_fields[] = {
    FIELD_TASK,
    FIELD_TIME("at", run.at_s, false),
    FIELD_RESOURCES("resources", run.resources, false),
    {.name = "time_limit_s",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command, run.time_limit_s),
     .min = 1,
     .max = LIMIT_TIME_LIMIT_S,
     .null_is_absent = true},
    FIELD_JOB(run.job),
    FIELD_NAME("account", run.account, false),
    FIELD_ROOT,
    FIELD_CLUSTER,
};

static const struct decode_field settle_fields[] = {
    FIELD_TASK,
    FIELD_ATTEMPT,
    FIELD_TIME("started_at", run.started_at_s, false),
    FIELD_TIME("ended_at", run.ended_at_s, true),
    FIELD_SUSPENDED(run),
    FIELD_OUTCOME(run.outcome),
    FIELD_RESOURCES("allocated", run.resources, false),
    FIELD_NAME("run_key", run.run_key, false),
    FIELD_HOSTS(run.hosts),
    FIELD_ROOT,
    FIELD_CLUSTER,
};

static const struct decode_field release_fields[] = {
    FIELD_NOTE("reason", run.reason, false),
    {.name = "tasks",
     .kind = DECODE_OTHER,
     DECODE_AT(struct command, tasks),
     .other = decode_task_set,
     .null_is_absent = true},
    FIELD_ROOT,
    FIELD_CLUSTER,
};

static const struct decode_field correct_fields[] = {
    FIELD_TASK,
    FIELD_ATTEMPT,
    FIELD_TIME("started_at", run.started_at_s, false),
    FIELD_TIME("ended_at", run.ended_at_s, false),
    FIELD_SUSPENDED(run),
    FIELD_OUTCOME(run.outcome),
    FIELD_RESOURCES("allocated", run.resources, false),
    FIELD_NAME("source", run.source, true),
    FIELD_NOTE("reason", run.reason, true),
    FIELD_ROOT,
    FIELD_CLUSTER,
};

static const struct decode_field heartbeat_fields[] = {
    FIELD_TIME("at", run.at_s, true), FIELD_TASK, FIELD_ATTEMPT, FIELD_ROOT, FIELD_CLUSTER,
};

/* ---- charge, refund, grant, transfer, withdraw */

static const struct decode_field charge_fields[] = {
    FIELD_ID("id", charge.id),
    FIELD_NODE("cluster", cluster),
    FIELD_NAME("account", charge.account, true),
    FIELD_NAME("user", charge.user, true),
    FIELD_NAME("job_key", charge.job_key, false),
    FIELD_JOB(charge.job),
    FIELD_RESOURCES("resources", charge.run.resources, true),
    FIELD_TIME("started_at", charge.run.started_at_s, true),
    FIELD_TIME("ended_at", charge.run.ended_at_s, true),
    FIELD_SUSPENDED(charge.run),
    FIELD_OUTCOME(charge.run.outcome),
    FIELD_NAME("run_key", charge.run.run_key, false),
    FIELD_HOSTS(charge.run.hosts),
};

static const struct decode_field assign_fields[] = {
    {.name = "project",
     .kind = DECODE_NODE,
     DECODE_AT(struct command, charge.project),
     .null_is_absent = true},
};

static const struct decode_table assign_table = {.fields = assign_fields,
                                                 .count = ARRAY_LEN(assign_fields)};

static const struct decode_field refund_fields[] = {
    FIELD_ID("id", refund.id),
    FIELD_ID("hold", hold),
    FIELD_TASK,
    FIELD_ATTEMPT,
    FIELD_AMOUNT(refund.amount_mcs),
    FIELD_NOTE("reason", refund.reason, true),
    FIELD_ROOT,
    FIELD_CLUSTER,
};

static const struct decode_field grant_fields[] = {
    FIELD_ID("id", movement.id),
    FIELD_NODE("node", movement.to),
    FIELD_AMOUNT(movement.amount_mcs),
    FIELD_TIME("start", movement.start_s, false),
    FIELD_TIME("end", movement.end_s, false),
    FIELD_NOTE("note", movement.note, false),
};

static const struct decode_field transfer_fields[] = {
    FIELD_ID("id", movement.id),
    FIELD_NODE("from", movement.from),
    FIELD_NODE("to", movement.to),
    FIELD_AMOUNT(movement.amount_mcs),
    FIELD_NOTE("note", movement.note, false),
};

static const struct decode_field withdraw_fields[] = {
    FIELD_ID("id", movement.id),
    FIELD_NODE("node", movement.from),
    FIELD_AMOUNT(movement.amount_mcs),
    FIELD_NOTE("reason", movement.note, true),
};

enum { AMOUNT_REQUIRED = 1U << 1 }; /* FIELD_AMOUNT is group 1 */

/* ---- what is not said by rows */

static void finish_resize(const json_t *body, struct command *command)
{
    command->all_tasks = json_object_get(body, "task") == NULL;
}

static void finish_release(const json_t *body, struct command *command)
{
    (void)body;
    command->all_tasks = command->tasks[0] == '\0';
}

static void finish_refund(const json_t *body, struct command *command)
{
    command->refund.all =
        json_object_get(body, "mcs") == NULL && json_object_get(body, "core_hours") == NULL;
}

/* ---- the table of commands */

#define END_OF(member) (offsetof(struct command, member) + sizeof(((struct command *)NULL)->member))

static const struct command_shape {
    const char *op; /* in a batch; NULL: not there */
    size_t bytes;
    struct decode_table table;
    void (*finish)(const json_t *body, struct command *command);
} shapes[COMMAND__COUNT] = {
    [COMMAND_FREEZE] = {"freeze",
                        END_OF(freeze),
                        {DECODE_ROWS(freeze_fields), .more = &asked_table},
                        NULL},
    [COMMAND_QUOTE] = {"quote", END_OF(freeze), {DECODE_ROWS(asked_fields)}, NULL},
    [COMMAND_BIND] = {"bind", END_OF(bind), {DECODE_ROWS(bind_fields)}, NULL},
    [COMMAND_START] = {"start", END_OF(run), {DECODE_ROWS(start_fields)}, NULL},
    [COMMAND_SUSPEND] = {"suspend", END_OF(run), {DECODE_ROWS(pause_fields)}, NULL},
    [COMMAND_RESUME] = {"resume", END_OF(run), {DECODE_ROWS(pause_fields)}, NULL},
    [COMMAND_RESIZE] = {"resize", END_OF(run), {DECODE_ROWS(resize_fields)}, finish_resize},
    [COMMAND_REQUEUE] = {"requeue", END_OF(run), {DECODE_ROWS(settle_fields)}, NULL},
    [COMMAND_SETTLE] = {"settle", END_OF(run), {DECODE_ROWS(settle_fields)}, NULL},
    [COMMAND_RELEASE] = {"release", END_OF(run), {DECODE_ROWS(release_fields)}, finish_release},
    [COMMAND_CORRECT] = {"correct", END_OF(run), {DECODE_ROWS(correct_fields)}, NULL},
    [COMMAND_HEARTBEAT] = {"heartbeat", END_OF(run), {DECODE_ROWS(heartbeat_fields)}, NULL},
    [COMMAND_CHARGE] = {"charge", END_OF(charge), {DECODE_ROWS(charge_fields)}, NULL},
    [COMMAND_REFUND] = {"refund", END_OF(refund), {DECODE_ROWS(refund_fields)}, finish_refund},
    [COMMAND_GRANT] = {"grant",
                       END_OF(movement),
                       {DECODE_ROWS(grant_fields), .one_of_required = AMOUNT_REQUIRED},
                       NULL},
    [COMMAND_TRANSFER] = {"transfer",
                          END_OF(movement),
                          {DECODE_ROWS(transfer_fields), .one_of_required = AMOUNT_REQUIRED},
                          NULL},
    [COMMAND_WITHDRAW] = {"withdraw",
                          END_OF(movement),
                          {DECODE_ROWS(withdraw_fields), .one_of_required = AMOUNT_REQUIRED},
                          NULL},
};

size_t command_bytes(enum command_kind kind)
{
    return shapes[kind].bytes > 0 ? shapes[kind].bytes : sizeof(struct command);
}

void command_reset(struct command *command, enum command_kind kind)
{
    memset(command, 0, command_bytes(kind));
    command->kind = kind;
}

enum command_kind command_kind_of_op(const char *op)
{
    int kind = COMMAND_FREEZE;
    while (kind < COMMAND__COUNT && (shapes[kind].op == NULL || strcmp(shapes[kind].op, op) != 0)) {
        kind++;
    }
    return (enum command_kind)kind;
}

/* What a line or an event says beside the body: `op`, which is read before, and for verbs which hold. */
static const struct decode_field op_fields[] = {
    {.name = "op", .kind = DECODE_IGNORED},
};

static const struct decode_table op_table = {DECODE_ROWS(op_fields)};

static const struct decode_field place_fields[] = {
    {.name = "hold", .kind = DECODE_ID, DECODE_AT(struct command, hold)},
    {.name = "job_id", .kind = DECODE_ID, DECODE_AT(struct command, job_id)},
    {.name = "job_key", .kind = DECODE_NAME, DECODE_AT(struct command, job_key)},
};

static const struct decode_table place_table = {DECODE_ROWS(place_fields), .more = &op_table};

static bool is_verb(enum command_kind kind)
{
    return kind >= COMMAND_BIND && kind <= COMMAND_HEARTBEAT;
}

/* Which hold, when the path does not say: `hold`, or cluster and job (SPEC 6.1). */
static enum error_code check_place(const struct command *command, struct error *err)
{
    const bool by_job = command->job_id[0] != '\0' || command->job_key[0] != '\0';
    if (!is_verb(command->kind) || command->hold[0] != '\0') {
        return ERR_OK;
    }
    if (!by_job) {
        return error_set_field(err, ERR_INVALID_FIELD, "hold", "required, or cluster and job_id");
    }
    if (command->cluster[0] == '\0') {
        return error_set_field(err, ERR_INVALID_FIELD, "cluster",
                               "required with job_id or job_key");
    }
    return ERR_OK;
}

/* The last table of @table's chain gets these rows behind it: at most two tables, copied on the stack. */
static enum error_code decode_with_place(const json_t *body,
                                         const struct decode_table *table,
                                         struct command *command,
                                         struct error *err)
{
    const struct decode_table *behind = is_verb(command->kind) ? &place_table : &op_table;
    struct decode_table second;
    struct decode_table first = *table;
    if (first.more != NULL) {
        second = *first.more;
        second.more = behind;
        behind = &second;
    }
    first.more = behind;
    const enum error_code code = decode_object(body, &first, command, NULL, err);
    return code != ERR_OK ? code : check_place(command, err);
}

enum error_code decode_command(const json_t *body,
                               bool with_place,
                               struct command *command,
                               struct error *err)
{
    const struct command_shape *shape = &shapes[command->kind];
    assert(shape->op != NULL);
    const enum error_code code = with_place
                                     ? decode_with_place(body, &shape->table, command, err)
                                     : decode_object(body, &shape->table, command, NULL, err);
    if (code == ERR_OK && shape->finish != NULL) {
        shape->finish(body, command);
    }
    return code;
}

enum error_code decode_assign(const json_t *body, struct command *command, struct error *err)
{
    return decode_object(body, &assign_table, command, NULL, err);
}

static const struct decode_field heartbeats_fields[] = {
    FIELD_NODE("cluster", cluster),
    FIELD_TIME("at", run.at_s, true),
    {.name = "runs", .kind = DECODE_IGNORED, .required = true},
};

static const struct decode_table heartbeats_table = {DECODE_ROWS(heartbeats_fields)};

static const struct decode_field beating_fields[] = {
    FIELD_ID("hold", hold),
    FIELD_TASK,
    FIELD_ATTEMPT,
    FIELD_ROOT,
};

static const struct decode_table beating_table = {DECODE_ROWS(beating_fields)};

enum error_code decode_heartbeats(const json_t *body, struct command *command, struct error *err)
{
    const enum error_code code = decode_object(body, &heartbeats_table, command, NULL, err);
    if (code != ERR_OK) {
        return code;
    }
    const json_t *runs = json_object_get(body, "runs");
    if (!json_is_array(runs)) {
        return error_set_field(err, ERR_INVALID_FIELD, "runs", "not an array");
    }
    if (json_array_size(runs) > LIMIT_HEARTBEAT_RUNS) {
        return error_set_field(err, ERR_TOO_MANY_RUNS, "runs", "%zu runs are more than %d",
                               json_array_size(runs), LIMIT_HEARTBEAT_RUNS);
    }
    return ERR_OK;
}

enum error_code decode_heartbeat_run(const json_t *run,
                                     size_t index,
                                     struct command *command,
                                     struct error *err)
{
    const struct decode_path runs = {.name = "runs"};
    const struct decode_path path = {.outer = &runs, .index = index};
    return decode_object(run, &beating_table, command, &path, err);
}
