/* What is looked for in many clusters, projects and webhooks is looked for in all of them (SPEC 4.6, 8.2). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/ledger/book.h"

enum { CLUSTERS = 300, SILENCE_S = 200, NOVEMBER = 2026 * 12 + 10 };

static const char *cluster_name(int number)
{
    static char name[16];
    (void)snprintf(name, sizeof name, "c-%03d", number);
    return name;
}

static void make_clusters(struct book *book)
{
    for (int i = 0; i < CLUSTERS; i++) {
        const struct command command = book_cluster(cluster_name(i));
        cr_assert_eq(book_run(book, &command), ERR_OK);
    }
}

static void make_webhook(struct book *book)
{
    struct command command = book_command(COMMAND_PUT_WEBHOOK);
    (void)strcpy(command.webhook.name, "chat");
    (void)strcpy(command.webhook.node, "acme");
    (void)strcpy(command.webhook.url, "http://127.0.0.1:1/");
    command.webhook.types = INT64_C(1) << ALERT_SILENT | INT64_C(1) << ALERT_STALE;
    command.webhook.grant_days = 14;
    cr_assert_eq(book_run(book, &command), ERR_OK);
}

static size_t count_alerts(struct book *book)
{
    struct error err = {.code = ERR_OK};
    static struct command commands[1000];
    size_t count = 0;
    cr_assert_eq(ledger_reader_begin(book->keeper, &err), ERR_OK);
    cr_assert_eq(ledger_watch(book->keeper, book->now_ms, commands, 1000, &count, &err), ERR_OK);
    ledger_reader_end(book->keeper);
    return count;
}

ON_EVERY_BOOK(watch, every_silent_cluster_is_told_of_however_many_there_are, 100)
{
    make_webhook(book);
    make_clusters(book);
    for (int i = 0; i < CLUSTERS; i++) {
        struct command command = book_command(COMMAND_TOUCH_AGENT);
        (void)strcpy(command.cluster, cluster_name(i));
        cr_assert_eq(book_run(book, &command), ERR_OK);
    }
    cr_assert_eq(count_alerts(book), 0);
    book_pass_s(book, SILENCE_S);
    cr_assert_eq(count_alerts(book), CLUSTERS);
}

ON_EVERY_BOOK(watch, a_preview_counts_the_unattributed_charges_of_every_cluster, 100)
{
    struct error err = {.code = ERR_OK};
    static struct ledger_still_open open;
    make_clusters(book);
    struct command charge = book_command(COMMAND_CHARGE);
    (void)strcpy(charge.cluster, cluster_name(CLUSTERS - 1));
    (void)strcpy(charge.charge.id, "lost");
    (void)strcpy(charge.charge.account, "nobody");
    (void)strcpy(charge.charge.user, "alice");
    charge.charge.run.resources.given = true;
    charge.charge.run.resources.cores = 1;
    charge.charge.run.started_at_s = BOOK_START_S - 3600;
    charge.charge.run.ended_at_s = BOOK_START_S;
    charge.charge.run.outcome = OUTCOME_COMPLETED;
    (void)book_run(book, &charge);
    const struct node acme = book_node(book, NODE_ORGANIZATION, "acme", "");
    cr_assert_eq(ledger_reader_begin(book->keeper, &err), ERR_OK);
    cr_assert_eq(ledger_read_still_open(book->keeper, &acme, NOVEMBER, book->now_ms, &open, &err),
                 ERR_OK);
    ledger_reader_end(book->keeper);
    cr_assert_eq(open.unattributed, 1);
}
