/*
 * Records described: one row a field, so that an engine can bind, read, hash and compare any record
 * without knowing it.
 *
 * The order of fields is the order of columns in schema/migrations and of parameters in
 * schema/queries/<name>_*.sql.
 */
#ifndef LEDGER_STORE_RECORD_TYPE_H
#define LEDGER_STORE_RECORD_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/check.h"
#include "ledger/core/record.h"

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
    bool fixed;          /* set when inserted, the same ever after: a put does not write it again */
};

struct record_type {
    const char *name; /* the table's */
    int id;           /* enum record_id: index into record_types[] */
    size_t bytes;     /* of the struct */
    size_t key_count; /* the first fields are the key; never a LIST */
    size_t field_count;
    bool append_only; /* inserted, never put again nor removed: the journal (SPEC 9.1) */
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
    RECORD_RELEASE,
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
    RECORD_AUDIT,
    RECORD_PAYER_MONTH,
    RECORD_PERIOD,
    RECORD_CLOSE_GRANT,
    RECORD_CLOSE_PAYER,
    RECORD_CHAIN_NOTE,
    RECORD_WEBHOOK,
    RECORD_ALERT,
    RECORD_ALERT_STATE,
    RECORD_DELIVERY,
    RECORD__COUNT
};

extern const struct record_type record_types[RECORD__COUNT];

/* Room for any record: scratch for reading rows of every type. */
union record_any {
    struct node node;
    struct name name;
    struct counter counter;
    struct node_month node_month;
    struct cluster cluster;
    struct rate_version rate_version;
    struct rate_row rate_row;
    struct grant grant;
    struct movement movement;
    struct hold hold;
    struct hold_id hold_id;
    struct job job;
    struct task task;
    struct run run;
    struct run_host run_host;
    struct adjustment adjustment;
    struct release release;
    struct waiting waiting;
    struct feed_event feed_event;
    struct entry entry;
    struct chain_link chain_link;
    struct root_state root_state;
    struct dims dims;
    struct usage usage;
    struct zone_step zone_step;
    struct sequence sequence;
    struct token token;
    struct unattributed unattributed;
    struct audit audit;
    struct payer_month payer_month;
    struct period period;
    struct close_grant close_grant;
    struct close_payer close_payer;
    struct chain_note chain_note;
    struct webhook webhook;
    struct alert alert;
    struct alert_state alert_state;
    struct delivery delivery;
};

#endif
