/* What to print when the answer is no, or when there is none; and how the program then ends. */
#ifndef COREHOUR_CLIENTS_CLI_REFUSAL_H
#define COREHOUR_CLIENTS_CLI_REFUSAL_H

#include "clients/cli/cli.h"

/*
 * Prints a problem: the daemon's line; for want of quota every failed limit as a row, who holds most there,
 * when it would fit and whom to ask; else what to do next. With --json the answer as it is, on out.
 * Returns the exit code that belongs to its code or status.
 */
enum cli_exit refusal_report(struct cli *cli, const struct corehour_answer *answer);

/* Prints why there is no answer. With --json an object with a code on out. */
enum cli_exit refusal_no_answer(struct cli *cli, const struct corehour_error *error);

/* Prints the failed limits of a problem or a quote with their holders, the estimate and the contact. */
void refusal_limits_show(FILE *out, const json_t *body, int64_t now_s);

/* The exit code of a problem, by its code, else by its status. */
enum cli_exit refusal_exit(int status, const char *code);

#endif
