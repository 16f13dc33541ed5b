/*
 * The error registry as a table, and the writer of struct error. No allocation, no state.
 */
#include "ledger/base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/text.h"

struct error_row {
    const char *slug;
    const char *meaning;
    int32_t number;
    uint16_t http_status;
    enum error_retry retry;
};

#define ERROR_ROW(name, number, slug, http_status, retry, meaning) \
    [ERR_##name] = {slug, meaning, number, http_status, ERROR_RETRY_##retry},
static const struct error_row rows[ERR__COUNT] = {
#include "ledger/base/errors.def"
};
#undef ERROR_ROW

static_assert(ERR_OK == 0, "zeroed memory means no error");

static const struct error_row *row_of(enum error_code code)
{
    assert((unsigned)code < ERR__COUNT);
    return &rows[code];
}

enum error_code error_fill(struct error *err,
                           enum error_code code,
                           const char *field,
                           const char *format,
                           ...)
{
    assert(code != ERR_OK && (unsigned)code < ERR__COUNT);
    if (err == NULL) {
        return code;
    }
    va_list args;
    va_start(args, format);
    err->code = code;
    (void)snprintf(err->field, sizeof err->field, "%s", field);
    (void)vsnprintf(err->detail, sizeof err->detail, format, args);
    va_end(args);
    text_make_printable(err->field);
    text_make_printable(err->detail);
    return code;
}

void error_clear(struct error *err)
{
    if (err != NULL) {
        err->code = ERR_OK;
        err->field[0] = '\0';
        err->detail[0] = '\0';
    }
}

const char *error_slug(enum error_code code)
{
    return row_of(code)->slug;
}

uint16_t error_http_status(enum error_code code)
{
    return row_of(code)->http_status;
}

enum error_retry error_retry(enum error_code code)
{
    return row_of(code)->retry;
}

const char *error_retry_name(enum error_retry retry)
{
    static const char *const names[] = {
        [ERROR_RETRY_NEVER] = "never",
        [ERROR_RETRY_SAME_REQUEST] = "same_request",
        [ERROR_RETRY_AFTER_BACKOFF] = "after_backoff",
    };
    assert((unsigned)retry < ARRAY_LEN(names));
    return names[retry];
}

const char *error_meaning(enum error_code code)
{
    return row_of(code)->meaning;
}

int32_t error_number(enum error_code code)
{
    return row_of(code)->number;
}

enum error_code error_from_slug(const char *slug)
{
    size_t code = 0;
    while (code < ERR__COUNT && strcmp(rows[code].slug, slug) != 0) {
        code++;
    }
    return (enum error_code)code;
}
