/* What the HTTP loop's turn does with polls. */
#ifndef SERVER_API_FEED_H
#define SERVER_API_FEED_H

#include <stdbool.h>

struct request;

/** A poll that waited: read again when there is news, else answer that there is none. */
void api_feed_again(struct request *request, bool has_news);

#endif
