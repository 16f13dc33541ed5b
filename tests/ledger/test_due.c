/* The clockwork: ttl, silent agents, months (SPEC 5.3, 8.1). */
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

ON_EVERY_BOOK(due, an_unbound_hold_expires_at_the_end_of_its_ttl, 100)
{
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    book_pass_s(book, 599);
    (void)book_tick(book);
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_FROZEN));
    book_pass_s(book, 1);
    (void)book_tick(book);
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_EXPIRED));
    cr_assert(eq(i64, book_balance(book, NODE_PROJECT, "vision", NULL).counter.frozen_mcs, 0));
}

ON_EVERY_BOOK(due, a_bound_hold_never_ends_by_time, 100)
{
    struct command bind = book_verb(COMMAND_BIND, "h1");
    (void)strcpy(bind.bind.job_id, "1");
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, bind), ERR_OK));
    book_pass_s(book, 1000000);
    (void)book_tick(book);
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_FROZEN));
}

ON_EVERY_BOOK(due, a_silent_agent_stops_the_ttl_and_finds_a_full_one_when_it_returns, 100)
{
    struct command poll = book_command(COMMAND_TOUCH_AGENT);
    (void)strcpy(poll.cluster, "alpha");
    cr_assert(eq(int, run(book, poll), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    book_pass_s(book, 5000);
    (void)book_tick(book);
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_FROZEN));
    cr_assert(eq(int, run(book, poll), ERR_OK));
    book_pass_s(book, 100);
    cr_assert(eq(int, run(book, poll), ERR_OK));
    (void)book_tick(book);
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_FROZEN));
    for (int i = 0; i < 10; i++) {
        book_pass_s(book, 100);
        cr_assert(eq(int, run(book, poll), ERR_OK));
        (void)book_tick(book);
    }
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_EXPIRED));
}

/* The agent polls, the last time `silent_s` before the ttl ends; what becomes of the hold then. */
static enum task_state state_after_silence(struct book *book, int64_t silent_s)
{
    struct command poll = book_command(COMMAND_TOUCH_AGENT);
    (void)strcpy(poll.cluster, "alpha");
    cr_assert(eq(int, run(book, poll), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    for (int64_t left_s = 600 - silent_s; left_s > 0; left_s -= 100) {
        book_pass_s(book, left_s < 100 ? left_s : 100);
        cr_assert(eq(int, run(book, poll), ERR_OK));
    }
    book_pass_s(book, silent_s);
    (void)book_tick(book);
    return book_hold(book, "h1").state;
}

ON_EVERY_BOOK(due, an_agent_that_was_heard_of_two_minutes_ago_is_alive, 100)
{
    cr_assert(eq(int, state_after_silence(book, 120), TASK_EXPIRED));
}

ON_EVERY_BOOK(due, an_agent_that_was_not_heard_of_for_two_minutes_is_silent, 100)
{
    cr_assert(eq(int, state_after_silence(book, 121), TASK_FROZEN));
}

/* What a month's usage came to, and in how many rows. */
struct month_sum {
    int64_t month;
    int64_t used_mcs;
    int64_t mgs;
    int64_t runs;
};

static bool add_row(void *context, const struct report_row *row)
{
    struct month_sum *sum = context;
    if (row->period == sum->month) {
        sum->used_mcs += row->used_mcs;
        sum->mgs += row->mgs;
        sum->runs += row->runs;
    }
    return true;
}

static struct month_sum month_of(struct book *book, int64_t month)
{
    struct error err;
    struct month_sum sum = {.month = month};
    struct report_query query = {
        .root_no = book_node(book, NODE_ORGANIZATION, "acme", NULL).node_no,
        .from = 0,
        .to = 12 * 2100,
        .group_by = REPORT_PROJECT,
    };
    cr_assert(ledger_reader_begin(book->keeper, &err) == ERR_OK);
    cr_assert(ledger_report_usage(book->keeper, &query, add_row, &sum, &err) == ERR_OK);
    ledger_reader_end(book->keeper);
    return sum;
}

enum { DECEMBER = 2026 * 12 + 11 };

ON_EVERY_BOOK(due, a_run_over_a_boundary_is_charged_when_the_month_turns_and_split_exactly, 1000)
{
    struct command freeze = book_freeze("h1");
    struct command start = book_verb(COMMAND_START, "h1");
    int64_t boundary_s = BOOK_START_S + INT64_C(31) * 86400;
    freeze.freeze.time_limit_s = 7200;
    book_pass_s(book, INT64_C(31) * 86400 - 3600);
    (void)book_tick(book);
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(eq(int, run(book, start), ERR_OK));
    book_pass_s(book, 3599);
    (void)book_tick(book);
    cr_assert(eq(i64, month_of(book, DECEMBER).used_mcs, 0));
    book_pass_s(book, 1);
    (void)book_tick(book);
    cr_assert(eq(i64, month_of(book, DECEMBER).used_mcs, 16000 * 3600));
    cr_assert(eq(i64, month_of(book, DECEMBER).mgs, 1000 * 3600));
    cr_assert(eq(i64, book_hold(book, "h1").hold.frozen_mcs, 16000 * 3600));
    book_pass_s(book, 1800);
    cr_assert(eq(int, run(book, book_settle("h1", boundary_s - 3600, boundary_s + 1800)), ERR_OK));
    cr_assert(eq(i64, book->result.charged_mcs, 16000 * 5400));
    cr_assert(eq(i64, book->result.refunded_mcs, 16000 * 1800));
    cr_assert(eq(i64, month_of(book, DECEMBER).used_mcs, 16000 * 3600));
    cr_assert(eq(i64, month_of(book, DECEMBER + 1).used_mcs, 16000 * 1800));
    cr_assert(eq(i64, month_of(book, DECEMBER + 1).runs, 1));
}

ON_EVERY_BOOK(due, a_run_that_has_used_its_freeze_does_not_hold_up_the_month, 1000)
{
    struct command start = book_verb(COMMAND_START, "h1");
    book_pass_s(book, INT64_C(31) * 86400 - 3600);
    (void)book_tick(book);
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, start), ERR_OK));
    book_pass_s(book, INT64_C(70) * 86400);
    cr_assert(ge(sz, book_tick(book), 1));
    cr_assert(eq(sz, book_tick(book), 0));
    cr_assert(eq(i64, month_of(book, DECEMBER).used_mcs, A_JOB));
}
