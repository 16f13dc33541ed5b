/*
 * Checks of texts that come from outside, and times as RFC 3339. Pure: no locale, no state, no
 * allocation, any thread.
 */
#ifndef LEDGER_BASE_TEXT_H
#define LEDGER_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"

/** Room for a time as text, NUL included: "2026-11-30T18:51:00Z". */
#define TEXT_TIME_BYTES 21

/** Well-formed UTF-8 (RFC 3629) without control characters (C0, DEL, C1). */
bool text_is_printable(const char *bytes, size_t length_bytes);

/** Replace every byte of a text that keeps it from being printable by '?'. The length stays. */
void text_make_printable(char *text);

/** A printable text of 1 to LIMIT_NAME_BYTES bytes: people, jobs, partitions, models (SPEC 1.6). */
bool text_is_name(const char *text);

/** [A-Za-z0-9][A-Za-z0-9._:-]{0,63}: ids of holds, grants, clusters and so on (SPEC 1.6). */
bool text_is_id(const char *text);

/** [a-z0-9][a-z0-9._-]{0,62}: organizations and projects (SPEC 2.1). */
bool text_is_node_name(const char *text);

/**
 * Parse an RFC 3339 time: date, T, time, optional fraction (cut), Z or any offset up to 23:59.
 * SPEC 1.4.
 *
 * @text   "2026-11-30T19:51:00.25+01:00"; t and z may be lower case; a leap second (:60) is
 *         refused; borrowed
 * @ret_s  seconds since 1970 UTC, 0 to LIMIT_TIME_S; untouched on failure
 * @err    ERR_INVALID_FIELD without a field name; may be NULL
 *
 * Returns ERR_OK, or ERR_INVALID_FIELD for another form, a date that does not exist or a time
 * outside 1970 to 9999.
 */
MUST_USE enum error_code text_parse_time(const char *text, int64_t *ret_s, struct error *err);

/**
 * Write a time as RFC 3339 in UTC: "2026-11-30T18:51:00Z".
 *
 * @time_s  seconds since 1970 UTC, 0 to LIMIT_TIME_S
 *
 * Returns @ret_text.
 */
const char *text_format_time(int64_t time_s, char ret_text[TEXT_TIME_BYTES]);

#endif
