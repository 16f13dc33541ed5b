/*
 * The commands of `corehour` by area, one file each: arguments and options that only this area has, one row a command, the
 * Chinese of its texts. A row says what is sent where; what a row cannot say is in run_*.c. Data only. What several areas
 * have is in fields.c. Every list ends with a row without a name.
 */
#ifndef COREHOUR_CLIENTS_CLI_COMMANDS_AREAS_H
#define COREHOUR_CLIENTS_CLI_COMMANDS_AREAS_H

#include "clients/cli/catalogue.h"
#include "clients/cli/cli.h"

extern const struct cli_command start_commands[];
extern const struct cli_command tree_commands[];
extern const struct cli_command money_commands[];
extern const struct cli_command jobs_commands[];
extern const struct cli_command charges_commands[];
extern const struct cli_command looking_commands[];
extern const struct cli_command alerts_commands[];
extern const struct cli_command bulk_commands[];

extern const struct catalogue_entry start_chinese[];
extern const struct catalogue_entry tree_chinese[];
extern const struct catalogue_entry money_chinese[];
extern const struct catalogue_entry jobs_chinese[];
extern const struct catalogue_entry charges_chinese[];
extern const struct catalogue_entry looking_chinese[];
extern const struct catalogue_entry alerts_chinese[];
extern const struct catalogue_entry bulk_chinese[];

#endif
