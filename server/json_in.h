/*
 * Bytes from outside -> a jansson tree, and where a fault lies.
 *
 * Strict: UTF-8, no duplicate keys, no NUL in texts, numbers that fit, nothing behind the document, bounded
 * depth. The caller has bounded the size. Any thread.
 */
#ifndef SERVER_JSON_IN_H
#define SERVER_JSON_IN_H

#include <stddef.h>

#include <jansson.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"

/**
 * Parse one document whose top is an object or an array.
 *
 * @bytes    borrowed; need not end with a NUL
 * @ret_top  owned by the caller: json_decref(); untouched on failure
 * @err      the dotted name of the member at which parsing stopped, line and column, and what is wrong
 *
 * Returns ERR_OK; ERR_INVALID_FIELD when a number is out of range (it is well-formed, but no value of ours);
 * ERR_MALFORMED otherwise; ERR_UNAVAILABLE when out of memory.
 */
MUST_USE enum error_code json_in_parse(const char *bytes,
                                       size_t length_bytes,
                                       json_t **ret_top,
                                       struct error *err);

/**
 * The dotted name of the member that byte @position lies in: "resources.gpus.0.count". Lenient: for bytes that
 * do not parse. Returns @ret_path ("" at the top), cut to its size.
 */
const char *json_in_path_at(const char *bytes,
                            size_t length_bytes,
                            size_t position,
                            char ret_path[LIMIT_ERROR_FIELD_BYTES + 1]);

/** For CLEANUP(json_in_decref) json_t *top. */
void json_in_decref(json_t **top);

#endif
