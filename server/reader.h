/*
 * Reader threads: every answer that only looks at the ledger is made here, never on the HTTP loop, each from one
 * snapshot of a read-only connection of its thread. A writer is never blocked by them.
 */
#ifndef SERVER_READER_H
#define SERVER_READER_H

#include <stddef.h>
#include <stdint.h>

#include "ledger/base/error.h"
#include "ledger/ledger.h"

struct readers;

/** Something to read, queued by its owner, who keeps it alive until run() has been called. */
struct reader_job {
    struct reader_job *next;
    int64_t queued_ns;
    /* On a reader thread. May free the job. Begins and ends its own snapshot. */
    void (*run)(struct reader_job *job, struct ledger_reader *reader);
};

/**
 * Open @threads readers of @url and start their threads.
 *
 * @niceness   of the threads, 0 to 19: long work yields to short, and to the ledger
 * @queue_max  jobs that wait; beyond it ERR_OVERLOADED
 */
enum error_code readers_create(const char *url,
                               size_t threads,
                               int niceness,
                               size_t queue_max,
                               struct readers **ret_readers,
                               struct error *err);

/** Queue a job; any thread. ERR_OVERLOADED when queue_max wait, ERR_UNAVAILABLE once stopping: not taken. */
MUST_USE enum error_code readers_submit(struct readers *readers,
                                        struct reader_job *job,
                                        struct error *err);

/** Run what is queued, end the threads. From then on submitting is refused, still without harm. NULL is allowed. */
void readers_stop(struct readers *readers);

/** The same, close the readers and free them: nobody may submit any more. NULL is allowed. */
void readers_destroy(struct readers *readers);

#endif
