/*
 * What the ledger's own commands write into the audit log: which fields changed, from what to what, under the names that
 * the API has for them. Each is called once by its command, as audit_change() is; where nobody is to be written down it
 * does nothing.
 */
#ifndef LEDGER_AUDIT_DESCRIBE_H
#define LEDGER_AUDIT_DESCRIBE_H

#include "ledger/audit.h"

/* before NULL: it was made; after NULL: it was taken away. Not both. */
void audit_node(struct ledger *ledger, const struct node *before, const struct node *after);
void audit_cap(struct ledger *ledger,
               const struct node *node,
               const char *model,
               const struct cap *before,
               const struct cap *after);
void audit_cluster(struct ledger *ledger,
                   const struct cluster *before,
                   const struct cluster *after);
void audit_mapping(struct ledger *ledger,
                   const struct cluster *cluster,
                   const struct name *before,
                   const struct name *after);
void audit_rates(struct ledger *ledger,
                 const struct cluster *cluster,
                 const struct rate_version *before,
                 const struct rate_version *after);

/** @action "token.make", "token.revoke", "token.rotate". Never the secret nor its hash. */
void audit_token(struct ledger *ledger,
                 const char *action,
                 const struct token *before,
                 const struct token *after);

/** A grant, transfer or withdrawal that was made. */
void audit_movement(struct ledger *ledger, const struct movement *movement);

/** A refund or a correction: ledger->plan.adjustment, with the run in ledger->view. */
void audit_adjustment(struct ledger *ledger);

/** Use that nobody answered for, assigned to a project; the hold made of it in ledger->view. */
void audit_assigned(struct ledger *ledger, const struct command_charge *charge);

#endif
