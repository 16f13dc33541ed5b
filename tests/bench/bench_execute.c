/*
 * What the ledger thread can do: freezes, and whole cycles of freeze and settle, through
 * ledger_execute() on a ledger in a file, so many commands a commit. Everything on: caps at member,
 * project, organization and root, a grant, the chain. No HTTP.
 *
 * usage: bench_execute [FOLDER] [SECONDS] [A_COMMIT] [MEMBERS]
 *
 * Prints one line of figures a phase: commands a second of wall time, and of the thread's own time
 * (without waiting for the disk), and the longest commit.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ledger/base/clock.h"
#include "ledger/ledger.h"

enum { COMMIT_MOST = 1024 };

#define NOW_MS INT64_C(1796058251000)

#define TEXT(field, value) (void)snprintf((field), sizeof(field), "%s", (value))

struct bench {
    struct ledger *ledger;
    size_t a_commit;
    int64_t members;
    int64_t frozen; /* holds so far */
    int64_t settled;
    int64_t longest_ns;
    struct command *commands;
    const struct command **list;
    struct ledger_result *results;
};

static _Noreturn void die(const char *what, const struct error *err)
{
    (void)fprintf(stderr, "bench_execute: %s: %s\n", what, err->detail);
    exit(1);
}

/* ---- commands */

static void begin_command(struct command *command, enum command_kind kind)
{
    memset(command, 0, sizeof *command);
    command->kind = kind;
    command->role = ROLE_ADMIN;
}

static void hold_id(int64_t number, char *id, size_t bytes)
{
    /* Ordered in time, as UUIDv7 are, and as long as cluster and UUID. */
    (void)snprintf(id, bytes, "alpha-0193c5e2-%04x-7%03x-%04x-%012" PRIx64,
                   (unsigned)(number >> 16 & 0xffff), (unsigned)(number >> 4 & 0xfff),
                   (unsigned)(number * 40503 & 0xffff),
                   (uint64_t)number * UINT64_C(0x9e3779b97f4a) & UINT64_C(0xffffffffffff));
}

static void make_freeze(struct bench *bench, struct command *command)
{
    struct command_freeze *freeze = &command->freeze;
    begin_command(command, COMMAND_FREEZE);
    TEXT(command->cluster, "alpha");
    hold_id(bench->frozen, freeze->id, sizeof freeze->id);
    TEXT(freeze->account, "vision");
    (void)snprintf(freeze->user, sizeof freeze->user, "user%d",
                   (int)(bench->frozen % bench->members));
    freeze->resources.given = true;
    freeze->resources.cores = 8;
    freeze->resources.memory_mib = 65536;
    freeze->resources.gpu_count = 1;
    TEXT(freeze->resources.gpus[0].model, "a100");
    freeze->resources.gpus[0].count = 1;
    freeze->time_limit_s = 300;
    bench->frozen++;
}

static void make_settle(struct bench *bench, struct command *command)
{
    begin_command(command, COMMAND_SETTLE);
    TEXT(command->cluster, "alpha");
    hold_id(bench->settled, command->hold, sizeof command->hold);
    command->run.started_at_s = NOW_MS / 1000 - 60;
    command->run.ended_at_s = NOW_MS / 1000;
    command->run.outcome = OUTCOME_COMPLETED;
    bench->settled++;
}

static void run(struct bench *bench, size_t count)
{
    struct error err = {.code = ERR_OK};
    struct ledger_work work = {.commands = bench->list, .results = bench->results, .count = count};
    memset(bench->results, 0, count * sizeof bench->results[0]);
    int64_t before_ns = clock_mono_ns();
    if (ledger_execute(bench->ledger, &work, 1, NOW_MS, &err) != ERR_OK) {
        die("execute", &err);
    }
    int64_t took_ns = clock_mono_ns() - before_ns;
    bench->longest_ns = took_ns > bench->longest_ns ? took_ns : bench->longest_ns;
    for (size_t i = 0; i < count; i++) {
        if (bench->results[i].error.code != ERR_OK) {
            die("refused", &bench->results[i].error);
        }
    }
}

static void run_one(struct bench *bench, const struct command *command)
{
    bench->list[0] = command;
    run(bench, 1);
    bench->list[0] = &bench->commands[0];
}

/* ---- the place */

static void put_node(struct bench *bench, enum node_kind kind, const char *name, const char *parent)
{
    struct command command;
    begin_command(&command, COMMAND_PUT_NODE);
    command.node.kind = kind;
    TEXT(command.node.name, name);
    TEXT(command.node.parent, parent);
    run_one(bench, &command);
}

static void put_cap(struct bench *bench, enum node_kind kind, const char *node)
{
    struct command command;
    begin_command(&command, COMMAND_PUT_CAP);
    command.cap.kind = kind;
    TEXT(command.cap.node, node);
    TEXT(command.cap.project, "vision");
    command.cap.cap.kind = CAP_MONTH;
    command.cap.cap.limit = LIMIT_COMMAND_MCS;
    run_one(bench, &command);
}

static void put_rates(struct bench *bench)
{
    static struct command_with_rates rates;
    begin_command(&rates.command, COMMAND_PUT_RATES);
    TEXT(rates.command.cluster, "alpha");
    rates.rates.version.version = 1;
    rates.rates.version.effective_from_s = 1;
    rates.rates.version.combine = COMBINE_MAX;
    rates.rates.version.row_count = 1;
    rates.rates.version.price_micro = 120000;
    TEXT(rates.rates.version.currency, "CNY");
    struct command_rate_row *row = &rates.rates.rows[0];
    row->row.permille = 1000;
    row->row.core_mcores = 1000;
    row->row.gpu_default_mcores = -1;
    row->row.gpu_count = 1;
    row->row.gpus[0].mcores = 16000;
    TEXT(row->models[0], "a100");
    run_one(bench, &rates.command);
}

static void make_place(struct bench *bench)
{
    struct command command;
    put_node(bench, NODE_ORGANIZATION, "acme", "");
    put_node(bench, NODE_ORGANIZATION, "acme-ai", "acme");
    put_node(bench, NODE_PROJECT, "vision", "acme-ai");
    begin_command(&command, COMMAND_PUT_CLUSTER);
    TEXT(command.cluster, "alpha");
    command.cluster_set.given = 1u << CLUSTER_FIELD_KIND;
    run_one(bench, &command);
    put_rates(bench);
    begin_command(&command, COMMAND_GRANT);
    TEXT(command.movement.id, "g1");
    TEXT(command.movement.to, "acme");
    command.movement.amount_mcs = LIMIT_COMMAND_MCS;
    run_one(bench, &command);
    put_cap(bench, NODE_ORGANIZATION, "acme");
    put_cap(bench, NODE_ORGANIZATION, "acme-ai");
    put_cap(bench, NODE_PROJECT, "vision");
    put_cap(bench, NODE_MEMBER, "*");
}

/* ---- phases */

static int64_t thread_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void maintain(struct bench *bench)
{
    struct error err;
    if (ledger_maintain(bench->ledger, &err) != ERR_OK) {
        die("maintain", &err);
    }
}

/* Fill a batch and carry it out until the time is over; cycle: half freezes, half settlements. */
static void phase(struct bench *bench, const char *name, int64_t seconds, bool cycle)
{
    int64_t wall_ns = 0;
    int64_t own_ns = 0;
    int64_t done = 0;
    bench->longest_ns = 0;
    while (wall_ns < seconds * 1000000000) {
        for (size_t i = 0; i < bench->a_commit; i++) {
            bool settle = cycle && i % 2 == 1;
            (settle ? make_settle : make_freeze)(bench, &bench->commands[i]);
        }
        int64_t wall_from_ns = clock_mono_ns();
        int64_t own_from_ns = thread_ns();
        run(bench, bench->a_commit);
        maintain(bench);
        own_ns += thread_ns() - own_from_ns;
        wall_ns += clock_mono_ns() - wall_from_ns;
        done += (int64_t)bench->a_commit;
    }
    int64_t units = cycle ? done / 2 : done;
    (void)printf("%-8s %8" PRId64 " a second, %8" PRId64 " a second of the thread's time (%" PRId64
                 ".%02" PRId64 " us each), longest commit %" PRId64 " ms\n",
                 name, units * 1000000000 / wall_ns, units * 1000000000 / own_ns,
                 own_ns / units / 1000, own_ns / units % 1000 / 10, bench->longest_ns / 1000000);
}

static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    (void)rmdir(path);
}

static int64_t argument(int argc, char **argv, int i, int64_t otherwise)
{
    int64_t value = i < argc ? strtoll(argv[i], NULL, 10) : otherwise;
    return value > 0 ? value : otherwise;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    char folder[256];
    char url[320];
    struct error err = {.code = ERR_OK};
    struct ledger_options options = {.create = true};
    int64_t seconds = argument(argc, argv, 2, 5);
    bench.a_commit = (size_t)argument(argc, argv, 3, 64);
    bench.members = argument(argc, argv, 4, 100);
    if (bench.a_commit > COMMIT_MOST) {
        bench.a_commit = COMMIT_MOST;
    }
    (void)snprintf(folder, sizeof folder, "%s/corehour-bench-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    bench.commands = calloc(COMMIT_MOST, sizeof bench.commands[0]);
    bench.list = calloc(COMMIT_MOST, sizeof(struct command *));
    bench.results = calloc(COMMIT_MOST, sizeof bench.results[0]);
    if (mkdtemp(folder) == NULL || bench.commands == NULL || bench.list == NULL ||
        bench.results == NULL) {
        return 1;
    }
    for (size_t i = 0; i < COMMIT_MOST; i++) {
        bench.list[i] = &bench.commands[i];
    }
    (void)snprintf(url, sizeof url, "sqlite:%s/ledger.db", folder);
    if (ledger_open(url, &options, &bench.ledger, &err) != ERR_OK) {
        die("open", &err);
    }
    make_place(&bench);
    phase(&bench, "freeze", seconds, false);
    phase(&bench, "cycle", seconds, true);
    ledger_close(bench.ledger);
    remove_folder(folder);
    free(bench.commands);
    free(bench.list);
    free(bench.results);
    return 0;
}
