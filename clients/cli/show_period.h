/* A month that is closed, or would be. */
#ifndef COREHOUR_CLIENTS_CLI_SHOW_PERIOD_H
#define COREHOUR_CLIENTS_CLI_SHOW_PERIOD_H

#include "clients/cli/cli.h"

/* What the month comes to and its digest; of a preview also what is still open in it (SPEC 8.2). */
void show_period(struct cli *cli, const json_t *period);

#endif
