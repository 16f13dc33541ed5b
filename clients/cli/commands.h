/* The commands of `corehour`, under the headings of the help. The rows are in commands/, a file for each heading. */
#ifndef COREHOUR_CLIENTS_CLI_COMMANDS_H
#define COREHOUR_CLIENTS_CLI_COMMANDS_H

#include "clients/cli/cli.h"

struct command_area {
    const char *title;                  /* the heading */
    const struct cli_command *commands; /* ends with a nameless row */
};

/* All areas, in the order of the help. Ends with a row without a title. */
extern const struct command_area command_areas[];

/* The n-th command over all areas; NULL beyond the last. */
const struct cli_command *command_at(size_t n);

#endif
