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

enum {
    LOOK_MS = 500,
    SITE_MS = 30000,
    SITE_RETRY_MS = 1000,
    AGAIN_MS =
        10000, /* a file that could not be used is tried again: its token or a name may have come */
    FIRST_MS = 2000, /* how long the start waits for the first reading, which may look a name up */
    STOP_MS = 1000,
};

static struct {
    pthread_mutex_t lock; /* around the gate and the site */
    struct gate *gate;
    struct slurm_site site;
    struct slurm_config_error why; /* there is no gate */
    const char *path;

    pthread_mutex_t pulse_lock; /* around what follows */
    pthread_cond_t pulse;
    unsigned generation; /* of the thread that may go on: others end */
    unsigned loaded;     /* the generation that has read the file once */
    unsigned ended;      /* the last generation that has ended */
    pid_t pid; /* of the process that has the thread: slurmctld forks to become a daemon */
} watch = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .pulse_lock = PTHREAD_MUTEX_INITIALIZER,
    .pulse = PTHREAD_COND_INITIALIZER,
    .why.detail = "the configuration has not been read yet",
};

/* ---- the configuration ---- */

/* What tells one version of a file from another. */
struct stamp {
    int64_t size;
    struct timespec changed;
    ino_t inode;
};

/* What the gate was made from. */
struct source {
    struct stamp file;
    struct stamp token;
    char token_path[SLURM_CONFIG_TEXT_BYTES];                 /* "" before the file was read */
    char why[sizeof((struct slurm_config_error *)0)->detail]; /* the last reading failed; else "" */
    int64_t again_ms;                                         /* then it is tried again */
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

static bool is_due(const struct source *source)
{
    const struct stamp file = stamp_of(watch.path);
    const struct stamp token = stamp_of(source->token_path);
    return memcmp(&file, &source->file, sizeof file) != 0 ||
           memcmp(&token, &source->token, sizeof token) != 0 ||
           (source->why[0] != '\0' && client_clock_mono_ms() >= source->again_ms);
}

static void loaded_say(const struct slurm_config *config)
{
    slurm_log_info("%s read: cluster %s, %s, mode %s, fail_policy %s, deadline %lld ms", watch.path,
                   config->cluster.text, config->url.text,
                   config->mode == SLURM_MODE_OBSERVE ? "observe" : "enforce",
                   config->fail_policy == SLURM_FAIL_OPEN ? "open" : "closed",
                   (long long)config->deadline_ms);
}

/* The reading failed. The same fault is told once. */
static void failed_say(struct source *source, const struct slurm_config_error *error, bool keeps)
{
    if (strcmp(source->why, error->detail) != 0) {
        slurm_log_error("%s; %s", error->detail,
                        keeps ? "what was read before stays" : "submissions are refused");
    }
    memcpy(source->why, error->detail, sizeof source->why);
    source->again_ms = client_clock_mono_ms() + AGAIN_MS;
}

/* Makes a gate of the file; a file that is wrong leaves the last gate in place. */
static void config_load(struct source *source)
{
    struct slurm_config config;
    struct slurm_config_error error;
    struct gate *gate = NULL;
    source->file = stamp_of(watch.path);
    bool ok = slurm_config_read(watch.path, &config, &error);
    if (ok) {
        memcpy(source->token_path, config.token_file.text, sizeof source->token_path);
        source->token = stamp_of(source->token_path);
        ok = gate_create(&config, &gate, &error);
    }
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
        source->why[0] = '\0';
        loaded_say(&config);
    } else {
        failed_say(source, &error, keeps);
    }
}

/* ---- the thread ---- */

static struct timespec time_of(int64_t mono_ms)
{
    return (struct timespec){.tv_sec = mono_ms / 1000, .tv_nsec = mono_ms % 1000 * 1000000};
}

/* Sleeps; true when it is time to end. */
static bool nap(unsigned generation)
{
    const struct timespec end = time_of(client_clock_mono_ms() + LOOK_MS);
    pthread_mutex_lock(&watch.pulse_lock);
    if (watch.generation == generation) {
        pthread_cond_clockwait(&watch.pulse, &watch.pulse_lock, CLOCK_MONOTONIC, &end);
    }
    const bool stopping = watch.generation != generation;
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

static void tell(unsigned *number, unsigned generation)
{
    pthread_mutex_lock(&watch.pulse_lock);
    *number = generation;
    pthread_cond_broadcast(&watch.pulse);
    pthread_mutex_unlock(&watch.pulse_lock);
}

/* arg: its generation, as a number. */
static void *run(void *arg)
{
    const unsigned generation = (unsigned)(uintptr_t)arg;
    int64_t site_due_ms = 0;
    (void)pthread_setname_np(pthread_self(), "corehour");
    struct source source;
    memset(&source, 0, sizeof source);
    config_load(&source);
    tell(&watch.loaded, generation);
    do {
        if (is_due(&source)) {
            config_load(&source);
        }
        if (client_clock_mono_ms() >= site_due_ms) {
            site_due_ms = client_clock_mono_ms() + (site_refresh() ? SITE_MS : SITE_RETRY_MS);
        }
    } while (!nap(generation));
    tell(&watch.ended, generation);
    return NULL;
}

/* Waits until a thread has told its number, or for the time. The pulse's lock is held. */
static void pulse_wait(const unsigned *number, unsigned generation, int64_t wait_ms)
{
    const struct timespec end = time_of(client_clock_mono_ms() + wait_ms);
    int code = 0;
    while (*number != generation && code == 0) {
        code = pthread_cond_clockwait(&watch.pulse, &watch.pulse_lock, CLOCK_MONOTONIC, &end);
    }
}

/* Starts a thread and waits a little for what it reads. Signals are for slurmctld's own threads. */
static void thread_start(int64_t wait_ms)
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all;
    sigset_t old;
    watch.pid = getpid();
    if (pthread_attr_init(&attr) != 0) {
        return;
    }
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    pthread_mutex_lock(&watch.pulse_lock);
    const unsigned generation = ++watch.generation;
    const bool ok = pthread_create(&thread, &attr, run, (void *)(uintptr_t)generation) == 0;
    if (ok) {
        pulse_wait(&watch.loaded, generation, wait_ms);
    }
    pthread_mutex_unlock(&watch.pulse_lock);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    if (!ok) {
        slurm_log_error("no thread watches %s and the partitions", watch.path);
    }
}

void watch_start(void)
{
    watch.path = slurm_config_path();
    thread_start(FIRST_MS);
}

/* What a plugin that was taken out must not keep: the connection to the daemon, the partitions. */
static void forget(void)
{
    const struct timespec end = time_of(client_clock_mono_ms() + STOP_MS);
    if (pthread_mutex_clocklock(&watch.lock, CLOCK_MONOTONIC, &end) == 0) {
        gate_destroy(watch.gate);
        site_free(&watch.site);
        watch.gate = NULL;
        pthread_mutex_unlock(&watch.lock);
    }
}

void watch_stop(void)
{
    pthread_mutex_lock(&watch.pulse_lock);
    const unsigned generation = watch.generation++;
    pthread_cond_broadcast(&watch.pulse);
    if (watch.pid == getpid()) {
        pulse_wait(&watch.ended, generation, STOP_MS);
    }
    pthread_mutex_unlock(&watch.pulse_lock);
    forget();
}

bool watch_lock(int64_t end_ms,
                struct gate **ret_gate,
                const struct slurm_site **ret_site,
                const char **ret_why)
{
    const struct timespec end = time_of(end_ms);
    if (watch.pid != getpid()) {
        thread_start(0); /* the thread stayed behind in the parent */
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
