/* The statement of a payer's month (SPEC 8.3) as JSON, CSV or a workbook. */
#include <string.h>

#include "ledger/base/calendar.h"
#include "ledger/base/text.h"
#include "server/api.h"
#include "server/export.h"
#include "server/focus.h"
#include "server/rights.h"

enum { LINES = 9 };

/* A line: what it says, and its sign in the sum. */
struct line {
    const char *name;
    int64_t mcs;    /* as it is called: 5 used are 5 */
    int64_t effect; /* on the balance; of the closing line 0 */
};

static void fill_lines(const struct ledger_statement *statement, struct line lines[LINES])
{
    const struct payer_flow *flow = &statement->flow;
    const int64_t transferred = flow->in_mcs - flow->out_mcs;
    const struct line all[LINES] = {
        {"opening", statement->opening_mcs, statement->opening_mcs},
        {"granted", flow->granted_mcs, flow->granted_mcs},
        {"transferred", transferred, transferred},
        {"withdrawn", flow->withdrawn_mcs, -flow->withdrawn_mcs},
        {"used", flow->used_mcs, -flow->used_mcs},
        {"refunded", flow->refunded_mcs, flow->refunded_mcs},
        {"corrected", flow->corrected_mcs, -flow->corrected_mcs},
        {"expired", flow->expired_mcs, -flow->expired_mcs},
        {"closing", statement->closing_mcs, 0},
    };
    memcpy(lines, all, sizeof(all));
}

/* ---- what is asked for */

static enum error_code find_node(struct ledger_reader *reader,
                                 struct rights *rights,
                                 const char *name,
                                 struct node *ret_node,
                                 struct error *err)
{
    enum error_code code = ledger_read_node(reader, NODE_ORGANIZATION, name, "", ret_node, NULL);
    if (code == ERR_NOT_FOUND) {
        code = ledger_read_node(reader, NODE_PROJECT, name, "", ret_node, err);
    }
    return code == ERR_OK ? rights_see_node(rights, ret_node, name, err) : code;
}

static enum error_code read_statement(const struct request *request,
                                      struct ledger_reader *reader,
                                      struct ledger_statement *ret_statement,
                                      struct error *err)
{
    const char *name = request_query(request, QUERY_NODE);
    const char *month = request_query(request, QUERY_MONTH);
    struct rights rights;
    struct node node;
    struct error why;
    int32_t number;
    if (name == NULL || !text_is_node_name(name)) {
        return error_set_field(err, ERR_INVALID_FIELD, "node", "name the node that pays");
    }
    if (month == NULL || calendar_parse_month(month, &number, &why) != ERR_OK) {
        return error_set_field(err, ERR_INVALID_FIELD, "month", "a month such as 2026-11");
    }
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    if (code == ERR_OK) {
        code = find_node(reader, &rights, name, &node, err);
    }
    if (code == ERR_NOT_FOUND) {
        return error_set(err, code, "no organization or project %s", name);
    }
    return code == ERR_OK ? ledger_read_statement(reader, &node, number, ret_statement, err) : code;
}

static enum error_code read_format(const struct request *request,
                                   enum report_format *ret_format,
                                   struct error *err)
{
    const char *format = request_query(request, QUERY_FORMAT);
    if (format == NULL || strcmp(format, "json") == 0) {
        *ret_format = FORMAT_JSON;
    } else if (strcmp(format, "csv") == 0) {
        *ret_format = FORMAT_CSV;
    } else if (strcmp(format, "xlsx") == 0) {
        *ret_format = FORMAT_XLSX;
    } else {
        return error_set_field(err, ERR_INVALID_FIELD, "format", "neither json, csv nor xlsx");
    }
    return ERR_OK;
}

/* ---- how it is written */

/* A balance of an endless payer is no number. */
static bool is_endless(const struct ledger_statement *statement, size_t line)
{
    return statement->unlimited && (line == 0 || line == LINES - 1);
}

static void write_json(struct request *request, const struct ledger_statement *statement)
{
    struct json_out out;
    struct line lines[LINES];
    char month[CALENDAR_MONTH_TEXT_BYTES];
    fill_lines(statement, lines);
    request_answer_begin(request, 200, &out);
    json_out_object_open(&out, NULL);
    json_out_text(&out, "node", statement->node.name);
    json_out_text(&out, "root", statement->root);
    json_out_text(&out, "month", calendar_format_month((int32_t)statement->month, month));
    json_out_bool(&out, "closed", statement->closed);
    for (size_t i = 0; i < LINES; i++) {
        if (is_endless(statement, i)) {
            json_out_amount_null(&out, lines[i].name);
        } else {
            json_out_amount(&out, lines[i].name, lines[i].mcs);
        }
        if (strcmp(lines[i].name, "transferred") == 0) {
            json_out_amount(&out, "transferred_in", statement->flow.in_mcs);
            json_out_amount(&out, "transferred_out", statement->flow.out_mcs);
        }
    }
    json_out_object_close(&out);
    request_answer_end(request);
}

static enum error_code write_lines(struct export *export,
                                   const struct ledger_statement *statement,
                                   struct error *err)
{
    struct line lines[LINES];
    char month[CALENDAR_MONTH_TEXT_BYTES];
    int64_t balance = 0;
    enum error_code code = ERR_OK;
    fill_lines(statement, lines);
    (void)calendar_format_month((int32_t)statement->month, month);
    for (size_t i = 0; i < LINES && code == ERR_OK; i++) {
        balance += lines[i].effect;
        const bool endless = is_endless(statement, i);
        const struct export_value values[] = {
            {.text = statement->node.name},
            {.text = month},
            {.text = lines[i].name},
            {.number = lines[i].mcs, .is_null = endless},
            {.number = lines[i].mcs, .is_null = endless},
            {.number = balance, .is_null = statement->unlimited},
            {.number = balance, .is_null = statement->unlimited},
        };
        code = export_row(export, values, err);
    }
    return code;
}

static enum error_code write_table(struct request *request,
                                   enum report_format format,
                                   const struct ledger_statement *statement,
                                   struct error *err)
{
    static const struct export_column columns[] = {
        {"node", EXPORT_TEXT, false},
        {"month", EXPORT_TEXT, false},
        {"line", EXPORT_TEXT, false},
        {"mcs", EXPORT_INTEGER, false},
        {"core_hours", EXPORT_HOURS, false},
        {"balance_mcs", EXPORT_INTEGER, false},
        {"balance_core_hours", EXPORT_HOURS, false},
    };
    const struct export_sheet sheet = {columns, ARRAY_LEN(columns), EXPORT_NO_TOTALS};
    struct export *export;
    enum error_code code = export_begin(request, format == FORMAT_CSV ? EXPORT_CSV : EXPORT_XLSX,
                                        &sheet, &export, err);
    if (code != ERR_OK) {
        return code;
    }
    code = write_lines(export, statement, err);
    if (code != ERR_OK) {
        export_destroy(export);
        return code;
    }
    return export_end(export, err);
}

static void read_and_write(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    struct ledger_statement statement;
    enum report_format format = FORMAT_JSON;
    enum error_code code = ledger_reader_begin(reader, &err);
    if (code == ERR_OK) {
        code = read_format(request, &format, &err);
        code = code == ERR_OK ? read_statement(request, reader, &statement, &err) : code;
        ledger_reader_end(reader);
    }
    if (code == ERR_OK && format == FORMAT_JSON) {
        write_json(request, &statement);
    } else if (code == ERR_OK) {
        code = write_table(request, format, &statement, &err);
    }
    if (code != ERR_OK) {
        request_refuse(request, &err);
    }
}

void api_report_statement(struct request *request)
{
    request_answer_by_report(request, read_and_write);
}
