/* SPDX-License-Identifier: MIT
 *
 * What the submit hook asks the daemon, and what it makes of the answer or of none: pass, wait or refuse (SPEC 11.1). Knows
 * nothing of Slurm's headers, so that tests can try it with any server.
 *
 * Every function ends by the time `end_ms` of the monotonic clock that it is given, whatever the daemon does, and uses bounded
 * memory. A gate belongs to one thread at a time: the caller has the lock.
 */
#ifndef COREHOUR_CLIENTS_SLURM_GATE_H
#define COREHOUR_CLIENTS_SLURM_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "clients/slurm/explain.h"
#include "clients/slurm/slurm_config.h"

struct gate;

enum gate_verdict {
    GATE_PASS,      /* let it through */
    GATE_WAIT,      /* accept it held: it waits for quota */
    GATE_REFUSE,    /* the daemon said no */
    GATE_NO_ANSWER, /* refused because nobody said anything */
};

enum { GATE_COMMENT_BYTES = 96 };

struct gate_decision {
    enum gate_verdict verdict;
    char comment[GATE_COMMENT_BYTES]; /* for admin_comment; "" leaves it alone */
    char message[EXPLAIN_BYTES];      /* lines for the user; "" for none */
    char log[512];                    /* one line for slurmctld's log; "" for none */
};

/* A change of a job that a user asks for. Numbers are SLURM_UNSET (request.h) when they stay. */
struct gate_change {
    char job_id[24];
    const char *user; /* who asks; borrowed */
    bool is_element;  /* of one task of an array */
    bool is_release;  /* a priority other than 0 */
    bool is_size;     /* nodes, tasks, memory or GPUs */
    int64_t minutes;  /* or SLURM_UNLIMITED */
    int64_t cores;
    int64_t max_running; /* an array's throttle; 0 is none */
    const char *account; /* borrowed; NULL when it stays */
    const char *partition;
    const char *qos;
};

/*
 * Makes a gate from a configuration (copied). Reads the token's file and, when the URL has a name, looks it up once: this may
 * take long, so it is not for the hook. ret_gate: to be destroyed with gate_destroy. Returns false with ret_error filled.
 */
bool gate_create(const struct slurm_config *config,
                 struct gate **ret_gate,
                 struct slurm_config_error *ret_error);

/* NULL is legal. */
void gate_destroy(struct gate *gate);

const struct slurm_config *gate_config(const struct gate *gate);

/*
 * Asks for a freeze. body: of POST /v1/holds, with "id"; borrowed. What was let through without an answer is in the spool then.
 */
void gate_submit(struct gate *gate,
                 const json_t *body,
                 int64_t end_ms,
                 struct gate_decision *ret_decision);

/* What the fail policy says about a submission for which nothing could be asked, for the reason `why`. body: NULL, or as above. */
void gate_submit_unasked(struct gate *gate,
                         const json_t *body,
                         const char *why,
                         struct gate_decision *ret_decision);

/* Gives holds back: siblings of a component that was refused. ids: borrowed. Without an answer their ttl does it. */
void gate_release(struct gate *gate, const char *const *ids, size_t count, int64_t end_ms);

/*
 * Asks whether a user may change a job: what becomes larger is frozen first, what a waiting job must not do is refused. That
 * takes one question or two. The verdict is GATE_PASS, GATE_REFUSE or GATE_NO_ANSWER; there is no comment.
 */
void gate_modify(struct gate *gate,
                 const struct gate_change *change,
                 int64_t end_ms,
                 struct gate_decision *ret_decision);

#endif
