/*
 * JSON bodies -> struct command for settings: nodes, caps, clusters, mappings, rates, tokens. What the path names
 * is in the command already.
 */
#ifndef SERVER_DECODE_SETTINGS_H
#define SERVER_DECODE_SETTINGS_H

#include <jansson.h>

#include "ledger/core/command.h"
#include "server/decode.h"

/** PUT_NODE and PATCH_NODE by command->node.kind. */
MUST_USE enum error_code decode_node(const json_t *body,
                                     struct command *command,
                                     struct error *err);

/** PUT_CAP by command->cap.cap.kind: core-hours, a count or seconds; null lifts a default (SPEC 1.5, 4.1). */
MUST_USE enum error_code decode_cap(const json_t *body, struct command *command, struct error *err);

/** A cap's name in a path, "month" or "gpus:a100" -> kind and model. False when there is none of this name. */
MUST_USE bool decode_cap_name(const char *name, struct command_cap *cap);

/** PUT_CLUSTER and PATCH_CLUSTER. */
MUST_USE enum error_code decode_cluster(const json_t *body,
                                        struct command *command,
                                        struct error *err);

/** PUT_MAPPING by command->mapping.is_user. */
MUST_USE enum error_code decode_mapping(const json_t *body,
                                        struct command *command,
                                        struct error *err);

/** PUT_RATES; @command is the first member of a struct command_with_rates. */
MUST_USE enum error_code decode_rates(const json_t *body,
                                      struct command *command,
                                      struct error *err);

/** PUT_TOKEN. */
MUST_USE enum error_code decode_token(const json_t *body,
                                      struct command *command,
                                      struct error *err);

#endif
