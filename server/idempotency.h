/*
 * Idempotency-Key: a key that was accepted with one request is refused with another.
 *
 * A command's identity is in its body and in the ledger (SPEC 6.1), and a repeated request is answered from there. The
 * key is a second guard for clients that send one: a table in memory, the latest of 65 536 keys, for as long as the
 * daemon runs. HTTP loop only.
 */
#ifndef SERVER_IDEMPOTENCY_H
#define SERVER_IDEMPOTENCY_H

#include <stdbool.h>

#include "ledger/base/check.h"
#include "ledger/base/digest.h"
#include "ledger/base/error.h"

struct idempotency;
struct request;

/** What a request's key stands for; kept with the request until it is accepted. */
struct idempotency_use {
    bool is_given;
    struct digest key;     /* of the token and the key */
    struct digest content; /* of method, target and body */
};

enum error_code idempotency_create(struct idempotency **ret_table, struct error *err);
void idempotency_destroy(struct idempotency *table);

/**
 * Look at a request's header.
 *
 * Returns ERR_OK; ERR_MALFORMED for a key that is not 1 to 255 visible characters, quoted or bare; ERR_ID_REUSED for one that
 * was accepted with another request.
 */
MUST_USE enum error_code idempotency_check(const struct idempotency *table,
                                           const struct request *request,
                                           struct idempotency_use *ret_use,
                                           struct error *err);

/** The request was accepted: remember its key. */
void idempotency_keep(struct idempotency *table, const struct idempotency_use *use);

#endif
