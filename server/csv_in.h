/*
 * CSV from outside (RFC 4180), a record at a time: quoted fields, doubled quotes, CRLF or LF, a byte order mark.
 *
 * Bounded: a record has at most CSV_FIELDS fields and CSV_RECORD_BYTES bytes. Any thread.
 */
#ifndef SERVER_CSV_IN_H
#define SERVER_CSV_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"

enum {
    CSV_FIELDS = 16,
    CSV_RECORD_BYTES = 2048, /* of decoded fields, each with its NUL */
};

/** Where reading is. Texts are borrowed for its life. */
struct csv_in {
    const char *at;
    const char *end;
    int64_t line; /* of `at`, from 1 */
};

/** One record; its fields are texts within `room`. */
struct csv_record {
    int64_t line; /* on which it begins */
    size_t count;
    const char *fields[CSV_FIELDS];
    char room[CSV_RECORD_BYTES];
};

void csv_in_init(struct csv_in *in, const char *bytes, size_t length_bytes);

/**
 * Read the next record that is not an empty line.
 *
 * @ret_record  filled where there is one; `line` is set also when the record is refused, and reading goes on
 *              behind it
 * @ret_found   false at the end
 *
 * Returns ERR_OK, or ERR_INVALID_FIELD: a quote that does not end, text behind a quoted field, a NUL or another
 * control character, too many fields, too long.
 */
MUST_USE enum error_code csv_in_next(struct csv_in *in,
                                     struct csv_record *ret_record,
                                     bool *ret_found,
                                     struct error *err);

#endif
