/*
 * An HTTP server for tests of clients: a thread on 127.0.0.1 that answers from a script, byte for byte, and
 * keeps what it was asked. One script step is used up per request. It serves one connection at a time, and leaves an idle one
 * when another comes.
 */
#ifndef TESTS_CLIENTS_FAKE_SERVER_H
#define TESTS_CLIENTS_FAKE_SERVER_H

#include <stdbool.h>
#include <stddef.h>

enum fake_act {
    FAKE_ANSWER, /* send the text */
    FAKE_CLOSE,  /* send the text (perhaps none or half an answer) and close */
    FAKE_HANG,   /* send the text and then nothing more for two seconds, then close */
};

struct fake_step {
    enum fake_act act;
    const char *text; /* bytes to send; a whole HTTP answer for FAKE_ANSWER */
};

struct fake_server;

/* Starts. steps: borrowed until the stop; beyond the last one every request gets 500 and a close. */
struct fake_server *fake_server_start(const struct fake_step *steps, size_t steps_count);

/* Ends the thread and frees. */
void fake_server_stop(struct fake_server *server);

/* "http://127.0.0.1:PORT". */
const char *fake_server_url(const struct fake_server *server);

/* The n-th request as it came, head and body; "" when there was none. Valid until the stop. */
const char *fake_server_request(struct fake_server *server, size_t n);

/* The body of the n-th request. */
const char *fake_server_body(struct fake_server *server, size_t n);

size_t fake_server_requests(struct fake_server *server);
size_t fake_server_connections(struct fake_server *server);

/* A whole answer with a body and its length; lives until the process ends. type: a media type. */
const char *fake_answer(int status, const char *type, const char *extra_headers, const char *body);

/* The same for JSON without further headers. */
const char *fake_json(int status, const char *body);

#endif
