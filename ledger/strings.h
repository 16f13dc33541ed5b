/*
 * Texts kept once: equal texts have the same address.
 *
 * Embedded by its owner; one thread at a time.
 */
#ifndef LEDGER_STRINGS_H
#define LEDGER_STRINGS_H

#include <stddef.h>

#include "ledger/arena.h"

struct strings {
    struct arena arena;
    const char **slots;
    size_t capacity; /* 0 or a power of two */
    size_t count;
};

/** A zeroed struct is empty. Free it; a zeroed one is allowed. */
void strings_fini(struct strings *strings);

/** The kept copy of a text, borrowed until fini; NULL when out of memory. */
const char *strings_keep(struct strings *strings, const char *text);

#endif
