/*
 * JSON -> struct command for caps, one or many. What the path names is in the command already.
 */
#ifndef SERVER_DECODE_CAPS_H
#define SERVER_DECODE_CAPS_H

#include <jansson.h>

#include "ledger/core/command.h"
#include "server/decode.h"

/** PUT_CAP by command->cap.cap.kind: core-hours, a count or seconds; null lifts a default (SPEC 1.5, 4.1). */
MUST_USE enum error_code decode_cap(const json_t *body, struct command *command, struct error *err);

/**
 * One row of many caps: node, user where it is a member's, cap, and what decode_cap() takes; or remove, for a
 * DELETE_CAP.
 */
MUST_USE enum error_code decode_cap_row(const json_t *row,
                                        struct command *command,
                                        struct error *err);

/** Does a row of many caps remove one? */
bool decode_cap_row_removes(const json_t *row);

/** The member in which a cap's limit stands, by the cap's name: core_hours, limit or limit_s. NULL: no such cap. */
const char *decode_cap_limit_name(const char *cap);

/** A cap's name in a path, "month" or "gpus:a100" -> kind and model. False when there is none of this name. */
MUST_USE bool decode_cap_name(const char *name, struct command_cap *cap);

#endif
