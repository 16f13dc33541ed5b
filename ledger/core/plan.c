/*
 * Filling plans, and the check that one agrees with itself. Pure.
 */
#include "ledger/core/plan.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/check.h"

void plan_reset(struct plan *plan)
{
    plan->hold_changed = false;
    plan->task_changed = false;
    plan->run_changed = false;
    plan->previous_changed = false;
    plan->replaced_changed = false;
    plan->grants_changed[0] = 0;
    plan->grants_changed[1] = 0;
    memset(&plan->delta, 0, offsetof(struct counter_delta, models));
    plan->entry_count = 0;
    plan->usage_count = 0;
    plan->feed_count = 0;
    plan->hold_wait = WAIT_NONE;
    plan->task_wait = WAIT_NONE;
    plan->bound = false;
    plan->dims_changed = false;
    plan->partition[0] = '\0';
    plan->room_freed = false;
    plan->adjustment_made = false;
    plan->replayed = false;
    plan->no_effect = false;
    plan->left = false;
    plan->waits = false;
    plan->run_charged_mcs = 0;
    plan->run_refunded_mcs = 0;
    plan->run_overrun_mcs = 0;
    plan->run_waived_mcs = 0;
    plan->run_expired_mcs = 0;
    plan->requested_mcs = 0;
    plan->requested_mcores = 0;
    plan->requested_s = 0;
    plan->warnings = 0;
    plan->heartbeat = HEARTBEAT_OK;
    plan->violation_count = 0;
}

void plan_feed(struct plan *plan,
               const struct view *view,
               enum feed_type type,
               const char *tasks,
               const char *message)
{
    assert(plan->feed_count < PLAN_FEED);
    struct feed_event *event = &plan->feed[plan->feed_count++];
    event->cluster_no = view->hold.cluster_no;
    event->seq = 0;
    event->type = type;
    event->hold_no = view->hold.hold_no;
    event->at_ms = view->now_ms;
    (void)snprintf(event->tasks, sizeof event->tasks, "%s", tasks);
    (void)snprintf(event->message, sizeof event->message, "%s", message);
}

bool plan_is_beyond(const struct plan *plan)
{
    for (int32_t i = 0; i < plan->violation_count; i++) {
        if (!plan->violations[i].soft && plan->violations[i].beyond) {
            return true;
        }
    }
    return false;
}

bool plan_is_balanced(const struct plan *plan)
{
    int64_t frozen_mcs = 0;
    for (int32_t i = 0; i < plan->entry_count; i++) {
        const struct entry *entry = &plan->entries[i];
        bool same =
            entry->from_part == entry->to_part && entry->from_grant_no == entry->to_grant_no;
        if (entry->amount_mcs <= 0 || same) {
            return false;
        }
        frozen_mcs += entry->to_part == PART_FROZEN ? entry->amount_mcs : 0;
        frozen_mcs -= entry->from_part == PART_FROZEN ? entry->amount_mcs : 0;
    }
    return frozen_mcs == plan->delta.frozen_mcs;
}
