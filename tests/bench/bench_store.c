/*
 * What the store can do by itself, in the shape of real work: freezes, and settlements of them,
 * many a commit. No decisions, no HTTP: the rest of the program can only be slower.
 *
 * usage: bench_store [FOLDER] [SECONDS] [A_COMMIT] [PROJECTS]
 *
 * Prints one line of figures a phase. Bytes are growth of the database file after a checkpoint.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger/base/clock.h"
#include "ledger/store/store.h"

enum { ROOT = 1, PATH = 4, GRANT = 1, CLUSTER = 1, NOW_S = 1796058251, MANY = 64 };

struct bench {
    struct store *store;
    int64_t a_commit;
    int64_t projects;
    int64_t hold_no; /* last one frozen */
    int64_t settled; /* last one settled */
    int64_t seq;
    int64_t txn;
    int64_t longest_ns; /* commit and housekeeping together */
    struct inserts {    /* narrow records are inserted together, as the working set does */
        size_t count;
        union {
            struct entry entry;
            struct hold_id hold_id;
            struct task task;
        } records[MANY];
    } inserts[RECORD__COUNT];
};

#define MUST(call)                                                             \
    do {                                                                       \
        struct error err;                                                      \
        if ((call) != ERR_OK) {                                                \
            (void)fprintf(stderr, "bench_store: %s: %s\n", #call, err.detail); \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

static void id_of(int64_t hold_no, char *id, size_t bytes)
{
    /* Ordered in time, as UUIDv7 are, and as long as cluster and UUID. */
    (void)snprintf(id, bytes,
                   "alpha-0193c5e2-%04" PRIx64 "-7%03" PRIx64 "-%04" PRIx64 "-%012" PRIx64,
                   (uint64_t)(hold_no >> 16 & 0xffff), (uint64_t)(hold_no >> 4 & 0xfff),
                   (uint64_t)(hold_no * 40503 & 0xffff),
                   (uint64_t)hold_no * UINT64_C(0x9e3779b97f4a) & UINT64_C(0xffffffffffff));
}

static void write_inserts(struct bench *bench, enum record_id type)
{
    struct inserts *inserts = &bench->inserts[type];
    const void *records[MANY];
    for (size_t i = 0; i < inserts->count; i++) {
        records[i] = &inserts->records[i];
    }
    MUST(store_insert_many(bench->store, &record_types[type], records, inserts->count, &err));
    inserts->count = 0;
}

static void insert(struct bench *bench, enum record_id type, const void *record)
{
    struct inserts *inserts = &bench->inserts[type];
    if (inserts->count == MANY) {
        write_inserts(bench, type);
    }
    (void)memcpy(&inserts->records[inserts->count++], record, record_types[type].bytes);
}

static void insert_entry(struct bench *bench,
                         enum entry_kind kind,
                         enum account_part from,
                         enum account_part to,
                         int64_t hold_no)
{
    struct entry entry = {
        .root_no = ROOT,
        .seq = ++bench->seq,
        .kind = kind,
        .from_part = from,
        .to_part = to,
        .from_grant_no = GRANT,
        .to_grant_no = GRANT,
        .amount_mcs = 4800000,
        .hold_no = hold_no,
        .month = 2026 * 12 + 10,
        .period = 2026 * 12 + 10,
        .at_ms = (int64_t)NOW_S * 1000 + bench->txn,
    };
    insert(bench, RECORD_ENTRY, &entry);
}

static void fill_hold(struct bench *bench, int64_t hold_no, struct hold *hold)
{
    *hold = (struct hold){
        .hold_no = hold_no,
        .root_no = ROOT,
        .cluster_no = CLUSTER,
        .project_no = 10 + hold_no % bench->projects,
        .member_no = 10000 + hold_no % bench->projects,
        .payer_no = ROOT,
        .dims_no = 1 + hold_no % bench->projects,
        .created_ms = (int64_t)NOW_S * 1000 + hold_no,
        .due_s = NOW_S + 600,
        .seen_s = NOW_S,
        .ttl_s = 600,
        .time_limit_s = 300,
        .tasks = 1,
        .mode = MODE_FULL,
        .on_insufficient = INSUFFICIENT_REJECT,
        .untouched_state = TASK_FROZEN,
        .untouched = 1,
        .card_version = 1,
        .rate_mcores = 16000,
        .mgpus = 1000,
        .seconds = 300,
        .frozen_mcs = 4800000,
        .resources = {.cores = 8,
                      .memory_mib = 65536,
                      .gpu_count = 1,
                      .gpus = {{1, 1, 0, 0, 1000}}},
        .draw_count = 1,
        .draws = {{GRANT, 4800000}},
        .job_name = "train",
        .partition = "gpu",
        .qos = "normal",
    };
    hold->counts[TASK_FROZEN] = 1;
    memset(hold->content.bytes, (int)(hold_no * 31 & 0xff), sizeof hold->content.bytes);
    id_of(hold_no, hold->id, sizeof hold->id);
}

static void freeze(struct bench *bench)
{
    struct hold hold;
    fill_hold(bench, ++bench->hold_no, &hold);
    struct hold_id id = {.cluster_no = CLUSTER, .hold_no = hold.hold_no};
    (void)memcpy(id.id, hold.id, sizeof id.id);
    bool found = false;
    MUST(store_get(bench->store, &record_types[RECORD_HOLD_ID], &id, &found, &err));
    MUST(store_insert(bench->store, &record_types[RECORD_HOLD], &hold, &err));
    insert(bench, RECORD_HOLD_ID, &id);
    insert_entry(bench, ENTRY_FREEZE, PART_AVAILABLE, PART_FROZEN, hold.hold_no);
}

static void fill_run(const struct hold *hold, struct run *run)
{
    *run = (struct run){
        .hold_no = hold->hold_no,
        .root_no = ROOT,
        .state = TASK_SETTLED,
        .outcome = OUTCOME_COMPLETED,
        .started_s = NOW_S,
        .booked_until_s = NOW_S + 60,
        .ended_s = NOW_S + 60,
        .seen_s = NOW_S + 60,
        .limit_s = 300,
        .charged_mcs = 960000,
        .settled_frozen_mcs = 4800000,
        .returned_mcs = 3840000,
        .segment_count = 1,
        .segments = {{NOW_S, 16000, 1000}},
        .draw_count = 1,
        .draws = {{GRANT, 960000}},
    };
    memset(run->settled.bytes, (int)(hold->hold_no * 7 & 0xff), sizeof run->settled.bytes);
}

static void settle(struct bench *bench)
{
    struct hold_id id = {.cluster_no = CLUSTER};
    id_of(++bench->settled, id.id, sizeof id.id);
    bool found = false;
    MUST(store_get(bench->store, &record_types[RECORD_HOLD_ID], &id, &found, &err));
    struct hold hold = {.hold_no = id.hold_no};
    MUST(store_get(bench->store, &record_types[RECORD_HOLD], &hold, &found, &err));
    struct task task = {.hold_no = hold.hold_no, .state = TASK_SETTLED};
    MUST(store_get(bench->store, &record_types[RECORD_TASK], &task, &found, &err));
    struct run run;
    fill_run(&hold, &run);
    hold.counts[TASK_FROZEN] = 0;
    hold.counts[TASK_SETTLED] = 1;
    hold.untouched = 0;
    hold.due_s = 0;
    hold.bound_ms = hold.created_ms + 100;
    hold.seen_s = NOW_S + 60;
    hold.frozen_mcs = 0;
    hold.used_mcs = 960000;
    hold.draw_count = 0;
    MUST(store_put(bench->store, &record_types[RECORD_HOLD], &hold, &err));
    insert(bench, RECORD_TASK, &task);
    MUST(store_insert(bench->store, &record_types[RECORD_RUN], &run, &err));
    insert_entry(bench, ENTRY_CHARGE, PART_FROZEN, PART_USED, hold.hold_no);
    insert_entry(bench, ENTRY_UNFREEZE, PART_FROZEN, PART_AVAILABLE, hold.hold_no);
}

/* What is written once a batch, however many commands it has: counters of the paths, the grant, the
 * chain. */
static void flush_hot(struct bench *bench)
{
    write_inserts(bench, RECORD_HOLD_ID);
    write_inserts(bench, RECORD_TASK);
    write_inserts(bench, RECORD_ENTRY);
    int64_t touched = bench->projects < bench->a_commit ? bench->projects : bench->a_commit;
    for (int64_t i = 0; i < touched; i++) {
        struct counter counter = {.node_no = 10 + i, .frozen_mcs = bench->seq};
        MUST(store_put(bench->store, &record_types[RECORD_COUNTER], &counter, &err));
        counter.node_no = 10000 + i;
        MUST(store_put(bench->store, &record_types[RECORD_COUNTER], &counter, &err));
    }
    struct counter root = {.node_no = ROOT, .frozen_mcs = bench->seq};
    MUST(store_put(bench->store, &record_types[RECORD_COUNTER], &root, &err));
    struct grant grant = {.grant_no = GRANT,
                          .root_no = ROOT,
                          .node_no = ROOT,
                          .end_s = INT64_MAX,
                          .granted_mcs = INT64_MAX,
                          .frozen_mcs = bench->seq};
    MUST(store_put(bench->store, &record_types[RECORD_GRANT], &grant, &err));
    struct chain_link link = {.root_no = ROOT, .txn_no = ++bench->txn, .last_seq = bench->seq};
    MUST(store_insert(bench->store, &record_types[RECORD_CHAIN_LINK], &link, &err));
    struct root_state state = {.root_no = ROOT, .last_seq = bench->seq, .last_txn = bench->txn};
    MUST(store_put(bench->store, &record_types[RECORD_ROOT_STATE], &state, &err));
    struct sequence sequence = {.name = "hold", .last = bench->hold_no};
    MUST(store_put(bench->store, &record_types[RECORD_SEQUENCE], &sequence, &err));
}

static void put_nodes(struct bench *bench)
{
    MUST(store_begin(bench->store, &err));
    struct node root = {.node_no = ROOT, .root_no = ROOT};
    MUST(store_put(bench->store, &record_types[RECORD_NODE], &root, &err));
    for (int64_t i = 0; i < bench->projects; i++) {
        struct node node = {.node_no = 10 + i, .root_no = ROOT, .parent_no = ROOT};
        MUST(store_put(bench->store, &record_types[RECORD_NODE], &node, &err));
        node.node_no = 10000 + i;
        node.parent_no = 10 + i;
        MUST(store_put(bench->store, &record_types[RECORD_NODE], &node, &err));
    }
    MUST(store_commit(bench->store, &err));
}

static int64_t file_bytes(const char *folder, const char *name)
{
    char path[512];
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &status) == 0 ? status.st_size : 0;
}

/* Processor time of this process so far. */
static int64_t cpu_us(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000) +
           usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* Run batches of a command for some seconds, or `most` commands; prints what came out. */
static void run_phase(struct bench *bench,
                      const char *name,
                      void (*command)(struct bench *),
                      int64_t seconds,
                      int64_t most,
                      const char *folder)
{
    int64_t begin_ns = clock_mono_ns();
    int64_t begin_us = cpu_us();
    int64_t done = 0;
    bench->longest_ns = 0;
    while (clock_mono_ns() - begin_ns < seconds * 1000000000 && done < most) {
        MUST(store_begin(bench->store, &err));
        for (int64_t i = 0; i < bench->a_commit && done < most; i++, done++) {
            command(bench);
        }
        flush_hot(bench);
        int64_t commit_ns = clock_mono_ns();
        MUST(store_commit(bench->store, &err));
        MUST(store_maintain(bench->store, &err));
        int64_t took_ns = clock_mono_ns() - commit_ns;
        bench->longest_ns = took_ns > bench->longest_ns ? took_ns : bench->longest_ns;
    }
    int64_t took_ms = (clock_mono_ns() - begin_ns) / 1000000;
    printf("%-8s %8" PRId64 " in %6" PRId64 " ms: %7" PRId64 " a second, processor %5" PRId64
           " ns each, %" PRId64 " a commit, longest commit with checkpoint %" PRId64
           " ms, wal %" PRId64 " MiB\n",
           name, done, took_ms, done * 1000 / (took_ms + 1),
           (cpu_us() - begin_us) * 1000 / (done + 1), bench->a_commit, bench->longest_ns / 1000000,
           file_bytes(folder, "ledger.db-wal") >> 20);
    (void)fflush(stdout);
}

static void open_store(struct bench *bench, const char *folder, enum store_access access)
{
    char url[512];
    (void)snprintf(url, sizeof url, "sqlite:%s/ledger.db", folder);
    MUST(store_open(url, access, &bench->store, &err));
}

static void remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
    (void)closedir(folder);
    (void)rmdir(path);
}

int main(int argc, char **argv)
{
    char folder[400];
    (void)snprintf(folder, sizeof folder, "%s/corehour-bench-XXXXXX", argc > 1 ? argv[1] : "/tmp");
    static struct bench bench;
    bench = (struct bench){
        .a_commit = argc > 3 ? strtoll(argv[3], NULL, 10) : 64,
        .projects = argc > 4 ? strtoll(argv[4], NULL, 10) : 8,
    };
    int64_t seconds = argc > 2 ? strtoll(argv[2], NULL, 10) : 5;
    if (mkdtemp(folder) == NULL || bench.a_commit < 1 || bench.projects < 1) {
        (void)fprintf(stderr, "usage: bench_store [FOLDER] [SECONDS] [A_COMMIT] [PROJECTS]\n");
        return 2;
    }
    open_store(&bench, folder, STORE_CREATE);
    put_nodes(&bench);
    run_phase(&bench, "freeze", freeze, seconds, INT64_MAX, folder);
    run_phase(&bench, "settle", settle, INT32_MAX, bench.hold_no, folder);
    store_close(bench.store);
    printf("disk     %" PRId64 " bytes a cycle\n",
           file_bytes(folder, "ledger.db") / (bench.hold_no + 1));
    remove_folder(folder);
    return 0;
}
