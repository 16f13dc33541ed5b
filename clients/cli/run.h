/* Commands that a row alone cannot say. Each is the `run` of rows in commands/. */
#ifndef COREHOUR_CLIENTS_CLI_RUN_H
#define COREHOUR_CLIENTS_CLI_RUN_H

#include "clients/cli/cli.h"

/* run_node.c: nodes, settings and caps, which are found by trying and changed on an ETag */
enum cli_exit run_put(struct cli *cli);
enum cli_exit run_patch(struct cli *cli);
enum cli_exit run_close(struct cli *cli);
enum cli_exit run_cap_set(struct cli *cli);
enum cli_exit run_cap_list(struct cli *cli);
enum cli_exit run_cap_remove(struct cli *cli);
enum cli_exit run_balance(struct cli *cli);

/* Removes what the path names, on the ETag that it has now. */
enum cli_exit run_remove(struct cli *cli);
enum cli_exit run_bare(struct cli *cli); /* calls what the path names, without a body */

/* run_lead.c: tables of caps, and the history of one */
enum cli_exit run_cap_import(struct cli *cli);
enum cli_exit run_cap_history(struct cli *cli);

/* run_hold.c: what is done to holds, and lists */
enum cli_exit run_verb(struct cli *cli);
enum cli_exit run_quote(struct cli *cli);
enum cli_exit run_heartbeat(struct cli *cli);
enum cli_exit run_list(struct cli *cli);

/* run_why.c: why a job stands where it stands */
enum cli_exit run_why(struct cli *cli);

/* run_cost.c: a quote from Slurm's options */
enum cli_exit run_cost(struct cli *cli);

/* run_stream.c: many lines in or out */
enum cli_exit run_batch(struct cli *cli);
enum cli_exit run_journal(struct cli *cli);

/* run_report.c: what may be written to a file */
enum cli_exit run_report(struct cli *cli);
enum cli_exit run_statement(struct cli *cli);
enum cli_exit run_journal_or_file(struct cli *cli);
void show_statement(struct cli *cli, const json_t *body);

/* run_watch.c: what goes on until somebody ends it */
enum cli_exit run_watch(struct cli *cli);
enum cli_exit run_feed(struct cli *cli);

/* run_status.c */
enum cli_exit run_status(struct cli *cli);
enum cli_exit run_openapi(struct cli *cli);

/* help.c */
enum cli_exit run_help(struct cli *cli);

#endif
