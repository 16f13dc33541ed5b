/* Lines of JSON in a text, as the daemon answers a batch: one for each operation, in their order. */
#ifndef COREHOUR_CLIENTS_NDJSON_H
#define COREHOUR_CLIENTS_NDJSON_H

#include <stdbool.h>

#include <jansson.h>

/*
 * Takes the next line that is not empty. text: moved behind it. ret_value: the caller's; NULL for a line that is no JSON, an
 * answer that was cut off among them. Returns false at the end.
 */
bool ndjson_next(const char **text, json_t **ret_value);

#endif
