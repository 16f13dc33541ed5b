/*
 * Starting over after an I/O error: what is done before and after the connection is opened anew.
 */
#ifndef LEDGER_STORE_SQLITE_RESTART_H
#define LEDGER_STORE_SQLITE_RESTART_H

#include "ledger/store/sqlite_connection.h"

/*
 * On the old connection: make sure that the transaction that failed stays undone.
 *
 * When the sync of a commit fails, its pages may lie complete in the WAL although the caller was
 * told that nothing was written: whoever reads the WAL anew would take them for committed. The old
 * connection still knows where they begin, so it writes a small transaction over them (one more
 * restart counted), which breaks their chain of checksums. As long as that fails the disk is not
 * back.
 */
enum error_code sqlite_restart_void(struct sqlite_connection *connection, struct error *err);

/* On the new connection: does the end of every root's journal agree with its state? ERR_INTERNAL
 * where it does not. */
enum error_code sqlite_restart_check(struct sqlite_connection *connection, struct error *err);

#endif
