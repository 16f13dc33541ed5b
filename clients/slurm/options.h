/* SPDX-License-Identifier: MIT
 *
 * The options of sbatch, salloc and srun that say what a job will occupy, as people type them and as scripts hold them behind
 * #SBATCH. What they say about other things is passed over. Nothing of Slurm's headers.
 */
#ifndef COREHOUR_CLIENTS_SLURM_OPTIONS_H
#define COREHOUR_CLIENTS_SLURM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "clients/slurm/request.h"

enum { SLURM_OPTIONS_TEXT_BYTES = 512, SLURM_OPTIONS_WORDS_MAX = 64 };

/* What the options said. Texts of the request point to the words, or into `texts`: do not copy the struct. */
struct slurm_options {
    struct slurm_request request;
    const char *cluster; /* -M; NULL when not given */
    char texts[5][SLURM_OPTIONS_TEXT_BYTES];
};

void slurm_options_init(struct slurm_options *options);

/*
 * Takes words up to the first that is no option; later ones win over earlier ones.
 *
 * words: borrowed for as long as `options` is used. ret_used: how many were taken. Returns false with one line in ret_why
 * (why_bytes) for an option that is unknown, lacks its value, or whose value cannot be read.
 */
bool slurm_options_take(struct slurm_options *options,
                        const char *const *words,
                        size_t words_count,
                        size_t *ret_used,
                        char *ret_why,
                        size_t why_bytes);

/*
 * Takes the #SBATCH lines of a script, which end at its first command. text: changed, and borrowed like the words. Returns as
 * above.
 */
bool slurm_options_take_script(struct slurm_options *options,
                               char *text,
                               char *ret_why,
                               size_t why_bytes);

#endif
