#include "tests/lib/fault_vfs.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

enum { SECTOR_BYTES = 512, FILES = 16, PATH_BYTES = 256 };

/* What a file holds on the disk where that differs from what the program sees: sectors as they were at the last sync. */
struct image {
    char path[PATH_BYTES];
    int64_t synced_bytes; /* size at the last sync */
    int64_t sector_count; /* room in before[] */
    char **before;        /* NULL: not written since */
};

struct fault_file {
    sqlite3_file base;
    struct image *image; /* NULL: not counted, not lost */
    sqlite3_file real[];
};

static struct {
    enum fault fault;
    int64_t countdown;
    bool lasting;
    bool struck;
    struct image images[FILES];
} disk;

static struct fault_file *faulty(sqlite3_file *file)
{
    return (struct fault_file *)file;
}

/* ---- when to fail ------------------------------------------------------------------------------------------------------------ */

static enum fault next_fault(void)
{
    if (disk.fault == FAULT_NONE) {
        return FAULT_NONE;
    }
    if (disk.countdown > 1) {
        disk.countdown--;
        return FAULT_NONE;
    }
    enum fault fault = disk.fault;
    disk.struck = true;
    if (!disk.lasting) {
        disk.fault = FAULT_NONE;
    }
    return fault;
}

void fault_vfs_arm(enum fault fault, int64_t nth, bool lasting)
{
    disk.fault = fault;
    disk.countdown = nth;
    disk.lasting = lasting || fault == FAULT_POWER;
    disk.struck = false;
}

void fault_vfs_clear(void)
{
    disk.fault = FAULT_NONE;
}

bool fault_vfs_struck(void)
{
    return disk.struck;
}

/* ---- what the disk holds ----------------------------------------------------------------------------------------------------- */

static struct image *image_of(const char *path)
{
    for (size_t i = 0; i < FILES; i++) {
        struct image *image = &disk.images[i];
        if (image->path[0] == '\0') {
            struct stat status;
            (void)snprintf(image->path, sizeof image->path, "%s", path);
            image->synced_bytes = stat(path, &status) == 0 ? status.st_size : 0;
        }
        if (strcmp(image->path, path) == 0) {
            return image;
        }
    }
    assert(!"too many files");
    return NULL;
}

static void image_forget(struct image *image)
{
    for (int64_t i = 0; i < image->sector_count; i++) {
        free(image->before[i]);
        image->before[i] = NULL;
    }
}

static void image_reach(struct image *image, int64_t sector)
{
    if (sector < image->sector_count) {
        return;
    }
    int64_t count = (sector + 1) * 2;
    image->before = realloc(image->before, (size_t)count * sizeof(void *));
    assert(image->before != NULL);
    memset(image->before + image->sector_count, 0,
           (size_t)(count - image->sector_count) * sizeof(void *));
    image->sector_count = count;
}

/* Keep a copy of the sectors of [offset, offset + bytes) unless there is one. */
static void image_keep(struct fault_file *file, int64_t offset, int64_t bytes)
{
    struct image *image = file->image;
    for (int64_t sector = offset / SECTOR_BYTES; sector * SECTOR_BYTES < offset + bytes; sector++) {
        image_reach(image, sector);
        if (image->before[sector] == NULL) {
            char *copy = calloc(1, SECTOR_BYTES);
            assert(copy != NULL);
            /* A short read at the end of the file leaves zeros, which is what is wanted. */
            (void)file->real->pMethods->xRead(file->real, copy, SECTOR_BYTES,
                                              sector * SECTOR_BYTES);
            image->before[sector] = copy;
        }
    }
}

static void cut_file(struct image *image, struct test_random *random, int64_t percent)
{
    int fd = open(image->path, O_RDWR);
    int64_t end = image->synced_bytes;
    for (int64_t sector = 0; fd >= 0 && sector < image->sector_count; sector++) {
        if (image->before[sector] == NULL) {
            continue;
        }
        int64_t at = sector * SECTOR_BYTES;
        if (test_random_range(random, 0, 99) < percent) {
            end = at + SECTOR_BYTES > end ? at + SECTOR_BYTES : end;
        } else {
            ssize_t written = pwrite(fd, image->before[sector], SECTOR_BYTES, at);
            assert(written == SECTOR_BYTES);
        }
    }
    struct stat status;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > end) {
        int cut = ftruncate(fd, end);
        assert(cut == 0);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    image_forget(image);
    image->synced_bytes = end;
}

void fault_vfs_power_cut(struct test_random *random, int64_t percent)
{
    for (size_t i = 0; i < FILES && disk.images[i].path[0] != '\0'; i++) {
        cut_file(&disk.images[i], random, percent);
    }
    fault_vfs_forget();
    fault_vfs_clear();
}

void fault_vfs_forget(void)
{
    for (size_t i = 0; i < FILES; i++) {
        image_forget(&disk.images[i]);
        free(disk.images[i].before);
        disk.images[i] = (struct image){.path = ""};
    }
}

/* ---- the file's methods ------------------------------------------------------------------------------------------------------ */

static int file_close(sqlite3_file *base)
{
    return faulty(base)->real->pMethods->xClose(faulty(base)->real);
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset)
{
    return faulty(base)->real->pMethods->xRead(faulty(base)->real, bytes, count, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset)
{
    struct fault_file *file = faulty(base);
    const sqlite3_io_methods *real = file->real->pMethods;
    if (file->image == NULL) {
        return real->xWrite(file->real, bytes, count, offset);
    }
    enum fault fault = next_fault();
    if (fault == FAULT_POWER) {
        return SQLITE_IOERR_WRITE;
    }
    image_keep(file, offset, count);
    if (fault == FAULT_NONE) {
        return real->xWrite(file->real, bytes, count, offset);
    }
    (void)real->xWrite(file->real, bytes, count / 2, offset);
    return fault == FAULT_ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    struct fault_file *file = faulty(base);
    enum fault fault = file->image == NULL ? FAULT_NONE : next_fault();
    if (fault == FAULT_EIO || fault == FAULT_POWER) {
        return SQLITE_IOERR_TRUNCATE;
    }
    sqlite3_int64 bytes = 0;
    if (file->image != NULL && file->real->pMethods->xFileSize(file->real, &bytes) == SQLITE_OK &&
        bytes > size) {
        image_keep(file, size, bytes - size);
    }
    return file->real->pMethods->xTruncate(file->real, size);
}

static int file_sync(sqlite3_file *base, int flags)
{
    struct fault_file *file = faulty(base);
    enum fault fault = file->image == NULL ? FAULT_NONE : next_fault();
    if (fault == FAULT_EIO || fault == FAULT_POWER) {
        return SQLITE_IOERR_FSYNC;
    }
    (void)flags; /* nothing here survives a real power cut, so that nothing need be slow */
    if (file->image != NULL) {
        sqlite3_int64 bytes = 0;
        (void)file->real->pMethods->xFileSize(file->real, &bytes);
        image_forget(file->image);
        file->image->synced_bytes = bytes;
    }
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *ret_size)
{
    return faulty(base)->real->pMethods->xFileSize(faulty(base)->real, ret_size);
}

static int file_lock(sqlite3_file *base, int level)
{
    return faulty(base)->real->pMethods->xLock(faulty(base)->real, level);
}

static int file_unlock(sqlite3_file *base, int level)
{
    return faulty(base)->real->pMethods->xUnlock(faulty(base)->real, level);
}

static int file_check_lock(sqlite3_file *base, int *ret_locked)
{
    return faulty(base)->real->pMethods->xCheckReservedLock(faulty(base)->real, ret_locked);
}

static int file_control(sqlite3_file *base, int operation, void *argument)
{
    return faulty(base)->real->pMethods->xFileControl(faulty(base)->real, operation, argument);
}

static int file_sector_bytes(sqlite3_file *base)
{
    (void)base;
    return SECTOR_BYTES;
}

static int file_characteristics(sqlite3_file *base)
{
    return faulty(base)->real->pMethods->xDeviceCharacteristics(faulty(base)->real);
}

static int file_shm_map(sqlite3_file *base,
                        int page,
                        int bytes,
                        int extend,
                        void volatile **ret_page)
{
    return faulty(base)->real->pMethods->xShmMap(faulty(base)->real, page, bytes, extend, ret_page);
}

static int file_shm_lock(sqlite3_file *base, int offset, int count, int flags)
{
    return faulty(base)->real->pMethods->xShmLock(faulty(base)->real, offset, count, flags);
}

static void file_shm_barrier(sqlite3_file *base)
{
    faulty(base)->real->pMethods->xShmBarrier(faulty(base)->real);
}

static int file_shm_unmap(sqlite3_file *base, int remove)
{
    return faulty(base)->real->pMethods->xShmUnmap(faulty(base)->real, remove);
}

static const sqlite3_io_methods methods = {
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

/* ---- the VFS's methods ------------------------------------------------------------------------------------------------------- */

static sqlite3_vfs *real_vfs;

static int vfs_open(sqlite3_vfs *vfs,
                    const char *name,
                    sqlite3_file *base,
                    int flags,
                    int *ret_flags)
{
    (void)vfs;
    struct fault_file *file = faulty(base);
    *file = (struct fault_file){.image = NULL};
    int result = real_vfs->xOpen(real_vfs, name, file->real, flags, ret_flags);
    if (result != SQLITE_OK) {
        return result;
    }
    if ((flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)) != 0) {
        file->image = image_of(name);
    }
    file->base.pMethods = &methods;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
    (void)vfs;
    return real_vfs->xDelete(real_vfs, name, sync_folder);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret_yes)
{
    (void)vfs;
    return real_vfs->xAccess(real_vfs, name, flags, ret_yes);
}

static int vfs_full_pathname(sqlite3_vfs *vfs, const char *name, int bytes, char *ret_path)
{
    (void)vfs;
    return real_vfs->xFullPathname(real_vfs, name, bytes, ret_path);
}

static int vfs_randomness(sqlite3_vfs *vfs, int bytes, char *ret_bytes)
{
    (void)vfs;
    return real_vfs->xRandomness(real_vfs, bytes, ret_bytes);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
    (void)vfs;
    return real_vfs->xSleep(real_vfs, microseconds);
}

static int vfs_current_time(sqlite3_vfs *vfs, sqlite3_int64 *ret_time)
{
    (void)vfs;
    return real_vfs->xCurrentTimeInt64(real_vfs, ret_time);
}

static int vfs_last_error(sqlite3_vfs *vfs, int bytes, char *ret_text)
{
    (void)vfs;
    return real_vfs->xGetLastError(real_vfs, bytes, ret_text);
}

void fault_vfs_install(void)
{
    static sqlite3_vfs vfs = {
        .iVersion = 2,
        .zName = "fault",
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_pathname,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTimeInt64 = vfs_current_time,
        .xGetLastError = vfs_last_error,
    };
    if (real_vfs != NULL) {
        return;
    }
    real_vfs = sqlite3_vfs_find(NULL);
    vfs.szOsFile = (int)sizeof(struct fault_file) + real_vfs->szOsFile;
    vfs.mxPathname = real_vfs->mxPathname;
    int result = sqlite3_vfs_register(&vfs, 1);
    assert(result == SQLITE_OK);
}
