/*
 * One try of one request over the kept connection: libcurl is used here and nowhere else. Internal
 * to libcorehour. Nothing here sleeps, repeats or reads a clock: that is client.c's.
 */
#ifndef COREHOUR_CLIENTS_EXCHANGE_H
#define COREHOUR_CLIENTS_EXCHANGE_H

#include <curl/curl.h>

#include "clients/client.h"

/* A connection to one daemon and what every request to it carries. */
struct exchange {
    CURL *curl;
    char *base;                  /* the URL without a slash at its end */
    char *authorization;         /* a header line, or NULL */
    char *accept_language;       /* a header line, or NULL */
    struct curl_slist *resolved; /* the host's addresses, or NULL: looked up */
    int64_t connect_ms;          /* at most this for making a connection */
    size_t answer_bytes_max;     /* at most this kept of an answer */
    char curl_detail[CURL_ERROR_SIZE];
};

/* A request as libcurl wants it, made once: every try sends the same bytes. */
struct exchange_request {
    const struct corehour_request *request; /* borrowed */
    char *url;
    struct curl_slist *headers;
    char *text;        /* the body, when it was written from JSON */
    const char *bytes; /* the body */
    size_t bytes_count;
};

/* What one try brought. */
struct exchange_attempt {
    struct corehour_answer answer; /* to be freed with corehour_answer_fini, also after a failure */
    bool sink_fed;                 /* part of the body has left through the sink */
};

/*
 * Opens a handle from options that have been checked (texts borrowed, copied here). Fini takes a
 * zeroed one, and one whose init failed. Returns COREHOUR_OK, COREHOUR_INVALID or COREHOUR_MEMORY.
 */
enum corehour_result exchange_init(struct exchange *exchange,
                                   const struct corehour_options *options,
                                   struct corehour_error *ret_error);
void exchange_fini(struct exchange *exchange);

/* Writes URL, headers and body of `request`. Fini also after a failure. */
enum corehour_result exchange_request_init(const struct exchange *exchange,
                                           const struct corehour_request *request,
                                           struct exchange_request *ret_prepared,
                                           struct corehour_error *ret_error);
void exchange_request_fini(struct exchange_request *prepared);

/*
 * Sends the request once and waits at most try_ms (1 or more). Returns as corehour_call does;
 * ret_attempt is set in every case.
 */
enum corehour_result exchange_try(struct exchange *exchange,
                                  const struct exchange_request *prepared,
                                  int64_t try_ms,
                                  struct exchange_attempt *ret_attempt,
                                  struct corehour_error *ret_error);

/* Fills an error, cut to its room, and returns `result`. */
__attribute__((format(printf, 3, 4))) enum corehour_result exchange_error(
    struct corehour_error *ret_error,
    enum corehour_result result,
    const char *format,
    ...);

/* Whether a text holds a control character: such a text never goes into a header. */
bool exchange_has_control(const char *text);

#endif
