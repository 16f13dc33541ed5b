/* Rate cards, grants and what moves them; settings and tokens that were made. */
#ifndef COREHOUR_CLIENTS_CLI_SHOW_MONEY_H
#define COREHOUR_CLIENTS_CLI_SHOW_MONEY_H

#include "clients/cli/cli.h"

/* "project vision: made" */
void show_setting(struct cli *cli, const json_t *setting);

/* A new token alone on its line, then what to do with it. */
void show_token(struct cli *cli, const json_t *token);

void show_rates(struct cli *cli, const json_t *rates);
void show_grant(struct cli *cli, const json_t *grant);
void show_transfer(struct cli *cli, const json_t *transfer);
void show_withdrawal(struct cli *cli, const json_t *withdrawal);

/* What an incident returned, or would: sums and projects. */
void show_bulk_refund(struct cli *cli, const json_t *body);

#endif
