/*
 * Lists of arguments and of options, as commands.c puts them together. Each ends with a nameless row.
 */
#ifndef COREHOUR_CLIENTS_CLI_FIELDS_H
#define COREHOUR_CLIENTS_CLI_FIELDS_H

#include "clients/cli/cli.h"

extern const struct cli_field fields_name_args[];
extern const struct cli_field fields_member_args[];
extern const struct cli_field fields_account_args[];
extern const struct cli_field fields_user_args[];
extern const struct cli_field fields_rates_args[];
extern const struct cli_field fields_rates_put_args[];
extern const struct cli_field fields_node_args[];
extern const struct cli_field fields_cap_args[];
extern const struct cli_field fields_import_options[];
extern const struct cli_field fields_webhook_args[];
extern const struct cli_field fields_webhook_options[];
extern const struct cli_field fields_incident_options[];
extern const struct cli_field fields_cap_set_args[];
extern const struct cli_field fields_grant_args[];
extern const struct cli_field fields_transfer_args[];
extern const struct cli_field fields_grants_args[];
extern const struct cli_field fields_hold_args[];
extern const struct cli_field fields_bind_args[];
extern const struct cli_field fields_refund_args[];
extern const struct cli_field fields_root_args[];
extern const struct cli_field fields_file_args[];
extern const struct cli_field fields_cluster_args[];
extern const struct cli_field fields_watch_args[];
extern const struct cli_field fields_token_args[];
extern const struct cli_field fields_id_args[];
extern const struct cli_field fields_rename_args[];
extern const struct cli_field fields_rotate_options[];
extern const struct cli_field fields_audit_options[];
extern const struct cli_field fields_run_args[];
extern const struct cli_field fields_why_args[];
extern const struct cli_field fields_why_options[];
extern const struct cli_field fields_cost_args[];
extern const struct cli_field fields_unattributed_args[];
extern const struct cli_field fields_assign_options[];
extern const struct cli_field fields_help_args[];
extern const struct cli_field fields_org_options[];
extern const struct cli_field fields_project_options[];
extern const struct cli_field fields_member_options[];
extern const struct cli_field fields_cluster_options[];
extern const struct cli_field fields_state_option[];
extern const struct cli_field fields_account_options[];
extern const struct cli_field fields_user_options[];
extern const struct cli_field fields_cap_options[];
extern const struct cli_field fields_grant_options[];
extern const struct cli_field fields_transfer_options[];
extern const struct cli_field fields_reason_options[];
extern const struct cli_field fields_job_options[];
extern const struct cli_field fields_limit_options[];
extern const struct cli_field fields_freeze_options[];
extern const struct cli_field fields_which_options[];
extern const struct cli_field fields_attempt_options[];
extern const struct cli_field fields_start_options[];
extern const struct cli_field fields_pause_options[];
extern const struct cli_field fields_resize_options[];
extern const struct cli_field fields_settle_options[];
extern const struct cli_field fields_release_options[];
extern const struct cli_field fields_correct_options[];
extern const struct cli_field fields_charge_options[];
extern const struct cli_field fields_heartbeat_options[];
extern const struct cli_field fields_page_options[];
extern const struct cli_field fields_holds_options[];
extern const struct cli_field fields_usage_options[];
extern const struct cli_field fields_after_option[];
extern const struct cli_field fields_report_options[];
extern const struct cli_field fields_statement_args[];
extern const struct cli_field fields_statement_options[];
extern const struct cli_field fields_period_args[];
extern const struct cli_field fields_path_root_args[];
extern const struct cli_field fields_hledger_options[];
extern const struct cli_field fields_batch_options[];
extern const struct cli_field fields_watch_options[];
extern const struct cli_field fields_feed_options[];
extern const struct cli_field fields_token_options[];
extern const struct cli_field fields_help_options[];

#endif
