/*
 * A workbook of one sheet, written row by row to a file (libxlsxwriter in constant memory): frozen bold
 * header, typed cells, totals below.
 */
#ifndef SERVER_XLSX_H
#define SERVER_XLSX_H

#include "server/export.h"

struct xlsx;

/** @fd  an empty file, which stays the caller's; written through /proc/self/fd when the workbook is ended */
MUST_USE enum error_code xlsx_begin(int fd,
                                    const struct export_column *columns,
                                    size_t count,
                                    struct xlsx **ret_xlsx,
                                    struct error *err);

MUST_USE enum error_code xlsx_row(struct xlsx *xlsx,
                                  const struct export_value *values,
                                  struct error *err);

/** A bold row below all others; as xlsx_row(). */
MUST_USE enum error_code xlsx_total(struct xlsx *xlsx,
                                    const struct export_value *values,
                                    struct error *err);

/** Write the file and free the workbook. */
MUST_USE enum error_code xlsx_end(struct xlsx *xlsx, struct error *err);

/** Free one that is given up. NULL is allowed. */
void xlsx_destroy(struct xlsx *xlsx);

#endif
