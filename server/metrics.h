/*
 * What the daemon counts, as Prometheus text. Names of projects and people are no labels.
 *
 * Counters and histograms are atomic: any thread adds, /metrics reads.
 */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include <stdint.h>

#include "ledger/base/buffer.h"
#include "ledger/base/error.h"

struct metrics;

enum metric_histogram {
    METRIC_REQUEST_SECONDS, /* first line to answer */
    METRIC_QUEUE_SECONDS,   /* queued to committed */
    METRIC_COMMIT_SECONDS,  /* one ledger_execute() */
    METRIC_READ_SECONDS,    /* one job on a reader thread */
    METRIC_BATCH_COMMANDS,  /* commands of one transaction */
    METRIC_HISTOGRAM__COUNT
};

enum metric_counter {
    METRIC_COMMANDS_ACCEPTED,
    METRIC_COMMANDS_REPLAYED,
    METRIC_FREEZES_WAITING,
    METRIC_CONNECTIONS,
    METRIC_CONNECTIONS_REFUSED,
    METRIC_CONNECTIONS_SLOW, /* closed because a request took too long to arrive */
    METRIC_BODY_BYTES,
    METRIC_ANSWER_BYTES,
    METRIC_COUNTER__COUNT
};

/* What is now; set by whoever knows. */
enum metric_gauge {
    METRIC_CONNECTIONS_OPEN,
    METRIC_REQUESTS_OPEN,
    METRIC_COMMANDS_QUEUED,
    METRIC_FEED_WAITERS,
    METRIC_LEDGER_HEALTHY,
    METRIC_GAUGE__COUNT
};

enum error_code metrics_create(struct metrics **ret_metrics, struct error *err);
void metrics_destroy(struct metrics *metrics);

/** Add a duration to a histogram of seconds. */
void metrics_observe(struct metrics *metrics, enum metric_histogram histogram, int64_t duration_ns);

/** Add a number to a histogram of counts. */
void metrics_observe_count(struct metrics *metrics, enum metric_histogram histogram, int64_t count);

void metrics_add(struct metrics *metrics, enum metric_counter counter, uint64_t more);
void metrics_set(struct metrics *metrics, enum metric_gauge gauge, int64_t value);

/** One more answer with this status, and for a problem its code (else ERR_OK). */
void metrics_answer(struct metrics *metrics, uint16_t status, enum error_code code);

/** Append all of it in the text format 0.0.4. */
void metrics_write(const struct metrics *metrics, struct buffer *buffer);

#endif
