/* The commands of `corehour`: one table, in the order of the help. */
#ifndef COREHOUR_CLIENTS_CLI_COMMANDS_H
#define COREHOUR_CLIENTS_CLI_COMMANDS_H

#include "clients/cli/cli.h"

extern const struct cli_command commands[];
extern const size_t commands_count;

#endif
