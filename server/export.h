/*
 * Tables of rows as files: CSV (RFC 4180) and workbooks (XLSX). One table has one header; its rows come in
 * the order in which they are written, and memory does not grow with their number.
 *
 * A CSV is written into the answer's body, which is spilled to a file as it grows (server/request.h); a
 * workbook is a file from the beginning.
 */
#ifndef SERVER_EXPORT_H
#define SERVER_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/base/error.h"
#include "server/request.h"

enum { EXPORT_COLUMNS = 64, EXPORT_NO_TOTALS = -2 };

/* How a value is written; all are exact integers before that. */
enum export_kind {
    EXPORT_TEXT,
    EXPORT_INTEGER,
    EXPORT_HOURS,    /* mcs as core-hours, mgs as GPU-hours: 5 decimals, half up */
    EXPORT_MONEY,    /* millionths: 6 decimals */
    EXPORT_QUANTITY, /* mcs as core-hours with 9 decimals, half up */
};

struct export_column {
    const char *name;
    enum export_kind kind;
    bool is_summed; /* in the totals of a workbook */
};

struct export_value {
    const char *text; /* EXPORT_TEXT; NULL: no value */
    int64_t number;
    bool is_null; /* of the others */
};

enum export_format { EXPORT_CSV, EXPORT_XLSX };

/** What a table looks like. */
struct export_sheet {
    const struct export_column *columns; /* borrowed until the end */
    size_t count;                        /* at most EXPORT_COLUMNS */
    int currency; /* the column with the currency of EXPORT_MONEY, whose sums are kept apart by it; -1: none;
                     EXPORT_NO_TOTALS: the table has rows of its own that say what it comes to */
};

struct export;

/**
 * Begin a table and write its header.
 *
 * ERR_UNAVAILABLE: no memory, no temporary file.
 */
MUST_USE enum error_code export_begin(struct request *request,
                                      enum export_format format,
                                      const struct export_sheet *sheet,
                                      struct export **ret_export,
                                      struct error *err);

/** Write a row of as many values. ERR_UNAVAILABLE; ERR_INVALID_FIELD for more rows than a workbook has. */
MUST_USE enum error_code export_row(struct export *export,
                                    const struct export_value *values,
                                    struct error *err);

/** Finish the answer (a workbook: with its totals) and free the export. */
MUST_USE enum error_code export_end(struct export *export, struct error *err);

/** Free an export that is given up. NULL is allowed. */
void export_destroy(struct export *export);

/** A number in units of the last decimal that a file shows: core-hours in 1e-5, and so on; half away from 0. */
int64_t export_scaled(enum export_kind kind, int64_t number);

/** A number as a file shows it: "1.33333", "-0.50", "17". Returns @ret_text. */
enum { EXPORT_NUMBER_BYTES = 64 };
const char *export_format_number(enum export_kind kind,
                                 int64_t number,
                                 char ret_text[EXPORT_NUMBER_BYTES]);

#endif
