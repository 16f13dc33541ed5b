/* Closing months, statements, and starting a check at a close. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ledger/core/flow.h"
#include "ledger/store/store.h"
#include "tests/ledger/book.h"

enum { DECEMBER = 2026 * 12 + 11 };

#define DAY_S INT64_C(86400)

static enum error_code run(struct book *book, struct command command)
{
    return book_run(book, &command);
}

static struct command closing(int64_t month)
{
    struct command command = book_command(COMMAND_CLOSE);
    (void)strcpy(command.close.root, "acme");
    command.close.month = month;
    return command;
}

static struct ledger_statement statement(struct book *book, const char *node, int64_t month)
{
    struct error err;
    struct ledger_statement statement;
    struct node payer = book_node(book, NODE_ORGANIZATION, node, NULL);
    cr_assert(ledger_reader_begin(book->keeper, &err) == ERR_OK);
    cr_assert(ledger_read_statement(book->keeper, &payer, month, &statement, &err) == ERR_OK);
    ledger_reader_end(book->keeper);
    cr_assert(
        eq(i64, statement.closing_mcs, statement.opening_mcs + flow_net_mcs(&statement.flow)));
    return statement;
}

static struct period rows_of(struct book *book, int64_t month)
{
    struct error err;
    struct period period = {0};
    period.root_no = book_node(book, NODE_ORGANIZATION, "acme", NULL).node_no;
    period.month = month;
    cr_assert(ledger_reader_begin(book->keeper, &err) == ERR_OK);
    cr_assert(ledger_period_rows(book->keeper, &period, NULL, NULL, &err) == ERR_OK);
    ledger_reader_end(book->keeper);
    return period;
}

/* A job of an hour of one A100 that ended at the given second: 16 core-hours. */
static void job(struct book *book, const char *id, int64_t ended_s)
{
    struct command freeze = book_freeze(id);
    freeze.freeze.time_limit_s = 7200;
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(eq(int, run(book, book_settle(id, ended_s - 3600, ended_s)), ERR_OK));
}

/* Into January, with what is due done. */
static void pass_december(struct book *book)
{
    book_pass_s(book, 31 * DAY_S);
    (void)book_tick(book);
}

ON_EVERY_BOOK(periods, only_what_has_ended_is_closed_in_order_and_again_with_the_same_answer, 1000)
{
    job(book, "h1", BOOK_START_S);
    cr_assert(eq(int, run(book, closing(DECEMBER)), ERR_INVALID_STATE));
    pass_december(book);
    cr_assert(eq(int, run(book, closing(DECEMBER + 1)), ERR_INVALID_STATE));
    struct command tried = closing(DECEMBER);
    tried.dry_run = true;
    cr_assert(eq(int, run(book, tried), ERR_OK));
    cr_assert(eq(int, run(book, closing(DECEMBER)), ERR_OK));
    cr_assert(not(book->result.replayed));
    struct period first = book->result.period;
    book_pass_s(book, 60 * DAY_S);
    (void)book_tick(book);
    cr_assert(eq(int, run(book, closing(DECEMBER)), ERR_OK));
    cr_assert(book->result.replayed);
    cr_assert(eq(int, memcmp(&first, &book->result.period, sizeof first), 0));
    cr_assert(eq(int, run(book, closing(DECEMBER + 2)), ERR_INVALID_STATE));
    cr_assert(eq(int, run(book, closing(DECEMBER + 1)), ERR_OK));
    cr_assert(eq(int, run(book, closing(DECEMBER - 20)), ERR_INVALID_STATE));
}

ON_EVERY_BOOK(periods, the_first_close_seals_the_months_before_it, 1000)
{
    job(book, "h1", BOOK_START_S - 100 * DAY_S);
    job(book, "h2", BOOK_START_S - 20 * DAY_S);
    pass_december(book);
    cr_assert(eq(int, run(book, closing(DECEMBER)), ERR_OK));
    cr_assert(eq(int, run(book, closing(DECEMBER - 4)), ERR_OK));
    cr_assert(book->result.replayed);
    cr_assert(eq(i64, book->result.period.closing_month, DECEMBER));
    cr_assert(eq(int, run(book, closing(DECEMBER - 1)), ERR_OK));
    cr_assert(eq(int, run(book, closing(DECEMBER - 2)), ERR_INVALID_STATE)); /* nothing in it */
}

ON_EVERY_BOOK(periods, what_comes_later_leaves_a_closed_month_as_it_is, 1000)
{
    int64_t ended_s = BOOK_START_S + 30 * DAY_S;
    struct command late = book_freeze("h2");
    struct command correct = book_verb(COMMAND_CORRECT, "h1");
    struct command refund = book_verb(COMMAND_REFUND, "h1");
    book_pass_s(book, 30 * DAY_S);
    (void)book_tick(book);
    job(book, "h1", ended_s);
    cr_assert(eq(int, run(book, late), ERR_OK));
    book_pass_s(book, DAY_S);
    (void)book_tick(book);
    cr_assert(eq(int, run(book, closing(DECEMBER)), ERR_OK));
    struct period before = rows_of(book, DECEMBER);
    cr_assert(eq(i64, before.used_mcs, 16 * BOOK_HOUR));

    cr_assert(eq(int, run(book, book_settle("h2", ended_s - 300, ended_s)), ERR_OK));
    correct.run.started_at_s = ended_s - 7200;
    correct.run.ended_at_s = ended_s;
    (void)strcpy(correct.run.source, "sacct");
    (void)strcpy(correct.run.reason, "it ran for two hours");
    cr_assert(eq(int, run(book, correct), ERR_OK));
    (void)strcpy(refund.refund.id, "r1");
    (void)strcpy(refund.refund.reason, "sorry");
    refund.refund.amount_mcs = 5 * BOOK_HOUR;
    cr_assert(eq(int, run(book, refund), ERR_OK));

    struct period after = rows_of(book, DECEMBER);
    cr_assert(digest_equal(&before.digest, &after.digest));
    struct ledger_statement january = statement(book, "acme", DECEMBER + 1);
    cr_assert(eq(i64, january.flow.used_mcs, 0));
    cr_assert(eq(i64, january.flow.corrected_mcs, 16 * BOOK_HOUR + 4800000));
    cr_assert(eq(i64, january.flow.refunded_mcs, 5 * BOOK_HOUR));
    cr_assert(eq(i64, january.opening_mcs, 984 * BOOK_HOUR));
    cr_assert(eq(i64, rows_of(book, DECEMBER + 1).used_mcs, 11 * BOOK_HOUR + 4800000));
    cr_assert(statement(book, "acme", DECEMBER).closed);
    cr_assert(not(january.closed));
}

ON_EVERY_BOOK(periods, a_statement_tells_every_line_and_a_grant_expires_in_its_last_month, 0)
{
    struct command grant = book_grant("g1", "acme", 100 * BOOK_HOUR);
    struct command transfer = book_command(COMMAND_TRANSFER);
    struct command withdraw = book_command(COMMAND_WITHDRAW);
    grant.movement.end_s = BOOK_START_S + 31 * DAY_S;
    cr_assert(eq(int, run(book, book_organization("side", "acme", FUNDING_SELF)), ERR_OK));
    cr_assert(eq(int, run(book, grant), ERR_OK));
    (void)strcpy(transfer.movement.id, "t1");
    (void)strcpy(transfer.movement.from, "acme");
    (void)strcpy(transfer.movement.to, "side");
    transfer.movement.amount_mcs = 10 * BOOK_HOUR;
    cr_assert(eq(int, run(book, transfer), ERR_OK));
    (void)strcpy(withdraw.movement.id, "w1");
    (void)strcpy(withdraw.movement.from, "acme");
    withdraw.movement.amount_mcs = 20 * BOOK_HOUR;
    cr_assert(eq(int, run(book, withdraw), ERR_OK));
    job(book, "h1", BOOK_START_S);
    book_pass_s(book, 40 * DAY_S); /* the daemon was down when the grant ended */
    (void)book_tick(book);

    struct ledger_statement acme = statement(book, "acme", DECEMBER);
    cr_assert(eq(i64, acme.opening_mcs, -16 * BOOK_HOUR)); /* the job ran in November */
    cr_assert(eq(i64, acme.flow.granted_mcs, 100 * BOOK_HOUR));
    cr_assert(eq(i64, acme.flow.out_mcs, 10 * BOOK_HOUR));
    cr_assert(eq(i64, acme.flow.withdrawn_mcs, 20 * BOOK_HOUR));
    cr_assert(eq(i64, acme.flow.expired_mcs, 54 * BOOK_HOUR));
    cr_assert(eq(i64, acme.closing_mcs, 0));
    struct ledger_statement side = statement(book, "side", DECEMBER);
    cr_assert(eq(i64, side.flow.in_mcs, 10 * BOOK_HOUR));
    cr_assert(eq(i64, side.flow.expired_mcs, 10 * BOOK_HOUR));
    cr_assert(eq(i64, statement(book, "acme", DECEMBER + 1).opening_mcs, 0));
    cr_assert(eq(i64, statement(book, "acme", DECEMBER - 1).flow.used_mcs, 16 * BOOK_HOUR));
}

ON_EVERY_BOOK(periods, a_check_starts_at_a_close_and_sees_what_came_after, 1000)
{
    job(book, "h1", BOOK_START_S);
    cr_assert(eq(int, run(book, book_freeze("open")), ERR_OK));
    cr_assert(eq(int, run(book, book_verb(COMMAND_START, "open")), ERR_OK));
    pass_december(book);
    cr_assert(eq(int, run(book, closing(DECEMBER)), ERR_OK));
    struct command seal = book_command(COMMAND_SEAL);
    seal.seal = rows_of(book, DECEMBER);
    cr_assert(eq(int, run(book, seal), ERR_OK));
    job(book, "h2", BOOK_START_S + 31 * DAY_S);
    cr_assert(eq(int, run(book, book_settle("open", BOOK_START_S, BOOK_START_S + 300)), ERR_OK));
    cr_assert(eq(i64, book_check_since(book, DECEMBER), 0), "%s", book->first_difference);
    cr_assert(eq(i64, book_check_since(book, DECEMBER + 1), 0), "%s", book->first_difference);
}

ON_EVERY_BOOK(periods, what_is_still_open_is_counted_with_the_stale_first, 1000)
{
    struct command freeze = book_freeze("unbound");
    freeze.freeze.ttl_s = 90 * DAY_S;
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("silent")), ERR_OK));
    cr_assert(eq(int, run(book, book_verb(COMMAND_START, "silent")), ERR_OK));
    book_pass_s(book, 31 * DAY_S - 60);
    (void)book_tick(book);
    cr_assert(eq(int, run(book, book_freeze("alive")), ERR_OK));
    cr_assert(eq(int, run(book, book_verb(COMMAND_START, "alive")), ERR_OK));
    book_pass_s(book, 120);
    (void)book_tick(book);
    struct error err;
    static struct ledger_still_open open;
    struct node root = book_node(book, NODE_ORGANIZATION, "acme", NULL);
    cr_assert(ledger_reader_begin(book->keeper, &err) == ERR_OK);
    cr_assert(ledger_read_still_open(book->keeper, &root, DECEMBER, book->now_ms, &open, &err) ==
              ERR_OK);
    ledger_reader_end(book->keeper);
    cr_assert(eq(i64, open.runs, 2));
    cr_assert(eq(i64, open.stale_runs, 1));
    cr_assert(eq(i64, open.unbound, 1));
    cr_assert(eq(i64, open.listed, 2));
}

/* ---- damage */

static int64_t damaged(struct book *book, enum record_id type, void *record)
{
    struct error err;
    struct store *store = NULL;
    ledger_close(book->ledger);
    cr_assert(store_open(book->url, STORE_WRITE, &store, &err) == ERR_OK);
    cr_assert(store_begin(store, &err) == ERR_OK);
    cr_assert(store_put(store, &record_types[type], record, &err) == ERR_OK);
    cr_assert(store_commit(store, &err) == ERR_OK);
    store_close(store);
    cr_assert(ledger_open(book->url, &(struct ledger_options){0}, &book->ledger, &err) == ERR_OK);
    return book_check(book);
}

Test(periods, a_check_finds_usage_of_a_closed_month_that_was_changed)
{
    static struct book book;
    book_init_standard(&book, "sqlite", 1000);
    book_pass_s(&book, 3600);
    job(&book, "h1", BOOK_START_S + 3600);
    pass_december(&book);
    cr_assert(eq(int, run(&book, closing(DECEMBER)), ERR_OK));
    struct command seal = book_command(COMMAND_SEAL);
    seal.seal = rows_of(&book, DECEMBER);
    cr_assert(eq(int, run(&book, seal), ERR_OK));
    cr_assert(eq(i64, book_check(&book), 0), "%s", book.first_difference);

    struct error err;
    struct period period;
    cr_assert(ledger_read_period(book.keeper, seal.seal.root_no, DECEMBER, &period, &err) ==
              ERR_OK);
    struct period changed = period;
    changed.digest.bytes[0] ^= 1;
    cr_assert(gt(i64, damaged(&book, RECORD_PERIOD, &changed), 0));
    cr_assert(eq(i64, damaged(&book, RECORD_PERIOD, &period), 0), "%s", book.first_difference);
    changed = period;
    changed.last_seq++;
    cr_assert(gt(i64, damaged(&book, RECORD_PERIOD, &changed), 0));
    cr_assert(eq(i64, damaged(&book, RECORD_PERIOD, &period), 0), "%s", book.first_difference);

    struct payer_month month = {
        .node_no = seal.seal.root_no, .month = DECEMBER, .root_no = seal.seal.root_no};
    month.flow = statement(&book, "acme", DECEMBER).flow;
    month.flow.used_mcs++;
    cr_assert(gt(i64, damaged(&book, RECORD_PAYER_MONTH, &month), 0));
    month.flow.used_mcs--;
    cr_assert(eq(i64, damaged(&book, RECORD_PAYER_MONTH, &month), 0), "%s", book.first_difference);
    book_fini(&book);
}
