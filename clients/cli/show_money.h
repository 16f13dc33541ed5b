/* Rate cards, grants and what moves them. */
#ifndef COREHOUR_CLIENTS_CLI_SHOW_MONEY_H
#define COREHOUR_CLIENTS_CLI_SHOW_MONEY_H

#include "clients/cli/cli.h"

void show_rates(struct cli *cli, const json_t *rates);
void show_grant(struct cli *cli, const json_t *grant);
void show_transfer(struct cli *cli, const json_t *transfer);
void show_withdrawal(struct cli *cli, const json_t *withdrawal);

#endif
