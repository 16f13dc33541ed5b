/* Grants, transfers, withdrawals, ends of grants, overdraft. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/ledger/book.h"

#define A_JOB INT64_C(4800000)

static enum error_code run(struct book *book, struct command command)
{
    return book_run(book, &command);
}

static struct command transfer(const char *id, const char *from, const char *to, int64_t mcs)
{
    struct command command = book_command(COMMAND_TRANSFER);
    (void)strcpy(command.movement.id, id);
    (void)strcpy(command.movement.from, from);
    (void)strcpy(command.movement.to, to);
    command.movement.amount_mcs = mcs;
    return command;
}

static int64_t available(struct book *book, const char *name)
{
    return book_balance(book, NODE_ORGANIZATION, name, NULL).available_mcs;
}

ON_EVERY_BOOK(money, a_grant_is_made_once, 0)
{
    struct command grant = book_grant("g1", "acme", 1000);
    cr_assert(eq(int, run(book, grant), ERR_OK));
    cr_assert(eq(i64, book->result.grant.available_mcs, 1000));
    cr_assert(eq(int, run(book, grant), ERR_OK));
    cr_assert(book->result.replayed);
    cr_assert(eq(i64, available(book, "acme"), 1000));
    grant.movement.amount_mcs = 1001;
    cr_assert(eq(int, run(book, grant), ERR_ID_REUSED));
    cr_assert(eq(int, run(book, book_grant("g2", "vision", 1000)), ERR_NOT_FUNDED_HERE));
    cr_assert(eq(int, run(book, book_grant("g2", "nowhere", 1000)), ERR_NOT_FOUND));
}

ON_EVERY_BOOK(money, a_transfer_keeps_the_end_of_what_it_moves, 0)
{
    struct command grant = book_grant("g1", "acme", 1000);
    grant.movement.end_s = BOOK_START_S + 1000;
    cr_assert(eq(int, run(book, book_organization("side", "acme", FUNDING_SELF)), ERR_OK));
    cr_assert(eq(int, run(book, grant), ERR_OK));
    cr_assert(eq(int, run(book, book_grant("g2", "acme", 1000)), ERR_OK));
    cr_assert(eq(int, run(book, transfer("t1", "acme", "side", 1200)), ERR_OK));
    cr_assert(eq(i64, available(book, "acme"), 800));
    cr_assert(eq(i64, available(book, "side"), 1200));
    cr_assert(eq(int, run(book, transfer("t1", "acme", "side", 1200)), ERR_OK));
    cr_assert(book->result.replayed);
    cr_assert(eq(int, run(book, transfer("t2", "acme", "side", 801)), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(int, run(book, transfer("t2", "acme", "vision", 1)), ERR_NOT_FUNDED_HERE));
    book_pass_s(book, 1000);
    cr_assert(ge(sz, book_tick(book), 1));
    cr_assert(eq(i64, available(book, "acme"), 800));
    cr_assert(eq(i64, available(book, "side"), 200));
}

ON_EVERY_BOOK(money, a_node_that_pays_never_falls_back_on_its_parent, 100)
{
    cr_assert(eq(int, run(book, book_organization("side", "acme", FUNDING_SELF)), ERR_OK));
    cr_assert(eq(int, run(book, book_project("speech", "side")), ERR_OK));
    struct command freeze = book_freeze("h1");
    (void)strcpy(freeze.freeze.account, "speech");
    cr_assert(eq(int, run(book, freeze), ERR_QUOTA_INSUFFICIENT));
    cr_assert_str_eq(book->result.refusal->limits[0].violation.node, "side");
    cr_assert(eq(int, run(book, transfer("t1", "acme", "side", A_JOB)), ERR_OK));
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert_str_eq(book->result.hold.payer, "side");
}

ON_EVERY_BOOK(money, use_above_the_freeze_overdraws_and_the_next_grant_repays, 0)
{
    cr_assert(eq(int, run(book, book_grant("g1", "acme", A_JOB)), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    book_pass_s(book, 600);
    cr_assert(eq(int, run(book, book_settle("h1", BOOK_START_S, BOOK_START_S + 600)), ERR_OK));
    cr_assert(eq(i64, book->result.overrun_mcs, A_JOB));
    struct ledger_balance balance = book_balance(book, NODE_ORGANIZATION, "acme", NULL);
    cr_assert(balance.overdrawn);
    cr_assert(eq(i64, balance.available_mcs, -A_JOB));
    cr_assert(eq(int, run(book, book_grant("g2", "acme", 3 * A_JOB)), ERR_OK));
    balance = book_balance(book, NODE_ORGANIZATION, "acme", NULL);
    cr_assert(not(balance.overdrawn));
    cr_assert(eq(i64, balance.available_mcs, 2 * A_JOB));
}

ON_EVERY_BOOK(money, what_returns_to_a_grant_that_has_ended_expires, 0)
{
    struct command grant = book_grant("g1", "acme", A_JOB);
    grant.movement.end_s = BOOK_START_S + 100;
    cr_assert(eq(int, run(book, grant), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    book_pass_s(book, 150);
    (void)book_tick(book);
    cr_assert(eq(int, run(book, book_settle("h1", BOOK_START_S, BOOK_START_S + 150)), ERR_OK));
    cr_assert(eq(i64, book->result.refunded_mcs, A_JOB / 2));
    cr_assert(eq(i64, book->result.expired_mcs, A_JOB / 2));
    cr_assert(eq(i64, available(book, "acme"), 0));
}

ON_EVERY_BOOK(money, an_unlimited_root_only_counts, -1)
{
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    struct ledger_balance balance = book_balance(book, NODE_ORGANIZATION, "acme", NULL);
    cr_assert(balance.unlimited);
    cr_assert(not(balance.overdrawn));
    cr_assert(eq(i64, balance.counter.frozen_mcs, A_JOB));
}

ON_EVERY_BOOK(money, a_payer_has_a_bounded_number_of_grants, 0)
{
    char id[16];
    for (int i = 0; i < LIMIT_GRANTS - 2; i++) {
        (void)snprintf(id, sizeof id, "g%d", i);
        cr_assert(eq(int, run(book, book_grant(id, "acme", 1)), ERR_OK));
    }
    cr_assert(eq(int, run(book, book_grant("more", "acme", 1)), ERR_INVALID_FIELD));
    cr_assert(eq(i64, available(book, "acme"), LIMIT_GRANTS - 2));
}
