/* See counters.h. */
#include "ledger/counters.h"

#include <string.h>

#include "ledger/base/amount.h"
/* Half of int64's range: sums within it can be added and compared without a further look. */
#define SUM_MOST INT64_C(0x3fffffffffffffff)

static bool sum_fits(int64_t sum, int64_t more)
{
    int64_t result;
    return i64_add(sum, more, &result) && result <= SUM_MOST && result >= -SUM_MOST;
}

static struct counter_model *model_of(struct counter *counter, int64_t model_no)
{
    for (int32_t i = 0; i < counter->model_count; i++) {
        if (counter->models[i].model_no == model_no) {
            return &counter->models[i];
        }
    }
    return NULL;
}

static bool add_model(struct counter *counter, const struct counter_model *more)
{
    struct counter_model *model = model_of(counter, more->model_no);
    if (more->mgpus == 0) {
        return true;
    }
    if (model == NULL && counter->model_count == RECORD_MODELS) {
        return false;
    }
    if (model == NULL) {
        model = &counter->models[counter->model_count++];
        *model = (struct counter_model){.model_no = more->model_no};
    }
    model->mgpus += more->mgpus;
    if (model->mgpus == 0) {
        *model = counter->models[--counter->model_count];
    }
    return true;
}

bool counter_add_models(struct counter *counter, const struct counter_model *models, int32_t count)
{
    bool fits = true;
    for (int32_t i = 0; i < count && fits; i++) {
        fits = add_model(counter, &models[i]);
    }
    return fits;
}

static int64_t used_sum(const struct plan *plan)
{
    int64_t sum_mcs = 0;
    for (int32_t i = 0; i < plan->usage_count; i++) {
        if (!sum_fits(sum_mcs, plan->usage[i].used_mcs)) {
            return INT64_MAX;
        }
        sum_mcs += plan->usage[i].used_mcs;
    }
    return sum_mcs;
}

static bool models_fit(const struct counter *counter, const struct counter_delta *delta)
{
    if (counter->model_count + delta->model_count <= RECORD_MODELS) {
        return true;
    }
    struct counter copy = *counter;
    return counter_add_models(&copy, delta->models, delta->model_count);
}

static bool counter_fits(const struct counter *counter, const struct plan *plan, int64_t used_mcs)
{
    const struct counter_delta *delta = &plan->delta;
    return sum_fits(counter->used_mcs, used_mcs) &&
           sum_fits(counter->frozen_mcs, delta->frozen_mcs) &&
           sum_fits(counter->waiting_mcs, delta->waiting_mcs) &&
           sum_fits(counter->mcores, delta->mcores) && sum_fits(counter->mgpus, delta->mgpus) &&
           models_fit(counter, delta);
}

static bool cell_fits(const struct ledger *ledger, int32_t i, int64_t used_mcs)
{
    static const struct counter zero;
    const struct cell *cell = ledger->subject.counters[i];
    return counter_fits(cell_exists(cell) ? cell_record(cell) : &zero, &ledger->plan, used_mcs);
}

enum error_code counters_fit(const struct ledger *ledger, struct error *err)
{
    int64_t used_mcs = used_sum(&ledger->plan);
    int32_t i = 0;
    while (i < ledger->view.node_count && cell_fits(ledger, i, used_mcs)) {
        i++;
    }
    if (i == ledger->view.node_count) {
        return ERR_OK;
    }
    return error_set(err, ERR_INVALID_FIELD,
                     "the sums of %s would leave what a ledger can count, or more than %d GPU "
                     "models would be in flight",
                     ledger->view.nodes[i].node.name, RECORD_MODELS);
}

/* ---- adding */

static bool delta_is_zero(const struct counter_delta *delta)
{
    return delta->frozen_mcs == 0 && delta->waiting_mcs == 0 && delta->jobs == 0 &&
           delta->mcores == 0 && delta->mgpus == 0 && delta->open_tasks == 0 &&
           delta->waiting_tasks == 0 && delta->model_count == 0;
}

static void add_counters(struct ledger *ledger, int64_t used_mcs)
{
    const struct counter_delta *delta = &ledger->plan.delta;
    if (used_mcs == 0 && delta_is_zero(delta)) {
        return;
    }
    for (int32_t i = 0; i < ledger->view.node_count; i++) {
        struct counter *counter = working_set_put(ledger->set, ledger->subject.counters[i]);
        counter->used_mcs += used_mcs;
        counter->frozen_mcs += delta->frozen_mcs;
        counter->waiting_mcs += delta->waiting_mcs;
        counter->jobs += delta->jobs;
        counter->mcores += delta->mcores;
        counter->mgpus += delta->mgpus;
        counter->open_tasks += delta->open_tasks;
        counter->waiting_tasks += delta->waiting_tasks;
        bool added = counter_add_models(counter, delta->models, delta->model_count);
        assert(added);
    }
}

static void add_month(struct ledger *ledger, int64_t period, int64_t used_mcs)
{
    for (int32_t i = 0; i < ledger->view.node_count && used_mcs != 0; i++) {
        int64_t node_no = ledger->view.nodes[i].node.node_no;
        struct cell *cell = row_find2(ledger->set, RECORD_NODE_MONTH, node_no, period);
        struct node_month *month = working_set_put(ledger->set, cell);
        month->used_mcs += used_mcs;
    }
}

static void add_usage(struct ledger *ledger, const struct usage_delta *delta)
{
    const int64_t key[] = {ledger->view.hold.root_no,
                           delta->month,
                           delta->day,
                           ledger->view.hold.dims_no,
                           delta->kind,
                           delta->outcome,
                           delta->period};
    struct usage *usage =
        working_set_put(ledger->set, working_set_find(ledger->set, RECORD_USAGE, key));
    usage->used_mcs += delta->used_mcs;
    usage->mgs += delta->mgs;
    usage->waived_mcs += delta->waived_mcs;
    usage->runs += delta->runs;
    if ((ledger->view.hold.flags & FLAG_UNFROZEN) != 0) {
        usage->unfrozen_mcs += delta->used_mcs;
    }
}

void counters_add(struct ledger *ledger)
{
    const struct plan *plan = &ledger->plan;
    add_counters(ledger, used_sum(plan));
    int64_t period = 0;
    int64_t used_mcs = 0;
    for (int32_t i = 0; i < plan->usage_count; i++) {
        const struct usage_delta *delta = &plan->usage[i];
        if (delta->period != period) {
            add_month(ledger, period, used_mcs);
            period = delta->period;
            used_mcs = 0;
        }
        used_mcs += delta->used_mcs;
        add_usage(ledger, delta);
    }
    add_month(ledger, period, used_mcs);
}
