/* Commands about webhooks, which tell of alerts. See areas.h. */
#include "clients/cli/commands/areas.h"
#include "clients/cli/fields.h"
#include "clients/cli/run.h"

static const struct cli_field webhook_args[] = {
    {.name = "NAME"},
    {.name = "URL", .field = "url"},
    {0},
};

static const struct cli_field webhook_options[] = {
    {"node", CLI_TEXT, "node", "NAME", "the organization or project to hear of", NULL},
    {"types", CLI_LIST, "types", NULL, "what to be told; all when not given", NULL},
    {"grant-days", CLI_COUNT, "grant_days", "DAYS", "tell of a grant so long before its end (14)",
     NULL},
    {"disabled", CLI_YES_NO, "disabled", "yes|no", "send nothing for the time being", NULL},
    {"rotate-secret", CLI_FLAG, "rotate_secret", NULL, "make a new secret and show it, once", NULL},
    {0},
};

const struct cli_command alerts_commands[] = {
    {
        .name = "webhook put",
        .summary = "have alerts of a node sent somewhere",
        .help =
            "Caps and grants that reach 50, 80, 90 and 100 %, grants that end, overdrafts, stale holds, silent adapters. Messages are signed by the Standard Webhooks specification; the secret is shown once.",
        .example =
            "corehour webhook put vision-chat https://chat.acme.example/hooks/quota --node vision",
        .method = "PUT",
        .path = "/v1/webhooks/{}",
        .args = webhook_args,
        .args_min = 2,
        .options = {webhook_options},
        .run = run_put,
    },
    {
        .name = "webhook list",
        .summary = "webhooks, without their secrets",
        .example = "corehour webhook list",
        .method = "GET",
        .path = "/v1/webhooks",
        .run = run_list,
    },
    {
        .name = "webhook test",
        .summary = "send a message to see whether it arrives",
        .example = "corehour webhook test vision-chat",
        .method = "POST",
        .path = "/v1/webhooks/{}/test",
        .args = fields_name_args,
        .args_min = 1,
        .run = run_bare,
    },
    {
        .name = "webhook deliveries",
        .summary = "what was sent, newest first, and what became of it",
        .example = "corehour webhook deliveries vision-chat",
        .method = "GET",
        .path = "/v1/webhooks/{}/deliveries",
        .args = fields_name_args,
        .args_min = 1,
        .options = {fields_page_options},
        .run = run_list,
    },
    {
        .name = "webhook remove",
        .summary = "send nothing there any more",
        .example = "corehour webhook remove vision-chat",
        .method = "DELETE",
        .path = "/v1/webhooks/{}",
        .args = fields_name_args,
        .args_min = 1,
        .run = run_remove,
    },
    {0},
};

const struct catalogue_entry alerts_chinese[] = {
    {"have alerts of a node sent somewhere", "把节点的告警发送到某处"},
    {"Caps and grants that reach 50, 80, 90 and 100 %, grants that end, overdrafts, stale holds, silent adapters. Messages are signed by the Standard Webhooks specification; the secret is shown once.",
     "上限与拨付达到 50、80、90、100 %，拨付将到期，透支，失联的冻结，静默的适配器。 消息按 Standard Webhooks 规范签名；密文只显示一次。"},
    {"webhooks, without their secrets", "Webhook 列表，不含密文"},
    {"send a message to see whether it arrives", "发送一条消息，查看是否送达"},
    {"what was sent, newest first, and what became of it", "已发送的消息（最新在前）及其结果"},
    {"send nothing there any more", "不再发送到该处"},
    {"the organization or project to hear of", "要接收告警的组织或项目"},
    {"what to be told; all when not given", "要通知的类型；默认全部"},
    {"tell of a grant so long before its end (14)", "拨付到期前多少天通知（14）"},
    {"send nothing for the time being", "暂不发送"},
    {"make a new secret and show it, once", "生成新密文并显示一次"},
    {0},
};
