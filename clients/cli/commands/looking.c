/* Commands to look with: holds, balances, reports, logs, and what goes on. See areas.h. */
#include "clients/cli/commands/areas.h"
#include "clients/cli/fields.h"
#include "clients/cli/request.h"
#include "clients/cli/run.h"

static const struct cli_field root_args[] = {
    {.name = "ROOT", .field = "root"},
    {0},
};

static const struct cli_field statement_args[] = {
    {.name = "NODE", .field = "node"},
    {0},
};

static const struct cli_field path_root_args[] = {
    {.name = "ROOT"},
    {0},
};

static const struct cli_field watch_args[] = {
    {.name = "NODE_OR_HOLD"},
    {0},
};

static const struct cli_field why_args[] = {
    {.name = "JOB"},
    {0},
};

static const struct cli_field why_options[] = {
    {.name = "cluster",
     .field = "cluster",
     .metavar = "NAME",
     .help = "the cluster that the job is of, where one number is known in several"},
    {0},
};

static const struct cli_field holds_options[] = {
    {"state", CLI_TEXT, "state", NULL,
     "waiting, frozen, running, suspended, settled, released or expired", NULL},
    {"project", CLI_TEXT, "project", "NAME", "of this project", NULL},
    {"user", CLI_TEXT, "user", "NAME", "of this person", NULL},
    {"cluster", CLI_TEXT, "cluster", "NAME", "on this cluster", NULL},
    {"job-id", CLI_TEXT, "job_id", "ID", "of this job of the scheduler", NULL},
    {"job-key", CLI_TEXT, "job_key", "KEY", "of this submission", NULL},
    {"stale", CLI_FLAG, "stale", NULL, "not heard of lately", NULL},
    {0},
};

static const struct cli_field usage_options[] = {
    {"month", CLI_TEXT, "month", "YYYY-MM", "a month of the root's zone", NULL},
    {"from", CLI_TEXT, "from", "DAY", "or from this day (2026-11-01) or month (2026-09)", NULL},
    {"to", CLI_TEXT, "to", "DAY", "to the day or month before this one", NULL},
    {"by", CLI_LIST, "group_by", NULL,
     "organization, project, user, cluster, partition, qos, gpu_model, outcome, day, month", NULL},
    {0},
};

static const struct cli_field report_options[] = {
    {"csv", CLI_FLAG, NULL, NULL, "as CSV (RFC 4180)", NULL},
    {"xlsx", CLI_FLAG, NULL, NULL, "as a workbook with totals", NULL},
    {"output", CLI_TEXT, NULL, "FILE", "write it to this file", NULL},
    {"focus", CLI_FLAG, NULL, NULL, "as FOCUS, the FinOps format of costs", NULL},
    {"focus-version", CLI_TEXT, "focus_version", "VERSION", "of FOCUS: 1.4 or 1.2", NULL},
    {0},
};

static const struct cli_field statement_options[] = {
    {"month", CLI_TEXT, "month", "YYYY-MM", "a month of the root's zone", NULL},
    {"csv", CLI_FLAG, NULL, NULL, "as CSV (RFC 4180)", NULL},
    {"xlsx", CLI_FLAG, NULL, NULL, "as a workbook", NULL},
    {"output", CLI_TEXT, NULL, "FILE", "write it to this file", NULL},
    {0},
};

static const struct cli_field hledger_options[] = {
    {"hledger", CLI_FLAG, NULL, NULL, "all of it, as a journal that hledger reads", NULL},
    {"output", CLI_TEXT, NULL, "FILE", "write it to this file", NULL},
    {0},
};

static const struct cli_field after_option[] = {
    {"after", CLI_COUNT, "after", "SEQ", "only what comes behind this number", NULL},
    {0},
};

static const struct cli_field watch_options[] = {
    {"every", CLI_DURATION, NULL, NULL, "how often to look (2s)", NULL},
    {"once", CLI_FLAG, NULL, NULL, "one look at a node", NULL},
    {0},
};

static const struct cli_field feed_options[] = {
    {"after", CLI_COUNT, NULL, "SEQ", "only what comes behind this number", NULL},
    {"wait", CLI_DURATION, NULL, NULL, "how long one poll waits, at most 60s (30s)", NULL},
    {"once", CLI_FLAG, NULL, NULL, "one poll only", NULL},
    {0},
};

static const struct cli_field audit_options[] = {
    {"node", CLI_TEXT, "node", "NAME", "about this node and what is below it", NULL},
    {"after", CLI_COUNT, "after", "NO", "only what comes behind this number", NULL},
    {"from", CLI_TEXT, "from", "TIME", "from this day or time on", NULL},
    {"to", CLI_TEXT, "to", "TIME", "up to this day or time, exclusive", NULL},
    {0},
};

const struct cli_command looking_commands[] = {
    {
        .name = "hold show",
        .summary = "a hold with its runs",
        .example = "corehour hold show alpha-0193c5e2-7d1f-7a3b-9c64-1f0e5d2b8a70",
        .method = "GET",
        .path = "/v1/holds/{}",
        .args = fields_hold_args,
        .args_min = 1,
        .options = {fields_which_options},
        .run = request_run,
    },
    {
        .name = "holds",
        .summary = "a list of holds",
        .example = "corehour holds --project vision --state running\ncorehour holds --stale --all",
        .method = "GET",
        .path = "/v1/holds",
        .options = {holds_options, fields_page_options},
        .run = run_list,
    },
    {
        .name = "why",
        .summary = "why a job has not started, or what it came to",
        .help =
            "For a job that waits: the limits that fail for it, who holds most there, how many wait, and when it may fit. JOB is the scheduler's number. On a Slurm cluster no token is needed.",
        .example =
            "corehour why 1234\n  job 1234: waiting vision/alice, hold alpha-0193c5e2-7d1f-7a3b-9c64-1f0e5d2b8a70\n  it waits for core-hours: 1.33 core-hours",
        .method = "GET",
        .path = "/v1/holds",
        .args = why_args,
        .args_min = 1,
        .options = {why_options},
        .run = run_why,
    },
    {
        .name = "balance",
        .summary = "what a node has, and every cap on its path",
        .help =
            "Granted and available are the payer's; used, frozen and waiting the node's own. NODE is a project, an organization, or PROJECT/USER; on a Slurm cluster nothing is needed, it is your own.",
        .example = "corehour balance vision",
        .method = "GET",
        .path = "balance",
        .args = fields_node_args,
        .run = run_balance,
    },
    {
        .name = "journal",
        .summary = "the entries of a root's journal",
        .example = "corehour journal acme --after 100",
        .method = "GET",
        .path = "/v1/journal",
        .args = root_args,
        .args_min = 1,
        .options = {after_option, hledger_options},
        .run = run_journal_or_file,
    },
    {
        .name = "report",
        .summary = "usage by any grouping, as a table or a file",
        .help =
            "Finance sees its root, a lead and a viewer what is below their node. A file of a closed month is the same whenever it is asked for.",
        .example =
            "corehour report acme --month 2026-12 --by project,user\ncorehour report acme --month 2026-12 --by project --xlsx --output december.xlsx",
        .method = "GET",
        .path = "/v1/reports/usage",
        .args = root_args,
        .args_min = 1,
        .options = {usage_options, report_options, fields_page_options},
        .run = run_report,
    },
    {
        .name = "statement",
        .summary = "a payer's month, from its opening to its closing balance",
        .help =
            "Opening and closing are available and frozen together. Each line is a sum of journal entries.",
        .example = "corehour statement acme --month 2026-12",
        .method = "GET",
        .path = "/v1/reports/statement",
        .args = statement_args,
        .args_min = 1,
        .options = {statement_options},
        .run = run_statement,
        .show = show_statement,
    },
    {
        .name = "periods",
        .summary = "closed months with their digests",
        .example = "corehour periods acme",
        .method = "GET",
        .path = "/v1/periods/{}",
        .args = path_root_args,
        .args_min = 1,
        .run = run_list,
    },
    {
        .name = "audit",
        .summary = "who changed what: caps, settings, grants, tokens",
        .help =
            "Finance sees its root, a lead its node and what is below, an admin everything. --json gives all of each change.",
        .example = "corehour audit acme --node vision --from 2026-12-01",
        .method = "GET",
        .path = "/v1/audit",
        .args = root_args,
        .options = {audit_options, fields_page_options},
        .run = run_list,
    },
    {
        .name = "usage",
        .summary = "what was used, by any grouping",
        .example = "corehour usage acme --month 2026-12 --by project,user",
        .method = "GET",
        .path = "/v1/reports/usage",
        .args = root_args,
        .args_min = 1,
        .options = {usage_options, fields_page_options},
        .run = run_list,
    },
    {
        .name = "watch",
        .summary = "a live view of a node's balance, or of a hold until it ends",
        .help =
            "Redraws on a terminal; elsewhere prints what changed. Goes on while the daemon is away.",
        .example =
            "corehour watch vision\ncorehour watch alpha-0193c5e2-7d1f-7a3b-9c64-1f0e5d2b8a70",
        .method = "GET",
        .path = "/v1/holds",
        .args = watch_args,
        .args_min = 1,
        .options = {watch_options},
        .run = run_watch,
    },
    {
        .name = "feed",
        .summary = "what a cluster's adapter is told, as it happens",
        .help =
            "Polling a feed with a scheduler's token tells the daemon that the cluster's agent lives: leave that to the agent.",
        .example = "corehour feed alpha --once --wait 1s",
        .method = "GET",
        .path = "/v1/clusters/{}/feed",
        .args = fields_cluster_args,
        .args_min = 1,
        .options = {feed_options},
        .run = run_feed,
    },
    {0},
};

const struct catalogue_entry looking_chinese[] = {
    {"a hold with its runs", "冻结单及其运行"},
    {"a list of holds", "冻结单列表"},
    {"why a job has not started, or what it came to", "作业为何未启动，或结果如何"},
    {"For a job that waits: the limits that fail for it, who holds most there, how many wait, and when it may fit. JOB is the scheduler's number. On a Slurm cluster no token is needed.",
     "对等待中的作业：哪些限额不足、谁占用最多、有多少在等待、何时可能满足。JOB 是调度器的作业号。在 Slurm 集群上无需令牌。"},
    {"what a node has, and every cap on its path", "节点的余额，以及路径上的所有上限"},
    {"Granted and available are the payer's; used, frozen and waiting the node's own. NODE is a project, an organization, or PROJECT/USER; on a Slurm cluster nothing is needed, it is your own.",
     "已拨付与可用属于付款节点；已用、冻结和等待属于该节点本身。NODE 是项目、组织或 项目/用户；在 Slurm 集群上可省略，即您自己的。"},
    {"the entries of a root's journal", "根的账本分录"},
    {"usage by any grouping, as a table or a file", "任意分组的用量，输出为表或文件"},
    {"Finance sees its root, a lead and a viewer what is below their node. A file of a closed month is the same whenever it is asked for.",
     "finance 看到其根，lead 和 viewer 看到其节点以下。 已关账月份的文件无论何时取都相同。"},
    {"a payer's month, from its opening to its closing balance",
     "付款方的一个月，从期初到期末余额"},
    {"Opening and closing are available and frozen together. Each line is a sum of journal entries.",
     "期初和期末是可用与已冻结之和。 每一行是账本分录之和。"},
    {"closed months with their digests", "已关账的月份及其摘要"},
    {"who changed what: caps, settings, grants, tokens", "谁改了什么：上限、设置、拨付、令牌"},
    {"Finance sees its root, a lead its node and what is below, an admin everything. --json gives all of each change.",
     "finance 看到其根，lead 看到其节点及以下，admin 看到全部。 --json 给出每次更改的全部内容。"},
    {"what was used, by any grouping", "任意分组的用量"},
    {"a live view of a node's balance, or of a hold until it ends",
     "实时查看节点余额，或查看冻结单直到结束"},
    {"Redraws on a terminal; elsewhere prints what changed. Goes on while the daemon is away.",
     "在终端上重绘；否则打印变化。 守护进程不在时继续等待。"},
    {"what a cluster's adapter is told, as it happens", "实时查看发给集群适配器的消息"},
    {"Polling a feed with a scheduler's token tells the daemon that the cluster's agent lives: leave that to the agent.",
     "用 scheduler 令牌轮询会被当作集群代理存活的信号：请留给代理。"},
    {"the cluster that the job is of, where one number is known in several",
     "作业所在的集群，同一作业号在多个集群中时"},
    {"waiting, frozen, running, suspended, settled, released or expired",
     "waiting、frozen、running、suspended、settled、released 或 expired"},
    {"of this project", "该项目的"},
    {"of this person", "该人员的"},
    {"on this cluster", "该集群的"},
    {"of this job of the scheduler", "调度器中该作业的"},
    {"of this submission", "该次提交的"},
    {"not heard of lately", "近期失联的"},
    {"a month of the root's zone", "根时区的某个月"},
    {"or from this day (2026-11-01) or month (2026-09)",
     "或从这天（2026-11-01）或这月（2026-09）起"},
    {"to the day or month before this one", "到这天或这月之前"},
    {"organization, project, user, cluster, partition, qos, gpu_model, outcome, day, month",
     "organization、project、user、cluster、partition、qos、gpu_model、outcome、day、month"},
    {"as CSV (RFC 4180)", "输出为 CSV（RFC 4180）"},
    {"as a workbook", "输出为工作簿"},
    {"as a workbook with totals", "输出为带合计的工作簿"},
    {"write it to this file", "写入此文件"},
    {"as FOCUS, the FinOps format of costs", "输出为 FOCUS，FinOps 的费用格式"},
    {"of FOCUS: 1.4 or 1.2", "FOCUS 版本：1.4 或 1.2"},
    {"all of it, as a journal that hledger reads", "全部，输出为 hledger 可读的账本"},
    {"only what comes behind this number", "只要此序号之后的"},
    {"how often to look (2s)", "多久查看一次（2s）"},
    {"one look at a node", "只看一次节点"},
    {"how long one poll waits, at most 60s (30s)", "一次轮询等待多久，最多 60s（30s）"},
    {"one poll only", "只轮询一次"},
    {"about this node and what is below it", "关于该节点及其以下"},
    {"from this day or time on", "从这天或此时起"},
    {"up to this day or time, exclusive", "到这天或此时为止（不含）"},
    {0},
};
