/*
 * Inside the memory engine: what memory.c and memory_select.c share.
 */
#ifndef LEDGER_STORE_MEMORY_H
#define LEDGER_STORE_MEMORY_H

#include "ledger/store/select.h"

/* Does a selection take this record? @record is of the selection's type. */
bool memory_select_matches(enum select_kind select,
                           const struct select_args *args,
                           const void *record);

/* The order of a selection: negative, 0 or positive. */
int memory_select_compare(enum select_kind select, const void *a, const void *b);

#endif
