/* Kueue's Workloads: see kueue.h.
 *
 * A hold belongs to one pod set of one reservation: wl-<uid>.<second of the reservation>.<place of the pod set>. It is bound to the job
 * <uid>.<place>, by which it is found again when the object no longer says when quota was reserved. */
#include "clients/kubernetes/kueue.h"

#include <stdio.h>
#include <string.h>

#include "clients/units.h"

enum { RETRY_DEFAULT_S = 60, HOLD_BYTES = 96, TEXT_BYTES = 512, BAD_REQUEST = 400 };

static const char *const state_words[] = {
    [KUEUE_PENDING] = "Pending",
    [KUEUE_READY] = "Ready",
    [KUEUE_RETRY] = "Retry",
    [KUEUE_REJECTED] = "Rejected",
};

/* Reasons of Finished and Evicted -> outcomes of SPEC 5.6. */
static const struct {
    const char *reason;
    const char *outcome;
} outcomes[] = {
    {"Succeeded", "completed"},
    {"JobFinished", "completed"},
    {"Failed", "failed"},
    {"Preempted", "preempted"},
    {"FlavorMigration", "preempted"},
    {"NodeFailures", "node_fail"},
    {"MaximumExecutionTimeExceeded", "timeout"},
    {"PodsReadyTimeout", "timeout"},
    {"Deactivated", "cancelled"},
    {"ClusterQueueStopped", "cancelled"},
    {"LocalQueueStopped", "cancelled"},
    {"AdmissionCheck", "cancelled"},
};

/* ---- reading */

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text == NULL ? "" : text;
}

static int64_t time_of(const json_t *object, const char *member)
{
    int64_t time_s;
    const char *text = text_of(object, member);
    return strchr(text, 'T') != NULL && corehour_time_parse(text, 0, &time_s) == COREHOUR_OK
               ? time_s
               : 0;
}

static const json_t *condition_of(const json_t *workload, const char *type)
{
    const json_t *conditions = json_object_get(json_object_get(workload, "status"), "conditions");
    for (size_t i = 0; i < json_array_size(conditions); i++) {
        const json_t *condition = json_array_get(conditions, i);
        if (strcmp(text_of(condition, "type"), type) == 0) {
            return condition;
        }
    }
    return NULL;
}

static bool is_true(const json_t *condition)
{
    return strcmp(text_of(condition, "status"), "True") == 0;
}

static const char *outcome_of(const json_t *condition)
{
    const char *reason = text_of(condition, "reason");
    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
        if (strcmp(reason, outcomes[i].reason) == 0) {
            return outcomes[i].outcome;
        }
    }
    return "other";
}

static bool text_copy(char *ret_text, size_t bytes, const char *text)
{
    const size_t length = strlen(text);
    if (length == 0 || length >= bytes) {
        return false;
    }
    memcpy(ret_text, text, length + 1);
    return true;
}

static bool is_ours(const json_t *checks, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < json_array_size(checks); i++) {
        const char *ours = json_string_value(json_array_get(checks, i));
        found = found || (ours != NULL && strcmp(ours, name) == 0);
    }
    return found;
}

static void check_read(const json_t *workload, const json_t *checks, struct kueue_workload *facts)
{
    const json_t *states = json_object_get(json_object_get(workload, "status"), "admissionChecks");
    for (size_t i = 0; i < json_array_size(states) && facts->check == NULL; i++) {
        const json_t *state = json_array_get(states, i);
        const char *name = json_string_value(json_object_get(state, "name"));
        if (name == NULL || !is_ours(checks, name)) {
            continue;
        }
        facts->check = name;
        facts->check_at = i;
        for (size_t k = 0; k < sizeof state_words / sizeof state_words[0]; k++) {
            if (strcmp(text_of(state, "state"), state_words[k]) == 0) {
                facts->state = (enum kueue_state)k;
            }
        }
    }
}

/* An entry of a list by its name. */
static const json_t *named_find(const json_t *list, const char *name)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        if (strcmp(text_of(entry, "name"), name) == 0) {
            return entry;
        }
    }
    return NULL;
}

static void pod_set_read(const json_t *workload,
                         const json_t *pod_set,
                         struct kueue_pod_set *ret_set)
{
    const json_t *status = json_object_get(workload, "status");
    const json_t *admission = json_object_get(status, "admission");
    const char *name = text_of(pod_set, "name");
    const json_t *assigned =
        json_object_get(named_find(json_object_get(admission, "podSetAssignments"), name), "count");
    const json_t *done =
        json_object_get(named_find(json_object_get(status, "reclaimablePods"), name), "count");
    const json_int_t count = json_integer_value(
        json_is_integer(assigned) ? assigned : json_object_get(pod_set, "count"));
    const json_int_t reclaimable = json_integer_value(done);
    ret_set->template = json_object_get(pod_set, "template");
    ret_set->count = count < 0 ? 0 : count > KUEUE_PODS_MAX ? KUEUE_PODS_MAX + 1 : count;
    ret_set->reclaimable = reclaimable < 0                ? 0
                           : reclaimable > ret_set->count ? ret_set->count
                                                          : reclaimable;
}

static bool pod_sets_read(const json_t *workload, struct kueue_workload *facts, char *ret_problem)
{
    const json_t *pod_sets = json_object_get(json_object_get(workload, "spec"), "podSets");
    const size_t count = json_array_size(pod_sets);
    int64_t pods = 0;
    if (count > KUEUE_POD_SETS_MAX) {
        snprintf(ret_problem, KUEUE_MESSAGE_BYTES, "more than %d pod sets", KUEUE_POD_SETS_MAX);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        pod_set_read(workload, json_array_get(pod_sets, i), &facts->pod_sets[i]);
        pods += facts->pod_sets[i].count;
    }
    facts->pod_set_count = (unsigned)count;
    if (pods > KUEUE_PODS_MAX) {
        snprintf(ret_problem, KUEUE_MESSAGE_BYTES, "more than %d pods", KUEUE_PODS_MAX);
        return false;
    }
    return true;
}

/* When and how the reservation ended; @ended_s 0 while it lasts, or where it never was. */
static void end_read(const json_t *workload,
                     bool deleted,
                     int64_t now_s,
                     struct kueue_workload *facts)
{
    const json_t *finished = condition_of(workload, "Finished");
    const json_t *evicted = condition_of(workload, "Evicted");
    const json_t *reserved = condition_of(workload, "QuotaReserved");
    facts->outcome = "";
    if (is_true(finished)) {
        facts->ended_s = time_of(finished, "lastTransitionTime");
        facts->outcome = outcome_of(finished);
    } else if (is_true(evicted)) {
        facts->ended_s = time_of(evicted, "lastTransitionTime");
        facts->outcome = outcome_of(evicted);
    } else if (deleted) {
        const int64_t deletion_s =
            time_of(json_object_get(workload, "metadata"), "deletionTimestamp");
        facts->ended_s = deletion_s > 0 && deletion_s < now_s ? deletion_s : now_s;
        facts->outcome = "cancelled";
    } else if (reserved != NULL && !is_true(reserved)) {
        facts->ended_s = time_of(reserved, "lastTransitionTime");
        facts->outcome = "cancelled";
    }
}

static enum kueue_step step_of(const struct kueue_workload *facts)
{
    if (facts->check == NULL) {
        return KUEUE_NOTHING;
    }
    if (facts->outcome[0] != '\0') {
        return KUEUE_END;
    }
    if (facts->reserved_s == 0) {
        return KUEUE_NOTHING;
    }
    if (facts->state == KUEUE_PENDING) {
        return KUEUE_FREEZE;
    }
    return facts->state == KUEUE_READY && facts->started_s > 0 ? KUEUE_START : KUEUE_NOTHING;
}

bool kueue_read(const json_t *workload,
                const json_t *checks,
                bool deleted,
                int64_t now_s,
                struct kueue_workload *ret_workload,
                char *ret_problem)
{
    struct kueue_workload *facts = ret_workload;
    const json_t *metadata = json_object_get(workload, "metadata");
    const json_t *spec = json_object_get(workload, "spec");
    const json_t *reserved = condition_of(workload, "QuotaReserved");
    const json_t *admitted = condition_of(workload, "Admitted");
    memset(facts, 0, sizeof *facts);
    snprintf(ret_problem, KUEUE_MESSAGE_BYTES, "%s", "");
    facts->outcome = "";
    if (!text_copy(facts->uid, sizeof facts->uid, text_of(metadata, "uid")) ||
        !text_copy(facts->namespace, sizeof facts->namespace, text_of(metadata, "namespace")) ||
        !text_copy(facts->name, sizeof facts->name, text_of(metadata, "name")) || spec == NULL) {
        snprintf(ret_problem, KUEUE_MESSAGE_BYTES, "not a Workload");
        return false;
    }
    check_read(workload, checks, facts);
    facts->reserved_s = is_true(reserved) ? time_of(reserved, "lastTransitionTime") : 0;
    facts->started_s = is_true(admitted) ? time_of(admitted, "lastTransitionTime") : 0;
    const json_int_t limit_s =
        json_integer_value(json_object_get(spec, "maximumExecutionTimeSeconds"));
    facts->time_limit_s = limit_s > 0 ? limit_s : 0;
    if (!pod_sets_read(workload, facts, ret_problem)) {
        return false;
    }
    end_read(workload, deleted, now_s, facts);
    facts->step = step_of(facts);
    return true;
}

static int64_t reclaimable_of(const struct kueue_workload *workload)
{
    int64_t sum = 0;
    for (unsigned i = 0; i < workload->pod_set_count; i++) {
        sum += workload->pod_sets[i].reclaimable;
    }
    return sum;
}

bool kueue_is_news(const struct kueue_workload *workload, struct kueue_memory *memory)
{
    const struct kueue_memory now = {
        .step = workload->step,
        .reserved_s = workload->step == KUEUE_END ? 0 : workload->reserved_s,
        .reclaimable = workload->step == KUEUE_START ? reclaimable_of(workload) : 0,
    };
    if (now.step == KUEUE_NOTHING ||
        (now.step == memory->step && now.reserved_s == memory->reserved_s &&
         now.reclaimable == memory->reclaimable)) {
        return false;
    }
    *memory = now;
    return true;
}

/* ---- commands */

struct names {
    char hold[HOLD_BYTES];
    char job[HOLD_BYTES];
};

static struct names names_of(const struct kueue_workload *workload, unsigned at)
{
    struct names names;
    snprintf(names.hold, sizeof names.hold, KUEUE_HOLD_PREFIX "%s.%lld.%u", workload->uid,
             (long long)workload->reserved_s, at);
    snprintf(names.job, sizeof names.job, "%s.%u", workload->uid, at);
    return names;
}

/* Puts a new object behind @lines; both may be NULL for want of memory. */
static bool append(json_t *lines, json_t *line)
{
    return json_array_append_new(lines, line) == 0;
}

static json_t *freeze_line(const struct kueue_workload *workload,
                           const struct kueue_context *context,
                           unsigned at,
                           const struct pod_request *request)
{
    const struct names names = names_of(workload, at);
    char job_name[121];
    snprintf(job_name, sizeof job_name, "%.120s", workload->name);
    json_t *line =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:{s:s}, s:o, s:I, s:s, s:s}", "op", "freeze", "id",
                  names.hold, "cluster", context->cluster, "account", context->account, "user",
                  context->user, "job", "name", job_name, "resources", pod_request_json(request),
                  "tasks", (json_int_t)workload->pod_sets[at].count, "mode",
                  workload->time_limit_s > 0 ? "full" : "window", "on_insufficient", "reject");
    if (line != NULL && workload->time_limit_s > 0 &&
        json_object_set_new(line, "time_limit_s", json_integer(workload->time_limit_s)) != 0) {
        json_decref(line);
        return NULL;
    }
    return line;
}

static bool freeze_append(const struct kueue_workload *workload,
                          const struct kueue_context *context,
                          unsigned at,
                          const struct pod_request *request,
                          json_t *lines)
{
    const struct names names = names_of(workload, at);
    return append(lines, freeze_line(workload, context, at, request)) &&
           append(lines, json_pack("{s:s, s:s, s:s, s:s}", "op", "bind", "hold", names.hold,
                                   "job_id", names.job, "job_key", names.hold));
}

static bool start_append(const struct kueue_workload *workload,
                         unsigned at,
                         int64_t now_s,
                         json_t *lines)
{
    const struct names names = names_of(workload, at);
    const struct kueue_pod_set *set = &workload->pod_sets[at];
    char started[COREHOUR_UNITS_TEXT_BYTES];
    char now[COREHOUR_UNITS_TEXT_BYTES];
    bool good = true;
    corehour_time_format(workload->started_s, started);
    corehour_time_format(now_s, now);
    for (int64_t task = 0; good && task < set->count; task++) {
        good = append(lines, json_pack("{s:s, s:s, s:I, s:s}", "op", "start", "hold", names.hold,
                                       "task", (json_int_t)task, "started_at", started));
    }
    for (int64_t task = set->count - set->reclaimable; good && task < set->count; task++) {
        good = append(lines,
                      json_pack("{s:s, s:s, s:I, s:s, s:s}", "op", "settle", "hold", names.hold,
                                "task", (json_int_t)task, "ended_at", now, "outcome", "completed"));
    }
    return good;
}

static json_t *settle_line(const struct kueue_workload *workload,
                           const struct kueue_context *context,
                           const char *job,
                           int64_t task)
{
    char started[COREHOUR_UNITS_TEXT_BYTES];
    char ended[COREHOUR_UNITS_TEXT_BYTES];
    corehour_time_format(workload->started_s, started);
    corehour_time_format(workload->ended_s, ended);
    json_t *line = json_pack("{s:s, s:s, s:s, s:I, s:s, s:s}", "op", "settle", "cluster",
                             context->cluster, "job_id", job, "task", (json_int_t)task, "ended_at",
                             ended, "outcome", workload->outcome);
    if (line != NULL && workload->started_s > 0 &&
        json_object_set_new(line, "started_at", json_string(started)) != 0) {
        json_decref(line);
        return NULL;
    }
    return line;
}

/* Whether it was ever admitted is not always known any more: then what has not started is released before the rest settles. */
static bool end_append(const struct kueue_workload *workload,
                       const struct kueue_context *context,
                       unsigned at,
                       json_t *lines)
{
    const struct names names = names_of(workload, at);
    bool good =
        workload->started_s > 0 ||
        append(lines, json_pack("{s:s, s:s, s:s, s:s}", "op", "release", "cluster",
                                context->cluster, "job_id", names.job, "reason", "workload ended"));
    for (int64_t task = 0; good && task < workload->pod_sets[at].count; task++) {
        good = append(lines, settle_line(workload, context, names.job, task));
    }
    return good;
}

static bool step_append(const struct kueue_workload *workload,
                        const struct kueue_context *context,
                        const struct pod_request *request,
                        unsigned at,
                        int64_t now_s,
                        json_t *lines)
{
    switch (workload->step) {
    case KUEUE_NOTHING:
        return true;
    case KUEUE_FREEZE:
        return freeze_append(workload, context, at, request, lines);
    case KUEUE_START:
        return start_append(workload, at, now_s, lines);
    case KUEUE_END:
        return end_append(workload, context, at, lines);
    }
    return false;
}

json_t *kueue_commands(const struct kueue_workload *workload,
                       const struct kueue_context *context,
                       int64_t now_s,
                       char *ret_problem)
{
    json_t *lines = json_array();
    bool good = lines != NULL;
    snprintf(ret_problem, KUEUE_MESSAGE_BYTES, "%s", "");
    for (unsigned i = 0; good && i < workload->pod_set_count; i++) {
        struct pod_request request;
        char problem[RESOURCE_PROBLEM_BYTES];
        const enum pod_result result = pod_cost(workload->pod_sets[i].template, context->table,
                                                &request, problem, sizeof problem);
        if (result != POD_OK && workload->step == KUEUE_FREEZE) {
            snprintf(ret_problem, KUEUE_MESSAGE_BYTES, "pod set %u: %s", i, problem);
        }
        good = result == POD_OK || workload->step != KUEUE_FREEZE;
        if (good && result == POD_OK && request.accelerated && workload->pod_sets[i].count > 0) {
            good = step_append(workload, context, &request, i, now_s, lines);
        }
    }
    if (!good) {
        json_decref(lines);
        return NULL;
    }
    return lines;
}

bool kueue_runs_append(const struct kueue_workload *workload,
                       const struct resource_table *table,
                       json_t *runs)
{
    bool good = true;
    for (unsigned i = 0; good && i < workload->pod_set_count; i++) {
        const struct kueue_pod_set *set = &workload->pod_sets[i];
        const struct names names = names_of(workload, i);
        struct pod_request request;
        char problem[RESOURCE_PROBLEM_BYTES];
        if (pod_cost(set->template, table, &request, problem, sizeof problem) != POD_OK ||
            !request.accelerated) {
            continue;
        }
        for (int64_t task = 0; good && task < set->count - set->reclaimable; task++) {
            good = append(runs, json_pack("{s:s, s:I, s:i}", "hold", names.hold, "task",
                                          (json_int_t)task, "attempt", 0));
        }
    }
    return good;
}

/* ---- verdicts */

static void verdict_set(struct kueue_verdict *verdict,
                        enum kueue_state state,
                        int64_t retry_after_s,
                        const char *message)
{
    verdict->state = state;
    verdict->retry_after_s = retry_after_s;
    snprintf(verdict->message, sizeof verdict->message, "%s", message);
}

/* The line that stopped the batch: refused by itself, not rolled back with the rest. */
static const json_t *refusal_of(const json_t *answers)
{
    for (size_t i = 0; i < json_array_size(answers); i++) {
        const json_t *answer = json_array_get(answers, i);
        if (json_integer_value(json_object_get(answer, "status")) >= BAD_REQUEST &&
            strcmp(text_of(answer, "code"), "rolled_back") != 0) {
            return answer;
        }
    }
    return NULL;
}

static int64_t retry_after_of(const json_t *refusal, int64_t now_s)
{
    const int64_t earliest_s = time_of(refusal, "earliest_at");
    const int64_t wait_s = earliest_s == 0 ? RETRY_DEFAULT_S : earliest_s - now_s;
    return wait_s < KUEUE_RETRY_MIN_S   ? KUEUE_RETRY_MIN_S
           : wait_s > KUEUE_RETRY_MAX_S ? KUEUE_RETRY_MAX_S
                                        : wait_s;
}

static void refused(const json_t *refusal, int64_t now_s, struct kueue_verdict *verdict)
{
    enum { TOO_MANY_REQUESTS = 429, UNAVAILABLE = 503 };
    const json_int_t status = json_integer_value(json_object_get(refusal, "status"));
    const char *code = text_of(refusal, "code");
    const char *detail = text_of(refusal, "detail");
    const char *title = text_of(refusal, "title");
    const char *said = detail[0] != '\0' ? detail : title[0] != '\0' ? title : code;
    if (strcmp(code, "quota_insufficient") == 0) {
        verdict_set(verdict, KUEUE_RETRY, retry_after_of(refusal, now_s), said);
    } else if (status == TOO_MANY_REQUESTS || status >= UNAVAILABLE) {
        verdict_set(verdict, KUEUE_PENDING, 0, "the ledger is busy; it is asked again");
    } else {
        verdict_set(verdict, KUEUE_REJECTED, 0, said);
    }
}

static void frozen(const json_t *answers, struct kueue_verdict *verdict)
{
    int64_t sum_mcs = 0;
    char core_hours[COREHOUR_UNITS_TEXT_BYTES];
    char message[TEXT_BYTES];
    for (size_t i = 0; i < json_array_size(answers); i++) {
        const json_t *answer = json_array_get(answers, i);
        const json_int_t frozen_mcs = json_integer_value(json_object_get(answer, "frozen_mcs"));
        /* Of a bind too: freeze and bind of one hold both tell it. */
        if (json_integer_value(json_object_get(answer, "status")) == 201 &&
            __builtin_add_overflow(sum_mcs, frozen_mcs, &sum_mcs)) {
            sum_mcs = INT64_MAX;
        }
    }
    corehour_amount_format(sum_mcs, core_hours);
    snprintf(message, sizeof message, "%s core-hours are frozen", core_hours);
    verdict_set(verdict, KUEUE_READY, 0, message);
}

void kueue_verdict_read(int status,
                        const json_t *answers,
                        int64_t now_s,
                        struct kueue_verdict *ret_verdict)
{
    enum { OK = 200 };
    if (status != OK || !json_is_array(answers) || json_array_size(answers) == 0) {
        verdict_set(ret_verdict, KUEUE_PENDING, 0,
                    status == 0 ? "the ledger does not answer; it is asked again"
                                : "the ledger does not take the agent's question; see its log");
        return;
    }
    const json_t *refusal = refusal_of(answers);
    if (refusal != NULL) {
        refused(refusal, now_s, ret_verdict);
    } else {
        frozen(answers, ret_verdict);
    }
}

/* ---- patches */

static json_t *operation(const char *op, const char *path, json_t *value)
{
    return json_pack("{s:s, s:s, s:o}", "op", op, "path", path, "value", value);
}

/* One member of our check. */
static bool member_append(json_t *patch, const char *op, size_t at, const char *name, json_t *value)
{
    char path[TEXT_BYTES];
    snprintf(path, sizeof path, "/status/admissionChecks/%zu/%s", at, name);
    return append(patch, operation(op, path, value));
}

json_t *kueue_patch(const json_t *workload,
                    const struct kueue_workload *facts,
                    const struct kueue_verdict *verdict,
                    int64_t now_s)
{
    const json_t *status = json_object_get(workload, "status");
    const json_t *check =
        json_array_get(json_object_get(status, "admissionChecks"), facts->check_at);
    const char *version = text_of(json_object_get(workload, "metadata"), "resourceVersion");
    const size_t at = facts->check_at;
    char now[COREHOUR_UNITS_TEXT_BYTES];
    char path[TEXT_BYTES];
    corehour_time_format(now_s, now);
    snprintf(path, sizeof path, "/status/admissionChecks/%zu/requeueAfterSeconds", at);
    json_t *patch = json_array();
    bool good =
        patch != NULL &&
        append(patch, operation("test", "/metadata/resourceVersion", json_string(version))) &&
        member_append(patch, "test", at, "name", json_string(facts->check)) &&
        member_append(patch, "add", at, "state", json_string(state_words[verdict->state])) &&
        member_append(patch, "add", at, "message", json_string(verdict->message)) &&
        member_append(patch, "add", at, "lastTransitionTime", json_string(now));
    if (good && verdict->state == KUEUE_RETRY) {
        good = append(patch, operation("add", path, json_integer(verdict->retry_after_s)));
    } else if (good && json_object_get(check, "requeueAfterSeconds") != NULL) {
        good = append(patch, json_pack("{s:s, s:s}", "op", "remove", "path", path));
    }
    if (!good) {
        json_decref(patch);
        return NULL;
    }
    return patch;
}

json_t *kueue_active_patch(const json_t *check, int64_t now_s)
{
    const json_t *conditions = json_object_get(json_object_get(check, "status"), "conditions");
    const json_int_t generation =
        json_integer_value(json_object_get(json_object_get(check, "metadata"), "generation"));
    char now[COREHOUR_UNITS_TEXT_BYTES];
    json_t *others = json_array();
    bool good = others != NULL;
    bool active = false;
    for (size_t i = 0; good && i < json_array_size(conditions); i++) {
        json_t *condition = json_array_get(conditions, i);
        if (strcmp(text_of(condition, "type"), "Active") == 0) {
            active = is_true(condition);
        } else {
            good = json_array_append(others, condition) == 0;
        }
    }
    corehour_time_format(now_s, now);
    good = good && !active &&
           append(others,
                  json_pack("{s:s, s:s, s:s, s:s, s:s, s:I}", "type", "Active", "status", "True",
                            "reason", "Active", "message", "core-hours are frozen before admission",
                            "lastTransitionTime", now, "observedGeneration", generation));
    if (!good) {
        json_decref(others);
        return NULL;
    }
    return json_pack("{s:{s:o}}", "status", "conditions", others);
}
