/*
 * A ledger under test: made in a folder of its own (or in memory), driven by commands, one at a time
 * or together, at a time that the test sets.
 *
 * The standard place: root acme (self, UTC), project vision, cluster alpha with rates of 1000 mcores
 * a core and 16000 a GPU a100, user alice; clock at BOOK_START_S.
 */
#ifndef TESTS_LEDGER_BOOK_H
#define TESTS_LEDGER_BOOK_H

#include "ledger/ledger.h"

#define BOOK_START_S INT64_C(1796083200) /* 2026-12-01T00:00:00Z */
#define BOOK_HOUR    INT64_C(3600000)    /* mcs of a core-hour */

struct book {
    const char *scheme; /* "memory", "sqlite" */
    char folder[64];
    char url[128];
    struct ledger *ledger;
    struct ledger_reader *keeper; /* keeps a ledger in memory alive while it is closed */
    int64_t now_ms;
    const struct ledger_actor *actor; /* who is behind the next commands; NULL: a machine */
    struct ledger_result result;      /* of the last command */
    int64_t differences;              /* of the last check */
    char first_difference[256];
};

/** Make an empty ledger. */
void book_init(struct book *book, const char *scheme);

/** The same with the standard place in it; acme has a grant of `hours` core-hours (0: none, -1:
 * unlimited). */
void book_init_standard(struct book *book, const char *scheme, int64_t hours);

/** Close and remove. */
void book_fini(struct book *book);

/** Close and open again, as after a stop. */
void book_reopen(struct book *book);

/** Let time pass. */
void book_pass_s(struct book *book, int64_t seconds);

/** Carry out one command: the code of its answer, which is in book->result. */
enum error_code book_run(struct book *book, const struct command *command);

/** Carry out commands as one work; answers to results, which the caller clears with
 * ledger_result_fini(). */
void book_run_many(struct book *book,
                   const struct command *commands,
                   size_t count,
                   bool atomic,
                   struct ledger_result *results);

/** Everything that ledger_due() finds, until nothing is due. Returns how many commands. */
size_t book_tick(struct book *book);

/** Check the ledger: the number of differences. */
int64_t book_check(struct book *book);

/** The same, from the close of a month on. */
int64_t book_check_since(struct book *book, int64_t month);

/* Commands, ready to be changed and run. */
struct command book_command(enum command_kind kind);
struct command book_organization(const char *name, const char *parent, enum node_funding funding);
struct command book_project(const char *name, const char *organization);
struct command book_cluster(const char *name);
struct command book_cap(enum node_kind kind, const char *node, enum cap_kind cap, int64_t limit);
struct command book_grant(const char *id, const char *node, int64_t mcs);
/* One GPU a100 for 300 s in mode full: 4 800 000 mcs. */
struct command book_freeze(const char *id);
struct command book_verb(enum command_kind kind, const char *hold);
struct command book_settle(const char *hold, int64_t started_s, int64_t ended_s);

/** Put the standard rates as version `version` of a cluster, effective from `from_s`. */
enum error_code book_put_rates(struct book *book,
                               const char *cluster,
                               int64_t version,
                               int64_t from_s);

/** Read as a reader does, after the last commit. */
struct node book_node(struct book *book,
                      enum node_kind kind,
                      const char *name,
                      const char *project);
struct ledger_balance book_balance(struct book *book,
                                   enum node_kind kind,
                                   const char *name,
                                   const char *project);
struct ledger_hold book_hold(struct book *book, const char *id);

/** Let a test body run once for each engine: ON_EVERY_BOOK(suite, a_sentence, hours) { ... book ... }
 */
#define ON_EVERY_BOOK(suite, name, hours)                                      \
    static void suite##_##name(struct book *book);                             \
    static void suite##_##name##_on(const char *scheme)                        \
    {                                                                          \
        static struct book book;                                               \
        book_init_standard(&book, scheme, (hours));                            \
        suite##_##name(&book);                                                 \
        cr_assert(eq(i64, book_check(&book), 0), "%s", book.first_difference); \
        book_fini(&book);                                                      \
    }                                                                          \
    Test(suite##_memory, name)                                                 \
    {                                                                          \
        suite##_##name##_on("memory");                                         \
    }                                                                          \
    Test(suite##_sqlite, name)                                                 \
    {                                                                          \
        suite##_##name##_on("sqlite");                                         \
    }                                                                          \
    static void suite##_##name(struct book *book)

#endif
