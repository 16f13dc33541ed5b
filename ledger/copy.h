/*
 * Copies of records, arrays up to their count only: what lies behind is left as it was.
 *
 * The large records are mostly empty arrays; a freeze or a settlement copies a dozen of them.
 */
#ifndef LEDGER_COPY_H
#define LEDGER_COPY_H

#include "ledger/core/record.h"

void copy_node(struct node *to, const struct node *from);
void copy_counter(struct counter *to, const struct counter *from);
void copy_cluster(struct cluster *to, const struct cluster *from);
void copy_rate_row(struct rate_row *to, const struct rate_row *from);
void copy_hold(struct hold *to, const struct hold *from);
void copy_run(struct run *to, const struct run *from);

#endif
