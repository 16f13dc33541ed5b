/*
 * The naive model: it reads all holds and runs and adds up, second by second where need be, without
 * counters, months or indexes; then it says whether a freeze fits.
 *
 * It knows the place of sim_world.c: rates of 1000 mcores a core and 16000 a GPU, the larger counts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/calendar.h"
#include "tests/sim/sim.h"

struct list {
    size_t bytes;
    char *rows;
    size_t count;
    size_t capacity;
};

struct model {
    struct list nodes;
    struct list holds;
    struct list runs;
    struct list grants;
    struct list waiting;
    struct list dims;
    struct list clusters;
    struct list names; /* of models */
    struct list unattributed;
    struct calendar calendars[2];
    int64_t calendar_roots[2];
};

/* ---- reading */

static bool collect(void *context, const void *record)
{
    struct list *list = context;
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        list->rows = realloc(list->rows, list->capacity * list->bytes);
        if (list->rows == NULL) {
            abort();
        }
    }
    memcpy(list->rows + list->count++ * list->bytes, record, list->bytes);
    return true;
}

static void read_list(struct book *book,
                      enum select_kind select,
                      const struct select_args *args,
                      struct list *list)
{
    struct error err = {.code = ERR_OK};
    list->bytes = record_types[select_types[select].record].bytes;
    if (ledger_read_list(book->keeper, select, args, collect, list, &err) != ERR_OK) {
        (void)fprintf(stderr, "model: %s\n", err.detail);
        abort();
    }
}

static void read_calendar(struct book *book, struct model *model, int i, const struct node *root)
{
    struct list steps = {.bytes = 0};
    struct select_args args = {.n = {root->node_no}};
    read_list(book, SELECT_ZONE, &args, &steps);
    model->calendar_roots[i] = root->node_no;
    model->calendars[i].count = (int32_t)steps.count;
    model->calendars[i].fiscal_year_start = (uint8_t)root->fiscal_year_start;
    for (size_t j = 0; j < steps.count; j++) {
        const struct zone_step *step = (const struct zone_step *)(steps.rows + j * steps.bytes);
        model->calendars[i].steps[j] =
            (struct calendar_step){.at_s = step->at_s, .offset_s = (int32_t)step->offset_s};
    }
    free(steps.rows);
}

#define EACH(type, name, list)                                                                     \
    for (const struct type *name = (const struct type *)(const void *)(list).rows;                 \
         (list).count > 0 && name < (const struct type *)(const void *)(list).rows + (list).count; \
         name++)

struct model *model_read(struct book *book)
{
    struct error err = {.code = ERR_OK};
    struct model *model = calloc(1, sizeof *model);
    if (model == NULL || ledger_reader_begin(book->keeper, &err) != ERR_OK) {
        abort();
    }
    struct select_args all = {.n = {0, -1, 0}};
    struct select_args models = {.n = {NAMES_MODEL, 0}, .s = {""}};
    read_list(book, SELECT_NODES, &all, &model->nodes);
    all = (struct select_args){.n = {0}};
    read_list(book, SELECT_ALL_HOLDS, &all, &model->holds);
    read_list(book, SELECT_ALL_RUNS, &all, &model->runs);
    read_list(book, SELECT_ALL_GRANTS, &all, &model->grants);
    read_list(book, SELECT_ALL_WAITING, &all, &model->waiting);
    read_list(book, SELECT_ALL_DIMS, &all, &model->dims);
    read_list(book, SELECT_CLUSTERS, &all, &model->clusters);
    read_list(book, SELECT_NAMES, &models, &model->names);
    EACH(cluster, cluster, model->clusters)
    {
        struct select_args of_cluster = {.n = {cluster->cluster_no}};
        read_list(book, SELECT_UNATTRIBUTED, &of_cluster, &model->unattributed);
    }
    int roots = 0;
    EACH(node, node, model->nodes)
    {
        if (node->parent_no == 0 && roots < 2) {
            read_calendar(book, model, roots++, node);
        }
    }
    ledger_reader_end(book->keeper);
    return model;
}

void model_destroy(struct model *model)
{
    free(model->nodes.rows);
    free(model->holds.rows);
    free(model->runs.rows);
    free(model->grants.rows);
    free(model->waiting.rows);
    free(model->dims.rows);
    free(model->clusters.rows);
    free(model->names.rows);
    free(model->unattributed.rows);
    free(model);
}

/* ---- looking up */

static const struct node *node_of(const struct model *model, int64_t node_no)
{
    EACH(node, node, model->nodes)
    {
        if (node->node_no == node_no) {
            return node;
        }
    }
    return NULL;
}

static const struct node *node_named(const struct model *model,
                                     const char *name,
                                     int64_t project_no)
{
    EACH(node, node, model->nodes)
    {
        bool member = node->kind == NODE_MEMBER;
        if (strcmp(node->name, name) == 0 && member == (project_no != 0) &&
            (!member || node->parent_no == project_no)) {
            return node;
        }
    }
    return NULL;
}

static const struct hold *hold_of(const struct model *model, int64_t hold_no)
{
    EACH(hold, hold, model->holds)
    {
        if (hold->hold_no == hold_no) {
            return hold;
        }
    }
    return NULL;
}

static bool hold_is_below(const struct model *model, const struct hold *hold, int64_t node_no)
{
    EACH(dims, dims, model->dims)
    {
        if (dims->dims_no != hold->dims_no) {
            continue;
        }
        for (int32_t i = 0; i < dims->path_count; i++) {
            if (dims->path[i].node_no == node_no) {
                return true;
            }
        }
    }
    return false;
}

static const struct calendar *calendar_of(const struct model *model, int64_t root_no)
{
    return &model->calendars[model->calendar_roots[0] == root_no ? 0 : 1];
}

static int64_t model_number(const struct model *model, const char *name)
{
    EACH(name, row, model->names)
    {
        if (strcmp(row->name, name) == 0) {
            return row->target_no;
        }
    }
    return -1;
}

/* ---- sums */

static int64_t overlap(int64_t from_a, int64_t to_a, int64_t from_b, int64_t to_b)
{
    int64_t from = from_a > from_b ? from_a : from_b;
    int64_t to = to_a < to_b ? to_a : to_b;
    return to > from ? to - from : 0;
}

/* What a run was charged for what it ran in [from_s, to_s), refunds not counted. */
static int64_t charged_between(const struct run *run, int64_t from_s, int64_t to_s)
{
    int64_t mcs = 0;
    if (run->waived != 0 || run->started_s == 0) {
        return 0;
    }
    for (int32_t i = 0; i < run->segment_count; i++) {
        int64_t begin = run->segments[i].from_s;
        int64_t end = i + 1 < run->segment_count ? run->segments[i + 1].from_s : INT64_MAX;
        begin = begin > run->started_s ? begin : run->started_s;
        begin = begin > from_s ? begin : from_s;
        end = end < run->booked_until_s ? end : run->booked_until_s;
        end = end < to_s ? end : to_s;
        int64_t seconds = end > begin ? end - begin : 0;
        for (int32_t j = 0; j < run->suspension_count && seconds > 0; j++) {
            seconds -= overlap(begin, end, run->suspensions[j].from_s, run->suspensions[j].to_s);
        }
        mcs += run->segments[i].rate_mcores * seconds;
    }
    return mcs;
}

/* Used below a node by what ran in the months [first, last]. */
static int64_t used_in(const struct model *model,
                       const struct node *node,
                       int64_t first,
                       int64_t last)
{
    const struct calendar *calendar = calendar_of(model, node->root_no);
    int64_t from_s = calendar_month_start(calendar, (int32_t)first);
    int64_t to_s = calendar_month_start(calendar, (int32_t)last + 1);
    int64_t mcs = 0;
    EACH(run, run, model->runs)
    {
        if (run->charged_mcs == 0 ||
            !hold_is_below(model, hold_of(model, run->hold_no), node->node_no)) {
            continue;
        }
        mcs += charged_between(run, from_s, to_s);
        for (int32_t i = 0; i < run->refund_count; i++) {
            bool in = run->refunds[i].month >= first && run->refunds[i].month <= last;
            mcs -= in ? run->refunds[i].mcs : 0;
        }
    }
    return mcs;
}

static int64_t open_tasks(const struct hold *hold)
{
    return hold->counts[TASK_FROZEN] + hold->counts[TASK_RUNNING] + hold->counts[TASK_SUSPENDED];
}

/* What a number of tasks has in flight, in the unit of a cap. */
static int64_t in_flight(const struct resources *resources,
                         int64_t rate_mcores,
                         int64_t tasks,
                         const struct cap *cap)
{
    int64_t mgpus = 0;
    if (cap->kind == CAP_JOBS) {
        return tasks;
    }
    if (cap->kind == CAP_CORES) {
        return tasks * rate_mcores;
    }
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        bool counts = cap->model_no == 0 || resources->gpus[i].model_no == cap->model_no;
        mgpus += counts ? resources->gpus[i].mgpus : 0;
    }
    return tasks * mgpus;
}

static int64_t pool_of(const struct hold *hold)
{
    int64_t pool = open_tasks(hold) - hold->own_open;
    int64_t room = hold->max_running - hold->own_open;
    if (hold->max_running > 0 && pool > (room > 0 ? room : 0)) {
        pool = room > 0 ? room : 0;
    }
    return pool;
}

static int64_t flying_below(const struct model *model,
                            const struct node *node,
                            const struct cap *cap)
{
    int64_t sum = 0;
    EACH(hold, hold, model->holds)
    {
        if (open_tasks(hold) > 0 && hold_is_below(model, hold, node->node_no)) {
            sum += in_flight(&hold->resources, hold->rate_mcores, pool_of(hold), cap);
        }
    }
    EACH(run, run, model->runs)
    {
        bool open =
            run->state == TASK_FROZEN || run->state == TASK_RUNNING || run->state == TASK_SUSPENDED;
        if (open && run->own_resources != 0 &&
            hold_is_below(model, hold_of(model, run->hold_no), node->node_no)) {
            sum += in_flight(&run->resources, run->segments[run->segment_count - 1].rate_mcores, 1,
                             cap);
        }
    }
    return sum;
}

static int64_t frozen_below(const struct model *model, const struct node *node)
{
    int64_t mcs = 0;
    EACH(hold, hold, model->holds)
    {
        if (hold->frozen_mcs > 0 && hold_is_below(model, hold, node->node_no)) {
            mcs += hold->frozen_mcs;
        }
    }
    return mcs;
}

/* ---- does it fit */

struct request {
    const struct node *project;
    const struct node *member; /* NULL: not seen before */
    struct resources resources;
    int64_t rate_mcores;
    int64_t mgpus;
    int64_t tasks;
    int64_t at_once;
    int64_t mcs;
    int64_t job_mcs;
    int64_t limit_s;
    bool per_job;
    bool behind_waiting;
};

static int64_t committed(const struct model *model,
                         const struct node *node,
                         const struct cap *cap,
                         int64_t now_s)
{
    const struct calendar *calendar = calendar_of(model, node->root_no);
    int32_t month = calendar_month(calendar, now_s);
    int64_t first = month;
    int64_t last = month;
    switch (cap->kind) {
    case CAP_MONTH:
        break;
    case CAP_QUARTER:
        first = calendar_quarter_first_month(calendar, month);
        last = first + 2;
        break;
    case CAP_YEAR:
        first = calendar_year_first_month(calendar, month);
        last = first + 11;
        break;
    case CAP_TOTAL:
        first = 12 * 1970;
        last = 12 * 2100;
        break;
    default:
        return flying_below(model, node, cap);
    }
    return used_in(model, node, first, last) + frozen_below(model, node);
}

static bool others_wait(const struct model *model, int64_t node_no, int64_t kind, int64_t model_no)
{
    EACH(waiting, row, model->waiting)
    {
        for (int32_t i = 0; i < row->limit_count; i++) {
            const struct limit_ref *limit = &row->limits[i];
            if (limit->node_no == node_no && limit->kind == kind && limit->model_no == model_no) {
                return true;
            }
        }
    }
    return false;
}

static bool per_job_fails(const struct cap *cap, const struct request *request)
{
    switch (cap->kind) {
    case CAP_JOB_CORE_HOURS:
        return request->job_mcs > cap->limit;
    case CAP_JOB_GPUS:
        return request->mgpus > cap->limit;
    default:
        return request->limit_s == 0 || request->limit_s > cap->limit;
    }
}

/* node: whose figures count (NULL: nobody's yet). */
static bool cap_fails(const struct model *model,
                      const struct node *node,
                      const struct cap *cap,
                      const struct request *request,
                      int64_t now_s)
{
    if (cap->limit == RECORD_UNLIMITED || cap->soft != 0) {
        return false;
    }
    if (cap->kind >= CAP_JOB_CORE_HOURS) {
        return request->per_job && per_job_fails(cap, request);
    }
    int64_t more = cap->kind <= CAP_TOTAL ? request->mcs
                                          : in_flight(&request->resources, request->rate_mcores,
                                                      request->at_once, cap);
    if (more == 0) {
        return false;
    }
    int64_t has = node == NULL ? 0 : committed(model, node, cap, now_s);
    bool behind = request->behind_waiting && node != NULL &&
                  others_wait(model, node->node_no, cap->kind, cap->model_no);
    return has + more > cap->limit || behind;
}

static int32_t caps_failing(const struct model *model,
                            const struct node *node,
                            const struct node *caps_of,
                            const struct request *request,
                            int64_t now_s)
{
    int32_t failing = 0;
    for (int32_t i = 0; i < caps_of->cap_count; i++) {
        const struct cap *cap = &caps_of->caps[i];
        bool own = false;
        for (int32_t j = 0; node != NULL && caps_of != node && j < node->cap_count; j++) {
            own =
                own || (node->caps[j].kind == cap->kind && node->caps[j].model_no == cap->model_no);
        }
        failing += !own && cap_fails(model, node, cap, request, now_s) ? 1 : 0;
    }
    return failing;
}

static bool funds_fail(const struct model *model, const struct request *request, int64_t now_s)
{
    const struct node *payer = request->project;
    while (payer->funding == FUNDING_PARENT) {
        payer = node_of(model, payer->parent_no);
    }
    int64_t available_mcs = payer->overdraft_mcs;
    EACH(grant, grant, model->grants)
    {
        bool valid = grant->ended == 0 && grant->start_s <= now_s && now_s < grant->end_s;
        if (grant->node_no != payer->node_no || !valid) {
            continue;
        }
        if (grant->kind == GRANT_ENDLESS) {
            return false;
        }
        available_mcs += grant->available_mcs;
    }
    bool behind = request->behind_waiting && others_wait(model, payer->node_no, CAP_FUNDS, 0);
    return request->mcs > available_mcs || (request->mcs > 0 && behind);
}

static int32_t limits_failing(const struct model *model,
                              const struct request *request,
                              int64_t now_s)
{
    int32_t failing = 0;
    if (request->member != NULL) {
        failing += caps_failing(model, request->member, request->member, request, now_s);
    }
    if (request->project->default_member_no != 0) {
        const struct node *star = node_of(model, request->project->default_member_no);
        failing += caps_failing(model, request->member, star, request, now_s);
    }
    for (const struct node *node = request->project; node != NULL;
         node = node->parent_no == 0 ? NULL : node_of(model, node->parent_no)) {
        failing += caps_failing(model, node, node, request, now_s);
    }
    return failing + (funds_fail(model, request, now_s) ? 1 : 0);
}

/* ---- freezes */

static void price(const struct model *model,
                  const struct command_resources *given,
                  struct request *request)
{
    int64_t gpus_mcores = 0;
    request->resources.gpu_count = given->gpu_count;
    for (int32_t i = 0; i < given->gpu_count; i++) {
        int64_t percent = given->gpus[i].cores_percent == 0 ? 100 : given->gpus[i].cores_percent;
        struct gpu_request *gpu = &request->resources.gpus[i];
        gpu->model_no =
            given->gpus[i].model[0] == '\0' ? 0 : model_number(model, given->gpus[i].model);
        gpu->mgpus = given->gpus[i].count * percent * 10;
        gpus_mcores += given->gpus[i].count * percent * 160;
        request->mgpus += gpu->mgpus;
    }
    int64_t cores_mcores = given->cores * 1000;
    request->rate_mcores = cores_mcores > gpus_mcores ? cores_mcores : gpus_mcores;
}

static const struct cluster *cluster_named(const struct model *model, const char *name)
{
    EACH(cluster, cluster, model->clusters)
    {
        if (strcmp(cluster->name, name) == 0) {
            return cluster;
        }
    }
    return NULL;
}

static bool path_is_open(const struct model *model, const struct request *request)
{
    if (request->member != NULL && request->member->state == NODE_CLOSED) {
        return false;
    }
    for (const struct node *node = request->project; node != NULL;
         node = node->parent_no == 0 ? NULL : node_of(model, node->parent_no)) {
        if (node->state == NODE_CLOSED) {
            return false;
        }
    }
    return true;
}

static bool id_is_known(const struct model *model, const char *id)
{
    EACH(hold, hold, model->holds)
    {
        if (strcmp(hold->id, id) == 0) {
            return true;
        }
    }
    EACH(unattributed, charge, model->unattributed)
    {
        if (strcmp(charge->id, id) == 0) {
            return true;
        }
    }
    return false;
}

enum expectation model_expect(struct model *model,
                              const struct command *command,
                              int64_t now_ms,
                              int32_t *ret_failing)
{
    const struct command_freeze *freeze = &command->freeze;
    struct request request = {.per_job = true, .behind_waiting = true};
    *ret_failing = 0;
    bool known = command->kind == COMMAND_FREEZE && id_is_known(model, freeze->id);
    request.project = node_named(model, freeze->account, 0);
    if (known || request.project == NULL) {
        return EXPECT_OTHER;
    }
    request.member = node_named(model, freeze->user, request.project->node_no);
    bool stranger = request.member == NULL || (request.member->flags & NODE_GUEST) != 0;
    if (!path_is_open(model, &request) ||
        (stranger && request.project->membership == MEMBERSHIP_LISTED)) {
        return EXPECT_OTHER;
    }
    const struct cluster *cluster = cluster_named(model, command->cluster);
    enum hold_mode mode =
        request.project->mode != MODE_UNSET ? request.project->mode : cluster->mode;
    if (mode == MODE_FULL && freeze->time_limit_s == 0) {
        return EXPECT_OTHER;
    }
    int64_t seconds = freeze->time_limit_s;
    if (mode == MODE_WINDOW && (seconds == 0 || seconds > 300)) {
        seconds = 300;
    }
    price(model, &freeze->resources, &request);
    request.tasks = freeze->tasks == 0 ? 1 : freeze->tasks;
    request.at_once = request.tasks;
    if (freeze->max_running > 0 && freeze->max_running < request.tasks) {
        request.at_once = freeze->max_running;
    }
    request.mcs = request.rate_mcores * seconds * request.tasks;
    request.limit_s = freeze->time_limit_s;
    request.job_mcs = request.rate_mcores * request.tasks *
                      (freeze->time_limit_s > 0 ? freeze->time_limit_s : seconds);
    *ret_failing = limits_failing(model, &request, now_ms / 1000);
    return *ret_failing == 0 ? EXPECT_FROZEN : EXPECT_NO_ROOM;
}

/* ---- what must hold */

/* The first in the queue of a root waits for a reason. */
static bool head_does_not_fit(const struct model *model, const struct waiting *row, int64_t now_s)
{
    const struct hold *hold = hold_of(model, row->hold_no);
    if (row->task >= 0 || hold->untouched != hold->tasks) {
        return true;
    }
    struct request request = {
        .project = node_of(model, hold->project_no),
        .member = node_of(model, hold->member_no),
        .resources = hold->resources,
        .rate_mcores = hold->rate_mcores,
        .mgpus = hold->mgpus,
        .tasks = hold->tasks,
        .at_once = hold->max_running > 0 && hold->max_running < hold->tasks ? hold->max_running
                                                                            : hold->tasks,
        .mcs = hold->rate_mcores * hold->seconds * hold->tasks,
    };
    if (limits_failing(model, &request, now_s) > 0) {
        return true;
    }
    (void)fprintf(stderr, "hold %s waits first in its queue, and would fit\n", hold->id);
    return false;
}

bool model_is_sound(struct model *model, int64_t now_ms)
{
    int64_t root_no = 0;
    EACH(waiting, row, model->waiting)
    {
        if (row->root_no != root_no && !head_does_not_fit(model, row, now_ms / 1000)) {
            return false;
        }
        root_no = row->root_no;
    }
    EACH(run, run, model->runs)
    {
        int64_t mcs = charged_between(run, 0, INT64_MAX);
        if (mcs != run->charged_mcs) {
            (void)fprintf(stderr,
                          "a run of hold %" PRId64 " is charged %" PRId64 ", not %" PRId64 "\n",
                          run->hold_no, run->charged_mcs, mcs);
            return false;
        }
    }
    return true;
}
