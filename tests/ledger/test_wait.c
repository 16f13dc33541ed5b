/* What waits for room: order, promotion, holding back (SPEC 5.13). */
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

static struct command waiting_freeze(const char *id)
{
    struct command command = book_freeze(id);
    command.freeze.on_insufficient = INSUFFICIENT_WAIT;
    return command;
}

static struct command release(const char *id)
{
    struct command command = book_verb(COMMAND_RELEASE, id);
    command.all_tasks = true;
    return command;
}

static void cap_jobs(struct book *book, int64_t limit)
{
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_JOBS, limit)), ERR_OK));
}

ON_EVERY_BOOK(wait, what_waits_is_promoted_in_order_and_told_by_the_feed, 100)
{
    int64_t clusters[4];
    size_t count;
    cap_jobs(book, 1);
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, waiting_freeze("h2")), ERR_OK));
    cr_assert(book->result.waiting);
    cr_assert(eq(int, run(book, waiting_freeze("h3")), ERR_OK));
    struct ledger_balance balance = book_balance(book, NODE_PROJECT, "vision", NULL);
    cr_assert(eq(i64, balance.counter.waiting_mcs, 2 * A_JOB));
    cr_assert(not(ledger_feed_changed(book->ledger, clusters, 4, &count)));
    cr_assert(eq(int, run(book, release("h1")), ERR_OK));
    cr_assert(eq(int, book_hold(book, "h2").state, TASK_FROZEN));
    cr_assert(eq(int, book_hold(book, "h3").state, TASK_WAITING));
    cr_assert(ledger_feed_changed(book->ledger, clusters, 4, &count));
    cr_assert(eq(sz, count, 1));
    cr_assert(not(ledger_feed_changed(book->ledger, clusters, 4, &count)));
}

ON_EVERY_BOOK(wait, nothing_newer_passes_at_a_limit_where_others_wait, 100)
{
    struct command large = waiting_freeze("large");
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_GPUS, 4000)), ERR_OK));
    struct command two = book_freeze("two");
    two.freeze.resources.gpus[0].count = 2;
    cr_assert(eq(int, run(book, two), ERR_OK));
    large.freeze.resources.gpus[0].count = 4;
    cr_assert(eq(int, run(book, large), ERR_OK));
    cr_assert(book->result.waiting);
    cr_assert(eq(int, run(book, book_freeze("small")), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(i64, book->result.refusal->waiting_ahead, 1));
    cr_assert(eq(i64, book->result.refusal->limits[0].violation.missing, 0));
    cr_assert(eq(int, run(book, waiting_freeze("small")), ERR_OK));
    cr_assert(book->result.waiting);
    cr_assert(eq(int, run(book, release("large")), ERR_OK));
    cr_assert(eq(int, book_hold(book, "small").state, TASK_FROZEN));
}

ON_EVERY_BOOK(wait, what_exceeds_a_cap_by_itself_does_not_wait, 100)
{
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_MONTH, A_JOB - 1)), ERR_OK));
    cr_assert(eq(int, run(book, waiting_freeze("h1")), ERR_QUOTA_INSUFFICIENT));
}

ON_EVERY_BOOK(wait, a_grant_promotes_what_waits_for_funds, 0)
{
    cr_assert(eq(int, run(book, waiting_freeze("h1")), ERR_OK));
    cr_assert(book->result.waiting);
    cr_assert(eq(int, run(book, book_grant("g1", "acme", A_JOB)), ERR_OK));
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_FROZEN));
}

ON_EVERY_BOOK(wait, a_grant_that_begins_later_promotes_when_it_begins, 0)
{
    struct command grant = book_grant("g1", "acme", A_JOB);
    grant.movement.start_s = BOOK_START_S + 100;
    (void)book_tick(book);
    cr_assert(eq(int, run(book, waiting_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, grant), ERR_OK));
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_WAITING));
    book_pass_s(book, 100);
    (void)book_tick(book);
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_FROZEN));
}

ON_EVERY_BOOK(wait, a_cap_that_is_raised_or_lifted_promotes, 100)
{
    cap_jobs(book, 1);
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, waiting_freeze("h2")), ERR_OK));
    cr_assert(eq(int, run(book, waiting_freeze("h3")), ERR_OK));
    cap_jobs(book, 2);
    cr_assert(eq(int, book_hold(book, "h2").state, TASK_FROZEN));
    cr_assert(eq(int, book_hold(book, "h3").state, TASK_WAITING));
    struct command lift = book_cap(NODE_PROJECT, "vision", CAP_JOBS, 0);
    lift.kind = COMMAND_DELETE_CAP;
    cr_assert(eq(int, run(book, lift), ERR_OK));
    cr_assert(eq(int, book_hold(book, "h3").state, TASK_FROZEN));
}

ON_EVERY_BOOK(wait, the_turn_of_a_month_promotes, 100)
{
    struct command wait = waiting_freeze("h2");
    wait.freeze.ttl_s = 40 * 86400;
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_MONTH, A_JOB)), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    book_pass_s(book, 300);
    cr_assert(eq(int, run(book, book_settle("h1", BOOK_START_S, BOOK_START_S + 300)), ERR_OK));
    cr_assert(eq(int, run(book, wait), ERR_OK));
    cr_assert(book->result.waiting);
    book_pass_s(book, INT64_C(31) * 86400 - 301);
    (void)book_tick(book);
    cr_assert(eq(int, book_hold(book, "h2").state, TASK_WAITING));
    book_pass_s(book, 1);
    (void)book_tick(book);
    cr_assert(eq(int, book_hold(book, "h2").state, TASK_FROZEN));
}

/* h1 ran in November and is charged; h2 waits in December until all of that comes back. */
static void refund_last_month(struct book *book)
{
    struct command refund = book_verb(COMMAND_REFUND, "h1");
    (void)strcpy(refund.refund.id, "r1");
    refund.refund.all = true;
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(
        eq(int, run(book, book_settle("h1", BOOK_START_S - 1000, BOOK_START_S - 700)), ERR_OK));
    cr_assert(eq(i64, book->result.charged_mcs, A_JOB));
    cr_assert(eq(int, run(book, waiting_freeze("h2")), ERR_OK));
    cr_assert(book->result.waiting);
    cr_assert(eq(int, run(book, refund), ERR_OK));
    cr_assert(eq(int, book_hold(book, "h2").state, TASK_FROZEN));
}

ON_EVERY_BOOK(wait, a_refund_of_an_earlier_month_promotes_what_waits_for_funds, 0)
{
    cr_assert(eq(int, run(book, book_grant("g1", "acme", A_JOB)), ERR_OK));
    refund_last_month(book);
}

ON_EVERY_BOOK(wait, a_refund_of_an_earlier_month_promotes_what_waits_for_a_longer_cap, 100)
{
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_QUARTER, A_JOB)), ERR_OK));
    refund_last_month(book);
}

ON_EVERY_BOOK(wait, a_requeue_without_room_waits_and_a_closed_node_releases_it, 100)
{
    struct command requeue = book_verb(COMMAND_REQUEUE, "h1");
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_MONTH, 1000)), ERR_OK));
    book_pass_s(book, 10);
    requeue.run.started_at_s = BOOK_START_S;
    requeue.run.ended_at_s = BOOK_START_S + 10;
    cr_assert(eq(int, run(book, requeue), ERR_OK));
    cr_assert(book->result.waiting);
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_WAITING));
    struct command close = book_command(COMMAND_PATCH_NODE);
    close.node.kind = NODE_PROJECT;
    (void)strcpy(close.node.name, "vision");
    close.if_match = MATCH_ANY;
    close.node.given = 1u << NODE_FIELD_STATE;
    close.node.set.state = NODE_CLOSED;
    cr_assert(eq(int, run(book, close), ERR_OK));
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_RELEASED));
}

ON_EVERY_BOOK(wait, a_dry_run_that_would_free_room_promotes_nobody, 100)
{
    struct command settle = release("h1");
    cap_jobs(book, 1);
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, waiting_freeze("h2")), ERR_OK));
    settle.dry_run = true;
    cr_assert(eq(int, run(book, settle), ERR_OK));
    cr_assert(eq(int, book_hold(book, "h2").state, TASK_WAITING));
    cr_assert(eq(int, run(book, book_freeze("h3")), ERR_QUOTA_INSUFFICIENT));
}

ON_EVERY_BOOK(wait, the_queue_is_found_again_after_a_restart, 100)
{
    cap_jobs(book, 1);
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, waiting_freeze("h2")), ERR_OK));
    book_reopen(book);
    cr_assert(eq(int, run(book, book_freeze("h3")), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(i64, book->result.refusal->waiting_ahead, 1));
    cr_assert(eq(int, run(book, release("h1")), ERR_OK));
    cr_assert(eq(int, book_hold(book, "h2").state, TASK_FROZEN));
}
