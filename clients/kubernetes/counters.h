/* What the agent counts for /metrics. Any thread. */
#ifndef COREHOUR_CLIENTS_KUBERNETES_COUNTERS_H
#define COREHOUR_CLIENTS_KUBERNETES_COUNTERS_H

#include <stddef.h>
#include <stdint.h>

/* COUNTER_ROW(NAME, "metric", "kind", "help") */
#define COUNTERS(COUNTER_ROW)                                                                     \
    COUNTER_ROW(ALLOWED, "reviews_allowed_total", "counter", "Pods admitted with a hold.")        \
    COUNTER_ROW(REFUSED, "reviews_refused_total", "counter",                                      \
                "Pods refused for quota or by a rule.")                                           \
    COUNTER_ROW(PASSED, "reviews_passed_total", "counter", "Reviews that needed no decision.")    \
    COUNTER_ROW(GATED, "reviews_gated_total", "counter", "Pods that got the scheduling gate.")    \
    COUNTER_ROW(STAMPED, "reviews_stamped_total", "counter",                                      \
                "Objects that got the name of their human.")                                      \
    COUNTER_ROW(CLOSED, "reviews_failed_closed_total", "counter",                                 \
                "Pods refused because the ledger was silent.")                                    \
    COUNTER_ROW(OPEN, "reviews_failed_open_total", "counter",                                     \
                "Pods let in because the ledger was silent.")                                     \
    COUNTER_ROW(MALFORMED, "reviews_malformed_total", "counter", "Requests that were no review.") \
    COUNTER_ROW(EVENTS, "watch_events_total", "counter",                                          \
                "Events and list items of pods taken in.")                                        \
    COUNTER_ROW(LISTS, "watch_lists_total", "counter", "Lists of pods that came in whole.")       \
    COUNTER_ROW(PODS, "pods_tracked", "gauge", "Pods with accelerators that are followed.")       \
    COUNTER_ROW(PENDING, "pods_pending", "gauge",                                                 \
                "Pods about which the ledger has still to be told something.")                    \
    COUNTER_ROW(SETTLED, "pods_settled_total", "counter", "Pods whose end the ledger has.")       \
    COUNTER_ROW(LEADER, "leader", "gauge", "1 while this agent runs the controller.")             \
    COUNTER_ROW(SPOOLED, "spooled", "gauge", "Pods kept on disk until the ledger has them.")      \
    COUNTER_ROW(SWEEPS, "sweeps_total", "counter",                                                \
                "Comparisons of open holds with the pods that exist.")

enum counter {
#define COUNTER_ROW(NAME, metric, kind, help) COUNTER_##NAME,
    COUNTERS(COUNTER_ROW)
#undef COUNTER_ROW
};

void counter_add(enum counter counter, int64_t delta);
void counter_set(enum counter counter, int64_t value);
int64_t counter_get(enum counter counter);

/* Writes the Prometheus text; cut to its room. Returns its length. */
size_t counters_write(char *ret_text, size_t bytes);

#endif
