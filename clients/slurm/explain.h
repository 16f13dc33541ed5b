/* SPDX-License-Identifier: MIT
 *
 * The lines that a user reads at the prompt when a submission is refused: what, each limit with its figures, who holds it,
 * when it would fit, whom to ask (SPEC 6.3, 6.4). Pure.
 */
#ifndef COREHOUR_CLIENTS_SLURM_EXPLAIN_H
#define COREHOUR_CLIENTS_SLURM_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* Room for all lines of a refusal; what is longer is cut at a line. */
#define EXPLAIN_BYTES 4096

/*
 * Writes a problem of the daemon's as lines without a newline at the end; texts of the daemon lose their control characters.
 *
 * problem: an answer's body, any JSON. zh: words in Chinese. ret_text: EXPLAIN_BYTES; "" when the body is no problem.
 */
void explain_problem(const json_t *problem, bool zh, char *ret_text);

#endif
