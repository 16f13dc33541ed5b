/* Commands about what was charged: corrections, refunds, incidents, usage without a hold. See areas.h. */
#include "clients/cli/commands/areas.h"
#include "clients/cli/fields.h"
#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/show_hold.h"
#include "clients/cli/show_money.h"

static const struct cli_field refund_args[] = {
    {.name = "HOLD", .field = "hold"},
    {.name = "CORE_HOURS", .kind = CLI_AMOUNT, .field = "core_hours"},
    {0},
};

static const struct cli_field unattributed_args[] = {
    {.name = "CLUSTER"},
    {.name = "ID"},
    {0},
};

static const struct cli_field incident_options[] = {
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
    {0},
};

static const struct cli_field assign_options[] = {
    {"project", CLI_TEXT, "project", "NAME", "the project that pays", NULL},
    {0},
};

static const struct cli_field correct_options[] = {
    {"started-at", CLI_TIME, "started_at", NULL, "when it began", NULL},
    {"ended-at", CLI_TIME, "ended_at", NULL, "when it ended", NULL},
    {"outcome", CLI_TEXT, "outcome", NULL, "how it ended, as for settle", NULL},
    {"suspended", CLI_DURATION, "suspended_s", NULL, "for how long it was suspended in all", NULL},
    {"cores", CLI_COUNT, "allocated.cores", NULL, "CPU cores allocated", NULL},
    {"memory", CLI_MEMORY, "allocated.memory_mib", NULL, "memory allocated", NULL},
    {"gpus", CLI_GPUS, "allocated.gpus", NULL, "GPUs allocated", NULL},
    {"source", CLI_TEXT, "source", NULL, "where the better evidence is from (cli)", "cli"},
    {"reason", CLI_TEXT, "reason", NULL, "why; it stays in the books", NULL},
    {0},
};

static const struct cli_field charge_options[] = {
    {"started-at", CLI_TIME, "started_at", NULL, "when it began", NULL},
    {"ended-at", CLI_TIME, "ended_at", NULL, "when it ended (now)", "now"},
    {"outcome", CLI_TEXT, "outcome", NULL, "how it ended, as for settle", NULL},
    {"suspended", CLI_DURATION, "suspended_s", NULL, "for how long it was suspended in all", NULL},
    {"job-key", CLI_TEXT, "job_key", NULL, "the scheduler's key of the job", NULL},
    {"run-key", CLI_TEXT, "run_key", NULL, "the scheduler's key of the attempt", NULL},
    {"hosts", CLI_LIST, "hosts", NULL, "where it ran", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    {0},
};

const struct cli_command charges_commands[] = {
    {
        .name = "correct",
        .summary = "change a charge by better evidence",
        .help = "The first charge stays readable; the difference is booked with source and reason.",
        .example =
            "corehour correct alpha/1234 --ended-at 2026-12-01T00:04:00Z --source sacct --reason \"clock was off\"",
        .method = "POST",
        .path = "correct",
        .args = fields_hold_args,
        .args_min = 1,
        .options = {fields_attempt_options, correct_options, fields_which_options},
        .run = run_verb,
        .show = show_verb,
    },
    {
        .name = "refund",
        .summary = "return part or all of a charge to the payer",
        .help = "Without CORE_HOURS, give mcs in --body. A charge never goes below 0.",
        .example = "corehour refund alpha-0193c5e2 0.10 --reason \"node was slow\"",
        .method = "POST",
        .path = "/v1/refunds",
        .id_prefix = "refund",
        .args = refund_args,
        .args_min = 1,
        .options = {fields_attempt_options, fields_reason_options, fields_which_options},
        .run = request_run,
        .show = show_refund,
    },
    {
        .name = "refund bulk",
        .summary = "return the charges of an incident",
        .help =
            "What is left of every settled run that went on between --from and --to, narrowed by the other options. Look first with --dry-run. The same --id again returns nothing twice and goes on with the rest.",
        .example =
            "corehour refund bulk --cluster alpha --host node1 --from 2026-12-01T00:00:00Z --to 2026-12-01T06:00:00Z --reason \"node1 lost its GPUs\" --dry-run",
        .method = "POST",
        .path = "/v1/refunds/bulk",
        .id_prefix = "inc",
        .options = {incident_options},
        .run = request_run,
        .show = show_bulk_refund,
    },
    {
        .name = "charge",
        .summary = "book usage that had no hold",
        .help = "For jobs that ran while the service was away. Use that happened is never refused.",
        .example =
            "corehour charge --cluster alpha --account vision --user alice --gpus a100:1 --started-at -10m --ended-at -5m",
        .method = "POST",
        .path = "/v1/charges",
        .id_prefix = "cluster",
        .options = {fields_job_options, charge_options},
        .run = request_run,
        .show = show_settle,
    },
    {
        .name = "unattributed list",
        .summary = "a cluster's charges that nobody pays for yet",
        .help =
            "Charges of accounts that no project answers to, and of resources that no rate card prices.",
        .example = "corehour unattributed list alpha",
        .method = "GET",
        .path = "/v1/clusters/{}/unattributed",
        .args = fields_cluster_args,
        .args_min = 1,
        .options = {fields_page_options},
        .run = run_list,
    },
    {
        .name = "unattributed assign",
        .summary = "say which project pays for a charge of the list",
        .help =
            "Without --project it is the one that the account means by now. The charge is booked as it was sent.",
        .example = "corehour unattributed assign alpha alpha-0193c5e2 --project vision",
        .method = "POST",
        .path = "/v1/clusters/{}/unattributed/{}/assign",
        .args = unattributed_args,
        .args_min = 2,
        .options = {assign_options},
        .run = request_run,
        .show = show_settle,
    },
    {0},
};

const struct catalogue_entry charges_chinese[] = {
    {"change a charge by better evidence", "依据更可靠的证据更正扣费"},
    {"The first charge stays readable; the difference is booked with source and reason.",
     "最初的扣费仍可查；差额连同来源和原因入账。"},
    {"return part or all of a charge to the payer", "把扣费的一部分或全部退给付款方"},
    {"Without CORE_HOURS, give mcs in --body. A charge never goes below 0.",
     "不给 CORE_HOURS 时在 --body 中给 mcs。 扣费不会低于 0。"},
    {"return the charges of an incident", "退还一次故障的费用"},
    {"What is left of every settled run that went on between --from and --to, narrowed by the other options. Look first with --dry-run. The same --id again returns nothing twice and goes on with the rest.",
     "退还在 --from 与 --to 之间运行过的每次已结算运行的剩余费用，可用其他选项缩小范围。 请先用 --dry-run 查看。 用同一 --id 重复不会重复退还，会继续未完成的部分。"},
    {"book usage that had no hold", "补记没有冻结单的用量"},
    {"For jobs that ran while the service was away. Use that happened is never refused.",
     "用于服务中断期间运行的作业。 已发生的用量不会被拒绝。"},
    {"a cluster's charges that nobody pays for yet", "集群中尚无人付款的扣费"},
    {"Charges of accounts that no project answers to, and of resources that no rate card prices.",
     "没有对应项目的账户的扣费，以及没有费率的资源的扣费。"},
    {"say which project pays for a charge of the list", "指定由哪个项目支付清单上的扣费"},
    {"Without --project it is the one that the account means by now. The charge is booked as it was sent.",
     "不给 --project 时为该账户现在对应的项目。 按原来发送的内容入账。"},
    {"only of this root", "仅此根"},
    {"only of this cluster", "仅此集群"},
    {"only of this project", "仅此项目"},
    {"only of this person", "仅此人员"},
    {"only what ran on one of these hosts", "仅在这些主机上运行过的"},
    {"only what ended so: failed,timeout", "仅以此结束的：failed,timeout"},
    {"runs that went on after this", "在此之后仍在运行的"},
    {"and before this", "且在此之前"},
    {"why, for people", "原因，供人阅读"},
    {"the project that pays", "付款的项目"},
    {"when it began", "开始时间"},
    {"when it ended", "结束时间"},
    {"how it ended, as for settle", "结果，同 settle"},
    {"CPU cores allocated", "实际分配的 CPU 核数"},
    {"where the better evidence is from (cli)", "证据来源（cli）"},
    {"the scheduler's key of the job", "调度器中该作业的键"},
    {0},
};
