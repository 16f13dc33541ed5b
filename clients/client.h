/*
 * libcorehour: how a program talks to corehourd. One call is one HTTP exchange with a deadline; the
 * connection is kept for the next; a try that failed is repeated with the same bytes, hence the
 * same id, so that nothing is ever done twice. The library knows nothing of core-hours: it carries
 * bodies.
 *
 * A client belongs to one thread at a time. Different clients may be used in different threads.
 * Nothing is printed, no signal is used, no environment variable of ours is read (the caller passes
 * the options).
 *
 *     struct corehour_client *client;
 *     struct corehour_error error;
 *     if (corehour_client_create(&(struct corehour_options){.url = url, .token = token}, &client,
 * &error))
 *         ...
 *     struct corehour_answer answer;
 *     struct corehour_request request = {.method = "POST", .path = "/v1/holds", .body = body};
 *     if (corehour_call(client, &request, &answer, &error) == COREHOUR_OK && answer.status == 201)
 *         ...
 *     corehour_answer_fini(&answer);
 *     corehour_client_destroy(client);
 */
#ifndef COREHOUR_CLIENTS_CLIENT_H
#define COREHOUR_CLIENTS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "result.h"

#ifdef __cplusplus
extern "C" {
#endif

struct corehour_client;

/*
 * How to reach a daemon. Zeroed fields take the default. All texts are copied.
 */
struct corehour_options {
    const char
        *url; /* "http://127.0.0.1:8765" or https; a path in front of /v1 is kept. Required */
    const char *token;       /* bearer token, or NULL to send none */
    const char *language;    /* Accept-Language, "zh" or "en"; NULL: not sent */
    const char *ca_file;     /* PEM file of the CAs to trust; NULL: the system's */
    const char *agent;       /* User-Agent; NULL: "libcorehour/<version>" */
    const char *address;     /* numeric addresses with commas between, to connect to the first of
                             them that answers instead of looking the URL's host up, which stays the
                             name in Host and in the certificate, and past any proxy; NULL: look
                             it up */
    int64_t deadline_ms;     /* a whole call with all its tries: 1 to 3 600 000; default 30 000 */
    int64_t try_ms;          /* one try, cut to what is left of the deadline; default 10 000 */
    int64_t connect_ms;      /* making a connection, within a try; default 2 000 */
    unsigned tries_max;      /* 1 to 100; 1 never repeats; default 4 */
    size_t answer_bytes_max; /* longest answer kept in memory; default 64 MiB */
};

/*
 * Takes a part of a 2xx body as it arrives. `bytes` is not NUL-terminated and lives for the call
 * only. Returns false to give the answer up (the call then returns COREHOUR_GARBLED).
 */
typedef bool (*corehour_sink_fn)(void *sink_arg, const char *bytes, size_t bytes_count);

/*
 * One exchange. Everything is borrowed for the call. Either `body` or `bytes` or neither is given.
 */
struct corehour_request {
    const char *method;       /* "GET", "POST", "PUT", "PATCH", "DELETE" */
    const char *path;         /* from /v1 or /healthz on, already encoded (url.h), with its query */
    const json_t *body;       /* sent as application/json, written once for all tries */
    const char *bytes;        /* sent as they are, */
    size_t bytes_count;       /* this many, */
    const char *content_type; /* as this (default application/json) */
    const char *if_match;     /* If-Match: an ETag as received, or "*"; NULL: not sent */
    const char
        *idempotency_key;  /* Idempotency-Key; NULL: not sent. Commands carry their id already */
    int64_t deadline_ms;   /* for this call; 0: the client's */
    int64_t try_ms;        /* for this call; 0: the client's */
    bool once;             /* the same again would act again (POST /v1/tokens, PUT on an ETag): once
                              it may have been received it is not repeated */
    corehour_sink_fn sink; /* takes a 2xx body in parts instead of keeping it; NULL: kept */
    void *sink_arg;
};

/*
 * The daemon's answer. Owned by the caller, freed by corehour_answer_fini, which takes a zeroed one
 * too.
 */
struct corehour_answer {
    int status;        /* HTTP status, 200 to 599 */
    json_t *body;      /* the body, when it is JSON (application/json or problem+json); else NULL */
    char *text;        /* the body's bytes, NUL-terminated; "" for none or when a sink took it */
    size_t text_bytes; /* without the NUL */
    char etag[128];    /* ETag as received, quotes included; "" without */
    char type[64];     /* media type, lower case, without parameters; "" without */
    int64_t retry_after_s; /* -1 without */
    bool replayed;         /* Idempotency-Replayed: true */
    unsigned tries;        /* how many tries it took, from 1 */
    bool reused;           /* the last try went over a connection that was open already */
};

/*
 * Makes a client. Nothing is sent yet.
 *
 * options: borrowed. ret_client: to be destroyed with corehour_client_destroy.
 * ret_error: filled on failure. Returns COREHOUR_OK; COREHOUR_INVALID (the URL is no http or https
 * URL or holds a query, a token, language or address holds a control character, the CA file cannot be read);
 * COREHOUR_RANGE (a number outside its range); COREHOUR_MEMORY.
 * Threads: safe in any; the first call in a process initializes libcurl.
 */
COREHOUR_API enum corehour_result corehour_client_create(const struct corehour_options *options,
                                                         struct corehour_client **ret_client,
                                                         struct corehour_error *ret_error);

/* Closes the connection and frees the client. NULL is legal. */
COREHOUR_API void corehour_client_destroy(struct corehour_client *client);

/*
 * Sends a request and waits for its answer, at most for the deadline.
 *
 * Repeats, with growing pauses (100 ms doubling, with jitter, or the Retry-After given) while tries
 * and deadline last: when no connection was made; on 429 and 503; when no whole answer came, and on
 * 502 and 504, unless `request->once`. What cannot fit the deadline any more is not begun.
 *
 * ret_answer: set on COREHOUR_OK and to be freed then; else zeroed.
 * ret_error: filled on failure. Returns COREHOUR_OK for a whole answer of any status;
 * COREHOUR_INVALID (a request that cannot be written); COREHOUR_MEMORY; COREHOUR_UNREACHABLE;
 * COREHOUR_NO_ANSWER; COREHOUR_GARBLED (a 2xx answer that says it is JSON and is not, or is longer
 * than answer_bytes_max, or was given up by the sink). SPEC 6.1, 11.1, 11.4; RFC 9110 (Retry-After,
 * If-Match).
 */
COREHOUR_API enum corehour_result corehour_call(struct corehour_client *client,
                                                const struct corehour_request *request,
                                                struct corehour_answer *ret_answer,
                                                struct corehour_error *ret_error);

/* Frees what an answer holds and zeroes it. NULL and zeroed are legal. */
COREHOUR_API void corehour_answer_fini(struct corehour_answer *answer);

/*
 * Freezes: POST /v1/holds. When `body` (an object) has no "id", one is made from its "cluster" and
 * set in it, so that the caller, too, can repeat or settle it. Answers 201, 202 (waiting) or 409.
 * As corehour_call; COREHOUR_INVALID also when there is neither id nor a cluster to make one from.
 */
COREHOUR_API enum corehour_result corehour_freeze(struct corehour_client *client,
                                                  json_t *body,
                                                  struct corehour_answer *ret_answer,
                                                  struct corehour_error *ret_error);

/*
 * A verb on a hold: POST /v1/holds/{hold}/{verb}. verb: bind, start, suspend, resume, resize,
 * requeue, settle, release or correct. body: borrowed, or NULL for {}. As corehour_call.
 */
COREHOUR_API enum corehour_result corehour_hold_verb(struct corehour_client *client,
                                                     const char *hold,
                                                     const char *verb,
                                                     const json_t *body,
                                                     struct corehour_answer *ret_answer,
                                                     struct corehour_error *ret_error);

/*
 * The `code` of a problem answer ("quota_insufficient", "unknown_hold", ...), or "" when the answer
 * is not a problem of Corehour's. Lives as long as the answer.
 */
COREHOUR_API const char *corehour_answer_code(const struct corehour_answer *answer);

#ifdef __cplusplus
}
#endif

#endif
