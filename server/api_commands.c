/*
 * One command a request: place (what the path says), decode (what the body says), queue; and when the ledger has
 * answered, encode. What differs between routes stands in their rows (struct route_command).
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/clock.h"
#include "ledger/base/log.h"
#include "ledger/base/text.h"
#include "ledger/base/uuid.h"
#include "server/api.h"
#include "server/decode_caps.h"
#include "server/decode_commands.h"
#include "server/json_in.h"
#include "server/service.h"

enum {
    NS_PER_MS = 1000000,
    SLOTS_KEPT = 512, /* for reuse; a few MiB */
};

/* ---- slots */

static struct command *slot_command(struct command_slot *slot)
{
    return slot->with_rates != NULL ? &slot->with_rates->command : &slot->command;
}

/* A free slot, or a new one: they are too large to be allocated for every request. */
static struct command_slot *slot_take(struct service *service)
{
    struct command_slot *slot = service->free_slots;
    if (slot == NULL) {
        return malloc(sizeof(*slot));
    }
    service->free_slots = slot->next;
    service->free_slot_count--;
    return slot;
}

static struct command_slot *slot_create(struct request *request, enum command_kind kind)
{
    struct command_slot *slot = slot_take(request->service);
    if (slot == NULL) {
        return NULL;
    }
    memset(slot, 0, offsetof(struct command_slot, command));
    slot->request = request;
    if (kind == COMMAND_PUT_RATES) {
        slot->with_rates = calloc(1, sizeof(*slot->with_rates));
        if (slot->with_rates == NULL) {
            command_slot_release(slot);
            return NULL;
        }
    }
    struct command *command = slot_command(slot);
    command_reset(command, kind);
    slot->commands[0] = command;
    slot->item.work = (struct ledger_work){
        .commands = slot->commands,
        .results = &slot->result,
        .count = 1,
    };
    return slot;
}

void command_slot_release(struct command_slot *slot)
{
    if (slot == NULL) {
        return;
    }
    struct service *service = slot->request->service;
    ledger_result_fini(&slot->result);
    free(slot->with_rates);
    if (service->free_slot_count >= SLOTS_KEPT) {
        free(slot);
        return;
    }
    slot->next = service->free_slots;
    service->free_slots = slot;
    service->free_slot_count++;
}

/* ---- what the path says */

enum error_code api_place_none(struct request *request, struct command *command, struct error *err)
{
    (void)request, (void)command, (void)err;
    return ERR_OK;
}

enum error_code api_place_hold(struct request *request, struct command *command, struct error *err)
{
    const char *id = request->path_values[0];
    if (!text_is_id(id)) {
        return error_set(err, ERR_UNKNOWN_HOLD, "no hold has such an id");
    }
    memcpy(command->hold, id, strlen(id) + 1);
    return ERR_OK;
}

enum error_code api_place_job(struct request *request, struct command *command, struct error *err)
{
    const enum error_code code = api_place_cluster(request, command, err);
    if (code != ERR_OK) {
        return code;
    }
    return request_path_value(request, 1, text_is_id, command->job_id, sizeof(command->job_id),
                              err);
}

enum error_code api_place_node(struct request *request, struct command *command, struct error *err)
{
    struct command_node *node = &command->node;
    node->kind = request->route->node;
    if (node->kind != NODE_MEMBER) {
        return request_path_value(request, 0, text_is_node_name, node->name, sizeof(node->name),
                                  err);
    }
    const enum error_code code =
        request_path_value(request, 0, text_is_node_name, node->parent, sizeof(node->parent), err);
    if (code != ERR_OK) {
        return code;
    }
    return request_path_value(request, 1, text_is_name, node->name, sizeof(node->name), err);
}

enum error_code api_place_cap(struct request *request, struct command *command, struct error *err)
{
    struct command_cap *cap = &command->cap;
    cap->kind = request->route->node;
    size_t last = 0;
    enum error_code code = ERR_OK;
    if (cap->kind == NODE_MEMBER) {
        code = request_path_value(request, 0, text_is_node_name, cap->project, sizeof(cap->project),
                                  err);
        last = 1;
    }
    if (code == ERR_OK) {
        bool (*const is_of_form)(const char *) = last == 1 ? text_is_name : text_is_node_name;
        code = request_path_value(request, last, is_of_form, cap->node, sizeof(cap->node), err);
    }
    if (code != ERR_OK) {
        return code;
    }
    if (!decode_cap_name(request->path_values[last + 1], cap)) {
        return error_set(err, ERR_NOT_FOUND, "no cap has this name");
    }
    return ERR_OK;
}

enum error_code api_place_cluster(struct request *request,
                                  struct command *command,
                                  struct error *err)
{
    return request_path_value(request, 0, text_is_node_name, command->cluster,
                              sizeof(command->cluster), err);
}

static enum error_code place_mapping(struct request *request,
                                     bool is_user,
                                     struct command *command,
                                     struct error *err)
{
    struct command_mapping *mapping = &command->mapping;
    mapping->is_user = is_user;
    const enum error_code code = api_place_cluster(request, command, err);
    if (code != ERR_OK) {
        return code;
    }
    return request_path_value(request, 1, text_is_name, mapping->name, sizeof(mapping->name), err);
}

enum error_code api_place_account(struct request *request,
                                  struct command *command,
                                  struct error *err)
{
    return place_mapping(request, false, command, err);
}

enum error_code api_place_user(struct request *request, struct command *command, struct error *err)
{
    return place_mapping(request, true, command, err);
}

/* A positive decimal number of at most 9 digits. */
static bool text_is_version(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits <= 9 && text[digits] == '\0' && text[0] != '0';
}

enum error_code api_place_rates(struct request *request, struct command *command, struct error *err)
{
    char version[10];
    enum error_code code = api_place_cluster(request, command, err);
    if (code == ERR_OK) {
        code = request_path_value(request, 1, text_is_version, version, sizeof(version), err);
    }
    if (code == ERR_OK) {
        ((struct command_with_rates *)(void *)command)->rates.version.version =
            strtoll(version, NULL, 10);
    }
    return code;
}

enum error_code api_place_person(struct request *request,
                                 struct command *command,
                                 struct error *err)
{
    struct command_rename *rename = &command->rename;
    return request_path_value(request, 0, text_is_name, rename->person, sizeof(rename->person),
                              err);
}

/* The secret is made here; the ledger gets its digest, the client gets the secret once. */
enum error_code api_place_new_token(struct request *request,
                                    struct command *command,
                                    struct error *err)
{
    struct token *token = &command->token.token;
    char uuid[UUID_TEXT_BYTES];
    enum error_code code = uuid_v7_create(request->now_ms, uuid, err);
    if (code == ERR_OK) {
        memcpy(token->id, "t-", 2);
        memcpy(token->id + 2, uuid, sizeof(uuid));
        token->created_ms = request->now_ms;
        code = auth_token_create(request->slot->token, &token->hash, err);
    }
    return code;
}

enum error_code api_place_unattributed(struct request *request,
                                       struct command *command,
                                       struct error *err)
{
    struct command_charge *charge = &command->charge;
    const enum error_code code = api_place_cluster(request, command, err);
    return code != ERR_OK
               ? code
               : request_path_value(request, 1, text_is_id, charge->id, sizeof(charge->id), err);
}

enum error_code api_place_rotated_token(struct request *request,
                                        struct command *command,
                                        struct error *err)
{
    command->token.old_valid_s = LIMIT_OLD_TOKEN_DEFAULT_S;
    enum error_code code = api_place_token(request, command, err);
    if (code == ERR_OK) {
        code = auth_token_create(request->slot->token, &command->token.token.hash, err);
    }
    return code;
}

enum error_code api_place_token(struct request *request, struct command *command, struct error *err)
{
    struct token *token = &command->token.token;
    return request_path_value(request, 0, text_is_id, token->id, sizeof(token->id), err);
}

/* ---- what the body and the headers say */

enum error_code api_decode_body(const json_t *body, struct command *command, struct error *err)
{
    return decode_command(body, false, command, err);
}

/* `"7"` -> version 7, `*` -> any. A weak tag never matches (RFC 9110 13.1.1). */
enum error_code api_read_if_match(const struct request *request,
                                  struct command *command,
                                  struct error *err)
{
    const char *text = request->headers.if_match;
    if (text == NULL) {
        return ERR_OK;
    }
    if (strcmp(text, "*") == 0) {
        command->if_match = MATCH_ANY;
        return ERR_OK;
    }
    const bool is_weak = strncmp(text, "W/", 2) == 0;
    const char *tag = is_weak ? text + 2 : text;
    const size_t bytes = strlen(tag);
    if (bytes < 2 || tag[0] != '"' || tag[bytes - 1] != '"') {
        return error_set_field(err, ERR_MALFORMED, "If-Match", "neither one ETag nor *");
    }
    char *end;
    const long long version = strtoll(tag + 1, &end, 10);
    const bool is_ours = !is_weak && end == tag + bytes - 1;
    command->if_match = MATCH_VERSION;
    command->if_version = is_ours ? version : -1;
    return ERR_OK;
}

enum error_code api_command_begin(struct request *request,
                                  const struct route_command *row,
                                  struct command **ret_command,
                                  struct error *err)
{
    struct command_slot *slot = slot_create(request, row->kind);
    if (slot == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    request->slot = slot;
    request->row = row;
    struct command *command = slot_command(slot);
    command->dry_run = request->dry_run;
    command->role = request->principal.role;
    command->place_no = request->principal.place_no;
    slot->item.work.actor = command_is_audited(row->kind) ? request_actor(request) : NULL;
    *ret_command = command;
    const enum error_code code =
        idempotency_check(request->service->idempotency, request, &slot->key, err);
    return code == ERR_OK ? api_read_if_match(request, command, err) : code;
}

static enum error_code decode_body(const struct request *request,
                                   struct command *command,
                                   struct error *err)
{
    if (request->row->decode == NULL) {
        return ERR_OK;
    }
    CLEANUP(json_in_decref) json_t *body = NULL;
    char place[sizeof(command->cluster)];
    memcpy(place, command->cluster, sizeof(place));
    enum error_code code = request_parse_body(request, &body, err);
    if (code == ERR_OK) {
        code = request->row->decode(body, command, err);
    }
    if (code == ERR_OK && place[0] != '\0' && strcmp(place, command->cluster) != 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "cluster", "the path says cluster %s",
                               place);
    }
    return code;
}

static enum error_code make_command(struct request *request, struct error *err)
{
    struct command *command;
    enum error_code code = api_command_begin(request, request->route->command, &command, err);
    if (code == ERR_OK) {
        code = request->row->place(request, command, err);
    }
    return code == ERR_OK ? decode_body(request, command, err) : code;
}

/* ---- back from the ledger */

void api_count_result(struct metrics *metrics, const struct ledger_result *result)
{
    if (result->error.code == ERR_OK) {
        metrics_add(metrics, METRIC_COMMANDS_ACCEPTED, 1);
        metrics_add(metrics, METRIC_COMMANDS_REPLAYED, result->replayed);
        metrics_add(metrics, METRIC_FREEZES_WAITING, result->waiting);
    }
}

uint16_t api_status_of(const struct route_command *row, const struct ledger_result *result)
{
    if (result->waiting) {
        return 202;
    }
    if (row->status != 0) {
        return row->status;
    }
    return result->created ? 201 : 200;
}

/* A quote that would be refused is an answer, not a refusal. */
bool api_is_answer(const struct command *command, const struct ledger_result *result)
{
    return result->error.code == ERR_OK ||
           (command->kind == COMMAND_QUOTE && result->refusal != NULL);
}

static void encode_accepted(struct request *request, const struct command *command)
{
    const struct route_command *row = request->row;
    const struct ledger_result *result = &request->slot->result;
    struct json_out out;
    request_answer_begin(request, api_status_of(row, result), &out);
    json_out_object_open(&out, NULL);
    row->encode(&out, command, result);
    if (request->slot->token[0] != '\0' && !command->dry_run) {
        json_out_text(&out, "token", request->slot->token);
    }
    json_out_object_close(&out);
    request->answer.is_replayed = result->replayed;
    request->answer.etag = row->has_etag ? result->version : 0;
    if (row->makes_hold) {
        static const char path[] = "/v1/holds/";
        char *location = request->slot->location;
        memcpy(location, path, sizeof(path));
        memcpy(location + sizeof(path) - 1, result->hold.hold.id, RECORD_ID_BYTES);
        request->answer.location = location;
    }
    request_answer_end(request);
}

/* On the HTTP loop. */
static bool answer_command(struct request *request)
{
    struct command_slot *slot = request->slot;
    const struct command *command = slot_command(slot);
    api_count_result(request->service->metrics, &slot->result);
    if (slot->result.error.code == ERR_OK && !command->dry_run) {
        idempotency_keep(request->service->idempotency, &slot->key);
    }
    if (request->answer.is_ready) {
        return true; /* written by row->read */
    }
    if (!api_is_answer(command, &slot->result)) {
        request_refuse_quota(request, &slot->result.error, slot->result.refusal);
    } else if (request->row->encode == NULL) {
        request_answer_empty(request, request->row->status);
    } else {
        encode_accepted(request, command);
    }
    return true;
}

/* On a reader thread: who holds most, and when it would fit, within what is left of the time for it (SPEC 6.4). */
static void explain(struct request *request, struct ledger_reader *reader)
{
    const int64_t waited_ms = (clock_mono_ns() - request->job.queued_ns) / NS_PER_MS;
    const int64_t left_ms = LIMIT_HOLDERS_MS - waited_ms;
    if (left_ms > 0) {
        ledger_explain(reader, request->slot->result.refusal, request->now_ms, left_ms);
    }
}

/* On a reader thread: there was no memory for a token. */
static void reload_tokens(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    if (auth_reload(request->service->auth, reader, request->now_ms, &err) != ERR_OK) {
        log_event(LOG_ERROR, "tokens_not_reloaded", log_text("detail", err.detail));
    }
}

/* From now on the new token is known, or the old one is not. False: all are to be read again. */
static bool follow_tokens(struct request *request)
{
    const struct command *command = slot_command(request->slot);
    const struct ledger_result *result = &request->slot->result;
    const bool is_made = command->kind == COMMAND_PUT_TOKEN;
    if (result->error.code != ERR_OK || command->dry_run || result->no_effect) {
        return true;
    }
    if (is_made || command->kind == COMMAND_REVOKE_TOKEN || command->kind == COMMAND_ROTATE_TOKEN) {
        return auth_take(request->service->auth, &result->token, is_made, request->now_ms);
    }
    return true;
}

/* On the ledger thread, after the commit. */
static void command_done(struct batch_item *item)
{
    struct command_slot *slot = (struct command_slot *)(void *)item;
    struct request *request = slot->request;
    struct error err;
    void (*read)(struct request *, struct ledger_reader *) = NULL;
    if (slot->result.refusal != NULL) {
        read = explain;
    } else if (!follow_tokens(request)) {
        read = reload_tokens;
    }
    const bool is_long = read == NULL && slot->result.error.code == ERR_OK &&
                         request->row->read != NULL &&
                         request_read_long(request, request->row->read, &err) == ERR_OK;
    if (is_long) {
        return;
    }
    if (read == NULL || request_read(request, read, &err) != ERR_OK) {
        http_finish_later(request->http,
                          request); /* the batch's end wakes the loop, once for all */
    }
}

void api_command_submit(struct request *request)
{
    struct error err;
    request->finish = answer_command;
    request->is_pending = true;
    request->is_short = true;
    request->slot->item.done = command_done;
    if (batcher_submit(request->service->batcher, &request->slot->item, &err) != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}

void api_command(struct request *request)
{
    struct error err;
    if (make_command(request, &err) != ERR_OK) {
        request_refuse(request, &err);
        return;
    }
    api_command_submit(request);
}

void api_rename_person(struct request *request)
{
    struct error err;
    enum error_code code = make_command(request, &err);
    if (code == ERR_OK) {
        request->finish = answer_command;
        request->is_pending = true;
        code = request_read_long(request, api_read_rename, &err);
    }
    if (code != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}

/* ---- commands of the service itself */

struct quiet_slot {
    struct batch_item item;
    const struct command *commands[1];
    struct ledger_result result;
    struct command command;
};

static void quiet_done(struct batch_item *item)
{
    struct quiet_slot *slot = (struct quiet_slot *)(void *)item;
    if (slot->result.error.code != ERR_OK) {
        log_event(LOG_DEBUG, "quiet_command_refused", log_int("command", slot->command.kind),
                  log_text("detail", slot->result.error.detail));
    }
    ledger_result_fini(&slot->result);
    free(slot);
}

void api_send_quietly(struct service *service, const struct command *command)
{
    struct quiet_slot *slot = calloc(1, sizeof(*slot));
    if (slot == NULL) {
        return;
    }
    slot->command = *command;
    slot->commands[0] = &slot->command;
    slot->item.work = (struct ledger_work){
        .commands = slot->commands,
        .results = &slot->result,
        .count = 1,
    };
    slot->item.done = quiet_done;
    struct error err;
    if (batcher_submit(service->batcher, &slot->item, &err) != ERR_OK) {
        free(slot);
    }
}
