/* Heartbeats that came inside something else. */
#ifndef SERVER_API_HEARTBEATS_H
#define SERVER_API_HEARTBEATS_H

#include <stdbool.h>

#include "server/request.h"

/** Answer a request as POST /v1/heartbeats with its body would be, or with the data of the event that its body is. */
void api_heartbeats_submit(struct request *request, bool is_event);

#endif
