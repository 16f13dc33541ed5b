/* Bodies while they come in: room for them, a bound on each and one on all of them together. */
#include <stdlib.h>
#include <string.h>

#include "server/http_internal.h"

/* Memory for a body of known length, once; counted among all bodies. */
static enum error_code reserve(struct request *request, size_t bytes, struct error *err)
{
    struct http *http = request->http;
    if (bytes < request->body_capacity) {
        return ERR_OK;
    }
    if (http->body_bytes + bytes > (uint64_t)http->options.bodies_max_bytes) {
        return error_set(err, ERR_OVERLOADED, "the memory for request bodies is in use");
    }
    const bool is_inline = request->body == request->inline_body;
    char *body = realloc(is_inline ? NULL : request->body, bytes + 1);
    if (body == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    if (is_inline) {
        memcpy(body, request->inline_body, request->body_bytes);
    }
    http->body_bytes += bytes - request->reserved_bytes;
    request->reserved_bytes = bytes;
    request->body = body;
    request->body_capacity = bytes + 1;
    return ERR_OK;
}

static enum error_code refuse_too_large(const struct request *request, struct error *err)
{
    return error_set(err, ERR_TOO_LARGE, "this route takes bodies of at most %u bytes",
                     (unsigned)request->body_limit);
}

static enum error_code append(struct request *request,
                              const char *data,
                              size_t bytes,
                              struct error *err)
{
    const size_t needed = request->body_bytes + bytes;
    if (needed > request->body_limit) {
        return refuse_too_large(request, err);
    }
    if (needed >= request->body_capacity) {
        const size_t doubled = 2 * needed < request->body_limit ? 2 * needed : request->body_limit;
        const enum error_code code = reserve(request, doubled, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    memcpy(request->body + request->body_bytes, data, bytes);
    request->body_bytes = needed;
    return ERR_OK;
}

enum error_code http_body_expect(struct request *request, struct error *err)
{
    const uint64_t length = request->headers.content_length;
    if (length > request->body_limit) {
        return refuse_too_large(request, err);
    }
    return reserve(request, (size_t)length, err);
}

enum MHD_Result http_body_take(struct request *request, const char *data, size_t *data_bytes)
{
    const size_t bytes = *data_bytes;
    *data_bytes = 0;
    request->http->progress++;
    if (!request->answer.is_ready) {
        struct error err;
        if (append(request, data, bytes, &err) == ERR_OK) {
            return MHD_YES;
        }
        request_refuse(request, &err);
        request->answer.closes = true;
    }
    request->discarded_bytes += bytes;
    return request->discarded_bytes <= HTTP_DISCARD_BYTES ? MHD_YES : MHD_NO;
}
