/*
 * Arguments and options that commands of several areas have; what one area has alone stands in its file (commands/). Each list
 * ends with a nameless row.
 */
#ifndef COREHOUR_CLIENTS_CLI_FIELDS_H
#define COREHOUR_CLIENTS_CLI_FIELDS_H

#include "clients/cli/catalogue.h"
#include "clients/cli/cli.h"

extern const struct cli_field fields_name_args[];
extern const struct cli_field fields_node_args[];
extern const struct cli_field fields_hold_args[];
extern const struct cli_field fields_file_args[];
extern const struct cli_field fields_cluster_args[];

extern const struct cli_field fields_reason_options[];
extern const struct cli_field fields_job_options[];
extern const struct cli_field fields_which_options[];
extern const struct cli_field fields_attempt_options[];
extern const struct cli_field fields_page_options[];

/* Options that every command takes, in the order of the help. */
extern const struct cli_field fields_globals[];

/* The Chinese of the above, and of help that options of several areas share. */
extern const struct catalogue_entry fields_chinese[];

#endif
