/* Waiting polls: a list on the HTTP loop, and generations by cluster under a lock. */
#include "server/feed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    GENERATIONS = 256
}; /* clusters share one by number: a neighbour's news is a wasted read, no more */

struct feed {
    pthread_mutex_t lock;
    uint64_t generations[GENERATIONS]; /* under the lock */
    atomic_bool has_news;
    struct request *first;
    int64_t waiting;
    int64_t waiters_max;
};

enum error_code feed_create(int64_t waiters_max, struct feed **ret_feed, struct error *err)
{
    struct feed *feed = calloc(1, sizeof(*feed));
    if (feed == NULL || pthread_mutex_init(&feed->lock, NULL) != 0) {
        free(feed);
        return error_set(err, ERR_UNAVAILABLE, "no memory for the feed");
    }
    feed->waiters_max = waiters_max;
    atomic_init(&feed->has_news, false);
    *ret_feed = feed;
    return ERR_OK;
}

void feed_destroy(struct feed *feed)
{
    if (feed != NULL) {
        (void)pthread_mutex_destroy(&feed->lock);
        free(feed);
    }
}

void feed_set_waiters(struct feed *feed, int64_t waiters_max)
{
    feed->waiters_max = waiters_max;
}

void feed_tell(struct feed *feed, const int64_t *cluster_nos, size_t count)
{
    pthread_mutex_lock(&feed->lock);
    for (size_t i = 0; i < count; i++) {
        feed->generations[(uint64_t)cluster_nos[i] % GENERATIONS]++;
    }
    for (size_t i = 0; count == 0 && i < GENERATIONS; i++) {
        feed->generations[i]++;
    }
    pthread_mutex_unlock(&feed->lock);
    atomic_store(&feed->has_news, true);
}

uint64_t feed_generation(struct feed *feed, int64_t cluster_no)
{
    pthread_mutex_lock(&feed->lock);
    const uint64_t generation = feed->generations[(uint64_t)cluster_no % GENERATIONS];
    pthread_mutex_unlock(&feed->lock);
    return generation;
}

bool feed_wait(struct feed *feed, struct request *request)
{
    if (feed->waiting >= feed->waiters_max) {
        return false;
    }
    request->feed.prev = NULL;
    request->feed.next = feed->first;
    if (feed->first != NULL) {
        feed->first->feed.prev = request;
    }
    feed->first = request;
    feed->waiting++;
    atomic_store(&feed->has_news, true); /* what came while it read is looked at in the next turn */
    return true;
}

static void unlink_request(struct feed *feed, struct request *request)
{
    struct feed_wait *wait = &request->feed;
    if (wait->prev != NULL) {
        wait->prev->feed.next = wait->next;
    } else {
        feed->first = wait->next;
    }
    if (wait->next != NULL) {
        wait->next->feed.prev = wait->prev;
    }
    feed->waiting--;
}

void feed_turn(struct feed *feed,
               int64_t mono_ms,
               bool is_stopping,
               void (*again)(struct request *request, bool has_news))
{
    const bool look_at_news = atomic_exchange(&feed->has_news, false);
    struct request *next;
    for (struct request *request = feed->first; request != NULL; request = next) {
        next = request->feed.next;
        const struct feed_wait *wait = &request->feed;
        const bool has_news =
            look_at_news && feed_generation(feed, wait->cluster_no) != wait->generation;
        if (has_news || is_stopping || mono_ms >= wait->deadline_ms) {
            unlink_request(feed, request);
            again(request, has_news && !is_stopping);
        }
    }
}

int64_t feed_waiting(const struct feed *feed)
{
    return feed->waiting;
}
