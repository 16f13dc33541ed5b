/*
 * Dimensions of usage: what a report can be grouped by, said once and numbered (struct dims).
 */
#ifndef LEDGER_DIMS_H
#define LEDGER_DIMS_H

#include "ledger/shell.h"

/**
 * The number of the dimensions of the view's hold, with the path of the view; made when new.
 *
 * @partition  the one that is charged, borrowed
 */
int64_t dims_intern(struct ledger *ledger, const char *partition);

#endif
