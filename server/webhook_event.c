/* See webhook_event.h. */
#include "server/webhook_event.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/decode_shapes.h"
#include "server/json_out.h"
#include "server/problem.h"

const struct decode_choice choices_alert[] = {
    {"test", ALERT_TEST},
    {"cap_threshold", ALERT_CAP},
    {"grant_threshold", ALERT_GRANT},
    {"overdrawn", ALERT_OVERDRAWN},
    {"grant_ending", ALERT_GRANT_ENDING},
    {"stale_holds", ALERT_STALE},
    {"adapter_silent", ALERT_SILENT},
    {NULL, 0},
};

const char *webhook_event_id(const struct delivery *delivery, char ret_id[WEBHOOK_ID_BYTES])
{
    (void)snprintf(ret_id, WEBHOOK_ID_BYTES, "msg_%" PRIx64 "_%" PRId64, (uint64_t)delivery->at_ms,
                   delivery->delivery_no);
    return ret_id;
}

/* What a data object is written from. */
struct event {
    struct ledger_reader *reader;
    const struct alert *alert;
    const char *webhook;
    struct json_out out;
    struct ledger_node node;
};

static void write_node(struct event *event)
{
    const struct node *node = &event->node.node;
    struct json_out *out = &event->out;
    const bool is_member = node->kind == NODE_MEMBER;
    json_out_text(out, "node", node->name);
    json_out_text(out, "kind", decode_choice_name(choices_node_kind, (int)node->kind));
    if (is_member) {
        json_out_text(out, "project", event->node.parent);
        json_out_text(out, "user", node->name);
    }
}

static enum error_code write_test(struct event *event, struct error *err)
{
    (void)err;
    json_out_text(&event->out, "webhook", event->webhook);
    write_node(event);
    return ERR_OK;
}

static enum error_code write_cap(struct event *event, struct error *err)
{
    const struct alert *alert = event->alert;
    struct json_out *out = &event->out;
    char name[RECORD_NAME_BYTES];
    (void)err;
    write_node(event);
    json_out_text(out, "cap",
                  problem_cap_name((enum cap_kind)alert->cap_kind, "", name, sizeof(name)));
    json_out_integer(out, "threshold_percent", alert->percent);
    json_out_amount(out, "limit", alert->limit_mcs);
    json_out_amount(out, "used", alert->used_mcs);
    json_out_amount(out, "frozen", alert->frozen_mcs);
    json_out_amount(out, "available", alert->limit_mcs - alert->used_mcs - alert->frozen_mcs);
    json_out_time(out, "resets_at", alert->until_s);
    return ERR_OK;
}

static enum error_code write_grant(struct event *event, struct error *err)
{
    const struct alert *alert = event->alert;
    struct json_out *out = &event->out;
    (void)err;
    write_node(event);
    json_out_integer(out, "threshold_percent", alert->percent);
    json_out_amount(out, "granted", alert->limit_mcs);
    json_out_amount(out, "used", alert->used_mcs);
    json_out_amount(out, "frozen", alert->frozen_mcs);
    json_out_amount(out, "available", alert->limit_mcs - alert->used_mcs - alert->frozen_mcs);
    return ERR_OK;
}

static enum error_code write_overdrawn(struct event *event, struct error *err)
{
    (void)err;
    write_node(event);
    json_out_amount(&event->out, "overdraft", event->alert->used_mcs);
    json_out_amount(&event->out, "frozen", event->alert->frozen_mcs);
    return ERR_OK;
}

static enum error_code write_ending(struct event *event, struct error *err)
{
    const struct alert *alert = event->alert;
    struct grant grant;
    const enum error_code code = ledger_read_grant(event->reader, alert->other_no, &grant, err);
    if (code != ERR_OK) {
        return code;
    }
    write_node(event);
    json_out_text(&event->out, "grant", grant.id);
    json_out_amount(&event->out, "available", alert->used_mcs);
    json_out_amount(&event->out, "frozen", alert->frozen_mcs);
    json_out_time(&event->out, "ends_at", alert->until_s);
    return ERR_OK;
}

static enum error_code write_stale(struct event *event, struct error *err)
{
    const struct alert *alert = event->alert;
    struct ledger_hold hold;
    const enum error_code code = ledger_read_hold_no(event->reader, alert->other_no, &hold, err);
    if (code != ERR_OK) {
        return code;
    }
    write_node(event);
    json_out_integer(&event->out, "holds", alert->holds);
    json_out_amount(&event->out, "frozen", alert->frozen_mcs);
    json_out_text(&event->out, "cluster", hold.cluster);
    json_out_text(&event->out, "hold", hold.hold.id);
    json_out_time(&event->out, "last_seen_at", alert->until_s);
    return ERR_OK;
}

static enum error_code write_silent(struct event *event, struct error *err)
{
    char name[RECORD_NAME_BYTES];
    const enum error_code code = ledger_read_name_of(
        event->reader, NAMES_CLUSTER, event->alert->other_no, name, sizeof(name), err);
    if (code == ERR_OK) {
        json_out_text(&event->out, "cluster", name);
        json_out_time(&event->out, "last_seen_at", event->alert->until_s);
    }
    return code;
}

static enum error_code (*const writers[ALERT__COUNT])(struct event *, struct error *) = {
    [ALERT_TEST] = write_test,           [ALERT_CAP] = write_cap,
    [ALERT_GRANT] = write_grant,         [ALERT_OVERDRAWN] = write_overdrawn,
    [ALERT_GRANT_ENDING] = write_ending, [ALERT_STALE] = write_stale,
    [ALERT_SILENT] = write_silent,
};

static enum error_code read_node(struct event *event, struct error *err)
{
    struct node node;
    if (event->alert->node_no == 0) {
        return ERR_OK;
    }
    enum error_code code = ledger_read_node_no(event->reader, event->alert->node_no, &node, err);
    if (code == ERR_OK) {
        code = ledger_read_node_names(event->reader, &node, &event->node, err);
    }
    return code;
}

enum error_code webhook_event_write(struct ledger_reader *reader,
                                    const struct alert *alert,
                                    const char *webhook,
                                    struct buffer *out,
                                    struct error *err)
{
    struct event event = {.reader = reader, .alert = alert, .webhook = webhook};
    const char *type = decode_choice_name(choices_alert, (int)alert->type);
    enum error_code code = read_node(&event, err);
    if (code != ERR_OK || type == NULL) {
        return code != ERR_OK ? code : error_set(err, ERR_INTERNAL, "no such alert");
    }
    json_out_init(&event.out, out, false);
    json_out_object_open(&event.out, NULL);
    json_out_printf(&event.out, "type", "corehour.%s", type);
    json_out_time_ms(&event.out, "timestamp", alert->at_ms);
    json_out_object_open(&event.out, "data");
    code = writers[alert->type](&event, err);
    json_out_object_close(&event.out);
    json_out_object_close(&event.out);
    if (code == ERR_OK && buffer_failure(out) != ERR_OK) {
        code = error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    return code;
}
