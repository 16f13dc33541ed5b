/*
 * Kueue's Workloads: which step follows from which object, what is told to Kueue, what is refused. The objects are constructed by the
 * published CRDs, not recorded. What the commands do in a ledger is tried in tests/system/test_pod_prices.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "clients/kubernetes/kueue.h"

enum { NOW_S = 1800000000 };

static struct resource_table *table;
static json_t *checks;

static void setup(void)
{
    char problem[RESOURCE_PROBLEM_BYTES];
    cr_assert(resource_table_read(NULL, 0, &table, problem, sizeof problem));
    checks = json_pack("[s, s]", "corehour", "corehour-2");
}

static void teardown(void)
{
    resource_table_destroy(table);
    json_decref(checks);
}

TestSuite(kueue, .init = setup, .fini = teardown);

/* A Workload of @count pods with a GPU each. @conditions: "type=status/reason", apart by blanks, one a minute from 2027 on. */
static json_t *workload_of(const char *conditions, const char *state, int count)
{
    char text[400];
    snprintf(text, sizeof text, "%s", conditions);
    json_t *list = json_array();
    char *rest = NULL;
    int minute = 0;
    for (char *word = strtok_r(text, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char when[40];
        char *status = strchr(word, '=');
        char *reason = strchr(word, '/');
        *status = '\0';
        *reason = '\0';
        snprintf(when, sizeof when, "2027-01-01T00:%02d:00Z", minute++);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s}", "type", word, "status",
                                              status + 1, "reason", reason + 1, "message", "",
                                              "lastTransitionTime", when));
    }
    json_t *template = json_pack("{s:{s:[{s:s, s:{s:{s:s}}}]}}", "spec", "containers", "name",
                                 "main", "resources", "limits", "nvidia.com/gpu", "1");
    return json_pack(
        "{s:s, s:{s:s, s:s, s:s, s:s}, s:{s:[{s:s, s:i, s:o}]}, s:{s:o, s:[{s:s, s:s, s:s}, {s:s, s:s, s:s, s:i}]}}",
        "kind", "Workload", "metadata", "name", "w", "namespace", "team-a", "uid", "u-1",
        "resourceVersion", "7", "spec", "podSets", "name", "main", "count", count, "template",
        template, "status", "conditions", list, "admissionChecks", "name", "other", "state",
        "Ready", "message", "", "name", "corehour", "state", state, "message", "",
        "requeueAfterSeconds", 5);
}

static struct kueue_workload read_of(json_t *workload, bool deleted)
{
    struct kueue_workload facts;
    char problem[KUEUE_MESSAGE_BYTES];
    cr_assert(kueue_read(workload, checks, deleted, NOW_S, &facts, problem), "%s", problem);
    cr_assert_str_eq(problem, "");
    return facts;
}

Test(kueue, takes_the_step_that_the_object_says)
{
    static const struct {
        const char *conditions;
        const char *state;
        bool deleted;
        enum kueue_step step;
        const char *outcome;
    } cases[] = {
        {"", "Pending", false, KUEUE_NOTHING, ""},
        {"QuotaReserved=False/WaitingForQuota", "Pending", false, KUEUE_END, "cancelled"},
        {"QuotaReserved=True/QuotaReserved", "Pending", false, KUEUE_FREEZE, ""},
        {"QuotaReserved=True/QuotaReserved", "Ready", false, KUEUE_NOTHING, ""},
        {"QuotaReserved=True/QuotaReserved", "Retry", false, KUEUE_NOTHING, ""},
        {"QuotaReserved=True/QuotaReserved", "Rejected", false, KUEUE_NOTHING, ""},
        {"QuotaReserved=True/A Admitted=False/B", "Ready", false, KUEUE_NOTHING, ""},
        {"QuotaReserved=True/A Admitted=True/B", "Ready", false, KUEUE_START, ""},
        {"QuotaReserved=True/A Admitted=True/B Evicted=False/QuotaReserved", "Ready", false,
         KUEUE_START, ""},
        {"QuotaReserved=True/A Admitted=True/B", "Ready", true, KUEUE_END, "cancelled"},
        {"QuotaReserved=True/A Admitted=True/B Evicted=True/Preempted", "Ready", false, KUEUE_END,
         "preempted"},
        {"QuotaReserved=True/A Admitted=True/B Evicted=True/PodsReadyTimeout", "Ready", false,
         KUEUE_END, "timeout"},
        {"QuotaReserved=True/A Admitted=True/B Evicted=True/Deactivated", "Ready", false, KUEUE_END,
         "cancelled"},
        {"QuotaReserved=True/A Admitted=True/B Evicted=True/NodeFailures", "Ready", false,
         KUEUE_END, "node_fail"},
        {"QuotaReserved=True/A Admitted=True/B Finished=True/Succeeded", "Ready", false, KUEUE_END,
         "completed"},
        {"QuotaReserved=True/A Admitted=True/B Finished=True/Failed", "Ready", false, KUEUE_END,
         "failed"},
        {"QuotaReserved=True/A Admitted=True/B Finished=True/OutOfSync", "Ready", false, KUEUE_END,
         "other"},
        {"QuotaReserved=False/A Admitted=False/B Evicted=True/AdmissionCheck", "Pending", false,
         KUEUE_END, "cancelled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *workload = workload_of(cases[i].conditions, cases[i].state, 1);
        const struct kueue_workload facts = read_of(workload, cases[i].deleted);
        cr_expect_eq(facts.step, cases[i].step, "%s %s", cases[i].conditions, cases[i].state);
        cr_expect_str_eq(facts.outcome, cases[i].outcome, "%s", cases[i].conditions);
        cr_expect_eq(facts.check_at, 1);
        json_decref(workload);
    }
}

Test(kueue, leaves_workloads_alone_that_have_no_check_of_ours)
{
    json_t *workload = workload_of("QuotaReserved=True/A", "Pending", 1);
    json_array_remove(json_object_get(json_object_get(workload, "status"), "admissionChecks"), 1);
    const struct kueue_workload facts = read_of(workload, false);
    cr_assert_null(facts.check);
    cr_assert_eq(facts.step, KUEUE_NOTHING);
    json_decref(workload);
}

Test(kueue, does_a_step_once)
{
    struct kueue_memory memory = {0};
    json_t *reserved = workload_of("QuotaReserved=True/A", "Pending", 2);
    json_t *admitted = workload_of("QuotaReserved=True/A Admitted=True/B", "Ready", 2);
    json_t *finished =
        workload_of("QuotaReserved=True/A Admitted=True/B Finished=True/Succeeded", "Ready", 2);
    json_t *waiting = workload_of("", "Pending", 2);
    json_t *const order[] = {waiting, reserved, reserved, admitted, admitted, finished, finished};
    static const bool news[] = {false, true, false, true, false, true, false};
    for (size_t i = 0; i < sizeof news / sizeof news[0]; i++) {
        const struct kueue_workload facts = read_of(order[i], false);
        cr_expect_eq(kueue_is_news(&facts, &memory), news[i], "%zu", i);
    }
    json_object_set_new(json_object_get(admitted, "status"), "reclaimablePods",
                        json_pack("[{s:s, s:i}]", "name", "main", "count", 1));
    struct kueue_workload facts = read_of(admitted, false);
    cr_assert(kueue_is_news(&facts, &memory), "a pod that is done is news");
    cr_assert_not(kueue_is_news(&facts, &memory));
    json_decref(reserved);
    json_decref(admitted);
    json_decref(finished);
    json_decref(waiting);
}

Test(kueue, refuses_what_is_no_workload_and_what_is_too_large)
{
    struct kueue_workload facts;
    char problem[KUEUE_MESSAGE_BYTES];
    json_t *empty = json_object();
    cr_assert_not(kueue_read(empty, checks, false, NOW_S, &facts, problem));
    cr_assert_str_eq(problem, "not a Workload");
    json_t *large = workload_of("QuotaReserved=True/A", "Pending", KUEUE_PODS_MAX + 1);
    cr_assert_not(kueue_read(large, checks, false, NOW_S, &facts, problem));
    cr_assert_str_eq(problem, "more than 4000 pods");
    cr_assert_str_eq(facts.check, "corehour");
    json_t *sets = json_object_get(json_object_get(large, "spec"), "podSets");
    while (json_array_size(sets) <= KUEUE_POD_SETS_MAX) {
        json_array_append_new(sets, json_object());
    }
    cr_assert_not(kueue_read(large, checks, false, NOW_S, &facts, problem));
    cr_assert_str_eq(problem, "more than 16 pod sets");
    json_decref(empty);
    json_decref(large);
}

static json_t *commands_of(json_t *workload, char *ret_problem)
{
    const struct kueue_context context = {"alpha", "team-a", "alice", table};
    const struct kueue_workload facts = read_of(workload, false);
    return kueue_commands(&facts, &context, NOW_S, ret_problem);
}

Test(kueue, says_which_pod_set_cannot_be_read)
{
    char problem[KUEUE_MESSAGE_BYTES];
    json_t *workload = workload_of("QuotaReserved=True/A", "Pending", 1);
    json_t *sets = json_object_get(json_object_get(workload, "spec"), "podSets");
    json_array_append_new(sets, json_pack("{s:s, s:i, s:{s:{s:[{s:s, s:{s:{s:s}}}]}}}", "name", "b",
                                          "count", 1, "template", "spec", "containers", "name", "c",
                                          "resources", "requests", "nvidia.com/gpu", "two"));
    cr_assert_null(commands_of(workload, problem));
    cr_assert_str_eq(problem, "pod set 1: container c: nvidia.com/gpu: \"two\" is not a quantity");
    json_decref(workload);
}

Test(kueue, asks_nothing_of_the_ledger_for_pods_without_accelerators)
{
    char problem[KUEUE_MESSAGE_BYTES];
    json_t *workload = workload_of("QuotaReserved=True/A", "Pending", 0);
    json_t *commands = commands_of(workload, problem);
    cr_assert_eq(json_array_size(commands), 0);
    json_decref(commands);
    json_decref(workload);
}

static struct kueue_verdict verdict_of(int status, const char *answers)
{
    struct kueue_verdict verdict;
    json_t *lines = answers == NULL ? NULL : json_loads(answers, 0, NULL);
    kueue_verdict_read(status, lines, NOW_S, &verdict);
    json_decref(lines);
    return verdict;
}

Test(kueue, makes_a_state_of_every_answer)
{
    static const struct {
        int status;
        const char *answers;
        enum kueue_state state;
        int64_t retry_after_s;
        const char *message;
    } cases[] = {
        {0, NULL, KUEUE_PENDING, 0, "the ledger does not answer; it is asked again"},
        {503, "{\"code\":\"unavailable\"}", KUEUE_PENDING, 0,
         "the ledger does not take the agent's question; see its log"},
        {401, "{\"code\":\"unauthenticated\"}", KUEUE_PENDING, 0,
         "the ledger does not take the agent's question; see its log"},
        {200, "[]", KUEUE_PENDING, 0, "the ledger does not take the agent's question; see its log"},
        {200, "[{\"status\":201,\"frozen_mcs\":4800000},{\"status\":200,\"frozen_mcs\":4800000}]",
         KUEUE_READY, 0, "1.33 core-hours are frozen"},
        {200,
         "[{\"status\":424,\"code\":\"rolled_back\"},{\"status\":409,\"code\":\"quota_insufficient\","
         "\"detail\":\"quota insufficient: 3\",\"earliest_at\":\"2027-01-15T08:10:00Z\"}]",
         KUEUE_RETRY, 600, "quota insufficient: 3"},
        {200,
         "[{\"status\":409,\"code\":\"quota_insufficient\",\"title\":\"no\",\"earliest_at\":null}]",
         KUEUE_RETRY, 60, "no"},
        {200,
         "[{\"status\":409,\"code\":\"quota_insufficient\",\"earliest_at\":\"2027-01-01T00:00:00Z\"}]",
         KUEUE_RETRY, KUEUE_RETRY_MIN_S, "quota_insufficient"},
        {200,
         "[{\"status\":409,\"code\":\"quota_insufficient\",\"earliest_at\":\"2030-01-01T00:00:00Z\"}]",
         KUEUE_RETRY, KUEUE_RETRY_MAX_S, "quota_insufficient"},
        {200, "[{\"status\":422,\"code\":\"unknown_account\",\"detail\":\"account x\"}]",
         KUEUE_REJECTED, 0, "account x"},
        {200, "[{\"status\":503,\"code\":\"overloaded\"}]", KUEUE_PENDING, 0,
         "the ledger is busy; it is asked again"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct kueue_verdict verdict = verdict_of(cases[i].status, cases[i].answers);
        cr_expect_eq(verdict.state, cases[i].state, "%zu", i);
        cr_expect_eq(verdict.retry_after_s, cases[i].retry_after_s, "%zu: %lld", i,
                     (long long)verdict.retry_after_s);
        cr_expect_str_eq(verdict.message, cases[i].message);
    }
}

Test(kueue, patches_its_own_check_of_the_object_that_it_read)
{
    json_t *workload = workload_of("QuotaReserved=True/A", "Pending", 1);
    const struct kueue_workload facts = read_of(workload, false);
    const struct kueue_verdict ready = {KUEUE_READY, 0, "1.33 core-hours are frozen"};
    json_t *patch = kueue_patch(workload, &facts, &ready, NOW_S);
    char *text = json_dumps(patch, JSON_COMPACT);
    cr_assert_str_eq(
        text,
        "[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},"
        "{\"op\":\"test\",\"path\":\"/status/admissionChecks/1/name\",\"value\":\"corehour\"},"
        "{\"op\":\"add\",\"path\":\"/status/admissionChecks/1/state\",\"value\":\"Ready\"},"
        "{\"op\":\"add\",\"path\":\"/status/admissionChecks/1/message\",\"value\":\"1.33 core-hours are frozen\"},"
        "{\"op\":\"add\",\"path\":\"/status/admissionChecks/1/lastTransitionTime\",\"value\":\"2027-01-15T08:00:00Z\"},"
        "{\"op\":\"remove\",\"path\":\"/status/admissionChecks/1/requeueAfterSeconds\"}]");
    free(text);
    json_decref(patch);
    json_decref(workload);
}

Test(kueue, says_once_that_the_controller_works)
{
    json_t *check = json_pack("{s:{s:i}, s:{s:[{s:s, s:s}]}}", "metadata", "generation", 3,
                              "status", "conditions", "type", "Other", "status", "True");
    json_t *patch = kueue_active_patch(check, NOW_S);
    const json_t *conditions = json_object_get(json_object_get(patch, "status"), "conditions");
    cr_assert_eq(json_array_size(conditions), 2);
    const json_t *active = json_array_get(conditions, 1);
    cr_assert_str_eq(json_string_value(json_object_get(active, "type")), "Active");
    cr_assert_str_eq(json_string_value(json_object_get(active, "status")), "True");
    cr_assert_eq(json_integer_value(json_object_get(active, "observedGeneration")), 3);
    cr_assert_eq(json_object_update(check, patch), 0);
    cr_assert_null(kueue_active_patch(check, NOW_S));
    json_decref(patch);
    json_decref(check);
}
