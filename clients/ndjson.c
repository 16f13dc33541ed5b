/* See ndjson.h. */
#include "clients/ndjson.h"

#include <string.h>

bool ndjson_next(const char **text, json_t **ret_value)
{
    const char *line = *text + strspn(*text, "\n");
    const size_t bytes = strcspn(line, "\n");
    *text = line + bytes;
    *ret_value = bytes == 0 ? NULL : json_loadb(line, bytes, 0, NULL);
    return bytes > 0;
}
