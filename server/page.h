/*
 * Pages of lists: page_size, and page_token, which says where the next page begins and is opaque to clients
 * (AIP-158). A token is only good for the list that made it.
 */
#ifndef SERVER_PAGE_H
#define SERVER_PAGE_H

#include "server/request.h"

struct page {
    int64_t size;
    int64_t
        from; /* where it begins: a number or an offset, as the list likes; 0: at the beginning */
};

/** From the query. ERR_MALFORMED for a size out of range or a token that is none of @list's. */
MUST_USE enum error_code page_begin(const struct request *request,
                                    const char *list,
                                    struct page *ret_page,
                                    struct error *err);

/** Write next_page_token: @next, or null when it is 0. */
void page_write_next(struct json_out *out, const char *list, int64_t next);

#endif
