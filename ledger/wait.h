/*
 * What waits for room (SPEC 5.13): the queue of each root, which limits it holds back, and the passes
 * that promote.
 *
 * The queue is kept in memory per root and read from the store when first needed. Rows are in order
 * of arrival. A pass runs before the next command of the root is decided and at the end of a
 * transaction, whenever room has been freed since the last one: so nothing newer comes first, and a
 * batch comes to the same as its commands one by one.
 */
#ifndef LEDGER_WAIT_H
#define LEDGER_WAIT_H

#include "ledger/shell.h"

/** Tell the view at which limits of its path others wait (waiting_caps, funds_waiting,
 * waiting_ahead). */
void wait_load(struct ledger *ledger);

/** How many wait at the limits in the plan of the view just decided: the most at one of them. */
int64_t wait_ahead(struct ledger *ledger);

/** Carry out plan.hold_wait and plan.task_wait: rows, numbers in the view's hold and task. */
void wait_apply(struct ledger *ledger);

/** Room was freed on the view's path; at any node of a root. */
void wait_wake_path(struct ledger *ledger);
void wait_wake_root(struct ledger *ledger, int64_t root_no);

/** The same at one node: what waits for others there is looked at, and nothing else. */
void wait_wake_node(struct ledger *ledger, int64_t root_no, int64_t node_no);

/** Promote what fits, in order, in a root that has been woken; in all of them. Uses the view and the
 * plan. */
void wait_pass(struct ledger *ledger, int64_t root_no);
void wait_pass_all(struct ledger *ledger);

/** Numbers of hold and task of what waits below a node, for a node that closes. Returns how many, at
 * most `most`; after wait_no `after`. */
struct wait_place {
    int64_t wait_no;
    int64_t hold_no;
    int64_t task; /* -1: the untouched ones */
};
size_t wait_below(struct ledger *ledger,
                  int64_t root_no,
                  int64_t node_no,
                  int64_t after,
                  struct wait_place *places,
                  size_t most);

/** Forget all queues, and what woke them, after a rollback or an abort. Before a mark is set
 * wait_pass_all() has left nothing woken. */
void wait_forget(struct ledger *ledger);

/** For map_init(). */
void waiting_root_destroy(void *value);

#endif
