/*
 * What nobody asks for any more is forgotten: deliveries that arrived or were given up long ago, with the alerts that no
 * delivery is left of; tokens that ended long ago. What people did with a token stands in the audit log, which names the
 * token and its owner by itself.
 */
#include "ledger/admin.h"
#include "ledger/names.h"

/* A transaction does not get long by it; whoever asks comes again while something was found. */
enum { PRUNED_AT_ONCE = 128 };

struct pruned {
    size_t count;
    int64_t deliveries[PRUNED_AT_ONCE];
    struct digest tokens[PRUNED_AT_ONCE];
};

static bool keep_delivery(void *context, const void *record)
{
    struct pruned *pruned = context;
    pruned->deliveries[pruned->count++] = ((const struct delivery *)record)->delivery_no;
    return pruned->count < PRUNED_AT_ONCE;
}

static bool keep_token(void *context, const void *record)
{
    struct pruned *pruned = context;
    pruned->tokens[pruned->count++] = ((const struct token *)record)->hash;
    return pruned->count < PRUNED_AT_ONCE;
}

static void forget_delivery(struct ledger *ledger, int64_t delivery_no)
{
    struct cell *cell = row_find(ledger->set, RECORD_DELIVERY, delivery_no);
    if (!cell_exists(cell)) {
        return;
    }
    const int64_t alert_no = ((const struct delivery *)cell_record(cell))->alert_no;
    working_set_remove(ledger->set, cell);
    cell = row_find(ledger->set, RECORD_ALERT, alert_no);
    if (!cell_exists(cell)) {
        return;
    }
    if (((const struct alert *)cell_record(cell))->deliveries <= 1) {
        working_set_remove(ledger->set, cell);
    } else {
        ((struct alert *)working_set_change(ledger->set, cell))->deliveries--;
    }
}

static size_t prune_deliveries(struct ledger *ledger, int64_t until_ms)
{
    struct pruned pruned = {.count = 0};
    const struct select_args args = {.n = {until_ms}, .limit = PRUNED_AT_ONCE};
    working_set_select(ledger->set, SELECT_DELIVERIES_DONE, &args, keep_delivery, &pruned);
    for (size_t i = 0; i < pruned.count; i++) {
        forget_delivery(ledger, pruned.deliveries[i]);
    }
    return pruned.count;
}

static size_t prune_tokens(struct ledger *ledger, int64_t until_s)
{
    struct pruned pruned = {.count = 0};
    const struct select_args args = {.n = {until_s}, .limit = PRUNED_AT_ONCE};
    working_set_select(ledger->set, SELECT_TOKENS_OVER, &args, keep_token, &pruned);
    for (size_t i = 0; i < pruned.count; i++) {
        working_set_remove(ledger->set,
                           working_set_find(ledger->set, RECORD_TOKEN, &pruned.tokens[i]));
    }
    return pruned.count;
}

enum error_code admin_prune(struct ledger *ledger,
                            const struct command *command,
                            struct ledger_result *ret_result,
                            struct error *err)
{
    const size_t deliveries = prune_deliveries(ledger, command->prune.deliveries_ms);
    const size_t tokens = prune_tokens(ledger, command->prune.tokens_s);
    ret_result->no_effect = deliveries + tokens == 0;
    return working_set_failure(ledger->set, err);
}
