/*
 * A small world around the pure decisions: it loads views, applies plans and checks that everything
 * agrees, as ledger/execute.c does, with nothing but arrays. One path: alice in project vision in
 * acme-ai in the root acme, which pays; one cluster, alpha.
 *
 * world_do() carries a command out and then recounts everything that is kept in two places; a
 * difference fails the test. What a test changes by hand (caps, grants, the clock, states) it
 * changes in the struct.
 */
#ifndef TESTS_LIB_WORLD_H
#define TESTS_LIB_WORLD_H

#include "ledger/core/decide.h"
#include "ledger/core/decide_money.h"

enum {
    WORLD_HOLDS = 8,
    WORLD_TASKS = 128,
    WORLD_RUNS = 128,
    WORLD_GRANTS = 24,
    WORLD_WAITING = 64,
    WORLD_ENTRIES = 16384,
    WORLD_USAGE = 32768,
    WORLD_FEED = 64,
};

/* The nodes of the path. */
enum { ALICE, VISION, ACME_AI, ACME, WORLD_NODES };

/* GPU models on the rate card, and one that is not. */
enum { A100 = 1, H100 = 2, MODEL_UNKNOWN = 3 };

#define WORLD_NOW INT64_C(1796083200) /* 2026-12-01T00:00:00Z */
#define HOUR_MCS  INT64_C(3600000)    /* one core-hour */
#define NOT_GIVEN INT64_MIN           /* for a time in a command */
#define JOB_MCS   INT64_C(4800000)    /* one A100 for 300 s: 1.33 core-hours */

struct world {
    int64_t now_s;
    int64_t oldest_open_month;
    struct calendar calendar;
    struct view_node nodes[WORLD_NODES];
    struct cluster cluster;
    struct rate_card card;
    bool new_member; /* alice has never been seen */
    int32_t grant_count;
    struct grant grants[WORLD_GRANTS];
    int64_t last_grant_no;
    int32_t hold_count;
    struct hold holds[WORLD_HOLDS];
    int32_t task_count;
    struct task tasks[WORLD_TASKS];
    int32_t run_count;
    struct run runs[WORLD_RUNS];
    int64_t last_wait_no;
    int32_t waiting_count;
    struct waiting waiting[WORLD_WAITING]; /* by wait_no */
    int32_t entry_count;
    struct entry entries[WORLD_ENTRIES];
    int32_t usage_count;
    struct usage_delta usage[WORLD_USAGE];
    int32_t feed_count;
    struct feed_event feed[WORLD_FEED];
    int32_t adjustment_count;
    /* of the last command */
    struct error err;
    struct plan plan;
    struct view view;
};

/* 1000 core-hours granted to acme for 2026 and 2027, cluster in mode full, no caps. One world a
 * test: it is static in the library. */
struct world *world_new(void);

/* Carry out a command about the hold with the command's id (the newest hold where it names none).
 * Returns its code; world->plan, view and err are its. After a refusal nothing has changed. */
enum error_code world_do(struct world *world, const struct command *command);

/* Promote what waits, in order, until nothing more fits. Returns how many. */
int world_promote(struct world *world);

/* Money. */
void world_grant(struct world *world, int64_t mcs, int64_t start_s, int64_t end_s);
void world_end_grants(struct world *world);

/* A cap on a node. */
void world_cap(struct world *world, int node, enum cap_kind kind, int64_t limit);

/* Recount everything; a difference fails the test. Part of world_do(). */
void world_check(struct world *world);

/* The newest hold, and a run of it (NULL: none). */
struct hold *world_hold(struct world *world);
struct run *world_run(struct world *world, int64_t task, int64_t attempt);
struct task *world_task(struct world *world, int64_t task);
enum task_state world_state(struct world *world);

/* What the payer has available now, overdraft included. */
int64_t world_available(const struct world *world);

/* Used by the month in which it ran, of all holds. */
int64_t world_used(const struct world *world, int64_t month);

/* Commands with what they mostly say. Times are seconds after WORLD_NOW. */
struct command freeze_command(const char *id, int64_t gpus, int64_t limit_s);
struct command bind_command(const char *job_id, const char *job_key);
struct command start_command(int64_t task, int64_t attempt, int64_t started_s);
struct command settle_command(int64_t task, int64_t attempt, int64_t started_s, int64_t ended_s);
struct command requeue_command(int64_t task, int64_t attempt, int64_t started_s, int64_t ended_s);
struct command beat_command(int64_t task, int64_t attempt, int64_t at_s);
struct command pause_command(enum command_kind kind, int64_t task, int64_t at_s);
struct command release_command(int64_t task); /* -1: all */
struct command resize_command(int64_t task, int64_t at_s, int64_t gpus, int64_t limit_s);
struct command correct_command(int64_t task, int64_t attempt, int64_t started_s, int64_t ended_s);
struct command refund_command(const char *id, int64_t task, int64_t attempt, int64_t mcs);
struct command charge_command(const char *id, int64_t gpus, int64_t started_s, int64_t ended_s);
struct command expire_command(void);
struct command turn_command(int64_t task, int64_t attempt, int64_t at_s);

/* Resources: whole A100s. */
struct command_resources a100s(int64_t count);

#endif
