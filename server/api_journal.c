/* The journal: entries as NDJSON, or as a journal that hledger reads, on a reader thread. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/calendar.h"
#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"
#include "server/api.h"
#include "server/encode.h"
#include "server/rights.h"

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
    const struct calendar *calendar;
    struct entry entries[JOURNAL_GATHERED];
    size_t count;
    struct id_cache grants;
    struct id_cache holds;
    struct id_cache payers;
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

/* The payer that a grant belongs to. */
static const char *payer_name(struct journal_room *room,
                              struct ledger_reader *reader,
                              int64_t number)
{
    const size_t row = (size_t)number % JOURNAL_CACHE;
    struct grant grant;
    struct node node;
    if (room->payers.rows[row].number != number) {
        const bool is_known = ledger_read_grant(reader, number, &grant, NULL) == ERR_OK &&
                              ledger_read_node_no(reader, grant.node_no, &node, NULL) == ERR_OK;
        (void)snprintf(room->payers.rows[row].id, RECORD_ID_BYTES, "%.63s",
                       is_known ? node.name : "");
        room->payers.rows[row].number = number;
    }
    return room->payers.rows[row].id;
}

static void write_account(struct json_out *out,
                          const char *side,
                          enum account_part part,
                          const char *grant,
                          const char *payer)
{
    char key[16];
    json_out_text(out, side, part_names[part]);
    if (part != PART_ISSUED) {
        (void)snprintf(key, sizeof(key), "%s_grant", side);
        json_out_text_or_null(out, key, grant);
        (void)snprintf(key, sizeof(key), "%s_node", side);
        json_out_text_or_null(out, key, payer);
    }
}

static void write_side(struct json_out *out,
                       struct journal_room *room,
                       struct ledger_reader *reader,
                       const char *side,
                       const struct entry *entry)
{
    const bool to = side[0] == 't';
    const enum account_part part = to ? entry->to_part : entry->from_part;
    const int64_t grant_no = to ? entry->to_grant_no : entry->from_grant_no;
    const bool is_root = part == PART_ISSUED;
    write_account(out, side, part, is_root ? "" : grant_id(room, reader, grant_no),
                  is_root ? "" : payer_name(room, reader, grant_no));
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
    write_side(out, room, reader, "from", entry);
    write_side(out, room, reader, "to", entry);
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

/* ---- for hledger */

/*
 * An account is PAYER:gNUMBER:PART, `issued` the root's: names of grants may hold what an account may not.
 * Amounts are whole milli-core-seconds, so that whoever adds them up cannot round.
 */
static void append_account(struct buffer *to,
                           struct journal_room *room,
                           struct ledger_reader *reader,
                           enum account_part part,
                           int64_t grant_no)
{
    if (part == PART_ISSUED) {
        (void)buffer_append_text(to, "issued");
    } else {
        (void)buffer_printf(to, "%s:g%" PRId64 ":%s", payer_name(room, reader, grant_no), grant_no,
                            part_names[part]);
    }
}

static void write_transaction(struct json_out *out,
                              struct journal_room *room,
                              struct ledger_reader *reader,
                              const struct entry *entry)
{
    struct buffer *to = out->buffer;
    char day[CALENDAR_DAY_TEXT_BYTES];
    char month[CALENDAR_MONTH_TEXT_BYTES];
    char period[CALENDAR_MONTH_TEXT_BYTES];
    (void)buffer_printf(to, "%s %s  ; seq:%" PRId64 ", month:%s, period:%s",
                        calendar_format_day(calendar_day(room->calendar, entry->at_ms / 1000), day),
                        entry_kinds[entry->kind], entry->seq,
                        calendar_format_month((int32_t)entry->month, month),
                        calendar_format_month((int32_t)entry->period, period));
    if (entry->hold_no != 0) {
        (void)buffer_printf(to, ", hold:%s", hold_id(room, reader, entry->hold_no));
    }
    (void)buffer_append_text(to, "\n    ");
    append_account(to, room, reader, entry->from_part, entry->from_grant_no);
    (void)buffer_printf(to, "  -%" PRId64 " mcs\n    ", entry->amount_mcs);
    append_account(to, room, reader, entry->to_part, entry->to_grant_no);
    (void)buffer_printf(to, "  %" PRId64 " mcs\n\n", entry->amount_mcs);
}

/* ---- either */

typedef void (*write_entry_fn)(struct json_out *out,
                               struct journal_room *room,
                               struct ledger_reader *reader,
                               const struct entry *entry);

struct journal_query {
    struct node root;
    int64_t after;
    int64_t most; /* entries of the answer */
    write_entry_fn write;
};

static enum error_code write_entries(struct request *request,
                                     struct json_out *out,
                                     struct ledger_reader *reader,
                                     const struct journal_query *query,
                                     struct error *err)
{
    int64_t after = query->after;
    struct calendar calendar;
    CLEANUP(cleanup_free) struct journal_room *room = calloc(1, sizeof(*room));
    if (room == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    enum error_code code = ledger_read_calendar(reader, &query->root, &calendar, err);
    room->calendar = &calendar;
    for (int64_t written = 0; code == ERR_OK && written < query->most;
         written += JOURNAL_GATHERED) {
        const struct select_args args = {.n = {query->root.node_no, after},
                                         .limit = JOURNAL_GATHERED};
        room->count = 0;
        code = ledger_read_list(reader, SELECT_ENTRIES, &args, gather_entry, room, err);
        for (size_t i = 0; i < room->count; i++) {
            query->write(out, room, reader, &room->entries[i]);
            after = room->entries[i].seq;
        }
        if (room->count < JOURNAL_GATHERED || !request_answer_spill(request)) {
            break;
        }
    }
    return code;
}

static enum error_code find_journal(const struct request *request,
                                    struct ledger_reader *reader,
                                    struct journal_query *query,
                                    struct error *err)
{
    const char *format = request_query(request, QUERY_FORMAT);
    const bool is_hledger = format != NULL && strcmp(format, "hledger") == 0;
    if (format != NULL && !is_hledger && strcmp(format, "ndjson") != 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "format", "neither ndjson nor hledger");
    }
    query->write = is_hledger ? write_transaction : write_entry;
    query->most = is_hledger ? INT64_MAX : JOURNAL_ENTRIES;
    const char *root = request_query(request, QUERY_ROOT);
    if (root == NULL || !text_is_node_name(root)) {
        return error_set_field(err, ERR_MALFORMED, "root", "name the root whose journal is wanted");
    }
    enum error_code code = request_query_integer(
        request, &(struct query_integer){QUERY_AFTER, 0, INT64_MAX, 0}, &query->after, err);
    struct rights rights;
    if (code == ERR_OK) {
        code = rights_begin(&request->principal, reader, &rights, err);
    }
    if (code == ERR_OK) {
        code = ledger_read_node(reader, NODE_ORGANIZATION, root, "", &query->root, err);
    }
    if (code == ERR_OK) {
        code = rights_see_node(&rights, &query->root, root, err);
    }
    if (code == ERR_NOT_FOUND || (code == ERR_OK && query->root.root_no != query->root.node_no)) {
        code = error_set(err, ERR_NOT_FOUND, "no root %s", root);
    }
    return code;
}

/* Not one object but a line an entry: begins and ends its own snapshot. */
static void read_journal(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    struct json_out out;
    struct journal_query query;
    enum error_code code = ledger_reader_begin(reader, &err);
    if (code == ERR_OK) {
        request_answer_begin(request, 200, &out);
        code = find_journal(request, reader, &query, &err);
        request->answer.content_type = code == ERR_OK && query.write == write_transaction
                                           ? "text/plain; charset=utf-8"
                                           : "application/x-ndjson";
        code = code == ERR_OK ? write_entries(request, &out, reader, &query, &err) : code;
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
    request_answer_by_report(request, read_journal);
}
