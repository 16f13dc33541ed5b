/*
 * The way to corehourd for many threads: clients of libcorehour that are handed out and taken back, and a breaker that keeps
 * admissions from waiting for a daemon that did not answer a moment ago.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_LEDGER_POOL_H
#define COREHOUR_CLIENTS_KUBERNETES_LEDGER_POOL_H

#include <stdbool.h>

#include "clients/client.h"
#include "clients/kubernetes/agent_config.h"

struct ledger_pool;

/* Makes a pool; the token is read. Returns false with ret_error filled. config: borrowed for the pool's life. */
bool ledger_pool_create(const struct agent_config *config,
                        struct ledger_pool **ret_pool,
                        struct agent_error *ret_error);
void ledger_pool_destroy(struct ledger_pool *pool);

/*
 * One request within the deadline of an admission.
 *
 * ret_answer: for corehour_answer_fini on success. ret_why: what went wrong otherwise.
 * Returns false without an answer that decides anything: nobody there, too slow, 401, 403, 429, 5xx, or the breaker is open.
 */
bool ledger_pool_call(struct ledger_pool *pool,
                      const struct corehour_request *request,
                      struct corehour_answer *ret_answer,
                      struct agent_error *ret_why);

/* A client of its own for a thread that may wait longer; to be destroyed by the caller. */
bool ledger_pool_client(const struct ledger_pool *pool,
                        int64_t deadline_ms,
                        struct corehour_client **ret_client,
                        struct agent_error *ret_error);

/* Whether an answer settles the matter: an answer of the ledger, not of a proxy or of a ledger in trouble. */
bool ledger_answer_decides(const struct corehour_answer *answer);

#endif
