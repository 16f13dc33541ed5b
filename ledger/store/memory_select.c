/*
 * The named selections as filters and orders over plain records: what schema/queries says in SQL,
 * said once more in C. A selection is a full scan, a filter and a sort; nothing is clever here.
 */
#include <string.h>

#include "ledger/store/memory.h"
#include "ledger/store/record_value.h"

typedef bool (*filter_fn)(const struct select_args *args, const void *record);
typedef int (*compare_fn)(const void *a, const void *b);

/* A filter sees its record under its own type. */
#define FILTER(name, type, condition)                                    \
    static bool name(const struct select_args *args, const void *record) \
    {                                                                    \
        const int64_t *n = args->n;                                      \
        const struct type *r = record;                                   \
        (void)n;                                                         \
        return condition;                                                \
    }

static bool is_open(const struct hold *hold)
{
    return hold->counts[TASK_WAITING] + hold->counts[TASK_FROZEN] + hold->counts[TASK_RUNNING] +
               hold->counts[TASK_SUSPENDED] >
           0;
}

static bool any_or(int64_t wanted, int64_t value)
{
    return wanted == 0 || wanted == value;
}

/* Is the key of a run behind the cursor (n[2], n[3], n[4])? */
static bool run_is_after(const struct run *run, const int64_t *n)
{
    if (run->hold_no != n[2]) {
        return run->hold_no > n[2];
    }
    return run->task != n[3] ? run->task > n[3] : run->attempt > n[4];
}

static bool holds(const struct select_args *args, const void *record)
{
    const int64_t *n = args->n;
    const struct hold *r = record;
    return r->hold_no < n[0] && any_or(n[1], r->project_no) && any_or(n[2], r->member_no) &&
           any_or(n[3], r->cluster_no) && any_or(n[4], r->root_no) && (n[5] == 0 || is_open(r));
}

FILTER(grants_of_node, grant, r->node_no == n[0])
FILTER(grants_due, grant, r->ended == 0 && r->end_s <= n[0])
FILTER(grants_starting, grant, r->start_s > n[0] && r->start_s <= n[1])
FILTER(members_of_node, node, r->parent_no == n[0] && r->node_no > n[1])
FILTER(roots, node, r->parent_no == 0)
FILTER(nodes,
       node,
       any_or(n[0], r->root_no) && (n[1] == -1 || (int64_t)r->kind == n[1]) && r->node_no > n[2])
FILTER(holds_by_id, hold_id, strcmp(r->id, args->s[0]) == 0)
FILTER(tasks_of_hold, task, r->hold_no == n[0] && r->task > n[1])
FILTER(runs_of_hold, run, r->hold_no == n[0])
FILTER(runs_of_task, run, r->hold_no == n[0] && r->task == n[1])
FILTER(runs_behind,
       run,
       r->root_no == n[0] && (r->state == TASK_RUNNING || r->state == TASK_SUSPENDED) &&
           r->booked_until_s < n[1] && run_is_after(r, n))
FILTER(holds_due, hold, r->due_s > 0 && r->due_s <= n[0])
FILTER(holds_open, hold, r->project_no == n[0] && is_open(r))
FILTER(waiting, waiting, r->root_no == n[0])
FILTER(feed, feed_event, r->cluster_no == n[0] && r->seq > n[1])
FILTER(entries, entry, r->root_no == n[0] && r->seq > n[1])
FILTER(entries_of_hold,
       entry,
       r->root_no == n[0] && r->hold_no == n[1] && r->seq > n[2] && (n[3] == 0 || r->seq <= n[3]))
FILTER(chain, chain_link, r->root_no == n[0] && r->txn_no > n[1])
FILTER(usage, usage, r->root_no == n[0] && r->month >= n[1] && r->month <= n[2])
FILTER(usage_days, usage, r->root_no == n[0] && r->day >= n[1] && r->day <= n[2])
FILTER(zone, zone_step, r->root_no == n[0])
FILTER(rate_versions, rate_version, r->cluster_no == n[0])
FILTER(rate_rows, rate_row, r->cluster_no == n[0] && r->version == n[1])
FILTER(names, name, r->space == n[0] && r->scope_no == n[1] && strcmp(r->name, args->s[0]) > 0)
FILTER(adjustments, adjustment, r->hold_no == n[0])
FILTER(unattributed, unattributed, r->cluster_no == n[0])
FILTER(run_hosts, run_host, r->hold_no == n[0])
FILTER(audit, audit, r->audit_no > n[0] && r->at_ms >= n[1] && r->at_ms < n[2])
FILTER(audit_root,
       audit,
       r->root_no == n[0] && r->audit_no > n[1] && r->at_ms >= n[2] && r->at_ms < n[3])
FILTER(grants_of_root, grant, r->root_no == n[0])
FILTER(payer_months, payer_month, r->node_no == n[0])
FILTER(payer_months_after, payer_month, r->root_no == n[0] && r->month > n[1])
FILTER(periods, period, r->root_no == n[0])
FILTER(close_grants, close_grant, r->root_no == n[0] && r->month == n[1])
FILTER(close_payers, close_payer, r->root_no == n[0] && r->month == n[1])
FILTER(chain_notes, chain_note, r->root_no == n[0] && r->txn_no > n[1])

static bool runs_settled(const struct select_args *args, const void *record)
{
    const int64_t *n = args->n;
    const struct run *r = record;
    const int64_t after[] = {0, 0, n[3], n[4], n[5]};
    return r->state == TASK_SETTLED && any_or(n[0], r->root_no) && r->ended_s > n[1] &&
           r->started_s < n[2] && run_is_after(r, after);
}

FILTER(deliveries_due,
       delivery,
       r->state == DELIVERY_PENDING && r->webhook_no == n[0] && r->next_ms <= n[1])
FILTER(deliveries_pending, delivery, r->state == DELIVERY_PENDING && r->webhook_no > n[0])
FILTER(deliveries_done, delivery, r->state != DELIVERY_PENDING && r->done_ms <= n[0])
FILTER(tokens_of_id, token, strcmp(r->id, args->s[0]) == 0)
FILTER(tokens_over, token, r->expires_s > 0 && r->expires_s <= n[0])
FILTER(deliveries_of_webhook, delivery, r->webhook_no == n[0] && r->delivery_no < n[1])
FILTER(alert_states, alert_state, r->type == n[0])

static int order(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* By one field, then by the number of the record; both ascending. */
#define COMPARE(name, type, field, number)                       \
    static int name(const void *a, const void *b)                \
    {                                                            \
        const struct type *x = a;                                \
        const struct type *y = b;                                \
        int first = order(x->field, y->field);                   \
        return first != 0 ? first : order(x->number, y->number); \
    }

COMPARE(by_end, grant, end_s, grant_no)
COMPARE(by_start, grant, start_s, grant_no)
COMPARE(by_due, hold, due_s, hold_no)
COMPARE(by_month, payer_month, month, node_no)
COMPARE(by_next, delivery, next_ms, delivery_no)
COMPARE(by_done, delivery, done_ms, delivery_no)

static int by_webhook(const void *a, const void *b)
{
    int first =
        order(((const struct delivery *)a)->webhook_no, ((const struct delivery *)b)->webhook_no);
    return first != 0 ? first : by_next(a, b);
}

static int by_delivery_descending(const void *a, const void *b)
{
    return order(((const struct delivery *)b)->delivery_no,
                 ((const struct delivery *)a)->delivery_no);
}

static int by_token_no(const void *a, const void *b)
{
    int first = order(((const struct token *)a)->token_no, ((const struct token *)b)->token_no);
    return first != 0 ? first : record_key_compare(&record_types[RECORD_TOKEN], a, b);
}

static int by_expiry(const void *a, const void *b)
{
    int first = order(((const struct token *)a)->expires_s, ((const struct token *)b)->expires_s);
    return first != 0 ? first : record_key_compare(&record_types[RECORD_TOKEN], a, b);
}

static int by_hold_descending(const void *a, const void *b)
{
    return order(((const struct hold *)b)->hold_no, ((const struct hold *)a)->hold_no);
}

static int by_frozen_descending(const void *a, const void *b)
{
    const struct hold *x = a;
    const struct hold *y = b;
    int first = order(y->frozen_mcs, x->frozen_mcs);
    return first != 0 ? first : order(x->hold_no, y->hold_no);
}

/* No filter: every record. No order: by key. */
static const struct {
    filter_fn filter;
    compare_fn compare;
} rules[SELECT__COUNT] = {
    [SELECT_GRANTS_OF_NODE] = {grants_of_node, by_end},
    [SELECT_GRANTS_DUE] = {grants_due, by_end},
    [SELECT_GRANTS_STARTING] = {grants_starting, by_start},
    [SELECT_MEMBERS_OF_NODE] = {members_of_node, NULL},
    [SELECT_ROOTS] = {roots, NULL},
    [SELECT_NODES] = {nodes, NULL},
    [SELECT_HOLDS_BY_ID] = {holds_by_id, NULL},
    [SELECT_TASKS_OF_HOLD] = {tasks_of_hold, NULL},
    [SELECT_RUNS_OF_HOLD] = {runs_of_hold, NULL},
    [SELECT_RUNS_OF_TASK] = {runs_of_task, NULL},
    [SELECT_RUNS_BEHIND] = {runs_behind, NULL},
    [SELECT_HOLDS_DUE] = {holds_due, by_due},
    [SELECT_HOLDS] = {holds, by_hold_descending},
    [SELECT_HOLDS_OF_PROJECT] = {holds, by_hold_descending},
    [SELECT_HOLDS_STILL_OPEN] = {holds, by_hold_descending},
    [SELECT_HOLDS_OPEN] = {holds_open, by_frozen_descending},
    [SELECT_WAITING] = {waiting, NULL},
    [SELECT_FEED] = {feed, NULL},
    [SELECT_ENTRIES] = {entries, NULL},
    [SELECT_ENTRIES_OF_HOLD] = {entries_of_hold, NULL},
    [SELECT_CHAIN] = {chain, NULL},
    [SELECT_USAGE] = {usage, NULL},
    [SELECT_USAGE_DAYS] = {usage_days, NULL},
    [SELECT_ZONE] = {zone, NULL},
    [SELECT_RATE_VERSIONS] = {rate_versions, NULL},
    [SELECT_RATE_ROWS] = {rate_rows, NULL},
    [SELECT_NAMES] = {names, NULL},
    [SELECT_TOKENS] = {NULL, by_token_no},
    [SELECT_TOKENS_OF_ID] = {tokens_of_id, NULL},
    [SELECT_TOKENS_OVER] = {tokens_over, by_expiry},
    [SELECT_ADJUSTMENTS] = {adjustments, NULL},
    [SELECT_UNATTRIBUTED] = {unattributed, NULL},
    [SELECT_RUN_HOSTS] = {run_hosts, NULL},
    [SELECT_AUDIT] = {audit, NULL},
    [SELECT_GRANTS_OF_ROOT] = {grants_of_root, NULL},
    [SELECT_PAYER_MONTHS] = {payer_months, NULL},
    [SELECT_PAYER_MONTHS_AFTER] = {payer_months_after, by_month},
    [SELECT_PERIODS] = {periods, NULL},
    [SELECT_CLOSE_GRANTS] = {close_grants, NULL},
    [SELECT_CLOSE_PAYERS] = {close_payers, NULL},
    [SELECT_CHAIN_NOTES] = {chain_notes, NULL},
    [SELECT_AUDIT_ROOT] = {audit_root, NULL},
    [SELECT_RUNS_SETTLED] = {runs_settled, NULL},
    [SELECT_DELIVERIES_DUE] = {deliveries_due, by_next},
    [SELECT_DELIVERIES_PENDING] = {deliveries_pending, by_webhook},
    [SELECT_DELIVERIES_DONE] = {deliveries_done, by_done},
    [SELECT_DELIVERIES_OF_WEBHOOK] = {deliveries_of_webhook, by_delivery_descending},
    [SELECT_ALERT_STATES] = {alert_states, NULL},
};

bool memory_select_matches(enum select_kind select,
                           const struct select_args *args,
                           const void *record)
{
    filter_fn filter = rules[select].filter;
    return filter == NULL || filter(args, record);
}

int memory_select_compare(enum select_kind select, const void *a, const void *b)
{
    compare_fn compare = rules[select].compare;
    if (compare != NULL) {
        return compare(a, b);
    }
    return record_key_compare(&record_types[select_types[select].record], a, b);
}
