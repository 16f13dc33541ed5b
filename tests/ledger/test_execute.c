/* The life of a hold through the whole shell, on both engines. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/ledger/book.h"

ON_EVERY_BOOK(execute, a_job_freezes_settles_and_refunds_the_rest, 1000)
{
    struct command freeze = book_freeze("h1");
    cr_assert(eq(int, book_run(book, &freeze), ERR_OK));
    cr_assert(eq(i64, book->result.hold.hold.frozen_mcs, 4800000));
    cr_assert_str_eq(book->result.hold.project, "vision");
    cr_assert_str_eq(book->result.hold.models[0], "a100");
    book_pass_s(book, 60);
    struct command settle = book_settle("h1", BOOK_START_S, BOOK_START_S + 60);
    cr_assert(eq(int, book_run(book, &settle), ERR_OK));
    cr_assert(eq(i64, book->result.charged_mcs, 960000));
    cr_assert(eq(i64, book->result.refunded_mcs, 3840000));
    struct ledger_balance balance = book_balance(book, NODE_PROJECT, "vision", NULL);
    cr_assert(eq(i64, balance.counter.used_mcs, 960000));
    cr_assert(eq(i64, balance.counter.frozen_mcs, 0));
    cr_assert(eq(i64, balance.available_mcs, 1000 * BOOK_HOUR - 960000));
}
