/* Webhooks and what is sent to them (SPEC 4.6). Secrets are made by the server; here they are kept and shown to nobody. */
#include <stdio.h>
#include <string.h>

#include "ledger/admin.h"
#include "ledger/alerts.h"
#include "ledger/audit.h"
#include "ledger/names.h"

enum { WEBHOOKS_MOST = 1000 };

#define OLD_SECRET_MS (INT64_C(24) * 3600 * 1000)

/* The node that a webhook is to hear of. */
static enum error_code find_place(struct ledger *ledger,
                                  const struct command *command,
                                  const struct node **ret_node,
                                  struct error *err)
{
    struct cell *cell;
    const char *name = command->webhook.node;
    enum error_code code = names_node(ledger, NODE_MEMBER, name, &cell, err);
    if (code == ERR_OK && !names_node_is_seen(ledger, command, cell_record(cell))) {
        code = ERR_NOT_FOUND;
    }
    if (code != ERR_OK) {
        return error_set_field(err, code, "node", "no organization or project %s", name);
    }
    *ret_node = cell_record(cell);
    return ERR_OK;
}

/* The webhook of a name, NULL when there is none; whether the asker sees it. */
static struct cell *find_webhook(struct ledger *ledger,
                                 const struct command *command,
                                 bool *ret_seen)
{
    int64_t no = row_name_target(ledger->set, NAMES_WEBHOOK, 0, command->webhook.name);
    struct cell *cell = no == 0 ? NULL : row_find(ledger->set, RECORD_WEBHOOK, no);
    *ret_seen = false;
    if (cell == NULL || !cell_exists(cell)) {
        return NULL;
    }
    const struct webhook *webhook = cell_record(cell);
    const struct node *node = row_get(ledger->set, RECORD_NODE, webhook->node_no);
    *ret_seen = node != NULL && names_node_is_seen(ledger, command, node);
    return cell;
}

static enum error_code find_own(struct ledger *ledger,
                                const struct command *command,
                                struct cell **ret_cell,
                                struct error *err)
{
    bool seen;
    struct cell *cell = find_webhook(ledger, command, &seen);
    if (cell == NULL || !seen) {
        return error_set(err, ERR_NOT_FOUND, "no webhook %s", command->webhook.name);
    }
    *ret_cell = cell;
    return ERR_OK;
}

/* ---- the audit log */

static const char *describe(struct ledger *ledger,
                            struct audit_values *values,
                            const struct webhook *webhook)
{
    static const char *const types[ALERT__COUNT] = {
        [ALERT_TEST] = "test",
        [ALERT_CAP] = "cap_threshold",
        [ALERT_GRANT] = "grant_threshold",
        [ALERT_OVERDRAWN] = "overdrawn",
        [ALERT_GRANT_ENDING] = "grant_ending",
        [ALERT_STALE] = "stale_holds",
        [ALERT_SILENT] = "adapter_silent",
    };
    const struct node *node =
        webhook->node_no == 0 ? NULL : row_get(ledger->set, RECORD_NODE, webhook->node_no);
    audit_begin(values);
    audit_add_text(values, "url", webhook->url);
    if (node == NULL) {
        audit_add_null(values, "node");
    } else {
        audit_add_text(values, "node", node->name);
    }
    audit_add_names(values, "types", webhook->types, types);
    audit_add_number(values, "grant_days", webhook->grant_days);
    audit_add_flag(values, "enabled", webhook->disabled == 0);
    return audit_end(values);
}

static void audit_webhook(struct ledger *ledger,
                          const struct webhook *before,
                          const struct webhook *after)
{
    char what[RECORD_WHAT_BYTES];
    struct audit_values old;
    struct audit_values fresh;
    const struct webhook *any = after != NULL ? after : before;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    (void)snprintf(what, sizeof what, "webhooks/%s", any->name);
    const struct audit_change change = {
        .action = after == NULL ? "webhook.delete" : "webhook.put",
        .root_no = any->root_no,
        .node_no = any->node_no,
        .what = what,
        .before = before == NULL ? NULL : describe(ledger, &old, before),
        .after = after == NULL ? NULL : describe(ledger, &fresh, after),
    };
    audit_change(ledger, &change);
}

/* ---- put, delete */

/* One more that listens. States of thresholds belong to an epoch: those who come when nobody listened begin anew. */
static enum error_code count_webhook(struct ledger *ledger, struct error *err)
{
    alerts_load(ledger);
    if (ledger->alerts.count >= WEBHOOKS_MOST) {
        return error_set(err, ERR_INVALID_STATE, "there are %d webhooks already", WEBHOOKS_MOST);
    }
    if (ledger->alerts.count == 0) {
        (void)row_take_no(ledger->set, "alert_epoch");
    }
    return ERR_OK;
}

static void set_webhook(const struct command_webhook *given,
                        const struct node *node,
                        struct webhook *row)
{
    row->root_no = node->root_no;
    row->node_no = node->node_no;
    row->types = given->types;
    row->disabled = given->disabled;
    row->grant_days = given->grant_days;
    memcpy(row->url, given->url, sizeof row->url);
}

static bool is_same(const struct webhook *a, const struct webhook *b)
{
    return a->node_no == b->node_no && a->types == b->types && a->disabled == b->disabled &&
           a->grant_days == b->grant_days && strcmp(a->url, b->url) == 0;
}

static void make_webhook(struct ledger *ledger,
                         const struct command *command,
                         const struct node *node,
                         struct ledger_result *result)
{
    const struct command_webhook *given = &command->webhook;
    int64_t no = row_take_no(ledger->set, "webhook");
    struct webhook *row = working_set_make(ledger->set, row_find(ledger->set, RECORD_WEBHOOK, no));
    row_add_name(ledger->set, NAMES_WEBHOOK, 0, given->name, no);
    set_webhook(given, node, row);
    row_text(row->name, sizeof row->name, given->name);
    row_text(row->secret, sizeof row->secret, given->secret);
    row->created_ms = admin_now_ms(ledger);
    row->version = 1;
    result->created = true;
    result->webhook = *row;
    audit_webhook(ledger, NULL, row);
}

static enum error_code change_webhook(struct ledger *ledger,
                                      const struct command *command,
                                      const struct node *node,
                                      struct cell *cell,
                                      struct ledger_result *result,
                                      struct error *err)
{
    const struct command_webhook *given = &command->webhook;
    const struct webhook before = *(const struct webhook *)cell_record(cell);
    struct webhook after = before;
    set_webhook(given, node, &after);
    if (is_same(&before, &after) && !given->rotate) {
        result->no_effect = true;
        result->webhook = before;
        return ERR_OK;
    }
    enum error_code code = admin_match(command, before.version, err);
    if (code != ERR_OK) {
        return code;
    }
    if (given->rotate) {
        memcpy(after.old_secret, before.secret, sizeof after.old_secret);
        after.old_until_ms = admin_now_ms(ledger) + OLD_SECRET_MS;
        row_text(after.secret, sizeof after.secret, given->secret);
    }
    after.version++;
    *(struct webhook *)working_set_change(ledger->set, cell) = after;
    result->webhook = after;
    audit_webhook(ledger, &before, &after);
    return ERR_OK;
}

enum error_code admin_put_webhook(struct ledger *ledger,
                                  const struct command *command,
                                  struct ledger_result *ret_result,
                                  struct error *err)
{
    const struct node *node;
    bool seen;
    enum error_code code = find_place(ledger, command, &node, err);
    if (code != ERR_OK) {
        return code;
    }
    struct cell *cell = find_webhook(ledger, command, &seen);
    if (cell != NULL && !seen) {
        return error_set(err, ERR_INVALID_STATE, "the name %s is taken", command->webhook.name);
    }
    const bool is_one_more =
        command->webhook.disabled == 0 &&
        (cell == NULL || ((const struct webhook *)cell_record(cell))->disabled != 0);
    code = is_one_more ? count_webhook(ledger, err) : ERR_OK;
    if (code == ERR_OK && cell == NULL) {
        make_webhook(ledger, command, node, ret_result);
    } else if (code == ERR_OK) {
        code = change_webhook(ledger, command, node, cell, ret_result, err);
    }
    if (code == ERR_OK) {
        ret_result->version = ret_result->webhook.version;
        alerts_changed(ledger);
    }
    return code;
}

enum error_code admin_delete_webhook(struct ledger *ledger,
                                     const struct command *command,
                                     struct ledger_result *ret_result,
                                     struct error *err)
{
    struct cell *cell;
    (void)ret_result;
    enum error_code code = find_own(ledger, command, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct webhook before = *(const struct webhook *)cell_record(cell);
    code = admin_match(command, before.version, err);
    if (code != ERR_OK) {
        return code;
    }
    working_set_remove(ledger->set, cell);
    working_set_remove(ledger->set, row_find_name(ledger->set, NAMES_WEBHOOK, 0, before.name));
    audit_webhook(ledger, &before, NULL);
    alerts_changed(ledger);
    return ERR_OK;
}

/* ---- events of the webhooks' own */

enum error_code admin_test_webhook(struct ledger *ledger,
                                   const struct command *command,
                                   struct ledger_result *ret_result,
                                   struct error *err)
{
    struct cell *cell;
    enum error_code code = find_own(ledger, command, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct webhook *webhook = cell_record(cell);
    const struct alert alert = {
        .type = ALERT_TEST, .root_no = webhook->root_no, .node_no = webhook->node_no};
    alerts_load(ledger);
    ret_result->webhook = *webhook;
    if (alerts_emit(ledger, &alert, webhook->webhook_no) == 0) {
        return error_set(err, ERR_INVALID_STATE, "webhook %s is disabled", webhook->name);
    }
    return ERR_OK;
}

enum error_code admin_raise_alert(struct ledger *ledger,
                                  const struct command *command,
                                  struct ledger_result *ret_result,
                                  struct error *err)
{
    const struct command_alert *given = &command->alert;
    (void)err;
    alerts_load(ledger);
    struct cell *cell = row_find3(ledger->set, RECORD_ALERT_STATE, given->alert.type,
                                  given->subject_no, given->webhook_no);
    const struct alert_state *state = cell_exists(cell) ? cell_record(cell) : NULL;
    bool told = state != NULL && state->epoch == ledger->alerts.epoch && state->level > 0;
    ret_result->no_effect = told != given->clears;
    if (ret_result->no_effect) {
        return ERR_OK;
    }
    struct alert_state *row = working_set_put(ledger->set, cell);
    row->epoch = ledger->alerts.epoch;
    row->level = given->clears ? 0 : 1;
    if (!given->clears) {
        (void)alerts_emit(ledger, &given->alert, given->webhook_no);
    }
    return ERR_OK;
}

static void disable(struct ledger *ledger, int64_t webhook_no)
{
    struct cell *cell = row_find(ledger->set, RECORD_WEBHOOK, webhook_no);
    if (cell_exists(cell) && ((const struct webhook *)cell_record(cell))->disabled == 0) {
        struct webhook *row = working_set_change(ledger->set, cell);
        row->disabled = 1;
        row->version++;
        alerts_changed(ledger);
    }
}

/* One less waits for a webhook, if it is still there. */
static void give_place(struct ledger *ledger, int64_t webhook_no)
{
    struct cell *cell = row_find(ledger->set, RECORD_WEBHOOK, webhook_no);
    if (cell_exists(cell)) {
        ((struct webhook *)working_set_change(ledger->set, cell))->pending--;
    }
}

enum error_code admin_delivered(struct ledger *ledger,
                                const struct command *command,
                                struct ledger_result *ret_result,
                                struct error *err)
{
    const struct command_delivered *given = &command->delivered;
    struct cell *cell = row_find(ledger->set, RECORD_DELIVERY, given->delivery_no);
    (void)err;
    if (!cell_exists(cell) ||
        ((const struct delivery *)cell_record(cell))->state != DELIVERY_PENDING) {
        ret_result->no_effect = true;
        return ERR_OK;
    }
    struct delivery *row = working_set_change(ledger->set, cell);
    if (given->state != DELIVERY_PENDING) {
        give_place(ledger, row->webhook_no);
    }
    row->tries++;
    row->status = given->status;
    row->state = given->state;
    row->next_ms = given->next_ms;
    row->done_ms = given->state == DELIVERY_PENDING ? 0 : admin_now_ms(ledger);
    memcpy(row->error, given->error, sizeof row->error);
    if (given->gone) {
        disable(ledger, row->webhook_no);
    }
    return ERR_OK;
}
