/* The help: made from the table of commands, so that it cannot forget one. */
#ifndef COREHOUR_CLIENTS_CLI_HELP_H
#define COREHOUR_CLIENTS_CLI_HELP_H

#include "clients/cli/cli.h"

/* Prints all commands under their headings. */
void help_all(FILE *out);

/* Prints one command: how to call it, what it does, its options, an example. */
void help_command(FILE *out, const struct cli_command *command);

/*
 * Prints a line per command, "NAME<tab> --option --option=a|b ...", and one that begins with a tab: the
 * globals. For the shell's completion and for tests.
 */
void help_list(FILE *out);

#endif
