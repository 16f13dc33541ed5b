/*
 * The n-th call of the store fails, then the n-th allocation, for every n: a command is answered 503
 * or carried out whole, the ledger stays sound, and the same command then passes (SPEC 9.3, 11.3).
 *
 * The linker leads every call of these functions from the library here (--wrap).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ledger/store/store.h"
#include "tests/ledger/book.h"

static int64_t store_calls_left = -1; /* below 0: none fails */
static enum error_code store_code = ERR_UNAVAILABLE;
static int64_t allocations_left = -1;

/* Is this the call that fails? */
static bool falls(int64_t *left)
{
    return *left > 0 && --*left == 0;
}

static bool store_falls(struct error *err)
{
    if (falls(&store_calls_left)) {
        (void)error_set(err, store_code, "injected");
        return true;
    }
    return false;
}

/* The names are the linker's. */
#define WRAP(name, parameters, arguments)                               \
    enum error_code __real_##name parameters;                           \
    enum error_code __wrap_##name parameters;                           \
    enum error_code __wrap_##name parameters                            \
    {                                                                   \
        return store_falls(err) ? store_code : __real_##name arguments; \
    }

WRAP(store_get,
     (struct store * store,
      const struct record_type *type,
      void *record,
      bool *ret_found,
      struct error *err),
     (store, type, record, ret_found, err))
WRAP(store_put,
     (struct store * store, const struct record_type *type, const void *record, struct error *err),
     (store, type, record, err))
WRAP(store_insert,
     (struct store * store, const struct record_type *type, const void *record, struct error *err),
     (store, type, record, err))
WRAP(store_remove,
     (struct store * store, const struct record_type *type, const void *record, struct error *err),
     (store, type, record, err))
WRAP(store_select,
     (struct store * store,
      enum select_kind select,
      const struct select_args *args,
      store_row_fn row,
      void *context,
      struct error *err),
     (store, select, args, row, context, err))
WRAP(store_commit, (struct store * store, struct error *err), (store, err))
WRAP(store_begin, (struct store * store, struct error *err), (store, err))

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

void *__wrap_malloc(size_t bytes)
{
    return falls(&allocations_left) ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return falls(&allocations_left) ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return falls(&allocations_left) ? NULL : __real_realloc(memory, bytes);
}

/* ---- the story that meets the faults */

enum { STORY = 12 };

static void write_story(struct command *commands)
{
    struct command wait = book_freeze("h2");
    wait.freeze.on_insufficient = INSUFFICIENT_WAIT;
    struct command array = book_freeze("h3");
    array.freeze.tasks = 4;
    array.freeze.max_running = 1;
    array.freeze.on_insufficient = INSUFFICIENT_WAIT;
    struct command close = book_command(COMMAND_PATCH_NODE);
    close.node.kind = NODE_PROJECT;
    (void)strcpy(close.node.name, "vision");
    close.if_match = MATCH_ANY;
    close.node.given = 1u << NODE_FIELD_STATE;
    close.node.set.state = NODE_CLOSED;
    struct command release = book_verb(COMMAND_RELEASE, "h2");
    release.all_tasks = true;
    struct command refund = book_verb(COMMAND_REFUND, "h1");
    refund.refund.all = true;
    (void)strcpy(refund.refund.id, "r1");
    commands[0] = book_organization("side", "acme", FUNDING_SELF);
    commands[1] = book_cap(NODE_PROJECT, "vision", CAP_JOBS, 1);
    commands[2] = book_freeze("h1");
    commands[3] = wait;
    commands[4] = array;
    commands[5] = book_verb(COMMAND_START, "h1");
    commands[6] = book_settle("h1", BOOK_START_S - 60, BOOK_START_S);
    commands[7] = refund;
    commands[8] = release;
    commands[9] = book_grant("g2", "side", 1000);
    commands[10] = book_cap(NODE_MEMBER, "*", CAP_MONTH, 1);
    commands[11] = close;
}

/* Run it, with a fault in each command at the n-th call. True when any fault was met. */
static bool tell_story(struct book *book, int64_t n, int64_t *left)
{
    static struct command commands[STORY];
    bool met = false;
    write_story(commands);
    for (int i = 0; i < STORY; i++) {
        *left = n;
        enum error_code code = book_run(book, &commands[i]);
        bool here = *left == 0;
        *left = -1;
        met = met || here;
        cr_assert(code == ERR_OK || (here && code == ERR_UNAVAILABLE), "command %d, call %d: %s", i,
                  (int)n, book->result.error.detail);
        if (code != ERR_OK) {
            cr_assert(eq(i64, book_check(book), 0), "%s", book->first_difference);
            cr_assert(eq(int, book_run(book, &commands[i]), ERR_OK), "command %d again: %s", i,
                      book->result.error.detail);
        }
    }
    return met;
}

static void every_fault(const char *scheme, int64_t *left, int64_t step)
{
    bool met = true;
    int64_t n = 1;
    for (; met; n += step) {
        static struct book book;
        book_init_standard(&book, scheme, 100);
        met = tell_story(&book, n, left);
        cr_assert(eq(i64, book_check(&book), 0), "call %d: %s", (int)n, book.first_difference);
        cr_assert(eq(int, book_hold(&book, "h1").state, TASK_SETTLED));
        cr_assert(eq(int, book_hold(&book, "h2").state, TASK_RELEASED));
        cr_assert(eq(int, book_hold(&book, "h3").state, TASK_FROZEN));
        book_fini(&book);
    }
    cr_assert(n > 20, "only %d calls were met: is what they count still called?", (int)n);
}

Test(faults, any_call_of_the_store_may_fail)
{
    every_fault("memory", &store_calls_left, 1);
}

Test(faults, any_call_of_the_store_may_fail_on_disk)
{
    every_fault("sqlite", &store_calls_left, 7);
}

Test(faults, any_allocation_may_fail)
{
    every_fault("memory", &allocations_left, 1);
}

Test(faults, a_conflict_with_another_writer_is_tried_again)
{
    static struct book book;
    struct command freeze = book_freeze("h1");
    book_init_standard(&book, "memory", 100);
    store_code = ERR_OVERLOADED;
    for (int64_t n = 1; n < 8; n++) {
        store_calls_left = n;
        (void)snprintf(freeze.freeze.id, sizeof freeze.freeze.id, "h%d", (int)n);
        cr_assert(eq(int, book_run(&book, &freeze), ERR_OK), "%s", book.result.error.detail);
        cr_assert(not(book.result.replayed));
        cr_assert(eq(i64, store_calls_left, 0));
    }
    store_calls_left = -1;
    cr_assert(eq(i64, book_check(&book), 0), "%s", book.first_difference);
    book_fini(&book);
}

Test(faults, readers_say_so_and_go_on)
{
    static struct book book;
    struct error err;
    int64_t differences = 0;
    book_init_standard(&book, "memory", 100);
    struct command freeze = book_freeze("h1");
    cr_assert(eq(int, book_run(&book, &freeze), ERR_OK));
    for (int64_t n = 1;; n++) {
        store_calls_left = n;
        enum error_code code = ledger_check(book.keeper, 0, NULL, NULL, &differences, &err);
        bool met = store_calls_left == 0;
        store_calls_left = -1;
        cr_assert(eq(int, code, met ? ERR_UNAVAILABLE : ERR_OK));
        if (!met) {
            break;
        }
    }
    book_fini(&book);
}
