/* Commands through the whole shell, on both engines; every test ends with a check of the ledger. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/ledger/book.h"

#define A_JOB INT64_C(4800000) /* 16 cores x 300 s */

static enum error_code run(struct book *book, struct command command)
{
    return book_run(book, &command);
}

ON_EVERY_BOOK(execute, a_job_freezes_settles_and_refunds_the_rest, 1000)
{
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(book->result.created);
    cr_assert(eq(i64, book->result.hold.hold.frozen_mcs, A_JOB));
    cr_assert_str_eq(book->result.hold.project, "vision");
    cr_assert_str_eq(book->result.hold.user, "alice");
    cr_assert_str_eq(book->result.hold.payer, "acme");
    cr_assert_str_eq(book->result.hold.models[0], "a100");
    book_pass_s(book, 60);
    cr_assert(eq(int, run(book, book_settle("h1", BOOK_START_S, BOOK_START_S + 60)), ERR_OK));
    cr_assert(eq(i64, book->result.charged_mcs, 960000));
    cr_assert(eq(i64, book->result.refunded_mcs, 3840000));
    struct ledger_balance balance = book_balance(book, NODE_PROJECT, "vision", NULL);
    cr_assert(eq(i64, balance.counter.used_mcs, 960000));
    cr_assert(eq(i64, balance.counter.frozen_mcs, 0));
    cr_assert(eq(i64, balance.available_mcs, 1000 * BOOK_HOUR - 960000));
    cr_assert_str_eq(balance.funding_node, "acme");
}

/* ---- exactly as many as fit */

static int64_t count_frozen(struct book *book, int64_t submits)
{
    int64_t frozen = 0;
    for (int64_t i = 0; i < submits; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "race%d", (int)i);
        enum error_code code = run(book, book_freeze(id));
        frozen += code == ERR_OK ? 1 : 0;
        cr_assert(code == ERR_OK || code == ERR_QUOTA_INSUFFICIENT);
    }
    return frozen;
}

static void race_for_cap(struct book *book, enum node_kind kind, const char *node)
{
    cr_assert(eq(int, run(book, book_cap(kind, node, CAP_MONTH, 10 * A_JOB)), ERR_OK));
    cr_assert(eq(i64, count_frozen(book, 64), 10));
    cr_assert(eq(int, book->result.refusal->count, 1));
    cr_assert(eq(int, book->result.refusal->limits[0].violation.kind, CAP_MONTH));
    cr_assert(eq(i64, book->result.refusal->limits[0].violation.missing, A_JOB));
    cr_assert_str_eq(book->result.refusal->limits[0].violation.node, node);
}

ON_EVERY_BOOK(execute, exactly_as_many_as_fit_pass_at_a_members_cap, 1000)
{
    race_for_cap(book, NODE_MEMBER, "alice");
}

ON_EVERY_BOOK(execute, exactly_as_many_as_fit_pass_at_a_projects_cap, 1000)
{
    race_for_cap(book, NODE_PROJECT, "vision");
}

ON_EVERY_BOOK(execute, exactly_as_many_as_fit_pass_at_the_roots_cap, 1000)
{
    race_for_cap(book, NODE_ORGANIZATION, "acme");
}

ON_EVERY_BOOK(execute, exactly_as_many_as_the_grants_cover_pass, 0)
{
    cr_assert(eq(int, run(book, book_grant("g1", "acme", 10 * A_JOB)), ERR_OK));
    cr_assert(eq(i64, count_frozen(book, 64), 10));
    cr_assert(eq(int, book->result.refusal->limits[0].violation.kind, CAP_FUNDS));
}

ON_EVERY_BOOK(execute, a_batch_sees_within_itself_what_it_did, 1000)
{
    static struct command commands[64];
    static struct ledger_result results[64];
    int frozen = 0;
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_MONTH, 10 * A_JOB)), ERR_OK));
    for (int i = 0; i < 64; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "race%d", i);
        commands[i] = book_freeze(id);
    }
    book_run_many(book, commands, 64, false, results);
    for (int i = 0; i < 64; i++) {
        cr_assert(eq(int, results[i].error.code, i < 10 ? ERR_OK : ERR_QUOTA_INSUFFICIENT));
        frozen += results[i].error.code == ERR_OK ? 1 : 0;
        ledger_result_fini(&results[i]);
    }
    cr_assert(eq(int, frozen, 10));
}

/* ---- replays */

ON_EVERY_BOOK(execute, the_same_freeze_again_is_the_same_decision, 1000)
{
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    int64_t hold_no = book->result.hold.hold.hold_no;
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(book->result.replayed);
    cr_assert(eq(i64, book->result.hold.hold.hold_no, hold_no));
    struct ledger_balance balance = book_balance(book, NODE_PROJECT, "vision", NULL);
    cr_assert(eq(i64, balance.counter.frozen_mcs, A_JOB));
}

ON_EVERY_BOOK(execute, an_id_with_other_content_is_refused, 1000)
{
    struct command other = book_freeze("h1");
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    other.freeze.time_limit_s = 301;
    cr_assert(eq(int, run(book, other), ERR_ID_REUSED));
    struct command charge = book_command(COMMAND_CHARGE);
    (void)strcpy(charge.cluster, "alpha");
    (void)strcpy(charge.charge.id, "h1");
    (void)strcpy(charge.charge.account, "vision");
    (void)strcpy(charge.charge.user, "alice");
    cr_assert(eq(int, run(book, charge), ERR_ID_REUSED));
}

ON_EVERY_BOOK(execute, a_settlement_is_replayed_and_another_one_is_a_conflict, 1000)
{
    struct command settle = book_settle("h1", BOOK_START_S, BOOK_START_S + 60);
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    book_pass_s(book, 60);
    cr_assert(eq(int, run(book, settle), ERR_OK));
    cr_assert(eq(int, run(book, settle), ERR_OK));
    cr_assert(book->result.replayed);
    cr_assert(eq(i64, book->result.charged_mcs, 960000));
    cr_assert(eq(i64, book->result.refunded_mcs, 3840000));
    settle.run.ended_at_s--;
    cr_assert(eq(int, run(book, settle), ERR_RUN_CONFLICT));
}

ON_EVERY_BOOK(execute, a_refund_is_made_once, 1000)
{
    struct command refund = book_verb(COMMAND_REFUND, "h1");
    (void)strcpy(refund.refund.id, "r1");
    refund.refund.amount_mcs = 1000;
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    book_pass_s(book, 60);
    cr_assert(eq(int, run(book, book_settle("h1", BOOK_START_S, BOOK_START_S + 60)), ERR_OK));
    cr_assert(eq(int, run(book, refund), ERR_OK));
    cr_assert(not(book->result.replayed));
    cr_assert(eq(i64, book->result.hold.hold.used_mcs, 959000));
    cr_assert(eq(int, run(book, refund), ERR_OK));
    cr_assert(book->result.replayed);
    cr_assert(eq(i64, book->result.hold.hold.used_mcs, 959000));
    refund.refund.amount_mcs = 2000;
    cr_assert(eq(int, run(book, refund), ERR_ID_REUSED));
}

/* ---- nothing left behind */

ON_EVERY_BOOK(execute, a_dry_run_answers_the_same_and_leaves_no_trace, 1000)
{
    struct command freeze = book_freeze("h1");
    (void)strcpy(freeze.freeze.user, "somebody-new");
    (void)strcpy(freeze.freeze.resources.gpus[0].model, "model-never-seen");
    freeze.dry_run = true;
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(eq(i64, book->result.hold.hold.frozen_mcs, A_JOB));
    cr_assert_str_eq(book->result.hold.models[0], "model-never-seen");
    cr_assert_str_eq(book->result.hold.user, "somebody-new");
    struct ledger_balance balance = book_balance(book, NODE_ORGANIZATION, "acme", NULL);
    cr_assert(eq(i64, balance.counter.frozen_mcs, 0));
    freeze.dry_run = false;
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(not(book->result.replayed));
    cr_assert(eq(i64, book->result.hold.hold.hold_no, 1));
    struct command release = book_verb(COMMAND_RELEASE, "h1");
    release.all_tasks = true;
    release.dry_run = true;
    cr_assert(eq(int, run(book, release), ERR_OK));
    cr_assert(eq(int, book->result.hold.state, TASK_RELEASED));
    struct ledger_hold hold = book_hold(book, "h1");
    cr_assert(eq(int, hold.state, TASK_FROZEN));
}

ON_EVERY_BOOK(execute, an_atomic_batch_with_a_refusal_leaves_no_trace, 1000)
{
    struct command commands[] = {book_freeze("h1"), book_freeze("h2"), book_freeze("h3")};
    struct ledger_result results[3];
    (void)strcpy(commands[0].freeze.user, "somebody-new");
    (void)strcpy(commands[2].freeze.account, "nobody");
    book_run_many(book, commands, 3, true, results);
    cr_assert(eq(int, results[0].error.code, ERR_ROLLED_BACK));
    cr_assert(eq(int, results[1].error.code, ERR_ROLLED_BACK));
    cr_assert(eq(int, results[2].error.code, ERR_UNKNOWN_ACCOUNT));
    struct ledger_balance balance = book_balance(book, NODE_ORGANIZATION, "acme", NULL);
    cr_assert(eq(i64, balance.counter.frozen_mcs, 0));
    cr_assert(eq(int, run(book, book_freeze("h9")), ERR_OK));
    cr_assert(eq(i64, book->result.hold.hold.hold_no, 1));
}

ON_EVERY_BOOK(execute, an_atomic_batch_that_passes_is_kept_whole, 1000)
{
    struct command commands[] = {book_freeze("h1"), book_settle("h1", BOOK_START_S, BOOK_START_S),
                                 book_freeze("h2")};
    struct ledger_result results[3];
    book_run_many(book, commands, 3, true, results);
    for (int i = 0; i < 3; i++) {
        cr_assert(eq(int, results[i].error.code, ERR_OK), "%s", results[i].error.detail);
    }
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_SETTLED));
    cr_assert(eq(int, book_hold(book, "h2").state, TASK_FROZEN));
}

ON_EVERY_BOOK(execute, a_ledger_opened_again_goes_on_where_it_stood, 1000)
{
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    book_reopen(book);
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(book->result.replayed);
    cr_assert(eq(int, run(book, book_freeze("h2")), ERR_OK));
    cr_assert(eq(i64, book->result.hold.hold.hold_no, 2));
    book_pass_s(book, 60);
    book_reopen(book);
    cr_assert(eq(int, run(book, book_settle("h1", BOOK_START_S, BOOK_START_S + 60)), ERR_OK));
    cr_assert(eq(i64, book->result.charged_mcs, 960000));
}

/* ---- the verbs */

ON_EVERY_BOOK(execute, a_job_is_found_by_its_newest_binding_and_by_its_key, 1000)
{
    struct command bind = book_verb(COMMAND_BIND, "h1");
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h2")), ERR_OK));
    (void)strcpy(bind.bind.job_id, "1234");
    (void)strcpy(bind.bind.job_key, "1234@1");
    cr_assert(eq(int, run(book, bind), ERR_OK));
    cr_assert(eq(int, run(book, bind), ERR_OK));
    cr_assert(book->result.replayed);
    (void)strcpy(bind.hold, "h2");
    (void)strcpy(bind.bind.job_key, "1234@2");
    cr_assert(eq(int, run(book, bind), ERR_OK));
    struct command start = book_verb(COMMAND_START, "");
    (void)strcpy(start.job_id, "1234");
    cr_assert(eq(int, run(book, start), ERR_OK));
    cr_assert_str_eq(book->result.hold.hold.id, "h2");
    start = book_verb(COMMAND_START, "");
    (void)strcpy(start.job_key, "1234@1");
    cr_assert(eq(int, run(book, start), ERR_OK));
    cr_assert_str_eq(book->result.hold.hold.id, "h1");
}

ON_EVERY_BOOK(execute, heartbeats_in_window_mode_charge_and_top_up, 1000)
{
    struct command freeze = book_freeze("h1");
    struct command start = book_verb(COMMAND_START, "h1");
    struct command beat = book_verb(COMMAND_HEARTBEAT, "h1");
    freeze.freeze.mode = MODE_WINDOW;
    freeze.freeze.time_limit_s = 0;
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(eq(int, run(book, start), ERR_OK));
    book_pass_s(book, 60);
    cr_assert(eq(int, run(book, beat), ERR_OK));
    cr_assert(eq(int, book->result.heartbeat, HEARTBEAT_OK));
    struct ledger_hold hold = book_hold(book, "h1");
    cr_assert(eq(i64, hold.hold.used_mcs, 960000));
    cr_assert(eq(i64, hold.hold.frozen_mcs, A_JOB));
    (void)strcpy(beat.hold, "unheard-of");
    cr_assert(eq(int, run(book, beat), ERR_OK));
    cr_assert(eq(int, book->result.heartbeat, HEARTBEAT_UNKNOWN));
}

ON_EVERY_BOOK(execute, a_task_counts_in_flight_once_though_an_older_attempt_comes_to_life, 1000)
{
    struct command freeze = book_freeze("h1");
    struct command resize = book_verb(COMMAND_RESIZE, "h1");
    struct command start = book_verb(COMMAND_START, "h1");
    freeze.freeze.tasks = 2;
    resize.run.resources.given = true;
    resize.run.resources.cores = 2;
    start.attempt = 1;
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(eq(int, run(book, resize), ERR_OK));
    cr_assert(eq(int, run(book, start), ERR_OK));
    cr_assert(eq(int, run(book, book_verb(COMMAND_HEARTBEAT, "h1")), ERR_OK));
    cr_assert(eq(i64, book_check(book), 0), "%s", book->first_difference);
}

ON_EVERY_BOOK(execute, an_array_is_released_by_lists_and_what_has_started_is_named, 1000)
{
    struct command freeze = book_freeze("h1");
    struct command start = book_verb(COMMAND_START, "h1");
    struct command release = book_verb(COMMAND_RELEASE, "h1");
    freeze.freeze.tasks = 10;
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(eq(i64, book->result.hold.hold.frozen_mcs, 10 * A_JOB));
    for (start.task = 4; start.task <= 6; start.task++) {
        cr_assert(eq(int, run(book, start), ERR_OK));
    }
    (void)strcpy(release.tasks, "8,3-5");
    cr_assert(eq(int, run(book, release), ERR_OK));
    cr_assert_str_eq(book->result.left_tasks, "4-5");
    cr_assert(eq(i64, book->result.hold.hold.counts[TASK_RELEASED], 2));
    (void)strcpy(release.tasks, "3-12");
    cr_assert(eq(int, run(book, release), ERR_INVALID_FIELD));
    release.tasks[0] = '\0';
    cr_assert(eq(int, run(book, release), ERR_OK));
    cr_assert_str_eq(book->result.left_tasks, "4-6");
    cr_assert(eq(i64, book->result.hold.hold.counts[TASK_RELEASED], 7));
    cr_assert(eq(i64, book->result.hold.hold.frozen_mcs, 3 * A_JOB));
}

ON_EVERY_BOOK(execute, a_resize_of_all_tasks_that_does_not_fit_changes_none, 1000)
{
    struct command freeze = book_freeze("h1");
    struct command start = book_verb(COMMAND_START, "h1");
    struct command resize = book_verb(COMMAND_RESIZE, "h1");
    freeze.freeze.tasks = 3;
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert(eq(int, run(book, start), ERR_OK));
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_MONTH, 5 * A_JOB)), ERR_OK));
    resize.all_tasks = true;
    resize.run.time_limit_s = 600;
    cr_assert(eq(int, run(book, resize), ERR_QUOTA_INSUFFICIENT));
    struct ledger_hold hold = book_hold(book, "h1");
    cr_assert(eq(i64, hold.hold.frozen_mcs, 3 * A_JOB));
    cr_assert(eq(i64, hold.hold.time_limit_s, 300));
}

ON_EVERY_BOOK(execute, a_requeue_settles_one_attempt_and_freezes_the_next, 1000)
{
    struct command requeue = book_verb(COMMAND_REQUEUE, "h1");
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    book_pass_s(book, 100);
    requeue.run.started_at_s = BOOK_START_S;
    requeue.run.ended_at_s = BOOK_START_S + 100;
    cr_assert(eq(int, run(book, requeue), ERR_OK));
    cr_assert(eq(i64, book->result.charged_mcs, 1600000));
    cr_assert(eq(i64, book->result.hold.hold.frozen_mcs, A_JOB));
    cr_assert(eq(int, book->result.hold.state, TASK_FROZEN));
}

ON_EVERY_BOOK(execute, a_charge_books_what_had_no_hold, 1000)
{
    struct command charge = book_command(COMMAND_CHARGE);
    struct command_charge *given = &charge.charge;
    (void)strcpy(charge.cluster, "alpha");
    (void)strcpy(given->id, "c1");
    (void)strcpy(given->account, "vision");
    (void)strcpy(given->user, "alice");
    given->run.resources = book_freeze("x").freeze.resources;
    given->run.started_at_s = BOOK_START_S - 100;
    given->run.ended_at_s = BOOK_START_S;
    (void)strcpy(given->run.hosts, "node1,node2");
    cr_assert(eq(int, run(book, charge), ERR_OK));
    cr_assert(eq(i64, book->result.charged_mcs, 1600000));
    cr_assert(0 != (book->result.warnings & FLAG_UNFROZEN));
    cr_assert(eq(int, run(book, charge), ERR_OK));
    cr_assert(book->result.replayed);
    cr_assert(eq(i64, book->result.charged_mcs, 1600000));
    (void)strcpy(given->id, "c2");
    (void)strcpy(given->account, "nobody");
    cr_assert(eq(int, run(book, charge), ERR_OK));
    cr_assert(0 != (book->result.warnings & FLAG_UNATTRIBUTED));
    cr_assert(eq(i64, book->result.charged_mcs, 1600000));
    cr_assert(eq(i64, book_balance(book, NODE_PROJECT, "vision", NULL).counter.used_mcs, 1600000));
}

/* ---- who may */

ON_EVERY_BOOK(execute, a_scheduler_sees_its_own_cluster_only, 1000)
{
    struct command freeze = book_freeze("h1");
    cr_assert(eq(int, run(book, book_cluster("beta")), ERR_OK));
    int64_t beta_no = book->result.cluster.cluster.cluster_no;
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    struct command settle = book_settle("h1", BOOK_START_S, BOOK_START_S);
    settle.role = ROLE_SCHEDULER;
    settle.place_no = beta_no;
    cr_assert(eq(int, run(book, settle), ERR_NOT_FOUND));
    settle.cluster[0] = '\0';
    cr_assert(eq(int, run(book, settle), ERR_UNKNOWN_HOLD));
    settle.place_no = 1;
    cr_assert(eq(int, run(book, settle), ERR_OK));
}

ON_EVERY_BOOK(execute, an_id_known_to_two_clusters_needs_one_named, 1000)
{
    struct command freeze = book_freeze("h1");
    cr_assert(eq(int, run(book, book_cluster("beta")), ERR_OK));
    cr_assert(eq(int, book_put_rates(book, "beta", 1, 1), ERR_OK));
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    (void)strcpy(freeze.cluster, "beta");
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    struct command release = book_verb(COMMAND_RELEASE, "h1");
    release.all_tasks = true;
    release.cluster[0] = '\0';
    cr_assert(eq(int, run(book, release), ERR_AMBIGUOUS_ID));
    (void)strcpy(release.cluster, "beta");
    cr_assert(eq(int, run(book, release), ERR_OK));
}
