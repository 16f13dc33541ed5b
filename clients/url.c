/* Paths and queries, percent-encoded: see url.h. */
#include "clients/url.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_unreserved(unsigned char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

static enum corehour_result encoded_append(char *url,
                                           size_t size_bytes,
                                           size_t at,
                                           const char *text)
{
    size_t start = at;
    for (const char *c = text; *c != '\0'; c++) {
        size_t need = is_unreserved((unsigned char)*c) ? 1 : 3;
        if (at + need >= size_bytes) {
            url[start] = '\0';
            return COREHOUR_RANGE;
        }
        if (need == 1) {
            url[at] = *c;
        } else {
            snprintf(url + at, 4, "%%%02X", (unsigned)(unsigned char)*c);
        }
        at += need;
    }
    url[at] = '\0';
    return COREHOUR_OK;
}

enum corehour_result corehour_url_append(char *url, size_t size_bytes, const char *text)
{
    size_t at = strlen(url);
    size_t length = strlen(text);
    if (at + length >= size_bytes) {
        return COREHOUR_RANGE;
    }
    memcpy(url + at, text, length + 1);
    return COREHOUR_OK;
}

enum corehour_result corehour_url_segment(char *url, size_t size_bytes, const char *segment)
{
    if (*segment == '\0' || strcmp(segment, ".") == 0 || strcmp(segment, "..") == 0) {
        return COREHOUR_INVALID;
    }
    size_t at = strlen(url);
    if (at + 1 >= size_bytes) {
        return COREHOUR_RANGE;
    }
    url[at] = '/';
    enum corehour_result result = encoded_append(url, size_bytes, at + 1, segment);
    if (result != COREHOUR_OK) {
        url[at] = '\0';
    }
    return result;
}

enum corehour_result corehour_url_query(char *url,
                                        size_t size_bytes,
                                        const char *key,
                                        const char *value)
{
    size_t at = strlen(url);
    const char *separator = strchr(url, '?') == NULL ? "?" : "&";
    size_t head = strlen(key) + 2;
    if (at + head >= size_bytes) {
        return COREHOUR_RANGE;
    }
    snprintf(url + at, size_bytes - at, "%s%s=", separator, key);
    enum corehour_result result = encoded_append(url, size_bytes, at + head, value);
    if (result != COREHOUR_OK) {
        url[at] = '\0';
    }
    return result;
}
