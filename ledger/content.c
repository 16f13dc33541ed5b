/*
 * Digests of commands, field by field in a fixed order: what tells the same command again from
 * another use of its id (SPEC 6.1). See load.h.
 */
#include <string.h>

#include "ledger/load.h"

static void add_resources(struct digest_state *state, const struct command_resources *resources)
{
    digest_update_i64(state, resources->given ? 1 : 0);
    if (!resources->given) {
        return;
    }
    digest_update_i64(state, resources->cores);
    digest_update_i64(state, resources->memory_mib);
    digest_update_i64(state, resources->gpu_count);
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        const struct command_gpu *gpu = &resources->gpus[i];
        digest_update_text(state, gpu->model);
        digest_update_i64(state, gpu->count);
        digest_update_i64(state, gpu->cores_percent);
        digest_update_i64(state, gpu->memory_mib);
    }
}

static void add_job(struct digest_state *state, const struct command_job *job)
{
    digest_update_i64(state, job->given ? 1 : 0);
    if (job->given) {
        digest_update_text(state, job->name);
        digest_update_text(state, job->partition);
        digest_update_text(state, job->qos);
    }
}

static void add_freeze(struct digest_state *state, const struct command_freeze *freeze)
{
    digest_update_text(state, freeze->account);
    digest_update_text(state, freeze->user);
    add_job(state, &freeze->job);
    add_resources(state, &freeze->resources);
    digest_update_i64(state, freeze->tasks);
    digest_update_i64(state, freeze->max_running);
    digest_update_i64(state, freeze->time_limit_s);
    digest_update_i64(state, freeze->ttl_s);
    digest_update_i64(state, freeze->mode);
    digest_update_i64(state, freeze->on_insufficient);
}

static void add_charge(struct digest_state *state, const struct command_charge *charge)
{
    const struct command_run *run = &charge->run;
    digest_update_text(state, charge->account);
    digest_update_text(state, charge->user);
    digest_update_text(state, charge->job_key);
    add_job(state, &charge->job);
    add_resources(state, &run->resources);
    digest_update_i64(state, run->started_at_s);
    digest_update_i64(state, run->ended_at_s);
    digest_update_i64(state, run->suspended_given ? 1 : 0);
    digest_update_i64(state, run->suspended_s);
    digest_update_i64(state, run->outcome);
    digest_update_text(state, run->run_key);
}

static struct digest16 finish(struct digest_state *state)
{
    struct digest whole = digest_finish(state);
    struct digest16 half;
    memcpy(half.bytes, whole.bytes, sizeof half.bytes);
    return half;
}

struct digest16 load_refund_content(const struct command *command, int64_t hold_no)
{
    const struct command_refund *refund = &command->refund;
    struct digest_state state;
    digest_init(&state);
    digest_update_i64(&state, hold_no);
    digest_update_i64(&state, command->task);
    digest_update_i64(&state, command->attempt);
    digest_update_i64(&state, refund->all ? 1 : 0);
    digest_update_i64(&state, refund->all ? 0 : refund->amount_mcs);
    digest_update_text(&state, refund->reason);
    return finish(&state);
}

struct digest16 load_content(const struct command *command)
{
    struct digest_state state;
    if (command->kind == COMMAND_CHARGE && command->charge.assigned) {
        return command->charge.content;
    }
    digest_init(&state);
    if (command->kind == COMMAND_CHARGE) {
        digest_update_text(&state, "charge");
        add_charge(&state, &command->charge);
    } else {
        digest_update_text(&state, "freeze");
        add_freeze(&state, &command->freeze);
    }
    return finish(&state);
}
