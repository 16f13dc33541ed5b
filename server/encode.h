/*
 * What the ledger answers -> JSON. Each function writes members into an object that its caller opens and closes;
 * amounts appear as x_mcs and x_core_hours (SPEC 1.3).
 */
#ifndef SERVER_ENCODE_H
#define SERVER_ENCODE_H

#include "ledger/ledger.h"
#include "server/decode.h"
#include "server/json_out.h"

/** The members of a hold that every answer about it has, in the order of docs/api.md. */
void encode_hold(struct json_out *out, const struct ledger_hold *shown);

/** What a read of a hold has beside them: job, resources, time limit, last word. */
void encode_hold_rest(struct json_out *out, const struct ledger_hold *shown, bool is_stale);

/** `warnings` of an accepted command. */
void encode_warnings(struct json_out *out, const struct ledger_result *result);

/** Answers of commands: each a whole object's members. */
void encode_freeze_answer(struct json_out *out,
                          const struct command *command,
                          const struct ledger_result *result);
void encode_verb_answer(struct json_out *out,
                        const struct command *command,
                        const struct ledger_result *result);
void encode_settle_answer(struct json_out *out,
                          const struct command *command,
                          const struct ledger_result *result);
void encode_release_answer(struct json_out *out,
                           const struct command *command,
                           const struct ledger_result *result);
void encode_heartbeat_answer(struct json_out *out,
                             const struct command *command,
                             const struct ledger_result *result);
void encode_refund_answer(struct json_out *out,
                          const struct command *command,
                          const struct ledger_result *result);
void encode_quote_answer(struct json_out *out,
                         const struct command *command,
                         const struct ledger_result *result);
void encode_grant_answer(struct json_out *out,
                         const struct command *command,
                         const struct ledger_result *result);
void encode_transfer_answer(struct json_out *out,
                            const struct command *command,
                            const struct ledger_result *result);
void encode_withdraw_answer(struct json_out *out,
                            const struct command *command,
                            const struct ledger_result *result);

/** A closed month as its close answers: its row, the digest null until it is sealed. */
void encode_close_answer(struct json_out *out,
                         const struct command *command,
                         const struct ledger_result *result);

/** "ok", "ended", "old", "unknown", "stop". */
const char *encode_heartbeat_result(const struct ledger_result *result);

/** A charge that nobody pays for yet (SPEC 5.9). @shown: its cluster, job, resources and models. */
void encode_unattributed(struct json_out *out,
                         const struct unattributed *row,
                         const struct ledger_hold *shown);

/** One attempt of a task, in an object. */
void encode_run(struct json_out *out, const struct run *run);

/** A grant as listed. @node is its payer's name. */
void encode_grant(struct json_out *out, const struct grant *grant, const char *node);

/** A set as an array of names: bit 1 << value for each choice, as DECODE_CHOICES reads it. */
void encode_choices(struct json_out *out,
                    const char *key,
                    const struct decode_choice *choices,
                    int64_t set);

/** The marks of a hold or a run as an array. */
void encode_flags(struct json_out *out, const char *key, int64_t flags);

#endif
