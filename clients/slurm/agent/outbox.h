/* SPDX-License-Identifier: MIT
 *
 * What is to be told to the ledger, on disk and in order: the agent appends, syncs, and sends when the daemon is there.
 * A line is an operation of POST /v1/batch (`op`), with what is needed to turn it into a charge when the ledger knows
 * no such hold (`job`). A line that was sent and whose answer did not arrive is sent again: all verbs may be repeated.
 *
 * Files in state_dir: outbox.ndjson (lines, each with its number `n`), outbox.done (the number up to which all is
 * answered), rejected.ndjson (lines that the ledger refused for good, with its answer, for a person to read).
 * One process at a time: the folder is locked.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_OUTBOX_H
#define COREHOUR_CLIENTS_SLURM_AGENT_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct outbox;

enum { OUTBOX_DETAIL_BYTES = 320 };

/*
 * Opens the folder (made when missing, mode 0700), takes its lock, reads what is left over. A half line at the end, of a
 * write that a crash cut, is dropped: it was never counted as said.
 *
 * ret_outbox: to be closed with outbox_close. Returns false with ret_detail filled: no folder, locked by another agent,
 * not readable.
 */
bool outbox_open(const char *state_dir, struct outbox **ret_outbox, char *ret_detail);

/* NULL is legal. */
void outbox_close(struct outbox *outbox);

/*
 * Appends a line. op: borrowed, an operation of the batch; job: borrowed, see above, or NULL. It is on disk after the next
 * outbox_sync. Returns false when it cannot be written (disk full), with nothing appended.
 */
bool outbox_append(struct outbox *outbox, const json_t *op, const json_t *job);

/* Waits until all that was appended is on disk. Returns false on an error. */
bool outbox_sync(struct outbox *outbox);

/* How many lines are not answered yet. */
size_t outbox_waiting(const struct outbox *outbox);

/*
 * The first lines that are not answered, at most `count`, as objects {"n", "op", "job"}. Returns a new array (empty when there
 * is nothing), NULL when they cannot be read.
 */
json_t *outbox_peek(struct outbox *outbox, size_t count);

/* The first `count` lines are answered: forgets them. When none is left and the file is long it is begun anew. */
bool outbox_advance(struct outbox *outbox, size_t count);

/* Keeps a refused line and its answer for a person. Best effort. */
void outbox_reject(struct outbox *outbox, const json_t *line, const json_t *answer);

/* Whether a line about this hold still waits. */
bool outbox_mentions(const struct outbox *outbox, const char *hold);

/* A number kept over restarts, written at once and whole ("feed.seq"). 0 when it was never set. */
int64_t outbox_number_read(const struct outbox *outbox, const char *name);
bool outbox_number_write(const struct outbox *outbox, const char *name, int64_t value);

#endif
