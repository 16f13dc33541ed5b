/*
 * Watches: see watch.h.
 *
 *   paused --resume--> resting --time--> listing --last page--> resting --> streaming --end--> resting --> streaming
 *                         ^                 |  410, failure                     |  410
 *                         +-----------------+<----------------------------------+
 *
 * A watch rests before each request: not at all after success, longer after each failure in a row.
 */
#include "clients/kubernetes/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/clock.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/counters.h"
#include "clients/kubernetes/object.h"

enum {
    PAGE_ITEMS = 250,
    SHRINK = 16,               /* pages that are too large become this much smaller: 250, 15, 1 */
    PAGE_BYTES_MAX = 64 << 20, /* a page of a list */
    LINE_BYTES_MAX =
        16 << 20,   /* an event: objects end at 1.5 MiB in etcd, six times that as escapes */
    STREAM_S = 290, /* asked of the server */
    REST_FIRST_MS = 100,
    REST_LAST_MS = 10000,
};

enum watch_state { WATCH_PAUSED, WATCH_RESTING, WATCH_LISTING, WATCH_STREAMING };

struct watch {
    struct watch *next;
    struct watch_loop *loop;
    const char *path;
    struct watch_events events;
    enum watch_state state;
    CURL *easy;
    struct curl_slist *headers;
    char *bytes; /* a page, or the beginning of a line */
    size_t count;
    size_t room;
    char version[64];  /* "" : a list is needed */
    char *continued;   /* token of the next page, or NULL */
    bool too_old;      /* the stream said 410 */
    bool moved;        /* the stream has told something */
    bool gone_wrong;   /* what came cannot be used: the request is a failure */
    bool whole;        /* the next list comes without pages: a page of the last one was too old */
    int page_items;    /* fewer when pages were too large */
    unsigned failures; /* in a row */
    int64_t rest_until_ms;
    int64_t listed_ms; /* when the last list was whole */
    int64_t began_ms;  /* when the request began */
};

struct watch_loop {
    const struct api_server *server;
    CURLM *multi;
    int64_t relist_ms;
    struct watch *watches;
};

struct watch_loop *watch_loop_create(const struct api_server *server, int64_t relist_s)
{
    struct watch_loop *loop = calloc(1, sizeof *loop);
    if (loop != NULL) {
        loop->server = server;
        loop->relist_ms = relist_s * 1000;
        loop->multi = curl_multi_init();
    }
    if (loop != NULL && loop->multi == NULL) {
        free(loop);
        return NULL;
    }
    return loop;
}

static void request_drop(struct watch *watch)
{
    curl_multi_remove_handle(watch->loop->multi, watch->easy);
    curl_slist_free_all(watch->headers);
    watch->headers = NULL;
}

void watch_loop_destroy(struct watch_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    while (loop->watches != NULL) {
        struct watch *watch = loop->watches;
        loop->watches = watch->next;
        request_drop(watch);
        curl_easy_cleanup(watch->easy);
        free(watch->bytes);
        free(watch->continued);
        free(watch);
    }
    curl_multi_cleanup(loop->multi);
    free(loop);
}

struct watch *watch_add(struct watch_loop *loop,
                        const char *path,
                        const struct watch_events *events)
{
    struct watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL) {
        return NULL;
    }
    watch->easy = curl_easy_init();
    if (watch->easy == NULL) {
        free(watch);
        return NULL;
    }
    watch->loop = loop;
    watch->path = path;
    watch->page_items = PAGE_ITEMS;
    watch->events = *events;
    watch->next = loop->watches;
    loop->watches = watch;
    return watch;
}

/* ---- going from state to state */

static void rest(struct watch *watch, int64_t wait_ms)
{
    watch->state = WATCH_RESTING;
    watch->rest_until_ms = client_clock_mono_ms() + wait_ms;
}

static void forget_list(struct watch *watch)
{
    watch->version[0] = '\0';
    free(watch->continued);
    watch->continued = NULL;
}

static void fail(struct watch *watch, const char *why, long status)
{
    char text[16];
    (void)snprintf(text, sizeof text, "%ld", status);
    watch->failures++;
    const unsigned doublings = watch->failures < 8 ? watch->failures - 1 : 7;
    const int64_t wait_ms = (int64_t)REST_FIRST_MS << doublings;
    agent_log("warning", "watch_failed", "path", watch->path, "status", text, "why", why, NULL);
    rest(watch, wait_ms < REST_LAST_MS ? wait_ms : REST_LAST_MS);
}

void watch_resume(struct watch *watch)
{
    if (watch->state == WATCH_PAUSED) {
        watch->failures = 0;
        forget_list(watch);
        rest(watch, 0);
    }
}

void watch_pause(struct watch *watch)
{
    if (watch->state == WATCH_LISTING || watch->state == WATCH_STREAMING) {
        request_drop(watch);
    }
    forget_list(watch);
    watch->count = 0;
    watch->state = WATCH_PAUSED;
}

/* ---- what comes in */

/* The version to go on from; false for an object without one. */
static bool version_keep(struct watch *watch, const json_t *object)
{
    const char *version = object_text(object, "metadata", "resourceVersion", NULL);
    if (version[0] == '\0' || strlen(version) >= sizeof watch->version) {
        return false;
    }
    memcpy(watch->version, version, strlen(version) + 1);
    return true;
}

static void error_take(struct watch *watch, const json_t *status)
{
    const json_int_t code = json_integer_value(object_get(status, "code", NULL));
    agent_log("info", "watch_ended", "path", watch->path, "message",
              object_text(status, "message", NULL), NULL);
    watch->too_old = code == 410;
    watch->gone_wrong = code != 410;
}

static void event_take(struct watch *watch, const json_t *event)
{
    const char *type = object_text(event, "type", NULL);
    const json_t *object = object_get(event, "object", NULL);
    if (strcmp(type, "ERROR") == 0) {
        error_take(watch, object);
        return;
    }
    const bool deleted = strcmp(type, "DELETED") == 0;
    const bool is_change = deleted || strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0;
    if (!is_change && strcmp(type, "BOOKMARK") != 0) {
        watch->gone_wrong = true;
        return;
    }
    if (is_change) {
        watch->moved = true;
        watch->events.change(watch->events.context, object, deleted);
    }
    watch->gone_wrong = !version_keep(watch, object);
}

/* Takes the whole lines in the buffer and moves the rest to its front. */
static void lines_take(struct watch *watch)
{
    size_t from = 0;
    while (!watch->too_old && !watch->gone_wrong) {
        char *line = watch->bytes + from;
        const char *end = memchr(line, '\n', watch->count - from);
        if (end == NULL) {
            break;
        }
        const size_t bytes = (size_t)(end - line);
        from += bytes + 1;
        json_t *event = bytes == 0 ? NULL : object_parse(line, bytes, 0, NULL);
        if (event != NULL) {
            event_take(watch, event);
        } else {
            watch->gone_wrong = bytes > 0;
        }
        json_decref(event);
    }
    memmove(watch->bytes, watch->bytes + from, watch->count - from);
    watch->count -= from;
}

static bool bytes_keep(struct watch *watch, const char *bytes, size_t count, size_t max)
{
    const size_t needed = watch->count + count;
    if (needed > max) {
        return false;
    }
    if (needed > watch->room) {
        const size_t room = needed > 2 * watch->room ? needed : 2 * watch->room;
        char *longer = realloc(watch->bytes, room);
        if (longer == NULL) {
            return false;
        }
        watch->bytes = longer;
        watch->room = room;
    }
    memcpy(watch->bytes + watch->count, bytes, count);
    watch->count += count;
    return true;
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *place)
{
    struct watch *watch = place;
    const size_t more = size * count;
    long status = 0;
    curl_easy_getinfo(watch->easy, CURLINFO_RESPONSE_CODE, &status);
    const bool is_stream = watch->state == WATCH_STREAMING && status == 200;
    if (!bytes_keep(watch, bytes, more, is_stream ? LINE_BYTES_MAX : PAGE_BYTES_MAX)) {
        watch->gone_wrong = true;
        if (watch->state == WATCH_LISTING && !watch->whole) {
            watch->page_items = watch->page_items > SHRINK ? watch->page_items / SHRINK : 1;
        }
        return 0;
    }
    if (watch->events.alive != NULL && is_stream) {
        watch->events.alive(watch->events.context);
    }
    if (is_stream) {
        lines_take(watch);
    }
    return watch->too_old || watch->gone_wrong ? 0 : more;
}

/* ---- requests */

static bool url_write(struct watch *watch, char *ret_path, size_t bytes)
{
    int length;
    if (watch->version[0] != '\0' && watch->continued == NULL) {
        length =
            snprintf(ret_path, bytes,
                     "%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%s",
                     watch->path, STREAM_S, watch->version);
        watch->state = WATCH_STREAMING;
    } else if (watch->whole) {
        length = snprintf(ret_path, bytes, "%s", watch->path);
        watch->state = WATCH_LISTING;
    } else {
        char *token =
            watch->continued == NULL ? NULL : curl_easy_escape(watch->easy, watch->continued, 0);
        length = snprintf(ret_path, bytes, "%s?limit=%d%s%s", watch->path, watch->page_items,
                          token == NULL ? "" : "&continue=", token == NULL ? "" : token);
        curl_free(token);
        watch->state = WATCH_LISTING;
    }
    return length > 0 && (size_t)length < bytes;
}

static void request_begin(struct watch *watch)
{
    char path[4096];
    CURL *easy = watch->easy;
    curl_easy_reset(easy);
    watch->count = 0;
    watch->too_old = false;
    watch->moved = false;
    watch->gone_wrong = false;
    watch->began_ms = client_clock_mono_ms();
    watch->headers = api_server_headers(watch->loop->server, NULL);
    const bool ok = url_write(watch, path, sizeof path) && watch->headers != NULL &&
                    api_server_aim(watch->loop->server, easy, path);
    if (!ok) {
        curl_slist_free_all(watch->headers);
        watch->headers = NULL;
        fail(watch, "the request cannot be made", 0);
        return;
    }
    curl_easy_setopt(easy, CURLOPT_PRIVATE, watch);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, watch->headers);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, watch);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 30L);
    curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 10L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, watch->state == WATCH_STREAMING ? STREAM_S + 30L : 60L);
    if (watch->state == WATCH_LISTING && watch->continued == NULL) {
        watch->events.list_begin(watch->events.context);
    }
    curl_multi_add_handle(watch->loop->multi, easy);
}

/* ---- ends of requests */

/* A page of the list has come in whole. Returns what is wrong with it, NULL for nothing. */
static const char *page_take(struct watch *watch)
{
    json_error_t where;
    json_t *list = object_parse(watch->bytes, watch->count, 0, &where);
    const json_t *items = object_get(list, "items", NULL);
    const bool is_list = json_is_array(items) || json_is_null(items);
    if (!is_list || !version_keep(watch, list)) {
        json_decref(list);
        return "not a list";
    }
    size_t index;
    json_t *item;
    json_array_foreach(items, index, item)
    {
        watch->events.item(watch->events.context, item);
    }
    const char *next = object_text(list, "metadata", "continue", NULL);
    const bool is_last = next[0] == '\0';
    free(watch->continued);
    watch->continued = is_last ? NULL : strdup(next);
    json_decref(list);
    if (!is_last && watch->continued == NULL) {
        return "out of memory"; /* not the end of the list: what did not come would be taken for gone */
    }
    if (is_last) {
        watch->listed_ms = client_clock_mono_ms();
        watch->whole = false;
        watch->events.list_end(watch->events.context);
    }
    return NULL;
}

static void list_ended(struct watch *watch, CURLcode code, long status)
{
    const char *fault = NULL;
    if (code != CURLE_OK) {
        fault = curl_easy_strerror(code);
    } else if (status != 200) {
        fault = "the list was refused";
    } else {
        fault = page_take(watch);
    }
    if (fault == NULL) {
        watch->failures = 0;
        rest(watch, 0);
        return;
    }
    /* A page that is too old cannot be continued: the next list comes in one piece, once. */
    watch->whole = status == 410 && watch->continued != NULL;
    forget_list(watch);
    fail(watch, fault, status);
}

static void stream_ended(struct watch *watch, CURLcode code, long status)
{
    const int64_t now_ms = client_clock_mono_ms();
    if (watch->too_old || status == 410) {
        forget_list(watch);
        rest(watch, 0);
        return;
    }
    const bool refused = status != 200 || watch->gone_wrong;
    if (refused) {
        forget_list(watch);
        fail(watch, code == CURLE_OK ? "the watch was refused" : curl_easy_strerror(code), status);
        return;
    }
    if (now_ms - watch->listed_ms > watch->loop->relist_ms) {
        forget_list(watch);
    }
    /* A server that ends streams at once, before they told anything, is not asked in a tight loop. */
    const bool was_good = watch->moved || now_ms - watch->began_ms > 1000;
    watch->failures = was_good ? 0 : watch->failures + 1;
    const unsigned doublings = watch->failures < 8 ? watch->failures : 7;
    rest(watch, watch->failures == 0 ? 10 : 10 << doublings);
}

static void ended(struct watch *watch, CURLcode code)
{
    long status = 0;
    curl_easy_getinfo(watch->easy, CURLINFO_RESPONSE_CODE, &status);
    const bool was_stream = watch->state == WATCH_STREAMING;
    request_drop(watch);
    if (was_stream && status == 0) {
        /* The server is away: what is known of it stays good. */
        fail(watch, curl_easy_strerror(code), 0);
    } else if (was_stream) {
        stream_ended(watch, code, status);
    } else {
        list_ended(watch, code, status);
    }
    watch->count = 0;
}

/* ---- the loop */

static int rest_ms(const struct watch_loop *loop, int wait_ms)
{
    const int64_t now_ms = client_clock_mono_ms();
    for (const struct watch *watch = loop->watches; watch != NULL; watch = watch->next) {
        if (watch->state == WATCH_RESTING && watch->rest_until_ms - now_ms < wait_ms) {
            wait_ms = (int)(watch->rest_until_ms > now_ms ? watch->rest_until_ms - now_ms : 0);
        }
    }
    return wait_ms;
}

void watch_loop_turn(struct watch_loop *loop, int wait_ms)
{
    const int64_t now_ms = client_clock_mono_ms();
    for (struct watch *watch = loop->watches; watch != NULL; watch = watch->next) {
        if (watch->state == WATCH_RESTING && watch->rest_until_ms <= now_ms) {
            request_begin(watch);
        }
    }
    int running;
    curl_multi_perform(loop->multi, &running);
    int queued;
    const CURLMsg *message;
    bool has_ended = false;
    while ((message = curl_multi_info_read(loop->multi, &queued)) != NULL) {
        struct watch *watch = NULL;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &watch);
        ended(watch, message->data.result);
        has_ended = true;
    }
    if (!has_ended) {
        curl_multi_poll(loop->multi, NULL, 0, rest_ms(loop, wait_ms), NULL);
    }
}

void watch_loop_wake(struct watch_loop *loop)
{
    curl_multi_wakeup(loop->multi);
}
