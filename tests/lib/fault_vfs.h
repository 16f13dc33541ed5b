/*
 * A SQLite VFS over the default one whose disk fails, fills up or loses power on command.
 *
 * It becomes the default VFS, so install it before the first store is opened. Counted are the calls that change a file: write,
 * sync and truncate, of the database and of its WAL. One disk for the whole process, one thread.
 */
#ifndef TESTS_LIB_FAULT_VFS_H
#define TESTS_LIB_FAULT_VFS_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/lib/random.h"

enum fault {
    FAULT_NONE,
    FAULT_EIO,    /* writes, truncations and syncs fail; a failing write is half done */
    FAULT_ENOSPC, /* writes fail as on a full disk; syncs work */
    FAULT_POWER,  /* from here on nothing reaches the disk and every call fails */
};

/** Register it as the default VFS. */
void fault_vfs_install(void);

/**
 * Let the @nth counted call from now on fail (1: the next one).
 *
 * @lasting  all calls after it fail as well, until fault_vfs_clear(); FAULT_POWER always lasts
 */
void fault_vfs_arm(enum fault fault, int64_t nth, bool lasting);

/** The disk works again; unsynced writes are still only in the caches of the machine. */
void fault_vfs_clear(void);

/** Has an armed fault struck since it was armed? */
bool fault_vfs_struck(void);

/**
 * What a power cut leaves: of all sectors written since the last sync of their file, each is there with a chance of @percent.
 * Call when no connection is open. The disk works again afterwards.
 */
void fault_vfs_power_cut(struct test_random *random, int64_t percent);

/** Forget the files so far, after they have been removed. */
void fault_vfs_forget(void);

#endif
