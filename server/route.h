/*
 * The route table's row, and finding the row of a request.
 *
 * server/routes.c holds THE table: what is not there does not exist. Rows are compared with the OpenAPI document
 * both ways by tests/schema.
 */
#ifndef SERVER_ROUTE_H
#define SERVER_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/error.h"
#include "ledger/core/command.h"

struct json_out;
struct json_t;
struct ledger_reader;
struct ledger_result;
struct request;

enum method { METHOD_GET, METHOD_PUT, METHOD_POST, METHOD_PATCH, METHOD_DELETE, METHOD__COUNT };

/* Parameters of the query, in no order. */
enum query_param {
    QUERY_DRY_RUN,
    QUERY_AMOUNTS,
    QUERY_ATOMIC,
    QUERY_ROOT,
    QUERY_STATE,
    QUERY_PROJECT,
    QUERY_USER,
    QUERY_CLUSTER,
    QUERY_JOB_ID,
    QUERY_JOB_KEY,
    QUERY_STALE,
    QUERY_PAGE_SIZE,
    QUERY_PAGE_TOKEN,
    QUERY_AFTER,
    QUERY_WAIT_S,
    QUERY_NODE,
    QUERY_MONTH,
    QUERY_FROM,
    QUERY_TO,
    QUERY_GROUP_BY,
    QUERY_FORMAT,
    QUERY_FOCUS_VERSION,
    QUERY__COUNT
};

#define QUERY_BIT(param) (UINT32_C(1) << (param))

enum {
    ROUTE_PATH_VALUES = 3, /* {placeholders} of one pattern at most */
    ROUTE_PUBLIC = 0,      /* roles: no token needed */
};

/** One row of the table. */
struct route {
    enum method method;
    const char *pattern; /* "/v1/holds/{id}": literal segments and whole-segment placeholders */
    unsigned roles;      /* enum token_role bits that may call it, or ROUTE_PUBLIC */
    uint32_t body_bytes; /* largest body; 0: none is read */
    uint32_t query;      /* QUERY_BIT() of the parameters that it takes; others are refused */
    void (*handle)(struct request *request);
    const struct route_command *command; /* of handlers that make a command, else NULL */
    enum node_kind node;                 /* what a path of nodes and caps is about */
};

/** How a route becomes a command and its result an answer. */
struct route_command {
    enum command_kind kind;
    uint16_t status; /* when accepted; 0: 201 for what is new, else 200 */
    bool has_etag;   /* the answer carries the version of what was put */
    bool makes_hold; /* the answer's Location is the hold */
    /* Writes what the path says into the command. */
    enum error_code (*place)(struct request *request, struct command *command, struct error *err);
    /* Writes what the body says into the command; NULL: there is no body. */
    enum error_code (*decode)(const struct json_t *body,
                              struct command *command,
                              struct error *err);
    /* Writes the whole answer on the thread for reports, once the command is accepted; NULL: encode does.
     * Where that thread is too busy encode does all the same. */
    void (*read)(struct request *request, struct ledger_reader *reader);
    /* Writes the members of the answer; NULL: it has none. */
    void (*encode)(struct json_out *out,
                   const struct command *command,
                   const struct ledger_result *result);
};

/** The table and its length; server/routes.c. */
extern const struct route routes[];
extern const size_t routes_count;

/** The first row that makes this command: says what role it needs and how it is answered. NULL: none does. */
const struct route *route_of_command(enum command_kind kind);

/** A path found: its row, and the placeholders' values as they stand in the path (percent-encoded). */
struct route_match {
    const struct route *route;
    struct route_value {
        const char *text; /* borrowed from the path */
        size_t bytes;
    } values[ROUTE_PATH_VALUES];
    unsigned allowed; /* methods of this path, bit 1 << enum method; 0: no such path */
};

/**
 * Find the row of a method and a path.
 *
 * @path  without the query, as received; not NUL-terminated
 *
 * ret_match->route is NULL when there is none: 405 with `allowed` when other methods exist, else 404.
 */
void route_find(enum method method,
                const char *path,
                size_t path_bytes,
                struct route_match *ret_match);

/** "GET" and so on. */
const char *method_name(enum method method);

/** The method of this name, METHOD__COUNT for another; HEAD is a GET. */
enum method method_parse(const char *name);

/** "dry_run" and so on. */
const char *query_param_name(enum query_param param);

/** The parameter of this name, QUERY__COUNT for another. */
enum query_param query_param_parse(const char *name);

#endif
