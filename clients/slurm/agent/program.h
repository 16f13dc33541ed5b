/* SPDX-License-Identifier: MIT
 *
 * Runs one of Slurm's commands and keeps what it prints. The agent reads Slurm through its commands, not
 * through libslurm: their column formats are stable over releases, need no rebuild with each update and
 * bring no licence. No shell is involved; an argument is an argument.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_PROGRAM_H
#define COREHOUR_CLIENTS_SLURM_AGENT_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_DETAIL_BYTES = 320 };

/* What a command printed. The caller frees `text` with program_output_fini. */
struct program_output {
    char *text; /* standard output, NUL-terminated */
    size_t text_bytes;
    char detail
        [PROGRAM_DETAIL_BYTES]; /* the last line of its standard error, or why it did not run */
};

/*
 * Runs argv[0] (searched in PATH) with the environment of this process, in which what changes how Slurm's commands print is
 * replaced: times are seconds since 1970, array expressions whole, no user's defaults. Waits for it, at most wait_ms, then kills it.
 *
 * argv: ends with NULL, borrowed. wait_ms: 1 or more. ret_output: always set, to be freed by program_output_fini.
 * Returns true when the command exited 0 and printed no more than 256 MiB; else false, with output->detail set.
 * Threads: safe in any.
 */
bool program_run(const char *const argv[], int64_t wait_ms, struct program_output *ret_output);

/* Frees what program_run gave. A zeroed one is legal. */
void program_output_fini(struct program_output *output);

#endif
