/* SPDX-License-Identifier: MIT
 *
 * Facts on disk of jobs that were let through unasked, for the agent (SPEC 11.1): one file each, `<hold id>.json`, that appears
 * whole or not at all. The agent deletes what it has charged.
 */
#ifndef COREHOUR_CLIENTS_SLURM_SPOOL_H
#define COREHOUR_CLIENTS_SLURM_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/*
 * Writes the body of the freeze that could not be asked, with "at" (RFC 3339, from now_s) added. It is not synced: the job's
 * admin comment carries the same fact, and a submission must not wait for a disk.
 *
 * folder: where. body: an object with "id". Returns false with one line in ret_why (why_bytes) when it is not there then; no
 * part of it is left.
 */
bool spool_write(const char *folder,
                 const json_t *body,
                 int64_t now_s,
                 char *ret_why,
                 size_t why_bytes);

/* Writes all bytes, whatever a call takes at a time. Returns false with errno set. */
bool spool_bytes_write(int fd, const char *text, size_t bytes);

#endif
