/*
 * JSON -> struct command for a version of a rate card. What the path names is in the command already.
 */
#ifndef SERVER_DECODE_RATES_H
#define SERVER_DECODE_RATES_H

#include <jansson.h>

#include "ledger/core/command.h"
#include "server/decode.h"

/** PUT_RATES; @command is the first member of a struct command_with_rates. */
MUST_USE enum error_code decode_rates(const json_t *body,
                                      struct command *command,
                                      struct error *err);

#endif
