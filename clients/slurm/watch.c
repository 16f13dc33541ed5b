/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The hook's surroundings, kept fresh: see watch.h. */
#include "clients/slurm/watch.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/clock.h"
#include "clients/slurm/site.h"
#include "clients/slurm/slurm_log.h"

enum { LOOK_MS = 2000, SITE_MS = 30000, SITE_RETRY_MS = 1000, STOP_MS = 1000 };

static struct {
    pthread_mutex_t lock; /* around the gate and the site */
    struct gate *gate;
    struct slurm_site site;
    struct slurm_config_error why; /* there is no gate */
    const char *path;

    pthread_mutex_t pulse_lock; /* around what follows */
    pthread_cond_t pulse;
    bool stopping;
    bool running;
    pid_t pid; /* of the process that has the thread: slurmctld forks to become a daemon */
} watch = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .pulse_lock = PTHREAD_MUTEX_INITIALIZER,
    .pulse = PTHREAD_COND_INITIALIZER,
};

/* ---- the configuration ---- */

/* What tells one version of the file from another. */
struct stamp {
    int64_t size;
    struct timespec changed;
    ino_t inode;
};

static struct stamp stamp_of(const char *path)
{
    struct stat status;
    struct stamp stamp;
    memset(&stamp, 0, sizeof stamp);
    if (stat(path, &status) == 0) {
        stamp.size = status.st_size;
        stamp.changed = status.st_mtim;
        stamp.inode = status.st_ino;
    }
    return stamp;
}

/* Makes a gate of the file; a file that is wrong leaves the last gate in place. */
static bool config_load(void)
{
    struct slurm_config config;
    struct slurm_config_error error;
    struct gate *gate = NULL;
    const bool ok =
        slurm_config_read(watch.path, &config, &error) && gate_create(&config, &gate, &error);
    pthread_mutex_lock(&watch.lock);
    struct gate *old = ok ? watch.gate : NULL;
    if (ok) {
        watch.gate = gate;
    } else {
        watch.why = error;
    }
    const bool keeps = !ok && watch.gate != NULL;
    pthread_mutex_unlock(&watch.lock);
    gate_destroy(old);
    if (ok) {
        slurm_log_info("%s read: cluster %s, %s, mode %s, fail_policy %s, deadline %lld ms",
                       watch.path, config.cluster.text, config.url.text,
                       config.mode == SLURM_MODE_OBSERVE ? "observe" : "enforce",
                       config.fail_policy == SLURM_FAIL_OPEN ? "open" : "closed",
                       (long long)config.deadline_ms);
    } else {
        slurm_log_error("%s; %s", error.detail,
                        keeps ? "what was read before stays" : "submissions are refused");
    }
    return ok;
}

/* ---- the thread ---- */

/* Sleeps; true when it is time to end. */
static bool nap(int64_t wait_ms)
{
    const int64_t end_ms = client_clock_mono_ms() + wait_ms;
    const struct timespec end = {.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000};
    pthread_mutex_lock(&watch.pulse_lock);
    if (!watch.stopping) {
        pthread_cond_clockwait(&watch.pulse, &watch.pulse_lock, CLOCK_MONOTONIC, &end);
    }
    const bool stopping = watch.stopping;
    pthread_mutex_unlock(&watch.pulse_lock);
    return stopping;
}

static bool site_refresh(void)
{
    struct slurm_site site;
    if (!site_load(&site)) {
        return false;
    }
    pthread_mutex_lock(&watch.lock);
    struct slurm_site old = watch.site;
    watch.site = site;
    pthread_mutex_unlock(&watch.lock);
    site_free(&old);
    return true;
}

/* arg: the stamp of the file as it was read, or what makes it read again. */
static void *run(void *arg)
{
    struct stamp known = *(struct stamp *)arg;
    int64_t site_due_ms = 0;
    do {
        const struct stamp now = stamp_of(watch.path);
        if (memcmp(&now, &known, sizeof now) != 0) {
            known = now;
            config_load();
        }
        if (client_clock_mono_ms() >= site_due_ms) {
            site_due_ms = client_clock_mono_ms() + (site_refresh() ? SITE_MS : SITE_RETRY_MS);
        }
    } while (!nap(site_due_ms - client_clock_mono_ms() < LOOK_MS ? SITE_RETRY_MS : LOOK_MS));
    pthread_mutex_lock(&watch.pulse_lock);
    watch.running = false;
    pthread_cond_broadcast(&watch.pulse);
    pthread_mutex_unlock(&watch.pulse_lock);
    return NULL;
}

/* Signals are for slurmctld's own threads. */
static void thread_start(void)
{
    static struct stamp stamp;
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all;
    sigset_t old;
    stamp = stamp_of(watch.path);
    config_load();
    watch.pid = getpid();
    if (pthread_attr_init(&attr) != 0) {
        return;
    }
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    watch.running = pthread_create(&thread, &attr, run, &stamp) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (!watch.running) {
        slurm_log_error("no thread watches %s and the partitions", watch.path);
    }
}

void watch_start(void)
{
    watch.path = slurm_config_path();
    watch.stopping = false;
    thread_start();
}

void watch_stop(void)
{
    const int64_t end_ms = client_clock_mono_ms() + STOP_MS;
    const struct timespec end = {.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000};
    pthread_mutex_lock(&watch.pulse_lock);
    watch.stopping = true;
    pthread_cond_broadcast(&watch.pulse);
    int code = 0;
    while (watch.running && watch.pid == getpid() && code == 0) {
        code = pthread_cond_clockwait(&watch.pulse, &watch.pulse_lock, CLOCK_MONOTONIC, &end);
    }
    pthread_mutex_unlock(&watch.pulse_lock);
}

bool watch_lock(int64_t end_ms,
                struct gate **ret_gate,
                const struct slurm_site **ret_site,
                const char **ret_why)
{
    const struct timespec end = {.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000};
    if (watch.pid != getpid()) {
        thread_start(); /* the thread stayed behind in the parent */
    }
    if (pthread_mutex_clocklock(&watch.lock, CLOCK_MONOTONIC, &end) != 0) {
        return false;
    }
    *ret_gate = watch.gate;
    *ret_site = &watch.site;
    *ret_why = watch.why.detail;
    return true;
}

void watch_unlock(void)
{
    pthread_mutex_unlock(&watch.lock);
}
