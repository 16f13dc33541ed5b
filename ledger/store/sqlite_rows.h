/*
 * Many records of a type with one statement.
 *
 * Half of what a small insert costs is the start and the end of its statement. Where many records of a type are to be
 * inserted, SQLITE_ROWS of them go through one: schema/queries/insert_<record>.sql with its row of parameters repeated.
 */
#ifndef LEDGER_STORE_SQLITE_ROWS_H
#define LEDGER_STORE_SQLITE_ROWS_H

#include "ledger/store/sqlite_connection.h"

/* Does a type gain by it? Records with lists or many fields do not. */
bool sqlite_rows_wanted(const struct record_type *type);

/* Prepare the statement of a type from the text of its insert. SQLITE_OK or SQLite's error. */
int sqlite_rows_prepare(struct sqlite_connection *connection, const struct record_type *type);

/* Insert SQLITE_ROWS records. SQLITE_DONE or SQLite's error. */
int sqlite_rows_insert(struct sqlite_connection *connection,
                       const struct record_type *type,
                       const void *const *records);

#endif
