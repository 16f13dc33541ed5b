/*
 * PUT /v1/caps: many caps at once, all or nothing, as CSV or as a JSON array (SPEC 4.5).
 *
 * Every row is a command of its own within one atomic work, so that each sees those before it. Rows are decoded
 * and answered on the bulk thread. A wrong row is told by its line and column; then nothing is changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ledger/base/cleanup.h"
#include "server/api.h"
#include "server/bulk.h"
#include "server/csv_in.h"
#include "server/decode_caps.h"
#include "server/encode_settings.h"
#include "server/json_in.h"
#include "server/problem.h"

enum {
    ROWS_TOLD =
        100, /* wrong rows, and caps that are over, in the answer: it says how many there are */
    TOLD_BYTES = 256 * 1024,
};

/* The columns of a CSV, in any order. */
enum column { COLUMN_NODE, COLUMN_USER, COLUMN_CAP, COLUMN_LIMIT, COLUMN_SOFT, COLUMN__COUNT };

static const char *const column_names[COLUMN__COUNT] = {"node", "user", "cap", "limit", "soft"};

struct caps_source {
    struct bulk_source bulk; /* first */
    bool is_csv;
    enum if_match if_match;
    struct csv_in csv;
    struct csv_record record;
    int places[COLUMN__COUNT]; /* of the columns in a record; -1: not there */
    json_t *rows;              /* of a JSON array; owned, made and freed on the bulk thread */
    json_t *seen;              /* "node/user/cap" of the rows so far */
    int64_t index;
    int64_t told;
    int64_t wrong;
    struct error first; /* of the wrong ones */
    struct buffer errors;
    struct json_out errors_out;
    int64_t created;
    int64_t changed;
    int64_t unchanged;
    int64_t removed;
    int64_t over_count;
    struct buffer over;
    struct json_out over_out;
    struct ledger_cap_effect started;
};

/* ---- rows of a CSV */

static int column_of(const char *name)
{
    for (int i = 0; i < COLUMN__COUNT; i++) {
        if (strcasecmp(column_names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

/* The first record names the columns. */
static enum error_code read_header(struct caps_source *source, struct error *err)
{
    struct csv_record *record = &source->record;
    for (int i = 0; i < COLUMN__COUNT; i++) {
        source->places[i] = -1;
    }
    bool found = false;
    enum error_code code = csv_in_next(&source->csv, record, &found, err);
    for (size_t i = 0; code == ERR_OK && i < record->count; i++) {
        const int column = column_of(record->fields[i]);
        if (column < 0 || source->places[column] >= 0) {
            return error_set_field(err, ERR_INVALID_FIELD, record->fields[i],
                                   column < 0 ? "no such column: node, user, cap, limit, soft"
                                              : "this column is there twice");
        }
        source->places[column] = (int)i;
    }
    for (int i = 0; code == ERR_OK && i < COLUMN__COUNT; i++) {
        const bool must = i == COLUMN_NODE || i == COLUMN_CAP || i == COLUMN_LIMIT;
        if (must && source->places[i] < 0) {
            code = error_set_field(err, ERR_INVALID_FIELD, column_names[i],
                                   "the first line names the columns; this one is missing");
        }
    }
    return code;
}

/* A field of the record, "" where the column is not there. */
static const char *field_of(const struct caps_source *source, enum column column)
{
    const int place = source->places[column];
    return place >= 0 && (size_t)place < source->record.count ? source->record.fields[place] : "";
}

/* A whole number of at most 18 digits, or NULL. */
static json_t *integer_create(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 18 || text[digits] != '\0') {
        return NULL;
    }
    return json_integer(strtoll(text, NULL, 10));
}

/* The limit as the member that its cap takes. An empty one is a mistake: null and 0 are both said (SPEC 1.5). */
static enum error_code add_limit(const struct caps_source *source, json_t *row, struct error *err)
{
    const char *text = field_of(source, COLUMN_LIMIT);
    const char *name = decode_cap_limit_name(field_of(source, COLUMN_CAP));
    if (strcmp(text, "remove") == 0) {
        (void)json_object_set_new(row, "remove", json_true());
        return ERR_OK;
    }
    if (text[0] == '\0') {
        return error_set_field(err, ERR_INVALID_FIELD, "limit",
                               "empty: a limit, unlimited, or remove");
    }
    json_t *value = strcmp(text, "unlimited") == 0                    ? json_null()
                    : name != NULL && strcmp(name, "core_hours") == 0 ? json_string(text)
                                                                      : integer_create(text);
    if (value == NULL) {
        return error_set_field(err, ERR_INVALID_FIELD, "limit", "not a whole number");
    }
    (void)json_object_set_new(row, name != NULL ? name : "limit", value);
    return ERR_OK;
}

static enum error_code add_soft(const struct caps_source *source, json_t *row, struct error *err)
{
    static const char *const yes[] = {"true", "yes", "1", "soft"};
    static const char *const no[] = {"", "false", "no", "0", "hard"};
    const char *text = field_of(source, COLUMN_SOFT);
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        if (strcasecmp(text, yes[i]) == 0) {
            (void)json_object_set_new(row, "soft", json_true());
            return ERR_OK;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(no); i++) {
        if (strcasecmp(text, no[i]) == 0) {
            return ERR_OK;
        }
    }
    return error_set_field(err, ERR_INVALID_FIELD, "soft", "neither true nor false");
}

/* A record as the object that JSON would bring. */
static enum error_code row_of_record(struct caps_source *source,
                                     json_t **ret_row,
                                     struct error *err)
{
    CLEANUP(json_in_decref) json_t *row = json_object();
    if (source->record.count > COLUMN__COUNT) {
        return error_set(err, ERR_INVALID_FIELD, "more fields than there are columns");
    }
    (void)json_object_set_new(row, "node", json_string(field_of(source, COLUMN_NODE)));
    (void)json_object_set_new(row, "cap", json_string(field_of(source, COLUMN_CAP)));
    const char *user = field_of(source, COLUMN_USER);
    if (user[0] != '\0') {
        (void)json_object_set_new(row, "user", json_string(user));
    }
    enum error_code code = add_soft(source, row, err);
    if (code == ERR_OK) {
        code = add_limit(source, row, err);
    }
    if (code == ERR_OK) {
        *ret_row = json_incref(row);
    }
    return code;
}

/* ---- any row */

/* Text of a member, "" when it has none. */
static const char *text_in(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text != NULL ? text : "";
}

/* One cap in two rows is a mistake: which of them would count? */
static enum error_code see_row(struct caps_source *source,
                               const json_t *row,
                               int64_t line,
                               struct error *err)
{
    char key[3 * RECORD_NAME_BYTES + 3];
    (void)snprintf(key, sizeof(key), "%.128s/%.128s/%.128s", text_in(row, "node"),
                   text_in(row, "user"), text_in(row, "cap"));
    const json_t *before = json_object_get(source->seen, key);
    if (before != NULL) {
        return error_set(err, ERR_INVALID_FIELD, "line %lld is about this cap already",
                         (long long)json_integer_value(before));
    }
    return json_object_set_new(source->seen, key, json_integer(line)) == 0
               ? ERR_OK
               : error_set(err, ERR_UNAVAILABLE, "out of memory");
}

static void make_line(struct caps_source *source,
                      struct bulk *bulk,
                      const json_t *row,
                      struct bulk_line *line)
{
    const struct route *route;
    const enum command_kind kind =
        decode_cap_row_removes(row) ? COMMAND_DELETE_CAP : COMMAND_PUT_CAP;
    enum error_code code = see_row(source, row, line->number, &line->error);
    if (code == ERR_OK) {
        code = bulk_find_route(source->bulk.request, kind, &route, &line->error);
    }
    if (code == ERR_OK) {
        struct command *command = bulk_command(bulk, &source->bulk, line, route);
        command->if_match = source->if_match;
        code = decode_cap_row(row, command, &line->error);
    }
    if (code != ERR_OK) {
        line->command = NULL;
    }
}

static bool next_record(struct caps_source *source, struct bulk *bulk, struct bulk_line *line)
{
    bool found = false;
    CLEANUP(json_in_decref) json_t *row = NULL;
    enum error_code code = csv_in_next(&source->csv, &source->record, &found, &line->error);
    line->number = source->record.line;
    if (!found) {
        return false;
    }
    if (code == ERR_OK) {
        code = row_of_record(source, &row, &line->error);
    }
    if (code == ERR_OK) {
        make_line(source, bulk, row, line);
    }
    return true;
}

static bool next_row(struct bulk_source *bulk_source, struct bulk *bulk, struct bulk_line *line)
{
    struct caps_source *source = (struct caps_source *)(void *)bulk_source;
    if (bulk_source->failure.code != ERR_OK) {
        return false;
    }
    if (source->is_csv) {
        return next_record(source, bulk, line);
    }
    const json_t *row = json_array_get(source->rows, (size_t)source->index);
    if (row == NULL) {
        return false;
    }
    line->number = ++source->index;
    make_line(source, bulk, row, line);
    return true;
}

/* ---- before the first row */

static enum error_code count_records(const struct caps_source *source,
                                     size_t *ret_count,
                                     struct error *err)
{
    struct csv_in csv = source->csv;
    CLEANUP(cleanup_free) struct csv_record *record = malloc(sizeof(*record));
    if (record == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    bool found = true;
    *ret_count = 0;
    while (found) {
        struct error later; /* told when the row is read */
        const bool is_wrong = csv_in_next(&csv, record, &found, &later) != ERR_OK;
        *ret_count += is_wrong || found;
    }
    return ERR_OK;
}

static enum error_code read_body(struct caps_source *source, size_t *ret_count, struct error *err)
{
    const struct request *request = source->bulk.request;
    if (source->is_csv) {
        csv_in_init(&source->csv, request->body, request->body_bytes);
        const enum error_code code = read_header(source, err);
        return code == ERR_OK ? count_records(source, ret_count, err) : code;
    }
    const enum error_code code = request_parse_body(request, &source->rows, err);
    if (code == ERR_OK && !json_is_array(source->rows)) {
        return error_set(err, ERR_INVALID_FIELD, "not an array of caps");
    }
    *ret_count = json_array_size(source->rows);
    return code;
}

static void caps_begin(struct bulk_source *bulk_source, struct json_out *out)
{
    struct caps_source *source = (struct caps_source *)(void *)bulk_source;
    struct error *failure = &bulk_source->failure;
    size_t count = 0;
    (void)out;
    source->seen = json_object();
    enum error_code code = read_body(source, &count, failure);
    if (code == ERR_OK && count > LIMIT_BATCH_LINES) {
        code = error_set(failure, ERR_TOO_MANY_LINES, "%zu rows are more than %d", count,
                         LIMIT_BATCH_LINES);
    }
    bulk_source->lines = code == ERR_OK ? count : 0;
}

/* ---- what became of the rows */

/* Where the fault lies. A CSV has one column for each kind of limit; a name that leads nowhere is the node's. */
static const char *column_at_fault(const struct caps_source *source, const struct error *error)
{
    if (source->is_csv &&
        (strcmp(error->field, "core_hours") == 0 || strcmp(error->field, "limit_s") == 0)) {
        return "limit";
    }
    return error->code == ERR_NOT_FOUND && error->field[0] == '\0' ? "node" : error->field;
}

static void tell_wrong(struct caps_source *source,
                       const struct bulk_line *line,
                       const struct error *error)
{
    const char *column = column_at_fault(source, error);
    if (source->wrong++ == 0) {
        (void)error_set_field(&source->first, error->code, column, "%s", error->detail);
    }
    if (source->wrong > ROWS_TOLD) {
        return;
    }
    struct json_out *out = &source->errors_out;
    json_out_object_open(out, NULL);
    json_out_integer(out, "line", line->number);
    json_out_text_or_null(out, "column", column);
    json_out_text(out, "code", error_slug(error->code));
    json_out_text(out, "detail", error->detail);
    json_out_object_close(out);
}

static void tell_over(struct caps_source *source, const struct bulk_line *line)
{
    const struct command_cap *cap = &line->command->cap;
    const struct ledger_cap_effect *effect = &line->result->cap;
    char name[RECORD_NAME_BYTES + 16];
    if (++source->over_count > ROWS_TOLD) {
        return;
    }
    const bool is_member = cap->kind == NODE_MEMBER;
    struct json_out *out = &source->over_out;
    json_out_object_open(out, NULL);
    json_out_integer(out, "line", line->number);
    json_out_text(out, "node", is_member ? cap->project : cap->node);
    json_out_text_or_null(out, "user", is_member ? cap->node : "");
    json_out_text(out, "cap",
                  problem_cap_name((enum cap_kind)cap->cap.kind, cap->model, name, sizeof(name)));
    json_out_text(out, "unit", problem_unit((enum cap_kind)cap->cap.kind));
    json_out_exact(out, "limit", cap->cap.limit);
    json_out_exact(out, "used", effect->used);
    json_out_exact(out, "frozen", effect->frozen);
    json_out_object_close(out);
}

static void add_started(struct ledger_cap_effect *sum, const struct ledger_cap_effect *more)
{
    sum->started_count += more->started_count;
    sum->started_tasks += more->started_tasks;
    sum->started_mcs += more->started_mcs;
    for (int32_t i = 0; i < more->shown && sum->shown < LEDGER_STARTED; i++) {
        sum->started[sum->shown++] = more->started[i];
    }
}

static void write_row(struct bulk_source *bulk_source,
                      struct json_out *out,
                      const struct bulk_line *line)
{
    struct caps_source *source = (struct caps_source *)(void *)bulk_source;
    const struct ledger_result *result = line->result;
    (void)out;
    source->told++;
    if (result == NULL) {
        tell_wrong(source, line, &line->error);
        return;
    }
    if (result->error.code != ERR_OK) {
        if (result->error.code != ERR_ROLLED_BACK) {
            tell_wrong(source, line, &result->error);
        }
        return;
    }
    const bool removes = line->command->kind == COMMAND_DELETE_CAP;
    source->removed += removes;
    source->created += !removes && result->created;
    source->unchanged += !removes && result->no_effect;
    source->changed += !removes && !result->created && !result->no_effect;
    add_started(&source->started, &result->cap);
    if (!removes && result->cap.over_cap) {
        tell_over(source, line);
    }
}

/* Failures of the service are no fault of a row. */
static bool is_of_service(enum error_code code)
{
    return error_http_status(code) >= 500;
}

static void write_problem(struct caps_source *source, struct json_out *out)
{
    struct request *request = source->bulk.request;
    struct error error;
    (void)error_set_field(&error, source->first.code, source->first.field,
                          "%lld of %lld rows are wrong and nothing was changed; the first: %s",
                          (long long)source->wrong, (long long)source->told, source->first.detail);
    const struct problem problem = {
        .error = &error,
        .is_chinese = request->is_chinese,
        .request_id = request->id,
    };
    problem_write(out, &problem);
    json_out_integer(out, "wrong", source->wrong);
    json_out_raw(out, "errors", &source->errors);
    request->answer.status = error_http_status(error.code);
    request->answer.code = error.code;
    request->answer.language = request->is_chinese ? "zh" : "en";
    source->bulk.content_type = "application/problem+json";
}

static void write_answer(const struct caps_source *source, struct json_out *out)
{
    json_out_integer(out, "rows", source->told);
    json_out_integer(out, "created", source->created);
    json_out_integer(out, "changed", source->changed);
    json_out_integer(out, "unchanged", source->unchanged);
    json_out_integer(out, "removed", source->removed);
    json_out_integer(out, "over", source->over_count);
    json_out_raw(out, "over_cap", &source->over);
    encode_started(out, &source->started);
}

static void caps_end(struct bulk_source *bulk_source, struct json_out *out)
{
    struct caps_source *source = (struct caps_source *)(void *)bulk_source;
    json_out_array_close(&source->errors_out);
    json_out_array_close(&source->over_out);
    if (bulk_source->failure.code == ERR_OK && is_of_service(source->first.code)) {
        bulk_source->failure = source->first;
    }
    json_out_object_open(out, NULL);
    if (source->wrong > 0) {
        write_problem(source, out);
    } else {
        write_answer(source, out);
    }
    json_out_object_close(out);
}

static void caps_fini(struct bulk_source *bulk_source)
{
    struct caps_source *source = (struct caps_source *)(void *)bulk_source;
    json_decref(source->rows);
    json_decref(source->seen);
    buffer_fini(&source->errors);
    buffer_fini(&source->over);
    free(source);
}

/* ---- the handler */

/* `*` or nothing: one ETag cannot be that of many nodes. */
static enum error_code read_match(const struct request *request,
                                  enum if_match *ret_match,
                                  struct error *err)
{
    struct command command = {.if_match = MATCH_NONE};
    const enum error_code code = api_read_if_match(request, &command, err);
    if (code == ERR_OK && command.if_match == MATCH_VERSION) {
        return error_set_field(err, ERR_MALFORMED, "If-Match", "many caps take * or none");
    }
    *ret_match = command.if_match;
    return code;
}

static void tell_init(struct buffer *buffer, struct json_out *out)
{
    buffer_init(buffer, TOLD_BYTES);
    json_out_init(out, buffer, false);
    json_out_array_open(out, NULL);
}

static enum error_code submit_caps(struct request *request, struct error *err)
{
    enum if_match match = MATCH_NONE;
    enum error_code code = read_match(request, &match, err);
    struct caps_source *source = code == ERR_OK ? calloc(1, sizeof(*source)) : NULL;
    if (source == NULL) {
        return code != ERR_OK ? code : error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    const char *type = request->headers.content_type;
    source->is_csv = type != NULL && strncasecmp(type, "text/csv", 8) == 0;
    source->if_match = match;
    tell_init(&source->errors, &source->errors_out);
    tell_init(&source->over, &source->over_out);
    source->bulk = (struct bulk_source){
        .next = next_row,
        .write = write_row,
        .begin = caps_begin,
        .end = caps_end,
        .fini = caps_fini,
        .request = request,
        .content_type = "application/json",
        .is_atomic = true,
    };
    code = bulk_submit(request->service->bulk, &source->bulk, err);
    if (code != ERR_OK) {
        caps_fini(&source->bulk);
    }
    return code;
}

void api_put_caps(struct request *request)
{
    struct error err;
    request->is_pending = true;
    if (submit_caps(request, &err) != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}
