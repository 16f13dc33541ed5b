/* Paths and queries of the API, with every outside text percent-encoded. Pure, safe in any thread.
 */
#ifndef COREHOUR_CLIENTS_URL_H
#define COREHOUR_CLIENTS_URL_H

#include <stddef.h>

#include "result.h"

/* Room for any path with its query that the command line builds. */
#define COREHOUR_URL_BYTES 4096

/*
 * Appends text as it is (a constant such as "/v1/holds") to the NUL-terminated path in `url`.
 * size_bytes: the room of `url`. Returns COREHOUR_OK, or COREHOUR_RANGE with `url` unchanged.
 */
COREHOUR_API enum corehour_result corehour_url_append(char *url,
                                                      size_t size_bytes,
                                                      const char *text);

/*
 * Appends "/" and one segment, percent-encoded (RFC 3986: all but letters, digits and -._~), so
 * that a name can never reach another route. A segment "." or ".." is COREHOUR_INVALID, as is an
 * empty one.
 */
COREHOUR_API enum corehour_result corehour_url_segment(char *url,
                                                       size_t size_bytes,
                                                       const char *segment);

/* Appends "?key=value", or "&key=value" where a query has begun. The key is a constant; the value
 * is encoded. */
COREHOUR_API enum corehour_result corehour_url_query(char *url,
                                                     size_t size_bytes,
                                                     const char *key,
                                                     const char *value);

#endif
