/* The one interpreter of field tables. It knows kinds of members, no command. */
#include "server/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/base/limits.h"
#include "ledger/base/text.h"
#include "ledger/core/record.h"

/* Rows of a table with its `more` at most: they are marked in one word. */
enum { ROWS_MAX = 64 };

static void format_path(const struct decode_path *path, char *text, size_t text_bytes)
{
    if (path == NULL) {
        text[0] = '\0';
        return;
    }
    format_path(path->outer, text, text_bytes);
    const size_t used = strlen(text);
    const char *dot = used > 0 ? "." : "";
    if (path->name != NULL) {
        const bool printable = text_is_printable(path->name, strlen(path->name));
        (void)snprintf(text + used, text_bytes - used, "%s%s", dot, printable ? path->name : "?");
    } else {
        (void)snprintf(text + used, text_bytes - used, "%s%zu", dot, path->index);
    }
}

enum error_code decode_refuse(struct error *err,
                              enum error_code code,
                              const struct decode_path *path,
                              const char *format,
                              ...)
{
    char field[LIMIT_ERROR_FIELD_BYTES + 1];
    char detail[LIMIT_ERROR_DETAIL_BYTES + 1];
    format_path(path, field, sizeof(field));
    va_list args;
    va_start(args, format);
    (void)vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    return error_set_field(err, code, field, "%s", detail);
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a number with a point or an exponent";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a switch";
    case JSON_NULL:
        return "null";
    }
    return "";
}

static enum error_code refuse_type(const json_t *value,
                                   const char *wanted,
                                   const struct decode_path *path,
                                   struct error *err)
{
    return decode_refuse(err, ERR_INVALID_FIELD, path, "%s where %s is expected", type_name(value),
                         wanted);
}

enum error_code decode_text(const json_t *value,
                            const struct decode_path *path,
                            const char **ret_text,
                            struct error *err)
{
    if (!json_is_string(value)) {
        return refuse_type(value, "a text", path, err);
    }
    *ret_text = json_string_value(value);
    return ERR_OK;
}

enum error_code decode_integer(const json_t *value,
                               int64_t min,
                               int64_t max,
                               const struct decode_path *path,
                               int64_t *ret_value,
                               struct error *err)
{
    if (!json_is_integer(value)) {
        return refuse_type(value, "an integer", path, err);
    }
    const int64_t number = json_integer_value(value);
    if (number < min || number > max) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "%lld is not within %lld and %lld",
                             (long long)number, (long long)min, (long long)max);
    }
    *ret_value = number;
    return ERR_OK;
}

const char *decode_choice_name(const struct decode_choice *choices, int value)
{
    for (; choices->name != NULL; choices++) {
        if (choices->value == value) {
            return choices->name;
        }
    }
    return NULL;
}

static enum error_code refuse_choice(const char *text,
                                     const struct decode_choice *choices,
                                     const struct decode_path *path,
                                     struct error *err)
{
    char list[160] = "";
    for (; choices->name != NULL; choices++) {
        const size_t used = strlen(list);
        (void)snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "",
                       choices->name);
    }
    return decode_refuse(err, ERR_INVALID_FIELD, path, "\"%.40s\" is none of %s", text, list);
}

enum error_code decode_choice(const json_t *value,
                              const struct decode_choice *choices,
                              const struct decode_path *path,
                              int *ret_value,
                              struct error *err)
{
    const char *text = "";
    const enum error_code code = decode_text(value, path, &text, err);
    if (code != ERR_OK) {
        return code;
    }
    for (const struct decode_choice *choice = choices; choice->name != NULL; choice++) {
        if (strcmp(choice->name, text) == 0) {
            *ret_value = choice->value;
            return ERR_OK;
        }
    }
    return refuse_choice(text, choices, path, err);
}

/* ---- rows */

typedef enum error_code (*kind_fn)(const json_t *value,
                                   const struct decode_field *field,
                                   void *place,
                                   const struct decode_path *path,
                                   struct error *err);

static bool text_is_note(const char *text)
{
    return text_is_printable(text, strlen(text));
}

/* The forms of texts and how a refusal puts them. */
static const struct text_form {
    bool (*is_of_form)(const char *text);
    const char *form;
} text_forms[] = {
    [DECODE_NAME] = {text_is_name, "1 to 128 bytes of UTF-8 without control characters"},
    [DECODE_NOTE] = {text_is_note, "UTF-8 without control characters"},
    [DECODE_ID] = {text_is_id, "an id: a letter or digit, then up to 63 of A-Za-z0-9._:-"},
    [DECODE_NODE] = {text_is_node_name,
                     "a name: a lower-case letter or digit, then up to 62 of a-z0-9._-"},
};

static enum error_code decode_kind_text(const json_t *value,
                                        const struct decode_field *field,
                                        void *place,
                                        const struct decode_path *path,
                                        struct error *err)
{
    const char *text = "";
    const enum error_code code = decode_text(value, path, &text, err);
    if (code != ERR_OK) {
        return code;
    }
    const size_t bytes = strlen(text);
    if (bytes >= field->size) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "%zu bytes are more than %zu", bytes,
                             field->size - 1);
    }
    const struct text_form *form = &text_forms[field->kind];
    if (!form->is_of_form(text)) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not %s", form->form);
    }
    memcpy(place, text, bytes + 1);
    return ERR_OK;
}

static void store_integer(int64_t value, size_t size, void *place)
{
    if (size == sizeof(int32_t)) {
        *(int32_t *)place = (int32_t)value;
    } else if (size == sizeof(bool)) {
        *(bool *)place = value != 0;
    } else {
        *(int64_t *)place = value;
    }
}

static enum error_code decode_kind_integer(const json_t *value,
                                           const struct decode_field *field,
                                           void *place,
                                           const struct decode_path *path,
                                           struct error *err)
{
    int64_t number = 0;
    const enum error_code code = decode_integer(value, field->min, field->max, path, &number, err);
    if (code != ERR_OK) {
        const bool is_over = json_is_integer(value) && json_integer_value(value) > field->max;
        if (is_over && field->too_many != ERR_OK) {
            err->code = field->too_many;
            return field->too_many;
        }
        return code;
    }
    store_integer(number, field->size, place);
    return ERR_OK;
}

static enum error_code decode_kind_switch(const json_t *value,
                                          const struct decode_field *field,
                                          void *place,
                                          const struct decode_path *path,
                                          struct error *err)
{
    if (!json_is_boolean(value)) {
        return refuse_type(value, "true or false", path, err);
    }
    store_integer(json_is_true(value), field->size, place);
    return ERR_OK;
}

static enum error_code decode_kind_time(const json_t *value,
                                        const struct decode_field *field,
                                        void *place,
                                        const struct decode_path *path,
                                        struct error *err)
{
    (void)field;
    const char *text = "";
    const enum error_code code = decode_text(value, path, &text, err);
    if (code != ERR_OK) {
        return code;
    }
    int64_t time_s = 0;
    struct error why;
    if (text_parse_time(text, &time_s, &why) != ERR_OK) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "%s", why.detail);
    }
    if (time_s == 0) {
        return decode_refuse(err, ERR_INVALID_FIELD, path,
                             "the first second of 1970 means unknown");
    }
    store_integer(time_s, sizeof(int64_t), place);
    return ERR_OK;
}

static enum error_code decode_kind_choice(const json_t *value,
                                          const struct decode_field *field,
                                          void *place,
                                          const struct decode_path *path,
                                          struct error *err)
{
    int choice = 0;
    const enum error_code code = decode_choice(value, field->choices, path, &choice, err);
    if (code == ERR_OK) {
        store_integer(choice, sizeof(int32_t), place);
    }
    return code;
}

static enum error_code decode_kind_mcs(const json_t *value,
                                       const struct decode_field *field,
                                       void *place,
                                       const struct decode_path *path,
                                       struct error *err)
{
    int64_t mcs = 0;
    const enum error_code code = decode_integer(value, field->min, field->max, path, &mcs, err);
    if (code == ERR_OK) {
        store_integer(mcs, sizeof(int64_t), place);
    }
    return code;
}

/* Core-hours as an integer or a decimal text: exact either way (SPEC 1.3). */
static enum error_code parse_core_hours(const json_t *value,
                                        const struct decode_path *path,
                                        struct amount *ret_amount,
                                        struct error *err)
{
    if (json_is_integer(value)) {
        const int64_t hours = json_integer_value(value);
        const struct amount hour = amount_from_mcs(AMOUNT_MCS_PER_CORE_HOUR);
        if (hours < 0 || !amount_mul(hour, hours, ret_amount)) {
            return decode_refuse(err, ERR_INVALID_FIELD, path, "%lld core-hours are out of range",
                                 (long long)hours);
        }
        return ERR_OK;
    }
    if (!json_is_string(value)) {
        return refuse_type(value, "an integer or a decimal text such as \"1.5\"", path, err);
    }
    struct error why;
    if (amount_from_core_hours_text(json_string_value(value), ret_amount, &why) != ERR_OK) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "%s", why.detail);
    }
    return ERR_OK;
}

static enum error_code decode_kind_core_hours(const json_t *value,
                                              const struct decode_field *field,
                                              void *place,
                                              const struct decode_path *path,
                                              struct error *err)
{
    struct amount amount = AMOUNT_ZERO;
    const enum error_code code = parse_core_hours(value, path, &amount, err);
    if (code != ERR_OK) {
        return code;
    }
    if (amount.mcs < field->min || amount.mcs > field->max) {
        return decode_refuse(err, ERR_INVALID_FIELD, path,
                             "%lld mcs are out of range: %lld to %lld", (long long)amount.mcs,
                             (long long)field->min, (long long)field->max);
    }
    store_integer(amount.mcs, sizeof(int64_t), place);
    return ERR_OK;
}

static enum error_code decode_kind_choices(const json_t *value,
                                           const struct decode_field *field,
                                           void *place,
                                           const struct decode_path *path,
                                           struct error *err)
{
    if (!json_is_array(value)) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not an array");
    }
    int64_t set = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const struct decode_path entry = {.outer = path, .index = i};
        int choice = 0;
        const enum error_code code =
            decode_choice(json_array_get(value, i), field->choices, &entry, &choice, err);
        if (code != ERR_OK) {
            return code;
        }
        set |= INT64_C(1) << choice;
    }
    store_integer(set, sizeof(int64_t), place);
    return ERR_OK;
}

static enum error_code decode_kind_object(const json_t *value,
                                          const struct decode_field *field,
                                          void *place,
                                          const struct decode_path *path,
                                          struct error *err)
{
    return decode_object(value, field->table, place, path, err);
}

static enum error_code decode_kind_other(const json_t *value,
                                         const struct decode_field *field,
                                         void *place,
                                         const struct decode_path *path,
                                         struct error *err)
{
    return field->other(value, place, path, err);
}

static enum error_code decode_kind_ignored(const json_t *value,
                                           const struct decode_field *field,
                                           void *place,
                                           const struct decode_path *path,
                                           struct error *err)
{
    (void)value, (void)field, (void)place, (void)path, (void)err;
    return ERR_OK;
}

static const kind_fn kinds[] = {
    [DECODE_NAME] = decode_kind_text,
    [DECODE_NOTE] = decode_kind_text,
    [DECODE_ID] = decode_kind_text,
    [DECODE_NODE] = decode_kind_text,
    [DECODE_INTEGER] = decode_kind_integer,
    [DECODE_SWITCH] = decode_kind_switch,
    [DECODE_TIME] = decode_kind_time,
    [DECODE_CHOICE] = decode_kind_choice,
    [DECODE_CHOICES] = decode_kind_choices,
    [DECODE_MCS] = decode_kind_mcs,
    [DECODE_CORE_HOURS] = decode_kind_core_hours,
    [DECODE_OBJECT] = decode_kind_object,
    [DECODE_OTHER] = decode_kind_other,
    [DECODE_IGNORED] = decode_kind_ignored,
};

/* ---- objects */

/* One object being decoded. rows: bit i for row i, counted through the tables; groups: bit n for one_of n. */
struct object {
    const struct decode_table *table;
    char *place;
    const struct decode_path *path;
    uint64_t rows;
    uint64_t groups;
};

/* A row, its number and the table that it stands in. */
struct found {
    const struct decode_field *field;
    const struct decode_table *table;
    size_t row;
};

static bool find_field(const struct decode_table *table, const char *name, struct found *ret_found)
{
    size_t row = 0;
    for (; table != NULL; table = table->more) {
        for (size_t i = 0; i < table->count; i++, row++) {
            const struct decode_field *field = &table->fields[i];
            if (field->name[0] == name[0] && strcmp(field->name, name) == 0) {
                *ret_found = (struct found){.field = field, .table = table, .row = row};
                assert(row < ROWS_MAX);
                return true;
            }
        }
    }
    return false;
}

static uint64_t group_bit(const struct decode_field *field)
{
    return field->one_of > 0 ? UINT64_C(1) << field->one_of : 0;
}

static void mark_given(struct object *object, const struct found *found)
{
    const struct decode_field *field = found->field;
    object->rows |= UINT64_C(1) << found->row;
    object->groups |= group_bit(field);
    if (field->given_offset != 0) {
        *(bool *)(void *)(object->place + field->given_offset) = true;
    }
    if (field->given_bit != 0) {
        uint32_t *given = (uint32_t *)(void *)(object->place + found->table->given_offset);
        *given |= UINT32_C(1) << (field->given_bit - 1);
    }
}

/* null: unlimited, absent ("none" where a patch can take a value away), or else for the row's kind to refuse. */
static bool take_null(struct object *object, const struct found *found)
{
    const struct decode_field *field = found->field;
    if (field->null_is_unlimited) {
        store_integer(RECORD_UNLIMITED, sizeof(int64_t), object->place + field->offset);
        mark_given(object, found);
        return true;
    }
    if (field->null_is_absent && field->given_bit != 0) {
        mark_given(object, found);
    }
    return field->null_is_absent;
}

static enum error_code decode_member(struct object *object,
                                     const char *name,
                                     const json_t *value,
                                     struct error *err)
{
    const struct decode_path path = {.outer = object->path, .name = name};
    struct found found;
    if (!find_field(object->table, name, &found)) {
        return decode_refuse(err, ERR_INVALID_FIELD, &path, "unknown field");
    }
    if ((object->groups & group_bit(found.field)) != 0) {
        return decode_refuse(err, ERR_INVALID_FIELD, &path, "given twice, in two units");
    }
    if (json_is_null(value) && take_null(object, &found)) {
        return ERR_OK;
    }
    const struct decode_field *field = found.field;
    const enum error_code code =
        kinds[field->kind](value, field, object->place + field->offset, &path, err);
    if (code == ERR_OK) {
        mark_given(object, &found);
    }
    return code;
}

static enum error_code refuse_missing(const struct object *object,
                                      const struct decode_field *field,
                                      struct error *err)
{
    const struct decode_path path = {.outer = object->path, .name = field->name};
    return decode_refuse(err, ERR_INVALID_FIELD, &path, "required");
}

/* A row that had to be given and was not; for a group its first row stands. */
static bool is_missing(const struct object *object,
                       const struct decode_table *table,
                       const struct decode_field *field,
                       size_t row)
{
    const uint64_t group = group_bit(field);
    return (field->required && (object->rows & UINT64_C(1) << row) == 0) ||
           ((table->one_of_required & group) != 0 && (object->groups & group) == 0);
}

static enum error_code check_required(const struct object *object, struct error *err)
{
    size_t row = 0;
    for (const struct decode_table *table = object->table; table != NULL; table = table->more) {
        for (size_t i = 0; i < table->count; i++, row++) {
            if (is_missing(object, table, &table->fields[i], row)) {
                return refuse_missing(object, &table->fields[i], err);
            }
        }
    }
    return ERR_OK;
}

enum error_code decode_object(const json_t *value,
                              const struct decode_table *table,
                              void *place,
                              const struct decode_path *path,
                              struct error *err)
{
    if (!json_is_object(value)) {
        return refuse_type(value, "an object", path, err);
    }
    struct object object = {.table = table, .place = place, .path = path};
    /* jansson's iterators take a pointer to non-const, and change nothing. */
    json_t *members = (json_t *)(uintptr_t)value;
    for (void *at = json_object_iter(members); at != NULL;
         at = json_object_iter_next(members, at)) {
        const enum error_code code =
            decode_member(&object, json_object_iter_key(at), json_object_iter_value(at), err);
        if (code != ERR_OK) {
            return code;
        }
    }
    return check_required(&object, err);
}
