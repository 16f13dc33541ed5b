/* The usage report and the journal: the ledger's rows as JSON and NDJSON, on a reader thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/base/calendar.h"
#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"
#include "server/api.h"
#include "server/decode_shapes.h"
#include "server/encode.h"
#include "server/page.h"
#include "server/rights.h"

/* ---- usage */

static const struct decode_choice report_columns[] = {
    {"organization", REPORT_ORGANIZATION},
    {"project", REPORT_PROJECT},
    {"user", REPORT_USER},
    {"cluster", REPORT_CLUSTER},
    {"partition", REPORT_PARTITION},
    {"qos", REPORT_QOS},
    {"gpu_model", REPORT_GPU_MODEL},
    {"outcome", REPORT_OUTCOME},
    {"day", REPORT_DAY},
    {"month", REPORT_MONTH},
    {NULL, 0},
};

static const struct decode_choice usage_kinds[] = {
    {"usage", USAGE_USAGE},
    {"correction", USAGE_CORRECTION},
    {"refund", USAGE_REFUND},
    {"waived", USAGE_WAIVED},
    {NULL, 0},
};

static enum error_code read_group_by(const char *text, uint32_t *ret_columns, struct error *err)
{
    uint32_t columns = 0;
    while (text != NULL && *text != '\0') {
        const size_t bytes = strcspn(text, ",");
        const struct decode_choice *column = report_columns;
        while (column->name != NULL &&
               (strlen(column->name) != bytes || strncmp(column->name, text, bytes) != 0)) {
            column++;
        }
        if (column->name == NULL) {
            return error_set_field(err, ERR_INVALID_FIELD, "group_by", "\"%.*s\" is no column",
                                   (int)(bytes < 40 ? bytes : 40), text);
        }
        columns |= (uint32_t)column->value;
        text += bytes + (text[bytes] == ',');
    }
    *ret_columns = columns;
    return ERR_OK;
}

static enum error_code read_month(const char *text, struct report_query *query, struct error *err)
{
    int32_t month;
    struct error why;
    if (calendar_parse_month(text, &month, &why) != ERR_OK) {
        return error_set_field(err, ERR_INVALID_FIELD, "month", "%s", why.detail);
    }
    query->from = month;
    query->to = month;
    return ERR_OK;
}

static enum error_code read_day(const char *text,
                                const char *field,
                                int64_t *ret_day,
                                struct error *err)
{
    int32_t day;
    struct error why;
    if (calendar_parse_day(text, &day, &why) != ERR_OK) {
        return error_set_field(err, ERR_INVALID_FIELD, field, "%s", why.detail);
    }
    *ret_day = day;
    return ERR_OK;
}

/* month, or from and to in days. */
static enum error_code read_span(const struct request *request,
                                 struct report_query *query,
                                 struct error *err)
{
    const char *month = request_query(request, QUERY_MONTH);
    const char *from = request_query(request, QUERY_FROM);
    const char *to = request_query(request, QUERY_TO);
    if (month != NULL && from == NULL && to == NULL) {
        return read_month(month, query, err);
    }
    if (month != NULL || from == NULL || to == NULL) {
        return error_set_field(err, ERR_INVALID_FIELD, "month", "give month, or from and to");
    }
    query->by_days = true;
    enum error_code code = read_day(from, "from", &query->from, err);
    code = code == ERR_OK ? read_day(to, "to", &query->to, err) : code;
    if (code == ERR_OK && query->to <= query->from) {
        code = error_set_field(err, ERR_INVALID_FIELD, "to", "the day after the last, behind from");
    }
    query->to--;
    return code;
}

static enum error_code read_report_query(const struct request *request,
                                         struct ledger_reader *reader,
                                         struct rights *rights,
                                         struct report_query *query,
                                         struct error *err)
{
    const char *format = request_query(request, QUERY_FORMAT);
    if (format != NULL && strcmp(format, "json") != 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "format", "json is what there is");
    }
    const char *root = request_query(request, QUERY_ROOT);
    if (root == NULL) {
        return error_set_field(err, ERR_INVALID_FIELD, "root", "required");
    }
    enum error_code code = read_span(request, query, err);
    if (code == ERR_OK) {
        code = read_group_by(request_query(request, QUERY_GROUP_BY), &query->group_by, err);
    }
    struct node node = {0};
    if (code == ERR_OK) {
        code = ledger_read_node(reader, NODE_ORGANIZATION, root, "", &node, err);
    }
    if (code == ERR_OK) {
        code = rights_narrow(rights, &node, &query->below_no, err);
    }
    if (code == ERR_NOT_FOUND) {
        code = error_set(err, code, "no root %s", root);
    }
    if (code == ERR_OK && node.root_no != node.node_no) {
        code = error_set_field(err, ERR_INVALID_FIELD, "root", "%s is not a root", root);
    }
    query->root_no = code == ERR_OK ? node.node_no : 0;
    return code;
}

struct usage_page {
    struct json_out *out;
    uint32_t group_by;
    int64_t skip;
    int64_t left;
    int64_t position;
    bool has_more;
};

static void write_columns(struct json_out *out, uint32_t columns, const struct report_row *row)
{
    const struct text_column {
        uint32_t bit;
        const char *name;
        const char *text;
    } texts[] = {
        {REPORT_ORGANIZATION, "organization", row->organization},
        {REPORT_PROJECT, "project", row->project},
        {REPORT_USER, "user", row->user},
        {REPORT_CLUSTER, "cluster", row->cluster},
        {REPORT_PARTITION, "partition", row->partition},
        {REPORT_QOS, "qos", row->qos},
        {REPORT_GPU_MODEL, "gpu_model", row->gpu_model},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if ((columns & texts[i].bit) != 0) {
            json_out_text(out, texts[i].name, texts[i].text);
        }
    }
    if ((columns & REPORT_OUTCOME) != 0) {
        const char *outcome = decode_choice_name(choices_outcome, (int)row->outcome);
        json_out_text(out, "outcome", outcome != NULL ? outcome : "running");
    }
    if ((columns & REPORT_DAY) != 0) {
        char day[CALENDAR_DAY_TEXT_BYTES];
        json_out_text(out, "day", calendar_format_day((int32_t)row->day, day));
    }
}

/* GPU-hours with 5 decimals: 1 GPU-hour = 3 600 000 mgs, as 1 core-hour = 3 600 000 mcs. */
static void write_gpu_hours(struct json_out *out, int64_t mgs)
{
    char text[AMOUNT_TEXT_BYTES];
    json_out_exact(out, "mgs", mgs);
    json_out_text(out, "gpu_hours", amount_format_core_hours(amount_from_mcs(mgs), 5, text));
}

static void write_cost(struct json_out *out, const struct report_row *row)
{
    if (!row->cost_known) {
        json_out_null(out, "cost");
        json_out_null(out, "currency");
        return;
    }
    const int64_t micro = row->cost_micro < 0 ? -row->cost_micro : row->cost_micro;
    json_out_printf(out, "cost", "%s%" PRId64 ".%06" PRId64, row->cost_micro < 0 ? "-" : "",
                    micro / 1000000, micro % 1000000);
    json_out_text(out, "currency", row->currency);
}

static bool write_usage_row(void *context, const struct report_row *row)
{
    struct usage_page *page = context;
    page->has_more = page->left == 0;
    if (page->has_more || page->position++ < page->skip) {
        return !page->has_more;
    }
    page->left--;
    char text[CALENDAR_MONTH_TEXT_BYTES];
    struct json_out *out = page->out;
    json_out_object_open(out, NULL);
    write_columns(out, page->group_by, row);
    json_out_text(out, "month", calendar_format_month((int32_t)row->month, text));
    json_out_text(out, "period", calendar_format_month((int32_t)row->period, text));
    json_out_text(out, "kind", decode_choice_name(usage_kinds, (int)row->kind));
    json_out_amount(out, "used", row->used_mcs);
    json_out_amount(out, "waived", row->waived_mcs);
    write_gpu_hours(out, row->mgs);
    json_out_integer(out, "runs", row->runs);
    write_cost(out, row);
    json_out_object_close(out);
    return true;
}

static enum error_code write_usage(struct request *request,
                                   struct ledger_reader *reader,
                                   struct json_out *out,
                                   struct error *err)
{
    struct page page;
    struct rights rights;
    struct report_query query = {0};
    enum error_code code = page_begin(request, "usage", &page, err);
    if (code == ERR_OK) {
        code = rights_begin(&request->principal, reader, &rights, err);
    }
    if (code == ERR_OK) {
        code = read_report_query(request, reader, &rights, &query, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    const bool is_paged = request_query(request, QUERY_PAGE_SIZE) != NULL || page.from > 0;
    struct usage_page rows = {
        .out = out,
        .group_by = query.group_by,
        .skip = page.from,
        .left = is_paged ? page.size : LIMIT_REPORT_GROUPS,
    };
    json_out_array_open(out, "rows");
    code = ledger_report_usage(reader, &query, write_usage_row, &rows, err);
    json_out_array_close(out);
    page_write_next(out, "usage", rows.has_more ? rows.position : 0);
    return code;
}

void api_report_usage(struct request *request)
{
    request_answer_by_reading(request, write_usage);
}

/* ---- journal */

enum {
    JOURNAL_ENTRIES = 10000, /* of one answer; the next begins after its last seq */
    JOURNAL_GATHERED = 512,
    JOURNAL_CACHE = 256,
};

static const char *const entry_kinds[ENTRY__COUNT] = {
    [ENTRY_GRANT] = "grant",       [ENTRY_TRANSFER] = "transfer",
    [ENTRY_WITHDRAW] = "withdraw", [ENTRY_EXPIRE_GRANT] = "expire_grant",
    [ENTRY_FREEZE] = "freeze",     [ENTRY_UNFREEZE] = "unfreeze",
    [ENTRY_CHARGE] = "charge",     [ENTRY_UNCHARGE] = "uncharge",
    [ENTRY_REFUND] = "refund",     [ENTRY_CORRECT] = "correct",
    [ENTRY_REPAY] = "repay",
};

static const char *const part_names[] = {
    [PART_ISSUED] = "issued", [PART_AVAILABLE] = "available", [PART_FROZEN] = "frozen",
    [PART_USED] = "used",     [PART_EXPIRED] = "expired",
};

/* Ids of grants and holds by number: entries that are near each other name the same ones. */
struct id_cache {
    struct {
        int64_t number;
        char id[RECORD_ID_BYTES];
    } rows[JOURNAL_CACHE];
};

struct journal_room {
    struct entry entries[JOURNAL_GATHERED];
    size_t count;
    struct id_cache grants;
    struct id_cache holds;
};

static bool gather_entry(void *context, const void *record)
{
    struct journal_room *room = context;
    room->entries[room->count++] = *(const struct entry *)record;
    return room->count < JOURNAL_GATHERED;
}

static const char *grant_id(struct journal_room *room, struct ledger_reader *reader, int64_t number)
{
    const size_t row = (size_t)number % JOURNAL_CACHE;
    struct grant grant;
    if (room->grants.rows[row].number != number) {
        const bool is_known = ledger_read_grant(reader, number, &grant, NULL) == ERR_OK;
        const char *id = !is_known                       ? ""
                         : grant.kind == GRANT_OVERDRAFT ? "overdraft"
                         : grant.kind == GRANT_ENDLESS   ? "unlimited"
                                                         : grant.id;
        (void)snprintf(room->grants.rows[row].id, RECORD_ID_BYTES, "%s", id);
        room->grants.rows[row].number = number;
    }
    return room->grants.rows[row].id;
}

static const char *hold_id(struct journal_room *room, struct ledger_reader *reader, int64_t number)
{
    const size_t row = (size_t)number % JOURNAL_CACHE;
    struct ledger_hold hold;
    if (room->holds.rows[row].number != number) {
        const bool is_known = ledger_read_hold_no(reader, number, &hold, NULL) == ERR_OK;
        (void)snprintf(room->holds.rows[row].id, RECORD_ID_BYTES, "%s",
                       is_known ? hold.hold.id : "");
        room->holds.rows[row].number = number;
    }
    return room->holds.rows[row].id;
}

static void write_account(struct json_out *out,
                          const char *side,
                          enum account_part part,
                          const char *grant)
{
    char key[16];
    json_out_text(out, side, part_names[part]);
    if (part != PART_ISSUED) {
        (void)snprintf(key, sizeof(key), "%s_grant", side);
        json_out_text_or_null(out, key, grant);
    }
}

static void write_entry(struct json_out *out,
                        struct journal_room *room,
                        struct ledger_reader *reader,
                        const struct entry *entry)
{
    char text[CALENDAR_MONTH_TEXT_BYTES];
    json_out_object_open(out, NULL);
    json_out_integer(out, "seq", entry->seq);
    json_out_time_ms(out, "at", entry->at_ms);
    json_out_text(out, "kind", entry_kinds[entry->kind]);
    write_account(out, "from", entry->from_part,
                  entry->from_part == PART_ISSUED ? ""
                                                  : grant_id(room, reader, entry->from_grant_no));
    write_account(out, "to", entry->to_part,
                  entry->to_part == PART_ISSUED ? "" : grant_id(room, reader, entry->to_grant_no));
    json_out_amount(out, "amount", entry->amount_mcs);
    if (entry->hold_no != 0) {
        json_out_text(out, "hold", hold_id(room, reader, entry->hold_no));
    }
    if (entry->hold_no != 0 && entry->task >= 0) { /* -1: all tasks that share one state */
        json_out_integer(out, "task", entry->task);
        json_out_integer(out, "attempt", entry->attempt);
    }
    json_out_text(out, "month", calendar_format_month((int32_t)entry->month, text));
    json_out_text(out, "period", calendar_format_month((int32_t)entry->period, text));
    json_out_object_close(out);
    (void)buffer_append_byte(out->buffer, '\n');
    out->needs_comma = false;
}

static enum error_code write_entries(struct json_out *out,
                                     struct ledger_reader *reader,
                                     int64_t root_no,
                                     int64_t after,
                                     struct error *err)
{
    CLEANUP(cleanup_free) struct journal_room *room = calloc(1, sizeof(*room));
    if (room == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    for (int written = 0; written < JOURNAL_ENTRIES; written += JOURNAL_GATHERED) {
        const struct select_args args = {.n = {root_no, after}, .limit = JOURNAL_GATHERED};
        room->count = 0;
        const enum error_code code =
            ledger_read_list(reader, SELECT_ENTRIES, &args, gather_entry, room, err);
        if (code != ERR_OK) {
            return code;
        }
        for (size_t i = 0; i < room->count; i++) {
            write_entry(out, room, reader, &room->entries[i]);
            after = room->entries[i].seq;
        }
        if (room->count < JOURNAL_GATHERED) {
            break;
        }
    }
    return ERR_OK;
}

static enum error_code find_journal(const struct request *request,
                                    struct ledger_reader *reader,
                                    struct node *ret_root,
                                    int64_t *ret_after,
                                    struct error *err)
{
    const char *root = request_query(request, QUERY_ROOT);
    if (root == NULL || !text_is_node_name(root)) {
        return error_set_field(err, ERR_MALFORMED, "root", "name the root whose journal is wanted");
    }
    enum error_code code = request_query_integer(
        request, &(struct query_integer){QUERY_AFTER, 0, INT64_MAX, 0}, ret_after, err);
    struct rights rights;
    if (code == ERR_OK) {
        code = rights_begin(&request->principal, reader, &rights, err);
    }
    if (code == ERR_OK) {
        code = ledger_read_node(reader, NODE_ORGANIZATION, root, "", ret_root, err);
    }
    if (code == ERR_OK) {
        code = rights_see_node(&rights, ret_root, root, err);
    }
    if (code == ERR_NOT_FOUND || (code == ERR_OK && ret_root->root_no != ret_root->node_no)) {
        code = error_set(err, ERR_NOT_FOUND, "no root %s", root);
    }
    return code;
}

/* Not one object but a line an entry: begins and ends its own snapshot. */
static void read_journal(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    struct json_out out;
    struct node root;
    int64_t after;
    enum error_code code = ledger_reader_begin(reader, &err);
    if (code == ERR_OK) {
        request_answer_begin(request, 200, &out);
        request->answer.content_type = "application/x-ndjson";
        code = find_journal(request, reader, &root, &after, &err);
        code = code == ERR_OK ? write_entries(&out, reader, root.node_no, after, &err) : code;
        ledger_reader_end(reader);
    }
    if (code != ERR_OK) {
        request_refuse(request, &err);
        return;
    }
    request_answer_end(request);
}

void api_read_journal(struct request *request)
{
    struct error err;
    request->is_pending = true;
    if (request_read(request, read_journal, &err) != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}
