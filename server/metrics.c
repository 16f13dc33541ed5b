/* Counters and their text. Each metric is a row of a table; the order is that of the enums. */
#include "server/metrics.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/check.h"

enum {
    BUCKETS = 12,
    STATUS_FIRST = 100,
    STATUS_END = 600,
};

/* Upper bounds: nanoseconds for durations, plain numbers for counts; +Inf follows. */
static const int64_t duration_bounds_ns[BUCKETS] = {
    250000,   500000,   1000000,   2500000,   5000000,    10000000,
    25000000, 50000000, 100000000, 250000000, 1000000000, 10000000000,
};
static const char *const duration_labels[BUCKETS] = {
    "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01",
    "0.025",   "0.05",   "0.1",   "0.25",   "1",     "10",
};
static const int64_t count_bounds[BUCKETS] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 10000};
static const char *const count_labels[BUCKETS] = {
    "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "10000",
};

struct row {
    const char *name;
    const char *help;
};

static const struct row histogram_rows[METRIC_HISTOGRAM__COUNT] = {
    [METRIC_REQUEST_SECONDS] = {"corehour_http_request_duration_seconds",
                                "From the request line to the answer."},
    [METRIC_QUEUE_SECONDS] = {"corehour_command_duration_seconds", "From queued to committed."},
    [METRIC_COMMIT_SECONDS] = {"corehour_transaction_duration_seconds",
                               "One transaction: decisions, writes, commit."},
    [METRIC_READ_SECONDS] = {"corehour_read_duration_seconds", "One read on a reader thread."},
    [METRIC_BATCH_COMMANDS] = {"corehour_transaction_commands", "Commands of one transaction."},
};

static const struct row counter_rows[METRIC_COUNTER__COUNT] = {
    [METRIC_COMMANDS_ACCEPTED] = {"corehour_commands_accepted_total", "Commands accepted."},
    [METRIC_COMMANDS_REPLAYED] = {"corehour_commands_replayed_total",
                                  "Commands known already and answered again."},
    [METRIC_FREEZES_WAITING] = {"corehour_freezes_waiting_total",
                                "Freezes and requeues that had to wait."},
    [METRIC_CONNECTIONS] = {"corehour_connections_total", "Connections accepted."},
    [METRIC_CONNECTIONS_REFUSED] = {"corehour_connections_refused_total",
                                    "Connections above the limit, answered 503."},
    [METRIC_CONNECTIONS_SLOW] = {"corehour_connections_slow_total",
                                 "Connections closed because a request took too long to arrive."},
    [METRIC_BODY_BYTES] = {"corehour_http_request_body_bytes_total", "Bytes of request bodies."},
    [METRIC_ANSWER_BYTES] = {"corehour_http_answer_body_bytes_total", "Bytes of answer bodies."},
};

static const struct row gauge_rows[METRIC_GAUGE__COUNT] = {
    [METRIC_CONNECTIONS_OPEN] = {"corehour_connections_open", "Connections that are open."},
    [METRIC_REQUESTS_OPEN] = {"corehour_requests_open", "Requests that are not answered yet."},
    [METRIC_COMMANDS_QUEUED] = {"corehour_commands_queued", "Commands that wait for the ledger."},
    [METRIC_FEED_WAITERS] = {"corehour_feed_waiters", "Long polls that wait."},
    [METRIC_LEDGER_HEALTHY] = {"corehour_ledger_healthy", "1 when the last commit worked."},
};

struct histogram {
    atomic_uint_fast64_t buckets[BUCKETS + 1];
    atomic_int_fast64_t sum;
};

struct metrics {
    struct histogram histograms[METRIC_HISTOGRAM__COUNT];
    atomic_uint_fast64_t counters[METRIC_COUNTER__COUNT];
    atomic_int_fast64_t gauges[METRIC_GAUGE__COUNT];
    atomic_uint_fast64_t statuses[STATUS_END - STATUS_FIRST];
    atomic_uint_fast64_t codes[ERR__COUNT];
};

enum error_code metrics_create(struct metrics **ret_metrics, struct error *err)
{
    struct metrics *metrics =
        calloc(1, sizeof(*metrics)); /* zero is a valid atomic of these types */
    if (metrics == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "no memory for the metrics");
    }
    *ret_metrics = metrics;
    return ERR_OK;
}

void metrics_destroy(struct metrics *metrics)
{
    free(metrics);
}

static void observe(struct histogram *histogram, const int64_t bounds[BUCKETS], int64_t value)
{
    size_t bucket = 0;
    while (bucket < BUCKETS && value > bounds[bucket]) {
        bucket++;
    }
    atomic_fetch_add_explicit(&histogram->buckets[bucket], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&histogram->sum, value, memory_order_relaxed);
}

void metrics_observe(struct metrics *metrics, enum metric_histogram histogram, int64_t duration_ns)
{
    observe(&metrics->histograms[histogram], duration_bounds_ns, duration_ns);
}

void metrics_observe_count(struct metrics *metrics, enum metric_histogram histogram, int64_t count)
{
    observe(&metrics->histograms[histogram], count_bounds, count);
}

void metrics_add(struct metrics *metrics, enum metric_counter counter, uint64_t more)
{
    atomic_fetch_add_explicit(&metrics->counters[counter], more, memory_order_relaxed);
}

void metrics_set(struct metrics *metrics, enum metric_gauge gauge, int64_t value)
{
    atomic_store_explicit(&metrics->gauges[gauge], value, memory_order_relaxed);
}

void metrics_answer(struct metrics *metrics, uint16_t status, enum error_code code)
{
    if (status >= STATUS_FIRST && status < STATUS_END) {
        atomic_fetch_add_explicit(&metrics->statuses[status - STATUS_FIRST], 1,
                                  memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&metrics->codes[code], 1, memory_order_relaxed);
}

/* ---- text */

static void write_head(struct buffer *buffer, const struct row *row, const char *type)
{
    (void)buffer_printf(buffer, "# HELP %s %s\n# TYPE %s %s\n", row->name, row->help, row->name,
                        type);
}

static void write_histogram(const struct metrics *metrics,
                            enum metric_histogram which,
                            struct buffer *buffer)
{
    const struct histogram *histogram = &metrics->histograms[which];
    const char *name = histogram_rows[which].name;
    const bool is_count = which == METRIC_BATCH_COMMANDS;
    write_head(buffer, &histogram_rows[which], "histogram");
    uint64_t total = 0;
    for (size_t i = 0; i < BUCKETS; i++) {
        total += atomic_load_explicit(&histogram->buckets[i], memory_order_relaxed);
        (void)buffer_printf(buffer, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", name,
                            is_count ? count_labels[i] : duration_labels[i], total);
    }
    total += atomic_load_explicit(&histogram->buckets[BUCKETS], memory_order_relaxed);
    const int64_t sum = atomic_load_explicit(&histogram->sum, memory_order_relaxed);
    (void)buffer_printf(buffer, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, total);
    if (is_count) {
        (void)buffer_printf(buffer, "%s_sum %" PRId64 "\n", name, sum);
    } else {
        (void)buffer_printf(buffer, "%s_sum %" PRId64 ".%09" PRId64 "\n", name, sum / 1000000000,
                            sum % 1000000000);
    }
    (void)buffer_printf(buffer, "%s_count %" PRIu64 "\n", name, total);
}

static void write_answers(const struct metrics *metrics, struct buffer *buffer)
{
    static const struct row answers = {"corehour_http_answers_total", "Answers by status."};
    static const struct row problems = {"corehour_problems_total", "Problem answers by code."};
    write_head(buffer, &answers, "counter");
    for (size_t i = 0; i < STATUS_END - STATUS_FIRST; i++) {
        const uint64_t count = atomic_load_explicit(&metrics->statuses[i], memory_order_relaxed);
        if (count > 0) {
            (void)buffer_printf(buffer, "%s{status=\"%zu\"} %" PRIu64 "\n", answers.name,
                                i + STATUS_FIRST, count);
        }
    }
    write_head(buffer, &problems, "counter");
    for (size_t i = ERR_OK + 1; i < ERR__COUNT; i++) {
        (void)buffer_printf(
            buffer, "%s{code=\"%s\"} %" PRIu64 "\n", problems.name, error_slug((enum error_code)i),
            (uint64_t)atomic_load_explicit(&metrics->codes[i], memory_order_relaxed));
    }
}

/* Of the process: what /proc says. */
static void write_process(struct buffer *buffer)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file != NULL) {
        char line[128] = "";
        if (fgets(line, sizeof(line), file) != NULL) {
            const char *resident = strchr(line, ' ');
            pages = resident != NULL ? strtoll(resident, NULL, 10) : 0;
        }
        (void)fclose(file);
    }
    static const struct row row = {"process_resident_memory_bytes", "Resident memory."};
    write_head(buffer, &row, "gauge");
    (void)buffer_printf(buffer, "%s %lld\n", row.name, pages * 4096);
}

void metrics_write(const struct metrics *metrics, struct buffer *buffer)
{
    write_answers(metrics, buffer);
    for (size_t i = 0; i < METRIC_COUNTER__COUNT; i++) {
        write_head(buffer, &counter_rows[i], "counter");
        (void)buffer_printf(
            buffer, "%s %" PRIu64 "\n", counter_rows[i].name,
            (uint64_t)atomic_load_explicit(&metrics->counters[i], memory_order_relaxed));
    }
    for (size_t i = 0; i < METRIC_GAUGE__COUNT; i++) {
        write_head(buffer, &gauge_rows[i], "gauge");
        (void)buffer_printf(
            buffer, "%s %" PRId64 "\n", gauge_rows[i].name,
            (int64_t)atomic_load_explicit(&metrics->gauges[i], memory_order_relaxed));
    }
    for (size_t i = 0; i < METRIC_HISTOGRAM__COUNT; i++) {
        write_histogram(metrics, (enum metric_histogram)i, buffer);
    }
    write_process(buffer);
}
