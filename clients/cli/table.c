/* Tables for people: see table.h. */
#include "clients/cli/table.h"

#include <stdlib.h>
#include <string.h>

#include "clients/cli/text.h"

static const size_t gap = 2;

void table_init(struct table *table)
{
    *table = (struct table){0};
}

void table_fini(struct table *table)
{
    for (size_t i = 0; i < table->cells_count; i++) {
        free(table->cells[i]);
    }
    free(table->cells);
    *table = (struct table){0};
}

void table_column(struct table *table, const char *title, bool right)
{
    if (table->columns == TABLE_COLUMNS_MAX) {
        return;
    }
    table->right[table->columns++] = right;
    table_cell(table, title);
}

void table_begin(struct table *table, const struct table_title *titles, size_t count)
{
    table_init(table);
    for (size_t i = 0; i < count; i++) {
        table_column(table, tr(titles[i].english), titles[i].right);
    }
}

void table_begin_pairs(struct table *table)
{
    table_init(table);
    table_column(table, "", false);
    table_column(table, "", false);
}

void table_cell(struct table *table, const char *text)
{
    if (table->cells_count == table->cells_room) {
        size_t room = table->cells_room == 0 ? 64 : table->cells_room * 2;
        char **grown = reallocarray(table->cells, room, sizeof *grown);
        if (grown == NULL) {
            table->incomplete = true;
            return;
        }
        table->cells = grown;
        table->cells_room = room;
    }
    char *copy = strdup(text == NULL ? "" : text);
    if (copy == NULL) {
        table->incomplete = true;
        return;
    }
    table->cells[table->cells_count++] = copy;
}

/* Widths of the cells from `first` on. */
static void widths_measure(const struct table *table,
                           size_t first,
                           size_t ret_widths[TABLE_COLUMNS_MAX])
{
    for (size_t i = first; i < table->cells_count; i++) {
        size_t width = text_width(table->cells[i]);
        if (width > ret_widths[i % table->columns]) {
            ret_widths[i % table->columns] = width;
        }
    }
}

/* Whether all cells to the right of one are empty: then nothing is padded behind it. */
static bool is_last(const struct table *table, size_t index)
{
    for (size_t i = index + 1; i < table->cells_count && i % table->columns != 0; i++) {
        if (table->cells[i][0] != '\0') {
            return false;
        }
    }
    return true;
}

static void cell_print(const struct table *table, size_t index, size_t columns, FILE *out)
{
    const char *text = table->cells[index];
    bool right = table->right[index % table->columns];
    size_t width = text_width(text);
    bool last = is_last(table, index);
    if (last && *text == '\0') {
        return;
    }
    if (right) {
        text_pad(out, width, columns);
    }
    text_print(out, text);
    if (last) {
        return;
    }
    if (!right) {
        text_pad(out, width, columns);
    }
    text_pad(out, 0, gap);
}

static void cells_print(const struct table *table, size_t first, FILE *out, unsigned indent)
{
    size_t widths[TABLE_COLUMNS_MAX] = {0};
    widths_measure(table, first, widths);
    for (size_t i = first; i < table->cells_count; i++) {
        if (i % table->columns == 0) {
            text_pad(out, 0, indent);
        }
        cell_print(table, i, widths[i % table->columns], out);
        if ((i + 1) % table->columns == 0 || i + 1 == table->cells_count) {
            fputc('\n', out);
        }
    }
    if (table->incomplete) {
        fputs("(out of memory: rows are missing)\n", out);
    }
}

void table_print(const struct table *table, FILE *out, unsigned indent)
{
    if (table->columns > 0 && table->cells_count > table->columns) {
        cells_print(table, 0, out, indent);
    }
}

void table_rows_print(const struct table *table, FILE *out, unsigned indent)
{
    if (table->columns > 0 && table->cells_count > table->columns) {
        cells_print(table, table->columns, out, indent);
    }
}
