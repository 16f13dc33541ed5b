/*
 * The simulator: random commands to two ledgers at once, one on each engine, and a naive model beside
 * them.
 *
 *   sim_ledger.c   the loop: one step after the other, what must hold after each
 *   sim_world.c    the place (roots, projects, clusters, rates) and random commands in it
 *   sim_model.c    what a plain look at all holds and runs says of limits and sums
 *   sim_compare.c  two answers, two ledgers: the same?
 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include "ledger/ledger.h"
#include "tests/ledger/book.h"
#include "tests/lib/random.h"

enum {
    SIM_IDS = 40,  /* hold ids in use at a time */
    SIM_BATCH = 8, /* commands of one step */
    SIM_HOLDS = 20000,
};

struct sim {
    struct test_random random;
    struct book books[2]; /* memory: commands one by one; sqlite: as one batch */
    uint64_t seed;
    bool trace;
    int64_t step;
    int64_t holds_made;
    int64_t grants_made;
    int64_t refunds_made;
    int64_t rates_made[2];
};

/* ---- sim_world.c */

/** Make the place in both ledgers. */
void sim_world_make(struct sim *sim);

/** A random command at the time of now_s. */
void sim_command(struct sim *sim, struct command *ret_command);

/* ---- sim_model.c */

/** Everything there is in a ledger, read once. */
struct model;
struct model *model_read(struct book *book);
void model_destroy(struct model *model);

/** What a plain look says a freeze will come to. */
enum expectation { EXPECT_FROZEN, EXPECT_NO_ROOM, EXPECT_OTHER };
enum expectation model_expect(struct model *model,
                              const struct command *command,
                              int64_t now_ms,
                              int32_t *ret_failing);

/** What must hold of any ledger at any time; says what does not and returns false. */
bool model_is_sound(struct model *model, int64_t now_ms);

/* ---- sim_compare.c */

/** Whether two answers say the same; prints the first difference. */
bool compare_results(enum command_kind kind,
                     const struct ledger_result *a,
                     const struct ledger_result *b);

/** Whether two ledgers hold the same records, chains and times aside; prints the first difference. */
bool compare_books(struct book *a, struct book *b);

/** Stop with a message that tells how to repeat the run. */
_Noreturn void sim_die(const struct sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
