/* Commands about core-hours and caps: rates, grants, transfers, limits, closed months. See areas.h. */
#include "clients/cli/commands/areas.h"
#include "clients/cli/fields.h"
#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/show_balance.h"
#include "clients/cli/show_money.h"
#include "clients/cli/show_period.h"

static const struct cli_field rates_args[] = {
    {.name = "CLUSTER"},
    {.name = "VERSION"},
    {0},
};

static const struct cli_field rates_put_args[] = {
    {.name = "CLUSTER"},
    {.name = "VERSION"},
    {.name = "FILE"},
    {0},
};

static const struct cli_field cap_args[] = {
    {.name = "NODE"},
    {.name = "CAP"},
    {0},
};

static const struct cli_field cap_set_args[] = {
    {.name = "NODE"},
    {.name = "CAP"},
    {.name = "LIMIT"},
    {0},
};

static const struct cli_field grant_args[] = {
    {.name = "NODE", .field = "node"},
    {.name = "CORE_HOURS", .kind = CLI_AMOUNT, .field = "core_hours"},
    {0},
};

static const struct cli_field transfer_args[] = {
    {.name = "FROM", .field = "from"},
    {.name = "TO", .field = "to"},
    {.name = "CORE_HOURS", .kind = CLI_AMOUNT, .field = "core_hours"},
    {0},
};

static const struct cli_field grants_args[] = {
    {.name = "NODE", .field = "node"},
    {0},
};

static const struct cli_field period_args[] = {
    {.name = "ROOT"},
    {.name = "MONTH"},
    {0},
};

static const struct cli_field cap_options[] = {
    {"soft", CLI_FLAG, NULL, NULL, "warn only, never refuse", NULL},
    {0},
};

static const struct cli_field import_options[] = {
    {"overwrite", CLI_FLAG, NULL, NULL, "also replace and remove caps that there are", NULL},
    {0},
};

static const struct cli_field grant_options[] = {
    {"start", CLI_TIME, "start", NULL, "valid from (now)", "now"},
    {"end", CLI_TIME, "end", NULL, "valid until, that moment not included", NULL},
    {"note", CLI_TEXT, "note", NULL, "a note for people", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    {0},
};

static const struct cli_field transfer_options[] = {
    {"note", CLI_TEXT, "note", NULL, "a note for people", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    {0},
};

const struct cli_command money_commands[] = {
    {
        .name = "rates put",
        .summary = "give a cluster a version of its rate card",
        .help =
            "FILE is JSON (- is stdin): effective_from, combine, an optional price, and rows of which the first that matches a job's partition and qos prices it. A version that is in use never changes: make the next.",
        .example =
            "corehour rates put alpha 1 - <<END\n{\"effective_from\": \"2026-01-01T00:00:00Z\", \"combine\": \"max\", \"rows\":\n  [{\"core_mcores\": 1000, \"gpus\": {\"a100\": {\"mcores\": 16000, \"memory_mib\": 81920}}}]}\nEND",
        .method = "PUT",
        .path = "/v1/clusters/{}/rates/{}",
        .args = rates_put_args,
        .args_min = 3,
        .run = run_put,
        .show = show_rates,
    },
    {
        .name = "rates show",
        .summary = "a version of a cluster's rate card",
        .example = "corehour rates show alpha 1",
        .method = "GET",
        .path = "/v1/clusters/{}/rates/{}",
        .args = rates_args,
        .args_min = 2,
        .run = request_run,
        .show = show_rates,
    },
    {
        .name = "grant",
        .summary = "give a node core-hours, valid for a time",
        .help =
            "The node funds itself (--funding self). A freeze draws on the grants that end first.",
        .example = "corehour grant acme 1000 --end 2027-01-01 --note \"2026 Q4\"",
        .method = "POST",
        .path = "/v1/grants",
        .id_prefix = "grant",
        .args = grant_args,
        .args_min = 2,
        .options = {grant_options},
        .run = request_run,
        .show = show_grant,
    },
    {
        .name = "grants",
        .summary = "the grants of a node and what is left of them",
        .example = "corehour grants acme",
        .method = "GET",
        .path = "/v1/grants",
        .args = grants_args,
        .args_min = 1,
        .options = {fields_page_options},
        .run = run_list,
    },
    {
        .name = "transfer",
        .summary = "move available core-hours between nodes of one root",
        .help = "Both fund themselves. What ends first moves first and keeps its validity.",
        .example = "corehour transfer acme acme-ai 50",
        .method = "POST",
        .path = "/v1/transfers",
        .id_prefix = "transfer",
        .args = transfer_args,
        .args_min = 3,
        .options = {transfer_options},
        .run = request_run,
        .show = show_transfer,
    },
    {
        .name = "withdraw",
        .summary = "take available core-hours back from a node",
        .example = "corehour withdraw acme-ai 20 --reason \"project ended early\"",
        .method = "POST",
        .path = "/v1/withdrawals",
        .id_prefix = "withdrawal",
        .args = grant_args,
        .args_min = 2,
        .options = {fields_reason_options},
        .run = request_run,
        .show = show_withdrawal,
    },
    {
        .name = "cap set",
        .summary = "limit a project, an organization or a member",
        .help =
            "NODE is a project or an organization, PROJECT/USER a member, PROJECT/* every member without a cap of their own. CAP and LIMIT: month, quarter, year, total and job_core_hours take core-hours; gpus, gpus:MODEL, cores, jobs and job_gpus take a number; job_duration takes a duration. Below what is committed already: what runs goes on.",
        .example =
            "corehour cap set vision month 500\ncorehour cap set vision/alice gpus 4\ncorehour cap set 'vision/*' job_duration 1-00:00:00 --soft",
        .method = "PUT",
        .path = "caps",
        .args = cap_set_args,
        .args_min = 3,
        .options = {cap_options},
        .run = run_cap_set,
        .show = show_cap,
    },
    {
        .name = "cap list",
        .summary = "every cap from a node up to its root",
        .example = "corehour cap list vision/alice",
        .method = "GET",
        .path = "balance",
        .args = fields_node_args,
        .args_min = 1,
        .run = run_cap_list,
    },
    {
        .name = "caps",
        .summary = "the same as cap list",
        .example = "corehour caps vision",
        .method = "GET",
        .path = "balance",
        .args = fields_node_args,
        .args_min = 1,
        .run = run_cap_list,
    },
    {
        .name = "cap import",
        .summary = "set many caps from a CSV, all or nothing",
        .help =
            "The first line names the columns: node, user, cap, limit, soft. A limit is in core-hours, a number, or seconds for job_duration; or unlimited, or remove. FILE - is stdin, *.json a JSON array. With --dry-run it says what would be over and who would start.",
        .example = "corehour cap import caps.csv --overwrite --dry-run",
        .method = "PUT",
        .path = "/v1/caps",
        .args = fields_file_args,
        .args_min = 1,
        .options = {import_options},
        .run = run_cap_import,
    },
    {
        .name = "cap history",
        .summary = "who changed a cap, when, from what to what",
        .example = "corehour cap history vision month",
        .method = "GET",
        .path = "/v1/audit",
        .args = cap_args,
        .args_min = 2,
        .run = run_cap_history,
    },
    {
        .name = "cap remove",
        .summary = "lift a cap",
        .example = "corehour cap remove vision month",
        .method = "DELETE",
        .path = "caps",
        .args = cap_args,
        .args_min = 2,
        .run = run_cap_remove,
    },
    {
        .name = "close",
        .summary = "close a month that has ended, for ever",
        .help =
            "With --dry-run: what is still open, and nothing is closed. Months are closed in order; the first may be any, and those before it go with it. What is known later is booked in the next open month.",
        .example = "corehour close acme 2026-12 --dry-run\ncorehour close acme 2026-12",
        .method = "POST",
        .path = "/v1/periods/{}/{}/close",
        .args = period_args,
        .args_min = 2,
        .run = request_run,
        .show = show_period,
    },
    {0},
};

const struct catalogue_entry money_chinese[] = {
    {"give a cluster a version of its rate card", "给集群一个版本的费率表"},
    {"FILE is JSON (- is stdin): effective_from, combine, an optional price, and rows of which the first that matches a job's partition and qos prices it. A version that is in use never changes: make the next.",
     "FILE 为 JSON（- 为标准输入）： effective_from、combine、可选的价格，以及若干行； 第一条与作业的分区和 qos 相符的行决定费率。 使用中的版本不再改变：请建下一个版本。"},
    {"a version of a cluster's rate card", "集群费率表的某个版本"},
    {"give a node core-hours, valid for a time", "拨给节点一定期限内有效的核时"},
    {"The node funds itself (--funding self). A freeze draws on the grants that end first.",
     "节点自己付款（--funding self）。 冻结先用最早到期的拨付。"},
    {"the grants of a node and what is left of them", "节点的拨付及其余额"},
    {"move available core-hours between nodes of one root", "在同一根下的节点之间转移可用核时"},
    {"Both fund themselves. What ends first moves first and keeps its validity.",
     "两个节点都自己付款。 最早到期的先转移，有效期不变。"},
    {"take available core-hours back from a node", "从节点收回可用核时"},
    {"limit a project, an organization or a member", "给项目、组织或成员设上限"},
    {"NODE is a project or an organization, PROJECT/USER a member, PROJECT/* every member without a cap of their own. CAP and LIMIT: month, quarter, year, total and job_core_hours take core-hours; gpus, gpus:MODEL, cores, jobs and job_gpus take a number; job_duration takes a duration. Below what is committed already: what runs goes on.",
     "NODE 是项目或组织，PROJECT/USER 是成员， PROJECT/* 是没有自己上限的所有成员。 CAP 与 LIMIT：month、quarter、year、total 和 job_core_hours 取核时； gpus、gpus:MODEL、cores、jobs 和 job_gpus 取数目；job_duration 取时长。 可低于已占用的量：在运行的继续。"},
    {"the same as cap list", "同 cap list"},
    {"every cap from a node up to its root", "从节点到根的所有上限"},
    {"set many caps from a CSV, all or nothing", "从 CSV 一次设置多个上限，全部成功或全部不变"},
    {"The first line names the columns: node, user, cap, limit, soft. A limit is in core-hours, a number, or seconds for job_duration; or unlimited, or remove. FILE - is stdin, *.json a JSON array. With --dry-run it says what would be over and who would start.",
     "首行为列名：node、user、cap、limit、soft。 limit 为核时、数目，或 job_duration 的秒数；或 unlimited，或 remove。 FILE 为 - 时读标准输入，*.json 为 JSON 数组。 用 --dry-run 可先看哪些会超出、哪些会开始。"},
    {"who changed a cap, when, from what to what", "谁在何时把上限从多少改为多少"},
    {"lift a cap", "取消上限"},
    {"close a month that has ended, for ever", "永久关闭已结束的月份"},
    {"With --dry-run: what is still open, and nothing is closed. Months are closed in order; the first may be any, and those before it go with it. What is known later is booked in the next open month.",
     "加 --dry-run：列出未了结的，不关账。 月份按顺序关闭；第一次可以是任一月，之前的一并关闭。 之后才知道的记入下一个未关账的月份。"},
    {"warn only, never refuse", "只警告，不拒绝"},
    {"also replace and remove caps that there are", "也替换和删除已有的上限"},
    {"valid from (now)", "生效时间（现在）"},
    {"valid until, that moment not included", "失效时间，不含该时刻"},
    {"a note for people", "备注"},
    {0},
};
