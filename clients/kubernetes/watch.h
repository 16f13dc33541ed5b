/*
 * List and watch of a kind of objects, for ever: pages of a list, then the stream of changes from the list's resourceVersion on,
 * with bookmarks. A stream that ends or is cut goes on where it was; a version that is too old (HTTP 410, or an ERROR event
 * with 410) begins a new list. Never filtered: a filtered watch tells a pod that no longer matches as if it had been deleted.
 *
 * One loop (libcurl's multi) runs any number of watches in one thread. All calls are for that thread but watch_loop_stop.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_WATCH_H
#define COREHOUR_CLIENTS_KUBERNETES_WATCH_H

#include <stdbool.h>

#include "clients/kubernetes/api_server.h"

/* What a watch tells. All are called in the loop's thread. Objects are borrowed. */
struct watch_events {
    void *context;
    void (*list_begin)(void *context);
    void (*item)(void *context, const json_t *object); /* of a list, page by page */
    void (*list_end)(void *context);                   /* everything that exists was told */
    void (*change)(void *context,
                   const json_t *object,
                   bool deleted); /* ADDED, MODIFIED, DELETED */
    void (*alive)(void *context); /* bytes came: the stream lives; may be NULL */
};

struct watch_loop;
struct watch;

struct watch_loop *watch_loop_create(const struct api_server *server, int64_t relist_s);
void watch_loop_destroy(struct watch_loop *loop);

/* Adds a watch that is paused. path: "/api/v1/pods"; a constant. Returns NULL when memory is out. */
struct watch *watch_add(struct watch_loop *loop,
                        const char *path,
                        const struct watch_events *events);

/* Begins with a list, or goes silent and forgets. */
void watch_resume(struct watch *watch);
void watch_pause(struct watch *watch);

/* Runs everything that is ready and waits for more, at most so long. */
void watch_loop_turn(struct watch_loop *loop, int wait_ms);

/* Ends a turn that waits. From any thread. */
void watch_loop_wake(struct watch_loop *loop);

#endif
