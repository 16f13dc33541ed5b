/*
 * The one shell around a decision: load, decide, apply, commit; and the one retry loop.
 *
 *   works -> commands -> [ load view -> decide -> apply ] -> promotions -> chain -> commit
 *
 * Nothing here or below it answers anybody: results are filled, and are true once the commit is.
 */
#include "ledger/execute.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/admin.h"
#include "ledger/alerts.h"
#include "ledger/apply.h"
#include "ledger/audit_describe.h"
#include "ledger/chain.h"
#include "ledger/due.h"
#include "ledger/lists.h"
#include "ledger/load.h"
#include "ledger/names.h"
#include "ledger/result.h"
#include "ledger/tasks.h"
#include "ledger/unattributed.h"
#include "ledger/wait.h"
#include "ledger/zones.h"

/* How an engine that shares its data with other writers says that a transaction met one of theirs
 * and is to be done again. */
#define STORE_CONFLICT ERR_OVERLOADED

/* Begin what may be undone, with nothing owed to those who wait. */
static void set_mark(struct ledger *ledger)
{
    wait_pass_all(ledger);
    working_set_mark(ledger->set);
}

/* Undo everything since the mark, and what was concluded from it. */
static void roll_back(struct ledger *ledger)
{
    working_set_rollback(ledger->set);
    lists_forget(ledger);
    zones_forget(ledger);
    wait_forget(ledger);
    alerts_forget(ledger);
}

static void forget_all(struct ledger *ledger)
{
    ledger->turn = (struct turn_cursor){0};
    alerts_forget(ledger);
    lists_forget(ledger);
    zones_forget(ledger);
    wait_forget(ledger);
}

/* ---- commands about a hold */

enum error_code execute_decide(struct ledger *ledger,
                               const struct decision *decision,
                               const struct command *command,
                               struct error *err)
{
    enum error_code code = working_set_failure(ledger->set, err);
    if (code != ERR_OK) {
        return code;
    }
    plan_reset(&ledger->plan);
    return decision->decide(&ledger->view, command, &ledger->subject.time->calendar, &ledger->plan,
                            err);
}

static enum error_code decide_and_apply(struct ledger *ledger,
                                        const struct decision *decision,
                                        const struct command *command,
                                        struct error *err)
{
    enum error_code code = execute_decide(ledger, decision, command, err);
    if (code == ERR_OK && !ledger->plan.replayed && !command->dry_run &&
        command->kind != COMMAND_QUOTE) {
        code = apply_plan(ledger, command, err);
    }
    return code;
}

/* The stored totals of a run, for a command that has nothing more to decide. */
static void plan_totals(struct plan *plan, const struct run *run)
{
    plan->run_charged_mcs = run->charged_mcs;
    plan->run_refunded_mcs = run->returned_mcs;
    plan->run_overrun_mcs = run->overrun_mcs;
    plan->run_waived_mcs = run->waived_mcs;
    plan->run_expired_mcs = run->expired_mcs;
}

static void result_of_replay(struct ledger *ledger,
                             const struct command *command,
                             struct ledger_result *result)
{
    plan_reset(&ledger->plan);
    ledger->plan.replayed = true;
    ledger->plan.waits = ledger->view.hold.counts[TASK_WAITING] > 0;
    ledger->plan.warnings = ledger->view.hold.flags;
    if (command->kind == COMMAND_CHARGE) {
        load_task(ledger, 0, -1);
        if (ledger->view.run_found) {
            plan_totals(&ledger->plan, &ledger->view.run);
        }
    }
    result_of_hold(ledger, result);
    result->created = true;
}

static enum error_code run_new(struct ledger *ledger,
                               const struct decision *decision,
                               const struct command *command,
                               struct ledger_result *result,
                               struct error *err)
{
    bool replayed = false;
    enum error_code code = ERR_OK;
    if (command->kind == COMMAND_ASSIGN) {
        code = unattributed_assign(ledger, command, &ledger->assigned, err);
        command = &ledger->assigned;
    }
    if (code == ERR_OK) {
        code = load_new(ledger, command, &replayed, err);
    }
    bool listed = command->kind == COMMAND_CHARGE && !command->charge.assigned;
    if (code == ERR_UNKNOWN_ACCOUNT && listed) {
        return unattributed_charge(ledger, command, result, err);
    }
    if (code == ERR_OK && replayed) {
        result_of_replay(ledger, command, result);
        return ERR_OK;
    }
    if (code == ERR_OK && command->kind == COMMAND_CHARGE) {
        code = unattributed_check(ledger, command, err);
    }
    if (code == ERR_OK) {
        code = decide_and_apply(ledger, decision, command, err);
    }
    if (code == ERR_NO_RATE && listed) {
        return unattributed_charge(ledger, command, result, err);
    }
    if (code == ERR_OK && command->kind == COMMAND_CHARGE) {
        unattributed_leave(ledger, command);
    }
    if (code == ERR_OK && command->kind == COMMAND_CHARGE && !listed && !command->dry_run) {
        audit_assigned(ledger, &command->charge);
    }
    if (code == ERR_OK) {
        result_of_hold(ledger, result);
        result->created = command->kind != COMMAND_QUOTE;
    }
    return code;
}

/* A refund whose id its root knows: made before, or the id was used for another one. */
static enum error_code find_refund(struct ledger *ledger,
                                   const struct command *command,
                                   bool *ret_replayed,
                                   struct error *err)
{
    const struct hold *hold = &ledger->view.hold;
    int64_t no = row_name_target(ledger->set, NAMES_REFUND, hold->root_no, command->refund.id);
    *ret_replayed = false;
    if (no == 0) {
        return ERR_OK;
    }
    const struct adjustment *known = row_get(ledger->set, RECORD_ADJUSTMENT, no);
    struct digest16 content = load_refund_content(command, hold->hold_no);
    if (known == NULL || memcmp(&known->content, &content, sizeof content) != 0) {
        return error_set_field(err, ERR_ID_REUSED, "id", "%s was used before with other content",
                               command->refund.id);
    }
    plan_reset(&ledger->plan);
    ledger->plan.replayed = true;
    ledger->plan.requested_mcs = known->amount_mcs;
    if (ledger->view.run_found) {
        ledger->plan.run_charged_mcs = ledger->view.run.charged_mcs;
        ledger->plan.run_refunded_mcs = ledger->view.run.refunded_mcs;
    }
    *ret_replayed = true;
    return ERR_OK;
}

static enum error_code run_one(struct ledger *ledger,
                               const struct decision *decision,
                               const struct command *command,
                               struct error *err)
{
    bool due = command->kind == COMMAND_TURN_RUN || command->kind == COMMAND_EXPIRE_HOLD;
    if (decision->scope == DECIDE_RUN) {
        load_task(ledger, due ? command->due.task : command->task,
                  due ? command->due.attempt : command->attempt);
    } else if (decision->scope == DECIDE_TASK) {
        load_task(ledger, due ? command->due.task : command->task, -1);
    }
    load_command(ledger, command);
    bool replayed = false;
    if (command->kind == COMMAND_REFUND) {
        enum error_code code = find_refund(ledger, command, &replayed, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    return replayed ? ERR_OK : decide_and_apply(ledger, decision, command, err);
}

/* A command about a hold some of whose tasks wait may have made room for them, or made them small
 * enough: its answer says what came of it. */
static void answer_promotions(struct ledger *ledger,
                              const struct command *command,
                              struct ledger_result *result)
{
    const struct hold *hold = &result->hold.hold;
    bool tried = command->dry_run && decision_of(command->kind)->scope != DECIDE_TASKS;
    if (hold->counts[TASK_WAITING] == 0 || result->no_effect || result->replayed || tried) {
        return;
    }
    wait_pass(ledger, hold->root_no);
    result_refresh_hold(ledger, result);
}

static enum error_code run_verb(struct ledger *ledger,
                                const struct decision *decision,
                                const struct command *command,
                                struct ledger_result *result,
                                struct error *err)
{
    struct cell *cell;
    enum error_code code = names_hold(ledger, command, &cell, err);
    if (code == ERR_UNKNOWN_HOLD && command->kind == COMMAND_HEARTBEAT) {
        result->heartbeat = HEARTBEAT_UNKNOWN;
        error_clear(err);
        return ERR_OK;
    }
    if (code != ERR_OK) {
        return code;
    }
    wait_pass(ledger, ((const struct hold *)cell_record(cell))->root_no);
    if (decision->scope == DECIDE_TASKS) {
        code = tasks_run(ledger, decision, command, cell_record(cell), result, err);
        if (code == ERR_OK) {
            answer_promotions(ledger, command, result);
        }
        return code;
    }
    load_hold(ledger, cell_record(cell));
    code = run_one(ledger, decision, command, err);
    if (code == ERR_OK) {
        result->heartbeat = ledger->plan.heartbeat;
        if (command->kind == COMMAND_TURN_RUN) {
            due_turned(ledger, command);
        }
        if (command->kind != COMMAND_HEARTBEAT) {
            result_of_hold(ledger, result);
            answer_promotions(ledger, command, result);
        }
        result->created = command->kind == COMMAND_REFUND;
    }
    return code;
}

/* ---- any command */

static void hear_heartbeat(struct ledger *ledger, const struct command *command)
{
    struct cell *cluster;
    struct error ignored = {0};
    if (command->kind == COMMAND_HEARTBEAT && command->role == ROLE_SCHEDULER &&
        !command->dry_run && names_cluster(ledger, command, &cluster, &ignored) == ERR_OK) {
        admin_hear_agent(ledger, cluster, false);
    }
}

static enum error_code run_hold_command(struct ledger *ledger,
                                        const struct decision *decision,
                                        const struct command *command,
                                        struct ledger_result *result,
                                        struct error *err)
{
    bool parts = decision->scope == DECIDE_TASKS;
    if (parts) {
        set_mark(ledger);
    }
    hear_heartbeat(ledger, command);
    enum error_code code = decision->scope == DECIDE_NEW
                               ? run_new(ledger, decision, command, result, err)
                               : run_verb(ledger, decision, command, result, err);
    if (code == ERR_QUOTA_INSUFFICIENT) {
        result_of_refusal(ledger, command, result);
    }
    if (command->kind == COMMAND_QUOTE && (code == ERR_OK || code == ERR_QUOTA_INSUFFICIENT)) {
        result_of_price(ledger, result);
    }
    if (parts && (code != ERR_OK || command->dry_run)) {
        roll_back(ledger);
    } else if (parts) {
        working_set_release(ledger->set);
    }
    return code;
}

/* What they change may be what lists were made from. */
static enum error_code run_admin(struct ledger *ledger,
                                 admin_fn function,
                                 const struct command *command,
                                 struct ledger_result *result,
                                 struct error *err)
{
    set_mark(ledger);
    enum error_code code = function(ledger, command, result, err);
    if (code == ERR_QUOTA_INSUFFICIENT) {
        result_of_refusal(ledger, command, result);
    }
    if (code != ERR_OK || command->dry_run) {
        roll_back(ledger);
    } else {
        working_set_release(ledger->set);
    }
    return code;
}

void execute_command(struct ledger *ledger,
                     const struct command *command,
                     struct ledger_result *result)
{
    struct error err = {0};
    const struct decision *decision = decision_of(command->kind);
    admin_fn function = admin_of(command->kind);
    enum error_code code;
    if (decision != NULL) {
        code = run_hold_command(ledger, decision, command, result, &err);
    } else if (function != NULL) {
        code = run_admin(ledger, function, command, result, &err);
    } else {
        code = error_set(&err, ERR_INTERNAL, "no such command: %d", (int)command->kind);
    }
    if (code != ERR_OK) {
        err.code = code;
        result->error = err;
    }
}

/* ---- works */

static bool work_is_tried(const struct ledger_work *work)
{
    return work->count > 1 && work->commands[0]->dry_run;
}

/* Of an atomic work that was refused, all but the refused are told so. */
static void tell_rolled_back(struct ledger_work *work)
{
    struct error err = {.code = ERR_OK};
    (void)error_set(&err, ERR_ROLLED_BACK, "another command of this batch was refused");
    for (size_t i = 0; i < work->count; i++) {
        if (work->results[i].error.code == ERR_OK) {
            ledger_result_fini(&work->results[i]);
            memset(&work->results[i], 0, sizeof work->results[i]);
            work->results[i].error = err;
        }
    }
}

/* A dry run of many: each sees those before it, and none leaves a trace. */
static void run_commands(struct ledger *ledger, struct ledger_work *work, bool tried)
{
    for (size_t i = 0; i < work->count; i++) {
        const struct command *command = work->commands[i];
        if (!tried) {
            execute_command(ledger, command, &work->results[i]);
            continue;
        }
        struct command_with_rates *real = &ledger->tried;
        size_t bytes = command->kind == COMMAND_PUT_RATES ? sizeof *real : sizeof real->command;
        memcpy(real, command, bytes);
        real->command.dry_run = false;
        execute_command(ledger, &real->command, &work->results[i]);
    }
}

static void run_work(struct ledger *ledger, struct ledger_work *work)
{
    bool tried = work_is_tried(work);
    bool marked = work->atomic || tried;
    ledger->actor = work->actor;
    if (marked) {
        set_mark(ledger);
    }
    run_commands(ledger, work, tried);
    bool refused = false;
    for (size_t i = 0; i < work->count; i++) {
        refused = refused || work->results[i].error.code != ERR_OK;
    }
    bool undo = tried || (work->atomic && refused);
    if (marked && undo) {
        roll_back(ledger);
    } else if (marked) {
        working_set_release(ledger->set);
    }
    if (work->atomic && refused) {
        tell_rolled_back(work);
    }
}

static void clear_results(struct ledger_work *works, size_t count, const struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < works[i].count; j++) {
            ledger_result_fini(&works[i].results[j]);
            memset(&works[i].results[j], 0, sizeof works[i].results[j]);
            works[i].results[j].error = *err;
        }
    }
}

/* One transaction. After a failure nothing was written and nothing is remembered. */
static enum error_code transact(struct ledger *ledger,
                                struct ledger_work *works,
                                size_t count,
                                struct error *err)
{
    ledger->alerts.dirty = false;
    enum error_code code = working_set_begin(ledger->set, err);
    if (code != ERR_OK) {
        return code;
    }
    ledger->first_audit_no = 0;
    for (size_t i = 0; i < count && code == ERR_OK; i++) {
        run_work(ledger, &works[i]);
        code = working_set_failure(ledger->set, err);
    }
    if (code == ERR_OK) {
        wait_pass_all(ledger);
        chain_seal(ledger);
        code = working_set_commit(ledger->set, err);
    } else {
        working_set_abort(ledger->set);
    }
    if (code != ERR_OK) {
        forget_all(ledger);
    }
    return code;
}

static enum error_code transact_again(struct ledger *ledger,
                                      struct ledger_work *works,
                                      size_t count,
                                      struct error *err)
{
    for (int i = 0; i < LIMIT_EXECUTE_RETRIES; i++) {
        error_clear(err);
        enum error_code code = transact(ledger, works, count, err);
        if (code != STORE_CONFLICT) {
            return code;
        }
        error_clear(err);
        clear_results(works, count, err);
    }
    return error_set(err, ERR_UNAVAILABLE, "the ledger is too busy with other writers");
}

/* One of them meets damaged data: the others are not to suffer for it. */
static void each_alone(struct ledger *ledger,
                       struct ledger_work *works,
                       size_t count,
                       struct error *err)
{
    error_clear(err);
    clear_results(works, count, err);
    for (size_t i = 0; i < count; i++) {
        if (transact_again(ledger, &works[i], 1, err) != ERR_OK) {
            clear_results(&works[i], 1, err);
        }
    }
    error_clear(err);
}

enum error_code ledger_execute(struct ledger *ledger,
                               struct ledger_work *works,
                               size_t count,
                               int64_t now_ms,
                               struct error *err)
{
    struct error own = {0};
    struct error *why = err != NULL ? err : &own;
    ledger->clock_ms = now_ms;
    enum error_code code = transact_again(ledger, works, count, why);
    if (code == ERR_INTERNAL && count > 1) {
        each_alone(ledger, works, count, why);
        return ERR_OK;
    }
    if (code != ERR_OK) {
        clear_results(works, count, why);
    }
    return code;
}
