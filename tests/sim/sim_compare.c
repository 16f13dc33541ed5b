/* Answers and ledgers compared field by field, as the record descriptors say. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/store/record_type.h"
#include "tests/sim/sim.h"

static bool same_field(const struct record_field *field, const void *a, const void *b)
{
    const char *one = (const char *)a + field->offset;
    const char *two = (const char *)b + field->offset;
    int32_t count_a = 0;
    int32_t count_b = 0;
    switch (field->kind) {
    case FIELD_I64:
        return memcmp(one, two, 8) == 0;
    case FIELD_I32:
        return memcmp(one, two, 4) == 0;
    case FIELD_TEXT:
        return strncmp(one, two, field->size) == 0;
    case FIELD_BLOB:
        return memcmp(one, two, field->size) == 0;
    case FIELD_LIST:
        memcpy(&count_a, (const char *)a + field->count_offset, sizeof count_a);
        memcpy(&count_b, (const char *)b + field->count_offset, sizeof count_b);
        return count_a == count_b && memcmp(one, two, (size_t)count_a * field->columns * 8) == 0;
    }
    return false;
}

static void show_list(const struct record_field *field, const void *record)
{
    int32_t count = 0;
    memcpy(&count, (const char *)record + field->count_offset, sizeof count);
    (void)fprintf(stderr, " ");
    for (size_t i = 0; i < (size_t)count * field->columns; i++) {
        int64_t number;
        memcpy(&number, (const char *)record + field->offset + i * 8, 8);
        (void)fprintf(stderr, "%s%" PRId64, i % field->columns == 0 ? " " : ":", number);
    }
    (void)fputc('\n', stderr);
}

static bool same_record(enum record_id id, const void *a, const void *b)
{
    const struct record_type *type = &record_types[id];
    for (size_t i = 0; i < type->field_count; i++) {
        if (!same_field(&type->fields[i], a, b)) {
            (void)fprintf(stderr, "%s.%s differs\n", type->name, type->fields[i].name);
            if (type->fields[i].kind == FIELD_I64) {
                int64_t one;
                int64_t two;
                memcpy(&one, (const char *)a + type->fields[i].offset, 8);
                memcpy(&two, (const char *)b + type->fields[i].offset, 8);
                (void)fprintf(stderr, "  %" PRId64 " and %" PRId64 "\n", one, two);
            }
            if (type->fields[i].kind == FIELD_LIST) {
                show_list(&type->fields[i], a);
                show_list(&type->fields[i], b);
            }
            return false;
        }
    }
    return true;
}

static bool same_number(const char *what, int64_t a, int64_t b)
{
    if (a != b) {
        (void)fprintf(stderr, "%s: %" PRId64 " and %" PRId64 "\n", what, a, b);
    }
    return a == b;
}

static bool same_violation(const struct violation *a, const struct violation *b)
{
    return same_number("node", a->node_no, b->node_no) && same_number("kind", a->kind, b->kind) &&
           same_number("limit", a->limit, b->limit) && same_number("used", a->used, b->used) &&
           same_number("frozen", a->frozen, b->frozen) &&
           same_number("requested", a->requested, b->requested) &&
           same_number("missing", a->missing, b->missing) &&
           same_number("resets", a->resets_at_s, b->resets_at_s);
}

static bool same_refusal(const struct ledger_refusal *a, const struct ledger_refusal *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    bool same = same_number("violations", a->count, b->count) &&
                same_number("ahead", a->waiting_ahead, b->waiting_ahead);
    for (int32_t i = 0; same && i < a->count; i++) {
        same = same_violation(&a->limits[i].violation, &b->limits[i].violation);
    }
    return same;
}

static bool same_totals(const struct ledger_result *a, const struct ledger_result *b)
{
    return same_number("charged", a->charged_mcs, b->charged_mcs) &&
           same_number("refunded", a->refunded_mcs, b->refunded_mcs) &&
           same_number("overrun", a->overrun_mcs, b->overrun_mcs) &&
           same_number("waived", a->waived_mcs, b->waived_mcs) &&
           same_number("expired", a->expired_mcs, b->expired_mcs) &&
           same_number("requested", a->requested_mcs, b->requested_mcs) &&
           same_number("warnings", a->warnings, b->warnings) &&
           same_number("soft", a->soft_count, b->soft_count);
}

bool compare_results(enum command_kind kind,
                     const struct ledger_result *a,
                     const struct ledger_result *b)
{
    bool same = same_number("code", a->error.code, b->error.code) &&
                strcmp(a->error.detail, b->error.detail) == 0 &&
                same_number("replayed", a->replayed, b->replayed) &&
                same_number("no effect", a->no_effect, b->no_effect) &&
                same_number("waiting", a->waiting, b->waiting) &&
                same_number("created", a->created, b->created) &&
                same_number("heartbeat", a->heartbeat, b->heartbeat) &&
                same_number("version", a->version, b->version) && same_totals(a, b) &&
                strcmp(a->left_tasks, b->left_tasks) == 0 && same_refusal(a->refusal, b->refusal);
    if (same && a->error.code == ERR_OK && kind < COMMAND_GRANT && kind != COMMAND_HEARTBEAT) {
        same = same_record(RECORD_HOLD, &a->hold.hold, &b->hold.hold);
    }
    return same;
}

/* ---- whole ledgers */

/* All rows of a selection, one after the other. */
struct rows {
    size_t bytes; /* of one */
    char *rows;
    size_t count;
    size_t capacity;
};

static bool collect(void *context, const void *record)
{
    struct rows *rows = context;
    if (rows->count == rows->capacity) {
        rows->capacity = rows->capacity == 0 ? 64 : rows->capacity * 2;
        rows->rows = realloc(rows->rows, rows->capacity * rows->bytes);
        if (rows->rows == NULL) {
            abort();
        }
    }
    memcpy(rows->rows + rows->count++ * rows->bytes, record, rows->bytes);
    return true;
}

static struct rows read_rows(struct book *book, enum select_kind select)
{
    struct error err = {.code = ERR_OK};
    struct rows rows = {.bytes = record_types[select_types[select].record].bytes};
    struct select_args args = {.n = {0}};
    if (ledger_reader_begin(book->keeper, &err) != ERR_OK ||
        ledger_read_list(book->keeper, select, &args, collect, &rows, &err) != ERR_OK) {
        (void)fprintf(stderr, "reading: %s\n", err.detail);
        abort();
    }
    ledger_reader_end(book->keeper);
    return rows;
}

static bool same_rows(struct book *a, struct book *b, enum select_kind select)
{
    struct rows one = read_rows(a, select);
    struct rows two = read_rows(b, select);
    bool same = same_number(select_types[select].name, (int64_t)one.count, (int64_t)two.count);
    for (size_t i = 0; same && i < one.count; i++) {
        same = same_record(select_types[select].record, one.rows + i * one.bytes,
                           two.rows + i * two.bytes);
    }
    free(one.rows);
    free(two.rows);
    return same;
}

bool compare_books(struct book *a, struct book *b)
{
    static const enum select_kind selects[] = {
        SELECT_ALL_HOLDS,  SELECT_ALL_RUNS,     SELECT_ALL_TASKS,
        SELECT_ALL_GRANTS, SELECT_ALL_COUNTERS, SELECT_ALL_NODE_MONTHS,
        SELECT_ALL_USAGE,  SELECT_ALL_DIMS,     SELECT_ALL_WAITING,
    };
    for (size_t i = 0; i < sizeof selects / sizeof selects[0]; i++) {
        if (!same_rows(a, b, selects[i])) {
            return false;
        }
    }
    return true;
}
