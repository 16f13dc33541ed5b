/* From argv to a struct cli: which command, which arguments, which options. Nothing is sent or read here. */
#ifndef COREHOUR_CLIENTS_CLI_ARGS_H
#define COREHOUR_CLIENTS_CLI_ARGS_H

#include "clients/cli/cli.h"

/* What the globals say that is needed before a command runs. */
struct args_early {
    const char *language; /* --lang, or NULL */
    bool version;         /* --version */
};

/*
 * Finds --lang, --help and --version wherever they stand, before anything is judged, so that the first
 * complaint is in the right language already.
 */
void args_early_scan(int argc, char **argv, struct args_early *ret_early);

/*
 * Parses. cli: zeroed but for its streams; command, args, values and the globals are set. Without any
 * word, or with --help, cli->command may stay NULL.
 * Returns false after one message on cli->err: an unknown command or option (with the nearest one), a
 * missing value, too few or too many arguments.
 */
bool args_parse(int argc, char **argv, struct cli *cli);

/* The one command of that name ("cap set", "freeze"), or NULL. second: NULL for one word. */
const struct cli_command *args_command_find(const char *first, const char *second);

#endif
