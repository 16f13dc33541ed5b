/*
 * Preloaded into a daemon under test: its wall clock shows the real time plus the seconds that stand, as a native int64,
 * in the file named by COREHOUR_TEST_CLOCK. Other clocks are left alone.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset_s;

__attribute__((constructor)) static void open_offset(void)
{
    const char *path = getenv("COREHOUR_TEST_CLOCK");
    const int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        return;
    }
    void *place = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    if (place != MAP_FAILED) {
        offset_s = place;
    }
    (void)close(fd);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    const int rc = (int)syscall(SYS_clock_gettime, id, now);
    if (rc == 0 && id == CLOCK_REALTIME && offset_s != NULL) {
        now->tv_sec += *offset_s;
    }
    return rc;
}
