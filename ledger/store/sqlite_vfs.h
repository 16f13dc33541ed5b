/*
 * A SQLite VFS that puts small writes together.
 */
#ifndef LEDGER_STORE_SQLITE_VFS_H
#define LEDGER_STORE_SQLITE_VFS_H

/*
 * The name of the VFS for the writer's connection; registered over the default one at the first
 * call, which must not be made by two threads at once. NULL when that failed: the default VFS does
 * as well, only slower.
 *
 * SQLite writes each page of a commit with two system calls, 80 for a batch of freezes. This VFS
 * keeps writes that follow each other in a buffer until something else is asked of the file, in a
 * commit the sync: one call then writes them all. Nothing becomes durable later than it would have,
 * because SQLite syncs the WAL before it tells readers of a commit (synchronous = FULL, which
 * sqlite_connection.c insists on), and the database file before it counts pages as copied. A write
 * that fails is reported by the call that made it leave the buffer, at the latest by the sync.
 *
 * Locks, shared memory and everything else are the default VFS's. Memory-mapped reads are not
 * offered.
 */
const char *sqlite_vfs_name(void);

#endif
