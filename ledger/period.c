/* See period.h. The commands that close a month and seal its usage. */
#include "ledger/period.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/admin.h"
#include "ledger/apply.h"
#include "ledger/audit.h"
#include "ledger/base/text.h"
#include "ledger/chain.h"
#include "ledger/load.h"
#include "ledger/names.h"

/* ---- digests */

static void add_all(struct digest_state *state, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        digest_update_i64(state, values[i]);
    }
}

void period_digest_begin(struct digest_state *state, const struct period *period)
{
    digest_init(state);
    digest_update_i64(state, period->month);
    digest_update_i64(state, period->last_seq);
    digest_update_i64(state, period->last_hold_no);
}

void period_digest_grant(struct digest_state *state, const struct close_grant *row)
{
    const int64_t values[] = {
        row->grant_no,   row->node_no,       row->granted_mcs, row->in_mcs,
        row->out_mcs,    row->withdrawn_mcs, row->moved_mcs,   row->available_mcs,
        row->frozen_mcs, row->used_mcs,      row->expired_mcs,
    };
    add_all(state, values, ARRAY_LEN(values));
}

void period_digest_payer(struct digest_state *state, const struct close_payer *row)
{
    const struct payer_flow *flow = &row->flow;
    const int64_t values[] = {
        row->booked_month,   row->node_no,        flow->granted_mcs, flow->in_mcs,
        flow->out_mcs,       flow->withdrawn_mcs, flow->used_mcs,    flow->refunded_mcs,
        flow->corrected_mcs, flow->expired_mcs,
    };
    add_all(state, values, ARRAY_LEN(values));
}

/* ---- what stands at the close */

/* Rows of a selection, kept: the selection must be over before the working set is used again. */
struct kept_rows {
    char *rows;
    size_t bytes; /* of one */
    size_t count;
    size_t capacity;
    bool failed;
};

static bool keep_row(void *context, const void *record)
{
    struct kept_rows *kept = context;
    if (kept->count == kept->capacity) {
        size_t capacity = kept->capacity == 0 ? 64 : kept->capacity * 2;
        char *rows = realloc(kept->rows, capacity * kept->bytes);
        if (rows == NULL) {
            kept->failed = true;
            return false;
        }
        kept->rows = rows;
        kept->capacity = capacity;
    }
    memcpy(kept->rows + kept->count++ * kept->bytes, record, kept->bytes);
    return true;
}

/* The rows of a selection; freed by the caller. A failure sticks to the working set. */
static struct kept_rows select_rows(struct ledger *ledger,
                                    enum select_kind select,
                                    const struct select_args *args)
{
    struct kept_rows kept = {.bytes = record_types[select_types[select].record].bytes};
    working_set_select(ledger->set, select, args, keep_row, &kept);
    if (kept.failed) {
        working_set_fail_memory(ledger->set, "closing a month");
        kept.count = 0;
    }
    return kept;
}

static void write_grants(struct ledger *ledger,
                         const struct period *period,
                         struct digest_state *state)
{
    const struct select_args args = {.n = {period->root_no}};
    struct kept_rows kept = select_rows(ledger, SELECT_GRANTS_OF_ROOT, &args);
    for (size_t i = 0; i < kept.count; i++) {
        const struct grant *grant = (const struct grant *)(const void *)kept.rows + i;
        struct close_grant *row = working_set_append(ledger->set, RECORD_CLOSE_GRANT);
        *row = (struct close_grant){
            .root_no = period->root_no,
            .month = period->month,
            .grant_no = grant->grant_no,
            .node_no = grant->node_no,
            .granted_mcs = grant->granted_mcs,
            .in_mcs = grant->in_mcs,
            .out_mcs = grant->out_mcs,
            .withdrawn_mcs = grant->withdrawn_mcs,
            .moved_mcs = grant->moved_mcs,
            .available_mcs = grant->available_mcs,
            .frozen_mcs = grant->frozen_mcs,
            .used_mcs = grant->used_mcs,
            .expired_mcs = grant->expired_mcs,
        };
        period_digest_grant(state, row);
    }
    free(kept.rows);
}

static void write_payers(struct ledger *ledger,
                         const struct period *period,
                         struct digest_state *state)
{
    const struct select_args args = {.n = {period->root_no, period->month}};
    struct kept_rows kept = select_rows(ledger, SELECT_PAYER_MONTHS_AFTER, &args);
    for (size_t i = 0; i < kept.count; i++) {
        const struct payer_month *month = (const struct payer_month *)(const void *)kept.rows + i;
        struct close_payer *row = working_set_append(ledger->set, RECORD_CLOSE_PAYER);
        *row = (struct close_payer){
            .root_no = period->root_no,
            .month = period->month,
            .node_no = month->node_no,
            .booked_month = month->month,
            .flow = month->flow,
        };
        period_digest_payer(state, row);
    }
    free(kept.rows);
}

/* ---- which months */

struct first_month {
    int64_t month;
    bool found;
};

static bool take_usage_month(void *context, const void *record)
{
    struct first_month *first = context;
    *first = (struct first_month){.month = ((const struct usage *)record)->month, .found = true};
    return false;
}

static bool add_payer_month(void *context, const void *record)
{
    struct first_month *first = context;
    const struct payer_month *row = record;
    if (!first->found || row->month < first->month) {
        *first = (struct first_month){.month = row->month, .found = true};
    }
    return true;
}

/* The first month from `from` to `to` in which anything is booked; `to` when there is none. */
static int64_t first_booked(struct ledger *ledger, int64_t root_no, int64_t from, int64_t to)
{
    struct first_month usage = {.month = to};
    struct first_month money = {.month = to};
    const struct select_args args = {.n = {root_no, from, to}, .limit = 1};
    const struct select_args payers = {.n = {root_no, from - 1}};
    working_set_select(ledger->set, SELECT_USAGE, &args, take_usage_month, &usage);
    working_set_select(ledger->set, SELECT_PAYER_MONTHS_AFTER, &payers, add_payer_month, &money);
    int64_t month = money.month < usage.month ? money.month : usage.month;
    return month < to ? month : to;
}

/* A row for each month up to the one that is closed in which anything is booked. */
static void write_periods(struct ledger *ledger, const struct period *closing, int64_t from)
{
    for (int64_t month = from; month <= closing->month; month++) {
        month = first_booked(ledger, closing->root_no, month, closing->month);
        struct period *row = working_set_make(
            ledger->set, row_find2(ledger->set, RECORD_PERIOD, closing->root_no, month));
        *row = *closing;
        row->month = month;
        if (working_set_failure(ledger->set, NULL) != ERR_OK) {
            return;
        }
    }
}

/* ---- the commands */

static enum error_code find_root(struct ledger *ledger,
                                 const struct command *command,
                                 const struct node **ret_root,
                                 struct error *err)
{
    struct cell *cell;
    const char *name = command->close.root;
    enum error_code code = names_node(ledger, NODE_ORGANIZATION, name, &cell, err);
    if (code == ERR_OK && !names_node_is_seen(ledger, command, cell_record(cell))) {
        code = error_set(err, ERR_NOT_FOUND, "no organization %s", name);
    }
    if (code != ERR_OK) {
        return code;
    }
    const struct node *node = cell_record(cell);
    if (node->root_no != node->node_no) {
        return error_set_field(err, ERR_INVALID_FIELD, "root",
                               "%s is not a root: months are closed for a whole root", name);
    }
    *ret_root = node;
    return ERR_OK;
}

/* Refuse what cannot be closed (any more, or yet). */
static enum error_code check_month(const struct ledger *ledger,
                                   const struct root_state *state,
                                   int64_t month,
                                   struct error *err)
{
    char text[CALENDAR_MONTH_TEXT_BYTES];
    char other[CALENDAR_MONTH_TEXT_BYTES];
    (void)calendar_format_month((int32_t)month, text);
    if (month < state->oldest_open_month) {
        return error_set(err, ERR_INVALID_STATE,
                         "%s lies before everything that was booked when %s was closed", text,
                         calendar_format_month((int32_t)state->oldest_open_month - 1, other));
    }
    if (month >= ledger->view.month) {
        char end[TEXT_TIME_BYTES];
        const struct calendar *calendar = &ledger->subject.time->calendar;
        int64_t end_s = calendar_month_start(calendar, (int32_t)month + 1);
        return error_set(err, ERR_INVALID_STATE, "%s has not ended: it ends at %s", text,
                         text_format_time(end_s, end));
    }
    if (state->oldest_open_month != 0 && month != state->oldest_open_month) {
        return error_set(err, ERR_INVALID_STATE, "months are closed in order: close %s first",
                         calendar_format_month((int32_t)state->oldest_open_month, other));
    }
    if (state->turned_month <= month) {
        return error_set(err, ERR_INVALID_STATE,
                         "what runs over the end of %s is still being charged up to it: try again "
                         "in a moment",
                         text);
    }
    return ERR_OK;
}

static void write_close(struct ledger *ledger, struct root_state *state, int64_t month)
{
    int64_t oldest = state->oldest_open_month;
    struct digest_state digest;
    const struct period period = {
        .root_no = state->root_no,
        .month = month,
        .closing_month = month,
        .closed_ms = ledger->view.now_ms,
        .txn_no = state->last_txn + 1,
        .last_seq = state->last_seq,
        .last_hold_no = row_next_no(ledger->set, "hold") - 1,
        .format = PERIOD_FORMAT,
    };
    period_digest_begin(&digest, &period);
    write_grants(ledger, &period, &digest);
    write_payers(ledger, &period, &digest);
    write_periods(ledger, &period, oldest);
    state->oldest_open_month = month + 1;
    chain_note(ledger, &(struct chain_note){
                           .root_no = period.root_no,
                           .kind = NOTE_CLOSE,
                           .subject = month,
                           .at_ms = period.closed_ms,
                           .digest = digest_finish(&digest),
                       });
}

/* Into the audit log. */
static void tell_closed(struct ledger *ledger, const struct node *root, int64_t month)
{
    char text[CALENDAR_MONTH_TEXT_BYTES];
    char what[RECORD_WHAT_BYTES];
    struct audit_values values;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    (void)calendar_format_month((int32_t)month, text);
    (void)snprintf(what, sizeof what, "periods/%s/%s", root->name, text);
    audit_begin(&values);
    audit_add_text(&values, "month", text);
    audit_change(ledger, &(struct audit_change){
                             .action = "period.close",
                             .root_no = root->node_no,
                             .node_no = root->node_no,
                             .what = what,
                             .after = audit_end(&values),
                         });
}

enum error_code admin_close(struct ledger *ledger,
                            const struct command *command,
                            struct ledger_result *ret_result,
                            struct error *err)
{
    const struct node *root;
    int64_t month = command->close.month;
    enum error_code code = find_root(ledger, command, &root, err);
    if (code != ERR_OK) {
        return code;
    }
    load_time(ledger, root);
    struct cell *cell = row_find2(ledger->set, RECORD_PERIOD, root->node_no, month);
    ret_result->replayed = cell_exists(cell);
    if (!ret_result->replayed) {
        struct root_state *state = apply_root_state(ledger, root->node_no);
        code = check_month(ledger, state, month, err);
        if (code != ERR_OK) {
            return code;
        }
        write_close(ledger, state, month);
        tell_closed(ledger, root, month);
        ret_result->created = true;
    }
    code = working_set_failure(ledger->set, err);
    if (code == ERR_OK) {
        ret_result->period = *(const struct period *)cell_record(cell);
    }
    return code;
}

enum error_code admin_seal(struct ledger *ledger,
                           const struct command *command,
                           struct ledger_result *ret_result,
                           struct error *err)
{
    const struct period *seal = &command->seal;
    struct cell *cell = row_find2(ledger->set, RECORD_PERIOD, seal->root_no, seal->month);
    const struct node *root = row_get(ledger->set, RECORD_NODE, seal->root_no);
    if (root == NULL) {
        return working_set_failure(ledger->set, err);
    }
    ret_result->no_effect =
        !cell_exists(cell) || ((const struct period *)cell_record(cell))->sealed != 0;
    if (ret_result->no_effect) {
        return ERR_OK;
    }
    load_time(ledger, root);
    struct period *period = working_set_change(ledger->set, cell);
    period->sealed = 1;
    period->row_count = seal->row_count;
    period->used_mcs = seal->used_mcs;
    period->mgs = seal->mgs;
    period->waived_mcs = seal->waived_mcs;
    period->runs = seal->runs;
    period->digest = seal->digest;
    chain_note(ledger, &(struct chain_note){
                           .root_no = seal->root_no,
                           .kind = NOTE_SEAL,
                           .subject = seal->month,
                           .at_ms = ledger->view.now_ms,
                           .digest = seal->digest,
                       });
    return ERR_OK;
}
