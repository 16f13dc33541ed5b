/* Reading: balances, reports, holders and the earliest time. */
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

static struct ledger_refusal *explained(struct book *book)
{
    cr_assert(book->result.refusal != NULL);
    ledger_explain(book->keeper, book->result.refusal, book->now_ms, 10000);
    return book->result.refusal;
}

ON_EVERY_BOOK(read, a_balance_shows_every_cap_on_the_path, 100)
{
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_MONTH, A_JOB)), ERR_OK));
    cr_assert(eq(int, run(book, book_cap(NODE_ORGANIZATION, "acme", CAP_GPUS, 8000)), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_MONTH, 1000)), ERR_OK));
    struct ledger_balance balance = book_balance(book, NODE_MEMBER, "alice", "vision");
    cr_assert(eq(int, balance.path_count, 3));
    cr_assert_str_eq(balance.path[2], "alice");
    cr_assert_str_eq(balance.path[0], "acme");
    cr_assert_str_eq(balance.path[1], "vision");
    cr_assert(eq(int, balance.cap_count, 2));
    cr_assert_str_eq(balance.caps[0].node, "vision");
    cr_assert(eq(i64, balance.caps[0].frozen, A_JOB));
    cr_assert(eq(i64, balance.caps[0].available, 1000 - A_JOB));
    cr_assert(balance.caps[0].over_cap);
    cr_assert(eq(i64, balance.caps[0].resets_at_s, BOOK_START_S + INT64_C(31) * 86400));
    cr_assert(eq(i64, balance.caps[1].frozen, 1000));
    cr_assert(eq(i64, balance.caps[1].available, 7000));
    cr_assert(eq(i64, balance.granted_mcs, 100 * BOOK_HOUR));
    cr_assert(eq(i64, balance.available_mcs, 100 * BOOK_HOUR - A_JOB));
}

ON_EVERY_BOOK(read, a_refusal_names_who_holds_most_and_outsiders_by_project_only, 100)
{
    struct command other = book_freeze("o1");
    cr_assert(eq(int, run(book, book_project("speech", "acme")), ERR_OK));
    (void)strcpy(other.freeze.account, "speech");
    other.freeze.time_limit_s = 600;
    cr_assert(eq(int, run(book, other), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(
        eq(int, run(book, book_cap(NODE_ORGANIZATION, "acme", CAP_MONTH, 4 * A_JOB)), ERR_OK));
    struct command refused = book_freeze("h2");
    refused.freeze.time_limit_s = 900;
    cr_assert(eq(int, run(book, refused), ERR_QUOTA_INSUFFICIENT));
    struct ledger_refusal *refusal = explained(book);
    const struct ledger_limit *limit = &refusal->limits[0];
    cr_assert(limit->holders_known);
    cr_assert(eq(int, limit->holder_count, 2));
    cr_assert_str_eq(limit->holders[0].project, "speech");
    cr_assert_str_eq(limit->holders[0].hold, "");
    cr_assert_str_eq(limit->holders[0].user, "");
    cr_assert(eq(i64, limit->holders[0].frozen_mcs, 2 * A_JOB));
    cr_assert_str_eq(limit->holders[1].project, "vision");
    cr_assert_str_eq(limit->holders[1].hold, "h1");
    cr_assert_str_eq(limit->holders[1].user, "alice");
}

ON_EVERY_BOOK(read, a_holder_not_heard_of_lately_is_stale, 100)
{
    struct command start = book_verb(COMMAND_START, "h1");
    struct command freeze = book_freeze("h1");
    freeze.freeze.time_limit_s = 3600;
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_JOBS, 1)), ERR_OK));
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(eq(int, run(book, start), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h2")), ERR_QUOTA_INSUFFICIENT));
    cr_assert(not(explained(book)->limits[0].holders[0].stale));
    book_pass_s(book, 1000);
    cr_assert(eq(int, run(book, book_freeze("h2")), ERR_QUOTA_INSUFFICIENT));
    cr_assert(explained(book)->limits[0].holders[0].stale);
}

ON_EVERY_BOOK(read, room_in_flight_is_expected_at_planned_ends, 100)
{
    struct command start = book_verb(COMMAND_START, "h1");
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_GPUS, 2000)), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, start), ERR_OK));
    book_pass_s(book, 100);
    struct command longer = book_freeze("h2");
    longer.freeze.time_limit_s = 1000;
    cr_assert(eq(int, run(book, longer), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h3")), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(i64, explained(book)->earliest_at_s, BOOK_START_S + 300));
    struct command both = book_freeze("h3");
    both.freeze.resources.gpus[0].count = 2;
    cr_assert(eq(int, run(book, both), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(i64, explained(book)->earliest_at_s, BOOK_START_S + 1100));
}

ON_EVERY_BOOK(read, room_in_a_month_is_expected_when_it_turns, 100)
{
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_MONTH, A_JOB)), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h2")), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(i64, explained(book)->earliest_at_s, BOOK_START_S + INT64_C(31) * 86400));
    struct command beyond = book_freeze("h3");
    beyond.freeze.time_limit_s = 301;
    cr_assert(eq(int, run(book, beyond), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(i64, explained(book)->earliest_at_s, 0));
}

ON_EVERY_BOOK(read, funds_are_expected_when_a_grant_begins, 0)
{
    struct command grant = book_grant("g1", "acme", A_JOB);
    grant.movement.start_s = BOOK_START_S + 5000;
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(i64, explained(book)->earliest_at_s, 0));
    cr_assert(eq(int, run(book, grant), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(i64, explained(book)->earliest_at_s, BOOK_START_S + 5000));
}

/* ---- reports */

struct report {
    int count;
    struct report_row rows[16];
};

static bool keep_row(void *context, const struct report_row *row)
{
    struct report *report = context;
    report->rows[report->count++] = *row;
    return report->count < 16;
}

static void read_report(struct book *book, uint32_t group_by, struct report *report)
{
    struct error err;
    struct report_query query = {
        .root_no = book_node(book, NODE_ORGANIZATION, "acme", NULL).node_no,
        .to = 12 * 2100,
        .group_by = group_by,
    };
    report->count = 0;
    cr_assert(ledger_reader_begin(book->keeper, &err) == ERR_OK);
    cr_assert(ledger_report_usage(book->keeper, &query, keep_row, report, &err) == ERR_OK);
    ledger_reader_end(book->keeper);
}

static void use(struct book *book, const char *id, const char *user, enum outcome outcome)
{
    struct command freeze = book_freeze(id);
    struct command settle = book_settle(id, BOOK_START_S, BOOK_START_S + 60);
    (void)strcpy(freeze.freeze.user, user);
    settle.run.outcome = outcome;
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(eq(int, run(book, settle), ERR_OK));
}

ON_EVERY_BOOK(read, a_report_groups_by_any_column_in_a_stable_order, 100)
{
    static struct report report;
    book_pass_s(book, 60);
    use(book, "h1", "bob", OUTCOME_COMPLETED);
    use(book, "h2", "alice", OUTCOME_COMPLETED);
    use(book, "h3", "alice", OUTCOME_FAILED);
    use(book, "h4", "alice", OUTCOME_NODE_FAIL);
    read_report(book, REPORT_PROJECT, &report);
    cr_assert(eq(int, report.count, 2));
    cr_assert(eq(int, report.rows[0].kind, USAGE_USAGE));
    cr_assert(eq(i64, report.rows[0].used_mcs, 3 * 960000));
    cr_assert(eq(i64, report.rows[0].runs, 3));
    cr_assert(eq(int, report.rows[1].kind, USAGE_WAIVED));
    cr_assert(eq(i64, report.rows[1].used_mcs, 0));
    cr_assert(eq(i64, report.rows[1].waived_mcs, 960000));
    read_report(book, REPORT_USER | REPORT_OUTCOME | REPORT_GPU_MODEL, &report);
    cr_assert(eq(int, report.count, 4));
    cr_assert_str_eq(report.rows[0].user, "alice");
    cr_assert_str_eq(report.rows[0].gpu_model, "a100");
    cr_assert(eq(int, report.rows[0].outcome, OUTCOME_COMPLETED));
    cr_assert_str_eq(report.rows[3].user, "bob");
    cr_assert_str_eq(report.rows[3].project, "");
}

ON_EVERY_BOOK(read, cost_is_rounded_once_a_row_and_known_only_with_a_price, 100)
{
    static struct report report;
    static struct command_with_rates rates;
    rates.command = book_command(COMMAND_PUT_RATES);
    (void)strcpy(rates.command.cluster, "alpha");
    rates.rates.version.version = 2;
    rates.rates.version.effective_from_s = BOOK_START_S;
    rates.rates.version.row_count = 1;
    rates.rates.version.price_micro = 120000;
    (void)strcpy(rates.rates.version.currency, "CNY");
    rates.rates.rows[0].row.permille = 1000;
    rates.rates.rows[0].row.gpu_default_mcores = 16000;
    cr_assert(eq(int, book_run(book, &rates.command), ERR_OK));
    book_pass_s(book, 60);
    use(book, "h1", "alice", OUTCOME_COMPLETED);
    read_report(book, 0, &report);
    cr_assert(eq(int, report.count, 1));
    cr_assert(report.rows[0].cost_known);
    cr_assert_str_eq(report.rows[0].currency, "CNY");
    cr_assert(eq(i64, report.rows[0].cost_micro, 32000)); /* 960 000 x 0.12 / 3 600 000 */
}
