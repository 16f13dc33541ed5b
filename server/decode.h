/*
 * JSON -> struct by field tables: one row a member, no code a command.
 *
 * A table says for each member its name, kind, place in the struct, bounds, and whether it must be there.
 * Unknown members, wrong types, numbers that are no integers, texts of the wrong form and values out of range
 * are refused with the dotted name of the member ("resources.gpus.0.count"). null stands for "not given" where
 * a row allows it, and for RECORD_UNLIMITED where a row says so (SPEC 1.5). The struct must be zeroed or hold
 * its defaults; members that are not given leave it untouched.
 */
#ifndef SERVER_DECODE_H
#define SERVER_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "ledger/base/check.h"
#include "ledger/base/error.h"

/** Where in the document decoding is: a list from the innermost member outwards, on the stack. */
struct decode_path {
    const struct decode_path *outer; /* NULL at the top */
    const char *name;                /* of a member, or NULL */
    size_t index;                    /* of an element, where name is NULL */
};

enum decode_kind {
    DECODE_NAME,       /* text of 1 to LIMIT_NAME_BYTES printable bytes -> char[size] */
    DECODE_NOTE,       /* text of 0 to size - 1 printable bytes -> char[size] */
    DECODE_ID,         /* text_is_id() -> char[size] */
    DECODE_NODE,       /* text_is_node_name() -> char[size] */
    DECODE_INTEGER,    /* min..max -> int64_t, or int32_t by size */
    DECODE_SWITCH,     /* true, false -> 0 or 1 in an integer of `size` bytes */
    DECODE_TIME,       /* RFC 3339 -> int64_t seconds */
    DECODE_CHOICE,     /* one of `choices` -> an enum of 4 bytes */
    DECODE_CHOICES,    /* array of `choices` -> int64_t, the bit 1 << value for each */
    DECODE_MCS,        /* integer, 0..max -> int64_t */
    DECODE_CORE_HOURS, /* integer or decimal text -> int64_t mcs, 0..max */
    DECODE_OBJECT,     /* by `table`, its rows relative to offset */
    DECODE_OTHER,      /* by `other` */
    DECODE_IGNORED,    /* known, and read by someone else */
};

/** One name of a closed list and what it stands for. */
struct decode_choice {
    const char *name; /* NULL ends the list */
    int value;
};

struct decode_table;

/** Decode a member into @place (at the row's offset). Errors by decode_refuse(). */
typedef enum error_code (*decode_other_fn)(const json_t *value,
                                           void *place,
                                           const struct decode_path *path,
                                           struct error *err);

struct decode_field {
    const char *name;
    enum decode_kind kind;
    size_t offset;
    size_t size;
    int64_t min;
    int64_t max;
    bool required;
    bool null_is_absent;
    bool null_is_unlimited;
    enum error_code too_many; /* the code when max is exceeded; 0: ERR_INVALID_FIELD */
    size_t given_offset;      /* of a bool in the struct set to true when given; 0: none */
    int given_bit;            /* 1 + bit in the table's `given` word; 0: none */
    int one_of;               /* rows of the same number, above 0, exclude each other */
    const struct decode_choice *choices;
    const struct decode_table *table;
    decode_other_fn other;
};

struct decode_table {
    const struct decode_field *fields;
    size_t count;
    size_t given_offset;             /* of a uint32_t, for given_bit */
    unsigned one_of_required;        /* bit 1 << one_of: one of these rows must be given */
    const struct decode_table *more; /* further rows, or NULL */
};

/* Of a row: where its member is in a struct. Of a table: all rows of an array. */
#define DECODE_AT(type, member) \
    .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)
#define DECODE_ROWS(rows) .fields = (rows), .count = ARRAY_LEN(rows)

/**
 * Decode a JSON object into @place by a table.
 *
 * @path  where the object stands; NULL for the top
 *
 * Returns ERR_OK, ERR_INVALID_FIELD, or a row's own code. The struct is undefined after a failure.
 */
MUST_USE enum error_code decode_object(const json_t *value,
                                       const struct decode_table *table,
                                       void *place,
                                       const struct decode_path *path,
                                       struct error *err);

/** Refuse a value: ERR_INVALID_FIELD (or @code) with the dotted name of @path. Returns the code. */
enum error_code decode_refuse(struct error *err,
                              enum error_code code,
                              const struct decode_path *path,
                              const char *format,
                              ...) PRINTF_LIKE(4, 5);

/* Single values, for the rows of kind DECODE_OTHER and for query parameters. */

/** A JSON text, or a refusal. @ret_text is borrowed from @value. */
MUST_USE enum error_code decode_text(const json_t *value,
                                     const struct decode_path *path,
                                     const char **ret_text,
                                     struct error *err);

/** A JSON integer within min..max. */
MUST_USE enum error_code decode_integer(const json_t *value,
                                        int64_t min,
                                        int64_t max,
                                        const struct decode_path *path,
                                        int64_t *ret_value,
                                        struct error *err);

/** One of a closed list. */
MUST_USE enum error_code decode_choice(const json_t *value,
                                       const struct decode_choice *choices,
                                       const struct decode_path *path,
                                       int *ret_value,
                                       struct error *err);

/** The name of a value in a closed list; NULL when it has none. */
const char *decode_choice_name(const struct decode_choice *choices, int value);

#endif
