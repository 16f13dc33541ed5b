/*
 * The usage report: the ledger's groups as JSON, CSV, a workbook or FOCUS, on the thread for reports. Each
 * row is written as it comes, so that a report of any length takes no more memory than a short one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/base/calendar.h"
#include "server/api.h"
#include "server/decode_shapes.h"
#include "server/encode.h"
#include "server/export.h"
#include "server/focus.h"
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

const struct decode_choice choices_usage_kind[] = {
    {"usage", USAGE_USAGE},
    {"correction", USAGE_CORRECTION},
    {"refund", USAGE_REFUND},
    {"waived", USAGE_WAIVED},
    {NULL, 0},
};

static const struct decode_choice formats[] = {
    {"json", FORMAT_JSON},   {"csv", FORMAT_CSV}, {"xlsx", FORMAT_XLSX},
    {"focus", FORMAT_FOCUS}, {NULL, 0},
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
            return error_set_field(
                err, ERR_INVALID_FIELD, "group_by",
                "\"%.*s\" is no column; there are organization, project, user, cluster, partition, qos, "
                "gpu_model, outcome, day and month",
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

/* from and to as months, to exclusive. ERR_INVALID_FIELD for any other form. */
static enum error_code read_months(const char *from,
                                   const char *to,
                                   struct report_query *query,
                                   struct error *err)
{
    struct report_query last = {.from = 0};
    enum error_code code = read_month(from, query, err);
    code = code == ERR_OK ? read_month(to, &last, err) : code;
    if (code == ERR_OK) {
        query->to = last.from;
    }
    return code;
}

/* month, or from and to in days or in months; to is behind the last. */
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
    query->by_days = strlen(from) >= CALENDAR_DAY_TEXT_BYTES - 1;
    enum error_code code;
    if (query->by_days) {
        code = read_day(from, "from", &query->from, err);
        code = code == ERR_OK ? read_day(to, "to", &query->to, err) : code;
    } else {
        code = read_months(from, to, query, err);
    }
    if (code == ERR_OK && query->to <= query->from) {
        code = error_set_field(err, ERR_INVALID_FIELD, "to",
                               "the day or month after the last, behind from");
    }
    query->to--;
    return code;
}

/* A lead asks for a report of its own place: it is told by what name it gets one. What is not seen is not there. */
static enum error_code refuse_no_root(struct ledger_reader *reader,
                                      struct rights *rights,
                                      const struct node *node,
                                      struct error *err)
{
    struct node root;
    enum error_code code = rights_see_node(rights, node, node->name, err);
    code = code == ERR_OK ? ledger_read_node_no(reader, node->root_no, &root, err) : code;
    if (code == ERR_NOT_FOUND) {
        return error_set(err, code, "no root %s", node->name);
    }
    return code != ERR_OK
               ? code
               : error_set_field(err, ERR_INVALID_FIELD, "root",
                                 "%s is not a root: ask for %s, of which every token sees its part",
                                 node->name, root.name);
}

static enum error_code read_root(const char *name,
                                 struct ledger_reader *reader,
                                 struct rights *rights,
                                 struct usage_report *report,
                                 struct error *err)
{
    enum error_code code =
        ledger_read_node(reader, NODE_ORGANIZATION, name, "", &report->root, err);
    if (code == ERR_OK && report->root.root_no != report->root.node_no) {
        return refuse_no_root(reader, rights, &report->root, err);
    }
    if (code == ERR_OK) {
        code = rights_narrow(rights, &report->root, &report->query.below_no, err);
    }
    if (code == ERR_NOT_FOUND) {
        return error_set(err, code, "no root %s", name);
    }
    report->query.root_no = report->root.node_no;
    return code;
}

static enum error_code read_format(const struct request *request,
                                   struct usage_report *report,
                                   struct error *err)
{
    const char *format = request_query(request, QUERY_FORMAT);
    const char *version = request_query(request, QUERY_FOCUS_VERSION);
    const struct decode_choice *choice = formats;
    while (format != NULL && choice->name != NULL && strcmp(choice->name, format) != 0) {
        choice++;
    }
    if (choice->name == NULL) {
        return error_set_field(err, ERR_INVALID_FIELD, "format",
                               "neither json, csv, xlsx nor focus");
    }
    report->format = (enum report_format)choice->value;
    const bool is_old = version != NULL && strcmp(version, "1.2") == 0;
    if (version != NULL && !is_old && strcmp(version, "1.4") != 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "focus_version", "neither 1.4 nor 1.2");
    }
    report->focus_version = is_old ? FOCUS_1_2 : FOCUS_1_4;
    return ERR_OK;
}

static enum error_code read_report_query(const struct request *request,
                                         struct ledger_reader *reader,
                                         struct usage_report *report,
                                         struct error *err)
{
    struct rights rights;
    const char *root = request_query(request, QUERY_ROOT);
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    if (code == ERR_OK) {
        code = read_format(request, report, err);
    }
    if (code == ERR_OK && root == NULL) {
        code = error_set_field(err, ERR_INVALID_FIELD, "root", "required");
    }
    if (code == ERR_OK) {
        code = read_span(request, &report->query, err);
    }
    if (code == ERR_OK) {
        code = read_group_by(request_query(request, QUERY_GROUP_BY), &report->query.group_by, err);
    }
    return code == ERR_OK ? read_root(root, reader, &rights, report, err) : code;
}

/* ---- JSON */

struct usage_page {
    struct request *request;
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
    json_out_text(out, "kind", decode_choice_name(choices_usage_kind, (int)row->kind));
    json_out_amount(out, "used", row->used_mcs);
    json_out_amount(out, "waived", row->waived_mcs);
    json_out_amount(out, "unfrozen", row->unfrozen_mcs);
    write_gpu_hours(out, row->mgs);
    json_out_integer(out, "runs", row->runs);
    write_cost(out, row);
    json_out_object_close(out);
    return request_answer_spill(page->request);
}

static enum error_code write_json(struct request *request,
                                  struct ledger_reader *reader,
                                  const struct usage_report *report,
                                  struct error *err)
{
    struct page page;
    struct json_out out;
    const enum error_code code = page_begin(request, "usage", &page, err);
    if (code != ERR_OK) {
        return code;
    }
    const bool is_paged = request_query(request, QUERY_PAGE_SIZE) != NULL || page.from > 0;
    struct usage_page rows = {
        .request = request,
        .out = &out,
        .group_by = report->query.group_by,
        .skip = page.from,
        .left = is_paged ? page.size : INT64_MAX,
    };
    request_answer_begin(request, 200, &out);
    json_out_object_open(&out, NULL);
    json_out_array_open(&out, "rows");
    const enum error_code read =
        ledger_report_usage(reader, &report->query, write_usage_row, &rows, err);
    json_out_array_close(&out);
    page_write_next(&out, "usage", rows.has_more ? rows.position : 0);
    json_out_object_close(&out);
    if (read == ERR_OK) {
        request_answer_end(request);
    }
    return read;
}

/* ---- CSV and workbooks */

enum { USAGE_COLUMNS = 22 };

/* Every column that a table may have; group_by chooses among the first. */
static const struct usage_column {
    struct export_column column;
    uint32_t bit;  /* 0: always there */
    size_t offset; /* of a text in struct report_row; else 0 */
} usage_columns[USAGE_COLUMNS] = {
    {{"month", EXPORT_TEXT, false}, 0, 0},
    {{"day", EXPORT_TEXT, false}, REPORT_DAY, 0},
    {{"organization", EXPORT_TEXT, false},
     REPORT_ORGANIZATION,
     offsetof(struct report_row, organization)},
    {{"project", EXPORT_TEXT, false}, REPORT_PROJECT, offsetof(struct report_row, project)},
    {{"user", EXPORT_TEXT, false}, REPORT_USER, offsetof(struct report_row, user)},
    {{"cluster", EXPORT_TEXT, false}, REPORT_CLUSTER, offsetof(struct report_row, cluster)},
    {{"partition", EXPORT_TEXT, false}, REPORT_PARTITION, offsetof(struct report_row, partition)},
    {{"qos", EXPORT_TEXT, false}, REPORT_QOS, offsetof(struct report_row, qos)},
    {{"gpu_model", EXPORT_TEXT, false}, REPORT_GPU_MODEL, offsetof(struct report_row, gpu_model)},
    {{"outcome", EXPORT_TEXT, false}, REPORT_OUTCOME, 0},
    {{"period", EXPORT_TEXT, false}, 0, 0},
    {{"kind", EXPORT_TEXT, false}, 0, 0},
    {{"used_mcs", EXPORT_INTEGER, true}, 0, 0},
    {{"used_core_hours", EXPORT_HOURS, true}, 0, 0},
    {{"waived_mcs", EXPORT_INTEGER, true}, 0, 0},
    {{"waived_core_hours", EXPORT_HOURS, true}, 0, 0},
    {{"unfrozen_mcs", EXPORT_INTEGER, true}, 0, 0},
    {{"mgs", EXPORT_INTEGER, true}, 0, 0},
    {{"gpu_hours", EXPORT_HOURS, true}, 0, 0},
    {{"runs", EXPORT_INTEGER, true}, 0, 0},
    {{"cost", EXPORT_MONEY, true}, 0, 0},
    {{"currency", EXPORT_TEXT, false}, 0, offsetof(struct report_row, currency)},
};

struct usage_table {
    struct export *export;
    size_t chosen[USAGE_COLUMNS]; /* of usage_columns */
    size_t count;
    struct export_column columns[USAGE_COLUMNS];
    enum error_code code;
    struct error *err;
};

static void choose_columns(struct usage_table *table, uint32_t group_by)
{
    for (size_t i = 0; i < USAGE_COLUMNS; i++) {
        if (usage_columns[i].bit == 0 || (usage_columns[i].bit & group_by) != 0) {
            table->chosen[table->count] = i;
            table->columns[table->count++] = usage_columns[i].column;
        }
    }
}

const char *api_outcome_name(enum outcome outcome)
{
    const char *name = decode_choice_name(choices_outcome, (int)outcome);
    return name != NULL ? name : "running";
}

/* The row in all columns; texts live as long as the three buffers. */
struct usage_texts {
    char month[CALENDAR_MONTH_TEXT_BYTES];
    char period[CALENDAR_MONTH_TEXT_BYTES];
    char day[CALENDAR_DAY_TEXT_BYTES];
};

static void fill_values(const struct report_row *row,
                        struct usage_texts *texts,
                        struct export_value values[USAGE_COLUMNS])
{
    const struct export_value all[USAGE_COLUMNS] = {
        [0] = {.text = calendar_format_month((int32_t)row->month, texts->month)},
        [1] = {.text = calendar_format_day((int32_t)row->day, texts->day)},
        [9] = {.text = api_outcome_name(row->outcome)},
        [10] = {.text = calendar_format_month((int32_t)row->period, texts->period)},
        [11] = {.text = decode_choice_name(choices_usage_kind, (int)row->kind)},
        [12] = {.number = row->used_mcs},
        [13] = {.number = row->used_mcs},
        [14] = {.number = row->waived_mcs},
        [15] = {.number = row->waived_mcs},
        [16] = {.number = row->unfrozen_mcs},
        [17] = {.number = row->mgs},
        [18] = {.number = row->mgs},
        [19] = {.number = row->runs},
        [20] = {.number = row->cost_micro, .is_null = !row->cost_known},
    };
    memcpy(values, all, sizeof(all));
    for (size_t i = 0; i < USAGE_COLUMNS; i++) {
        if (usage_columns[i].column.kind == EXPORT_TEXT && values[i].text == NULL) {
            values[i].text = (const char *)row + usage_columns[i].offset;
        }
    }
}

static bool write_table_row(void *context, const struct report_row *row)
{
    struct usage_table *table = context;
    struct usage_texts texts;
    struct export_value all[USAGE_COLUMNS];
    struct export_value values[USAGE_COLUMNS];
    fill_values(row, &texts, all);
    for (size_t i = 0; i < table->count; i++) {
        values[i] = all[table->chosen[i]];
    }
    table->code = export_row(table->export, values, table->err);
    return table->code == ERR_OK;
}

static enum error_code write_table(struct request *request,
                                   struct ledger_reader *reader,
                                   const struct usage_report *report,
                                   struct error *err)
{
    struct usage_table table = {.err = err};
    choose_columns(&table, report->query.group_by);
    const struct export_sheet sheet = {table.columns, table.count, (int)table.count - 1};
    enum error_code code =
        export_begin(request, report->format == FORMAT_CSV ? EXPORT_CSV : EXPORT_XLSX, &sheet,
                     &table.export, err);
    if (code != ERR_OK) {
        return code;
    }
    code = ledger_report_usage(reader, &report->query, write_table_row, &table, err);
    code = code == ERR_OK ? table.code : code;
    if (code != ERR_OK) {
        export_destroy(table.export);
        return code;
    }
    return export_end(table.export, err);
}

/* ---- the route */

static enum error_code write_report(struct request *request,
                                    struct ledger_reader *reader,
                                    const struct usage_report *report,
                                    struct error *err)
{
    switch (report->format) {
    case FORMAT_JSON:
        return write_json(request, reader, report, err);
    case FORMAT_CSV:
    case FORMAT_XLSX:
        return write_table(request, reader, report, err);
    case FORMAT_FOCUS:
        break;
    }
    return focus_write(request, reader, report, err);
}

static void read_usage(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    struct usage_report report = {.format = FORMAT_JSON};
    enum error_code code = ledger_reader_begin(reader, &err);
    if (code == ERR_OK) {
        code = read_report_query(request, reader, &report, &err);
        code = code == ERR_OK ? write_report(request, reader, &report, &err) : code;
        ledger_reader_end(reader);
    }
    if (code != ERR_OK) {
        request_refuse(request, &err);
    }
}

void api_report_usage(struct request *request)
{
    request_answer_by_report(request, read_usage);
}
