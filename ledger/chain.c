/* See chain.h. */
#include "ledger/chain.h"

#include <stdlib.h>

#include "ledger/apply.h"
#include "ledger/audit.h"
#include "ledger/shell.h"

void chain_hash_begin(struct digest_state *state,
                      const struct digest *previous,
                      int64_t txn_no,
                      int64_t at_ms)
{
    digest_init(state);
    digest_update(state, previous->bytes, sizeof previous->bytes);
    digest_update_i64(state, txn_no);
    digest_update_i64(state, at_ms);
}

static uint8_t *put_i64(uint8_t *to, int64_t value)
{
    uint64_t bits = __builtin_bswap64((uint64_t)value);
    __builtin_memcpy(to, &bits, sizeof bits);
    return to + sizeof bits;
}

void chain_hash_entry(struct digest_state *state, const struct entry *entry)
{
    const int64_t fields[] = {
        entry->seq,           entry->kind,        entry->from_part,  entry->to_part,
        entry->from_grant_no, entry->to_grant_no, entry->amount_mcs, entry->hold_no,
        entry->task,          entry->attempt,     entry->month,      entry->period,
        entry->at_ms,
    };
    uint8_t bytes[sizeof fields];
    uint8_t *at = bytes;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        at = put_i64(at, fields[i]);
    }
    digest_update(state, bytes, sizeof bytes);
}

void chain_hash_note(struct digest_state *state, const struct chain_note *note)
{
    digest_update_i64(state, -2);
    digest_update_i64(state, note->kind);
    digest_update_i64(state, note->subject);
    digest_update(state, note->digest.bytes, sizeof note->digest.bytes);
}

/* A link in the making. */
struct open_link {
    int64_t root_no;
    int64_t txn_no;
    int64_t entries;
    int64_t audits;
    int64_t at_ms;
    struct digest_state state;
};

static void open_link(struct ledger *ledger, int64_t root_no, int64_t at_ms, struct open_link *link)
{
    const struct root_state *state = row_get(ledger->set, RECORD_ROOT_STATE, root_no);
    static const struct root_state none;
    state = state == NULL ? &none : state;
    *link = (struct open_link){
        .root_no = root_no,
        .txn_no = state->last_txn + 1,
        .at_ms = at_ms,
    };
    chain_hash_begin(&link->state, &state->hash, link->txn_no, link->at_ms);
}

static void close_link(struct ledger *ledger, struct open_link *link)
{
    struct root_state *state = apply_root_state(ledger, link->root_no);
    struct chain_link *row = working_set_append(ledger->set, RECORD_CHAIN_LINK);
    *row = (struct chain_link){
        .root_no = link->root_no,
        .txn_no = link->txn_no,
        .first_seq = state->last_seq - link->entries + 1,
        .last_seq = state->last_seq,
        .at_ms = link->at_ms,
        .hash = digest_finish(&link->state),
        .first_audit = state->last_audit - link->audits + 1,
        .last_audit = state->last_audit,
    };
    state->last_txn = link->txn_no;
    state->last_ms = link->at_ms;
    state->hash = row->hash;
}

/* The link of a root among those open; a new one where there is none. NULL: no memory. */
static struct open_link *link_of(struct ledger *ledger,
                                 struct map *links,
                                 int64_t root_no,
                                 int64_t at_ms)
{
    struct open_link *link = map_get(links, root_no);
    if (link == NULL) {
        link = malloc(sizeof *link);
        if (link == NULL || !map_add(links, root_no, link)) {
            free(link);
            working_set_fail_memory(ledger->set, "the journal's chain");
            return NULL;
        }
        open_link(ledger, root_no, at_ms, link);
    }
    return link;
}

static void add_entries(struct ledger *ledger, struct map *links)
{
    const struct cell *position = NULL;
    struct open_link *link = NULL;
    const struct entry *entry = working_set_appended(ledger->set, RECORD_ENTRY, &position);
    for (; entry != NULL; entry = working_set_appended(ledger->set, RECORD_ENTRY, &position)) {
        if (link == NULL || link->root_no != entry->root_no) {
            link = link_of(ledger, links, entry->root_no, entry->at_ms);
        }
        if (link == NULL) {
            return;
        }
        link->entries++;
        chain_hash_entry(&link->state, entry);
    }
}

/* Numbers of this transaction's changes follow each other: those undone gave theirs back. */
static void add_audits(struct ledger *ledger, struct map *links)
{
    const int64_t end_no = row_next_no(ledger->set, "audit");
    for (int64_t no = ledger->first_audit_no; no < end_no; no++) {
        const struct audit *audit = row_get(ledger->set, RECORD_AUDIT, no);
        if (audit == NULL) {
            return;
        }
        struct open_link *link = link_of(ledger, links, audit->root_no, audit->at_ms);
        if (link == NULL) {
            return;
        }
        link->audits++;
        audit_hash(&link->state, audit);
    }
}

/* Behind everything else of a link. */
static void add_notes(struct ledger *ledger, struct map *links)
{
    const struct cell *position = NULL;
    const struct chain_note *note = working_set_appended(ledger->set, RECORD_CHAIN_NOTE, &position);
    for (; note != NULL; note = working_set_appended(ledger->set, RECORD_CHAIN_NOTE, &position)) {
        struct open_link *link = link_of(ledger, links, note->root_no, note->at_ms);
        if (link == NULL) {
            return;
        }
        chain_hash_note(&link->state, note);
    }
}

void chain_note(struct ledger *ledger, const struct chain_note *note)
{
    const struct root_state *state = row_get(ledger->set, RECORD_ROOT_STATE, note->root_no);
    struct chain_note *row = working_set_append(ledger->set, RECORD_CHAIN_NOTE);
    *row = *note;
    row->txn_no = state == NULL ? 0 : state->last_txn + 1;
    row->note_no = row_take_no(ledger->set, "note");
    ledger->has_notes = true;
}

void chain_seal(struct ledger *ledger)
{
    struct map links;
    map_init(&links, free);
    add_entries(ledger, &links);
    if (ledger->first_audit_no != 0) {
        add_audits(ledger, &links);
    }
    if (ledger->has_notes) {
        add_notes(ledger, &links);
        ledger->has_notes = false;
    }
    size_t at = 0;
    struct open_link *link;
    for (link = map_next(&links, &at); link != NULL; link = map_next(&links, &at)) {
        close_link(ledger, link);
    }
    map_fini(&links);
}
