/*
 * Long polls of a cluster's feed: they wait here, on the HTTP loop, and are woken by the ledger thread's news.
 *
 * A poll reads on a reader thread; when there is nothing yet it waits. Between its reading and its waiting news may
 * come: each cluster has a generation that news moves on, and a poll whose generation is old reads again.
 */
#ifndef SERVER_FEED_H
#define SERVER_FEED_H

#include "server/request.h"

struct feed;

enum error_code feed_create(int64_t waiters_max, struct feed **ret_feed, struct error *err);
void feed_destroy(struct feed *feed);
void feed_set_waiters(struct feed *feed, int64_t waiters_max);

/** News of these clusters; any thread. @count 0: of all. */
void feed_tell(struct feed *feed, const int64_t *cluster_nos, size_t count);

/** The generation of a cluster, to be taken before reading. Any thread. */
uint64_t feed_generation(struct feed *feed, int64_t cluster_no);

/** Let a poll that found nothing wait until news, its deadline, or the stop. False: no room, answer it now. HTTP loop. */
bool feed_wait(struct feed *feed, struct request *request);

/** Wake what is due. @again is called for each: news came (read again), or its time is over (answer). HTTP loop. */
void feed_turn(struct feed *feed,
               int64_t mono_ms,
               bool is_stopping,
               void (*again)(struct request *request, bool has_news));

int64_t feed_waiting(const struct feed *feed);

#endif
