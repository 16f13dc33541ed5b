/* Holds, charges and what was done to them, in a line that says what happened. */
#ifndef COREHOUR_CLIENTS_CLI_SHOW_HOLD_H
#define COREHOUR_CLIENTS_CLI_SHOW_HOLD_H

#include "clients/cli/cli.h"

void show_freeze(struct cli *cli, const json_t *hold);
void show_verb(struct cli *cli, const json_t *hold);
void show_settle(struct cli *cli, const json_t *hold);
void show_release(struct cli *cli, const json_t *hold);
void show_refund(struct cli *cli, const json_t *refund);
void show_quote(struct cli *cli, const json_t *quote);

/* "(16.000 cores x 5.00 min)", of anything with rate_mcores, seconds and tasks. */
void show_formula(FILE *out, const json_t *body);

#endif
