/* Commands to begin with: is the daemon there, tokens, help. See areas.h. */
#include "clients/cli/commands/areas.h"
#include "clients/cli/fields.h"
#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/show_money.h"

static const struct cli_field token_args[] = {
    {.name = "NAME", .field = "name"},
    {0},
};

static const struct cli_field id_args[] = {
    {.name = "ID"},
    {0},
};

static const struct cli_field help_args[] = {
    {.name = "COMMAND"},
    {0},
};

static const struct cli_field token_options[] = {
    {"role", CLI_TEXT, "role", NULL, "admin, scheduler, lead, finance, viewer or member", NULL},
    {"place", CLI_TEXT, "place", "NAME",
     "the cluster, node, root or person that it is for; none for admin", NULL},
    {"expires-at", CLI_TIME, "expires_at", NULL, "when it ends; never without", NULL},
    {0},
};

static const struct cli_field rotate_options[] = {
    {"old-valid", CLI_DURATION, "old_valid_s", NULL,
     "how long the old secret stays good, at most 7d (1h)", NULL},
    {0},
};

static const struct cli_field help_options[] = {
    {"list", CLI_FLAG, NULL, NULL, "commands and options for programs, such as shell completion",
     NULL},
    {0},
};

const struct cli_command start_commands[] = {
    {
        .name = "status",
        .summary = "is the daemon there, and can it commit",
        .help = "Asks /readyz, which needs no token. Exit code 0: ready; 3: not.",
        .example = "corehour status\n  http://127.0.0.1:8765 is ready (version 0.1.0, 1 ms)",
        .method = "GET",
        .path = "/readyz",
        .run = run_status,
    },
    {
        .name = "help",
        .summary = "all commands, or one with its options and an example",
        .example = "corehour help cap set",
        .args = help_args,
        .args_repeat = true,
        .options = {help_options},
        .run = run_help,
    },
    {
        .name = "token make",
        .summary = "make a token and show it, once",
        .help =
            "Only its hash is kept: what is not written down now is lost. An admin has no place; a scheduler's is its cluster.",
        .example = "corehour token make slurm-alpha --role scheduler --place alpha",
        .method = "POST",
        .path = "/v1/tokens",
        .args = token_args,
        .args_min = 1,
        .options = {token_options},
        .once = true,
        .run = request_run,
        .show = show_token,
    },
    {
        .name = "token list",
        .summary = "tokens without their secrets",
        .example = "corehour token list",
        .method = "GET",
        .path = "/v1/tokens",
        .options = {fields_page_options},
        .run = run_list,
    },
    {
        .name = "token rotate",
        .summary = "give a token a new secret and show it, once",
        .help =
            "Name, role, place and end stay; the old secret is good for another hour, or for --old-valid.",
        .example = "corehour token rotate tok-0193c5e2 --old-valid 10m",
        .method = "POST",
        .path = "/v1/tokens/{}/rotate",
        .args = id_args,
        .args_min = 1,
        .options = {rotate_options},
        .once = true,
        .run = request_run,
        .show = show_token,
    },
    {
        .name = "token revoke",
        .summary = "end a token at once",
        .example = "corehour token revoke tok-0193c5e2",
        .method = "DELETE",
        .path = "/v1/tokens/{}",
        .args = id_args,
        .args_min = 1,
        .run = request_run,
    },
    {
        .name = "openapi",
        .summary = "the contract of the API as the daemon serves it",
        .example = "corehour openapi > openapi.json",
        .method = "GET",
        .path = "/v1/openapi.json",
        .run = run_openapi,
    },
    {0},
};

const struct catalogue_entry start_chinese[] = {
    {"is the daemon there, and can it commit", "守护进程是否在、能否提交"},
    {"Asks /readyz, which needs no token. Exit code 0: ready; 3: not.",
     "查询 /readyz，不需要令牌。 退出码 0：就绪；3：未就绪。"},
    {"all commands, or one with its options and an example", "所有命令，或某个命令的选项和示例"},
    {"make a token and show it, once", "创建令牌并显示一次"},
    {"Only its hash is kept: what is not written down now is lost. An admin has no place; a scheduler's is its cluster.",
     "只保存其散列：现在不记下就丢失了。 admin 没有范围；scheduler 的范围是其集群。"},
    {"tokens without their secrets", "列出令牌（不含密文）"},
    {"give a token a new secret and show it, once", "给令牌换新的密文并显示一次"},
    {"Name, role, place and end stay; the old secret is good for another hour, or for --old-valid.",
     "名称、角色、范围和失效时间不变； 旧密文再有效一小时，或 --old-valid 指定的时长。"},
    {"end a token at once", "立即作废令牌"},
    {"the contract of the API as the daemon serves it", "守护进程提供的 API 契约"},
    {"admin, scheduler, lead, finance, viewer or member",
     "admin、scheduler、lead、finance、viewer 或 member"},
    {"the cluster, node, root or person that it is for; none for admin",
     "所属的集群、节点、根或人员；admin 没有"},
    {"when it ends; never without", "失效时间；不给则不失效"},
    {"how long the old secret stays good, at most 7d (1h)", "旧密文再有效多久，最多 7d（1h）"},
    {"commands and options for programs, such as shell completion",
     "供程序使用的命令与选项列表，如 shell 补全"},
    {0},
};
