/*
 * The thread that delivers alerts, and looks for those that time brings (ledger_watch()).
 *
 * Deliveries stand in the ledger: written with their cause, read here, and marked when a receiver has answered. So
 * none is lost by a restart, and a message may come twice, with the same id. One that fails is tried again, later and
 * later, and is dead after the last try. Without webhooks the thread sleeps.
 */
#ifndef SERVER_WEBHOOKS_H
#define SERVER_WEBHOOKS_H

#include "server/service.h"

struct webhooks;

/** Make it, before there is a batcher; webhooks_start() starts its thread afterwards. ERR_UNAVAILABLE. */
enum error_code webhooks_create(struct service *service,
                                struct webhooks **ret_webhooks,
                                struct error *err);

enum error_code webhooks_start(struct webhooks *webhooks, struct error *err);

/** There are new deliveries. Any thread; NULL is allowed. */
void webhooks_wake(struct webhooks *webhooks);

/** Let what is under way end, and the thread with it; before the batcher is. NULL is allowed. */
void webhooks_stop(struct webhooks *webhooks);

/** Free it. NULL is allowed. */
void webhooks_destroy(struct webhooks *webhooks);

#endif
