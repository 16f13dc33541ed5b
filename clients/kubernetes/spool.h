/*
 * What would be lost with the agent's memory: pods that the API server has forgotten and the ledger has not heard of. One
 * small JSON file a pod, named by its uid, replaced whole. Everything else is read again from the API server, which is the truth.
 *
 * Two kinds of pods have a file: those that vanished before the ledger had their end, and those that run without a hold, whose
 * file's time says when they were last seen alive.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_SPOOL_H
#define COREHOUR_CLIENTS_KUBERNETES_SPOOL_H

#include <stdbool.h>

#include "clients/kubernetes/pod_record.h"

/* Makes the folder's parents' last part when it is not there. Returns false with ret_error filled when it cannot be written. */
bool spool_open(const char *folder, struct agent_error *ret_error);

/*
 * Writes or replaces the file of a record and sets record->spooled. durable: synced to disk before it returns.
 * Returns false when it could not be written; that is logged.
 */
bool spool_put(const char *folder, struct pod_record *record, bool durable);

/* Says that the pod was alive now. */
void spool_touch(const char *folder, const struct pod_record *record);

/* Removes the file, if there is one, and clears record->spooled. */
void spool_drop(const char *folder, struct pod_record *record);

/*
 * Reads every file into a new record of the store, unless the store has it; records come with spooled set, and seen_s from the
 * file's time. A file that cannot be read is left where it is and logged.
 */
void spool_load(const char *folder, struct pod_store *store);

#endif
