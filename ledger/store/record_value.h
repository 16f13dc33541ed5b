/*
 * Records by their descriptors: hash, compare and copy them, and write their lists as text.
 *
 * For engines, the working set and tests. Pure; any thread.
 */
#ifndef LEDGER_STORE_RECORD_VALUE_H
#define LEDGER_STORE_RECORD_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/store/record_type.h"

enum {
    RECORD_LIST_TEXT_BYTES = 8192, /* room for any list as text, NUL included */
};

/*
 * Hash of the key fields of a record: spread over all 64 bits, the same for equal keys of a type,
 * different between types. For tables in memory only: it is stored nowhere.
 */
uint64_t record_key_hash(const struct record_type *type, const void *record);

/* Have both the same key? Texts are compared up to their NUL. */
bool record_key_equal(const struct record_type *type, const void *a, const void *b);

/*
 * The order of keys, field by field: integers by value, texts and blobs byte by byte (as BINARY
 * collation does). Negative, 0 or positive.
 */
int record_key_compare(const struct record_type *type, const void *a, const void *b);

/* Are all fields the same? What lies behind the NUL of a text or the count of a list is ignored. */
bool record_equal(const struct record_type *type, const void *a, const void *b);

/*
 * Copy what counts of a record: every field, texts up to their NUL, lists up to their count; the
 * rest of ret_copy is left as it was. Cheaper than a copy of the struct where lists are long and
 * mostly empty. The two must not overlap.
 */
void record_copy(const struct record_type *type, const void *record, void *ret_copy);

/*
 * Write a list field as text: "1:2:3,4:5:6", "" when empty. Numbers are decimal, without leading
 * zeros or plus.
 *
 * @field     of kind FIELD_LIST; the count in the record is within its bounds (else a bug)
 * @ret_text  RECORD_LIST_TEXT_BYTES, NUL-terminated
 *
 * Returns the length in bytes without the NUL.
 */
size_t record_list_encode(const struct record_field *field,
                          const void *record,
                          char ret_text[RECORD_LIST_TEXT_BYTES]);

/*
 * Read a list field from its text, the exact inverse of record_list_encode(): anything else (spaces,
 * leading zeros, a wrong number of columns, more elements than the field has room for, numbers
 * beyond int64) is refused.
 *
 * Returns false for a text that record_list_encode() never writes; the list in ret_record is then
 * undefined.
 */
MUST_USE bool record_list_decode(const struct record_field *field,
                                 const char *text,
                                 size_t length_bytes,
                                 void *ret_record);

#endif
