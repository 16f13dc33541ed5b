/* Staleness is shown, never acted upon (SPEC 5.3: only evidence ends a hold). */
#include "server/holds.h"

bool holds_is_stale(struct holds_view *view, const struct ledger_hold *shown)
{
    const struct hold *hold = &shown->hold;
    if (hold->counts[TASK_RUNNING] + hold->counts[TASK_SUSPENDED] == 0) {
        return false;
    }
    if (view->cluster.cluster_no != hold->cluster_no &&
        ledger_read_cluster(view->reader, shown->cluster, &view->cluster, NULL) != ERR_OK) {
        view->cluster.cluster_no = 0;
        return false;
    }
    return view->now_s - hold->seen_s > view->cluster.stale_after_s;
}
