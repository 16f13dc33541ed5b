/* A token is the list's name and a number, in hex, so that nobody is tempted to count in it. */
#include "server/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN_BYTES = 64, PLAIN_BYTES = 32 };

static void make_token(const char *list, int64_t from, char ret_token[TOKEN_BYTES])
{
    char plain[PLAIN_BYTES];
    const int bytes = snprintf(plain, sizeof(plain), "%s.%" PRId64, list, from);
    for (int i = 0; i < bytes && i < PLAIN_BYTES - 1; i++) {
        (void)snprintf(ret_token + (size_t)i * 2, 3, "%02x", (unsigned char)plain[i]);
    }
}

static bool read_token(const char *token, const char *list, int64_t *ret_from)
{
    char plain[PLAIN_BYTES] = "";
    const size_t bytes = strlen(token) / 2;
    if (bytes == 0 || bytes >= sizeof(plain) || strlen(token) % 2 != 0) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        const char digits[3] = {token[2 * i], token[2 * i + 1], '\0'};
        char *end;
        plain[i] = (char)strtoll(digits, &end, 16);
        if (end != digits + 2) {
            return false;
        }
    }
    const size_t list_bytes = strlen(list);
    if (strncmp(plain, list, list_bytes) != 0 || plain[list_bytes] != '.') {
        return false;
    }
    char *end;
    *ret_from = strtoll(plain + list_bytes + 1, &end, 10);
    return *end == '\0' && *ret_from > 0;
}

enum error_code page_begin(const struct request *request,
                           const char *list,
                           struct page *ret_page,
                           struct error *err)
{
    const enum error_code code = request_query_integer(
        request,
        &(struct query_integer){QUERY_PAGE_SIZE, 1, LIMIT_PAGE_SIZE, LIMIT_PAGE_SIZE_DEFAULT},
        &ret_page->size, err);
    if (code != ERR_OK) {
        return code;
    }
    ret_page->from = 0;
    const char *token = request_query(request, QUERY_PAGE_TOKEN);
    if (token != NULL && !read_token(token, list, &ret_page->from)) {
        return error_set_field(err, ERR_MALFORMED, "page_token", "not a token of this list");
    }
    return ERR_OK;
}

void page_write_next(struct json_out *out, const char *list, int64_t next)
{
    if (next == 0) {
        json_out_null(out, "next_page_token");
        return;
    }
    char token[TOKEN_BYTES] = "";
    make_token(list, next, token);
    json_out_text(out, "next_page_token", token);
}
