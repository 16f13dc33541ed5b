/* Balances and caps, with a bar for every cap. */
#ifndef COREHOUR_CLIENTS_CLI_SHOW_BALANCE_H
#define COREHOUR_CLIENTS_CLI_SHOW_BALANCE_H

#include "clients/cli/cli.h"

#define SHOW_BAR_CELLS 20
#define SHOW_BAR_BYTES (SHOW_BAR_CELLS * 3 + 16)

/* The whole balance: the node, its amounts, every cap on the path. */
void show_balance(struct cli *cli, const json_t *balance);

/* Only its caps. */
void show_caps(struct cli *cli, const json_t *balance);

/* One cap as the daemon answers when it was set or asked for. */
void show_cap(struct cli *cli, const json_t *cap);

/*
 * Draws used and frozen of a limit: "[#####==........]  41%". limit < 0: no limit, an empty text. The bar is
 * full at the limit, the percentage goes on. ret_text: SHOW_BAR_BYTES.
 */
void show_bar(int64_t used, int64_t frozen, int64_t limit, bool ascii, char *ret_text);

#endif
