/*
 * The arguments and options of all commands: what each is, where it goes, what the help says. Data only.
 */
#include "clients/cli/fields.h"

#define END \
    {       \
        0   \
    }

/* ---- arguments ---- */

const struct cli_field fields_name_args[] = {{.name = "NAME"}, END};
const struct cli_field fields_member_args[] = {{.name = "PROJECT"}, {.name = "USER"}, END};
const struct cli_field fields_account_args[] = {{.name = "CLUSTER"}, {.name = "ACCOUNT"}, END};
const struct cli_field fields_user_args[] = {{.name = "CLUSTER"}, {.name = "USER"}, END};
const struct cli_field fields_rates_args[] = {{.name = "CLUSTER"}, {.name = "VERSION"}, END};
const struct cli_field fields_rates_put_args[] = {{.name = "CLUSTER"},
                                                  {.name = "VERSION"},
                                                  {.name = "FILE"},
                                                  END};
const struct cli_field fields_node_args[] = {{.name = "NODE"}, END};
const struct cli_field fields_cap_args[] = {{.name = "NODE"}, {.name = "CAP"}, END};
const struct cli_field fields_cap_set_args[] = {{.name = "NODE"},
                                                {.name = "CAP"},
                                                {.name = "LIMIT"},
                                                END};
const struct cli_field fields_grant_args[] = {
    {.name = "NODE", .field = "node"},
    {.name = "CORE_HOURS", .kind = CLI_AMOUNT, .field = "core_hours"},
    END,
};
const struct cli_field fields_transfer_args[] = {
    {.name = "FROM", .field = "from"},
    {.name = "TO", .field = "to"},
    {.name = "CORE_HOURS", .kind = CLI_AMOUNT, .field = "core_hours"},
    END,
};
const struct cli_field fields_grants_args[] = {{.name = "NODE", .field = "node"}, END};
const struct cli_field fields_hold_args[] = {{.name = "HOLD"}, END};
const struct cli_field fields_bind_args[] = {
    {.name = "HOLD"},
    {.name = "JOB_ID", .field = "job_id"},
    {.name = "JOB_KEY", .field = "job_key"},
    END,
};
const struct cli_field fields_refund_args[] = {
    {.name = "HOLD", .field = "hold"},
    {.name = "CORE_HOURS", .kind = CLI_AMOUNT, .field = "core_hours"},
    END,
};
const struct cli_field fields_root_args[] = {{.name = "ROOT", .field = "root"}, END};
const struct cli_field fields_statement_args[] = {{.name = "NODE", .field = "node"}, END};
const struct cli_field fields_period_args[] = {{.name = "ROOT"}, {.name = "MONTH"}, END};
const struct cli_field fields_path_root_args[] = {{.name = "ROOT"}, END};
const struct cli_field fields_webhook_args[] = {{.name = "NAME"},
                                                {.name = "URL", .field = "url"},
                                                END};
const struct cli_field fields_file_args[] = {{.name = "FILE"}, END};
const struct cli_field fields_cluster_args[] = {{.name = "CLUSTER"}, END};
const struct cli_field fields_unattributed_args[] = {{.name = "CLUSTER"}, {.name = "ID"}, END};
const struct cli_field fields_watch_args[] = {{.name = "NODE_OR_HOLD"}, END};
const struct cli_field fields_token_args[] = {{.name = "NAME", .field = "name"}, END};
const struct cli_field fields_rename_args[] = {
    {.name = "PERSON"},
    {.name = "NAME", .field = "name"},
    END,
};
const struct cli_field fields_id_args[] = {{.name = "ID"}, END};
const struct cli_field fields_run_args[] = {{.name = "RUN"}, END};
const struct cli_field fields_why_args[] = {{.name = "JOB"}, END};
const struct cli_field fields_why_options[] = {
    {.name = "cluster",
     .field = "cluster",
     .metavar = "NAME",
     .help = "the cluster that the job is of, where one number is known in several"},
    END};
const struct cli_field fields_cost_args[] = {{.name = "SBATCH_OPTION"}, END};
const struct cli_field fields_help_args[] = {{.name = "COMMAND"}, END};

/* ---- options ---- */

const struct cli_field fields_org_options[] = {
    {"parent", CLI_TEXT, "parent", "NAME", "the organization above; none makes a root", NULL},
    {"funding", CLI_TEXT, "funding", "self|parent|unlimited",
     "who pays: its own grants, the one above, or nobody (a root)", NULL},
    {"timezone", CLI_TEXT, "timezone", "ZONE",
     "a root's IANA zone, where its months turn: Asia/Shanghai", NULL},
    {"fiscal-year-start", CLI_COUNT, "fiscal_year_start", "MONTH",
     "first month of a root's year, 1 to 12", NULL},
    {"overdraft", CLI_AMOUNT, "overdraft_core_hours", NULL,
     "how far freezes may take it below zero", NULL},
    {"contact", CLI_TEXT, "contact", NULL, "whom a refused user may ask; printed with refusals",
     NULL},
    {"waived", CLI_LIST, "waived_outcomes", "LIST", "outcomes charged 0: node_fail,boot_fail",
     NULL},
    {"names-visible", CLI_YES_NO, "names_visible", "yes|no",
     "may refusals name the people of other projects of a root", NULL},
    END,
};
const struct cli_field fields_project_options[] = {
    {"organization", CLI_TEXT, "organization", "NAME", "the organization that it belongs to", NULL},
    {"membership", CLI_TEXT, "membership", "open|listed",
     "anybody may submit, or listed members only", NULL},
    {"funding", CLI_TEXT, "funding", "parent|self", "who pays: the one above, or its own grants",
     NULL},
    {"overdraft", CLI_AMOUNT, "overdraft_core_hours", NULL,
     "how far freezes may take it below zero", NULL},
    {"contact", CLI_TEXT, "contact", NULL, "whom a refused user may ask; printed with refusals",
     NULL},
    {"mode", CLI_TEXT, "mode", "full|window",
     "freeze the whole time limit or a window; else the cluster's", NULL},
    {"window", CLI_DURATION, "window_s", NULL, "the freeze window", NULL},
    {"on-insufficient", CLI_TEXT, "on_insufficient", "reject|wait",
     "what a freeze without room does", NULL},
    {"ttl", CLI_DURATION, "ttl_s", NULL, "how long a hold may stay without a job", NULL},
    END,
};
const struct cli_field fields_member_options[] = {
    {"contact", CLI_TEXT, "contact", NULL, "whom the member may ask; printed with refusals", NULL},
    END,
};
const struct cli_field fields_cluster_options[] = {
    {"kind", CLI_TEXT, "kind", "slurm|kubernetes|other", "the scheduler", NULL},
    {"roots", CLI_LIST, "roots", NULL, "the roots that it serves; all: every one", NULL},
    {"mode", CLI_TEXT, "mode", "full|window", "freeze the whole time limit or a window", NULL},
    {"window", CLI_DURATION, "window_s", NULL, "the freeze window (5m)", NULL},
    {"on-insufficient", CLI_TEXT, "on_insufficient", "reject|wait",
     "what a freeze without room does", NULL},
    {"on-exhausted", CLI_TEXT, "on_exhausted", "continue|notify|stop",
     "what a running job without room for its next window does", NULL},
    {"stop-grace", CLI_DURATION, "stop_grace_s", NULL, "time to end in when stopped", NULL},
    {"fail-policy", CLI_TEXT, "fail_policy", "closed|open",
     "what submits do while corehourd is away", NULL},
    {"ttl", CLI_DURATION, "ttl_s", NULL, "how long a hold may stay without a job", NULL},
    {"heartbeat", CLI_DURATION, "heartbeat_s", NULL, "how often the adapter tells that runs live",
     NULL},
    {"stale-after", CLI_DURATION, "stale_after_s", NULL,
     "silence after which a hold is marked stale", NULL},
    END,
};
const struct cli_field fields_state_option[] = {
    {"state", CLI_TEXT, "state", "open|closed", "open it again, or close it", NULL},
    END,
};
const struct cli_field fields_account_options[] = {
    {"project", CLI_TEXT, "project", "NAME", "the project that the account stands for", NULL},
    END,
};
const struct cli_field fields_user_options[] = {
    {"person", CLI_TEXT, "person", "NAME", "the person that the user name stands for", NULL},
    END,
};
const struct cli_field fields_cap_options[] = {
    {"soft", CLI_FLAG, NULL, NULL, "warn only, never refuse", NULL},
    END,
};
const struct cli_field fields_import_options[] = {
    {"overwrite", CLI_FLAG, NULL, NULL, "also replace and remove caps that there are", NULL},
    END,
};
const struct cli_field fields_webhook_options[] = {
    {"node", CLI_TEXT, "node", "NAME", "the organization or project to hear of", NULL},
    {"types", CLI_LIST, "types", NULL, "what to be told; all when not given", NULL},
    {"grant-days", CLI_COUNT, "grant_days", "DAYS", "tell of a grant so long before its end (14)",
     NULL},
    {"disabled", CLI_YES_NO, "disabled", "yes|no", "send nothing for the time being", NULL},
    {"rotate-secret", CLI_FLAG, "rotate_secret", NULL, "make a new secret and show it, once", NULL},
    END,
};
const struct cli_field fields_incident_options[] = {
    {"root", CLI_TEXT, "root", "NAME", "only of this root", NULL},
    {"cluster", CLI_TEXT, "cluster", "NAME", "only of this cluster", NULL},
    {"project", CLI_TEXT, "project", "NAME", "only of this project", NULL},
    {"user", CLI_TEXT, "user", "NAME", "only of this person", NULL},
    {"host", CLI_LIST, "hosts", "LIST", "only what ran on one of these hosts", NULL},
    {"outcome", CLI_LIST, "outcomes", "LIST", "only what ended so: failed,timeout", NULL},
    {"from", CLI_TIME, "from", NULL, "runs that went on after this", NULL},
    {"to", CLI_TIME, "to", NULL, "and before this", NULL},
    {"reason", CLI_TEXT, "reason", NULL, "why, for people", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    END,
};
const struct cli_field fields_grant_options[] = {
    {"start", CLI_TIME, "start", NULL, "valid from (now)", "now"},
    {"end", CLI_TIME, "end", NULL, "valid until, that moment not included", NULL},
    {"note", CLI_TEXT, "note", NULL, "a note for people", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    END,
};
const struct cli_field fields_transfer_options[] = {
    {"note", CLI_TEXT, "note", NULL, "a note for people", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    END,
};
const struct cli_field fields_reason_options[] = {
    {"reason", CLI_TEXT, "reason", NULL, "why; it stays in the books", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    END,
};

/* What a job asks for: shared by quote, freeze and charge. */
const struct cli_field fields_job_options[] = {
    {"cluster", CLI_TEXT, "cluster", "NAME", "the cluster that the job is for", NULL},
    {"account", CLI_TEXT, "account", "NAME", "the scheduler's account or namespace", NULL},
    {"user", CLI_TEXT, "user", "NAME", "who submits", NULL},
    {"cores", CLI_COUNT, "resources.cores", NULL, "CPU cores", NULL},
    {"memory", CLI_MEMORY, "resources.memory_mib", NULL, "memory: 64G, or MiB", NULL},
    {"gpus", CLI_GPUS, "resources.gpus", NULL,
     "GPUs: a100:1, 2, or a share a100:1:cores=30%:memory=12G", NULL},
    {"name", CLI_TEXT, "job.name", NULL, "the job's name", NULL},
    {"partition", CLI_TEXT, "job.partition", "NAME", "the partition", NULL},
    {"qos", CLI_TEXT, "job.qos", "NAME", "the quality of service", NULL},
    END,
};
const struct cli_field fields_limit_options[] = {
    {"time", CLI_DURATION, "time_limit_s", NULL, "the time limit of each task", NULL},
    {"tasks", CLI_COUNT, "tasks", NULL, "elements of a job array (1)", NULL},
    {"max-running", CLI_COUNT, "max_running", NULL, "how many of them run at once, an array's %N",
     NULL},
    {"mode", CLI_TEXT, "mode", "full|window", "freeze the whole time limit or a window", NULL},
    END,
};
const struct cli_field fields_freeze_options[] = {
    {"on-insufficient", CLI_TEXT, "on_insufficient", "reject|wait",
     "without room: refuse, or queue up for it", NULL},
    {"ttl", CLI_DURATION, "ttl_s", NULL, "how long the hold may stay without a job", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    END,
};
const struct cli_field fields_which_options[] = {
    {"root", CLI_TEXT, "root", "NAME", "the root, where one id is known in several", NULL},
    {"cluster", CLI_TEXT, "cluster", "NAME", "the cluster, where one id is known in several", NULL},
    END,
};
const struct cli_field fields_assign_options[] = {
    {"project", CLI_TEXT, "project", "NAME", "the project that pays", NULL},
    END,
};
const struct cli_field fields_attempt_options[] = {
    {"task", CLI_COUNT, "task", NULL, "the element of an array (0)", NULL},
    {"attempt", CLI_COUNT, "attempt", NULL, "the attempt, after requeues (0)", NULL},
    END,
};
const struct cli_field fields_start_options[] = {
    {"started-at", CLI_TIME, "started_at", NULL, "when it began (now)", "now"},
    {"run-key", CLI_TEXT, "run_key", NULL, "the scheduler's key of the attempt", NULL},
    {"hosts", CLI_LIST, "hosts", NULL, "where it runs", NULL},
    END,
};
const struct cli_field fields_pause_options[] = {
    {"at", CLI_TIME, "at", NULL, "when (now)", "now"},
    END,
};
const struct cli_field fields_resize_options[] = {
    {"task", CLI_COUNT, "task", NULL, "the element of an array; all without", NULL},
    {"at", CLI_TIME, "at", NULL, "when (now)", NULL},
    {"time", CLI_DURATION, "time_limit_s", NULL, "the new time limit", NULL},
    {"cores", CLI_COUNT, "resources.cores", NULL, "the new CPU cores", NULL},
    {"memory", CLI_MEMORY, "resources.memory_mib", NULL, "the new memory", NULL},
    {"gpus", CLI_GPUS, "resources.gpus", NULL, "the new GPUs", NULL},
    {"partition", CLI_TEXT, "job.partition", "NAME", "the new partition", NULL},
    {"qos", CLI_TEXT, "job.qos", "NAME", "the new quality of service", NULL},
    END,
};
const struct cli_field fields_settle_options[] = {
    {"ended-at", CLI_TIME, "ended_at", NULL, "when it ended (now)", "now"},
    {"started-at", CLI_TIME, "started_at", NULL, "when it had begun, if that was never told", NULL},
    {"outcome", CLI_TEXT, "outcome", NULL,
     "completed, failed, timeout, cancelled, node_fail, boot_fail, preempted, oom, deadline or other",
     NULL},
    {"suspended", CLI_DURATION, "suspended_s", NULL, "for how long it was suspended in all", NULL},
    {"cores", CLI_COUNT, "allocated.cores", NULL, "CPU cores allocated, when other than asked for",
     NULL},
    {"memory", CLI_MEMORY, "allocated.memory_mib", NULL, "memory allocated", NULL},
    {"gpus", CLI_GPUS, "allocated.gpus", NULL, "GPUs allocated", NULL},
    {"run-key", CLI_TEXT, "run_key", NULL, "the scheduler's key of the attempt", NULL},
    {"hosts", CLI_LIST, "hosts", NULL, "where it ran", NULL},
    END,
};
const struct cli_field fields_release_options[] = {
    {"reason", CLI_TEXT, "reason", NULL, "why", NULL},
    {"tasks", CLI_TEXT, "tasks", "SET", "only these elements of an array: 3-9,12", NULL},
    END,
};
const struct cli_field fields_correct_options[] = {
    {"started-at", CLI_TIME, "started_at", NULL, "when it began", NULL},
    {"ended-at", CLI_TIME, "ended_at", NULL, "when it ended", NULL},
    {"outcome", CLI_TEXT, "outcome", NULL, "how it ended, as for settle", NULL},
    {"suspended", CLI_DURATION, "suspended_s", NULL, "for how long it was suspended in all", NULL},
    {"cores", CLI_COUNT, "allocated.cores", NULL, "CPU cores allocated", NULL},
    {"memory", CLI_MEMORY, "allocated.memory_mib", NULL, "memory allocated", NULL},
    {"gpus", CLI_GPUS, "allocated.gpus", NULL, "GPUs allocated", NULL},
    {"source", CLI_TEXT, "source", NULL, "where the better evidence is from (cli)", "cli"},
    {"reason", CLI_TEXT, "reason", NULL, "why; it stays in the books", NULL},
    END,
};
const struct cli_field fields_charge_options[] = {
    {"started-at", CLI_TIME, "started_at", NULL, "when it began", NULL},
    {"ended-at", CLI_TIME, "ended_at", NULL, "when it ended (now)", "now"},
    {"outcome", CLI_TEXT, "outcome", NULL, "how it ended, as for settle", NULL},
    {"suspended", CLI_DURATION, "suspended_s", NULL, "for how long it was suspended in all", NULL},
    {"job-key", CLI_TEXT, "job_key", NULL, "the scheduler's key of the job", NULL},
    {"run-key", CLI_TEXT, "run_key", NULL, "the scheduler's key of the attempt", NULL},
    {"hosts", CLI_LIST, "hosts", NULL, "where it ran", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    END,
};
const struct cli_field fields_heartbeat_options[] = {
    {"cluster", CLI_TEXT, "cluster", "NAME", "the cluster that the runs are on", NULL},
    {"at", CLI_TIME, "at", NULL, "when they were seen (now)", "now"},
    END,
};
const struct cli_field fields_page_options[] = {
    {"page-size", CLI_COUNT, "page_size", NULL, "how many at once, at most 1000", NULL},
    {"page-token", CLI_TEXT, "page_token", "TOKEN", "go on behind an earlier page", NULL},
    {"all", CLI_FLAG, NULL, NULL, "every page", NULL},
    END,
};
const struct cli_field fields_holds_options[] = {
    {"state", CLI_TEXT, "state", NULL,
     "waiting, frozen, running, suspended, settled, released or expired", NULL},
    {"project", CLI_TEXT, "project", "NAME", "of this project", NULL},
    {"user", CLI_TEXT, "user", "NAME", "of this person", NULL},
    {"cluster", CLI_TEXT, "cluster", "NAME", "on this cluster", NULL},
    {"job-id", CLI_TEXT, "job_id", "ID", "of this job of the scheduler", NULL},
    {"job-key", CLI_TEXT, "job_key", "KEY", "of this submission", NULL},
    {"stale", CLI_FLAG, "stale", NULL, "not heard of lately", NULL},
    END,
};
const struct cli_field fields_usage_options[] = {
    {"month", CLI_TEXT, "month", "YYYY-MM", "a month of the root's zone", NULL},
    {"from", CLI_TEXT, "from", "DAY", "or from this day (2026-11-01) or month (2026-09)", NULL},
    {"to", CLI_TEXT, "to", "DAY", "to the day or month before this one", NULL},
    {"by", CLI_LIST, "group_by", NULL,
     "organization, project, user, cluster, partition, qos, gpu_model, outcome, day, month", NULL},
    END,
};
#define FILE_OPTIONS                                                       \
    {"csv", CLI_FLAG, NULL, NULL, "as CSV (RFC 4180)", NULL},              \
        {"xlsx", CLI_FLAG, NULL, NULL, "as a workbook with totals", NULL}, \
    {                                                                      \
        "output", CLI_TEXT, NULL, "FILE", "write it to this file", NULL    \
    }
const struct cli_field fields_report_options[] = {
    FILE_OPTIONS,
    {"focus", CLI_FLAG, NULL, NULL, "as FOCUS, the FinOps format of costs", NULL},
    {"focus-version", CLI_TEXT, "focus_version", "VERSION", "of FOCUS: 1.4 or 1.2", NULL},
    END,
};
const struct cli_field fields_statement_options[] = {
    {"month", CLI_TEXT, "month", "YYYY-MM", "a month of the root's zone", NULL},
    FILE_OPTIONS,
    END,
};
const struct cli_field fields_hledger_options[] = {
    {"hledger", CLI_FLAG, NULL, NULL, "all of it, as a journal that hledger reads", NULL},
    {"output", CLI_TEXT, NULL, "FILE", "write it to this file", NULL},
    END,
};
const struct cli_field fields_after_option[] = {
    {"after", CLI_COUNT, "after", "SEQ", "only what comes behind this number", NULL},
    END,
};
const struct cli_field fields_batch_options[] = {
    {"atomic", CLI_FLAG, NULL, NULL, "all lines or none", NULL},
    END,
};
const struct cli_field fields_watch_options[] = {
    {"every", CLI_DURATION, NULL, NULL, "how often to look (2s)", NULL},
    {"once", CLI_FLAG, NULL, NULL, "one look at a node", NULL},
    END,
};
const struct cli_field fields_feed_options[] = {
    {"after", CLI_COUNT, NULL, "SEQ", "only what comes behind this number", NULL},
    {"wait", CLI_DURATION, NULL, NULL, "how long one poll waits, at most 60s (30s)", NULL},
    {"once", CLI_FLAG, NULL, NULL, "one poll only", NULL},
    END,
};
const struct cli_field fields_token_options[] = {
    {"role", CLI_TEXT, "role", NULL, "admin, scheduler, lead, finance, viewer or member", NULL},
    {"place", CLI_TEXT, "place", "NAME",
     "the cluster, node, root or person that it is for; none for admin", NULL},
    {"expires-at", CLI_TIME, "expires_at", NULL, "when it ends; never without", NULL},
    END,
};
const struct cli_field fields_rotate_options[] = {
    {"old-valid", CLI_DURATION, "old_valid_s", NULL,
     "how long the old secret stays good, at most 7d (1h)", NULL},
    END,
};
const struct cli_field fields_audit_options[] = {
    {"node", CLI_TEXT, "node", "NAME", "about this node and what is below it", NULL},
    {"after", CLI_COUNT, "after", "NO", "only what comes behind this number", NULL},
    {"from", CLI_TEXT, "from", "TIME", "from this day or time on", NULL},
    {"to", CLI_TEXT, "to", "TIME", "up to this day or time, exclusive", NULL},
    END,
};
const struct cli_field fields_help_options[] = {
    {"list", CLI_FLAG, NULL, NULL, "commands and options for programs, such as shell completion",
     NULL},
    END,
};
