/*
 * Tables for people: columns as wide as their widest cell, CJK counted by columns, numbers to the right.
 * Cells are copied. When memory is out, a cell is lost and table_print says so: a table is only shown.
 */
#ifndef COREHOUR_CLIENTS_CLI_TABLE_H
#define COREHOUR_CLIENTS_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_COLUMNS_MAX 32

struct table {
    size_t columns;
    bool right[TABLE_COLUMNS_MAX]; /* numbers: aligned to the right */
    char **cells;                  /* row by row, titles first */
    size_t cells_count;
    size_t cells_room;
    bool incomplete;
};

/* Begins a table without columns. */
void table_init(struct table *table);
void table_fini(struct table *table);

/* Adds a column; all columns before the first cell. Beyond TABLE_COLUMNS_MAX it is ignored. */
void table_column(struct table *table, const char *title, bool right);

/* What a table whose columns are known has at its top. */
struct table_title {
    const char *english; /* tr() is done here */
    bool right;
};

/* Begins a table with these columns. */
void table_begin(struct table *table, const struct table_title *titles, size_t count);

/* Begins a table of names and what they stand for, without titles: for table_rows_print. */
void table_begin_pairs(struct table *table);

/* Adds the next cell, from left to right; the row after the last column. NULL is an empty cell. */
void table_cell(struct table *table, const char *text);

/* Prints titles and rows; nothing when there are no rows. `indent`: spaces in front of each line. */
void table_print(const struct table *table, FILE *out, unsigned indent);

/* As table_print, without the line of titles, which do not count for the widths either. */
void table_rows_print(const struct table *table, FILE *out, unsigned indent);

#endif
