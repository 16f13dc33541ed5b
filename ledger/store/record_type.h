/*
 * Records described: one row a field, so that an engine can bind, read, hash and compare any record
 * without knowing it.
 *
 * The order of fields is the order of columns in schema/migrations and of parameters in
 * schema/queries/<name>_*.sql.
 */
#ifndef LEDGER_STORE_RECORD_TYPE_H
#define LEDGER_STORE_RECORD_TYPE_H

#include <stddef.h>
#include <stdint.h>

enum field_kind {
    FIELD_I64,  /* int64_t */
    FIELD_I32,  /* int32_t or an enum */
    FIELD_TEXT, /* char[size] with a NUL */
    FIELD_BLOB, /* size bytes */
    FIELD_LIST, /* int32_t count at count_offset, then count elements of `columns` int64_t each at
                   offset; stored as text "1:2:3,4:5:6" */
};

struct record_field {
    const char *name;
    enum field_kind kind;
    size_t offset;
    size_t size;         /* TEXT, BLOB: bytes; LIST: the most elements */
    size_t count_offset; /* LIST */
    size_t columns;      /* LIST */
};

struct record_type {
    const char *name; /* the table's */
    int id;           /* enum record_id: index into record_types[] */
    size_t bytes;     /* of the struct */
    size_t key_count; /* the first fields are the key */
    size_t field_count;
    const struct record_field *fields;
};

enum record_id {
    RECORD_NODE,
    RECORD_NAME,
    RECORD_COUNTER,
    RECORD_NODE_MONTH,
    RECORD_CLUSTER,
    RECORD_RATE_VERSION,
    RECORD_RATE_ROW,
    RECORD_GRANT,
    RECORD_MOVEMENT,
    RECORD_HOLD,
    RECORD_HOLD_ID,
    RECORD_JOB,
    RECORD_TASK,
    RECORD_RUN,
    RECORD_RUN_HOST,
    RECORD_ADJUSTMENT,
    RECORD_WAITING,
    RECORD_FEED_EVENT,
    RECORD_ENTRY,
    RECORD_CHAIN_LINK,
    RECORD_ROOT_STATE,
    RECORD_DIMS,
    RECORD_USAGE,
    RECORD_ZONE_STEP,
    RECORD_SEQUENCE,
    RECORD_TOKEN,
    RECORD_UNATTRIBUTED,
    RECORD__COUNT
};

extern const struct record_type record_types[RECORD__COUNT];

#endif
