/*
 * Random commands to a ledger in memory, one by one, and to one in SQLite, in batches; after every
 * step both must say the same and be sound. See sim.h.
 *
 * usage: sim_ledger [--seed N] [--steps N] [--rounds N] [--trace 1]
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/sim.h"

void sim_die(const struct sim *sim, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fprintf(stderr, "seed %" PRIu64 " step %" PRId64 ": ", sim->seed, sim->step);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    exit(1);
}

/* ---- time */

static void set_time(struct sim *sim, int64_t now_ms)
{
    sim->books[0].now_ms = now_ms;
    sim->books[1].now_ms = now_ms;
}

/* Mostly seconds and minutes, sometimes over the end of a month or a change of the clocks. */
static void pass_time(struct sim *sim)
{
    int64_t kind = test_random_range(&sim->random, 1, 100);
    int64_t ms = test_random_range(&sim->random, 0, 90000);
    if (kind > 60) {
        ms = test_random_range(&sim->random, 0, 3600000);
    }
    if (kind > 90) {
        ms = test_random_range(&sim->random, 0, 40) * 3600000;
    }
    if (kind > 97) {
        ms = test_random_range(&sim->random, 0, 45) * 86400000;
    }
    set_time(sim, sim->books[0].now_ms + ms);
    if (kind % 4 != 0) {
        (void)book_tick(&sim->books[0]);
        (void)book_tick(&sim->books[1]);
    }
}

/* ---- steps */

/* A command that is only tried says what the command then says, and leaves nothing behind. */
static void try_first(struct sim *sim, const struct command *command)
{
    struct command tried = *command;
    static struct ledger_result before;
    tried.dry_run = true;
    (void)book_run(&sim->books[0], &tried);
    ledger_result_fini(&before);
    before = sim->books[0].result;
    sim->books[0].result.refusal = NULL;
    (void)book_run(&sim->books[0], command);
    bool same = before.error.code == sim->books[0].result.error.code &&
                before.charged_mcs == sim->books[0].result.charged_mcs;
    if (!same) {
        sim_die(sim, "tried, command %d answers %d %s; then %d %s", (int)command->kind,
                (int)before.error.code, before.error.detail, (int)sim->books[0].result.error.code,
                sim->books[0].result.error.detail);
    }
}

static void check_freeze(struct sim *sim,
                         const struct command *command,
                         enum expectation expected,
                         int32_t failing)
{
    const struct ledger_result *result = &sim->books[0].result;
    bool frozen = result->error.code == ERR_OK && !result->waiting;
    bool no_room = result->error.code == ERR_QUOTA_INSUFFICIENT ||
                   (result->error.code == ERR_OK && result->waiting);
    if (expected == EXPECT_OTHER) {
        return;
    }
    if (frozen != (expected == EXPECT_FROZEN) || no_room != (expected == EXPECT_NO_ROOM)) {
        sim_die(sim, "freeze %s: expected %s with %d failing limits, answered %d %s",
                command->freeze.id, expected == EXPECT_FROZEN ? "room" : "no room", (int)failing,
                (int)result->error.code, result->error.detail);
    }
    if (result->refusal != NULL && result->refusal->count != failing) {
        sim_die(sim, "freeze %s: %d limits fail, %d are told", command->freeze.id, (int)failing,
                (int)result->refusal->count);
    }
}

static void trace(const struct sim *sim,
                  const struct command *command,
                  const struct ledger_result *result)
{
    bool freeze = command->kind == COMMAND_FREEZE || command->kind == COMMAND_QUOTE;
    (void)fprintf(
        stderr, "%" PRId64 " at %" PRId64 ": %d %s task %" PRId64 ".%" PRId64 " %s: %d %s%s%s%s\n",
        sim->step, sim->books[0].now_ms, (int)command->kind,
        freeze ? command->freeze.id : command->hold, command->task, command->attempt,
        command->tasks, (int)result->error.code, result->error.detail,
        result->waiting ? " waits" : "", result->replayed ? " again" : "",
        result->no_effect ? " no effect" : "");
}

static void run_first(struct sim *sim, const struct command *command, struct ledger_result *result)
{
    bool freeze = command->kind == COMMAND_FREEZE || command->kind == COMMAND_QUOTE;
    bool look = freeze && test_random_chance(&sim->random, 1, 2);
    enum expectation expected = EXPECT_OTHER;
    int32_t failing = 0;
    if (look) {
        struct model *model = model_read(&sim->books[0]);
        expected = model_expect(model, command, sim->books[0].now_ms, &failing);
        model_destroy(model);
    }
    if (test_random_chance(&sim->random, 1, 5)) {
        try_first(sim, command);
    } else {
        (void)book_run(&sim->books[0], command);
    }
    if (look) {
        check_freeze(sim, command, expected, failing);
    }
    *result = sim->books[0].result;
    sim->books[0].result.refusal = NULL;
    if (sim->trace) {
        trace(sim, command, result);
    }
}

static void compare_answers(struct sim *sim,
                            const struct command *commands,
                            const struct ledger_result *one,
                            const struct ledger_result *two,
                            size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!compare_results(commands[i].kind, &one[i], &two[i])) {
            sim_die(sim, "command %zu of %zu (kind %d, hold %s) answers differently: %s / %s", i,
                    count, (int)commands[i].kind, commands[i].hold, one[i].error.detail,
                    two[i].error.detail);
        }
    }
}

static void one_by_one_and_together(struct sim *sim)
{
    static struct command commands[SIM_BATCH];
    static struct ledger_result one[SIM_BATCH];
    static struct ledger_result two[SIM_BATCH];
    size_t count = (size_t)test_random_range(&sim->random, 1, SIM_BATCH);
    for (size_t i = 0; i < count; i++) {
        bool again = i > 0 && test_random_chance(&sim->random, 1, 12);
        if (again) {
            commands[i] = commands[i - 1];
        } else {
            sim_command(sim, &commands[i]);
        }
        run_first(sim, &commands[i], &one[i]);
    }
    book_run_many(&sim->books[1], commands, count, false, two);
    compare_answers(sim, commands, one, two, count);
    for (size_t i = 0; i < count; i++) {
        ledger_result_fini(&one[i]);
        ledger_result_fini(&two[i]);
    }
}

/* All or nothing, to both as one work. */
static void all_or_nothing(struct sim *sim)
{
    static struct command commands[SIM_BATCH];
    static struct ledger_result one[SIM_BATCH];
    static struct ledger_result two[SIM_BATCH];
    size_t count = (size_t)test_random_range(&sim->random, 2, 4);
    for (size_t i = 0; i < count; i++) {
        sim_command(sim, &commands[i]);
    }
    book_run_many(&sim->books[0], commands, count, true, one);
    book_run_many(&sim->books[1], commands, count, true, two);
    compare_answers(sim, commands, one, two, count);
    for (size_t i = 0; i < count; i++) {
        ledger_result_fini(&one[i]);
        ledger_result_fini(&two[i]);
    }
}

/* ---- closed months */

struct closed_months {
    struct period rows[64];
    size_t count;
};

static bool keep_period(void *context, const void *record)
{
    struct closed_months *closed = context;
    if (closed->count < 64) {
        closed->rows[closed->count++] = *(const struct period *)record;
    }
    return true;
}

static void read_closed(struct sim *sim,
                        struct book *book,
                        const char *root,
                        struct closed_months *closed)
{
    struct error err;
    const struct select_args args = {.n = {book_node(book, NODE_ORGANIZATION, root, NULL).node_no}};
    closed->count = 0;
    if (ledger_read_list(book->keeper, SELECT_PERIODS, &args, keep_period, closed, &err) !=
        ERR_OK) {
        sim_die(sim, "reading closed months: %s", err.detail);
    }
}

/* Seal what is closed; from then on the check compares its usage with the digest. */
static void seal(struct sim *sim, struct book *book, struct period *period)
{
    struct error err;
    struct command command = book_command(COMMAND_SEAL);
    if (period->sealed != 0) {
        return;
    }
    command.seal = (struct period){.root_no = period->root_no, .month = period->month};
    if (ledger_reader_begin(book->keeper, &err) != ERR_OK ||
        ledger_period_rows(book->keeper, &command.seal, NULL, NULL, &err) != ERR_OK) {
        sim_die(sim, "the rows of a month: %s", err.detail);
    }
    ledger_reader_end(book->keeper);
    if (book_run(book, &command) != ERR_OK) {
        sim_die(sim, "sealing: %s", book->result.error.detail);
    }
    period->digest = command.seal.digest;
}

/* Closed alike in both ledgers, with the same digests; and a check may start at any close. */
static void seal_and_compare(struct sim *sim, const char *root)
{
    static struct closed_months closed[2];
    for (int i = 0; i < 2; i++) {
        read_closed(sim, &sim->books[i], root, &closed[i]);
        for (size_t j = 0; j < closed[i].count; j++) {
            seal(sim, &sim->books[i], &closed[i].rows[j]);
        }
    }
    if (closed[0].count != closed[1].count) {
        sim_die(sim, "%s: %zu months are closed in one ledger, %zu in the other", root,
                closed[0].count, closed[1].count);
    }
    for (size_t j = 0; j < closed[0].count; j++) {
        if (!digest_equal(&closed[0].rows[j].digest, &closed[1].rows[j].digest)) {
            sim_die(sim, "%s: the digests of a month differ", root);
        }
    }
    if (closed[0].count == 0) {
        return;
    }
    const struct period *last = &closed[0].rows[closed[0].count - 1];
    for (int i = 0; i < 2; i++) {
        if (book_check_since(&sim->books[i], last->month) != 0) {
            sim_die(sim, "%s since a close: %s", sim->books[i].scheme,
                    sim->books[i].first_difference);
        }
    }
}

static void check_all(struct sim *sim)
{
    seal_and_compare(sim, "acme");
    seal_and_compare(sim, "bolt");
    for (int i = 0; i < 2; i++) {
        if (book_check(&sim->books[i]) != 0) {
            sim_die(sim, "%s: %" PRId64 " differences, the first: %s", sim->books[i].scheme,
                    sim->books[i].differences, sim->books[i].first_difference);
        }
    }
    if (!compare_books(&sim->books[0], &sim->books[1])) {
        sim_die(sim, "the two ledgers differ");
    }
    (void)book_tick(&sim->books[0]);
    (void)book_tick(&sim->books[1]);
    struct model *model = model_read(&sim->books[0]);
    bool sound = model_is_sound(model, sim->books[0].now_ms);
    model_destroy(model);
    if (!sound) {
        sim_die(sim, "not sound");
    }
}

static void run_round(uint64_t seed, int64_t steps, bool traced)
{
    static struct sim sim;
    memset(&sim, 0, sizeof sim);
    sim.trace = traced;
    sim.seed = seed;
    test_random_init_seed(&sim.random, seed);
    book_init(&sim.books[0], "memory");
    book_init(&sim.books[1], "sqlite");
    set_time(&sim, (INT64_C(1790000000) + (int64_t)(seed % 365) * 86400) * 1000);
    sim_world_make(&sim);
    for (sim.step = 1; sim.step <= steps; sim.step++) {
        pass_time(&sim);
        if (test_random_chance(&sim.random, 1, 12)) {
            all_or_nothing(&sim);
        } else {
            one_by_one_and_together(&sim);
        }
        if (sim.step % 8 == 0) {
            check_all(&sim);
        }
        if (test_random_chance(&sim.random, 1, 40)) {
            book_reopen(&sim.books[0]);
            book_reopen(&sim.books[1]);
        }
    }
    check_all(&sim);
    book_fini(&sim.books[0]);
    book_fini(&sim.books[1]);
}

static int64_t option(int argc, char **argv, const char *name, int64_t otherwise)
{
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return strtoll(argv[i + 1], NULL, 10);
        }
    }
    return otherwise;
}

int main(int argc, char **argv)
{
    struct test_random random;
    int64_t given = option(argc, argv, "--seed", -1);
    int64_t steps = option(argc, argv, "--steps", 200);
    int64_t rounds = option(argc, argv, "--rounds", test_rounds(6));
    bool traced = option(argc, argv, "--trace", 0) != 0;
    if (given >= 0) {
        test_random_init_seed(&random, (uint64_t)given);
    } else {
        test_random_init(&random, "sim_ledger");
    }
    for (int64_t i = 0; i < rounds; i++) {
        uint64_t seed = given >= 0 && i == 0 ? (uint64_t)given : test_random_next(&random) >> 16;
        run_round(seed, steps, traced);
    }
    return 0;
}
