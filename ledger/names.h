/*
 * From the names in a command to numbers, within what the asker may see (SPEC 2.2, 6.2, 10.2).
 *
 * An unseen place answers as one that does not exist.
 */
#ifndef LEDGER_NAMES_H
#define LEDGER_NAMES_H

#include "ledger/shell.h"

/**
 * The cluster that a command is about: the one it names, else that of a scheduler's token.
 *
 * ERR_UNKNOWN_CLUSTER when there is no such cluster or none is named, ERR_NOT_FOUND when a scheduler
 * names another one than its own.
 */
MUST_USE enum error_code names_cluster(struct ledger *ledger,
                                       const struct command *command,
                                       struct cell **ret_cell,
                                       struct error *err);

/** A cluster by name, for administration. ERR_NOT_FOUND. */
MUST_USE enum error_code names_cluster_by_name(struct ledger *ledger,
                                               const char *name,
                                               struct cell **ret_cell,
                                               struct error *err);

/** The project that an account means on a cluster: a mapping's, else the one of that name, if its
 * root is served. ERR_UNKNOWN_ACCOUNT. */
MUST_USE enum error_code names_account(struct ledger *ledger,
                                       const struct cluster *cluster,
                                       const char *account,
                                       const struct node **ret_project,
                                       struct error *err);

/** The person that a user name means on a cluster; borrowed. */
const char *names_person(struct ledger *ledger, const struct cluster *cluster, const char *user);

/** An organization or project by name. ERR_NOT_FOUND when there is none of that kind (or of either,
 * with NODE_MEMBER). */
MUST_USE enum error_code names_node(struct ledger *ledger,
                                    enum node_kind kind,
                                    const char *name,
                                    struct cell **ret_cell,
                                    struct error *err);

/**
 * The same, of those that the asker sees; what he does not see answers as one that does not exist. @field: of the
 * body, or NULL.
 */
MUST_USE enum error_code names_seen_node(struct ledger *ledger,
                                         const struct command *command,
                                         enum node_kind kind,
                                         const char *name,
                                         struct cell **ret_cell,
                                         struct error *err);

/** Whether a node lies below the asker's place and is not the place itself: where a lead may change things (SPEC 10.1).
 * True for those who are not leads. @node has been seen. */
bool names_is_below_place(const struct command *command, const struct node *node);

/**
 * Whether a quote may be asked for: of any member of a project that the asker sees, of a member for himself
 * (SPEC 10.1).
 *
 * @project  what the account leads to; NULL: nothing
 * @person   whom the user name means
 *
 * ERR_NOT_FOUND for a project that is not seen, as if there were none; ERR_NOT_ALLOWED for another person of one's own
 * project. Admins and schedulers are not asked: ERR_OK.
 */
MUST_USE enum error_code names_check_quote(struct ledger *ledger,
                                           const struct command *command,
                                           const struct node *project,
                                           const char *person,
                                           struct error *err);

/** A member's cell by person and project; NULL when there is none. */
struct cell *names_member(struct ledger *ledger, int64_t project_no, const char *person);

/** Whether the asker may see a node: it lies at or below his place; a scheduler sees the roots that
 * its cluster serves. */
bool names_node_is_seen(struct ledger *ledger,
                        const struct command *command,
                        const struct node *node);

/**
 * The hold that a verb is about: by hold_no (the clockwork), by id, by job_key or by job_id.
 *
 * ERR_UNKNOWN_HOLD when there is none or the asker does not see it, ERR_AMBIGUOUS_ID when several
 * clusters know the id, ERR_UNKNOWN_CLUSTER or ERR_NOT_FOUND as names_cluster().
 */
MUST_USE enum error_code names_hold(struct ledger *ledger,
                                    const struct command *command,
                                    struct cell **ret_cell,
                                    struct error *err);

/** Number the models of a command's resources; new models get numbers from the sequence on, which
 * are stored only by names_store_models(). */
void names_resources(struct ledger *ledger,
                     const struct command_resources *given,
                     struct resources *ret_resources);
void names_store_models(struct ledger *ledger);

#endif
