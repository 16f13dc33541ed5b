/*
 * An alert as the message that its webhooks are sent: {"type", "timestamp", "data"}. The same bytes whenever it is
 * written again, as long as nobody's name is overwritten.
 */
#ifndef SERVER_WEBHOOK_EVENT_H
#define SERVER_WEBHOOK_EVENT_H

#include "ledger/base/buffer.h"
#include "ledger/ledger.h"
#include "server/decode.h"

/** Names of the types, "cap_threshold" and so on; the event's own type has "corehour." before it. */
extern const struct decode_choice choices_alert[];

enum { WEBHOOK_ID_BYTES = 64 };

/** The id of a message: the same for each try. Returns ret_id. */
const char *webhook_event_id(const struct delivery *delivery, char ret_id[WEBHOOK_ID_BYTES]);

/** Write it, inside a snapshot of @reader. Errors of the reader; ERR_UNAVAILABLE when out of memory. */
MUST_USE enum error_code webhook_event_write(struct ledger_reader *reader,
                                             const struct alert *alert,
                                             const char *webhook,
                                             struct buffer *out,
                                             struct error *err);

#endif
