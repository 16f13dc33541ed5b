/* SPDX-License-Identifier: MIT
 *
 * See feed.h. The thread shares nothing with the agent but the array under the lock. */
#include "clients/slurm/agent/feed.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clients/clock.h"
#include "clients/slurm/agent/link.h"
#include "clients/slurm/agent/logs.h"
#include "clients/url.h"

enum { STOP_MS = 1000, POLL_DEADLINE_MS = 30000, PAUSE_FIRST_MS = 500, PAUSE_LAST_MS = 5000 };

struct feed {
    struct slurm_config config;
    pthread_t thread;
    pthread_mutex_t lock;
    json_t *events; /* under the lock */
    int64_t after;  /* the thread's alone */
    int fd;
    atomic_bool stops;
};

static bool path_write(const struct feed *feed, char *path)
{
    char number[24];
    (void)snprintf(path, COREHOUR_URL_BYTES, "/v1/clusters");
    (void)snprintf(number, sizeof number, "%" PRId64, feed->after);
    return corehour_url_segment(path, COREHOUR_URL_BYTES, feed->config.cluster.text) ==
               COREHOUR_OK &&
           corehour_url_append(path, COREHOUR_URL_BYTES, "/feed") == COREHOUR_OK &&
           corehour_url_query(path, COREHOUR_URL_BYTES, "after", number) == COREHOUR_OK &&
           corehour_url_query(path, COREHOUR_URL_BYTES, "wait_s", "20") == COREHOUR_OK;
}

static void events_put(struct feed *feed, const json_t *body)
{
    const json_t *events = json_object_get(body, "events");
    const json_t *next = json_object_get(body, "next_after");
    const uint64_t one = 1;
    if (json_is_integer(next)) {
        feed->after = json_integer_value(next);
    }
    if (json_array_size(events) == 0) {
        return;
    }
    (void)pthread_mutex_lock(&feed->lock);
    (void)json_array_extend(feed->events, (json_t *)(uintptr_t)events);
    (void)pthread_mutex_unlock(&feed->lock);
    (void)!write(feed->fd, &one, sizeof one);
}

/* Polls until it fails or is to stop. */
static void polls_run(struct feed *feed, struct corehour_client *client, bool *away)
{
    char path[COREHOUR_URL_BYTES];
    char detail[LINK_DETAIL_BYTES];
    int status = 200;
    while (!atomic_load(&feed->stops) && path_write(feed, path)) {
        json_t *body = link_get(client, path, &status, detail);
        if (body == NULL) {
            if (!*away && !atomic_load(&feed->stops)) {
                logs_say(4, "the feed cannot be read: %s", detail);
            }
            *away = true;
            return;
        }
        if (*away) {
            logs_say(6, "the feed is read again");
        }
        *away = false;
        events_put(feed, body);
        json_decref(body);
    }
}

static void *follow(void *context)
{
    struct feed *feed = context;
    bool away = false;
    int64_t pause_ms = PAUSE_FIRST_MS;
    while (!atomic_load(&feed->stops)) {
        char detail[LINK_DETAIL_BYTES];
        struct corehour_client *client = NULL;
        const int64_t began_ms = client_clock_mono_ms();
        if (link_open(&feed->config, POLL_DEADLINE_MS, &client, detail)) {
            polls_run(feed, client, &away);
            corehour_client_destroy(client);
        }
        pause_ms = client_clock_mono_ms() - began_ms > PAUSE_LAST_MS ? PAUSE_FIRST_MS : pause_ms;
        for (int64_t slept_ms = 0; slept_ms < pause_ms && !atomic_load(&feed->stops);
             slept_ms += 100) {
            client_clock_sleep_ms(100);
        }
        pause_ms = pause_ms * 2 < PAUSE_LAST_MS ? pause_ms * 2 : PAUSE_LAST_MS;
    }
    return NULL;
}

struct feed *feed_start(const struct slurm_config *config, int64_t after)
{
    struct feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL) {
        return NULL;
    }
    feed->config = *config;
    feed->after = after;
    feed->events = json_array();
    feed->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    atomic_init(&feed->stops, false);
    (void)pthread_mutex_init(&feed->lock, NULL);
    if (feed->events == NULL || feed->fd < 0 ||
        pthread_create(&feed->thread, NULL, follow, feed) != 0) {
        json_decref(feed->events);
        (void)close(feed->fd);
        free(feed);
        return NULL;
    }
    return feed;
}

void feed_stop(struct feed *feed)
{
    if (feed == NULL) {
        return;
    }
    atomic_store(&feed->stops, true);
    const int64_t end_ms = client_clock_mono_ms() + STOP_MS;
    while (pthread_tryjoin_np(feed->thread, NULL) != 0) {
        if (client_clock_mono_ms() >= end_ms) {
            return; /* in a long poll: the process ends before it */
        }
        client_clock_sleep_ms(10);
    }
    (void)pthread_mutex_destroy(&feed->lock);
    (void)close(feed->fd);
    json_decref(feed->events);
    free(feed);
}

int feed_fd(const struct feed *feed)
{
    return feed->fd;
}

json_t *feed_take(struct feed *feed)
{
    uint64_t count;
    (void)!read(feed->fd, &count, sizeof count);
    json_t *fresh = json_array();
    (void)pthread_mutex_lock(&feed->lock);
    json_t *events = feed->events;
    feed->events = fresh == NULL ? json_array() : fresh;
    (void)pthread_mutex_unlock(&feed->lock);
    return events;
}
