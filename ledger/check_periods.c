/*
 * Closed months: their place in the chain, their balances and their usage; months of payers against the
 * journal; and starting a check at a close (SPEC 8.2, 8.3, 9.2).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/chain.h"
#include "ledger/check.h"
#include "ledger/core/flow.h"
#include "ledger/period.h"

static int64_t flow_key(int64_t node_no, int64_t month)
{
    return (int64_t)((uint64_t)node_no << 20 | ((uint64_t)month & 0xfffff));
}

static struct check_flow *flow_of(struct check *check, int64_t node_no, int64_t month)
{
    struct check_flow *flow =
        check_value(check, &check->flows, flow_key(node_no, month), sizeof *flow);
    if (flow != NULL) {
        flow->sum.node_no = node_no;
        flow->sum.month = month;
    }
    return flow;
}

/* ---- payers */

static bool keep_payer(void *context, const void *record)
{
    struct check *check = context;
    const struct grant *grant = record;
    int64_t *node_no = check_value(check, &check->payers, grant->grant_no, sizeof *node_no);
    if (node_no != NULL) {
        *node_no = grant->node_no;
    }
    return node_no != NULL;
}

bool check_payers(struct check *check)
{
    return check_select(check, SELECT_ALL_GRANTS, NULL, keep_payer);
}

bool check_entry_flow(struct check *check, const struct entry *entry, bool to)
{
    int64_t grant_no = to ? entry->to_grant_no : entry->from_grant_no;
    const int64_t *node_no = map_get(&check->payers, grant_no);
    if (!flow_is_moved(entry) || node_no == NULL) {
        return true; /* a grant that is not there is told of by check_grants() */
    }
    struct check_flow *flow = flow_of(check, *node_no, entry->month);
    if (flow == NULL) {
        return false;
    }
    flow->sum.root_no = entry->root_no;
    if (!flow_add_entry(&flow->sum.flow, entry, to)) {
        check_report(check, "entry %" PRId64 ": a payer's month leaves what can be counted",
                     entry->seq);
    }
    return true;
}

/* ---- the closes of a root, as its chain is walked */

static bool keep_period(void *context, const void *record)
{
    struct check *check = context;
    struct check_closes *closes = &check->closes;
    const struct period *period = record;
    if (period->closing_month != period->month) {
        return true;
    }
    struct period *rows = realloc(closes->periods, (closes->count + 1) * sizeof *rows);
    if (rows == NULL) {
        return check_fail_memory(check);
    }
    closes->periods = rows;
    closes->periods[closes->count++] = *period;
    return true;
}

static bool keep_note(void *context, const void *record)
{
    struct check *check = context;
    struct check_closes *closes = &check->closes;
    if (closes->note_count == closes->note_capacity) {
        size_t capacity = closes->note_capacity == 0 ? 64 : closes->note_capacity * 2;
        struct chain_note *notes = realloc(closes->notes, capacity * sizeof *notes);
        if (notes == NULL) {
            return check_fail_memory(check);
        }
        closes->notes = notes;
        closes->note_capacity = capacity;
    }
    closes->notes[closes->note_count++] = *(const struct chain_note *)record;
    return true;
}

bool check_closes_begin(struct check *check, int64_t root_no)
{
    const struct select_args periods = {.n = {root_no}};
    const struct select_args notes = {.n = {root_no, 0}};
    check->closes = (struct check_closes){.root_no = root_no};
    return check_select(check, SELECT_PERIODS, &periods, keep_period) &&
           check_select(check, SELECT_CHAIN_NOTES, &notes, keep_note);
}

void check_closes_end(struct check *check)
{
    free(check->closes.periods);
    free(check->closes.notes);
    check->closes = (struct check_closes){0};
}

static bool same_accounts(const struct close_grant *row, const struct grant *sum)
{
    return row->granted_mcs == sum->granted_mcs && row->in_mcs == sum->in_mcs &&
           row->out_mcs == sum->out_mcs && row->withdrawn_mcs == sum->withdrawn_mcs &&
           row->moved_mcs == sum->moved_mcs && row->available_mcs == sum->available_mcs &&
           row->frozen_mcs == sum->frozen_mcs && row->used_mcs == sum->used_mcs &&
           row->expired_mcs == sum->expired_mcs;
}

/* Accounts written down at a close, against the journal up to there. */
static bool compare_close_grant(void *context, const void *record)
{
    struct check *check = context;
    const struct close_grant *row = record;
    static const struct check_grant none;
    const struct check_grant *known = map_get(&check->grants, row->grant_no);
    known = known == NULL ? &none : known;
    if (!same_accounts(row, &known->sum)) {
        check_report(check,
                     "root %" PRId64 ": the accounts of grant %" PRId64
                     " at a close are not those of the journal",
                     row->root_no, row->grant_no);
    }
    return true;
}

static bool compare_close_payer(void *context, const void *record)
{
    struct check *check = context;
    const struct close_payer *row = record;
    static const struct check_flow none;
    const struct check_flow *known =
        map_get(&check->flows, flow_key(row->node_no, row->booked_month));
    known = known == NULL ? &none : known;
    if (!flow_equal(&row->flow, &known->sum.flow)) {
        check_report(check,
                     "root %" PRId64 ": what node %" PRId64
                     " had in a later month at a close is not what the journal says",
                     row->root_no, row->node_no);
    }
    return true;
}

static bool pass_close(struct check *check, const struct period *period)
{
    const struct select_args args = {.n = {period->root_no, period->month}};
    return check_select(check, SELECT_CLOSE_GRANTS, &args, compare_close_grant) &&
           check_select(check, SELECT_CLOSE_PAYERS, &args, compare_close_payer);
}

bool check_closes_pass(struct check *check, int64_t next_seq)
{
    struct check_closes *closes = &check->closes;
    while (closes->passed < closes->count && closes->periods[closes->passed].last_seq < next_seq) {
        const struct period *period = &closes->periods[closes->passed++];
        if (period->month > check->since && !pass_close(check, period)) {
            return false;
        }
        closes->closed_month = period->month;
    }
    return true;
}

void check_entry_month(struct check *check, const struct entry *entry)
{
    if (check->closes.closed_month != 0 && entry->month <= check->closes.closed_month) {
        char text[CALENDAR_MONTH_TEXT_BYTES];
        check_report(check, "root %" PRId64 ": entry %" PRId64 " is booked in %s, which was closed",
                     entry->root_no, entry->seq,
                     calendar_format_month((int32_t)entry->month, text));
    }
}

int64_t check_link_notes(struct check *check,
                         const struct chain_link *link,
                         struct digest_state *state)
{
    struct check_closes *closes = &check->closes;
    int64_t count = 0;
    while (closes->noted < closes->note_count &&
           closes->notes[closes->noted].txn_no < link->txn_no) {
        closes->noted++;
    }
    while (closes->noted < closes->note_count &&
           closes->notes[closes->noted].txn_no == link->txn_no) {
        chain_hash_note(state, &closes->notes[closes->noted++]);
        count++;
    }
    return count;
}

/* ---- starting at a close */

static bool start_grant(void *context, const void *record)
{
    struct check *check = context;
    const struct close_grant *row = record;
    struct check_grant *grant = check_value(check, &check->grants, row->grant_no, sizeof *grant);
    struct check_root *root = check_root_of(check, row->root_no);
    if (grant == NULL || root == NULL) {
        return false;
    }
    grant->sum = (struct grant){
        .granted_mcs = row->granted_mcs,
        .in_mcs = row->in_mcs,
        .out_mcs = row->out_mcs,
        .withdrawn_mcs = row->withdrawn_mcs,
        .moved_mcs = row->moved_mcs,
        .available_mcs = row->available_mcs,
        .frozen_mcs = row->frozen_mcs,
        .used_mcs = row->used_mcs,
        .expired_mcs = row->expired_mcs,
    };
    root->start.frozen_mcs += row->frozen_mcs;
    root->start.used_mcs += row->used_mcs;
    return true;
}

static bool start_payer(void *context, const void *record)
{
    struct check *check = context;
    const struct close_payer *row = record;
    struct check_flow *flow = flow_of(check, row->node_no, row->booked_month);
    if (flow == NULL) {
        return false;
    }
    flow->sum.root_no = row->root_no;
    flow->sum.flow = row->flow;
    return true;
}

/* Stops at the first change that the links from the close on hold. */
static bool find_change(void *context, const void *record)
{
    struct check_chain *chain = context;
    const struct audit *audit = record;
    if (audit->seq < chain->next_audit) {
        return true;
    }
    chain->last_audit_no = audit->audit_no - 1;
    return false;
}

/* Where among the changes by people the walk begins: none is older than the link before. */
static bool start_changes(struct check *check)
{
    const struct select_args args = {
        .n = {check->chain.root_no, 0, check->chain.last_at_ms, INT64_MAX}};
    check->chain.last_audit_no = INT64_MAX;
    enum error_code code = store_select(check->reader->store, SELECT_AUDIT_ROOT, &args, find_change,
                                        &check->chain, check->err);
    return code == ERR_OK || check_fail(check, code);
}

/* The link before the close: its hash is where the chain begins. */
static bool start_chain(struct check *check, const struct period *period)
{
    struct chain_link before = {.root_no = period->root_no, .txn_no = period->txn_no - 1};
    bool found = period->txn_no == 1;
    if (!found) {
        enum error_code code =
            reader_look(check->reader, RECORD_CHAIN_LINK, &before, &found, check->err);
        if (code != ERR_OK) {
            return check_fail(check, code);
        }
    }
    if (!found) {
        check_report(check, "root %" PRId64 ": the link before the close is not there",
                     period->root_no);
        return true;
    }
    check->chain = (struct check_chain){
        .root_no = period->root_no,
        .next_seq = before.last_seq + 1,
        .next_txn = period->txn_no,
        .next_audit = before.last_audit + 1,
        .last_at_ms = before.at_ms,
        .hash = before.hash,
    };
    return start_changes(check);
}

bool check_start(struct check *check, int64_t root_no)
{
    struct period period = {.root_no = root_no, .month = check->since};
    bool found = false;
    enum error_code code = reader_look(check->reader, RECORD_PERIOD, &period, &found, check->err);
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    if (!found || period.closing_month != period.month) {
        return true; /* from the beginning */
    }
    struct check_root *root = check_root_of(check, root_no);
    const struct select_args args = {.n = {root_no, period.month}};
    if (root == NULL || !start_chain(check, &period) ||
        !check_select(check, SELECT_CLOSE_GRANTS, &args, start_grant) ||
        !check_select(check, SELECT_CLOSE_PAYERS, &args, start_payer)) {
        return false;
    }
    root->start.month = period.month;
    root->start.seq = period.last_seq;
    root->start.hold_no = period.last_hold_no;
    return true;
}

bool check_hold_is_older(struct check *check, const struct hold *hold)
{
    const struct check_root *root = map_get(&check->roots, hold->root_no);
    return root != NULL && root->start.month != 0 && hold->hold_no <= root->start.hold_no;
}

void check_older_hold(struct check *check, const struct hold *hold, const struct check_hold *sums)
{
    struct check_root *root = map_get(&check->roots, hold->root_no);
    if (root != NULL) {
        root->start.holds_frozen_mcs += hold->frozen_mcs - sums->entries_frozen_mcs;
        root->start.holds_used_mcs += hold->used_mcs - sums->entries_used_mcs;
    }
}

static void compare_start(struct check *check, int64_t root_no)
{
    const struct check_root *root = map_get(&check->roots, root_no);
    if (root == NULL || root->start.month == 0) {
        return;
    }
    char whose[48];
    (void)snprintf(whose, sizeof whose, "holds of root %" PRId64 " at the close", root_no);
    check_equal(check, "frozen_mcs", whose, root->start.frozen_mcs, root->start.holds_frozen_mcs);
    check_equal(check, "used_mcs", whose, root->start.used_mcs, root->start.holds_used_mcs);
}

/* ---- months of payers */

static bool check_payer_month(void *context, const void *record)
{
    struct check *check = context;
    const struct payer_month *row = record;
    struct check_root *root = check_root_of(check, row->root_no);
    struct check_month *month =
        root == NULL ? NULL : check_value(check, &root->months, row->month, sizeof *month);
    struct check_flow *flow = flow_of(check, row->node_no, row->month);
    if (month == NULL || flow == NULL) {
        return false;
    }
    flow->seen = true;
    month->month = row->month;
    month->flow_mcs += row->flow.used_mcs - row->flow.refunded_mcs + row->flow.corrected_mcs;
    if (row->month > root->start.month && !flow_equal(&row->flow, &flow->sum.flow)) {
        char text[CALENDAR_MONTH_TEXT_BYTES];
        check_report(check,
                     "node %" PRId64 ": its month %s is not what the journal says (net %" PRId64
                     " mcs, should be %" PRId64 ")",
                     row->node_no, calendar_format_month((int32_t)row->month, text),
                     flow_net_mcs(&row->flow), flow_net_mcs(&flow->sum.flow));
    }
    return true;
}

static void compare_booked(struct check *check, const struct check_root *root)
{
    size_t position = 0;
    for (;;) {
        const struct check_month *month = map_next(&root->months, &position);
        if (month == NULL) {
            return;
        }
        char whose[64];
        char text[CALENDAR_MONTH_TEXT_BYTES];
        (void)snprintf(whose, sizeof whose, "usage booked in %s",
                       calendar_format_month((int32_t)month->month, text));
        check_equal(check, "sum", whose, month->booked_mcs, month->flow_mcs);
    }
}

void check_flows(struct check *check)
{
    static const struct payer_flow zero;
    if (!check_select(check, SELECT_ALL_PAYER_MONTHS, NULL, check_payer_month)) {
        return;
    }
    size_t position = 0;
    const struct check_flow *flow = map_next(&check->flows, &position);
    for (; flow != NULL; flow = map_next(&check->flows, &position)) {
        if (!flow->seen && !flow_equal(&flow->sum.flow, &zero)) {
            check_report(check, "node %" PRId64 ": a month of its statement is not there",
                         flow->sum.node_no);
        }
    }
    position = 0;
    const struct check_root *root = map_next(&check->roots, &position);
    for (; root != NULL; root = map_next(&check->roots, &position)) {
        compare_booked(check, root);
    }
}

/* ---- digests */

static bool hash_close_grant(void *context, const void *record)
{
    period_digest_grant(context, record);
    return true;
}

static bool hash_close_payer(void *context, const void *record)
{
    period_digest_payer(context, record);
    return true;
}

/* Whether a digest stands in the root's chain for a month. */
static bool is_noted(const struct check_closes *closes,
                     enum note_kind kind,
                     int64_t month,
                     const struct digest *digest)
{
    for (size_t i = 0; i < closes->note_count; i++) {
        const struct chain_note *note = &closes->notes[i];
        if (note->kind == kind && note->subject == month && digest_equal(&note->digest, digest)) {
            return true;
        }
    }
    return false;
}

static bool check_balances(struct check *check, const struct period *period, const char *whose)
{
    struct digest_state state;
    const struct select_args args = {.n = {period->root_no, period->month}};
    struct store *store = check->reader->store;
    period_digest_begin(&state, period);
    enum error_code code =
        store_select(store, SELECT_CLOSE_GRANTS, &args, hash_close_grant, &state, check->err);
    if (code == ERR_OK) {
        code =
            store_select(store, SELECT_CLOSE_PAYERS, &args, hash_close_payer, &state, check->err);
    }
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    const struct digest digest = digest_finish(&state);
    if (!is_noted(&check->closes, NOTE_CLOSE, period->month, &digest)) {
        check_report(check, "%s: its balances are not those in the chain", whose);
    }
    return true;
}

static bool check_seal(struct check *check, const struct period *period, const char *whose)
{
    struct period now = {.root_no = period->root_no, .month = period->month};
    enum error_code code = ledger_period_rows(check->reader, &now, NULL, NULL, check->err);
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    if (!digest_equal(&now.digest, &period->digest) || now.row_count != period->row_count) {
        check_report(check, "%s: its usage does not have the digest that was sealed", whose);
    }
    check_equal(check, "used_mcs", whose, period->used_mcs, now.used_mcs);
    check_equal(check, "mgs", whose, period->mgs, now.mgs);
    check_equal(check, "waived_mcs", whose, period->waived_mcs, now.waived_mcs);
    check_equal(check, "runs", whose, period->runs, now.runs);
    if (!is_noted(&check->closes, NOTE_SEAL, period->month, &period->digest)) {
        check_report(check, "%s: its digest is not the one in the chain", whose);
    }
    return true;
}

static bool check_period(void *context, const void *record)
{
    struct check *check = context;
    const struct period period = *(const struct period *)record;
    char whose[64];
    char text[CALENDAR_MONTH_TEXT_BYTES];
    if (period.month < check->since) {
        return true;
    }
    (void)snprintf(whose, sizeof whose, "root %" PRId64 ": closed month %s", period.root_no,
                   calendar_format_month((int32_t)period.month, text));
    bool closing = period.closing_month == period.month;
    return (!closing || check_balances(check, &period, whose)) &&
           (period.sealed == 0 || check_seal(check, &period, whose));
}

static bool check_periods_of(void *context, const void *record)
{
    struct check *check = context;
    const struct root_state state = *(const struct root_state *)record;
    const struct select_args args = {.n = {state.root_no}};
    bool goes_on = check_closes_begin(check, state.root_no) &&
                   check_select(check, SELECT_PERIODS, &args, check_period);
    check_closes_end(check);
    compare_start(check, state.root_no);
    return goes_on;
}

void check_periods(struct check *check)
{
    (void)check_select(check, SELECT_ALL_ROOT_STATES, NULL, check_periods_of);
}
