/*
 * Lists that the shell keeps beside the working set, so that a freeze need not select: the rows of a
 * payer, the versions of a rate card, the clusters, the names of models. Each is made anew when the
 * working set's generation has changed since.
 *
 * Failures stick to the working set and give short or empty lists.
 */
#ifndef LEDGER_LISTS_H
#define LEDGER_LISTS_H

#include "ledger/shell.h"

/** The rows of a payer that had not ended when the list was made, in the order of core/funds.h. */
const struct payer_rows *list_payer_rows(struct ledger *ledger, int64_t node_no);

/** The order of a payer's rows: timed by end, endless, overdraft. */
bool list_grant_before(const struct grant *a, const struct grant *b);

/** The version of a cluster's card in force at a time: the latest effective one, of equals the
 * higher number; 0 when there is none. */
int64_t list_card_at(struct ledger *ledger, int64_t cluster_no, int64_t at_s);

/** Numbers of all clusters, ascending. */
const struct cluster_list *list_clusters(struct ledger *ledger);

/** The name of a model, "" for 0 or an unknown number; borrowed until the next call. */
const char *list_model_name(struct ledger *ledger, int64_t model_no);

/** Note the name of a model. False when out of memory. */
MUST_USE bool model_names_put(struct model_names *models, int64_t no, const char *name);

/** Forget all lists: after a rollback or an abort. */
void lists_forget(struct ledger *ledger);
void lists_fini(struct ledger *ledger);

/** For map_init(). */
void payer_rows_destroy(void *rows);
void card_versions_destroy(void *versions);

#endif
