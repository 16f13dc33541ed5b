/*
 * THE table: every path that exists, with who may call it, how large its body may be, what it takes in the query, and
 * who answers. In the order of docs/api.md; the hot ones come first. tests/schema compares it with the OpenAPI document
 * both ways.
 */
#include "ledger/base/limits.h"
#include "server/api.h"
#include "server/decode_caps.h"
#include "server/decode_commands.h"
#include "server/decode_rates.h"
#include "server/decode_settings.h"
#include "server/encode.h"
#include "server/encode_settings.h"

#define ROLES_SCHEDULERS (ROLE_ADMIN | ROLE_SCHEDULER)
#define ROLES_ALL \
    (ROLE_ADMIN | ROLE_SCHEDULER | ROLE_LEAD | ROLE_FINANCE | ROLE_VIEWER | ROLE_MEMBER)
#define ROLES_LEADS    (ROLE_ADMIN | ROLE_LEAD)
#define ROLES_FINANCE  (ROLE_ADMIN | ROLE_FINANCE)
#define ROLES_REPORTS  (ROLE_ADMIN | ROLE_FINANCE | ROLE_LEAD | ROLE_VIEWER)
#define ROLES_CORRECT  (ROLE_ADMIN | ROLE_SCHEDULER | ROLE_FINANCE)
#define ROLES_TRANSFER (ROLE_ADMIN | ROLE_FINANCE | ROLE_LEAD)
#define ROLES_WEBHOOKS (ROLE_ADMIN | ROLE_LEAD | ROLE_FINANCE)
#define ROLES_BATCH    (ROLE_ADMIN | ROLE_SCHEDULER | ROLE_LEAD | ROLE_FINANCE)

#define Q_AMOUNTS (QUERY_BIT(QUERY_AMOUNTS))
#define Q_COMMAND (QUERY_BIT(QUERY_DRY_RUN) | Q_AMOUNTS)
#define Q_PAGE    (QUERY_BIT(QUERY_PAGE_SIZE) | QUERY_BIT(QUERY_PAGE_TOKEN))
#define Q_HOLDS                                                                      \
    (QUERY_BIT(QUERY_STATE) | QUERY_BIT(QUERY_PROJECT) | QUERY_BIT(QUERY_USER) |     \
     QUERY_BIT(QUERY_CLUSTER) | QUERY_BIT(QUERY_JOB_ID) | QUERY_BIT(QUERY_JOB_KEY) | \
     QUERY_BIT(QUERY_STALE))
#define Q_REPORT                                                                 \
    (QUERY_BIT(QUERY_ROOT) | QUERY_BIT(QUERY_MONTH) | QUERY_BIT(QUERY_FROM) |    \
     QUERY_BIT(QUERY_TO) | QUERY_BIT(QUERY_GROUP_BY) | QUERY_BIT(QUERY_FORMAT) | \
     QUERY_BIT(QUERY_FOCUS_VERSION))

/* ---- how commands are made and answered; a verb is the same by hold and by job but for its place */

#define VERB(name, kind_, encode_)                                              \
    static const struct route_command name##_hold = {.kind = kind_,             \
                                                     .status = 200,             \
                                                     .place = api_place_hold,   \
                                                     .decode = api_decode_body, \
                                                     .encode = encode_};        \
    static const struct route_command name##_job = {.kind = kind_,              \
                                                    .status = 200,              \
                                                    .place = api_place_job,     \
                                                    .decode = api_decode_body,  \
                                                    .encode = encode_}

VERB(bind, COMMAND_BIND, encode_verb_answer);
VERB(start, COMMAND_START, encode_verb_answer);
VERB(suspend, COMMAND_SUSPEND, encode_verb_answer);
VERB(resume, COMMAND_RESUME, encode_verb_answer);
VERB(resize, COMMAND_RESIZE, encode_verb_answer);
VERB(requeue, COMMAND_REQUEUE, encode_settle_answer);
VERB(settle, COMMAND_SETTLE, encode_settle_answer);
VERB(release, COMMAND_RELEASE, encode_release_answer);
VERB(correct, COMMAND_CORRECT, encode_settle_answer);

#define BODY_COMMAND(name, kind_, status_, encode_)                                      \
    static const struct route_command name = {.kind = kind_,                             \
                                              .status = status_,                         \
                                              .makes_hold = (kind_) == COMMAND_FREEZE || \
                                                            (kind_) == COMMAND_CHARGE,   \
                                              .place = api_place_none,                   \
                                              .decode = api_decode_body,                 \
                                              .encode = encode_}

BODY_COMMAND(freeze, COMMAND_FREEZE, 201, encode_freeze_answer);
BODY_COMMAND(quote, COMMAND_QUOTE, 200, encode_quote_answer);
BODY_COMMAND(heartbeat, COMMAND_HEARTBEAT, 200, encode_heartbeat_answer);
BODY_COMMAND(charge, COMMAND_CHARGE, 201, encode_settle_answer);
BODY_COMMAND(refund, COMMAND_REFUND, 201, encode_refund_answer);
BODY_COMMAND(grant, COMMAND_GRANT, 201, encode_grant_answer);
BODY_COMMAND(transfer, COMMAND_TRANSFER, 201, encode_transfer_answer);
BODY_COMMAND(withdraw, COMMAND_WITHDRAW, 201, encode_withdraw_answer);

#define SETTING(name, kind_, place_, decode_, encode_) \
    static const struct route_command name = {         \
        .kind = kind_, .has_etag = true, .place = place_, .decode = decode_, .encode = encode_}

SETTING(put_node, COMMAND_PUT_NODE, api_place_node, decode_node, encode_node_answer);
SETTING(patch_node, COMMAND_PATCH_NODE, api_place_node, decode_node, encode_node_answer);
SETTING(put_cap, COMMAND_PUT_CAP, api_place_cap, decode_cap, encode_cap_answer);
SETTING(put_cluster, COMMAND_PUT_CLUSTER, api_place_cluster, decode_cluster, encode_cluster_answer);
SETTING(patch_cluster,
        COMMAND_PATCH_CLUSTER,
        api_place_cluster,
        decode_cluster,
        encode_cluster_answer);
SETTING(put_account, COMMAND_PUT_MAPPING, api_place_account, decode_mapping, encode_mapping_answer);
SETTING(put_user, COMMAND_PUT_MAPPING, api_place_user, decode_mapping, encode_mapping_answer);
SETTING(put_rates, COMMAND_PUT_RATES, api_place_rates, decode_rates, encode_rates_answer);

static const struct route_command assign = {
    .kind = COMMAND_ASSIGN,
    .makes_hold = true,
    .place = api_place_unattributed,
    .decode = decode_assign,
    .encode = encode_settle_answer,
};
static const struct route_command close_month = {
    .kind = COMMAND_CLOSE,
    .status = 200,
    .place = api_place_period,
    .read = api_read_closed,
    .encode = encode_close_answer,
};
static const struct route_command delete_cap = {
    .kind = COMMAND_DELETE_CAP,
    .status = 204,
    .place = api_place_cap,
};
SETTING(put_webhook, COMMAND_PUT_WEBHOOK, api_place_webhook, decode_webhook, encode_webhook_answer);
static const struct route_command delete_webhook = {
    .kind = COMMAND_DELETE_WEBHOOK,
    .status = 204,
    .place = api_place_webhook,
};
static const struct route_command test_webhook = {
    .kind = COMMAND_TEST_WEBHOOK,
    .status = 202,
    .place = api_place_webhook,
    .encode = encode_test_answer,
};
static const struct route_command make_token = {
    .kind = COMMAND_PUT_TOKEN,
    .status = 201,
    .place = api_place_new_token,
    .decode = decode_token,
    .encode = encode_token_answer,
};
static const struct route_command rename_person = {
    .kind = COMMAND_RENAME_PERSON,
    .status = 200,
    .place = api_place_person,
    .decode = decode_rename,
    .encode = encode_rename_answer,
};
static const struct route_command rotate_token = {
    .kind = COMMAND_ROTATE_TOKEN,
    .status = 200,
    .place = api_place_rotated_token,
    .decode = decode_rotation,
    .encode = encode_token_answer,
};
static const struct route_command revoke_token = {
    .kind = COMMAND_REVOKE_TOKEN,
    .status = 204,
    .place = api_place_token,
};

/* ---- rows */

#define POST(pattern_, roles_, row_)                                               \
    {                                                                              \
        .method = METHOD_POST, .pattern = (pattern_), .roles = (roles_),           \
        .body_bytes = LIMIT_BODY_BYTES, .query = Q_COMMAND, .handle = api_command, \
        .command = &(row_)                                                         \
    }

#define VERB_ROWS(verb, roles_)                         \
    POST("/v1/holds/{id}/" #verb, roles_, verb##_hold), \
        POST("/v1/clusters/{c}/jobs/{job_id}/" #verb, roles_, verb##_job)

#define BULK(pattern_, roles_, bytes, query_, handle_, row_)                                    \
    {                                                                                           \
        .method = METHOD_POST, .pattern = (pattern_), .roles = (roles_), .body_bytes = (bytes), \
        .query = (query_), .handle = (handle_), .command = (row_)                               \
    }

#define GET(pattern_, roles_, query_, handle_)                                             \
    {                                                                                      \
        .method = METHOD_GET, .pattern = (pattern_), .roles = (roles_), .query = (query_), \
        .handle = (handle_)                                                                \
    }

#define CHANGE(method_, pattern_, roles_, row_)                                    \
    {                                                                              \
        .method = (method_), .pattern = (pattern_), .roles = (roles_),             \
        .body_bytes = LIMIT_BODY_BYTES, .query = Q_COMMAND, .handle = api_command, \
        .command = &(row_)                                                         \
    }

/* Nodes: the same rows for each kind, with their caps and balance. */
#define NODE_CHANGE(method_, pattern_, node_, roles_, row_)                        \
    {                                                                              \
        .method = (method_), .pattern = (pattern_), .roles = (roles_),             \
        .body_bytes = LIMIT_BODY_BYTES, .query = Q_COMMAND, .handle = api_command, \
        .command = &(row_), .node = (node_)                                        \
    }

#define NODE_GET(pattern_, node_, handle_)                                                   \
    {                                                                                        \
        .method = METHOD_GET, .pattern = (pattern_), .roles = ROLES_ALL, .query = Q_AMOUNTS, \
        .handle = (handle_), .node = (node_)                                                 \
    }

#define NODE_ROWS(path, node_, roles_)                                                           \
    NODE_CHANGE(METHOD_PUT, path, node_, roles_, put_node), NODE_GET(path, node_, api_get_node), \
        NODE_CHANGE(METHOD_PATCH, path, node_, roles_, patch_node),                              \
        NODE_CHANGE(METHOD_PUT, path "/caps/{cap}", node_, ROLES_LEADS, put_cap),                \
        NODE_GET(path "/caps/{cap}", node_, api_get_cap),                                        \
        {.method = METHOD_DELETE,                                                                \
         .pattern = path "/caps/{cap}",                                                          \
         .roles = ROLES_LEADS,                                                                   \
         .query = QUERY_BIT(QUERY_DRY_RUN),                                                      \
         .handle = api_command,                                                                  \
         .command = &delete_cap,                                                                 \
         .node = (node_)},                                                                       \
        NODE_GET(path "/balance", node_, api_get_balance)

const struct route routes[] = {
    POST("/v1/holds", ROLES_SCHEDULERS, freeze),
    VERB_ROWS(settle, ROLES_SCHEDULERS),
    VERB_ROWS(bind, ROLES_SCHEDULERS),
    VERB_ROWS(start, ROLES_SCHEDULERS),
    VERB_ROWS(suspend, ROLES_SCHEDULERS),
    VERB_ROWS(resume, ROLES_SCHEDULERS),
    VERB_ROWS(resize, ROLES_SCHEDULERS),
    VERB_ROWS(requeue, ROLES_SCHEDULERS),
    VERB_ROWS(release, ROLES_SCHEDULERS),
    VERB_ROWS(correct, ROLES_CORRECT),
    GET("/v1/holds/{id}",
        ROLES_ALL,
        QUERY_BIT(QUERY_ROOT) | QUERY_BIT(QUERY_CLUSTER) | Q_AMOUNTS,
        api_get_hold),
    GET("/v1/holds", ROLES_ALL, Q_HOLDS | Q_PAGE | Q_AMOUNTS, api_list_holds),

    BULK("/v1/heartbeats",
         ROLES_SCHEDULERS,
         LIMIT_HEARTBEAT_BYTES,
         Q_COMMAND,
         api_heartbeats,
         &heartbeat),
    POST("/v1/charges", ROLES_SCHEDULERS, charge),
    POST("/v1/refunds", ROLES_FINANCE, refund),
    {.method = METHOD_POST,
     .pattern = "/v1/refunds/bulk",
     .roles = ROLES_FINANCE,
     .body_bytes = LIMIT_BODY_BYTES,
     .query = Q_COMMAND,
     .handle = api_refund_many},
    {.method = METHOD_POST,
     .pattern = "/v1/quotes",
     .roles = ROLES_ALL,
     .body_bytes = LIMIT_BODY_BYTES,
     .query = Q_COMMAND,
     .handle = api_command,
     .command = &quote},
    BULK("/v1/batch",
         ROLES_BATCH,
         LIMIT_BATCH_BYTES,
         Q_COMMAND | QUERY_BIT(QUERY_ATOMIC),
         api_batch,
         NULL),
    BULK("/v1/events", ROLES_SCHEDULERS, LIMIT_BATCH_BYTES, Q_COMMAND, api_events, NULL),
    GET("/v1/clusters/{c}/feed",
        ROLES_SCHEDULERS,
        QUERY_BIT(QUERY_AFTER) | QUERY_BIT(QUERY_WAIT_S),
        api_feed),
    GET("/v1/clusters/{c}/unattributed",
        ROLES_SCHEDULERS,
        Q_PAGE | Q_AMOUNTS,
        api_list_unattributed),
    POST("/v1/clusters/{c}/unattributed/{id}/assign", ROLE_ADMIN, assign),

    NODE_ROWS("/v1/organizations/{n}", NODE_ORGANIZATION, ROLE_ADMIN),
    NODE_ROWS("/v1/projects/{n}", NODE_PROJECT, ROLE_ADMIN),
    NODE_ROWS("/v1/projects/{n}/members/{u}", NODE_MEMBER, ROLES_LEADS),

    {.method = METHOD_PUT,
     .pattern = "/v1/caps",
     .roles = ROLES_LEADS,
     .body_bytes = LIMIT_BATCH_BYTES,
     .query = Q_COMMAND,
     .handle = api_put_caps},

    CHANGE(METHOD_PUT, "/v1/clusters/{n}", ROLE_ADMIN, put_cluster),
    GET("/v1/clusters/{n}", ROLES_SCHEDULERS, Q_AMOUNTS, api_get_cluster),
    CHANGE(METHOD_PATCH, "/v1/clusters/{n}", ROLE_ADMIN, patch_cluster),
    CHANGE(METHOD_PUT, "/v1/clusters/{n}/accounts/{a}", ROLE_ADMIN, put_account),
    GET("/v1/clusters/{n}/accounts/{a}", ROLES_SCHEDULERS, Q_AMOUNTS, api_get_account),
    CHANGE(METHOD_PATCH, "/v1/clusters/{n}/accounts/{a}", ROLE_ADMIN, put_account),
    CHANGE(METHOD_PUT, "/v1/clusters/{n}/users/{u}", ROLE_ADMIN, put_user),
    GET("/v1/clusters/{n}/users/{u}", ROLES_SCHEDULERS, Q_AMOUNTS, api_get_user),
    CHANGE(METHOD_PATCH, "/v1/clusters/{n}/users/{u}", ROLE_ADMIN, put_user),
    CHANGE(METHOD_PUT, "/v1/clusters/{n}/rates/{version}", ROLE_ADMIN, put_rates),
    GET("/v1/clusters/{n}/rates/{version}", ROLES_CORRECT, Q_AMOUNTS, api_get_rates),

    POST("/v1/grants", ROLES_FINANCE, grant),
    GET("/v1/grants", ROLES_REPORTS, QUERY_BIT(QUERY_NODE) | Q_PAGE | Q_AMOUNTS, api_list_grants),
    POST("/v1/transfers", ROLES_TRANSFER, transfer),
    POST("/v1/withdrawals", ROLES_FINANCE, withdraw),

    GET("/v1/reports/usage", ROLES_REPORTS, Q_REPORT | Q_PAGE | Q_AMOUNTS, api_report_usage),
    GET("/v1/reports/statement",
        ROLES_REPORTS,
        QUERY_BIT(QUERY_NODE) | QUERY_BIT(QUERY_MONTH) | QUERY_BIT(QUERY_FORMAT) | Q_AMOUNTS,
        api_report_statement),
    {.method = METHOD_POST,
     .pattern = "/v1/periods/{root}/{month}/close",
     .roles = ROLES_FINANCE,
     .body_bytes = LIMIT_BODY_BYTES,
     .query = Q_COMMAND,
     .handle = api_command,
     .command = &close_month},
    GET("/v1/periods/{root}", ROLES_REPORTS, Q_AMOUNTS, api_list_periods),
    GET("/v1/periods/{root}/{month}", ROLES_REPORTS, Q_AMOUNTS, api_get_period),
    GET("/v1/periods/{root}/{month}/rows", ROLES_FINANCE, 0, api_period_rows),
    GET("/v1/journal",
        ROLES_FINANCE,
        QUERY_BIT(QUERY_ROOT) | QUERY_BIT(QUERY_AFTER) | QUERY_BIT(QUERY_FORMAT) | Q_AMOUNTS,
        api_read_journal),

    GET("/v1/audit",
        ROLE_ADMIN | ROLE_FINANCE | ROLE_LEAD,
        QUERY_BIT(QUERY_ROOT) | QUERY_BIT(QUERY_NODE) | QUERY_BIT(QUERY_AFTER) |
            QUERY_BIT(QUERY_FROM) | QUERY_BIT(QUERY_TO) | QUERY_BIT(QUERY_FORMAT) | Q_PAGE,
        api_list_audit),
    {.method = METHOD_POST,
     .pattern = "/v1/people/{u}/rename",
     .roles = ROLE_ADMIN,
     .body_bytes = LIMIT_BODY_BYTES,
     .query = QUERY_BIT(QUERY_DRY_RUN),
     .handle = api_rename_person,
     .command = &rename_person},

    {.method = METHOD_POST,
     .pattern = "/v1/tokens",
     .roles = ROLES_SCHEDULERS,
     .body_bytes = LIMIT_BODY_BYTES,
     .query = QUERY_BIT(QUERY_DRY_RUN),
     .handle = api_command,
     .command = &make_token},
    GET("/v1/tokens", ROLE_ADMIN, Q_PAGE, api_list_tokens),
    {.method = METHOD_DELETE,
     .pattern = "/v1/tokens/{id}",
     .roles = ROLE_ADMIN,
     .query = QUERY_BIT(QUERY_DRY_RUN),
     .handle = api_command,
     .command = &revoke_token},

    {.method = METHOD_POST,
     .pattern = "/v1/tokens/{id}/rotate",
     .roles = ROLE_ADMIN,
     .body_bytes = LIMIT_BODY_BYTES,
     .query = QUERY_BIT(QUERY_DRY_RUN),
     .handle = api_command,
     .command = &rotate_token},
    CHANGE(METHOD_PUT, "/v1/webhooks/{name}", ROLES_WEBHOOKS, put_webhook),
    GET("/v1/webhooks/{name}", ROLES_WEBHOOKS, Q_AMOUNTS, api_get_webhook),
    {.method = METHOD_DELETE,
     .pattern = "/v1/webhooks/{name}",
     .roles = ROLES_WEBHOOKS,
     .query = QUERY_BIT(QUERY_DRY_RUN),
     .handle = api_command,
     .command = &delete_webhook},
    GET("/v1/webhooks", ROLES_WEBHOOKS, 0, api_list_webhooks),
    {.method = METHOD_POST,
     .pattern = "/v1/webhooks/{name}/test",
     .roles = ROLES_WEBHOOKS,
     .query = QUERY_BIT(QUERY_DRY_RUN),
     .handle = api_command,
     .command = &test_webhook},
    GET("/v1/webhooks/{name}/deliveries", ROLES_WEBHOOKS, Q_PAGE, api_list_deliveries),

    GET("/v1/openapi.json", ROLES_ALL, 0, api_openapi),
    GET("/healthz", ROUTE_PUBLIC, 0, api_health),
    GET("/readyz", ROUTE_PUBLIC, 0, api_readiness),
    GET("/metrics", ROLES_ALL, 0, api_metrics),
};

const size_t routes_count = ARRAY_LEN(routes);
