/* Webhooks: settings of leads and finance, what was sent to them, a message to try one (SPEC 4.6). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"
#include "server/api.h"
#include "server/encode.h"
#include "server/encode_settings.h"
#include "server/page.h"
#include "server/rights.h"
#include "server/webhook_event.h"
#include "server/webhook_sign.h"

enum { GRANT_DAYS_DEFAULT = 14, ROWS_GATHERED = 64 };

#define ALL_TYPES (((INT64_C(1) << ALERT__COUNT) - 1) & ~(INT64_C(1) << ALERT_TEST))

/* ---- the path and the body */

enum error_code api_place_webhook(struct request *request,
                                  struct command *command,
                                  struct error *err)
{
    struct command_webhook *webhook = &command->webhook;
    const enum error_code code = request_path_value(request, 0, text_is_node_name, webhook->name,
                                                    sizeof(webhook->name), err);
    if (code != ERR_OK || command->kind != COMMAND_PUT_WEBHOOK) {
        return code;
    }
    webhook->types = ALL_TYPES;
    webhook->grant_days = GRANT_DAYS_DEFAULT;
    return webhook_secret_create(webhook->secret, err);
}

static enum error_code decode_url(const json_t *value,
                                  void *place,
                                  const struct decode_path *path,
                                  struct error *err)
{
    const char *text = NULL;
    const enum error_code code = decode_text(value, path, &text, err);
    if (code != ERR_OK) {
        return code;
    }
    const bool is_web =
        strncasecmp(text, "http://", 7) == 0 || strncasecmp(text, "https://", 8) == 0;
    if (!is_web || strlen(text) > LIMIT_WEBHOOK_URL_BYTES) {
        return decode_refuse(err, ERR_INVALID_FIELD, path,
                             "not an http or https URL of at most %d bytes",
                             LIMIT_WEBHOOK_URL_BYTES);
    }
    for (const char *at = text; *at != '\0'; at++) {
        if (*at <= ' ' || *at >= 0x7f) {
            return decode_refuse(err, ERR_INVALID_FIELD, path, "a character that no URL has");
        }
    }
    memcpy(place, text, strlen(text) + 1);
    return ERR_OK;
}

static const struct decode_field webhook_fields[] = {
    {.name = "node",
     .kind = DECODE_NODE,
     DECODE_AT(struct command, webhook.node),
     .required = true},
    {.name = "url",
     .kind = DECODE_OTHER,
     DECODE_AT(struct command, webhook.url),
     .other = decode_url,
     .required = true},
    {.name = "types",
     .kind = DECODE_CHOICES,
     DECODE_AT(struct command, webhook.types),
     .choices = choices_alert,
     .null_is_absent = true},
    {.name = "grant_days",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command, webhook.grant_days),
     .min = 1,
     .max = LIMIT_GRANT_DAYS},
    {.name = "disabled", .kind = DECODE_SWITCH, DECODE_AT(struct command, webhook.disabled)},
    {.name = "rotate_secret", .kind = DECODE_SWITCH, DECODE_AT(struct command, webhook.rotate)},
};

static const struct decode_table webhook_table = {DECODE_ROWS(webhook_fields)};

enum error_code decode_webhook(const json_t *body, struct command *command, struct error *err)
{
    const enum error_code code = decode_object(body, &webhook_table, command, NULL, err);
    command->webhook.types &= ALL_TYPES; /* a test is sent to everyone */
    return code;
}

/* ---- answers */

static void encode_webhook(struct json_out *out, const struct webhook *webhook, const char *node)
{
    json_out_text(out, "name", webhook->name);
    json_out_text(out, "node", node);
    json_out_text(out, "url", webhook->url);
    encode_choices(out, "types", choices_alert, webhook->types);
    json_out_integer(out, "grant_days", webhook->grant_days);
    json_out_bool(out, "disabled", webhook->disabled != 0);
    json_out_integer(out, "pending", webhook->pending);
    json_out_time_ms(out, "created_at", webhook->created_ms);
}

/* The secret is shown once: when it is new. */
void encode_webhook_answer(struct json_out *out,
                           const struct command *command,
                           const struct ledger_result *result)
{
    const bool is_new = result->created || command->webhook.rotate;
    encode_webhook(out, &result->webhook, command->webhook.node);
    if (is_new && !result->no_effect && !command->dry_run) {
        json_out_text(out, "secret", command->webhook.secret);
    }
}

void encode_test_answer(struct json_out *out,
                        const struct command *command,
                        const struct ledger_result *result)
{
    (void)command;
    json_out_text(out, "name", result->webhook.name);
    json_out_text(out, "type", "corehour.test");
}

static void encode_delivery(struct json_out *out,
                            const struct delivery *delivery,
                            const struct alert *alert)
{
    static const char *const states[] = {
        [DELIVERY_PENDING] = "pending",
        [DELIVERY_DELIVERED] = "delivered",
        [DELIVERY_DEAD] = "dead",
    };
    char id[WEBHOOK_ID_BYTES];
    json_out_object_open(out, NULL);
    json_out_text(out, "id", webhook_event_id(delivery, id));
    json_out_text(out, "type", decode_choice_name(choices_alert, (int)alert->type));
    json_out_text(out, "state", states[delivery->state]);
    json_out_integer(out, "tries", delivery->tries);
    json_out_integer_or_null(out, "status", delivery->status, 0);
    json_out_text_or_null(out, "error", delivery->error);
    json_out_time_ms(out, "created_at", delivery->at_ms);
    json_out_time_ms(out, "next_try_at",
                     delivery->state == DELIVERY_PENDING ? delivery->next_ms : 0);
    json_out_time_ms(out, "done_at", delivery->done_ms);
    json_out_object_close(out);
}

/* ---- reading */

/* Its node's name, where it may be seen. */
static enum error_code see_webhook(struct rights *rights,
                                   struct ledger_reader *reader,
                                   const struct webhook *webhook,
                                   struct node *ret_node,
                                   struct error *err)
{
    const enum error_code code = ledger_read_node_no(reader, webhook->node_no, ret_node, err);
    if (code == ERR_OK && rights_see_node(rights, ret_node, webhook->name, err) != ERR_OK) {
        return error_set(err, ERR_NOT_FOUND, "no webhook"); /* as where there is none */
    }
    return code;
}

static enum error_code read_webhook(struct request *request,
                                    struct ledger_reader *reader,
                                    struct webhook *ret_webhook,
                                    struct node *ret_node,
                                    struct error *err)
{
    struct rights rights;
    const char *name = request->path_values[0];
    if (!text_is_node_name(name)) {
        return error_set(err, ERR_NOT_FOUND, "no webhook has such a name");
    }
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    if (code == ERR_OK) {
        code = ledger_read_webhook(reader, name, ret_webhook, err);
    }
    return code == ERR_OK ? see_webhook(&rights, reader, ret_webhook, ret_node, err) : code;
}

static enum error_code write_webhook(struct request *request,
                                     struct ledger_reader *reader,
                                     struct json_out *out,
                                     struct error *err)
{
    struct webhook webhook;
    struct node node;
    const enum error_code code = read_webhook(request, reader, &webhook, &node, err);
    if (code == ERR_OK) {
        encode_webhook(out, &webhook, node.name);
        request->answer.etag = webhook.version;
    }
    return code;
}

void api_get_webhook(struct request *request)
{
    request_answer_by_reading(request, write_webhook);
}

/* All of them: there are few. */
struct webhook_list {
    size_t count;
    size_t capacity;
    struct webhook *rows; /* owned */
    bool failed;
};

static bool gather_webhook(void *context, const void *record)
{
    struct webhook_list *list = context;
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
        struct webhook *rows = realloc(list->rows, capacity * sizeof(rows[0]));
        if (rows == NULL) {
            list->failed = true;
            return false;
        }
        list->rows = rows;
        list->capacity = capacity;
    }
    list->rows[list->count++] = *(const struct webhook *)record;
    return true;
}

static enum error_code gather_webhooks(struct ledger_reader *reader,
                                       struct webhook_list *list,
                                       struct error *err)
{
    const struct select_args args = {.limit = 0};
    const enum error_code code =
        ledger_read_list(reader, SELECT_WEBHOOKS, &args, gather_webhook, list, err);
    return code == ERR_OK && list->failed ? error_set(err, ERR_UNAVAILABLE, "out of memory") : code;
}

static enum error_code write_webhooks(struct request *request,
                                      struct ledger_reader *reader,
                                      struct json_out *out,
                                      struct error *err)
{
    struct webhook_list list = {.count = 0};
    struct rights rights;
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    if (code == ERR_OK) {
        code = gather_webhooks(reader, &list, err);
    }
    json_out_array_open(out, "items");
    for (size_t i = 0; i < list.count && code == ERR_OK; i++) {
        struct node node;
        struct error unseen;
        if (see_webhook(&rights, reader, &list.rows[i], &node, &unseen) == ERR_OK) {
            json_out_object_open(out, NULL);
            encode_webhook(out, &list.rows[i], node.name);
            json_out_object_close(out);
        }
    }
    json_out_array_close(out);
    page_write_next(out, "webhooks", 0);
    free(list.rows);
    return code;
}

void api_list_webhooks(struct request *request)
{
    request_answer_by_reading(request, write_webhooks);
}

struct gathered {
    struct delivery rows[ROWS_GATHERED];
    size_t count;
};

static bool gather_delivery(void *context, const void *record)
{
    struct gathered *gathered = context;
    gathered->rows[gathered->count++] = *(const struct delivery *)record;
    return gathered->count < ROWS_GATHERED;
}

/* The newest first, from a number down. */
static enum error_code write_rows(struct ledger_reader *reader,
                                  const struct webhook *webhook,
                                  struct page *page,
                                  struct json_out *out,
                                  struct error *err)
{
    struct gathered gathered = {.count = ROWS_GATHERED};
    enum error_code code = ERR_OK;
    int64_t left = page->size;
    while (code == ERR_OK && left > 0 && gathered.count == ROWS_GATHERED) {
        const struct select_args args = {.n = {webhook->webhook_no, page->from},
                                         .limit = ROWS_GATHERED};
        gathered.count = 0;
        code = ledger_read_list(reader, SELECT_DELIVERIES_OF_WEBHOOK, &args, gather_delivery,
                                &gathered, err);
        for (size_t i = 0; i < gathered.count && left > 0 && code == ERR_OK; i++, left--) {
            struct alert alert;
            code = ledger_read_alert(reader, gathered.rows[i].alert_no, &alert, err);
            if (code == ERR_OK) {
                encode_delivery(out, &gathered.rows[i], &alert);
                page->from = gathered.rows[i].delivery_no;
            }
        }
    }
    page->from = left > 0 ? 0 : page->from;
    return code;
}

static enum error_code write_deliveries(struct request *request,
                                        struct ledger_reader *reader,
                                        struct json_out *out,
                                        struct error *err)
{
    struct page page;
    struct webhook webhook;
    struct node node;
    enum error_code code = page_begin(request, "deliveries", &page, err);
    if (code == ERR_OK) {
        code = read_webhook(request, reader, &webhook, &node, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    page.from = page.from > 0 ? page.from : INT64_MAX;
    json_out_array_open(out, "items");
    code = write_rows(reader, &webhook, &page, out, err);
    json_out_array_close(out);
    page_write_next(out, "deliveries", page.from);
    return code;
}

void api_list_deliveries(struct request *request)
{
    request_answer_by_reading(request, write_deliveries);
}
