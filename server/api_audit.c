/*
 * GET /v1/audit: changes by people (SPEC 10.3), as a page of JSON or a line each (NDJSON). On a reader thread.
 *
 * Finance sees its root, a lead what concerns its node and those below, an admin everything, and what belongs to no root.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/calendar.h"
#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"
#include "server/api.h"
#include "server/decode.h"
#include "server/decode_shapes.h"
#include "server/page.h"
#include "server/rights.h"

enum {
    AUDIT_GATHERED = 64,
    AUDIT_LINES = 10000,     /* of one answer; the next begins after its last no */
    AUDIT_LOOKED_AT = 20000, /* rows that one page looks at: it may come out short, or empty */
    MS_PER_DAY = 86400000,
};

/* What the query asks for. */
struct audit_query {
    int64_t root_no; /* -1: all roots, and what belongs to none */
    int64_t node_no; /* 0: any */
    int64_t after;
    int64_t from_ms;
    int64_t to_ms;
    bool is_ndjson;
};

struct audit_room {
    struct audit rows[AUDIT_GATHERED];
    size_t count;
    int64_t root_no; /* whose name stands in root */
    char root[RECORD_NAME_BYTES];
};

struct audit_page {
    struct ledger_reader *reader;
    struct rights *rights;
    const struct audit_query *query;
    struct audit_room *room;
    struct json_out *out;
    int64_t left;      /* rows to be written */
    int64_t looked_at; /* rows */
    int64_t last_no;   /* of the last row looked at */
};

/* ---- the query */

/* A time, or a day from whose beginning in UTC on. */
static enum error_code read_time(const struct request *request,
                                 enum query_param param,
                                 int64_t *ret_ms,
                                 struct error *err)
{
    const char *text = request_query(request, param);
    struct error ignored;
    int32_t day;
    int64_t time_s;
    if (text == NULL) {
        return ERR_OK;
    }
    if (calendar_parse_day(text, &day, &ignored) == ERR_OK) {
        *ret_ms = (int64_t)day * MS_PER_DAY;
        return ERR_OK;
    }
    if (text_parse_time(text, &time_s, &ignored) == ERR_OK) {
        *ret_ms = time_s * 1000;
        return ERR_OK;
    }
    return error_set_field(err, ERR_INVALID_FIELD, query_param_name(param),
                           "neither a day nor a time of RFC 3339");
}

static enum error_code read_format(const struct request *request,
                                   struct audit_query *query,
                                   struct error *err)
{
    const char *format = request_query(request, QUERY_FORMAT);
    if (format != NULL && strcmp(format, "json") != 0 && strcmp(format, "ndjson") != 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "format", "json or ndjson");
    }
    query->is_ndjson = format != NULL && format[0] == 'n';
    return ERR_OK;
}

/* The root asked for; whose place is a node sees that of its root only, asked for or not. */
static enum error_code read_root(const struct request *request,
                                 const struct rights *rights,
                                 struct audit_query *query,
                                 struct error *err)
{
    char name[RECORD_NAME_BYTES];
    struct node root = {.root_no = -1};
    query->root_no = -1;
    enum error_code code = rights_root_name(rights, request_query(request, QUERY_ROOT), name, err);
    if (code == ERR_OK && name[0] != '\0') {
        code = ledger_read_node(rights->reader, NODE_ORGANIZATION, name, "", &root, err);
        query->root_no = root.node_no;
    }
    if (code == ERR_NOT_FOUND || (code == ERR_OK && name[0] != '\0' && root.parent_no != 0)) {
        const char *asked = request_query(request, QUERY_ROOT);
        return error_set(err, ERR_NOT_FOUND, "no root %.80s", asked != NULL ? asked : name);
    }
    return code;
}

static enum error_code read_node(const struct request *request,
                                 struct rights *rights,
                                 struct audit_query *query,
                                 struct error *err)
{
    const char *name = request_query(request, QUERY_NODE);
    struct node node;
    if (name == NULL) {
        return ERR_OK;
    }
    enum error_code code =
        ledger_read_node(rights->reader, NODE_ORGANIZATION, name, "", &node, err);
    if (code == ERR_NOT_FOUND) {
        code = ledger_read_node(rights->reader, NODE_PROJECT, name, "", &node, err);
    }
    if (code == ERR_OK) {
        code = rights_see_node(rights, &node, name, err);
    }
    if (code == ERR_NOT_FOUND) {
        return error_set(err, code, "no organization or project %.80s", name);
    }
    query->node_no = code == ERR_OK ? node.node_no : 0;
    return code;
}

static enum error_code read_query(const struct request *request,
                                  struct rights *rights,
                                  struct audit_query *query,
                                  struct error *err)
{
    const struct query_integer after = {QUERY_AFTER, 0, INT64_MAX, 0};
    *query = (struct audit_query){.to_ms = INT64_MAX};
    enum error_code code = read_format(request, query, err);
    code = code == ERR_OK ? request_query_integer(request, &after, &query->after, err) : code;
    code = code == ERR_OK ? read_time(request, QUERY_FROM, &query->from_ms, err) : code;
    code = code == ERR_OK ? read_time(request, QUERY_TO, &query->to_ms, err) : code;
    code = code == ERR_OK ? read_root(request, rights, query, err) : code;
    return code == ERR_OK ? read_node(request, rights, query, err) : code;
}

/* ---- rows */

static bool gather(void *context, const void *record)
{
    struct audit_room *room = context;
    room->rows[room->count++] = *(const struct audit *)record;
    return room->count < AUDIT_GATHERED;
}

static const char *root_name(struct audit_page *page, int64_t root_no)
{
    struct audit_room *room = page->room;
    struct node node;
    if (room->root_no != root_no) {
        room->root_no = root_no;
        room->root[0] = '\0';
        if (root_no != 0 && ledger_read_node_no(page->reader, root_no, &node, NULL) == ERR_OK) {
            memcpy(room->root, node.name, sizeof(room->root));
        }
    }
    return room->root;
}

static void write_row(struct audit_page *page, const struct audit *row)
{
    struct json_out *out = page->out;
    json_out_object_open(out, NULL);
    json_out_integer(out, "no", row->audit_no);
    json_out_time_ms(out, "at", row->at_ms);
    json_out_text_or_null(out, "root", root_name(page, row->root_no));
    json_out_text(out, "action", row->action);
    json_out_text(out, "what", row->what);
    json_out_text(out, "who", row->who);
    json_out_text(out, "name", row->name);
    json_out_text(out, "role", decode_choice_name(choices_role, (int)row->role));
    json_out_text_or_null(out, "address", row->address);
    json_out_json(out, "before", row->before);
    json_out_json(out, "after", row->after);
    json_out_object_close(out);
    if (page->query->is_ndjson) {
        (void)buffer_append_byte(out->buffer, '\n');
        out->needs_comma = false;
    }
}

/* Is a node the one asked for, or below it? */
static bool is_about(const struct audit_page *page, int64_t node_no)
{
    struct node node;
    while (node_no != 0 && node_no != page->query->node_no) {
        node_no =
            ledger_read_node_no(page->reader, node_no, &node, NULL) == ERR_OK ? node.parent_no : 0;
    }
    return node_no != 0;
}

static bool is_wanted(struct audit_page *page, const struct audit *row)
{
    if (page->query->node_no != 0 && !is_about(page, row->node_no) &&
        !is_about(page, row->other_no)) {
        return false;
    }
    if (page->rights->sees_all) {
        return true;
    }
    return rights_see_node_no(page->rights, row->node_no) ||
           (row->other_no != 0 && rights_see_node_no(page->rights, row->other_no));
}

static enum error_code select_rows(struct audit_page *page, struct error *err)
{
    const struct audit_query *query = page->query;
    const bool is_root = query->root_no >= 0;
    const struct select_args all = {.n = {page->last_no, query->from_ms, query->to_ms},
                                    .limit = AUDIT_GATHERED};
    const struct select_args one = {
        .n = {query->root_no, page->last_no, query->from_ms, query->to_ms},
        .limit = AUDIT_GATHERED};
    page->room->count = 0;
    return ledger_read_list(page->reader, is_root ? SELECT_AUDIT_ROOT : SELECT_AUDIT,
                            is_root ? &one : &all, gather, page->room, err);
}

/* Sets last_no to 0 at the end of the log. */
static enum error_code write_rows(struct audit_page *page, struct error *err)
{
    while (page->left > 0 && (page->query->is_ndjson || page->looked_at < AUDIT_LOOKED_AT)) {
        const enum error_code code = select_rows(page, err);
        if (code != ERR_OK) {
            return code;
        }
        for (size_t i = 0; i < page->room->count && page->left > 0; i++) {
            const struct audit *row = &page->room->rows[i];
            page->last_no = row->audit_no;
            page->looked_at++;
            if (is_wanted(page, row)) {
                write_row(page, row);
                page->left--;
            }
        }
        if (page->room->count < AUDIT_GATHERED && page->left > 0) {
            page->last_no = 0;
            return ERR_OK;
        }
    }
    return ERR_OK;
}

/* ---- the answers */

static void write_page(struct audit_page *page, const struct page *asked, struct error *err)
{
    struct json_out *out = page->out;
    if (page->query->is_ndjson) {
        page->left = AUDIT_LINES;
        err->code = write_rows(page, err);
        return;
    }
    page->left = asked->size;
    page->last_no = asked->from > 0 ? asked->from : page->last_no;
    json_out_object_open(out, NULL);
    json_out_array_open(out, "items");
    err->code = write_rows(page, err);
    json_out_array_close(out);
    page_write_next(out, "audit", page->last_no);
    json_out_object_close(out);
}

static enum error_code write_audit(struct request *request,
                                   struct ledger_reader *reader,
                                   struct audit_room *room,
                                   struct json_out *out,
                                   struct error *err)
{
    struct page asked;
    struct rights rights;
    struct audit_query query;
    enum error_code code = page_begin(request, "audit", &asked, err);
    code = code == ERR_OK ? rights_begin(&request->principal, reader, &rights, err) : code;
    code = code == ERR_OK ? read_query(request, &rights, &query, err) : code;
    if (code != ERR_OK) {
        return code;
    }
    struct audit_page page = {.reader = reader,
                              .rights = &rights,
                              .query = &query,
                              .room = room,
                              .out = out,
                              .last_no = query.after};
    request->answer.content_type = query.is_ndjson ? "application/x-ndjson" : "application/json";
    err->code = ERR_OK;
    write_page(&page, &asked, err);
    return err->code;
}

static void read_audit(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    struct json_out out;
    CLEANUP(cleanup_free) struct audit_room *room = calloc(1, sizeof(*room));
    enum error_code code = room != NULL ? ledger_reader_begin(reader, &err)
                                        : error_set(&err, ERR_UNAVAILABLE, "out of memory");
    if (code == ERR_OK) {
        request_answer_begin(request, 200, &out);
        code = write_audit(request, reader, room, &out, &err);
        ledger_reader_end(reader);
    }
    if (code != ERR_OK) {
        request_refuse(request, &err);
        return;
    }
    request_answer_end(request);
}

void api_list_audit(struct request *request)
{
    struct error err;
    const char *format = request_query(request, QUERY_FORMAT);
    if (format != NULL && format[0] == 'n') {
        request_answer_by_report(request, read_audit); /* it may walk the whole log */
        return;
    }
    request->is_pending = true;
    if (request_read(request, read_audit, &err) != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}
