/* Settings and balances. Names of members are those that a put takes (server/decode_settings.c and its neighbours). */
#include "server/encode_settings.h"

#include <inttypes.h>

#include "server/decode_shapes.h"
#include "server/encode.h"
#include "server/problem.h"

/* ---- nodes */

static void encode_organization(struct json_out *out, const struct ledger_node *shown)
{
    const struct node *node = &shown->node;
    json_out_text(out, "name", node->name);
    json_out_text_or_null(out, "parent", shown->parent);
    json_out_text(out, "funding", decode_choice_name(choices_funding, (int)node->funding));
    if (shown->parent[0] == '\0') {
        json_out_text_or_null(out, "timezone", node->timezone);
        json_out_integer(out, "fiscal_year_start", node->fiscal_year_start);
        encode_choices(out, "waived_outcomes", choices_outcome, node->waived_outcomes);
        json_out_bool(out, "names_visible", node->names_visible != 0);
    }
    json_out_amount(out, "overdraft", node->overdraft_mcs);
}

static void encode_project(struct json_out *out, const struct ledger_node *shown)
{
    const struct node *node = &shown->node;
    const char *mode = decode_choice_name(choices_mode, (int)node->mode);
    const char *on_insufficient =
        decode_choice_name(choices_on_insufficient, (int)node->on_insufficient);
    json_out_text(out, "name", node->name);
    json_out_text(out, "organization", shown->parent);
    json_out_text(out, "membership", decode_choice_name(choices_membership, (int)node->membership));
    json_out_text(out, "funding", decode_choice_name(choices_funding, (int)node->funding));
    json_out_text_or_null(out, "mode", mode != NULL ? mode : "");
    json_out_integer_or_null(out, "window_s", node->window_s, 0);
    json_out_text_or_null(out, "on_insufficient", on_insufficient != NULL ? on_insufficient : "");
    json_out_integer_or_null(out, "ttl_s", node->ttl_s, 0);
    json_out_amount(out, "overdraft", node->overdraft_mcs);
}

static void encode_member(struct json_out *out, const struct ledger_node *shown)
{
    json_out_text(out, "project", shown->parent);
    json_out_text(out, "user", shown->node.name);
}

void encode_node(struct json_out *out, const struct ledger_node *shown)
{
    static void (*const kinds[])(struct json_out *, const struct ledger_node *) = {
        [NODE_ORGANIZATION] = encode_organization,
        [NODE_PROJECT] = encode_project,
        [NODE_MEMBER] = encode_member,
    };
    const struct node *node = &shown->node;
    kinds[node->kind](out, shown);
    json_out_text_or_null(out, "contact", node->contact);
    json_out_text(out, "state", decode_choice_name(choices_node_state, (int)node->state));
    json_out_time_ms(out, "created_at", node->created_ms);
}

void encode_node_answer(struct json_out *out,
                        const struct command *command,
                        const struct ledger_result *result)
{
    (void)command;
    encode_node(out, &result->node);
}

/* ---- clusters and mappings */

void encode_cluster(struct json_out *out, const struct ledger_cluster *shown)
{
    const struct cluster *cluster = &shown->cluster;
    json_out_text(out, "name", cluster->name);
    json_out_text(out, "kind", decode_choice_name(choices_cluster_kind, (int)cluster->kind));
    if (cluster->root_count == 0) {
        json_out_null(out, "roots");
    } else {
        json_out_array_open(out, "roots");
        for (int32_t i = 0; i < cluster->root_count; i++) {
            json_out_text(out, NULL, shown->roots[i]);
        }
        json_out_array_close(out);
    }
    json_out_text(out, "mode", cluster->mode == MODE_WINDOW ? "window" : "full");
    json_out_integer(out, "window_s", cluster->window_s);
    json_out_text(out, "on_insufficient",
                  cluster->on_insufficient == INSUFFICIENT_WAIT ? "wait" : "reject");
    json_out_text(out, "on_exhausted",
                  decode_choice_name(choices_on_exhausted, (int)cluster->on_exhausted));
    json_out_integer(out, "stop_grace_s", cluster->stop_grace_s);
    json_out_text(out, "fail_policy",
                  decode_choice_name(choices_fail_policy, (int)cluster->fail_policy));
    json_out_integer(out, "ttl_s", cluster->ttl_s);
    json_out_integer(out, "heartbeat_s", cluster->heartbeat_s);
    json_out_integer(out, "stale_after_s", cluster->stale_after_s);
    json_out_text(out, "state", decode_choice_name(choices_node_state, (int)cluster->state));
    json_out_time(out, "last_seen_at", cluster->agent_seen_s);
    json_out_time_ms(out, "created_at", cluster->created_ms);
}

void encode_cluster_answer(struct json_out *out,
                           const struct command *command,
                           const struct ledger_result *result)
{
    (void)command;
    encode_cluster(out, &result->cluster);
}

void encode_mapping(struct json_out *out,
                    const char *cluster,
                    bool is_user,
                    const char *name,
                    const char *target)
{
    json_out_text(out, "cluster", cluster);
    json_out_text(out, is_user ? "user" : "account", name);
    json_out_text(out, is_user ? "person" : "project", target);
}

void encode_mapping_answer(struct json_out *out,
                           const struct command *command,
                           const struct ledger_result *result)
{
    (void)result;
    const struct command_mapping *mapping = &command->mapping;
    encode_mapping(out, command->cluster, mapping->is_user, mapping->name, mapping->target);
}

/* ---- caps */

/* A limit in its unit; null is unlimited (SPEC 1.5). */
static void encode_limit(struct json_out *out, const char *key, int64_t limit)
{
    if (limit == RECORD_UNLIMITED) {
        json_out_null(out, key);
    } else {
        json_out_exact(out, key, limit);
    }
}

void encode_cap(struct json_out *out,
                enum node_kind node_kind,
                const char *project,
                const char *node_name,
                const struct cap *cap,
                const char *model)
{
    char name[RECORD_NAME_BYTES + 16];
    const enum cap_kind kind = (enum cap_kind)cap->kind;
    json_out_text(out, "node", node_name);
    json_out_text(out, "kind", decode_choice_name(choices_node_kind, (int)node_kind));
    if (node_kind == NODE_MEMBER) {
        json_out_text(out, "project", project);
        json_out_text(out, "user", node_name);
    }
    json_out_text(out, "cap", problem_cap_name(kind, model, name, sizeof(name)));
    json_out_text(out, "unit", problem_unit(kind));
    encode_limit(out, "limit", cap->limit);
    json_out_bool(out, "soft", cap->soft != 0);
}

/* How full a cap is. */
static void encode_fill(struct json_out *out, int64_t limit, int64_t used, int64_t frozen)
{
    json_out_exact(out, "used", used);
    json_out_exact(out, "frozen", frozen);
    if (limit == RECORD_UNLIMITED) {
        json_out_null(out, "available");
    } else {
        json_out_exact(out, "available", limit - used - frozen);
    }
}

void encode_started(struct json_out *out, const struct ledger_cap_effect *effect)
{
    json_out_object_open(out, "started");
    json_out_integer(out, "holds", effect->started_count);
    json_out_integer(out, "tasks", effect->started_tasks);
    json_out_amount(out, "frozen", effect->started_mcs);
    json_out_array_open(out, "first");
    for (int32_t i = 0; i < effect->shown; i++) {
        const struct ledger_started *started = &effect->started[i];
        json_out_object_open(out, NULL);
        json_out_text(out, "hold", started->hold);
        json_out_text(out, "project", started->project);
        json_out_text(out, "user", started->user);
        json_out_integer(out, "tasks", started->tasks);
        json_out_amount(out, "frozen", started->frozen_mcs);
        json_out_object_close(out);
    }
    json_out_array_close(out);
    json_out_object_close(out);
}

void encode_cap_answer(struct json_out *out,
                       const struct command *command,
                       const struct ledger_result *result)
{
    const struct command_cap *cap = &command->cap;
    const struct ledger_cap_effect *effect = &result->cap;
    encode_cap(out, cap->kind, cap->project, cap->node, &cap->cap, cap->model);
    if (effect->measured) {
        encode_fill(out, cap->cap.limit, effect->used, effect->frozen);
        json_out_time(out, "resets_at", effect->resets_at_s);
        json_out_bool(out, "over_cap", effect->over_cap);
    }
    encode_started(out, effect);
}

/* ---- rates */

static void encode_price(struct json_out *out, const struct rate_version *version)
{
    if (version->price_micro < 0) {
        json_out_null(out, "price_per_core_hour");
        json_out_null(out, "currency");
        return;
    }
    json_out_printf(out, "price_per_core_hour", "%" PRId64 ".%06" PRId64,
                    version->price_micro / 1000000, version->price_micro % 1000000);
    json_out_text(out, "currency", version->currency);
}

static void encode_rate_row(struct json_out *out,
                            const struct encode_rates *rates,
                            const struct rate_row *row,
                            int32_t index)
{
    json_out_object_open(out, NULL);
    if (row->partition[0] != '\0') {
        json_out_text(out, "partition", row->partition);
    }
    if (row->qos[0] != '\0') {
        json_out_text(out, "qos", row->qos);
    }
    json_out_integer(out, "permille", row->permille);
    json_out_integer(out, "core_mcores", row->core_mcores);
    json_out_integer(out, "gib_mcores", row->gib_mcores);
    json_out_object_open(out, "gpus");
    for (int32_t i = 0; i < row->gpu_count; i++) {
        json_out_named_object_open(out, rates->model(rates->context, index, i));
        json_out_integer(out, "mcores", row->gpus[i].mcores);
        if (row->gpus[i].memory_mib > 0) {
            json_out_integer(out, "memory_mib", row->gpus[i].memory_mib);
        }
        json_out_object_close(out);
    }
    json_out_object_close(out);
    if (row->gpu_default_mcores >= 0) {
        json_out_integer(out, "gpu_default_mcores", row->gpu_default_mcores);
    }
    json_out_object_close(out);
}

void encode_rates(struct json_out *out, const struct encode_rates *rates)
{
    const struct rate_version *version = rates->version;
    json_out_text(out, "cluster", rates->cluster);
    json_out_integer(out, "version", version->version);
    json_out_time(out, "effective_from", version->effective_from_s);
    json_out_text(out, "combine", decode_choice_name(choices_combine, (int)version->combine));
    encode_price(out, version);
    json_out_array_open(out, "rows");
    for (int32_t i = 0; i < version->row_count; i++) {
        const char *at = (const char *)rates->rows + (size_t)i * rates->row_bytes;
        encode_rate_row(out, rates, (const struct rate_row *)(const void *)at, i);
    }
    json_out_array_close(out);
    if (version->created_ms > 0) {
        json_out_time_ms(out, "created_at", version->created_ms);
    }
}

static const char *command_model(const void *context, int32_t row, int32_t gpu)
{
    const struct command_rates *rates = context;
    return rates->rows[row].models[gpu];
}

void encode_rates_answer(struct json_out *out,
                         const struct command *command,
                         const struct ledger_result *result)
{
    (void)result;
    const struct command_rates *rates =
        &((const struct command_with_rates *)(const void *)command)->rates;
    const struct encode_rates shown = {
        .cluster = command->cluster,
        .version = &rates->version,
        .rows = &rates->rows[0].row,
        .row_bytes = sizeof(rates->rows[0]),
        .model = command_model,
        .context = rates,
    };
    encode_rates(out, &shown);
}

/* ---- tokens */

void encode_token(struct json_out *out, const struct token *token)
{
    json_out_text(out, "id", token->id);
    json_out_text(out, "name", token->name);
    json_out_text(out, "role", decode_choice_name(choices_role, (int)token->role));
    json_out_text_or_null(out, "place", token->place);
    json_out_time_ms(out, "created_at", token->created_ms);
    json_out_time(out, "expires_at", token->expires_s);
    json_out_time(out, "last_used_at", token->used_s);
    json_out_time(out, "old_valid_until", token->old_until_s);
}

void encode_token_answer(struct json_out *out,
                         const struct command *command,
                         const struct ledger_result *result)
{
    (void)command;
    encode_token(out, &result->token);
}

/* ---- people */

void encode_rename_answer(struct json_out *out,
                          const struct command *command,
                          const struct ledger_result *result)
{
    const struct ledger_renamed *renamed = &result->renamed;
    json_out_text(out, "name", command->rename.to);
    json_out_integer(out, "members", renamed->members);
    json_out_integer(out, "mappings", renamed->mappings);
    json_out_integer(out, "tokens", renamed->tokens);
    json_out_integer(out, "changes", renamed->changes);
}

/* ---- balances */

/* The project of a member's balance: the last but one of its path. */
static const char *project_of(const struct ledger_balance *balance)
{
    return balance->path_count > 1 ? balance->path[balance->path_count - 2] : "";
}

static void encode_cap_status(struct json_out *out,
                              const struct ledger_balance *balance,
                              const struct ledger_cap *status)
{
    json_out_object_open(out, NULL);
    encode_cap(out, status->node_kind, project_of(balance), status->node, &status->cap,
               status->model);
    encode_fill(out, status->cap.limit, status->used, status->frozen);
    json_out_time(out, "resets_at", status->resets_at_s);
    json_out_bool(out, "over_cap", status->over_cap);
    json_out_object_close(out);
}

static void encode_funds(struct json_out *out, const struct ledger_balance *balance)
{
    if (balance->unlimited) {
        json_out_amount_null(out, "granted");
        json_out_amount_null(out, "available");
    } else {
        json_out_amount(out, "granted", balance->granted_mcs);
        json_out_amount(out, "available", balance->available_mcs);
    }
    json_out_bool(out, "overdrawn", balance->overdrawn);
}

void encode_balance(struct json_out *out, const struct ledger_balance *balance)
{
    const struct counter *counter = &balance->counter;
    json_out_text(out, "node", balance->node.name);
    json_out_text(out, "kind", decode_choice_name(choices_node_kind, (int)balance->node.kind));
    if (balance->node.kind == NODE_MEMBER) {
        json_out_text(out, "project", project_of(balance));
        json_out_text(out, "user", balance->node.name);
    }
    json_out_array_open(out, "path");
    for (int32_t i = 0; i < balance->path_count; i++) {
        json_out_text(out, NULL, balance->path[i]);
    }
    json_out_array_close(out);
    json_out_text(out, "funding_node", balance->funding_node);
    json_out_text(out, "state", decode_choice_name(choices_node_state, (int)balance->node.state));
    json_out_amount(out, "used", counter->used_mcs);
    json_out_amount(out, "frozen", counter->frozen_mcs);
    json_out_amount(out, "waiting", counter->waiting_mcs);
    encode_funds(out, balance);
    json_out_integer(out, "jobs", counter->jobs);
    json_out_integer(out, "mcores", counter->mcores);
    json_out_integer(out, "mgpus", counter->mgpus);
    json_out_array_open(out, "caps");
    for (int32_t i = 0; i < balance->cap_count; i++) {
        encode_cap_status(out, balance, &balance->caps[i]);
    }
    json_out_array_close(out);
}
