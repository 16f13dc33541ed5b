/* See xlsx.h. The only file of the daemon with floating point: a cell of a workbook is a double. */
#include "server/xlsx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xlsxwriter.h>

enum { XLSX_ROWS_MAX = 1048576, XLSX_A4 = 9 };

struct xlsx {
    lxw_workbook *workbook;
    lxw_worksheet *sheet;
    lxw_format *bold;
    lxw_format *formats[EXPORT_QUANTITY + 1];
    lxw_format *bold_formats[EXPORT_QUANTITY + 1];
    const struct export_column *columns;
    size_t count;
    lxw_row_t row;
    lxw_row_t rows_end; /* the last row that is no total */
};

/* How numbers are shown, and how many digits wide a column is at least, by enum export_kind. */
static const struct look {
    const char *number_format;
    double width;
} looks[] = {
    [EXPORT_TEXT] = {"@", 12},
    [EXPORT_INTEGER] = {"#,##0", 17},
    [EXPORT_HOURS] = {"#,##0.00000", 17},
    [EXPORT_MONEY] = {"#,##0.000000", 17},
    [EXPORT_QUANTITY] = {"#,##0.000000000", 21},
};

static void make_formats(struct xlsx *xlsx)
{
    xlsx->bold = workbook_add_format(xlsx->workbook);
    format_set_bold(xlsx->bold);
    format_set_indent(xlsx->bold, 1);
    for (size_t i = 0; i <= EXPORT_QUANTITY; i++) {
        xlsx->formats[i] = workbook_add_format(xlsx->workbook);
        xlsx->bold_formats[i] = workbook_add_format(xlsx->workbook);
        format_set_num_format(xlsx->formats[i], looks[i].number_format);
        format_set_num_format(xlsx->bold_formats[i], looks[i].number_format);
        format_set_bold(xlsx->bold_formats[i]);
    }
    /* A text does not touch the number on its left. */
    format_set_indent(xlsx->formats[EXPORT_TEXT], 1);
    format_set_indent(xlsx->bold_formats[EXPORT_TEXT], 1);
}

/* On paper: across, all columns on one page, the header on each. */
static void set_page(struct xlsx *xlsx)
{
    worksheet_set_landscape(xlsx->sheet);
    worksheet_set_paper(xlsx->sheet, XLSX_A4);
    worksheet_fit_to_pages(xlsx->sheet, 1, 0);
    (void)worksheet_repeat_rows(xlsx->sheet, 0, 0);
    (void)worksheet_set_footer(xlsx->sheet, "&R&P / &N");
}

/* A title stands over its numbers, and has room for the button of its filter. */
static void write_header(struct xlsx *xlsx)
{
    const size_t button = 4;
    lxw_format *const over_numbers = workbook_add_format(xlsx->workbook);
    format_set_bold(over_numbers);
    format_set_align(over_numbers, LXW_ALIGN_RIGHT);
    worksheet_freeze_panes(xlsx->sheet, 1, 0);
    for (size_t i = 0; i < xlsx->count; i++) {
        const struct export_column *column = &xlsx->columns[i];
        const double wanted = (double)(strlen(column->name) + button);
        const double least = looks[column->kind].width;
        (void)worksheet_set_column(xlsx->sheet, (lxw_col_t)i, (lxw_col_t)i,
                                   wanted > least ? wanted : least, NULL);
        (void)worksheet_write_string(xlsx->sheet, 0, (lxw_col_t)i, column->name,
                                     column->kind == EXPORT_TEXT ? xlsx->bold : over_numbers);
    }
    xlsx->row = 1;
}

enum error_code xlsx_begin(int fd,
                           const struct export_column *columns,
                           size_t count,
                           struct xlsx **ret_xlsx,
                           struct error *err)
{
    char path[32];
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct xlsx *xlsx = calloc(1, sizeof(*xlsx));
    lxw_workbook_options options = {.constant_memory = LXW_TRUE};
    if (xlsx != NULL) {
        xlsx->workbook = workbook_new_opt(path, &options);
    }
    if (xlsx == NULL || xlsx->workbook == NULL) {
        free(xlsx);
        return error_set(err, ERR_UNAVAILABLE, "no workbook can be begun");
    }
    /* The same cells are the same file, whenever it is asked for. */
    lxw_doc_properties properties = {.created = 1};
    (void)workbook_set_properties(xlsx->workbook, &properties);
    xlsx->sheet = workbook_add_worksheet(xlsx->workbook, "report");
    xlsx->columns = columns;
    xlsx->count = count;
    make_formats(xlsx);
    set_page(xlsx);
    write_header(xlsx);
    *ret_xlsx = xlsx;
    return ERR_OK;
}

/* Exact up to 2^53; beyond, and for fractions, the double that is nearest to the decimals of a CSV. */
static double cell_number(enum export_kind kind, int64_t number)
{
    const double scaled = (double)export_scaled(kind, number);
    switch (kind) {
    case EXPORT_HOURS:
        return scaled / 100000.0;
    case EXPORT_QUANTITY:
        return scaled / 1000000000.0;
    case EXPORT_MONEY:
        return scaled / 1000000.0;
    case EXPORT_TEXT:
    case EXPORT_INTEGER:
        break;
    }
    return scaled;
}

static lxw_error write_cell(struct xlsx *xlsx,
                            size_t column,
                            const struct export_value *value,
                            lxw_format *const *formats)
{
    const enum export_kind kind = xlsx->columns[column].kind;
    if (value->text != NULL) {
        return value->text[0] == '\0'
                   ? LXW_NO_ERROR
                   : worksheet_write_string(xlsx->sheet, xlsx->row, (lxw_col_t)column, value->text,
                                            formats[EXPORT_TEXT]);
    }
    if (kind == EXPORT_TEXT || value->is_null) {
        return LXW_NO_ERROR;
    }
    return worksheet_write_number(xlsx->sheet, xlsx->row, (lxw_col_t)column,
                                  cell_number(kind, value->number), formats[kind]);
}

static enum error_code write_row(struct xlsx *xlsx,
                                 const struct export_value *values,
                                 lxw_format *const *formats,
                                 struct error *err)
{
    if (xlsx->row >= XLSX_ROWS_MAX) {
        return error_set_field(err, ERR_INVALID_FIELD, "format",
                               "a workbook has at most %d rows: ask for csv, fewer columns or a "
                               "shorter time",
                               XLSX_ROWS_MAX);
    }
    for (size_t i = 0; i < xlsx->count; i++) {
        const lxw_error result = write_cell(xlsx, i, &values[i], formats);
        if (result != LXW_NO_ERROR) {
            return error_set(err, ERR_UNAVAILABLE, "the workbook: %s", lxw_strerror(result));
        }
    }
    xlsx->row++;
    return ERR_OK;
}

enum error_code xlsx_row(struct xlsx *xlsx, const struct export_value *values, struct error *err)
{
    const enum error_code code = write_row(xlsx, values, xlsx->formats, err);
    xlsx->rows_end = xlsx->row - 1;
    return code;
}

enum error_code xlsx_total(struct xlsx *xlsx, const struct export_value *values, struct error *err)
{
    return write_row(xlsx, values, xlsx->bold_formats, err);
}

enum error_code xlsx_end(struct xlsx *xlsx, struct error *err)
{
    if (xlsx->rows_end > 0) {
        (void)worksheet_autofilter(xlsx->sheet, 0, 0, xlsx->rows_end, (lxw_col_t)(xlsx->count - 1));
    }
    const lxw_error result = workbook_close(xlsx->workbook);
    free(xlsx);
    return result == LXW_NO_ERROR
               ? ERR_OK
               : error_set(err, ERR_UNAVAILABLE, "the workbook: %s", lxw_strerror(result));
}

void xlsx_destroy(struct xlsx *xlsx)
{
    if (xlsx != NULL) {
        lxw_workbook_free(xlsx->workbook);
        free(xlsx);
    }
}
