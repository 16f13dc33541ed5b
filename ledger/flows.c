/* See flows.h. */
#include "ledger/flows.h"

#include "ledger/core/flow.h"

static int64_t payer_of(const struct ledger *ledger, int64_t grant_no)
{
    const struct view *view = &ledger->view;
    for (int32_t i = 0; i < view->grant_count; i++) {
        if (view->grants[i].grant_no == grant_no) {
            return view->grants[i].node_no;
        }
    }
    return 0;
}

static void add_end(struct ledger *ledger, const struct entry *entry, bool to)
{
    enum account_part part = to ? entry->to_part : entry->from_part;
    if (part == PART_ISSUED) {
        return;
    }
    int64_t node_no = payer_of(ledger, to ? entry->to_grant_no : entry->from_grant_no);
    struct error err = {.code = ERR_OK};
    if (node_no == 0) {
        (void)error_set(&err, ERR_INTERNAL, "an entry names a grant of no payer");
        working_set_fail(ledger->set, &err);
        return;
    }
    struct payer_month *month = working_set_put(
        ledger->set, row_find2(ledger->set, RECORD_PAYER_MONTH, node_no, entry->month));
    month->root_no = entry->root_no;
    if (!flow_add_entry(&month->flow, entry, to)) {
        (void)error_set(&err, ERR_INTERNAL, "a payer's month would leave what a ledger can count");
        working_set_fail(ledger->set, &err);
    }
}

void flows_add(struct ledger *ledger, const struct entry *entry)
{
    if (flow_is_moved(entry)) {
        add_end(ledger, entry, false);
        add_end(ledger, entry, true);
    }
}
