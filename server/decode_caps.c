/* The field tables of caps: how each kind's limit is written, and rows that bring their place and kind with them. */
#include "server/decode_caps.h"

#include <string.h>

#include "ledger/base/text.h"
#include "server/decode_shapes.h"

enum {
    MILLI = 1000,               /* of a GPU or a core */
    CAP_COUNT_MAX = 1000000000, /* GPUs, cores, jobs */
};

#define FIELD_SOFT                                                                     \
    {                                                                                  \
        .name = "soft", .kind = DECODE_SWITCH, DECODE_AT(struct command, cap.cap.soft) \
    }

static const struct decode_field cap_amount_fields[] = {
    {.name = "core_hours",
     .kind = DECODE_CORE_HOURS,
     DECODE_AT(struct command, cap.cap.limit),
     .max = LIMIT_COMMAND_MCS,
     .null_is_unlimited = true,
     .one_of = 1},
    {.name = "mcs",
     .kind = DECODE_MCS,
     DECODE_AT(struct command, cap.cap.limit),
     .max = LIMIT_COMMAND_MCS,
     .null_is_unlimited = true,
     .one_of = 1},
    FIELD_SOFT,
};

static const struct decode_field cap_count_fields[] = {
    {.name = "limit",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command, cap.cap.limit),
     .max = CAP_COUNT_MAX,
     .null_is_unlimited = true,
     .one_of = 1},
    FIELD_SOFT,
};

static const struct decode_field cap_seconds_fields[] = {
    {.name = "limit_s",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command, cap.cap.limit),
     .max = LIMIT_TIME_LIMIT_S,
     .null_is_unlimited = true,
     .one_of = 1},
    FIELD_SOFT,
};

enum { LIMIT_REQUIRED = 1U << 1 };

static const struct decode_table cap_amount = {DECODE_ROWS(cap_amount_fields),
                                               .one_of_required = LIMIT_REQUIRED};
static const struct decode_table cap_count = {DECODE_ROWS(cap_count_fields),
                                              .one_of_required = LIMIT_REQUIRED};
static const struct decode_table cap_seconds = {DECODE_ROWS(cap_seconds_fields),
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

static const struct decode_table cap_row_names = {DECODE_ROWS(cap_row_fields)};

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
