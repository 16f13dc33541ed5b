/*
 * Commands that are not about one hold: money, nodes, caps, clusters, rates, tokens, the clockwork of
 * roots (SPEC 2 to 4, 7.1, 10). Each is one function that decides and carries out.
 *
 * They change the working set as they go: the caller has set a mark and rolls back what is refused or
 * only tried (dry_run).
 */
#ifndef LEDGER_ADMIN_H
#define LEDGER_ADMIN_H

#include "ledger/shell.h"

/** Fills what it has to say in @ret_result (not its error) and returns ERR_OK or the refusal. */
typedef enum error_code (*admin_fn)(struct ledger *ledger,
                                    const struct command *command,
                                    struct ledger_result *ret_result,
                                    struct error *err);

/** The function of a command, or NULL when it is about a hold. */
admin_fn admin_of(enum command_kind kind);

enum error_code admin_grant(struct ledger *,
                            const struct command *,
                            struct ledger_result *,
                            struct error *);
enum error_code admin_transfer(struct ledger *,
                               const struct command *,
                               struct ledger_result *,
                               struct error *);
enum error_code admin_withdraw(struct ledger *,
                               const struct command *,
                               struct ledger_result *,
                               struct error *);
enum error_code admin_end_grant(struct ledger *,
                                const struct command *,
                                struct ledger_result *,
                                struct error *);
enum error_code admin_put_node(struct ledger *,
                               const struct command *,
                               struct ledger_result *,
                               struct error *);
enum error_code admin_put_cap(struct ledger *,
                              const struct command *,
                              struct ledger_result *,
                              struct error *);
enum error_code admin_delete_cap(struct ledger *,
                                 const struct command *,
                                 struct ledger_result *,
                                 struct error *);
enum error_code admin_put_cluster(struct ledger *,
                                  const struct command *,
                                  struct ledger_result *,
                                  struct error *);
enum error_code admin_put_mapping(struct ledger *,
                                  const struct command *,
                                  struct ledger_result *,
                                  struct error *);
enum error_code admin_put_rates(struct ledger *,
                                const struct command *,
                                struct ledger_result *,
                                struct error *);
enum error_code admin_put_token(struct ledger *,
                                const struct command *,
                                struct ledger_result *,
                                struct error *);
enum error_code admin_revoke_token(struct ledger *,
                                   const struct command *,
                                   struct ledger_result *,
                                   struct error *);
enum error_code admin_rename_person(struct ledger *,
                                    const struct command *,
                                    struct ledger_result *,
                                    struct error *);
enum error_code admin_rotate_token(struct ledger *,
                                   const struct command *,
                                   struct ledger_result *,
                                   struct error *);
enum error_code admin_touch_token(struct ledger *,
                                  const struct command *,
                                  struct ledger_result *,
                                  struct error *);
enum error_code admin_turn_month(struct ledger *,
                                 const struct command *,
                                 struct ledger_result *,
                                 struct error *);
enum error_code admin_close(struct ledger *,
                            const struct command *,
                            struct ledger_result *,
                            struct error *);
enum error_code admin_seal(struct ledger *,
                           const struct command *,
                           struct ledger_result *,
                           struct error *);
enum error_code admin_touch_agent(struct ledger *,
                                  const struct command *,
                                  struct ledger_result *,
                                  struct error *);
enum error_code admin_put_webhook(struct ledger *,
                                  const struct command *,
                                  struct ledger_result *,
                                  struct error *);
enum error_code admin_delete_webhook(struct ledger *,
                                     const struct command *,
                                     struct ledger_result *,
                                     struct error *);
enum error_code admin_test_webhook(struct ledger *,
                                   const struct command *,
                                   struct ledger_result *,
                                   struct error *);
enum error_code admin_raise_alert(struct ledger *,
                                  const struct command *,
                                  struct ledger_result *,
                                  struct error *);
enum error_code admin_delivered(struct ledger *,
                                const struct command *,
                                struct ledger_result *,
                                struct error *);
enum error_code admin_overwrite(struct ledger *,
                                const struct command *,
                                struct ledger_result *,
                                struct error *);
enum error_code admin_prune(struct ledger *,
                            const struct command *,
                            struct ledger_result *,
                            struct error *);

/**
 * If-Match of a change (SPEC 10.3): ERR_PRECONDITION_REQUIRED without one, ERR_PRECONDITION_FAILED
 * when @version is another.
 */
enum error_code admin_match(const struct command *command, int64_t version, struct error *err);

/** Release what waits at or below a node that has been closed (SPEC 2.4). */
enum error_code admin_release_waiting(struct ledger *ledger,
                                      const struct node *node,
                                      struct error *err);

/** The time of the ledger for things outside any root, ms. */
int64_t admin_now_ms(const struct ledger *ledger);

/** The cluster's agent was heard: a poll (it then counts as one that polls), or a heartbeat. */
void admin_hear_agent(struct ledger *ledger, struct cell *cell, bool polls);

#endif
