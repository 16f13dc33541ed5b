/*
 * JSON bodies -> struct command: one field table a command (ledger/core/command.h), for routes, batch lines and
 * events alike. Says nothing about who may send what.
 */
#ifndef SERVER_DECODE_COMMANDS_H
#define SERVER_DECODE_COMMANDS_H

#include <jansson.h>

#include "ledger/core/command.h"
#include "server/decode.h"

/** Bytes of struct command that a kind uses: what command_reset() clears and command_store() needs. */
size_t command_bytes(enum command_kind kind);

/** Empty a command and set its kind. Only command_bytes(kind) of it are touched. */
void command_reset(struct command *command, enum command_kind kind);

/** The command of an `op` of a batch ("freeze", "settle", ...); COMMAND__COUNT when there is none. */
enum command_kind command_kind_of_op(const char *op);

/**
 * Decode the body of a command of the life of a hold or of money (COMMAND_FREEZE .. COMMAND_WITHDRAW).
 *
 * @with_place  the body may also say which hold: `hold`, `cluster`, `job_id`, `job_key`, and its own `op`
 *              (batch lines and events)
 * @command     reset to its kind; fields that the path gave stay
 *
 * Returns ERR_OK, ERR_INVALID_FIELD, or a named bound's own code (SPEC 1.6).
 */
MUST_USE enum error_code decode_command(const json_t *body,
                                        bool with_place,
                                        struct command *command,
                                        struct error *err);

/** The members around the runs of POST /v1/heartbeats: cluster and at; `runs` is the caller's to walk. */
MUST_USE enum error_code decode_heartbeats(const json_t *body,
                                           struct command *command,
                                           struct error *err);

/** One of its runs, into a copy of that command. */
MUST_USE enum error_code decode_heartbeat_run(const json_t *run,
                                              size_t index,
                                              struct command *command,
                                              struct error *err);

/** Whom a charge of the unattributed list is assigned to (SPEC 5.9). */
MUST_USE enum error_code decode_assign(const json_t *body,
                                       struct command *command,
                                       struct error *err);

#endif
