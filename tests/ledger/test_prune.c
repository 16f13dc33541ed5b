/* What waits for a webhook is bounded, and what is over for long is forgotten (SPEC 4.6, 10.1). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ledger/base/digest.h"
#include "tests/ledger/book.h"

#define DAY_S INT64_C(86400)

static enum error_code run(struct book *book, struct command command)
{
    return book_run(book, &command);
}

static struct command webhook(const char *name)
{
    struct command command = book_command(COMMAND_PUT_WEBHOOK);
    (void)strcpy(command.webhook.name, name);
    (void)strcpy(command.webhook.node, "acme");
    (void)strcpy(command.webhook.url, "http://127.0.0.1:1/");
    command.webhook.types = INT64_C(1) << ALERT_CAP;
    command.webhook.grant_days = 14;
    command.if_match = MATCH_ANY;
    return command;
}

static struct command test_of(const char *name)
{
    struct command command = book_command(COMMAND_TEST_WEBHOOK);
    (void)strcpy(command.webhook.name, name);
    return command;
}

static struct command delivered(int64_t delivery_no)
{
    struct command command = book_command(COMMAND_DELIVERED);
    command.delivered.delivery_no = delivery_no;
    command.delivered.state = DELIVERY_DELIVERED;
    command.delivered.status = 204;
    return command;
}

static struct command prune(int64_t until_s)
{
    struct command command = book_command(COMMAND_PRUNE);
    command.prune.deliveries_ms = until_s * 1000;
    command.prune.tokens_s = until_s;
    return command;
}

struct rows {
    size_t count;
    size_t pending;
    struct delivery last;
};

static bool keep_row(void *context, const void *record)
{
    struct rows *rows = context;
    const struct delivery *delivery = record;
    rows->count++;
    rows->pending += delivery->state == DELIVERY_PENDING;
    rows->last = *delivery;
    return true;
}

static struct rows rows_of(struct book *book, int64_t webhook_no)
{
    struct error err;
    struct rows rows = {.count = 0};
    const struct select_args args = {.n = {webhook_no, INT64_MAX}};
    cr_assert_eq(ledger_reader_begin(book->keeper, &err), ERR_OK);
    cr_assert_eq(
        ledger_read_list(book->keeper, SELECT_DELIVERIES_OF_WEBHOOK, &args, keep_row, &rows, &err),
        ERR_OK);
    ledger_reader_end(book->keeper);
    return rows;
}

static struct webhook read_webhook(struct book *book, const char *name)
{
    struct error err;
    struct webhook found;
    cr_assert_eq(ledger_reader_begin(book->keeper, &err), ERR_OK);
    cr_assert_eq(ledger_read_webhook(book->keeper, name, &found, &err), ERR_OK);
    ledger_reader_end(book->keeper);
    return found;
}

static bool has_alert(struct book *book, int64_t alert_no)
{
    struct error err;
    struct alert alert;
    cr_assert_eq(ledger_reader_begin(book->keeper, &err), ERR_OK);
    const enum error_code code = ledger_read_alert(book->keeper, alert_no, &alert, &err);
    ledger_reader_end(book->keeper);
    return code == ERR_OK;
}

ON_EVERY_BOOK(prune, deliveries_are_forgotten_by_age_and_an_alert_with_the_last_of_them, 100)
{
    cr_assert_eq(run(book, webhook("one")), ERR_OK);
    cr_assert_eq(run(book, webhook("two")), ERR_OK);
    const int64_t one = read_webhook(book, "one").webhook_no;
    const int64_t two = read_webhook(book, "two").webhook_no;
    cr_assert_eq(run(book, book_cap(NODE_PROJECT, "vision", CAP_TOTAL, 5000000)), ERR_OK);
    cr_assert_eq(run(book, book_freeze("h1")), ERR_OK); /* 96 %: told to both */
    const struct delivery first = rows_of(book, one).last;
    const struct delivery second = rows_of(book, two).last;
    cr_assert_eq(rows_of(book, one).count, 1);
    cr_assert_eq(first.alert_no, second.alert_no);
    cr_assert_eq(run(book, delivered(first.delivery_no)), ERR_OK);
    cr_assert_eq(run(book, prune(BOOK_START_S - 1)), ERR_OK);
    cr_assert_eq(rows_of(book, one).count, 1);
    book_pass_s(book, 31 * DAY_S);
    cr_assert_eq(run(book, prune(BOOK_START_S + DAY_S)), ERR_OK);
    cr_assert_eq(rows_of(book, one).count, 0);
    cr_assert_eq(rows_of(book, two).count, 1, "it waits still");
    cr_assert(has_alert(book, first.alert_no));
    cr_assert_eq(run(book, delivered(second.delivery_no)), ERR_OK);
    cr_assert_eq(run(book, prune(BOOK_START_S + 40 * DAY_S)), ERR_OK);
    cr_assert_eq(rows_of(book, two).count, 0);
    cr_assert_eq(has_alert(book, first.alert_no), false);
}

ON_EVERY_BOOK(prune, so_many_wait_for_a_webhook_and_those_beyond_are_dead_and_say_why, 100)
{
    static struct command tests[100];
    static struct ledger_result results[100];
    cr_assert_eq(run(book, webhook("one")), ERR_OK);
    for (size_t i = 0; i < 100; i++) {
        tests[i] = test_of("one");
    }
    for (int i = 0; i < LIMIT_WEBHOOK_PENDING / 100; i++) {
        book_run_many(book, tests, 100, false, results);
    }
    struct webhook found = read_webhook(book, "one");
    cr_assert_eq(found.pending, LIMIT_WEBHOOK_PENDING);
    cr_assert_eq(run(book, test_of("one")), ERR_OK);
    struct rows rows = rows_of(book, found.webhook_no);
    cr_assert_eq(rows.count, LIMIT_WEBHOOK_PENDING + 1);
    cr_assert_eq(rows.pending, LIMIT_WEBHOOK_PENDING);
    cr_assert_eq(run(book, delivered(rows.last.delivery_no)), ERR_OK);
    cr_assert_eq(run(book, test_of("one")), ERR_OK);
    rows = rows_of(book, found.webhook_no);
    cr_assert_eq(rows.pending, LIMIT_WEBHOOK_PENDING, "there was a place again");
    cr_assert_eq(read_webhook(book, "one").pending, LIMIT_WEBHOOK_PENDING);
}

static struct command token(const char *id, int64_t expires_s)
{
    struct command command = book_command(COMMAND_PUT_TOKEN);
    struct token *token = &command.token.token;
    (void)strcpy(token->id, id);
    (void)strcpy(token->name, id);
    token->role = ROLE_ADMIN;
    token->expires_s = expires_s;
    token->hash = digest_of(id, strlen(id));
    return command;
}

static bool count_row(void *context, const void *record)
{
    (void)record;
    ++*(size_t *)context;
    return true;
}

static size_t count_tokens(struct book *book)
{
    struct error err;
    size_t count = 0;
    const struct select_args args = {.limit = 0};
    cr_assert_eq(ledger_reader_begin(book->keeper, &err), ERR_OK);
    cr_assert_eq(ledger_read_list(book->keeper, SELECT_TOKENS, &args, count_row, &count, &err),
                 ERR_OK);
    ledger_reader_end(book->keeper);
    return count;
}

ON_EVERY_BOOK(prune, tokens_are_forgotten_after_their_end_and_the_others_stay, 100)
{
    char id[16];
    for (int i = 0; i < 300; i++) {
        (void)snprintf(id, sizeof id, "t-%03d", i);
        cr_assert_eq(run(book, token(id, i % 3 == 0 ? 0 : BOOK_START_S + i)), ERR_OK);
    }
    struct command revoke = book_command(COMMAND_REVOKE_TOKEN);
    (void)strcpy(revoke.token.token.id, "t-000");
    cr_assert_eq(run(book, revoke), ERR_OK);
    cr_assert_eq(run(book, token("t-001", 0)), ERR_ID_REUSED);
    book_pass_s(book, 40 * DAY_S);
    cr_assert_eq(run(book, prune(BOOK_START_S + DAY_S)), ERR_OK);
    cr_assert_eq(count_tokens(book), 300 - 128, "a bounded number at a time");
    cr_assert_eq(run(book, prune(BOOK_START_S + DAY_S)), ERR_OK);
    cr_assert_eq(count_tokens(book), 99, "those without an end, but the revoked one");
    cr_assert_eq(run(book, prune(BOOK_START_S + DAY_S)), ERR_OK);
    cr_assert(book->result.no_effect);
    cr_assert_eq(run(book, token("t-001", 0)), ERR_OK);
}
