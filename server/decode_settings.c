/* The field tables of settings. A put and its patch share their rows; each has a table of its own in front. */
#include "server/decode_settings.h"

#include <string.h>

#include "ledger/base/text.h"
#include "server/decode_shapes.h"

#define MEMBER_BYTES(type, member) sizeof(((type *)NULL)->member)
#define IN(type, member)           .offset = offsetof(type, member), .size = MEMBER_BYTES(type, member)
#define AT(member)                 IN(struct command, member)
#define ROWS(rows)                 .fields = (rows), .count = ARRAY_LEN(rows)

/* ---- nodes */

#define NODE(member, field) AT(node.member), .given_bit = (field) + 1
#define NODE_TABLE(rows)    ROWS(rows), .given_offset = offsetof(struct command, node.given)

static enum error_code decode_waived_outcomes(const json_t *value,
                                              void *place,
                                              const struct decode_path *path,
                                              struct error *err)
{
    if (!json_is_array(value)) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not an array");
    }
    int64_t waived = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const struct decode_path entry = {.outer = path, .index = i};
        int outcome = 0;
        const enum error_code code =
            decode_choice(json_array_get(value, i), choices_outcome, &entry, &outcome, err);
        if (code != ERR_OK) {
            return code;
        }
        waived |= INT64_C(1) << outcome;
    }
    *(int64_t *)place = waived;
    return ERR_OK;
}

/* Rows of every organization and project. */
#define FIELDS_OF_PAYERS                                \
    {.name = "overdraft_core_hours",                    \
     .kind = DECODE_CORE_HOURS,                         \
     NODE(set.overdraft_mcs, NODE_FIELD_OVERDRAFT),     \
     .max = LIMIT_COMMAND_MCS,                          \
     .one_of = 1},                                      \
        {.name = "overdraft_mcs",                       \
         .kind = DECODE_MCS,                            \
         NODE(set.overdraft_mcs, NODE_FIELD_OVERDRAFT), \
         .max = LIMIT_COMMAND_MCS,                      \
         .one_of = 1},                                  \
        FIELD_CONTACT
#define FIELD_CONTACT                                                                  \
    {                                                                                  \
        .name = "contact", .kind = DECODE_NAME, NODE(set.contact, NODE_FIELD_CONTACT), \
        .null_is_absent = true                                                         \
    }

static const struct decode_field organization_fields[] = {
    {.name = "parent",
     .kind = DECODE_NODE,
     NODE(parent, NODE_FIELD_PARENT),
     .null_is_absent = true},
    {.name = "funding",
     .kind = DECODE_CHOICE,
     NODE(set.funding, NODE_FIELD_FUNDING),
     .choices = choices_funding},
    {.name = "timezone", .kind = DECODE_NOTE, NODE(set.timezone, NODE_FIELD_TIMEZONE)},
    {.name = "fiscal_year_start",
     .kind = DECODE_INTEGER,
     NODE(set.fiscal_year_start, NODE_FIELD_FISCAL_YEAR_START),
     .min = 1,
     .max = 12},
    {.name = "waived_outcomes",
     .kind = DECODE_OTHER,
     NODE(set.waived_outcomes, NODE_FIELD_WAIVED_OUTCOMES),
     .other = decode_waived_outcomes},
    {.name = "names_visible",
     .kind = DECODE_SWITCH,
     NODE(set.names_visible, NODE_FIELD_NAMES_VISIBLE)},
    FIELDS_OF_PAYERS,
};

static const struct decode_choice choices_project_funding[] = {
    {"parent", FUNDING_PARENT},
    {"self", FUNDING_SELF},
    {NULL, 0},
};

/* null of mode, window_s, on_insufficient and ttl_s leaves them to the cluster: 0 in the struct. */
static const struct decode_field project_fields[] = {
    {.name = "membership",
     .kind = DECODE_CHOICE,
     NODE(set.membership, NODE_FIELD_MEMBERSHIP),
     .choices = choices_membership},
    {.name = "funding",
     .kind = DECODE_CHOICE,
     NODE(set.funding, NODE_FIELD_FUNDING),
     .choices = choices_project_funding},
    {.name = "mode",
     .kind = DECODE_CHOICE,
     NODE(set.mode, NODE_FIELD_MODE),
     .choices = choices_mode,
     .null_is_absent = true},
    {.name = "window_s",
     .kind = DECODE_INTEGER,
     NODE(set.window_s, NODE_FIELD_WINDOW),
     .min = 1,
     .max = LIMIT_TIME_LIMIT_S,
     .null_is_absent = true},
    {.name = "on_insufficient",
     .kind = DECODE_CHOICE,
     NODE(set.on_insufficient, NODE_FIELD_ON_INSUFFICIENT),
     .choices = choices_on_insufficient,
     .null_is_absent = true},
    {.name = "ttl_s",
     .kind = DECODE_INTEGER,
     NODE(set.ttl_s, NODE_FIELD_TTL),
     .min = 1,
     .max = LIMIT_TTL_S,
     .null_is_absent = true},
    FIELDS_OF_PAYERS,
};

static const struct decode_field member_fields[] = {FIELD_CONTACT};

static const struct decode_table organization_rows = {NODE_TABLE(organization_fields)};
static const struct decode_table project_rows = {NODE_TABLE(project_fields)};
static const struct decode_table member_rows = {NODE_TABLE(member_fields)};

#define FIELD_STATE                                                                \
    {                                                                              \
        .name = "state", .kind = DECODE_CHOICE, NODE(set.state, NODE_FIELD_STATE), \
        .choices = choices_node_state                                              \
    }
#define FIELD_ORGANIZATION(must)                                                      \
    {                                                                                 \
        .name = "organization", .kind = DECODE_NODE, NODE(parent, NODE_FIELD_PARENT), \
        .required = (must)                                                            \
    }

static const struct decode_field state_fields[] = {FIELD_STATE};
static const struct decode_field project_put_fields[] = {FIELD_ORGANIZATION(true)};
static const struct decode_field project_patch_fields[] = {FIELD_ORGANIZATION(false), FIELD_STATE};

static const struct decode_table node_put_tables[] = {
    [NODE_ORGANIZATION] = {NODE_TABLE(organization_fields)},
    [NODE_PROJECT] = {NODE_TABLE(project_put_fields), .more = &project_rows},
    [NODE_MEMBER] = {NODE_TABLE(member_fields)},
};

static const struct decode_table node_patch_tables[] = {
    [NODE_ORGANIZATION] = {NODE_TABLE(state_fields), .more = &organization_rows},
    [NODE_PROJECT] = {NODE_TABLE(project_patch_fields), .more = &project_rows},
    [NODE_MEMBER] = {NODE_TABLE(state_fields), .more = &member_rows},
};

enum error_code decode_node(const json_t *body, struct command *command, struct error *err)
{
    const struct decode_table *tables =
        command->kind == COMMAND_PUT_NODE ? node_put_tables : node_patch_tables;
    return decode_object(body, &tables[command->node.kind], command, NULL, err);
}

/* ---- caps */

enum {
    MILLI = 1000,
    CAP_COUNT_MAX = 1000000000, /* GPUs, cores, jobs */
};

#define FIELD_SOFT                                              \
    {                                                           \
        .name = "soft", .kind = DECODE_SWITCH, AT(cap.cap.soft) \
    }

static const struct decode_field cap_amount_fields[] = {
    {.name = "core_hours",
     .kind = DECODE_CORE_HOURS,
     AT(cap.cap.limit),
     .max = LIMIT_COMMAND_MCS,
     .null_is_unlimited = true,
     .one_of = 1},
    {.name = "mcs",
     .kind = DECODE_MCS,
     AT(cap.cap.limit),
     .max = LIMIT_COMMAND_MCS,
     .null_is_unlimited = true,
     .one_of = 1},
    FIELD_SOFT,
};

static const struct decode_field cap_count_fields[] = {
    {.name = "limit",
     .kind = DECODE_INTEGER,
     AT(cap.cap.limit),
     .max = CAP_COUNT_MAX,
     .null_is_unlimited = true,
     .one_of = 1},
    FIELD_SOFT,
};

static const struct decode_field cap_seconds_fields[] = {
    {.name = "limit_s",
     .kind = DECODE_INTEGER,
     AT(cap.cap.limit),
     .max = LIMIT_TIME_LIMIT_S,
     .null_is_unlimited = true,
     .one_of = 1},
    FIELD_SOFT,
};

enum { LIMIT_REQUIRED = 1U << 1 };

static const struct decode_table cap_amount = {ROWS(cap_amount_fields),
                                               .one_of_required = LIMIT_REQUIRED};
static const struct decode_table cap_count = {ROWS(cap_count_fields),
                                              .one_of_required = LIMIT_REQUIRED};
static const struct decode_table cap_seconds = {ROWS(cap_seconds_fields),
                                                .one_of_required = LIMIT_REQUIRED};

/* How the limit of each kind is written, and what turns it into the unit of struct cap. */
static const struct cap_shape {
    const struct decode_table *table;
    int64_t factor;
} cap_shapes[CAP__COUNT] = {
    [CAP_MONTH] = {&cap_amount, 1},       [CAP_QUARTER] = {&cap_amount, 1},
    [CAP_YEAR] = {&cap_amount, 1},        [CAP_TOTAL] = {&cap_amount, 1},
    [CAP_GPUS] = {&cap_count, MILLI},     [CAP_CORES] = {&cap_count, MILLI},
    [CAP_JOBS] = {&cap_count, 1},         [CAP_JOB_CORE_HOURS] = {&cap_amount, 1},
    [CAP_JOB_GPUS] = {&cap_count, MILLI}, [CAP_JOB_DURATION] = {&cap_seconds, 1},
};

enum error_code decode_cap(const json_t *body, struct command *command, struct error *err)
{
    struct cap *cap = &command->cap.cap;
    const struct cap_shape *shape = &cap_shapes[cap->kind];
    assert(shape->table != NULL);
    const enum error_code code = decode_object(body, shape->table, command, NULL, err);
    if (code == ERR_OK && cap->limit != RECORD_UNLIMITED) {
        cap->limit *= shape->factor;
    }
    return code;
}

/* The members of a row that say which cap it is about. */
static const struct decode_field cap_row_fields[] = {
    {.name = "node", .kind = DECODE_IGNORED},
    {.name = "user", .kind = DECODE_IGNORED},
    {.name = "cap", .kind = DECODE_IGNORED},
    {.name = "remove", .kind = DECODE_IGNORED},
};

static const struct decode_table cap_row_names = {ROWS(cap_row_fields)};

static enum error_code decode_cap_limit(const json_t *row,
                                        struct command *command,
                                        struct error *err)
{
    struct cap *cap = &command->cap.cap;
    const struct cap_shape *shape = &cap_shapes[cap->kind];
    struct decode_table table = *shape->table;
    table.more = &cap_row_names;
    const bool removes = decode_cap_row_removes(row);
    const enum error_code code =
        decode_object(row, removes ? &cap_row_names : &table, command, NULL, err);
    if (code == ERR_OK && !removes && cap->limit != RECORD_UNLIMITED) {
        cap->limit *= shape->factor;
    }
    return code;
}

/* A text of a row that must be there. */
static enum error_code row_text_of(const json_t *row,
                                   const char *name,
                                   const char **ret_text,
                                   struct error *err)
{
    const struct decode_path path = {.name = name};
    const json_t *value = json_object_get(row, name);
    if (value == NULL) {
        return decode_refuse(err, ERR_INVALID_FIELD, &path, "required");
    }
    return decode_text(value, &path, ret_text, err);
}

static enum error_code decode_cap_place(const json_t *row,
                                        struct command_cap *cap,
                                        struct error *err)
{
    const char *node = "";
    const char *user = "";
    enum error_code code = row_text_of(row, "node", &node, err);
    if (code == ERR_OK && !text_is_node_name(node)) {
        code = error_set_field(err, ERR_INVALID_FIELD, "node", "not the name of a node");
    }
    if (code != ERR_OK) {
        return code;
    }
    if (json_object_get(row, "user") == NULL) {
        cap->any_kind = true;
        cap->kind = NODE_PROJECT;
        memcpy(cap->node, node, strlen(node) + 1);
        return ERR_OK;
    }
    code = row_text_of(row, "user", &user, err);
    if (code == ERR_OK && !text_is_name(user)) {
        code = error_set_field(err, ERR_INVALID_FIELD, "user", "not the name of a person");
    }
    if (code == ERR_OK) {
        cap->kind = NODE_MEMBER;
        memcpy(cap->project, node, strlen(node) + 1);
        memcpy(cap->node, user, strlen(user) + 1);
    }
    return code;
}

bool decode_cap_row_removes(const json_t *row)
{
    return json_is_true(json_object_get(row, "remove"));
}

const char *decode_cap_limit_name(const char *cap)
{
    struct command_cap named = {.kind = NODE_PROJECT};
    if (!decode_cap_name(cap, &named)) {
        return NULL;
    }
    const struct decode_table *table = cap_shapes[named.cap.kind].table;
    return table->fields[0].name;
}

enum error_code decode_cap_row(const json_t *row, struct command *command, struct error *err)
{
    const char *cap = "";
    if (!json_is_object(row)) {
        return error_set(err, ERR_INVALID_FIELD, "not an object");
    }
    enum error_code code = decode_cap_place(row, &command->cap, err);
    if (code == ERR_OK) {
        code = row_text_of(row, "cap", &cap, err);
    }
    if (code == ERR_OK && !decode_cap_name(cap, &command->cap)) {
        code = error_set_field(err, ERR_INVALID_FIELD, "cap", "\"%.40s\" is no cap", cap);
    }
    return code == ERR_OK ? decode_cap_limit(row, command, err) : code;
}

bool decode_cap_name(const char *name, struct command_cap *cap)
{
    static const char with_model[] = "gpus:";
    const size_t prefix = sizeof(with_model) - 1;
    if (strncmp(name, with_model, prefix) == 0) {
        const char *model = name + prefix;
        if (!text_is_name(model)) {
            return false;
        }
        cap->cap.kind = CAP_GPUS;
        memcpy(cap->model, model, strlen(model) + 1);
        decode_lower_case(cap->model);
        return true;
    }
    for (const struct decode_choice *choice = choices_cap; choice->name != NULL; choice++) {
        if (choice->value != CAP_FUNDS && strcmp(choice->name, name) == 0) {
            cap->cap.kind = choice->value;
            return true;
        }
    }
    return false;
}

/* ---- clusters and mappings */

#define CLUSTER(member, field) AT(cluster_set.member), .given_bit = (field) + 1
#define CLUSTER_TABLE(rows)    ROWS(rows), .given_offset = offsetof(struct command, cluster_set.given)

/* null or none: all roots. */
static enum error_code decode_roots(const json_t *value,
                                    void *place,
                                    const struct decode_path *path,
                                    struct error *err)
{
    /* The row's offset is that of roots[], the count stands before it. */
    struct command_cluster *cluster =
        (struct command_cluster *)(void *)((char *)place - offsetof(struct command_cluster, roots));
    if (!json_is_array(value) || json_array_size(value) > RECORD_CLUSTER_ROOTS) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not an array of at most %d names",
                             RECORD_CLUSTER_ROOTS);
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        const struct decode_path entry = {.outer = path, .index = i};
        const char *root = NULL;
        const enum error_code code = decode_text(json_array_get(value, i), &entry, &root, err);
        if (code != ERR_OK) {
            return code;
        }
        if (!text_is_node_name(root)) {
            return decode_refuse(err, ERR_INVALID_FIELD, &entry, "not the name of a root");
        }
        memcpy(cluster->roots[i], root, strlen(root) + 1);
    }
    cluster->root_count = (int32_t)json_array_size(value);
    return ERR_OK;
}

static const struct decode_field cluster_fields[] = {
    {.name = "roots",
     .kind = DECODE_OTHER,
     CLUSTER(roots, CLUSTER_FIELD_ROOTS),
     .other = decode_roots,
     .null_is_absent = true},
    {.name = "mode",
     .kind = DECODE_CHOICE,
     CLUSTER(set.mode, CLUSTER_FIELD_MODE),
     .choices = choices_mode},
    {.name = "window_s",
     .kind = DECODE_INTEGER,
     CLUSTER(set.window_s, CLUSTER_FIELD_WINDOW),
     .min = 1,
     .max = LIMIT_TIME_LIMIT_S},
    {.name = "on_insufficient",
     .kind = DECODE_CHOICE,
     CLUSTER(set.on_insufficient, CLUSTER_FIELD_ON_INSUFFICIENT),
     .choices = choices_on_insufficient},
    {.name = "on_exhausted",
     .kind = DECODE_CHOICE,
     CLUSTER(set.on_exhausted, CLUSTER_FIELD_ON_EXHAUSTED),
     .choices = choices_on_exhausted},
    {.name = "stop_grace_s",
     .kind = DECODE_INTEGER,
     CLUSTER(set.stop_grace_s, CLUSTER_FIELD_STOP_GRACE),
     .max = LIMIT_TTL_S},
    {.name = "fail_policy",
     .kind = DECODE_CHOICE,
     CLUSTER(set.fail_policy, CLUSTER_FIELD_FAIL_POLICY),
     .choices = choices_fail_policy},
    {.name = "ttl_s",
     .kind = DECODE_INTEGER,
     CLUSTER(set.ttl_s, CLUSTER_FIELD_TTL),
     .min = 1,
     .max = LIMIT_TTL_S},
    {.name = "heartbeat_s",
     .kind = DECODE_INTEGER,
     CLUSTER(set.heartbeat_s, CLUSTER_FIELD_HEARTBEAT),
     .min = 1,
     .max = LIMIT_TTL_S},
    {.name = "stale_after_s",
     .kind = DECODE_INTEGER,
     CLUSTER(set.stale_after_s, CLUSTER_FIELD_STALE_AFTER),
     .min = 1,
     .max = LIMIT_TTL_S},
};

static const struct decode_table cluster_rows = {CLUSTER_TABLE(cluster_fields)};

#define FIELD_CLUSTER_KIND(must)                                                      \
    {                                                                                 \
        .name = "kind", .kind = DECODE_CHOICE, CLUSTER(set.kind, CLUSTER_FIELD_KIND), \
        .choices = choices_cluster_kind, .required = (must)                           \
    }

static const struct decode_field cluster_put_fields[] = {FIELD_CLUSTER_KIND(true)};
static const struct decode_field cluster_patch_fields[] = {
    FIELD_CLUSTER_KIND(false),
    {.name = "state",
     .kind = DECODE_CHOICE,
     CLUSTER(set.state, CLUSTER_FIELD_STATE),
     .choices = choices_node_state},
};

static const struct decode_table cluster_put = {CLUSTER_TABLE(cluster_put_fields),
                                                .more = &cluster_rows};
static const struct decode_table cluster_patch = {CLUSTER_TABLE(cluster_patch_fields),
                                                  .more = &cluster_rows};

enum error_code decode_cluster(const json_t *body, struct command *command, struct error *err)
{
    const bool is_put = command->kind == COMMAND_PUT_CLUSTER;
    return decode_object(body, is_put ? &cluster_put : &cluster_patch, command, NULL, err);
}

static const struct decode_field account_fields[] = {
    {.name = "project", .kind = DECODE_NODE, AT(mapping.target), .required = true},
};

static const struct decode_field user_fields[] = {
    {.name = "person", .kind = DECODE_NAME, AT(mapping.target), .required = true},
};

static const struct decode_table account_table = {ROWS(account_fields)};
static const struct decode_table user_table = {ROWS(user_fields)};

enum error_code decode_mapping(const json_t *body, struct command *command, struct error *err)
{
    const bool is_user = command->mapping.is_user;
    return decode_object(body, is_user ? &user_table : &account_table, command, NULL, err);
}

/* ---- rates */

#define PRICE(member) IN(struct rate_gpu, member)

static const struct decode_field gpu_price_fields[] = {
    {.name = "mcores",
     .kind = DECODE_INTEGER,
     PRICE(mcores),
     .max = LIMIT_RATE_MCORES,
     .required = true},
    {.name = "memory_mib",
     .kind = DECODE_INTEGER,
     PRICE(memory_mib),
     .min = 1,
     .max = LIMIT_MEMORY_MIB,
     .null_is_absent = true},
};

static const struct decode_table gpu_price_table = {ROWS(gpu_price_fields)};

/* One model and its price into the next place of the row. */
static enum error_code decode_gpu_price(const char *model,
                                        const json_t *value,
                                        struct command_rate_row *row,
                                        const struct decode_path *gpus,
                                        struct error *err)
{
    const struct decode_path path = {.outer = gpus, .name = model};
    if (!text_is_name(model) || row->row.gpu_count >= RECORD_RATE_MODELS) {
        return decode_refuse(err, ERR_INVALID_FIELD, &path, "not one of at most %d models",
                             RECORD_RATE_MODELS);
    }
    const int32_t at = row->row.gpu_count++;
    memcpy(row->models[at], model, strlen(model) + 1);
    decode_lower_case(row->models[at]);
    for (int32_t i = 0; i < at; i++) {
        if (strcmp(row->models[i], row->models[at]) == 0) {
            return decode_refuse(err, ERR_INVALID_FIELD, &path,
                                 "given twice, in upper and lower case");
        }
    }
    return decode_object(value, &gpu_price_table, &row->row.gpus[at], &path, err);
}

static enum error_code decode_gpu_prices(const json_t *value,
                                         void *place,
                                         const struct decode_path *path,
                                         struct error *err)
{
    struct command_rate_row *row = place; /* the row's offset is 0 */
    if (!json_is_object(value)) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not an object of prices by model");
    }
    json_t *models = (json_t *)(uintptr_t)value; /* iterators change nothing */
    for (void *at = json_object_iter(models); at != NULL; at = json_object_iter_next(models, at)) {
        const enum error_code code =
            decode_gpu_price(json_object_iter_key(at), json_object_iter_value(at), row, path, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    return ERR_OK;
}

#define RATE(member) IN(struct command_rate_row, row.member)

static const struct decode_field rate_row_fields[] = {
    {.name = "partition", .kind = DECODE_NAME, RATE(partition), .null_is_absent = true},
    {.name = "qos", .kind = DECODE_NAME, RATE(qos), .null_is_absent = true},
    {.name = "permille", .kind = DECODE_INTEGER, RATE(permille), .max = LIMIT_PERMILLE},
    {.name = "core_mcores", .kind = DECODE_INTEGER, RATE(core_mcores), .max = LIMIT_RATE_MCORES},
    {.name = "gib_mcores", .kind = DECODE_INTEGER, RATE(gib_mcores), .max = LIMIT_RATE_MCORES},
    {.name = "gpus", .kind = DECODE_OTHER, .other = decode_gpu_prices},
    {.name = "gpu_default_mcores",
     .kind = DECODE_INTEGER,
     RATE(gpu_default_mcores),
     .max = LIMIT_RATE_MCORES,
     .null_is_absent = true},
};

static const struct decode_table rate_row_table = {ROWS(rate_row_fields)};

static enum error_code decode_rate_rows(const json_t *value,
                                        void *place,
                                        const struct decode_path *path,
                                        struct error *err)
{
    struct command_with_rates *command = place; /* the row's offset is 0 */
    struct command_rates *rates = &command->rates;
    const size_t count = json_is_array(value) ? json_array_size(value) : 0;
    if (count < 1 || count > RECORD_RATE_ROWS) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not an array of 1 to %d rows",
                             RECORD_RATE_ROWS);
    }
    for (size_t i = 0; i < count; i++) {
        const struct decode_path entry = {.outer = path, .index = i};
        struct command_rate_row *row = &rates->rows[i];
        row->row.row = (int64_t)i;
        row->row.permille = MILLI;
        row->row.gpu_default_mcores = -1;
        const enum error_code code =
            decode_object(json_array_get(value, i), &rate_row_table, row, &entry, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    rates->version.row_count = (int32_t)count;
    return ERR_OK;
}

/* "0.12" -> 120000: digits, optionally a point and 1 to 6 digits. False for another form. */
static bool parse_micro(const char *text, int64_t *ret_micro)
{
    int64_t micro = 0;
    int decimals = -1; /* before the point */
    int digits = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '.' && decimals < 0 && digits > 0) {
            decimals = 0;
            continue;
        }
        if (*at < '0' || *at > '9' || ++digits > 15 || decimals >= 6) {
            return false;
        }
        micro = micro * 10 + (*at - '0');
        decimals += decimals >= 0;
    }
    if (digits == 0 || decimals == 0) {
        return false;
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 6; i++) {
        micro *= 10;
    }
    *ret_micro = micro;
    return micro <= INT64_C(1000000000) * 1000000;
}

static enum error_code decode_price(const json_t *value,
                                    void *place,
                                    const struct decode_path *path,
                                    struct error *err)
{
    const char *text = NULL;
    const enum error_code code = decode_text(value, path, &text, err);
    if (code != ERR_OK) {
        return code;
    }
    if (!parse_micro(text, place)) {
        return decode_refuse(err, ERR_INVALID_FIELD, path,
                             "not a decimal text of at most 6 decimals such as \"0.12\"");
    }
    return ERR_OK;
}

static enum error_code decode_currency(const json_t *value,
                                       void *place,
                                       const struct decode_path *path,
                                       struct error *err)
{
    const char *text = NULL;
    const enum error_code code = decode_text(value, path, &text, err);
    if (code != ERR_OK) {
        return code;
    }
    if (strlen(text) != LIMIT_CURRENCY_BYTES ||
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != LIMIT_CURRENCY_BYTES) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not three capital letters");
    }
    memcpy(place, text, LIMIT_CURRENCY_BYTES + 1);
    return ERR_OK;
}

#define VERSION(member) IN(struct command_with_rates, rates.version.member)

static const struct decode_field rates_fields[] = {
    {.name = "effective_from", .kind = DECODE_TIME, VERSION(effective_from_s), .required = true},
    {.name = "combine", .kind = DECODE_CHOICE, VERSION(combine), .choices = choices_combine},
    {.name = "price_per_core_hour",
     .kind = DECODE_OTHER,
     VERSION(price_micro),
     .other = decode_price,
     .null_is_absent = true},
    {.name = "currency",
     .kind = DECODE_OTHER,
     VERSION(currency),
     .other = decode_currency,
     .null_is_absent = true},
    {.name = "rows", .kind = DECODE_OTHER, .required = true, .other = decode_rate_rows},
};

static const struct decode_table rates_table = {ROWS(rates_fields)};

enum error_code decode_rates(const json_t *body, struct command *command, struct error *err)
{
    struct command_with_rates *with_rates = (struct command_with_rates *)(void *)command;
    struct rate_version *version = &with_rates->rates.version;
    version->price_micro = -1;
    const enum error_code code = decode_object(body, &rates_table, with_rates, NULL, err);
    if (code != ERR_OK) {
        return code;
    }
    if (version->price_micro >= 0 && version->currency[0] == '\0') {
        return error_set_field(err, ERR_INVALID_FIELD, "currency", "required with a price");
    }
    return ERR_OK;
}

/* ---- tokens */

static const struct decode_field token_fields[] = {
    {.name = "name", .kind = DECODE_NAME, AT(token.token.name), .required = true},
    {.name = "role",
     .kind = DECODE_CHOICE,
     AT(token.token.role),
     .choices = choices_role,
     .required = true},
    {.name = "place", .kind = DECODE_NAME, AT(token.token.place), .null_is_absent = true},
    {.name = "expires_at", .kind = DECODE_TIME, AT(token.token.expires_s), .null_is_absent = true},
};

static const struct decode_table token_table = {ROWS(token_fields)};

static const struct decode_field rename_fields[] = {
    {.name = "name", .kind = DECODE_ID, AT(rename.to), .required = true},
    {.name = "reason", .kind = DECODE_NOTE, AT(rename.reason), .required = true},
};

static const struct decode_table rename_table = {ROWS(rename_fields)};

enum error_code decode_rename(const json_t *body, struct command *command, struct error *err)
{
    return decode_object(body, &rename_table, command, NULL, err);
}

static const struct decode_field rotation_fields[] = {
    {.name = "old_valid_s",
     .kind = DECODE_INTEGER,
     AT(token.old_valid_s),
     .max = LIMIT_OLD_TOKEN_S},
};

static const struct decode_table rotation_table = {ROWS(rotation_fields)};

enum error_code decode_rotation(const json_t *body, struct command *command, struct error *err)
{
    return decode_object(body, &rotation_table, command, NULL, err);
}

enum error_code decode_token(const json_t *body, struct command *command, struct error *err)
{
    return decode_object(body, &token_table, command, NULL, err);
}
