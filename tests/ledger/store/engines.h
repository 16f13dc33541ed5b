/*
 * The engines that the contract is tested on, and random records for them.
 */
#ifndef TESTS_LEDGER_STORE_ENGINES_H
#define TESTS_LEDGER_STORE_ENGINES_H

#include "ledger/store/store.h"
#include "tests/lib/random.h"

/** A new, empty ledger of an engine in a folder of its own; removed by engine_fini(). */
struct engine {
    const char *scheme; /* "memory", "sqlite" */
    char folder[64];    /* "" for memory */
    char url[128];
    struct store *store; /* the writer */
};

/** Create and open it for writing. */
void engine_init(struct engine *engine, const char *scheme);

/** Close the writer if it is open, and remove the files. */
void engine_fini(struct engine *engine);

/** Put the parents that foreign keys ask for: nodes, clusters, rate versions and dims 0 to
 * PARENTS - 1. */
enum { PARENTS = 4 };
void engine_put_parents(struct engine *engine);

/**
 * Fill a record with random content that keeps the schema's checks.
 *
 * @small  integers from 0 to 3 and short texts, so that keys and filters meet; else extreme values,
 *         full texts and full lists
 */
void random_record(struct test_random *random,
                   const struct record_type *type,
                   bool small,
                   void *ret_record);

/**
 * Let a test body run once for each engine:
 *     ON_EVERY_ENGINE(store, a_sentence) { ... engine->store ... }
 */
#define ON_EVERY_ENGINE(suite, name)                    \
    static void suite##_##name(struct engine *engine);  \
    static void suite##_##name##_on(const char *scheme) \
    {                                                   \
        struct engine engine;                           \
        engine_init(&engine, scheme);                   \
        suite##_##name(&engine);                        \
        engine_fini(&engine);                           \
    }                                                   \
    Test(suite##_memory, name)                          \
    {                                                   \
        suite##_##name##_on("memory");                  \
    }                                                   \
    Test(suite##_sqlite, name)                          \
    {                                                   \
        suite##_##name##_on("sqlite");                  \
    }                                                   \
    static void suite##_##name(struct engine *engine)

/** The call must answer ERR_OK; shows its detail else. */
#define OK(call)                                                  \
    do {                                                          \
        struct error err_ = {.code = ERR_OK};                     \
        struct error *err = &err_;                                \
        enum error_code code_ = (call);                           \
        cr_assert(code_ == ERR_OK, "%s: %s", #call, err_.detail); \
        (void)err;                                                \
    } while (0)

/* Copy what a put does not change: a record that is to replace another keeps it. */
void record_keep_fixed(const struct record_type *type, const void *from, void *to);

#endif
