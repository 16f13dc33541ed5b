/*
 * The write-joining VFS: a thin layer over the default one.
 *
 * Invariants: at most one run of adjacent bytes of a file waits in its buffer; every method but
 * xWrite sends it on first; an error of sending it on is returned by the method that did, or, where
 * a method's result is not looked at, kept for the next that is.
 */
#include "ledger/store/sqlite_vfs.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

/* SQLite's own VFS for Unix takes at most 0x1ffff bytes a write. */
enum { JOIN_BYTES = 124 * 1024 };

/* The file of the default VFS follows in memory. */
struct joining_file {
    sqlite3_file base;
    char *waiting; /* JOIN_BYTES; NULL: writes of this file go through at once */
    int waiting_bytes;
    int failure; /* of a write that nobody has been told of yet */
    sqlite3_int64 offset;
    sqlite3_file real[];
};

static struct joining_file *joining(sqlite3_file *file)
{
    return (struct joining_file *)file;
}

static const sqlite3_io_methods *real_methods(struct joining_file *file)
{
    return file->real->pMethods;
}

/* Send on what waits. What failed is given up: SQLite rolls back and writes the same place anew. */
static int flush(struct joining_file *file)
{
    int result = file->failure;
    if (result == SQLITE_OK && file->waiting_bytes > 0) {
        result = real_methods(file)->xWrite(file->real, file->waiting, file->waiting_bytes,
                                            file->offset);
    }
    file->waiting_bytes = 0;
    file->failure = SQLITE_OK;
    return result;
}

/* Before a method whose result is not looked at. */
static void flush_quietly(struct joining_file *file)
{
    int result = flush(file);
    file->failure = result;
}

static int file_close(sqlite3_file *base)
{
    struct joining_file *file = joining(base);
    int flushed = flush(file);
    int closed = real_methods(file)->xClose(file->real);
    free(file->waiting);
    file->waiting = NULL;
    return closed != SQLITE_OK ? closed : flushed;
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset)
{
    struct joining_file *file = joining(base);
    int result = flush(file);
    return result != SQLITE_OK ? result
                               : real_methods(file)->xRead(file->real, bytes, count, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset)
{
    struct joining_file *file = joining(base);
    bool adjacent = offset == file->offset + file->waiting_bytes;
    if (!adjacent || count > JOIN_BYTES - file->waiting_bytes) {
        int result = flush(file);
        if (result != SQLITE_OK) {
            return result;
        }
    }
    if (file->waiting == NULL || count > JOIN_BYTES) {
        return real_methods(file)->xWrite(file->real, bytes, count, offset);
    }
    if (file->waiting_bytes == 0) {
        file->offset = offset;
    }
    memcpy(file->waiting + file->waiting_bytes, bytes, (size_t)count);
    file->waiting_bytes += count;
    return SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct joining_file *file = joining(base);
    int result = flush(file);
    return result != SQLITE_OK ? result : real_methods(file)->xTruncate(file->real, size);
}

static int file_sync(sqlite3_file *base, int flags)
{
    struct joining_file *file = joining(base);
    int result = flush(file);
    return result != SQLITE_OK ? result : real_methods(file)->xSync(file->real, flags);
}

static int file_size(sqlite3_file *base, sqlite3_int64 *ret_size)
{
    struct joining_file *file = joining(base);
    int result = flush(file);
    return result != SQLITE_OK ? result : real_methods(file)->xFileSize(file->real, ret_size);
}

static int file_lock(sqlite3_file *base, int level)
{
    struct joining_file *file = joining(base);
    int result = flush(file);
    return result != SQLITE_OK ? result : real_methods(file)->xLock(file->real, level);
}

static int file_unlock(sqlite3_file *base, int level)
{
    struct joining_file *file = joining(base);
    flush_quietly(file);
    return real_methods(file)->xUnlock(file->real, level);
}

static int file_check_lock(sqlite3_file *base, int *ret_locked)
{
    struct joining_file *file = joining(base);
    return real_methods(file)->xCheckReservedLock(file->real, ret_locked);
}

static int file_control(sqlite3_file *base, int operation, void *argument)
{
    struct joining_file *file = joining(base);
    flush_quietly(file);
    return real_methods(file)->xFileControl(file->real, operation, argument);
}

static int file_sector_bytes(sqlite3_file *base)
{
    struct joining_file *file = joining(base);
    return real_methods(file)->xSectorSize(file->real);
}

static int file_characteristics(sqlite3_file *base)
{
    struct joining_file *file = joining(base);
    return real_methods(file)->xDeviceCharacteristics(file->real);
}

static int file_shm_map(sqlite3_file *base,
                        int page,
                        int bytes,
                        int extend,
                        void volatile **ret_page)
{
    struct joining_file *file = joining(base);
    return real_methods(file)->xShmMap(file->real, page, bytes, extend, ret_page);
}

static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags)
{
    struct joining_file *file = joining(base);
    flush_quietly(file);
    return real_methods(file)->xShmLock(file->real, offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *base)
{
    struct joining_file *file = joining(base);
    flush_quietly(file);
    real_methods(file)->xShmBarrier(file->real);
}

static int file_shm_unmap(sqlite3_file *base, int remove)
{
    struct joining_file *file = joining(base);
    flush_quietly(file);
    return real_methods(file)->xShmUnmap(file->real, remove);
}

/* Version 2: with shared memory, without memory-mapped reads. */
static const sqlite3_io_methods joining_methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_bytes,
    .xDeviceCharacteristics = file_characteristics,
    .xShmMap = file_shm_map,
    .xShmLock = file_shm_lock,
    .xShmBarrier = file_shm_barrier,
    .xShmUnmap = file_shm_unmap,
};

static sqlite3_vfs *real_vfs(sqlite3_vfs *vfs)
{
    return vfs->pAppData;
}

static int vfs_open(sqlite3_vfs *vfs,
                    const char *name,
                    sqlite3_file *base,
                    int flags,
                    int *ret_flags)
{
    struct joining_file *file = joining(base);
    *file = (struct joining_file){.failure = SQLITE_OK};
    int result = real_vfs(vfs)->xOpen(real_vfs(vfs), name, file->real, flags, ret_flags);
    if (result != SQLITE_OK) {
        return result;
    }
    if ((flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_DB)) != 0) {
        file->waiting = malloc(JOIN_BYTES); /* NULL: it works without */
    }
    file->base.pMethods = &joining_methods;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    return real_vfs(vfs)->xDelete(real_vfs(vfs), name, sync_folder);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_yes)
{
    return real_vfs(vfs)->xAccess(real_vfs(vfs), name, flags, ret_yes);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int bytes, char *ret_path)
{
    return real_vfs(vfs)->xFullPathname(real_vfs(vfs), name, bytes, ret_path);
}

static int vfs_randomness(sqlite3_vfs *vfs, int bytes, char *ret_bytes)
{
    return real_vfs(vfs)->xRandomness(real_vfs(vfs), bytes, ret_bytes);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    return real_vfs(vfs)->xSleep(real_vfs(vfs), microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, sqlite3_int64 *ret_time)
{
    return real_vfs(vfs)->xCurrentTimeInt64(real_vfs(vfs), ret_time);
}

static int vfs_last_error(sqlite3_vfs *vfs, int bytes, char *ret_text)
{
    return real_vfs(vfs)->xGetLastError(real_vfs(vfs), bytes, ret_text);
}

const char *sqlite_vfs_name(void)
{
    static sqlite3_vfs vfs = {
        .iVersion = 2,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTimeInt64 = vfs_current_time,
        .xGetLastError = vfs_last_error,
    };
    if (vfs.zName != NULL) {
        return vfs.zName;
    }
    sqlite3_vfs *real = sqlite3_vfs_find(NULL);
    if (real == NULL || real->iVersion < 2) {
        return NULL;
    }
    vfs.pAppData = real;
    vfs.szOsFile = (int)sizeof(struct joining_file) + real->szOsFile;
    vfs.mxPathname = real->mxPathname;
    vfs.zName = "corehour";
    if (sqlite3_vfs_register(&vfs, 0) != SQLITE_OK) {
        vfs.zName = NULL;
    }
    return vfs.zName;
}
