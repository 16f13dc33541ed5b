/*
 * Error codes and the caller-owned description of a failure.
 *
 * Fallible functions return an enum error_code and describe the failure in the caller's struct
 * error, which never allocates. The layer that meets the failure sets it; layers above may add
 * context but keep the code. All facts about a code come from errors.def.
 */
#ifndef LEDGER_BASE_ERROR_H
#define LEDGER_BASE_ERROR_H

#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/base/limits.h"

#define ERROR_ROW(name, number, slug, http_status, retry, meaning) ERR_##name,
/** ERR_OK is 0. Values are for this program only; outside, an error is known by slug and number. */
enum error_code {
#include "ledger/base/errors.def"
    ERR__COUNT
};
#undef ERROR_ROW

/** What a client may do with the same request after this error. */
enum error_retry {
    ERROR_RETRY_NEVER,
    ERROR_RETRY_SAME_REQUEST,
    ERROR_RETRY_AFTER_BACKOFF,
};

/** Owned by the caller; plain data, free to copy. Zero is "no error". */
struct error {
    enum error_code code;
    char field[LIMIT_ERROR_FIELD_BYTES + 1];   /* dotted name of the field at fault, or empty */
    char detail[LIMIT_ERROR_DETAIL_BYTES + 1]; /* one line: the value and its unit; no secrets */
};

/**
 * Describe a failure: `return error_set(err, ERR_NOT_FOUND, "no project %s", name);`
 *
 * @err     filled with code, an empty field and the formatted detail, which is cut at
 *          LIMIT_ERROR_DETAIL_BYTES and made printable (text.h); may be NULL
 * @code    not ERR_OK
 *
 * The value is @code: this is a macro, so that the compiler knows that a failure is returned.
 * Does not allocate, any thread.
 */
#define error_set(err, code, ...) error_set_field((err), (code), "", __VA_ARGS__)

/**
 * The same for a fault in one field of the request.
 *
 * @field   dotted name as the client wrote it ("resources.gpus.0.model"), borrowed; cut at
 *          LIMIT_ERROR_FIELD_BYTES
 */
#define error_set_field(err, code, field, ...) \
    error_is_failure(error_fill((err), (code), (field), __VA_ARGS__))

/** What the macros above call. Returns @code. */
enum error_code error_fill(struct error *err,
                           enum error_code code,
                           const char *field,
                           const char *format,
                           ...) PRINTF_LIKE(4, 5);

/** Tells the compiler what error_fill() asserts. Returns @code. */
static inline enum error_code error_is_failure(enum error_code code)
{
    if (code == ERR_OK) {
        __builtin_unreachable();
    }
    return code;
}

/** Forget a failure: code ERR_OK, empty texts. NULL is allowed. */
void error_clear(struct error *err);

/* Look-ups in the registry. @code is any value below ERR__COUNT; the texts are static. */

/** The code on the wire, for example "quota_insufficient". */
const char *error_slug(enum error_code code);

/** HTTP status of the problem document; 200 for ERR_OK. */
uint16_t error_http_status(enum error_code code);

/** May the client send the same request again, and when. */
enum error_retry error_retry(enum error_code code);

/** "never", "same_request" or "after_backoff". */
const char *error_retry_name(enum error_retry retry);

/** One line in English, lower case. */
const char *error_meaning(enum error_code code);

/** The permanent number, from 1000; 0 for ERR_OK. */
int32_t error_number(enum error_code code);

/** The code with this slug, or ERR__COUNT when there is none. */
enum error_code error_from_slug(const char *slug);

#endif
