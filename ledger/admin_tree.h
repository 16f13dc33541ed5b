/*
 * The tree of nodes: adding, depth, moving, and the rows of those that pay.
 */
#ifndef LEDGER_ADMIN_TREE_H
#define LEDGER_ADMIN_TREE_H

#include "ledger/shell.h"

/** Store a new node: numbers it, names it, sets version and root. parent NULL: a root. Borrowed. */
const struct node *tree_add(struct ledger *ledger,
                            const struct node *node,
                            const struct node *parent);

/** Add a member to a project; named `*`, it holds the default caps. Borrowed. */
const struct node *tree_add_member(struct ledger *ledger,
                                   const struct node *project,
                                   const char *person);

/** ERR_TOO_MANY_LEVELS when nodes `height` deep do not fit below parent. */
enum error_code tree_check_depth(struct ledger *ledger,
                                 const struct node *parent,
                                 int height,
                                 struct error *err);

/** Whether node, with all below it, may go below parent: not below itself, not too deep. */
enum error_code tree_check_move(struct ledger *ledger,
                                const struct node *node,
                                const struct node *parent,
                                struct error *err);

/** Open and waiting tasks at and below a node. */
int64_t tree_open_tasks(struct ledger *ledger, const struct node *node);

/** Whether the node's money allows its funding to change: what pays no longer may have nothing left.
 */
enum error_code tree_check_funding(struct ledger *ledger,
                                   const struct node *before,
                                   const struct node *after,
                                   struct error *err);

/** Let a payer have its overdraft row, and an unlimited one its endless row; an endless row of one
 * that is limited now has ended. */
void tree_ensure_rows(struct ledger *ledger, const struct node *node);

#endif
