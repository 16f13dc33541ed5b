/*
 * Checking limits: each cap of each node of the path becomes four figures, and one function judges
 * them. Pure.
 */
#include "ledger/core/caps.h"

#include <string.h>

#include "ledger/base/check.h"
#include "ledger/core/funds.h"
#include "ledger/core/hold_state.h"

/* One limit and what is asked of it, in the unit of its kind. */
struct figures {
    int64_t used;
    int64_t frozen;
    int64_t requested;
    bool applies; /* the request adds to it */
    bool fails;   /* whatever the figures say */
};

static int64_t model_mgpus(const struct counter_model *models, int32_t count, int64_t model_no)
{
    for (int32_t i = 0; i < count; i++) {
        if (models[i].model_no == model_no) {
            return models[i].mgpus;
        }
    }
    return 0;
}

static struct figures in_flight_figures(int64_t now, int64_t more)
{
    return (struct figures){.frozen = now, .requested = more, .applies = more > 0};
}

static struct figures gpus_figures(const struct view_node *at,
                                   const struct caps_request *request,
                                   int64_t model_no)
{
    const struct counter *now = &at->counter;
    const struct counter_delta *more = &request->in_flight;
    if (model_no == 0) {
        return in_flight_figures(now->mgpus, more->mgpus);
    }
    return in_flight_figures(model_mgpus(now->models, now->model_count, model_no),
                             model_mgpus(more->models, more->model_count, model_no));
}

static struct figures per_job_figures(const struct caps_request *request, int64_t asked)
{
    return (struct figures){.requested = asked, .applies = request->per_job};
}

static struct figures cap_figures(const struct view_node *at,
                                  const struct cap *cap,
                                  const struct caps_request *request)
{
    struct figures figures = {0};
    switch ((enum cap_kind)cap->kind) {
    case CAP_MONTH:
    case CAP_QUARTER:
    case CAP_YEAR:
    case CAP_TOTAL:
        return (struct figures){.used = at->window_used_mcs[cap->kind - CAP_MONTH],
                                .frozen = at->counter.frozen_mcs,
                                .requested = request->mcs,
                                .applies = request->mcs > 0};
    case CAP_GPUS:
        return gpus_figures(at, request, cap->model_no);
    case CAP_CORES:
        return in_flight_figures(at->counter.mcores, request->in_flight.mcores);
    case CAP_JOBS:
        return in_flight_figures(at->counter.jobs, request->in_flight.jobs);
    case CAP_JOB_CORE_HOURS:
        return per_job_figures(request, request->job_mcs);
    case CAP_JOB_GPUS:
        return per_job_figures(request, request->job_mgpus);
    case CAP_JOB_DURATION:
        figures = per_job_figures(request, request->job_s);
        figures.fails = request->job_s == 0;
        return figures;
    case CAP_FUNDS:
    case CAP__COUNT:
        break;
    }
    assert(false); /* no such cap is ever stored */
    return figures;
}

/* Figures are for reading: what leaves int64 stops at its end. */
static int64_t minus(int64_t a, int64_t b)
{
    int64_t difference;
    if (__builtin_sub_overflow(a, b, &difference)) {
        return b > 0 ? INT64_MIN : INT64_MAX;
    }
    return difference;
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) {
        return b > 0 ? INT64_MAX : INT64_MIN;
    }
    return sum;
}

static bool is_per_job(enum cap_kind kind)
{
    return kind == CAP_JOB_CORE_HOURS || kind == CAP_JOB_GPUS || kind == CAP_JOB_DURATION;
}

static bool is_window(enum cap_kind kind)
{
    return kind <= CAP_TOTAL;
}

static struct violation *plan_violation(struct plan *plan)
{
    assert(plan->violation_count < PLAN_VIOLATIONS);
    return &plan->violations[plan->violation_count++];
}

static void list_cap(const struct view_node *at,
                     const struct cap *cap,
                     const struct figures *figures,
                     struct plan *plan)
{
    enum cap_kind kind = (enum cap_kind)cap->kind;
    int64_t available = minus(minus(cap->limit, figures->used), figures->frozen);
    int64_t missing = minus(figures->requested, available);
    int64_t end_s = is_window(kind) ? at->window_end_s[kind - CAP_MONTH] : 0;
    struct violation *violation = plan_violation(plan);
    *violation = (struct violation){
        .node_no = at->node.node_no,
        .node_kind = at->node.kind,
        .kind = kind,
        .model_no = cap->model_no,
        .limit = cap->limit,
        .used = figures->used,
        .frozen = figures->frozen,
        .requested = figures->requested,
        .available = available,
        .missing = missing > 0 ? missing : 0,
        .resets_at_s = end_s == INT64_MAX ? 0 : end_s,
        .soft = cap->soft != 0,
        .beyond = is_per_job(kind) || figures->requested > cap->limit,
    };
    memcpy(violation->node, at->node.name, sizeof(violation->node));
    if (at->node.kind == NODE_MEMBER) {
        /* On a path a member's project stands behind it. */
        memcpy(violation->project, at[1].node.name, sizeof(violation->project) - 1);
    }
}

/* Check one cap; true when it refuses. */
static bool cap_refuses(const struct view_node *at,
                        int32_t index,
                        const struct caps_request *request,
                        struct plan *plan)
{
    const struct cap *cap = &at->node.caps[index];
    if (cap->limit == RECORD_UNLIMITED) {
        return false;
    }
    struct figures figures = cap_figures(at, cap, request);
    if (!figures.applies) {
        return false;
    }
    int64_t available = minus(minus(cap->limit, figures.used), figures.frozen);
    bool soft = cap->soft != 0;
    bool behind =
        request->behind_waiting && !soft && (at->waiting_caps & (UINT32_C(1) << index)) != 0;
    if (!figures.fails && !behind && figures.requested <= available) {
        return false;
    }
    list_cap(at, cap, &figures, plan);
    return !soft;
}

/* What the payer's valid rows hold, for the figures of a refusal. */
static struct figures funds_figures(const struct view *view, int64_t mcs)
{
    struct figures figures = {.requested = mcs, .applies = true};
    for (int32_t i = 0; i < view->grant_count; i++) {
        const struct grant *grant = &view->grants[i];
        if (funds_row_is_valid(grant, view->now_s)) {
            figures.used = plus(figures.used, grant->used_mcs);
            figures.frozen = plus(figures.frozen, grant->frozen_mcs);
        }
    }
    return figures;
}

static bool funds_refuse(const struct view *view,
                         const struct caps_request *request,
                         struct plan *plan)
{
    int64_t available = funds_available(view);
    bool behind = request->behind_waiting && view->funds_waiting;
    if (request->mcs <= 0 || (request->mcs <= available && !behind)) {
        return false;
    }
    struct figures figures = funds_figures(view, request->mcs);
    const struct node *payer = funds_payer(view);
    int64_t missing = minus(request->mcs, available);
    struct violation *violation = plan_violation(plan);
    *violation = (struct violation){
        .node_no = view->grant_count > 0 ? view->grants[0].node_no : 0,
        .kind = CAP_FUNDS,
        .limit = plus(plus(figures.used, figures.frozen), available),
        .used = figures.used,
        .frozen = figures.frozen,
        .requested = request->mcs,
        .available = available,
        .missing = missing > 0 ? missing : 0,
    };
    if (payer != NULL) {
        violation->node_kind = payer->kind;
        memcpy(violation->node, payer->name, sizeof(violation->node));
    }
    return true;
}

int32_t caps_check(const struct view *view, const struct caps_request *request, struct plan *plan)
{
    int32_t hard = 0;
    for (int32_t i = 0; i < view->node_count; i++) {
        const struct view_node *at = &view->nodes[i];
        for (int32_t j = 0; j < at->node.cap_count; j++) {
            hard += cap_refuses(at, j, request, plan) ? 1 : 0;
        }
    }
    hard += funds_refuse(view, request, plan) ? 1 : 0;
    return hard;
}

static void model_add(struct counter_delta *delta, int64_t model_no, int64_t mgpus)
{
    int32_t i = 0;
    while (i < delta->model_count && delta->models[i].model_no != model_no) {
        i++;
    }
    if (i == delta->model_count) {
        assert(delta->model_count < PLAN_MODELS);
        delta->models[delta->model_count++] = (struct counter_model){.model_no = model_no};
    }
    delta->models[i].mgpus += mgpus;
    if (delta->models[i].mgpus == 0) {
        delta->models[i] = delta->models[--delta->model_count];
    }
}

/* Add `times` tasks of these resources (negative: take them off). */
static void resources_add(const struct resources *resources,
                          int64_t rate_mcores,
                          int64_t times,
                          struct counter_delta *delta)
{
    if (times == 0) {
        return;
    }
    delta->mcores += rate_mcores * times;
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        const struct gpu_request *gpu = &resources->gpus[i];
        delta->mgpus += gpu->mgpus * times;
        if (gpu->model_no != 0 && gpu->mgpus != 0) {
            model_add(delta, gpu->model_no, gpu->mgpus * times);
        }
    }
}

/* Tasks of the hold's own resources that count as in flight. */
static int64_t pool_in_flight(const struct hold *hold)
{
    int64_t pool = hold_open_tasks(hold) - hold->own_open;
    assert(pool >= 0);
    if (hold->max_running == 0) {
        return pool;
    }
    int64_t room = hold->max_running - hold->own_open;
    if (room < 0) {
        return 0;
    }
    return pool < room ? pool : room;
}

static bool same_resources(const struct hold *a, const struct hold *b)
{
    return a->rate_mcores == b->rate_mcores && a->resources.gpu_count == b->resources.gpu_count &&
           memcmp(a->resources.gpus, b->resources.gpus,
                  (size_t)a->resources.gpu_count * sizeof(a->resources.gpus[0])) == 0;
}

void in_flight_difference(const struct hold *before,
                          const struct hold *after,
                          struct counter_delta *delta)
{
    int64_t pool_before = before == NULL ? 0 : pool_in_flight(before);
    int64_t pool_after = after == NULL ? 0 : pool_in_flight(after);
    int64_t own_before = before == NULL ? 0 : before->own_open;
    int64_t own_after = after == NULL ? 0 : after->own_open;
    delta->jobs += pool_after + own_after - pool_before - own_before;
    if (before != NULL && after != NULL && same_resources(before, after)) {
        resources_add(&after->resources, after->rate_mcores, pool_after - pool_before, delta);
        return;
    }
    if (before != NULL) {
        resources_add(&before->resources, before->rate_mcores, -pool_before, delta);
    }
    if (after != NULL) {
        resources_add(&after->resources, after->rate_mcores, pool_after, delta);
    }
}

static void own_add(const struct run *run, int64_t times, struct counter_delta *delta)
{
    if (run == NULL || run->own_resources == 0 || !task_state_is_open(run->state)) {
        return;
    }
    assert(run->segment_count > 0);
    const struct segment *last = &run->segments[run->segment_count - 1];
    resources_add(&run->resources, last->rate_mcores, times, delta);
}

void in_flight_own(const struct run *before, const struct run *after, struct counter_delta *delta)
{
    own_add(before, -1, delta);
    own_add(after, 1, delta);
}
