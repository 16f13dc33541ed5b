/* The whole program but for main(): what tests call. */
#ifndef COREHOUR_CLIENTS_CLI_RUN_CLI_H
#define COREHOUR_CLIENTS_CLI_RUN_CLI_H

#include "clients/cli/cli.h"

/*
 * Runs a command line on the given streams, with the environment's configuration.
 * ascii: draw without characters beyond ASCII. Returns the exit code.
 */
enum cli_exit cli_run(int argc, char **argv, FILE *in, FILE *out, FILE *err, bool ascii);

#endif
