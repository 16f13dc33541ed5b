/* One walk over the headers of a request: those that matter are kept, those that must be unique are counted. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "server/http_internal.h"

enum known_header {
    HEADER_HOST,
    HEADER_AUTHORIZATION,
    HEADER_CONTENT_LENGTH,
    HEADER_TRANSFER_ENCODING,
    HEADER_IDEMPOTENCY_KEY,
    HEADER_IF_MATCH,
    HEADER_ACCEPT_LANGUAGE,
    HEADER_CONTENT_TYPE,
    HEADER_TRACEPARENT,
    HEADER__COUNT
};

static const struct header_row {
    const char *name;
    bool is_unique; /* twice is refused */
} header_rows[HEADER__COUNT] = {
    [HEADER_HOST] = {"Host", true},
    [HEADER_AUTHORIZATION] = {"Authorization", true},
    [HEADER_CONTENT_LENGTH] = {"Content-Length", true},
    [HEADER_TRANSFER_ENCODING] = {"Transfer-Encoding", true},
    [HEADER_IDEMPOTENCY_KEY] = {"Idempotency-Key", true},
    [HEADER_IF_MATCH] = {"If-Match", true},
    [HEADER_ACCEPT_LANGUAGE] = {"Accept-Language", false},
    [HEADER_CONTENT_TYPE] = {"Content-Type", true},
    [HEADER_TRACEPARENT] = {"traceparent", false},
};

struct reading {
    struct request_headers *headers;
    const char *values[HEADER__COUNT];
};

/* Header names differ in their first letter, most of the time. */
static bool is_header(const char *name, size_t row)
{
    const char *known = header_rows[row].name;
    return tolower((unsigned char)known[0]) == tolower((unsigned char)name[0]) &&
           strcasecmp(known, name) == 0;
}

static enum MHD_Result note_header(void *context,
                                   enum MHD_ValueKind kind,
                                   const char *name,
                                   const char *value)
{
    (void)kind;
    struct reading *reading = context;
    for (size_t i = 0; i < HEADER__COUNT; i++) {
        if (!is_header(name, i)) {
            continue;
        }
        if (reading->values[i] == NULL) {
            reading->values[i] = value != NULL ? value : "";
        } else if (header_rows[i].is_unique) {
            reading->headers->twice = header_rows[i].name;
        }
        break;
    }
    return MHD_YES;
}

/* Lower-case hex of exactly `count` digits. */
static bool is_hex(const char *text, size_t count)
{
    return strspn(text, "0123456789abcdef") >= count;
}

/* 00-<32 hex>-<16 hex>-<2 hex>, not all zero; anything else is ignored as a whole (W3C Trace Context). */
static bool is_traceparent(const char *text)
{
    static const char zeros[] = "00000000000000000000000000000000";
    return strlen(text) == TRACEPARENT_BYTES - 1 && strncmp(text, "00-", 3) == 0 &&
           is_hex(text + 3, 32) && text[35] == '-' && is_hex(text + 36, 16) && text[52] == '-' &&
           is_hex(text + 53, 2) && strncmp(text + 3, zeros, 32) != 0 &&
           strncmp(text + 36, zeros, 16) != 0;
}

void http_headers_read(struct request *request)
{
    struct reading reading = {.headers = &request->headers};
    (void)MHD_get_connection_values(request->connection, MHD_HEADER_KIND, note_header, &reading);
    struct request_headers *headers = &request->headers;
    headers->authorization = reading.values[HEADER_AUTHORIZATION];
    headers->if_match = reading.values[HEADER_IF_MATCH];
    headers->accept_language = reading.values[HEADER_ACCEPT_LANGUAGE];
    headers->content_type = reading.values[HEADER_CONTENT_TYPE];
    headers->idempotency_key = reading.values[HEADER_IDEMPOTENCY_KEY];
    const char *coding = reading.values[HEADER_TRANSFER_ENCODING];
    headers->is_chunked = coding != NULL;
    headers->is_strange = coding != NULL && strcasecmp(coding, "chunked") != 0;
    const char *length = reading.values[HEADER_CONTENT_LENGTH];
    if (length != NULL) {
        /* libmicrohttpd has parsed it: digits, and it fits. */
        headers->content_length = strtoull(length, NULL, 10);
        headers->has_length = true;
    }
    headers->is_ambiguous = headers->has_length && headers->is_chunked;
    const char *traceparent = reading.values[HEADER_TRACEPARENT];
    if (traceparent != NULL && is_traceparent(traceparent)) {
        memcpy(request->traceparent, traceparent, TRACEPARENT_BYTES);
    }
}

enum error_code http_headers_check(const struct request *request, struct error *err)
{
    const struct request_headers *headers = &request->headers;
    if (headers->twice != NULL) {
        return error_set_field(err, ERR_MALFORMED, headers->twice, "this header is given twice");
    }
    if (headers->is_ambiguous) {
        return error_set_field(err, ERR_MALFORMED, "Content-Length",
                               "given together with Transfer-Encoding");
    }
    if (headers->is_strange) {
        return error_set_field(err, ERR_MALFORMED, "Transfer-Encoding",
                               "none but chunked is known");
    }
    return ERR_OK;
}
