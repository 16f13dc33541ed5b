/* The check finds each kind of damage: rows are changed behind the ledger's back. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ledger/store/store.h"
#include "tests/ledger/book.h"

/* A ledger with something of everything in it, closed. */
static void fill(struct book *book)
{
    struct command commands[] = {
        book_freeze("h1"),
        book_freeze("h2"),
        book_verb(COMMAND_START, "h2"),
        book_freeze("h3"),
        book_settle("h3", BOOK_START_S, BOOK_START_S),
    };
    commands[3].freeze.on_insufficient = INSUFFICIENT_WAIT;
    book_init_standard(book, "memory", 100);
    struct command cap = book_cap(NODE_PROJECT, "vision", CAP_JOBS, 2);
    cr_assert(eq(int, book_run(book, &cap), ERR_OK));
    for (size_t i = 0; i < 4; i++) {
        cr_assert(eq(int, book_run(book, &commands[i]), ERR_OK));
    }
    struct command settle = book_settle("h1", BOOK_START_S - 60, BOOK_START_S);
    struct command wait = book_freeze("h4");
    wait.freeze.on_insufficient = INSUFFICIENT_WAIT;
    wait.freeze.resources.gpus[0].count = 2;
    struct command waits = book_freeze("h5");
    waits.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_assert(eq(int, book_run(book, &settle), ERR_OK));
    cr_assert(eq(int, book_run(book, &wait), ERR_OK));
    cr_assert(eq(int, book_run(book, &waits), ERR_OK));
    cr_assert(eq(i64, book_check(book), 0), "%s", book->first_difference);
    ledger_close(book->ledger);
    book->ledger = NULL;
}

/* One row, changed. */
struct damage {
    const char *what;
    enum record_id type;
    int64_t key[3];
    void (*change)(void *record);
    const char *says; /* part of a difference */
};

static void more_used(void *record)
{
    ((struct counter *)record)->used_mcs++;
}

static void more_jobs(void *record)
{
    ((struct counter *)record)->jobs++;
}

static void other_model(void *record)
{
    ((struct counter *)record)->models[0].mgpus++;
}

static void more_month(void *record)
{
    ((struct node_month *)record)->used_mcs--;
}

static void more_available(void *record)
{
    ((struct grant *)record)->available_mcs++;
}

static void more_granted(void *record)
{
    ((struct grant *)record)->granted_mcs++;
}

static void more_frozen(void *record)
{
    ((struct hold *)record)->frozen_mcs++;
}

static void one_more_running(void *record)
{
    ((struct hold *)record)->counts[TASK_RUNNING]++;
}

static void other_draw(void *record)
{
    ((struct hold *)record)->draws[0].mcs++;
}

static void other_id(void *record)
{
    (void)strcpy(((struct hold *)record)->id, "h9");
}

static void longer_run(void *record)
{
    ((struct run *)record)->booked_until_s++;
}

static void more_charged(void *record)
{
    ((struct run *)record)->charged_mcs++;
}

static void other_state(void *record)
{
    ((struct task *)record)->state = TASK_SUSPENDED;
}

static void other_hash(void *record)
{
    ((struct root_state *)record)->hash.bytes[0] ^= 1;
}

static void other_place(void *record)
{
    ((struct waiting *)record)->hold_no = 1;
}

static void other_name(void *record)
{
    (void)strcpy(((struct node *)record)->name, "visions");
}

enum { DECEMBER = 2026 * 12 + 11, NOVEMBER = DECEMBER - 1 };

static const struct damage damages[] = {
    {"used at a node", RECORD_COUNTER, {2}, more_used, "used_mcs"},
    {"jobs in flight", RECORD_COUNTER, {1}, more_jobs, "jobs"},
    {"a model in flight", RECORD_COUNTER, {1}, other_model, "model"},
    {"a month of a node", RECORD_NODE_MONTH, {1, NOVEMBER}, more_month, "2026-11"},
    {"available of a grant", RECORD_GRANT, {2}, more_available, "available_mcs"},
    {"granted", RECORD_GRANT, {2}, more_granted, "granted_mcs"},
    {"frozen of a hold", RECORD_HOLD, {2}, more_frozen, "frozen_mcs"},
    {"states of a hold", RECORD_HOLD, {2}, one_more_running, "running"},
    {"a draw", RECORD_HOLD, {2}, other_draw, "draws"},
    {"the id of a hold", RECORD_HOLD, {2}, other_id, "id"},
    {"the facts of a run", RECORD_RUN, {1, 0, 0}, longer_run, "charged_mcs"},
    {"the charge of a run", RECORD_RUN, {1, 0, 0}, more_charged, "charged_mcs"},
    {"the state of a task", RECORD_TASK, {2, 0}, other_state, "suspended"},
    {"the hash of a root", RECORD_ROOT_STATE, {1}, other_hash, "hash"},
    {"a place in the queue", RECORD_WAITING, {1, 2}, other_place, "queue"},
    {"the name of a node", RECORD_NODE, {2}, other_name, "name"},
};

struct found {
    const char *says;
    bool said;
    int count;
};

static void note(void *context, const char *line)
{
    struct found *found = context;
    found->said = found->said || strstr(line, found->says) != NULL;
    found->count++;
}

static void plant(struct book *book, const struct damage *damage)
{
    static union record_any record;
    struct store *store;
    struct error err;
    bool found;
    cr_assert(store_open(book->url, STORE_WRITE, &store, &err) == ERR_OK, "%s", err.detail);
    memset(&record, 0, sizeof record);
    memcpy(&record, damage->key, record_types[damage->type].key_count * 8);
    cr_assert(store_begin(store, &err) == ERR_OK);
    cr_assert(store_get(store, &record_types[damage->type], &record, &found, &err) == ERR_OK);
    cr_assert(found, "%s: there is no such row", damage->what);
    damage->change(&record);
    cr_assert(store_put(store, &record_types[damage->type], &record, &err) == ERR_OK);
    cr_assert(store_commit(store, &err) == ERR_OK);
    store_close(store);
}

Test(check, each_kind_of_damage_is_found)
{
    for (size_t i = 0; i < ARRAY_LEN(damages); i++) {
        static struct book book;
        struct found found = {.says = damages[i].says};
        int64_t differences = 0;
        struct error err;
        fill(&book);
        plant(&book, &damages[i]);
        cr_assert(ledger_check(book.keeper, 0, note, &found, &differences, &err) == ERR_OK);
        cr_assert(gt(i64, differences, 0), "%s is not found", damages[i].what);
        cr_assert(found.said, "%s is found as something else", damages[i].what);
        cr_assert(eq(i64, differences, found.count));
        book_fini(&book);
    }
}

/* ---- rows that are missing, or one too many */

static void remove_row(struct book *book, enum record_id type, const void *key)
{
    struct store *store;
    struct error err;
    cr_assert(store_open(book->url, STORE_WRITE, &store, &err) == ERR_OK);
    cr_assert(store_begin(store, &err) == ERR_OK);
    cr_assert(store_remove(store, &record_types[type], key, &err) == ERR_OK);
    cr_assert(store_commit(store, &err) == ERR_OK);
    store_close(store);
}

static void expect_difference(struct book *book, const char *says)
{
    struct found found = {.says = says};
    int64_t differences = 0;
    struct error err;
    cr_assert(ledger_check(book->keeper, 0, note, &found, &differences, &err) == ERR_OK);
    cr_assert(found.said, "nothing says %s", says);
    book_fini(book);
}

Test(check, a_missing_row_of_usage_is_found)
{
    static struct book book;
    fill(&book);
    struct usage key = {.root_no = 1,
                        .month = NOVEMBER,
                        .day = BOOK_START_S / 86400 - 1,
                        .dims_no = 1,
                        .kind = USAGE_USAGE,
                        .outcome = OUTCOME_COMPLETED,
                        .period = NOVEMBER};
    remove_row(&book, RECORD_USAGE, &key);
    expect_difference(&book, "usage of 2026-11");
}

Test(check, a_missing_task_run_place_or_id_is_found)
{
    static const struct {
        enum record_id type;
        int64_t key[3];
        const char *says;
    } rows[] = {
        {RECORD_TASK, {2, 0, 0}, "untouched tasks"},
        {RECORD_RUN, {2, 0, 0}, "frozen_mcs by its tasks"},
        {RECORD_WAITING, {1, 2, 0}, "queue"},
        {RECORD_COUNTER, {2, 0, 0}, "node 2"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        static struct book book;
        fill(&book);
        remove_row(&book, rows[i].type, rows[i].key);
        expect_difference(&book, rows[i].says);
    }
}

Test(check, an_entry_and_a_link_put_in_behind_the_ledgers_back_are_found)
{
    static const struct entry entry = {.root_no = 1,
                                       .seq = 1000,
                                       .kind = ENTRY_GRANT,
                                       .to_grant_no = 2,
                                       .amount_mcs = 5,
                                       .to_part = PART_AVAILABLE};
    static const struct chain_link link = {
        .root_no = 1, .txn_no = 1000, .first_seq = 1000, .last_seq = 1000};
    static struct book book;
    struct store *store;
    struct error err;
    fill(&book);
    cr_assert(store_open(book.url, STORE_WRITE, &store, &err) == ERR_OK);
    cr_assert(store_begin(store, &err) == ERR_OK);
    cr_assert(store_insert(store, &record_types[RECORD_ENTRY], &entry, &err) == ERR_OK);
    cr_assert(store_insert(store, &record_types[RECORD_CHAIN_LINK], &link, &err) == ERR_OK);
    cr_assert(store_commit(store, &err) == ERR_OK);
    store_close(store);
    expect_difference(&book, "does not follow");
}

ON_EVERY_BOOK(check, an_untouched_ledger_has_no_differences, 10)
{
    cr_assert(eq(i64, book_check(book), 0));
}
