/*
 * Bodies from outside: whatever the bytes, parsing and every field table stay within their memory, refuse with a code of
 * the registry, and leave texts that end. The first byte chooses the command.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"
#include "server/decode_caps.h"
#include "server/decode_commands.h"
#include "server/decode_rates.h"
#include "server/decode_settings.h"
#include "server/json_in.h"
#include "tests/fuzz/target.h"

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static enum error_code decode_commands(const json_t *body,
                                       struct command *command,
                                       struct error *err)
{
    return decode_command(body, true, command, err);
}

static enum error_code decode_first_run(const json_t *body,
                                        struct command *command,
                                        struct error *err)
{
    const enum error_code code = decode_heartbeats(body, command, err);
    const json_t *runs = json_object_get(body, "runs");
    return code == ERR_OK && json_array_size(runs) > 0
               ? decode_heartbeat_run(json_array_get(runs, 0), 0, command, err)
               : code;
}

static const struct {
    enum command_kind kind;
    enum error_code (*decode)(const json_t *body, struct command *command, struct error *err);
} targets[] = {
    {COMMAND_FREEZE, decode_commands},     {COMMAND_QUOTE, decode_commands},
    {COMMAND_BIND, decode_commands},       {COMMAND_START, decode_commands},
    {COMMAND_SUSPEND, decode_commands},    {COMMAND_RESIZE, decode_commands},
    {COMMAND_SETTLE, decode_commands},     {COMMAND_RELEASE, decode_commands},
    {COMMAND_CORRECT, decode_commands},    {COMMAND_CHARGE, decode_commands},
    {COMMAND_REFUND, decode_commands},     {COMMAND_GRANT, decode_commands},
    {COMMAND_TRANSFER, decode_commands},   {COMMAND_WITHDRAW, decode_commands},
    {COMMAND_HEARTBEAT, decode_first_run}, {COMMAND_PUT_NODE, decode_node},
    {COMMAND_PATCH_NODE, decode_node},     {COMMAND_PUT_CAP, decode_cap},
    {COMMAND_PUT_CLUSTER, decode_cluster}, {COMMAND_PATCH_CLUSTER, decode_cluster},
    {COMMAND_PUT_MAPPING, decode_mapping}, {COMMAND_PUT_RATES, decode_rates},
    {COMMAND_PUT_TOKEN, decode_token},
};

static void check_refusal(enum error_code code, const struct error *err)
{
    require(code == err->code);
    require(error_http_status(code) >= 400 && error_http_status(code) < 500);
    require(strlen(err->field) <= LIMIT_ERROR_FIELD_BYTES);
    require(text_is_printable(err->detail, strlen(err->detail)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    const size_t target = data[0] % ARRAY_LEN(targets);
    const char *bytes = (const char *)data + 1;
    struct error err = {0};
    CLEANUP(json_in_decref) json_t *body = NULL;
    enum error_code code = json_in_parse(bytes, size - 1, &body, &err);
    if (code != ERR_OK) {
        check_refusal(code, &err);
        return 0;
    }
    CLEANUP(cleanup_free) struct command_with_rates *room = calloc(1, sizeof(*room));
    require(room != NULL);
    struct command *command = &room->command;
    command_reset(command, targets[target].kind);
    if (targets[target].kind == COMMAND_PUT_NODE || targets[target].kind == COMMAND_PATCH_NODE) {
        command->node.kind = (enum node_kind)(data[0] / ARRAY_LEN(targets) % 3);
    } else if (targets[target].kind == COMMAND_PUT_CAP) {
        command->cap.cap.kind = data[0] / ARRAY_LEN(targets) % CAP_FUNDS;
    }
    code = targets[target].decode(body, command, &err);
    if (code != ERR_OK) {
        check_refusal(code, &err);
    }
    return 0;
}
