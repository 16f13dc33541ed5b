#include "tests/ledger/book.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUIRE(condition, ...)                 \
    do {                                        \
        if (!(condition)) {                     \
            (void)fprintf(stderr, __VA_ARGS__); \
            (void)fputc('\n', stderr);          \
            abort();                            \
        }                                       \
    } while (0)

static void open_ledger(struct book *book, bool create)
{
    struct error err = {.code = ERR_OK};
    struct ledger_options options = {.create = create};
    enum error_code code = ledger_open(book->url, &options, &book->ledger, &err);
    REQUIRE(code == ERR_OK, "open: %s", err.detail);
}

void book_init(struct book *book, const char *scheme)
{
    static int made;
    memset(book, 0, sizeof *book);
    book->scheme = scheme;
    book->now_ms = BOOK_START_S * 1000;
    if (strcmp(scheme, "memory") == 0) {
        (void)snprintf(book->url, sizeof book->url, "memory:book%d", made++);
    } else {
        (void)snprintf(book->folder, sizeof book->folder, "/tmp/corehour-book-XXXXXX");
        REQUIRE(mkdtemp(book->folder) != NULL, "mkdtemp");
        (void)snprintf(book->url, sizeof book->url, "sqlite:%s/ledger.db", book->folder);
    }
    open_ledger(book, true);
    struct error err = {.code = ERR_OK};
    enum error_code code = ledger_reader_open(book->url, &book->keeper, &err);
    REQUIRE(code == ERR_OK, "reader: %s", err.detail);
}

void book_fini(struct book *book)
{
    ledger_result_fini(&book->result);
    ledger_close(book->ledger);
    ledger_reader_close(book->keeper);
    if (book->folder[0] == '\0') {
        return;
    }
    DIR *folder = opendir(book->folder);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    (void)closedir(folder);
    (void)rmdir(book->folder);
}

void book_reopen(struct book *book)
{
    ledger_close(book->ledger);
    open_ledger(book, false);
}

void book_pass_s(struct book *book, int64_t seconds)
{
    book->now_ms += seconds * 1000;
}

enum error_code book_run(struct book *book, const struct command *command)
{
    struct error err = {.code = ERR_OK};
    const struct command *const commands[] = {command};
    ledger_result_fini(&book->result);
    memset(&book->result, 0, sizeof book->result);
    struct ledger_work work = {
        .commands = commands, .results = &book->result, .count = 1, .actor = book->actor};
    (void)ledger_execute(book->ledger, &work, 1, book->now_ms, &err);
    return book->result.error.code;
}

void book_run_many(struct book *book,
                   const struct command *commands,
                   size_t count,
                   bool atomic,
                   struct ledger_result *results)
{
    struct error err = {.code = ERR_OK};
    const struct command **list = calloc(count, sizeof(struct command *));
    REQUIRE(list != NULL, "memory");
    memset(results, 0, count * sizeof results[0]);
    for (size_t i = 0; i < count; i++) {
        list[i] = &commands[i];
    }
    struct ledger_work work = {.commands = list,
                               .results = results,
                               .count = count,
                               .atomic = atomic,
                               .actor = book->actor};
    (void)ledger_execute(book->ledger, &work, 1, book->now_ms, &err);
    free(list);
}

size_t book_tick(struct book *book)
{
    enum { MOST = 64 };
    static struct command commands[MOST];
    size_t done = 0;
    for (;;) {
        struct error err = {.code = ERR_OK};
        size_t count = 0;
        enum error_code code = ledger_due(book->ledger, book->now_ms, commands, MOST, &count, &err);
        REQUIRE(code == ERR_OK, "due: %s", err.detail);
        if (count == 0) {
            return done;
        }
        for (size_t i = 0; i < count; i++) {
            code = book_run(book, &commands[i]);
            REQUIRE(code == ERR_OK, "due %d: %s", (int)commands[i].kind, book->result.error.detail);
        }
        done += count;
        REQUIRE(done < 1000000, "the clockwork never ends");
    }
}

static void note_difference(void *context, const char *line)
{
    struct book *book = context;
    if (book->first_difference[0] == '\0') {
        (void)snprintf(book->first_difference, sizeof book->first_difference, "%s", line);
    }
}

int64_t book_check_since(struct book *book, int64_t month)
{
    struct error err = {.code = ERR_OK};
    book->first_difference[0] = '\0';
    enum error_code code =
        ledger_check(book->keeper, month, note_difference, book, &book->differences, &err);
    REQUIRE(code == ERR_OK, "check: %s", err.detail);
    return book->differences;
}

int64_t book_check(struct book *book)
{
    return book_check_since(book, 0);
}

/* ---- commands */

struct command book_command(enum command_kind kind)
{
    struct command command;
    memset(&command, 0, sizeof command);
    command.kind = kind;
    command.role = ROLE_ADMIN;
    return command;
}

#define TEXT(field, value) (void)snprintf((field), sizeof(field), "%s", (value))

struct command book_organization(const char *name, const char *parent, enum node_funding funding)
{
    struct command command = book_command(COMMAND_PUT_NODE);
    command.node.kind = NODE_ORGANIZATION;
    TEXT(command.node.name, name);
    TEXT(command.node.parent, parent);
    command.node.given = 1u << NODE_FIELD_FUNDING;
    command.node.given |= parent[0] != '\0' ? 1u << NODE_FIELD_PARENT : 0;
    command.node.set.funding = funding;
    return command;
}

struct command book_project(const char *name, const char *organization)
{
    struct command command = book_command(COMMAND_PUT_NODE);
    command.node.kind = NODE_PROJECT;
    TEXT(command.node.name, name);
    TEXT(command.node.parent, organization);
    command.node.given = 1u << NODE_FIELD_PARENT;
    return command;
}

struct command book_cluster(const char *name)
{
    struct command command = book_command(COMMAND_PUT_CLUSTER);
    TEXT(command.cluster, name);
    command.cluster_set.given = 1u << CLUSTER_FIELD_KIND;
    command.cluster_set.set.kind = CLUSTER_SLURM;
    return command;
}

struct command book_cap(enum node_kind kind, const char *node, enum cap_kind cap, int64_t limit)
{
    struct command command = book_command(COMMAND_PUT_CAP);
    command.cap.kind = kind;
    TEXT(command.cap.node, node);
    TEXT(command.cap.project, "vision");
    command.cap.cap.kind = cap;
    command.cap.cap.limit = limit;
    command.if_match = MATCH_ANY;
    return command;
}

struct command book_grant(const char *id, const char *node, int64_t mcs)
{
    struct command command = book_command(COMMAND_GRANT);
    TEXT(command.movement.id, id);
    TEXT(command.movement.to, node);
    command.movement.amount_mcs = mcs;
    return command;
}

struct command book_freeze(const char *id)
{
    struct command command = book_command(COMMAND_FREEZE);
    struct command_freeze *freeze = &command.freeze;
    TEXT(command.cluster, "alpha");
    TEXT(freeze->id, id);
    TEXT(freeze->account, "vision");
    TEXT(freeze->user, "alice");
    freeze->resources.given = true;
    freeze->resources.gpu_count = 1;
    TEXT(freeze->resources.gpus[0].model, "a100");
    freeze->resources.gpus[0].count = 1;
    freeze->time_limit_s = 300;
    return command;
}

struct command book_verb(enum command_kind kind, const char *hold)
{
    struct command command = book_command(kind);
    TEXT(command.cluster, "alpha");
    TEXT(command.hold, hold);
    return command;
}

struct command book_settle(const char *hold, int64_t started_s, int64_t ended_s)
{
    struct command command = book_verb(COMMAND_SETTLE, hold);
    command.run.started_at_s = started_s;
    command.run.ended_at_s = ended_s;
    return command;
}

enum error_code book_put_rates(struct book *book,
                               const char *cluster,
                               int64_t version,
                               int64_t from_s)
{
    static struct command_with_rates rates;
    memset(&rates, 0, sizeof rates);
    rates.command = book_command(COMMAND_PUT_RATES);
    TEXT(rates.command.cluster, cluster);
    rates.rates.version.version = version;
    rates.rates.version.effective_from_s = from_s;
    rates.rates.version.combine = COMBINE_MAX;
    rates.rates.version.row_count = 1;
    rates.rates.version.price_micro = -1;
    struct command_rate_row *row = &rates.rates.rows[0];
    row->row.permille = 1000;
    row->row.core_mcores = 1000;
    row->row.gpu_default_mcores = 16000;
    row->row.gpu_count = 1;
    row->row.gpus[0].mcores = 16000;
    row->row.gpus[0].memory_mib = 81920;
    TEXT(row->models[0], "a100");
    return book_run(book, &rates.command);
}

static void must(struct book *book, struct command command)
{
    enum error_code code = book_run(book, &command);
    REQUIRE(code == ERR_OK, "command %d: %s", (int)command.kind, book->result.error.detail);
}

void book_init_standard(struct book *book, const char *scheme, int64_t hours)
{
    book_init(book, scheme);
    must(book, book_organization("acme", "", hours < 0 ? FUNDING_UNLIMITED : FUNDING_SELF));
    must(book, book_project("vision", "acme"));
    must(book, book_cluster("alpha"));
    enum error_code code = book_put_rates(book, "alpha", 1, 1767225600);
    REQUIRE(code == ERR_OK, "rates: %s", book->result.error.detail);
    if (hours > 0) {
        must(book, book_grant("g1", "acme", hours * BOOK_HOUR));
    }
}

/* ---- reading */

struct node book_node(struct book *book, enum node_kind kind, const char *name, const char *project)
{
    struct error err = {.code = ERR_OK};
    struct node node;
    enum error_code code = ledger_reader_begin(book->keeper, &err);
    if (code == ERR_OK) {
        code = ledger_read_node(book->keeper, kind, name, project, &node, &err);
    }
    REQUIRE(code == ERR_OK, "node %s: %s", name, err.detail);
    ledger_reader_end(book->keeper);
    return node;
}

struct ledger_balance book_balance(struct book *book,
                                   enum node_kind kind,
                                   const char *name,
                                   const char *project)
{
    struct error err = {.code = ERR_OK};
    static struct ledger_balance balance;
    struct node node = book_node(book, kind, name, project);
    enum error_code code = ledger_reader_begin(book->keeper, &err);
    if (code == ERR_OK) {
        code = ledger_read_balance(book->keeper, &node, book->now_ms, &balance, &err);
    }
    REQUIRE(code == ERR_OK, "balance of %s: %s", name, err.detail);
    ledger_reader_end(book->keeper);
    return balance;
}

struct ledger_hold book_hold(struct book *book, const char *id)
{
    struct error err = {.code = ERR_OK};
    struct ledger_hold hold;
    enum error_code code = ledger_reader_begin(book->keeper, &err);
    if (code == ERR_OK) {
        code = ledger_read_hold(book->keeper, "alpha", "", id, &hold, &err);
    }
    REQUIRE(code == ERR_OK, "hold %s: %s", id, err.detail);
    ledger_reader_end(book->keeper);
    return hold;
}
