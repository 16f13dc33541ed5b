/* The audit log: who changed what, written with the change, in the chain of its root (SPEC 10.3). */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ledger/audit.h"
#include "ledger/store/store.h"
#include "tests/ledger/book.h"

static const struct ledger_actor ann = {.role = ROLE_LEAD,
                                        .token_no = 7,
                                        .who = "t-ann",
                                        .name = "Ann",
                                        .address = "192.0.2.1"};

enum { ROWS_MAX = 32 };

struct log {
    size_t count;
    struct audit rows[ROWS_MAX];
};

static bool collect(void *context, const void *record)
{
    struct log *log = context;
    log->rows[log->count++] = *(const struct audit *)record;
    return log->count < ROWS_MAX;
}

static const struct log *read_log(struct book *book, int64_t root_no)
{
    static struct log log;
    struct error err = {.code = ERR_OK};
    struct ledger_reader *reader;
    const struct select_args args = {.n = {root_no, 0, 0, INT64_MAX}};
    log.count = 0;
    cr_assert(ledger_reader_open(book->url, &reader, &err) == ERR_OK, "%s", err.detail);
    cr_assert(ledger_reader_begin(reader, &err) == ERR_OK);
    cr_assert(ledger_read_list(reader, SELECT_AUDIT_ROOT, &args, collect, &log, &err) == ERR_OK);
    ledger_reader_end(reader);
    ledger_reader_close(reader);
    return &log;
}

static int64_t root_of(struct book *book)
{
    return book_node(book, NODE_ORGANIZATION, "acme", NULL).node_no;
}

static struct command cap_of(int64_t limit)
{
    struct command cap = book_cap(NODE_PROJECT, "vision", CAP_JOBS, limit);
    cap.if_match = MATCH_ANY;
    return cap;
}

ON_EVERY_BOOK(audit, a_change_is_written_with_who_when_where_before_and_after, 10)
{
    struct command first = cap_of(3);
    struct command second = cap_of(5);
    book->actor = &ann;
    cr_assert(eq(int, book_run(book, &first), ERR_OK));
    cr_assert(eq(int, book_run(book, &second), ERR_OK));
    const struct log *log = read_log(book, root_of(book));
    cr_assert(eq(sz, log->count, 2));
    const struct audit *row = &log->rows[1];
    cr_assert_str_eq(row->action, "cap.put");
    cr_assert_str_eq(row->what, "projects/vision/caps/jobs");
    cr_assert_str_eq(row->who, "t-ann");
    cr_assert_str_eq(row->name, "Ann");
    cr_assert_str_eq(row->address, "192.0.2.1");
    cr_assert_str_eq(row->before, "{\"limit\": 3, \"unit\": \"jobs\", \"soft\": false}");
    cr_assert_str_eq(row->after, "{\"limit\": 5, \"unit\": \"jobs\", \"soft\": false}");
    cr_assert(eq(i64, row->at_ms, book->now_ms));
    cr_assert(eq(i64, row->seq, 2));
    cr_assert(eq(i64, row->token_no, 7));
    cr_assert(eq(i64, row->node_no, book_node(book, NODE_PROJECT, "vision", NULL).node_no));
    cr_assert_str_eq(log->rows[0].before, "");
}

ON_EVERY_BOOK(audit, what_is_refused_tried_or_without_effect_is_not_written, 10)
{
    struct command cap = cap_of(3);
    struct command stale = cap_of(9);
    struct command tried = cap_of(7);
    stale.if_match = MATCH_VERSION;
    stale.if_version = 99;
    tried.dry_run = true;
    book->actor = &ann;
    cr_assert(eq(int, book_run(book, &cap), ERR_OK));
    cr_assert(eq(int, book_run(book, &cap), ERR_OK));
    cr_assert(eq(int, book_run(book, &stale), ERR_PRECONDITION_FAILED));
    cr_assert(eq(int, book_run(book, &tried), ERR_OK));
    cr_assert(eq(sz, read_log(book, root_of(book))->count, 1));
}

ON_EVERY_BOOK(audit, an_atomic_batch_that_fails_leaves_no_trace_and_numbers_have_no_gap, 10)
{
    struct command commands[] = {cap_of(3), cap_of(4), book_grant("g-bad", "nobody", BOOK_HOUR)};
    struct ledger_result results[3];
    book->actor = &ann;
    book_run_many(book, commands, 3, true, results);
    cr_assert(eq(int, results[0].error.code, ERR_ROLLED_BACK));
    cr_assert(eq(sz, read_log(book, root_of(book))->count, 0));
    book_run_many(book, commands, 2, true, results);
    const struct log *log = read_log(book, root_of(book));
    cr_assert(eq(sz, log->count, 2));
    cr_assert(eq(i64, log->rows[0].seq, 1));
    cr_assert(eq(i64, log->rows[1].seq, 2));
}

ON_EVERY_BOOK(audit, machines_and_the_clockwork_are_not_written, 10)
{
    struct command commands[] = {cap_of(3), book_freeze("h1"), book_verb(COMMAND_RELEASE, "h1")};
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        cr_assert(eq(int, book_run(book, &commands[i]), ERR_OK));
    }
    (void)book_tick(book);
    cr_assert(eq(sz, read_log(book, root_of(book))->count, 0));
}

ON_EVERY_BOOK(audit, money_stands_beside_its_journal_entries_in_one_link, 10)
{
    struct command grant = book_grant("g-2", "acme", BOOK_HOUR);
    book->actor = &ann;
    cr_assert(eq(int, book_run(book, &grant), ERR_OK));
    cr_assert(eq(int, book_run(book, &grant), ERR_OK));
    const struct log *log = read_log(book, root_of(book));
    cr_assert(eq(sz, log->count, 1), "a replay is no change");
    cr_assert_str_eq(log->rows[0].action, "grant");
    cr_assert_str_eq(log->rows[0].what, "grants/g-2");
    cr_assert(strstr(log->rows[0].after, "\"amount_mcs\": 3600000") != NULL);
}

ON_EVERY_BOOK(audit, a_refund_says_how_much_and_why, 10)
{
    struct command freeze = book_freeze("h1");
    struct command settle = book_settle("h1", BOOK_START_S - 60, BOOK_START_S);
    struct command refund = book_verb(COMMAND_REFUND, "h1");
    (void)strcpy(refund.refund.id, "r-1");
    (void)strcpy(refund.refund.reason, "said \"sorry\"");
    refund.refund.amount_mcs = 1000;
    cr_assert(eq(int, book_run(book, &freeze), ERR_OK));
    cr_assert(eq(int, book_run(book, &settle), ERR_OK));
    book->actor = &ann;
    cr_assert(eq(int, book_run(book, &refund), ERR_OK));
    const struct log *log = read_log(book, root_of(book));
    cr_assert(eq(sz, log->count, 1));
    cr_assert_str_eq(log->rows[0].what, "holds/h1");
    cr_assert_str_eq(log->rows[0].after,
                     "{\"task\": 0, \"attempt\": 0, \"amount_mcs\": 1000, \"id\": \"r-1\", "
                     "\"reason\": \"said \\\"sorry\\\"\"}");
}

ON_EVERY_BOOK(audit, what_belongs_to_no_root_is_in_the_chain_of_the_service, 10)
{
    struct command cluster = book_cluster("beta");
    book->actor = &ann;
    cr_assert(eq(int, book_run(book, &cluster), ERR_OK));
    cr_assert(eq(int, book_put_rates(book, "beta", 1, BOOK_START_S), ERR_OK));
    const struct log *log = read_log(book, 0);
    cr_assert(eq(sz, log->count, 2));
    cr_assert_str_eq(log->rows[0].what, "clusters/beta");
    cr_assert_str_eq(log->rows[1].what, "clusters/beta/rates/1");
}

/* ---- damage */

/* Change a row of the log behind the ledger's back. */
static void damage(struct book *book, int64_t audit_no, void (*change)(struct audit *audit))
{
    struct store *store;
    struct error err = {.code = ERR_OK};
    static struct audit audit;
    bool found;
    audit.audit_no = audit_no;
    ledger_close(book->ledger);
    book->ledger = NULL;
    cr_assert(store_open(book->url, STORE_WRITE, &store, &err) == ERR_OK, "%s", err.detail);
    cr_assert(store_begin(store, &err) == ERR_OK);
    cr_assert(store_get(store, &record_types[RECORD_AUDIT], &audit, &found, &err) == ERR_OK);
    cr_assert(found);
    change(&audit);
    cr_assert(store_put(store, &record_types[RECORD_AUDIT], &audit, &err) == ERR_OK);
    cr_assert(store_commit(store, &err) == ERR_OK);
    store_close(store);
}

static void blame_another(struct audit *audit)
{
    (void)strcpy(audit->who, "t-bob");
}

static void blame_well(struct audit *audit)
{
    blame_another(audit);
    audit->content = audit_content(audit);
}

static void move_in_time(struct audit *audit)
{
    audit->at_ms++;
}

static void hide(struct audit *audit)
{
    audit->root_no = 99;
}

Test(audit, every_damage_to_the_log_is_found)
{
    static const struct {
        void (*change)(struct audit *audit);
        const char *says;
    } damages[] = {
        {blame_another, "texts of change 1"},
        {blame_well, "hash of link"},
        {move_in_time, "hash of link"},
        {hide, "hash of link"},
    };
    for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
        static struct book book;
        struct command cap = cap_of(3);
        book_init_standard(&book, "memory", 10);
        book.actor = &ann;
        cr_assert(eq(int, book_run(&book, &cap), ERR_OK));
        cr_assert(eq(i64, book_check(&book), 0), "%s", book.first_difference);
        damage(&book, 1, damages[i].change);
        cr_assert(gt(i64, book_check(&book), 0), "damage %zu", i);
        cr_assert(strstr(book.first_difference, damages[i].says) != NULL, "%zu: %s", i,
                  book.first_difference);
        book_fini(&book);
    }
}

/* ---- values */

Test(audit, a_long_value_becomes_its_digest)
{
    struct audit_values values;
    char text[400];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    audit_begin(&values);
    for (int i = 0; i < 3; i++) {
        audit_add_text(&values, "text", text);
    }
    const char *said = audit_end(&values);
    cr_assert(strncmp(said, "{\"bytes\": 1233, \"sha256\": \"", 27) == 0, "%s", said);
    cr_assert(eq(sz, strlen(said), 27 + 64 + 2));
}

Test(audit, a_value_that_just_fits_is_written_out)
{
    struct audit_values values;
    char text[RECORD_AUDIT_BYTES];
    const size_t around = strlen("{\"t\": \"\"}");
    memset(text, 'x', sizeof text);
    text[RECORD_AUDIT_BYTES - 1 - around] = '\0';
    audit_begin(&values);
    audit_add_text(&values, "t", text);
    const char *said = audit_end(&values);
    cr_assert(eq(sz, strlen(said), RECORD_AUDIT_BYTES - 1));
    cr_assert(said[RECORD_AUDIT_BYTES - 2] == '}');
}

Test(audit, members_are_quoted_and_separated)
{
    struct audit_values values;
    audit_begin(&values);
    audit_add_null(&values, "a");
    audit_add_flag(&values, "b", true);
    audit_add_number(&values, "c", -5);
    audit_add_time(&values, "d", BOOK_START_S);
    audit_add_time(&values, "e", 0);
    audit_add_text(&values, "f", "\\ \n");
    cr_assert_str_eq(audit_end(&values),
                     "{\"a\": null, \"b\": true, \"c\": -5, \"d\": \"2026-12-01T00:00:00Z\", "
                     "\"e\": null, \"f\": \"\\\\ \\u000a\"}");
}
