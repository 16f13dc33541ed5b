/* Heartbeats that came inside something else. */
#ifndef SERVER_API_HEARTBEATS_H
#define SERVER_API_HEARTBEATS_H

#include <jansson.h>

#include "server/request.h"

/**
 * Answer a request as POST /v1/heartbeats with this body would be.
 *
 * @body  taken over: the bulk thread frees it; NULL: the request's own body, which that thread parses
 */
void api_heartbeats_submit(struct request *request, json_t *body);

#endif
