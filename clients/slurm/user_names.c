/* SPDX-License-Identifier: MIT
 *
 * Names with a deadline: see user_names.h. */
#include "clients/slurm/user_names.h"

#include <inttypes.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/clock.h"

enum { KEPT = 512, KEPT_MS = 600000, LOOKUPS_MAX = 4, RECORD_BYTES = 16384 };

/* A name in its place by uid; a newer user of the same place takes it over. */
static struct kept {
    uint32_t uid;
    int64_t until_ms; /* 0: empty */
    char name[USER_NAME_BYTES];
} kept[KEPT];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t found = PTHREAD_COND_INITIALIZER;
static unsigned lookups; /* on their way */

static void keep(uint32_t uid, const char *name)
{
    pthread_mutex_lock(&lock);
    struct kept *place = &kept[uid % KEPT];
    place->uid = uid;
    place->until_ms = client_clock_mono_ms() + KEPT_MS;
    snprintf(place->name, sizeof place->name, "%s", name);
    pthread_mutex_unlock(&lock);
}

/* The thread of one look-up. */
static void *look_up(void *arg)
{
    const uint32_t uid = (uint32_t)(uintptr_t)arg;
    char *record = malloc(RECORD_BYTES);
    struct passwd entry;
    struct passwd *result = NULL;
    int code = record == NULL ? -1 : getpwuid_r(uid, &entry, record, RECORD_BYTES, &result);
    if (code == 0 && result != NULL) {
        keep(uid, result->pw_name);
    } else if (code == 0) {
        char number[16];
        snprintf(number, sizeof number, "%" PRIu32, uid);
        keep(uid, number);
    }
    free(record);
    pthread_mutex_lock(&lock);
    lookups--;
    pthread_cond_broadcast(&found);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Starts a look-up, without any signal of the process's. The lock is held. */
static bool look_up_start(uint32_t uid)
{
    pthread_t thread;
    pthread_attr_t attr;
    sigset_t all;
    sigset_t old;
    if (lookups >= LOOKUPS_MAX || pthread_attr_init(&attr) != 0) {
        return false;
    }
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    const bool ok = pthread_create(&thread, &attr, look_up, (void *)(uintptr_t)uid) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
    lookups += ok;
    return ok;
}

static bool is_kept(uint32_t uid)
{
    const struct kept *place = &kept[uid % KEPT];
    return place->uid == uid && place->until_ms > client_clock_mono_ms();
}

/* Waits until the name is there, or the look-ups or the time are over. The lock is held. */
static void wait_for(uint32_t uid, int64_t end_ms)
{
    const struct timespec end = {.tv_sec = end_ms / 1000, .tv_nsec = end_ms % 1000 * 1000000};
    int code = 0;
    while (code == 0 && lookups > 0 && !is_kept(uid)) {
        code = pthread_cond_clockwait(&found, &lock, CLOCK_MONOTONIC, &end);
    }
}

bool user_names_find(uint32_t uid, int64_t end_ms, char *ret_name)
{
    pthread_mutex_lock(&lock);
    if (!is_kept(uid) && look_up_start(uid)) {
        wait_for(uid, end_ms);
    }
    const bool known = is_kept(uid);
    if (known) {
        snprintf(ret_name, USER_NAME_BYTES, "%s", kept[uid % KEPT].name);
    }
    pthread_mutex_unlock(&lock);
    return known;
}
