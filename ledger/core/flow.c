/* See flow.h. Pure. */
#include "ledger/core/flow.h"

#include <string.h>

#include "ledger/base/amount.h"

static bool is_balance(enum account_part part)
{
    return part == PART_AVAILABLE || part == PART_FROZEN;
}

bool flow_is_moved(const struct entry *entry)
{
    return entry->kind == ENTRY_TRANSFER || !is_balance(entry->from_part) ||
           !is_balance(entry->to_part);
}

/* The line of use that an entry belongs to, and its sign there: what comes into `used` is more use. */
static int64_t *use_line(struct payer_flow *flow, const struct entry *entry, bool to, int *ret_sign)
{
    *ret_sign = to ? 1 : -1;
    if (entry->kind == ENTRY_REFUND) {
        *ret_sign = -*ret_sign;
        return &flow->refunded_mcs;
    }
    bool late = entry->kind == ENTRY_CORRECT || entry->period < entry->month;
    return late ? &flow->corrected_mcs : &flow->used_mcs;
}

/* The line of an entry's end; NULL where that end is no flow. */
static int64_t *line_of(struct payer_flow *flow, const struct entry *entry, bool to, int *ret_sign)
{
    enum account_part part = to ? entry->to_part : entry->from_part;
    enum account_part other = to ? entry->from_part : entry->to_part;
    *ret_sign = 1;
    if (entry->kind == ENTRY_TRANSFER) {
        return to ? &flow->in_mcs : &flow->out_mcs;
    }
    if (part == PART_USED) {
        return use_line(flow, entry, to, ret_sign);
    }
    if (part == PART_EXPIRED) {
        *ret_sign = to ? 1 : -1;
        return &flow->expired_mcs;
    }
    if (other == PART_ISSUED) {
        return to ? &flow->granted_mcs : &flow->withdrawn_mcs;
    }
    return NULL;
}

bool flow_add_entry(struct payer_flow *flow, const struct entry *entry, bool to)
{
    int sign = 1;
    int64_t *line = line_of(flow, entry, to, &sign);
    return line == NULL || i64_add(*line, sign * entry->amount_mcs, line);
}

int64_t flow_net_mcs(const struct payer_flow *flow)
{
    __int128 net_mcs = (__int128)flow->granted_mcs + flow->in_mcs - flow->out_mcs -
                       flow->withdrawn_mcs - flow->used_mcs + flow->refunded_mcs -
                       flow->corrected_mcs - flow->expired_mcs;
    assert(net_mcs <= INT64_MAX && net_mcs >= INT64_MIN);
    return (int64_t)net_mcs;
}

bool flow_equal(const struct payer_flow *a, const struct payer_flow *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}
