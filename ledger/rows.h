/*
 * Cells of the working set by their keys, one short function a type, and the numbers that the ledger
 * gives out.
 */
#ifndef LEDGER_ROWS_H
#define LEDGER_ROWS_H

#include "ledger/core/record.h"
#include "ledger/working_set.h"

/** The cell of a record whose key is one, two or three numbers. */
struct cell *row_find(struct working_set *set, enum record_id type, int64_t no);
struct cell *row_find2(struct working_set *set, enum record_id type, int64_t a, int64_t b);
struct cell *row_find3(struct working_set *set,
                       enum record_id type,
                       int64_t a,
                       int64_t b,
                       int64_t c);

/** A name in its space and scope. @name: at most LIMIT_NAME_BYTES bytes. */
struct cell *row_find_name(struct working_set *set,
                           enum name_space space,
                           int64_t scope_no,
                           const char *name);

/** What the name leads to; 0 when there is no such name. */
int64_t row_name_target(struct working_set *set,
                        enum name_space space,
                        int64_t scope_no,
                        const char *name);

/** Let a new name lead to a number; @target: a text beside it, "" for none. */
void row_add_name(struct working_set *set,
                  enum name_space space,
                  int64_t scope_no,
                  const char *name,
                  int64_t target_no);

struct cell *row_find_hold_id(struct working_set *set, int64_t cluster_no, const char *id);
struct cell *row_find_job(struct working_set *set,
                          int64_t cluster_no,
                          bool by_key,
                          const char *text);

/**
 * A record that must exist; NULL when it does not, and then the transaction has failed with
 * ERR_INTERNAL: something refers to it, so the data are damaged.
 */
const void *row_get(struct working_set *set, enum record_id type, int64_t no);

/** The number that a sequence ("hold", "node", ...) will give out next, and giving it out. */
int64_t row_next_no(struct working_set *set, const char *sequence);
int64_t row_take_no(struct working_set *set, const char *sequence);

/** Copy a text into a field of `bytes` bytes; it fits. */
void row_text(char *to, size_t bytes, const char *from);

#endif
