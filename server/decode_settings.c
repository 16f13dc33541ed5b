/* The field tables of settings. A put and its patch share their rows; each has a table of its own in front. */
#include "server/decode_settings.h"

#include <string.h>

#include "ledger/base/text.h"
#include "server/decode_shapes.h"

/* ---- nodes */

#define NODE(member, field) DECODE_AT(struct command, node.member), .given_bit = (field) + 1
#define NODE_TABLE(rows)    DECODE_ROWS(rows), .given_offset = offsetof(struct command, node.given)

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
     .kind = DECODE_CHOICES,
     NODE(set.waived_outcomes, NODE_FIELD_WAIVED_OUTCOMES),
     .choices = choices_outcome},
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

/* ---- clusters and mappings */

#define CLUSTER(member, field) \
    DECODE_AT(struct command, cluster_set.member), .given_bit = (field) + 1
#define CLUSTER_TABLE(rows) \
    DECODE_ROWS(rows), .given_offset = offsetof(struct command, cluster_set.given)

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
    {.name = "project",
     .kind = DECODE_NODE,
     DECODE_AT(struct command, mapping.target),
     .required = true},
};

static const struct decode_field user_fields[] = {
    {.name = "person",
     .kind = DECODE_NAME,
     DECODE_AT(struct command, mapping.target),
     .required = true},
};

static const struct decode_table account_table = {DECODE_ROWS(account_fields)};
static const struct decode_table user_table = {DECODE_ROWS(user_fields)};

enum error_code decode_mapping(const json_t *body, struct command *command, struct error *err)
{
    const bool is_user = command->mapping.is_user;
    return decode_object(body, is_user ? &user_table : &account_table, command, NULL, err);
}

/* ---- tokens */

static const struct decode_field token_fields[] = {
    {.name = "name",
     .kind = DECODE_NAME,
     DECODE_AT(struct command, token.token.name),
     .required = true},
    {.name = "role",
     .kind = DECODE_CHOICE,
     DECODE_AT(struct command, token.token.role),
     .choices = choices_role,
     .required = true},
    {.name = "place",
     .kind = DECODE_NAME,
     DECODE_AT(struct command, token.token.place),
     .null_is_absent = true},
    {.name = "expires_at",
     .kind = DECODE_TIME,
     DECODE_AT(struct command, token.token.expires_s),
     .null_is_absent = true},
};

static const struct decode_table token_table = {DECODE_ROWS(token_fields)};

static const struct decode_field rename_fields[] = {
    {.name = "name", .kind = DECODE_ID, DECODE_AT(struct command, rename.to), .required = true},
    {.name = "reason",
     .kind = DECODE_NOTE,
     DECODE_AT(struct command, rename.reason),
     .required = true},
};

static const struct decode_table rename_table = {DECODE_ROWS(rename_fields)};

enum error_code decode_rename(const json_t *body, struct command *command, struct error *err)
{
    return decode_object(body, &rename_table, command, NULL, err);
}

static const struct decode_field rotation_fields[] = {
    {.name = "old_valid_s",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command, token.old_valid_s),
     .max = LIMIT_OLD_TOKEN_S},
};

static const struct decode_table rotation_table = {DECODE_ROWS(rotation_fields)};

enum error_code decode_rotation(const json_t *body, struct command *command, struct error *err)
{
    return decode_object(body, &rotation_table, command, NULL, err);
}

enum error_code decode_token(const json_t *body, struct command *command, struct error *err)
{
    return decode_object(body, &token_table, command, NULL, err);
}
