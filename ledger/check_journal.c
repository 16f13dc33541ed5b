/* The chain link by link, and what the entries come to (SPEC 9.1, 9.2). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/audit.h"
#include "ledger/chain.h"
#include "ledger/check.h"

/* ---- accounts */

/* Which sums of a grant an entry's kind counts in, beside the accounts. */
static void count_movement(struct check_grant *grant,
                           const struct entry *entry,
                           bool to,
                           bool two_rows)
{
    struct grant *sum = &grant->sum;
    int64_t mcs = entry->amount_mcs;
    if (entry->kind == ENTRY_TRANSFER) {
        *(to ? &sum->in_mcs : &sum->out_mcs) += mcs;
    } else if (two_rows) {
        sum->moved_mcs += to ? mcs : -mcs;
    } else if (to && entry->from_part == PART_ISSUED) {
        sum->granted_mcs += mcs;
    } else if (!to && entry->to_part == PART_ISSUED) {
        sum->withdrawn_mcs += mcs;
    }
}

static int64_t *account(struct check_grant *grant, enum account_part part)
{
    switch (part) {
    case PART_AVAILABLE:
        return &grant->sum.available_mcs;
    case PART_FROZEN:
        return &grant->sum.frozen_mcs;
    case PART_USED:
        return &grant->sum.used_mcs;
    case PART_EXPIRED:
        return &grant->sum.expired_mcs;
    case PART_ISSUED:
        break;
    }
    return NULL;
}

/* One end of an entry. False after a failure. */
static bool book_end(struct check *check, const struct entry *entry, bool to)
{
    int64_t grant_no = to ? entry->to_grant_no : entry->from_grant_no;
    enum account_part part = to ? entry->to_part : entry->from_part;
    if (part == PART_ISSUED) {
        return true;
    }
    struct check_grant *grant = check_value(check, &check->grants, grant_no, sizeof *grant);
    if (grant == NULL) {
        return false;
    }
    bool two_rows = entry->from_part != PART_ISSUED && entry->to_part != PART_ISSUED &&
                    entry->from_grant_no != entry->to_grant_no;
    int64_t *sum = account(grant, part);
    if (sum == NULL) {
        check_report(check, "entry %" PRId64 ": no such account", entry->seq);
        return true;
    }
    *sum += to ? entry->amount_mcs : -entry->amount_mcs;
    count_movement(grant, entry, to, two_rows);
    return check_entry_flow(check, entry, to);
}

static bool book_hold(struct check *check, const struct entry *entry)
{
    if (entry->hold_no == 0) {
        return true;
    }
    struct check_hold *hold = check_hold_of(check, entry->hold_no);
    if (hold == NULL) {
        return false;
    }
    int64_t mcs = entry->amount_mcs;
    hold->entries_frozen_mcs += entry->to_part == PART_FROZEN ? mcs : 0;
    hold->entries_frozen_mcs -= entry->from_part == PART_FROZEN ? mcs : 0;
    hold->entries_used_mcs += entry->to_part == PART_USED ? mcs : 0;
    hold->entries_used_mcs -= entry->from_part == PART_USED ? mcs : 0;
    return true;
}

/* An entry on all accounts; before the close at which the check starts it is in the balances there. */
static bool book_entry(struct check *check, const struct entry *entry)
{
    const struct check_root *root = map_get(&check->roots, entry->root_no);
    if (root != NULL && root->start.month != 0 && entry->seq <= root->start.seq) {
        return true;
    }
    if (!check_closes_pass(check, entry->seq)) {
        return false;
    }
    check_entry_month(check, entry);
    return book_end(check, entry, false) && book_end(check, entry, true) && book_hold(check, entry);
}

/* ---- links */

/* A link while its entries are read. */
struct link_check {
    struct check *check;
    const struct chain_link *link;
    struct digest_state state;
};

static bool add_entry(void *context, const void *record)
{
    struct link_check *link = context;
    struct check *check = link->check;
    const struct entry *entry = record;
    if (entry->seq > link->link->last_seq) {
        return false;
    }
    if (entry->seq != check->chain.next_seq) {
        check_report(check, "root %" PRId64 ": entry %" PRId64 " follows entry %" PRId64,
                     entry->root_no, entry->seq, check->chain.next_seq - 1);
    }
    if (entry->amount_mcs <= 0) {
        check_report(check, "root %" PRId64 ": entry %" PRId64 " moves %" PRId64 " mcs",
                     entry->root_no, entry->seq, entry->amount_mcs);
    }
    check->chain.next_seq = entry->seq + 1;
    chain_hash_entry(&link->state, entry);
    return book_entry(check, entry);
}

/* Did a later change of the log overwrite a name in this one's texts? */
static bool was_renamed(struct check *check, const struct audit *audit)
{
    struct audit later = {.audit_no = audit->renamed_no};
    bool found = false;
    if (audit->renamed_no <= audit->audit_no) {
        return false;
    }
    enum error_code code = reader_look(check->reader, RECORD_AUDIT, &later, &found, check->err);
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    return found && strcmp(later.action, AUDIT_RENAME) == 0;
}

/* A change whose texts are not as they were written, although no name in them was overwritten later. */
static void check_content(struct check *check, const struct audit *audit)
{
    const struct digest content = audit_content(audit);
    if (!digest_equal(&content, &audit->content) && !was_renamed(check, audit)) {
        check_report(check, "root %" PRId64 ": the texts of change %" PRId64 " are not as written",
                     audit->root_no, audit->seq);
    }
}

static bool add_audit(void *context, const void *record)
{
    struct link_check *link = context;
    struct check *check = link->check;
    const struct audit *audit = record;
    if (audit->seq > link->link->last_audit) {
        return false;
    }
    if (audit->seq != check->chain.next_audit) {
        check_report(check, "root %" PRId64 ": change %" PRId64 " follows change %" PRId64,
                     audit->root_no, audit->seq, check->chain.next_audit - 1);
    }
    check->chain.next_audit = audit->seq + 1;
    check->chain.last_audit_no = audit->audit_no;
    audit_hash(&link->state, audit);
    check_content(check, audit);
    return true;
}

/* The entries of a link, then its changes by people, then its notes. False after a failure. */
static bool add_all(struct check *check, struct link_check *state)
{
    const struct chain_link *link = state->link;
    const int64_t entries = link->last_seq - link->first_seq + 1;
    const int64_t audits = link->last_audit - link->first_audit + 1;
    struct select_args args = {.n = {link->root_no, link->first_seq - 1}, .limit = entries};
    enum error_code code = ERR_OK;
    if (entries > 0) {
        code =
            store_select(check->reader->store, SELECT_ENTRIES, &args, add_entry, state, check->err);
    }
    if (code == ERR_OK && audits > 0) {
        args = (struct select_args){.n = {link->root_no, check->chain.last_audit_no, 0, INT64_MAX},
                                    .limit = audits};
        code = store_select(check->reader->store, SELECT_AUDIT_ROOT, &args, add_audit, state,
                            check->err);
    }
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    if (check_link_notes(check, link, &state->state) + entries + audits <= 0) {
        check_report(check, "root %" PRId64 ": link %" PRId64 " is empty", link->root_no,
                     link->txn_no);
    }
    return true;
}

static bool link_follows(const struct check_chain *chain, const struct chain_link *link)
{
    return link->txn_no == chain->next_txn && link->first_seq == chain->next_seq &&
           link->first_audit == chain->next_audit && link->last_seq >= link->first_seq - 1 &&
           link->last_audit >= link->first_audit - 1 && link->at_ms >= chain->last_at_ms;
}

static bool check_link(void *context, const void *record)
{
    struct check *check = context;
    const struct chain_link link = *(const struct chain_link *)record;
    struct check_chain *chain = &check->chain;
    if (!link_follows(chain, &link)) {
        check_report(check,
                     "root %" PRId64 ": link %" PRId64 " (entries %" PRId64 " to %" PRId64
                     ") does not follow link %" PRId64 " and entry %" PRId64,
                     link.root_no, link.txn_no, link.first_seq, link.last_seq, chain->next_txn - 1,
                     chain->next_seq - 1);
    }
    struct link_check state = {.check = check, .link = &link};
    chain_hash_begin(&state.state, &chain->hash, link.txn_no, link.at_ms);
    if (!add_all(check, &state)) {
        return false;
    }
    struct digest hash = digest_finish(&state.state);
    if (!digest_equal(&hash, &link.hash)) {
        check_report(check, "root %" PRId64 ": the hash of link %" PRId64 " does not match",
                     link.root_no, link.txn_no);
    }
    chain->next_txn = link.txn_no + 1;
    chain->next_seq = link.last_seq + 1;
    chain->next_audit = link.last_audit + 1;
    chain->last_at_ms = link.at_ms;
    chain->hash = link.hash; /* go on from what is stored: one damage is one line */
    return check->code == ERR_OK;
}

static bool report_unlinked(void *context, const void *record)
{
    const struct entry *entry = record;
    check_report(context, "root %" PRId64 ": entry %" PRId64 " is in no link", entry->root_no,
                 entry->seq);
    return false;
}

static bool report_unlinked_change(void *context, const void *record)
{
    const struct audit *audit = record;
    check_report(context, "root %" PRId64 ": change %" PRId64 " is in no link", audit->root_no,
                 audit->seq);
    return false;
}

static bool check_root_chain(void *context, const void *record)
{
    struct check *check = context;
    const struct root_state state = *(const struct root_state *)record;
    char whose[48];
    check->chain = (struct check_chain){
        .root_no = state.root_no, .next_seq = 1, .next_txn = 1, .next_audit = 1};
    if (!check_closes_begin(check, state.root_no) || !check_start(check, state.root_no)) {
        return false;
    }
    struct select_args args = {.n = {state.root_no, check->chain.next_txn - 1}};
    if (!check_select(check, SELECT_CHAIN, &args, check_link) ||
        !check_closes_pass(check, INT64_MAX)) {
        return false;
    }
    check_closes_end(check);
    (void)snprintf(whose, sizeof whose, "root %" PRId64, state.root_no);
    check_equal(check, "last entry", whose, state.last_seq, check->chain.next_seq - 1);
    check_equal(check, "last change", whose, state.last_audit, check->chain.next_audit - 1);
    check_equal(check, "last link", whose, state.last_txn, check->chain.next_txn - 1);
    if (!digest_equal(&state.hash, &check->chain.hash)) {
        check_report(check, "%s: its hash is not that of its last link", whose);
    }
    args.n[1] = check->chain.next_seq - 1;
    args.limit = 1;
    if (!check_select(check, SELECT_ENTRIES, &args, report_unlinked)) {
        return false;
    }
    args = (struct select_args){.n = {state.root_no, check->chain.last_audit_no, 0, INT64_MAX},
                                .limit = 1};
    return check_select(check, SELECT_AUDIT_ROOT, &args, report_unlinked_change);
}

void check_journal(struct check *check)
{
    if (check_payers(check)) {
        (void)check_select(check, SELECT_ALL_ROOT_STATES, NULL, check_root_chain);
    }
    check_closes_end(check);
}

/* ---- grants */

static void compare_grant(struct check *check, const struct grant *grant, struct check_grant *known)
{
    static const struct grant zero;
    const struct grant *sum = known == NULL ? &zero : &known->sum;
    char whose[48];
    (void)snprintf(whose, sizeof whose, "grant %" PRId64, grant->grant_no);
    check_equal(check, "granted_mcs", whose, grant->granted_mcs, sum->granted_mcs);
    check_equal(check, "in_mcs", whose, grant->in_mcs, sum->in_mcs);
    check_equal(check, "out_mcs", whose, grant->out_mcs, sum->out_mcs);
    check_equal(check, "withdrawn_mcs", whose, grant->withdrawn_mcs, sum->withdrawn_mcs);
    check_equal(check, "moved_mcs", whose, grant->moved_mcs, sum->moved_mcs);
    check_equal(check, "available_mcs", whose, grant->available_mcs, sum->available_mcs);
    check_equal(check, "frozen_mcs", whose, grant->frozen_mcs, sum->frozen_mcs);
    check_equal(check, "used_mcs", whose, grant->used_mcs, sum->used_mcs);
    check_equal(check, "expired_mcs", whose, grant->expired_mcs, sum->expired_mcs);
    check_equal(check, "frozen_mcs by holds", whose, known == NULL ? 0 : known->draws_frozen_mcs,
                grant->frozen_mcs);
    check_equal(check, "used_mcs by runs", whose, known == NULL ? 0 : known->draws_used_mcs,
                grant->used_mcs);
    if (grant->kind == GRANT_TIMED && grant->available_mcs < 0) {
        check_report(check, "%s: available_mcs is below 0: %" PRId64, whose, grant->available_mcs);
    }
    if (grant->kind == GRANT_OVERDRAFT && grant->available_mcs > 0) {
        check_report(check, "%s: an overdraft has available_mcs %" PRId64, whose,
                     grant->available_mcs);
    }
}

static bool check_grant_row(void *context, const void *record)
{
    struct check *check = context;
    const struct grant *grant = record;
    struct check_grant *known = map_get(&check->grants, grant->grant_no);
    compare_grant(check, grant, known);
    if (known != NULL) {
        known->seen = true;
    }
    return true;
}

void check_grants(struct check *check)
{
    if (!check_select(check, SELECT_ALL_GRANTS, NULL, check_grant_row)) {
        return;
    }
    size_t position = 0;
    for (;;) {
        const struct check_grant *grant = map_next(&check->grants, &position);
        if (grant == NULL) {
            return;
        }
        if (!grant->seen) {
            check_report(check, "entries or draws name a grant that is not there");
        }
    }
}
