/* Heartbeats that came inside something else. */
#ifndef SERVER_API_HEARTBEATS_H
#define SERVER_API_HEARTBEATS_H

#include <jansson.h>

#include "server/request.h"

/** Answer a request as POST /v1/heartbeats with this body would be. @body is borrowed. */
void api_heartbeats_submit(struct request *request, json_t *body);

#endif
