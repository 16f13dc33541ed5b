/* Decisions about reviews: see admission.h. */
#include "clients/kubernetes/admission.h"

#include <stdio.h>
#include <string.h>

#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/commands.h"
#include "clients/kubernetes/counters.h"
#include "clients/kubernetes/gang.h"
#include "clients/kubernetes/names.h"
#include "clients/kubernetes/object.h"
#include "clients/kubernetes/pod_cost.h"
#include "clients/units.h"

static json_t *pass(const struct review *review)
{
    counter_add(COUNTER_PASSED, 1);
    return review_allow(review, NULL);
}

static bool is_creation_of_pod(const struct review *review)
{
    return strcmp(review->operation, "CREATE") == 0 && strcmp(review->resource, "pods") == 0 &&
           review->group[0] == '\0' && review->subresource[0] == '\0' && review->object != NULL;
}

/* ---- enforce */

static json_t *refuse(const struct review *review,
                      int code,
                      const char *reason,
                      const char *message)
{
    counter_add(COUNTER_REFUSED, 1);
    agent_log("info", "refused", "namespace", review->namespace, "pod", review->name, "uid",
              object_text(review->object, "metadata", "uid", NULL), "message", message, NULL);
    return review_deny(review, code, reason, message);
}

/* There was no answer that decides: the policy does. No funds and no answer are different things (SPEC 11.1). */
static json_t *answer_by_policy(const struct admission *admission,
                                const struct review *review,
                                const char *why)
{
    char message[600];
    const bool open = admission->config->fail_policy == AGENT_FAIL_OPEN;
    counter_add(open ? COUNTER_OPEN : COUNTER_CLOSED, 1);
    agent_log("warning", "ledger_silent", "namespace", review->namespace, "pod", review->name,
              "policy", open ? "open" : "closed", "why", why, NULL);
    (void)snprintf(message, sizeof message, "%s: %s",
                   open ? "Corehour gives no answer; let in, charged later"
                        : "Corehour gives no answer, and this cluster admits nothing without one",
                   why);
    if (!open) {
        return review_deny(review, 503, "ServiceUnavailable", message);
    }
    json_t *warnings = json_pack("[s]", message);
    json_t *answer = review_allow(review, warnings);
    json_decref(warnings);
    return answer;
}

/* A figure of a limit in the unit that people read. */
static void figure_write(const json_t *violation, const char *member, char *ret_text)
{
    const char *unit = object_text(violation, "unit", NULL);
    const int64_t value = json_integer_value(object_get(violation, member, NULL));
    if (strcmp(unit, "mcs") == 0) {
        corehour_amount_format(value, ret_text);
    } else if (strcmp(unit, "mgpus") == 0 || strcmp(unit, "mcores") == 0) {
        corehour_thousandths_format(value, ret_text);
    } else {
        (void)snprintf(ret_text, COREHOUR_UNITS_TEXT_BYTES, "%lld", (long long)value);
    }
}

/* A warning of the ledger as the one line that kubectl prints. */
static json_t *warning_line(const json_t *warning)
{
    char limit[COREHOUR_UNITS_TEXT_BYTES];
    char available[COREHOUR_UNITS_TEXT_BYTES];
    char requested[COREHOUR_UNITS_TEXT_BYTES];
    const json_t *violation = object_get(warning, "violation", NULL);
    if (!json_is_object(violation)) {
        return json_sprintf("Corehour: %s", object_text(warning, "code", NULL));
    }
    figure_write(violation, "limit", limit);
    figure_write(violation, "available", available);
    figure_write(violation, "requested", requested);
    return json_sprintf("Corehour: %s %s soft %s cap %s, available %s, requested %s",
                        object_text(violation, "kind", NULL), object_text(violation, "node", NULL),
                        object_text(violation, "cap", NULL), limit, available, requested);
}

static json_t *allow_with_warnings(const struct review *review, const json_t *warnings)
{
    json_t *lines = json_array();
    size_t index;
    json_t *warning;
    json_array_foreach(warnings, index, warning)
    {
        json_array_append_new(lines, warning_line(warning));
    }
    json_t *answer = review_allow(review, lines);
    json_decref(lines);
    return answer;
}

/* The ledger has answered: yes, or why not. */
static json_t *answer_by_ledger(const struct review *review, const struct corehour_answer *ledger)
{
    if (ledger->status == 201 || ledger->status == 200 || ledger->status == 202) {
        counter_add(COUNTER_ALLOWED, 1);
        return allow_with_warnings(review, object_get(ledger->body, "warnings", NULL));
    }
    if (strcmp(corehour_answer_code(ledger), "id_reused") == 0) {
        /* The same pod was frozen before with other words: it has its hold. */
        return pass(review);
    }
    const char *detail = object_text(ledger->body, "detail", NULL);
    const char *title = object_text(ledger->body, "title", NULL);
    const char *line = detail[0] != '\0'  ? detail
                       : title[0] != '\0' ? title
                                          : "refused by Corehour";
    return refuse(review, 403, "Forbidden", line);
}

static json_t *freeze_ask(const struct admission *admission,
                          const struct review *review,
                          const json_t *resources,
                          const char *user)
{
    const struct namespace_rules rules = namespaces_find(admission->namespaces, review->namespace);
    const json_t *limit = object_get(review->object, "spec", "activeDeadlineSeconds", NULL);
    const struct command_pod pod = {
        .cluster = admission->config->cluster.text,
        .account = rules.account,
        .user = user,
        .namespace = review->namespace,
        .name = object_text(review->object, "metadata", "name", NULL),
        .uid = object_text(review->object, "metadata", "uid", NULL),
        .qos = object_text(review->object, "spec", "priorityClassName", NULL),
        .resources = resources,
        .time_limit_s = json_integer_value(limit),
    };
    json_t *body = command_freeze(&pod, "reject", admission->config->admit_ttl_s);
    const struct corehour_request request = {
        .method = "POST",
        .path = review->dry_run ? "/v1/holds?dry_run=true" : "/v1/holds",
        .body = body,
    };
    struct corehour_answer ledger;
    struct agent_error why;
    json_t *answer;
    if (body != NULL && ledger_pool_call(admission->ledger, &request, &ledger, &why)) {
        answer = answer_by_ledger(review, &ledger);
        corehour_answer_fini(&ledger);
    } else {
        answer = answer_by_policy(admission, review, body == NULL ? "out of memory" : why.detail);
    }
    json_decref(body);
    return answer;
}

/* Whether a pod has others beside it that its namespace wants frozen together. Without an answer on how many: yes. */
static bool has_companions(const struct admission *admission, const struct review *review)
{
    struct gang gang;
    if (!namespaces_find(admission->namespaces, review->namespace).gang ||
        !gang_of_pod(review->object, review->namespace, &gang)) {
        return false;
    }
    if (gang.size == 0) {
        json_t *object = people_get(admission->people, gang.path);
        if (!gang_size_of_object(object, &gang.size)) {
            gang.size = 0;
        }
        json_decref(object);
    }
    return gang.size != 1;
}

/* The answer where nobody has to be asked; NULL for the creation of a pod with accelerators, which ret_request describes. */
static json_t *answer_early(const struct admission *admission,
                            const struct review *review,
                            struct pod_request *ret_request)
{
    char problem[RESOURCE_PROBLEM_BYTES];
    if (namespaces_is_protected(admission->namespaces, review->namespace) ||
        !is_creation_of_pod(review)) {
        return pass(review);
    }
    if (pod_cost(review->object, admission->table, ret_request, problem, sizeof problem) !=
        POD_OK) {
        return refuse(review, 403, "Forbidden", problem);
    }
    return ret_request->accelerated ? NULL : pass(review);
}

json_t *admission_enforce(const struct admission *admission, const struct review *review)
{
    struct pod_request request;
    json_t *early = answer_early(admission, review, &request);
    if (early != NULL) {
        return early;
    }
    if (object_text(review->object, "metadata", "uid", NULL)[0] == '\0') {
        return refuse(review, 403, "Forbidden",
                      "the pod has no uid: /enforce must be a validating webhook");
    }
    if (has_companions(admission, review)) {
        /* Pods come here one by one: the first ones would hold what the last ones lack. */
        return refuse(
            review, 403, "Forbidden",
            "the pods of a gang are frozen together in mode gate only: give the namespace "
            "the label corehour.io/mode=gate, or take corehour.io/gang from it");
    }
    char user[PEOPLE_NAME_BYTES];
    people_find(admission->people, review->object, review->namespace, review->username, user);
    json_t *resources = pod_request_json(&request);
    json_t *answer = resources == NULL ? answer_by_policy(admission, review, "out of memory")
                                       : freeze_ask(admission, review, resources, user);
    json_decref(resources);
    return answer;
}

/* ---- gate */

static bool has_gate(const json_t *gates)
{
    size_t index;
    json_t *gate;
    json_array_foreach(gates, index, gate)
    {
        if (strcmp(object_text(gate, "name", NULL), NAME_GATE) == 0) {
            return true;
        }
    }
    return false;
}

json_t *admission_gate(const struct admission *admission, const struct review *review)
{
    struct pod_request request;
    json_t *early = answer_early(admission, review, &request);
    if (early != NULL) {
        return early;
    }
    const json_t *gates = object_get(review->object, "spec", "schedulingGates", NULL);
    const bool is_bound = object_text(review->object, "spec", "nodeName", NULL)[0] != '\0';
    if (has_gate(gates)) {
        return pass(review);
    }
    if (is_bound) {
        /* It passes no scheduler: a gate would be refused by the API server. */
        return refuse(
            review, 403, "Forbidden",
            "pods with accelerators may not name their node themselves in this namespace");
    }
    json_t *patch = json_array_size(gates) > 0
                        ? json_pack("[{s:s, s:s, s:{s:s}}]", "op", "add", "path",
                                    "/spec/schedulingGates/-", "value", "name", NAME_GATE)
                        : json_pack("[{s:s, s:s, s:[{s:s}]}]", "op", "add", "path",
                                    "/spec/schedulingGates", "value", "name", NAME_GATE);
    json_t *answer = review_patch(review, patch);
    json_decref(patch);
    counter_add(COUNTER_GATED, 1);
    return answer;
}

/* ---- stamp */

/* The name that belongs on an object, "" for none. */
static const char *stamp_of(const struct review *review)
{
    if (review->old_object != NULL) {
        return object_text(review->old_object, "metadata", "annotations", NAME_CREATED_BY, NULL);
    }
    return people_is_human(review->username)
               ? review->username
               : object_text(review->object, "metadata", "annotations", NAME_USER, NULL);
}

static json_t *stamp_patch(const json_t *object, const char *stamp, bool is_there)
{
    if (stamp[0] == '\0') {
        return json_pack("[{s:s, s:s}]", "op", "remove", "path", NAME_CREATED_BY_POINTER);
    }
    if (is_there || json_is_object(object_get(object, "metadata", "annotations", NULL))) {
        return json_pack("[{s:s, s:s, s:s}]", "op", "add", "path", NAME_CREATED_BY_POINTER, "value",
                         stamp);
    }
    return json_pack("[{s:s, s:s, s:{s:s}}]", "op", "add", "path", "/metadata/annotations", "value",
                     NAME_CREATED_BY, stamp);
}

json_t *admission_stamp(const struct admission *admission, const struct review *review)
{
    const bool is_change =
        strcmp(review->operation, "CREATE") == 0 || strcmp(review->operation, "UPDATE") == 0;
    if (namespaces_is_protected(admission->namespaces, review->namespace) || !is_change ||
        review->object == NULL || review->subresource[0] != '\0') {
        return pass(review);
    }
    char stamp[PEOPLE_NAME_BYTES];
    object_copy(stamp, stamp_of(review), sizeof stamp);
    const json_t *present =
        object_get(review->object, "metadata", "annotations", NAME_CREATED_BY, NULL);
    const char *text = json_string_value(present);
    const bool is_right =
        present == NULL ? stamp[0] == '\0' : text != NULL && strcmp(text, stamp) == 0;
    if (is_right) {
        return pass(review);
    }
    json_t *patch = stamp_patch(review->object, stamp, present != NULL);
    json_t *answer = review_patch(review, patch);
    json_decref(patch);
    counter_add(COUNTER_STAMPED, 1);
    return answer;
}
