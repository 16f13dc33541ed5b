/*
 * One HTTP request and its answer, from its first line to its last byte.
 *
 * Owned by one thread at a time: the HTTP loop, then perhaps the ledger thread, a reader thread or the bulk
 * thread, and the HTTP loop again (http_finish()). Handlers see this struct; libmicrohttpd they do not see.
 */
#ifndef SERVER_REQUEST_H
#define SERVER_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "ledger/base/buffer.h"
#include "ledger/base/error.h"
#include "ledger/ledger.h"
#include "server/auth.h"
#include "server/batcher.h"
#include "server/idempotency.h"
#include "server/json_out.h"
#include "server/reader.h"
#include "server/route.h"

struct MHD_Connection;
struct http;
struct service;

enum {
    REQUEST_ID_BYTES = 33,
    REQUEST_TARGET_BYTES = 512,               /* longer paths and queries are allocated */
    REQUEST_BODY_BYTES = 2048,                /* longer bodies are allocated */
    REQUEST_SPILL_BYTES = 256 * 1024,         /* beyond this a long answer goes to a file */
    REQUEST_ANSWER_BYTES = 256 * 1024 * 1024, /* no answer grows beyond this */
    TRACEPARENT_BYTES = 56,
};

/* Writes the members of an answer from a snapshot that has begun, on a reader thread. */
typedef enum error_code (*request_write_fn)(struct request *request,
                                            struct ledger_reader *reader,
                                            struct json_out *out,
                                            struct error *err);

/* What the HTTP loop found in the headers; texts are borrowed for the life of the request, NULL when absent. */
struct request_headers {
    const char *authorization;
    const char *if_match;
    const char *accept_language;
    const char *traceparent;
    const char *content_type;
    const char *idempotency_key;
    uint64_t content_length;
    bool has_length;
    bool is_chunked;
    const char *twice; /* a header that must be unique and is not */
    bool is_ambiguous; /* Content-Length with Transfer-Encoding */
    bool is_strange;   /* a Transfer-Encoding other than chunked */
};

/* What is to be sent. */
struct answer {
    bool is_ready;
    bool closes;      /* the connection, afterwards */
    bool is_replayed; /* Idempotency-Replayed: true */
    uint16_t status;
    enum error_code code;     /* of a problem, else ERR_OK */
    int64_t etag;             /* version; 0: none */
    int32_t retry_after_s;    /* 0: none */
    unsigned allow;           /* methods of a 405 */
    const char *content_type; /* static */
    const char *location;     /* borrowed until the answer is sent; percent-safe; NULL: none */
    const char *language;     /* static; NULL: none */
    struct buffer body;
    bool has_file; /* the body begins in a file, which has no name any more */
    int file;
    uint64_t file_bytes;
    const void *static_body; /* instead of body: lives as long as the program */
    size_t static_bytes;
};

/* A command on its way through the ledger thread, with its answer. */
struct command_slot {
    struct batch_item item;    /* first: its done() is given it */
    struct command_slot *next; /* among the free ones */
    struct request *request;
    const struct command *commands[1];
    struct command_with_rates *with_rates; /* owned; rates only, else NULL */
    struct idempotency_use key;
    char token[AUTH_TOKEN_BYTES]; /* of a token that is being made: shown once */
    char location[RECORD_ID_BYTES + 16];
    struct ledger_result result;
    struct command command;
};

struct request {
    struct request *next; /* in one list at a time */
    struct service *service;
    struct http *http;
    struct MHD_Connection *connection; /* NULL: the client has gone while the request was pending */
    void *peer;                        /* the connection's state in http.c */

    /* the line and the headers */
    int64_t now_ms;     /* wall clock, read once */
    int64_t started_ns; /* monotonic */
    char id[REQUEST_ID_BYTES];
    char traceparent[TRACEPARENT_BYTES]; /* "" when absent or not valid */
    enum method method;
    char *target; /* path and query as received; inline_target or owned */
    size_t path_bytes;
    struct request_headers headers;
    bool is_begun;
    bool identity_is_due; /* a token of the identity provider, not looked at yet */
    bool is_handled;
    bool is_over_limit; /* of connections */

    /* what begin found */
    const struct route *route;                  /* NULL: none */
    const char *path_values[ROUTE_PATH_VALUES]; /* decoded, within `decoded` */
    const char *query[QUERY__COUNT];            /* decoded, within `decoded`; NULL: not given */
    char *decoded;                              /* inline_decoded or owned */
    bool is_chinese;
    bool amounts_as_text;
    bool dry_run;

    /* the body */
    char *body; /* inline_body or owned; a NUL follows */
    size_t body_bytes;
    size_t body_capacity;
    uint64_t discarded_bytes;
    uint32_t body_limit;
    uint64_t reserved_bytes; /* of the memory for all bodies */

    /* the work */
    bool is_pending;                 /* set by a handler that gave the request away */
    bool is_short;                   /* set by one that has it back after a commit */
    bool is_long;                    /* read on the thread of long reads */
    bool wants_long;                 /* a short read found much to do: it is read there, anew */
    bool is_passed_over;             /* pending, and its connection not suspended */
    struct command_slot *slot;       /* owned */
    const struct route_command *row; /* of its command */
    struct reader_job job;
    void (*read)(struct request *request, struct ledger_reader *reader); /* on a reader thread */
    request_write_fn write;
    /* Back on the HTTP loop. True: answer is ready. False: someone else has the request again. */
    bool (*finish)(struct request *request);
    struct feed_wait {
        int64_t cluster_no;
        int64_t after;
        int64_t deadline_ms; /* monotonic */
        uint64_t generation;
        struct request *next;
        struct request *prev;
    } feed;

    struct answer answer;
    struct error identity_error; /* what became of it; from here on not cleared between requests */
    struct principal principal;  /* role 0 on public routes */
    char inline_target[REQUEST_TARGET_BYTES];
    char inline_decoded[REQUEST_TARGET_BYTES];
    char inline_body[REQUEST_BODY_BYTES];
};

/** Begin an answer and its JSON. The caller writes an object and calls request_answer_end(). */
void request_answer_begin(struct request *request, uint16_t status, struct json_out *ret_out);

/**
 * Move the body to a temporary file when it has grown beyond what an answer keeps in memory: for answers
 * of any length, between their parts. False when that fails: give up, request_answer_end() says why.
 */
bool request_answer_spill(struct request *request);

/** The answer is a file, empty as yet. ERR_UNAVAILABLE. */
MUST_USE enum error_code request_answer_file(struct request *request,
                                             int *ret_fd,
                                             struct error *err);

/** Finish it: 503 or 500 instead when the buffer has failed. */
void request_answer_end(struct request *request);

/** Answer a failure as a problem document (server/problem.h). */
void request_refuse(struct request *request, const struct error *err);

/** The same for a quota refusal, with its limits; @refusal may be NULL. */
void request_refuse_quota(struct request *request,
                          const struct error *err,
                          const struct ledger_refusal *refusal);

/**
 * The person who sends this, for the audit log; NULL for a scheduler. Borrowed for the life of the request. HTTP loop.
 */
const struct ledger_actor *request_actor(struct request *request);

/** An answer without a body: 204. */
void request_answer_empty(struct request *request, uint16_t status);

/* The query. NULL when a parameter is not given. */
static inline const char *request_query(const struct request *request, enum query_param param)
{
    return request->query[param];
}

/** An integer that a query may give: from @min to @max, both 0 or more; @absent when it is not given. */
struct query_integer {
    enum query_param param;
    int64_t min;
    int64_t max;
    int64_t absent;
};

/** What the query gives of @asked; ERR_MALFORMED with the parameter's name. */
MUST_USE enum error_code request_query_integer(const struct request *request,
                                               const struct query_integer *asked,
                                               int64_t *ret_value,
                                               struct error *err);

/** "true" or "false", false when absent. */
MUST_USE enum error_code request_query_switch(const struct request *request,
                                              enum query_param param,
                                              bool *ret_value,
                                              struct error *err);

/**
 * Copy a value of the path into a command or a look-up.
 *
 * @is_of_form  text_is_node_name() and so on
 * @size        of @ret_text
 *
 * Returns ERR_OK; ERR_INVALID_FIELD for a PUT, which would make it, else ERR_NOT_FOUND.
 */
MUST_USE enum error_code request_path_value(const struct request *request,
                                            size_t index,
                                            bool (*is_of_form)(const char *text),
                                            char *ret_text,
                                            size_t size,
                                            struct error *err);

/** Parse the body as one JSON document. */
MUST_USE enum error_code request_parse_body(const struct request *request,
                                            json_t **ret_body,
                                            struct error *err);

/** Set the path, the query and the flags from request->target; ERR_MALFORMED, ERR_TOO_LARGE. */
MUST_USE enum error_code request_decode_target(struct request *request,
                                               const struct route_match *match,
                                               struct error *err);

/**
 * Answer 200 with one object, which @write fills on a reader thread; its failure becomes the answer. For handlers:
 * the request is pending afterwards, or refused.
 */
void request_answer_by_reading(struct request *request, request_write_fn write);

/** Hand the request to a reader thread, then to finish(). Any thread that owns it. ERR_OVERLOADED, ERR_UNAVAILABLE. */
MUST_USE enum error_code request_read(struct request *request,
                                      void (*read)(struct request *request,
                                                   struct ledger_reader *reader),
                                      struct error *err);

/** Did a short read find that it wants to be a long one? Its answer is not written then. */
bool request_is_put_off(const struct request *request);

/** The same for what may take long, a report: on the thread for these. */
MUST_USE enum error_code request_read_long(struct request *request,
                                           void (*read)(struct request *request,
                                                        struct ledger_reader *reader),
                                           struct error *err);

/** Answer by a function that reads long, begins and ends its own snapshot and leaves an answer. For handlers. */
void request_answer_by_report(struct request *request,
                              void (*read)(struct request *request, struct ledger_reader *reader));

/** Give a slot back for reuse, after freeing what it owns. NULL is allowed. HTTP loop. */
void command_slot_release(struct command_slot *slot);

/** Free what the request owns beside itself. */
void request_fini(struct request *request);

#endif
