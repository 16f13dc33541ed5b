/*
 * Many commands in one request: batches, events, heartbeats (SPEC 1.6, 11.4).
 *
 * One thread decodes their lines and encodes the answers, so that the HTTP loop never does. Lines go to the ledger in
 * chunks, so that nobody waits long behind a large batch: while one chunk is being committed the next is decoded. An
 * atomic batch is one chunk. Requests are taken one after another, which bounds the memory.
 */
#ifndef SERVER_BULK_H
#define SERVER_BULK_H

#include <jansson.h>

#include "server/request.h"

struct bulk;

/** One line with its command and what became of it. */
struct bulk_line {
    int64_t number; /* from 1 */
    const struct route_command *row;
    struct command *command;      /* NULL: it was refused before */
    struct ledger_result *result; /* of its command */
    struct error error;           /* of a refused line */
    char *source;                 /* of an event; write() frees them */
    char *id;
};

/** Where lines come from and how their answers look. */
struct bulk_source {
    /* The next line: fills number, and command and row through bulk_command(), or error. False at the end. */
    bool (*next)(struct bulk_source *source, struct bulk *bulk, struct bulk_line *line);
    /* Write the answer of one line; a failure of the whole request goes to source->failure. */
    void (*write)(struct bulk_source *source, struct json_out *out, const struct bulk_line *line);
    /* Around the lines; NULL: nothing. begin() may still say how many lines there are. */
    void (*begin)(struct bulk_source *source, struct json_out *out);
    void (*end)(struct bulk_source *source, struct json_out *out);
    void (*fini)(struct bulk_source *source); /* frees the source */
    struct request *request;
    const struct ledger_actor *actor; /* of the request; bulk_submit() sets it */
    const char *content_type;
    bool is_atomic;
    size_t lines;         /* at most; for an atomic source how many */
    struct error failure; /* code ERR_OK: none */
};

enum error_code bulk_create(struct service *service, struct bulk **ret_bulk, struct error *err);

/** Queue a request with its source, which bulk frees. HTTP loop. ERR_OVERLOADED: not taken. */
MUST_USE enum error_code bulk_submit(struct bulk *bulk,
                                     struct bulk_source *source,
                                     struct error *err);

/** Room for the command of the line that next() is making: reset to its kind, with who asks filled in. */
struct command *bulk_command(struct bulk *bulk,
                             struct bulk_source *source,
                             struct bulk_line *line,
                             const struct route *route);

/**
 * Parse the text of a line. @what  what it is called in a refusal, "a line". @ret_body  the caller's
 *
 * ERR_OK; ERR_TOO_LARGE beyond LIMIT_BODY_BYTES, or as json_in_parse(): then line->error has it.
 */
MUST_USE enum error_code bulk_line_parse(struct bulk_line *line,
                                         const char *what,
                                         const char *text,
                                         size_t bytes,
                                         json_t **ret_body);

/** begin and end of a source whose answers are one object: {"results": [...]}. */
void bulk_results_begin(struct bulk_source *source, struct json_out *out);
void bulk_results_end(struct bulk_source *source, struct json_out *out);

/** May the request's principal send this kind of command? ERR_OK, or ERR_NOT_ALLOWED, with its route. */
MUST_USE enum error_code bulk_find_route(const struct request *request,
                                         enum command_kind kind,
                                         const struct route **ret_route,
                                         struct error *err);

/** Carry out what is queued, end the thread. NULL is allowed. */
void bulk_stop(struct bulk *bulk);

/** The same, and free it. NULL is allowed. */
void bulk_destroy(struct bulk *bulk);

#endif
