/*
 * Posting to receivers: many at once, each with a deadline, none followed anywhere else.
 *
 * Only http and https; no redirects, no proxy; the address that a name leads to is judged at the moment of the
 * connection, so that a name cannot point at what must not be reached (SSRF). What a receiver answers is read up to
 * a bound and thrown away: only its status counts. One thread.
 */
#ifndef SERVER_WEBHOOK_SEND_H
#define SERVER_WEBHOOK_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"

struct sockaddr;

/* Which addresses may be reached. Link-local ones (with the clouds' metadata), multicast and unspecified ones never. */
enum webhook_reach {
    WEBHOOK_REACH_PUBLIC,  /* addresses of the open Internet */
    WEBHOOK_REACH_PRIVATE, /* and those of private networks */
    WEBHOOK_REACH_ANY,     /* and this machine itself */
};

enum { WEBHOOK_ERROR_BYTES = 129 };

/** One message on its way. */
struct webhook_post {
    const char *url; /* these are borrowed until webhook_send() returns */
    const char *id;
    int64_t timestamp_s;
    const char *signature;
    const char *body;
    size_t body_bytes;
    long status; /* of the answer; 0: none */
    char error[WEBHOOK_ERROR_BYTES];
};

struct webhook_limits {
    enum webhook_reach reach;
    int64_t timeout_ms;
};

/** Post all of them side by side; each has its status or its error afterwards. ERR_UNAVAILABLE: out of memory. */
MUST_USE enum error_code webhook_send(struct webhook_post *posts,
                                      size_t count,
                                      const struct webhook_limits *limits,
                                      struct error *err);

/** May this address be reached? */
bool webhook_may_reach(const struct sockaddr *address, enum webhook_reach reach);

#endif
