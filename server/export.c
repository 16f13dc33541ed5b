/* See export.h. */
#include "server/export.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ledger/base/amount.h"
#include "server/xlsx.h"

/* What the rows of a workbook come to; money by currency. */
struct totals {
    int64_t sums[EXPORT_COLUMNS];
    size_t count;
    struct currency {
        char name[8];
        int64_t sums[EXPORT_COLUMNS];
    } * currencies; /* owned */
};

struct export
{
    struct request *request;
    const struct export_column *columns;
    size_t count;
    int currency;
    struct xlsx *xlsx; /* NULL: a CSV */
    struct totals totals;
};

/* ---- numbers */

/* numerator / denominator, half away from 0. */
static int64_t divide(__int128 numerator, int64_t denominator)
{
    const bool negative = numerator < 0;
    const __int128 whole =
        ((negative ? -numerator : numerator) * 2 + denominator) / denominator / 2;
    return (int64_t)(negative ? -whole : whole);
}

int64_t export_scaled(enum export_kind kind, int64_t number)
{
    switch (kind) {
    case EXPORT_HOURS:
        return divide((__int128)number * 100000, 3600000);
    case EXPORT_QUANTITY:
        return divide((__int128)number * 1000000000, 3600000);
    case EXPORT_TEXT:
    case EXPORT_INTEGER:
    case EXPORT_MONEY:
        break;
    }
    return number;
}

static const char *format_decimal(int64_t scaled, int decimals, char *ret_text)
{
    uint64_t unit = 1;
    for (int i = 0; i < decimals; i++) {
        unit *= 10;
    }
    const uint64_t size = scaled < 0 ? 0 - (uint64_t)scaled : (uint64_t)scaled;
    (void)snprintf(ret_text, EXPORT_NUMBER_BYTES, "%s%" PRIu64 ".%0*" PRIu64, scaled < 0 ? "-" : "",
                   size / unit, decimals, size % unit);
    return ret_text;
}

const char *export_format_number(enum export_kind kind,
                                 int64_t number,
                                 char ret_text[EXPORT_NUMBER_BYTES])
{
    switch (kind) {
    case EXPORT_HOURS:
        return format_decimal(export_scaled(kind, number), 5, ret_text);
    case EXPORT_QUANTITY:
        return format_decimal(export_scaled(kind, number), 9, ret_text);
    case EXPORT_MONEY:
        return format_decimal(number, 6, ret_text);
    case EXPORT_TEXT:
    case EXPORT_INTEGER:
        break;
    }
    (void)snprintf(ret_text, EXPORT_NUMBER_BYTES, "%" PRId64, number);
    return ret_text;
}

/* ---- CSV */

static void put_value(struct buffer *to, enum export_kind kind, const struct export_value *value)
{
    char text[EXPORT_NUMBER_BYTES];
    if (value->text != NULL) {
        (void)buffer_append_csv(to, value->text);
    } else if (kind != EXPORT_TEXT && !value->is_null) {
        (void)buffer_append_text(to, export_format_number(kind, value->number, text));
    }
}

static enum error_code csv_row(struct export *export,
                               const struct export_value *values,
                               struct error *err)
{
    struct buffer *body = &export->request->answer.body;
    for (size_t i = 0; i < export->count; i++) {
        if (i > 0) {
            (void)buffer_append_byte(body, ',');
        }
        put_value(body, export->columns[i].kind, &values[i]);
    }
    (void)buffer_append_text(body, "\r\n");
    return request_answer_spill(export->request)
               ? ERR_OK
               : error_set(err, ERR_UNAVAILABLE, "no room for a long answer");
}

static void csv_header(struct export *export)
{
    struct buffer *body = &export->request->answer.body;
    for (size_t i = 0; i < export->count; i++) {
        (void)buffer_printf(body, "%s%s", i > 0 ? "," : "", export->columns[i].name);
    }
    (void)buffer_append_text(body, "\r\n");
}

/* ---- totals of a workbook */

/* The sums of a row's currency; NULL where it has none. */
static enum error_code money_sums(struct export *export,
                                  const struct export_value *values,
                                  int64_t **ret_sums,
                                  struct error *err)
{
    struct totals *totals = &export->totals;
    const char *name = export->currency >= 0 ? values[export->currency].text : NULL;
    *ret_sums = NULL;
    if (name == NULL || name[0] == '\0') {
        return ERR_OK;
    }
    size_t i = 0;
    while (i < totals->count && strcmp(totals->currencies[i].name, name) != 0) {
        i++;
    }
    if (i == totals->count) {
        struct currency *grown = realloc(totals->currencies, (i + 1) * sizeof(grown[0]));
        if (grown == NULL) {
            return error_set(err, ERR_UNAVAILABLE, "no memory for the totals of a currency");
        }
        totals->currencies = grown;
        memset(&grown[i], 0, sizeof(grown[i]));
        (void)snprintf(grown[i].name, sizeof(grown[i].name), "%s", name);
        totals->count++;
    }
    *ret_sums = totals->currencies[i].sums;
    return ERR_OK;
}

static enum error_code add_to_totals(struct export *export,
                                     const struct export_value *values,
                                     struct error *err)
{
    int64_t *money;
    const enum error_code code = money_sums(export, values, &money, err);
    if (code != ERR_OK) {
        return code;
    }
    for (size_t i = 0; i < export->count; i++) {
        const struct export_column *column = &export->columns[i];
        int64_t *sum = column->kind == EXPORT_MONEY ? money : export->totals.sums;
        if (!column->is_summed || values[i].is_null || sum == NULL) {
            continue;
        }
        if (!i64_add(sum[i], values[i].number, &sum[i])) {
            return error_set(err, ERR_INTERNAL, "a total leaves what can be counted");
        }
    }
    return ERR_OK;
}

/* One row of sums; money only that of one currency, or none. */
static enum error_code write_totals(struct export *export,
                                    const char *label,
                                    bool amounts,
                                    int currency,
                                    struct error *err)
{
    struct export_value values[EXPORT_COLUMNS] = {{0}};
    const struct totals *totals = &export->totals;
    for (size_t i = 0; i < export->count; i++) {
        const bool money = export->columns[i].kind == EXPORT_MONEY;
        values[i].is_null = !export->columns[i].is_summed || (money ? currency < 0 : !amounts);
        values[i].number =
            money && currency >= 0 ? totals->currencies[currency].sums[i] : totals->sums[i];
    }
    values[0] = (struct export_value){.text = label};
    if (export->currency >= 0 && currency >= 0) {
        values[export->currency] = (struct export_value){.text = totals->currencies[currency].name};
    }
    return xlsx_total(export->xlsx, values, err);
}

static enum error_code xlsx_finish(struct export *export, struct error *err)
{
    const struct totals *totals = &export->totals;
    enum error_code code = ERR_OK;
    if (export->currency != EXPORT_NO_TOTALS) {
        code = write_totals(export, "total", true, totals->count == 1 ? 0 : -1, err);
    }
    for (size_t i = 0; totals->count > 1 && i < totals->count && code == ERR_OK; i++) {
        code = write_totals(export, "total", false, (int)i, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    struct xlsx *xlsx = export->xlsx;
    struct stat file;
    export->xlsx = NULL;
    code = xlsx_end(xlsx, err);
    if (code == ERR_OK && fstat(export->request->answer.file, &file) != 0) {
        code = error_set(err, ERR_UNAVAILABLE, "the workbook: %m");
    }
    export->request->answer.file_bytes = code == ERR_OK ? (uint64_t)file.st_size : 0;
    return code;
}

/* ---- either */

static enum error_code begin_xlsx(struct export *export, struct error *err)
{
    int fd;
    enum error_code code = request_answer_file(export->request, &fd, err);
    return code == ERR_OK ? xlsx_begin(fd, export->columns, export->count, &export->xlsx, err)
                          : code;
}

enum error_code export_begin(struct request *request,
                             enum export_format format,
                             const struct export_sheet *sheet,
                             struct export **ret_export,
                             struct error *err)
{
    struct json_out unused;
    assert(sheet->count <= EXPORT_COLUMNS);
    struct export *export = calloc(1, sizeof(*export));
    if (export == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    export->request = request;
    export->columns = sheet->columns;
    export->count = sheet->count;
    export->currency = sheet->currency;
    request_answer_begin(request, 200, &unused);
    request->answer.content_type =
        format == EXPORT_CSV ? "text/csv; charset=utf-8; header=present"
                             : "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
    enum error_code code = ERR_OK;
    if (format == EXPORT_CSV) {
        csv_header(export);
    } else {
        code = begin_xlsx(export, err);
    }
    if (code != ERR_OK) {
        export_destroy(export);
        return code;
    }
    *ret_export = export;
    return ERR_OK;
}

enum error_code export_row(struct export *export,
                           const struct export_value *values,
                           struct error *err)
{
    if (export->xlsx == NULL) {
        return csv_row(export, values, err);
    }
    const enum error_code code = add_to_totals(export, values, err);
    return code == ERR_OK ? xlsx_row(export->xlsx, values, err) : code;
}

enum error_code export_end(struct export *export, struct error *err)
{
    const enum error_code code = export->xlsx != NULL ? xlsx_finish(export, err) : ERR_OK;
    if (code == ERR_OK) {
        request_answer_end(export->request);
    }
    export_destroy(export);
    return code;
}

void export_destroy(struct export *export)
{
    if (export != NULL) {
        xlsx_destroy(export->xlsx);
        free(export->totals.currencies);
        free(export);
    }
}
