/*
 * JSON bodies -> struct command for settings: nodes, clusters, mappings, tokens. What the path names
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

/** PUT_CLUSTER and PATCH_CLUSTER. */
MUST_USE enum error_code decode_cluster(const json_t *body,
                                        struct command *command,
                                        struct error *err);

/** PUT_MAPPING by command->mapping.is_user. */
MUST_USE enum error_code decode_mapping(const json_t *body,
                                        struct command *command,
                                        struct error *err);

/** PUT_TOKEN. */
MUST_USE enum error_code decode_token(const json_t *body,
                                      struct command *command,
                                      struct error *err);

/** RENAME_PERSON. */
MUST_USE enum error_code decode_rename(const json_t *body,
                                       struct command *command,
                                       struct error *err);

/** ROTATE_TOKEN. */
MUST_USE enum error_code decode_rotation(const json_t *body,
                                         struct command *command,
                                         struct error *err);

#endif
