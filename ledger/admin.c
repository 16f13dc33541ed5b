/* What the administrative commands share; the table of them. See admin.h. */
#include "ledger/admin.h"

#include <inttypes.h>
#include <stdio.h>

#include "ledger/apply.h"
#include "ledger/execute.h"
#include "ledger/load.h"
#include "ledger/wait.h"

static const admin_fn functions[COMMAND__COUNT] = {
    [COMMAND_GRANT] = admin_grant,
    [COMMAND_TRANSFER] = admin_transfer,
    [COMMAND_WITHDRAW] = admin_withdraw,
    [COMMAND_PUT_NODE] = admin_put_node,
    [COMMAND_PATCH_NODE] = admin_put_node,
    [COMMAND_PUT_CAP] = admin_put_cap,
    [COMMAND_DELETE_CAP] = admin_delete_cap,
    [COMMAND_PUT_CLUSTER] = admin_put_cluster,
    [COMMAND_PATCH_CLUSTER] = admin_put_cluster,
    [COMMAND_PUT_MAPPING] = admin_put_mapping,
    [COMMAND_PUT_RATES] = admin_put_rates,
    [COMMAND_PUT_TOKEN] = admin_put_token,
    [COMMAND_REVOKE_TOKEN] = admin_revoke_token,
    [COMMAND_CLOSE] = admin_close,
    [COMMAND_SEAL] = admin_seal,
    [COMMAND_RENAME_PERSON] = admin_rename_person,
    [COMMAND_ROTATE_TOKEN] = admin_rotate_token,
    [COMMAND_END_GRANT] = admin_end_grant,
    [COMMAND_TURN_MONTH] = admin_turn_month,
    [COMMAND_TOUCH_AGENT] = admin_touch_agent,
    [COMMAND_TOUCH_TOKEN] = admin_touch_token,
    [COMMAND_PUT_WEBHOOK] = admin_put_webhook,
    [COMMAND_DELETE_WEBHOOK] = admin_delete_webhook,
    [COMMAND_TEST_WEBHOOK] = admin_test_webhook,
    [COMMAND_RAISE_ALERT] = admin_raise_alert,
    [COMMAND_DELIVERED] = admin_delivered,
    [COMMAND_OVERWRITE] = admin_overwrite,
    [COMMAND_PRUNE] = admin_prune,
};

admin_fn admin_of(enum command_kind kind)
{
    return (unsigned)kind < COMMAND__COUNT ? functions[kind] : NULL;
}

int64_t admin_now_ms(const struct ledger *ledger)
{
    return ledger->clock_ms;
}

enum error_code admin_match(const struct command *command, int64_t version, struct error *err)
{
    switch (command->if_match) {
    case MATCH_ANY:
        return ERR_OK;
    case MATCH_VERSION:
        if (command->if_version == version) {
            return ERR_OK;
        }
        return error_set(err, ERR_PRECONDITION_FAILED,
                         "it is at version %" PRId64 " now: read it again", version);
    case MATCH_NONE:
        break;
    }
    return error_set(err, ERR_PRECONDITION_REQUIRED,
                     "it exists: send If-Match with its ETag, or * to overwrite");
}

/* ---- closing */

static void tell_released(struct ledger *ledger, const struct node *node, int64_t task)
{
    struct feed_event event = {
        .cluster_no = ledger->view.hold.cluster_no,
        .type = FEED_RELEASED,
        .hold_no = ledger->view.hold.hold_no,
        .at_ms = ledger->view.now_ms,
    };
    if (task >= 0) {
        (void)snprintf(event.tasks, sizeof event.tasks, "%" PRId64, task);
    }
    (void)snprintf(event.message, sizeof event.message, "%s was closed while it waited",
                   node->name);
    apply_feed(ledger, &event);
}

static enum error_code release_place(struct ledger *ledger,
                                     const struct wait_place *place,
                                     const struct node *node,
                                     struct error *err)
{
    static const struct command release = {.kind = COMMAND_RELEASE, .role = ROLE_ADMIN};
    const struct hold *hold = row_get(ledger->set, RECORD_HOLD, place->hold_no);
    if (hold == NULL) {
        return working_set_failure(ledger->set, err);
    }
    load_hold(ledger, hold);
    load_task(ledger, place->task, -1);
    enum error_code code = execute_decide(ledger, decision_of(COMMAND_RELEASE), &release, err);
    if (code == ERR_OK) {
        code = apply_plan(ledger, NULL, err);
    }
    if (code == ERR_OK && !ledger->plan.no_effect) {
        tell_released(ledger, node, place->task);
    }
    return code;
}

enum error_code admin_release_waiting(struct ledger *ledger,
                                      const struct node *node,
                                      struct error *err)
{
    struct wait_place places[64];
    enum error_code code = ERR_OK;
    int64_t after = 0;
    for (;;) {
        size_t count =
            wait_below(ledger, node->root_no, node->node_no, after, places, ARRAY_LEN(places));
        for (size_t i = 0; i < count && code == ERR_OK; i++) {
            code = release_place(ledger, &places[i], node, err);
        }
        if (count == 0 || code != ERR_OK) {
            return code;
        }
        after = places[count - 1].wait_no;
    }
}

/* ---- months */

enum error_code admin_turn_month(struct ledger *ledger,
                                 const struct command *command,
                                 struct ledger_result *ret_result,
                                 struct error *err)
{
    struct cell *cell = row_find(ledger->set, RECORD_ROOT_STATE, command->due.root_no);
    (void)err;
    if (!cell_exists(cell)) {
        ret_result->no_effect = true;
        return ERR_OK;
    }
    if (((const struct root_state *)cell_record(cell))->turned_month < command->due.month) {
        struct root_state *state = working_set_change(ledger->set, cell);
        state->turned_month = command->due.month;
    }
    wait_wake_root(ledger, command->due.root_no);
    return ERR_OK;
}
