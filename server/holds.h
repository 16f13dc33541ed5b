/* What readers of holds share: how stale a hold is by its cluster, looked up once while the cluster is the same. */
#ifndef SERVER_HOLDS_H
#define SERVER_HOLDS_H

#include "ledger/ledger.h"

struct holds_view {
    struct ledger_reader *reader;
    int64_t now_s;
    struct cluster cluster; /* of the last hold; cluster_no 0: none yet */
};

/** A run goes on, and nothing was heard of it for the cluster's stale_after_s. */
bool holds_is_stale(struct holds_view *view, const struct ledger_hold *hold);

#endif
