/* See copy.h. */
#include "ledger/copy.h"

#include <stddef.h>
#include <string.h>

/* All of a struct up to a list, and the elements of the list that count. */
#define COPY_TO_LIST(type, list, count) \
    memcpy(to, from, offsetof(struct type, list) + (size_t)from->count * sizeof from->list[0])

/* The members from one to the end. */
#define COPY_FROM(type, member)                                \
    memcpy((char *)to + offsetof(struct type, member),         \
           (const char *)from + offsetof(struct type, member), \
           sizeof(struct type) - offsetof(struct type, member))

#define COPY_LIST(list, count)                                                    \
    do {                                                                          \
        to->count = from->count;                                                  \
        memcpy(to->list, from->list, (size_t)from->count * sizeof from->list[0]); \
    } while (0)

void copy_node(struct node *to, const struct node *from)
{
    COPY_TO_LIST(node, caps, cap_count);
}

void copy_counter(struct counter *to, const struct counter *from)
{
    COPY_TO_LIST(counter, models, model_count);
}

void copy_cluster(struct cluster *to, const struct cluster *from)
{
    COPY_TO_LIST(cluster, roots, root_count);
}

void copy_rate_row(struct rate_row *to, const struct rate_row *from)
{
    COPY_TO_LIST(rate_row, gpus, gpu_count);
}

void copy_hold(struct hold *to, const struct hold *from)
{
    COPY_TO_LIST(hold, draws, draw_count);
    COPY_FROM(hold, id);
}

void copy_run(struct run *to, const struct run *from)
{
    COPY_TO_LIST(run, segments, segment_count);
    COPY_LIST(suspensions, suspension_count);
    COPY_LIST(draws, draw_count);
    COPY_LIST(refunds, refund_count);
    COPY_FROM(run, run_key);
}
