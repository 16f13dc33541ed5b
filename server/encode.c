/* Holds, runs and money as JSON. Settings are in encode_settings.c. */
#include "server/encode.h"

#include <inttypes.h>

#include "server/decode_shapes.h"
#include "server/problem.h"

/* ---- holds */

void encode_choices(struct json_out *out,
                    const char *key,
                    const struct decode_choice *choices,
                    int64_t set)
{
    json_out_array_open(out, key);
    for (const struct decode_choice *choice = choices; choice->name != NULL; choice++) {
        if ((set & INT64_C(1) << choice->value) != 0) {
            json_out_text(out, NULL, choice->name);
        }
    }
    json_out_array_close(out);
}

void encode_flags(struct json_out *out, const char *key, int64_t flags)
{
    json_out_array_open(out, key);
    for (const struct decode_choice *flag = choices_flag; flag->name != NULL; flag++) {
        if ((flags & flag->value) != 0) {
            json_out_text(out, NULL, flag->name);
        }
    }
    json_out_array_close(out);
}

static void encode_task_states(struct json_out *out, const struct hold *hold)
{
    json_out_object_open(out, "task_states");
    for (const struct decode_choice *state = choices_task_state; state->name != NULL; state++) {
        if (hold->counts[state->value] > 0) {
            json_out_integer(out, state->name, hold->counts[state->value]);
        }
    }
    json_out_object_close(out);
}

/* What waits asks for this much: untouched tasks wait together, a requeued one for itself. */
static int64_t waiting_mcs(const struct hold *hold)
{
    return hold->counts[TASK_WAITING] * hold->rate_mcores * hold->seconds;
}

/* "alpha/1"; null where no card prices it. */
static void encode_rate_card(struct json_out *out, const char *cluster, int64_t version)
{
    if (version == 0) {
        json_out_text_or_null(out, "rate_card", "");
        return;
    }
    json_out_numbered(out, "rate_card", cluster, version);
}

void encode_hold(struct json_out *out, const struct ledger_hold *shown)
{
    const struct hold *hold = &shown->hold;
    json_out_text(out, "id", hold->id);
    json_out_text(out, "state", decode_choice_name(choices_task_state, (int)shown->state));
    json_out_text(out, "cluster", shown->cluster);
    json_out_text_or_null(out, "project", shown->project); /* none while unattributed */
    json_out_text(out, "user", shown->user);
    json_out_text(out, "mode", hold->mode == MODE_WINDOW ? "window" : "full");
    json_out_integer(out, "rate_mcores", hold->rate_mcores);
    json_out_integer(out, "seconds", hold->seconds);
    json_out_integer(out, "tasks", hold->tasks);
    json_out_amount(out, "frozen", hold->frozen_mcs);
    json_out_amount(out, "used", hold->used_mcs);
    if (hold->counts[TASK_WAITING] > 0) {
        json_out_amount(out, "waiting", waiting_mcs(hold));
    }
    if (hold->tasks > 1) {
        encode_task_states(out, hold);
    }
    encode_rate_card(out, shown->cluster, hold->card_version);
    json_out_time(out, "expires_at", hold->due_s);
    if (hold->job_id[0] != '\0') {
        json_out_text(out, "job_id", hold->job_id);
        json_out_text_or_null(out, "job_key", hold->job_key);
    }
    if (hold->flags != 0) {
        encode_flags(out, "flags", hold->flags);
    }
}

static void encode_resources(struct json_out *out, const struct ledger_hold *shown)
{
    const struct resources *resources = &shown->hold.resources;
    json_out_object_open(out, "resources");
    json_out_integer(out, "cores", resources->cores);
    json_out_integer(out, "memory_mib", resources->memory_mib);
    json_out_array_open(out, "gpus");
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        const struct gpu_request *gpu = &resources->gpus[i];
        json_out_object_open(out, NULL);
        json_out_text_or_null(out, "model", shown->models[i]);
        json_out_integer(out, "count", gpu->count);
        if (gpu->cores_percent > 0) {
            json_out_integer(out, "cores_percent", gpu->cores_percent);
        }
        if (gpu->memory_mib > 0) {
            json_out_integer(out, "memory_mib", gpu->memory_mib);
        }
        json_out_object_close(out);
    }
    json_out_array_close(out);
    json_out_object_close(out);
}

static void encode_job(struct json_out *out, const struct hold *hold)
{
    json_out_object_open(out, "job");
    if (hold->job_name[0] != '\0') {
        json_out_text(out, "name", hold->job_name);
    }
    if (hold->partition[0] != '\0') {
        json_out_text(out, "partition", hold->partition);
    }
    if (hold->qos[0] != '\0') {
        json_out_text(out, "qos", hold->qos);
    }
    json_out_object_close(out);
}

void encode_hold_rest(struct json_out *out, const struct ledger_hold *shown, bool is_stale)
{
    const struct hold *hold = &shown->hold;
    encode_job(out, hold);
    encode_resources(out, shown);
    json_out_integer_or_null(out, "max_running", hold->max_running, 0);
    json_out_integer_or_null(out, "time_limit_s", hold->time_limit_s, 0);
    json_out_text(out, "funding_node", shown->payer);
    json_out_time_ms(out, "created_at", hold->created_ms);
    json_out_time_ms(out, "bound_at", hold->bound_ms);
    json_out_time(out, "last_seen_at", hold->seen_s);
    json_out_bool(out, "stale", is_stale);
}

static void encode_warning_flags(struct json_out *out, int64_t warnings)
{
    for (const struct decode_choice *flag = choices_flag; flag->name != NULL; flag++) {
        if ((warnings & flag->value) != 0) {
            json_out_object_open(out, NULL);
            json_out_text(out, "code", flag->name);
            json_out_object_close(out);
        }
    }
}

void encode_warnings(struct json_out *out, const struct ledger_result *result)
{
    json_out_array_open(out, "warnings");
    encode_warning_flags(out, result->warnings);
    if (result->no_effect) {
        json_out_object_open(out, NULL);
        json_out_text(out, "code", "no_effect");
        json_out_object_close(out);
    }
    for (int32_t i = 0; i < result->soft_count; i++) {
        json_out_object_open(out, NULL);
        json_out_text(out, "code", "soft_cap");
        problem_write_violation(out, "violation", &result->soft[i], NULL);
        json_out_object_close(out);
    }
    json_out_array_close(out);
}

/* ---- answers about holds */

void encode_freeze_answer(struct json_out *out,
                          const struct command *command,
                          const struct ledger_result *result)
{
    (void)command;
    encode_hold(out, &result->hold);
    encode_warnings(out, result);
}

void encode_verb_answer(struct json_out *out,
                        const struct command *command,
                        const struct ledger_result *result)
{
    encode_freeze_answer(out, command, result);
}

void encode_settle_answer(struct json_out *out,
                          const struct command *command,
                          const struct ledger_result *result)
{
    encode_freeze_answer(out, command, result);
    json_out_amount(out, "charged", result->charged_mcs);
    json_out_amount(out, "refunded", result->refunded_mcs);
    json_out_amount(out, "overrun", result->overrun_mcs);
    json_out_amount(out, "waived", result->waived_mcs);
    json_out_amount(out, "expired", result->expired_mcs);
}

void encode_release_answer(struct json_out *out,
                           const struct command *command,
                           const struct ledger_result *result)
{
    encode_freeze_answer(out, command, result);
    json_out_amount(out, "refunded", result->refunded_mcs);
    json_out_amount(out, "expired", result->expired_mcs);
    json_out_text_or_null(out, "left_tasks", result->left_tasks);
}

const char *encode_heartbeat_result(const struct ledger_result *result)
{
    static const char *const names[] = {
        [HEARTBEAT_OK] = "ok",           [HEARTBEAT_ENDED] = "ended", [HEARTBEAT_OLD] = "old",
        [HEARTBEAT_UNKNOWN] = "unknown", [HEARTBEAT_STOP] = "stop",
    };
    return result->error.code == ERR_OK ? names[result->heartbeat] : names[HEARTBEAT_UNKNOWN];
}

/* The same shape for one run as for many: one element. */
void encode_heartbeat_answer(struct json_out *out,
                             const struct command *command,
                             const struct ledger_result *result)
{
    json_out_array_open(out, "results");
    json_out_object_open(out, NULL);
    if (command->hold[0] != '\0') {
        json_out_text(out, "hold", command->hold);
    }
    json_out_integer(out, "task", command->task);
    json_out_integer(out, "attempt", command->attempt);
    json_out_text(out, "result", encode_heartbeat_result(result));
    json_out_object_close(out);
    json_out_array_close(out);
}

void encode_refund_answer(struct json_out *out,
                          const struct command *command,
                          const struct ledger_result *result)
{
    json_out_text(out, "id", command->refund.id);
    json_out_text(out, "hold", result->hold.hold.id);
    json_out_integer(out, "task", command->task);
    json_out_integer(out, "attempt", command->attempt);
    json_out_amount(out, "refunded", result->requested_mcs);
    json_out_amount(out, "charged", result->charged_mcs);
    json_out_amount(out, "refunds", result->refunded_mcs);
    json_out_amount(out, "net", result->charged_mcs - result->refunded_mcs);
    json_out_amount(out, "expired", result->expired_mcs);
    json_out_amount(out, "used", result->hold.hold.used_mcs);
    json_out_text(out, "reason", command->refund.reason);
    encode_warnings(out, result);
}

static void encode_cost(struct json_out *out, const struct ledger_result *result)
{
    if (!result->cost_known) {
        json_out_null(out, "cost");
        json_out_null(out, "currency");
        return;
    }
    json_out_printf(out, "cost", "%" PRId64 ".%06" PRId64, result->cost_micro / 1000000,
                    result->cost_micro % 1000000);
    json_out_text(out, "currency", result->currency);
}

void encode_quote_answer(struct json_out *out,
                         const struct command *command,
                         const struct ledger_result *result)
{
    const struct hold *hold = &result->hold.hold;
    const struct ledger_refusal *refusal = result->refusal;
    const bool would_pass = result->error.code == ERR_OK;
    if (result->hold.project[0] != '\0') {
        json_out_text(out, "project", result->hold.project);
        json_out_text(out, "mode", hold->mode == MODE_WINDOW ? "window" : "full");
    }
    json_out_integer(out, "rate_mcores",
                     refusal != NULL ? refusal->requested_mcores : hold->rate_mcores);
    json_out_integer(out, "seconds", refusal != NULL ? refusal->requested_s : hold->seconds);
    json_out_integer(out, "tasks", command->freeze.tasks > 0 ? command->freeze.tasks : 1);
    json_out_amount(out, "requested",
                    refusal != NULL ? refusal->requested_mcs : result->requested_mcs);
    encode_rate_card(out, command->cluster, result->card_version);
    encode_cost(out, result);
    json_out_bool(out, "would_pass", would_pass);
    problem_write_violations(out, "violations", refusal);
    json_out_integer(out, "waiting_ahead", refusal != NULL ? refusal->waiting_ahead : 0);
    json_out_time(out, "earliest_at", refusal != NULL ? refusal->earliest_at_s : 0);
    encode_warnings(out, result);
}

/* ---- runs */

void encode_run(struct json_out *out, const struct run *run)
{
    json_out_object_open(out, NULL);
    json_out_integer(out, "task", run->task);
    json_out_integer(out, "attempt", run->attempt);
    json_out_text(out, "state", decode_choice_name(choices_task_state, (int)run->state));
    json_out_text_or_null(out, "run_key", run->run_key);
    json_out_time(out, "started_at", run->started_s);
    json_out_time(out, "ended_at", run->ended_s);
    json_out_time(out, "charged_until", run->booked_until_s);
    const char *outcome = decode_choice_name(choices_outcome, (int)run->outcome);
    json_out_text_or_null(out, "outcome", outcome != NULL ? outcome : "");
    json_out_amount(out, "frozen", run->frozen_mcs);
    json_out_amount(out, "charged", run->charged_mcs);
    json_out_amount(out, "refunded", run->returned_mcs);
    json_out_amount(out, "refunds", run->refunded_mcs);
    json_out_amount(out, "overrun", run->overrun_mcs);
    json_out_amount(out, "waived", run->waived_mcs);
    json_out_amount(out, "expired", run->expired_mcs);
    if (run->flags != 0) {
        encode_flags(out, "flags", run->flags);
    }
    json_out_object_close(out);
}

void encode_unattributed(struct json_out *out,
                         const struct unattributed *row,
                         const struct ledger_hold *shown)
{
    const char *outcome = decode_choice_name(choices_outcome, (int)row->outcome);
    json_out_text(out, "id", row->id);
    json_out_text(out, "cluster", shown->cluster);
    json_out_text(out, "account", row->account);
    json_out_text(out, "user", row->user);
    json_out_text_or_null(out, "job_key", row->job_key);
    encode_job(out, &shown->hold);
    encode_resources(out, shown);
    json_out_time(out, "started_at", row->started_s);
    json_out_time(out, "ended_at", row->ended_s);
    json_out_integer(out, "suspended_s", row->suspended_s);
    json_out_text_or_null(out, "outcome", outcome != NULL ? outcome : "");
    json_out_text_or_null(out, "run_key", row->run_key);
    json_out_integer(out, "rate_mcores", row->rate_mcores);
    json_out_amount(out, "used", row->used_mcs);
    json_out_time_ms(out, "created_at", row->at_ms);
}

/* ---- money */

void encode_grant(struct json_out *out, const struct grant *grant, const char *node)
{
    json_out_text(out, "id", grant->id);
    json_out_text(out, "node", node);
    json_out_amount(out, "granted", grant->granted_mcs);
    json_out_amount(out, "transferred_in", grant->in_mcs);
    json_out_amount(out, "transferred_out", grant->out_mcs);
    json_out_amount(out, "withdrawn", grant->withdrawn_mcs);
    json_out_amount(out, "available", grant->available_mcs);
    json_out_amount(out, "frozen", grant->frozen_mcs);
    json_out_amount(out, "used", grant->used_mcs);
    json_out_amount(out, "expired", grant->expired_mcs);
    json_out_time(out, "start", grant->start_s);
    json_out_time(out, "end", grant->end_s);
    json_out_text_or_null(out, "note", grant->note);
    json_out_time_ms(out, "created_at", grant->created_ms);
}

void encode_grant_answer(struct json_out *out,
                         const struct command *command,
                         const struct ledger_result *result)
{
    encode_grant(out, &result->grant, command->movement.to);
}

void encode_transfer_answer(struct json_out *out,
                            const struct command *command,
                            const struct ledger_result *result)
{
    (void)result;
    json_out_text(out, "id", command->movement.id);
    json_out_text(out, "from", command->movement.from);
    json_out_text(out, "to", command->movement.to);
    json_out_amount(out, "transferred", command->movement.amount_mcs);
    json_out_text_or_null(out, "note", command->movement.note);
}

void encode_withdraw_answer(struct json_out *out,
                            const struct command *command,
                            const struct ledger_result *result)
{
    (void)result;
    json_out_text(out, "id", command->movement.id);
    json_out_text(out, "node", command->movement.from);
    json_out_amount(out, "withdrawn", command->movement.amount_mcs);
    json_out_text(out, "reason", command->movement.note);
}
