/* The life of a pod: when it began, when and how it ended, and how that is known. */
#include <string.h>

#include <criterion/criterion.h>

#include "clients/kubernetes/pod_facts.h"

#define NOW       INT64_C(1796058600)              /* 2026-11-30T17:10:00Z */
#define MINUTE(m) (INT64_C(1796058000) + 60 * (m)) /* 17:0m:00 */

static struct resource_table *table;

static void table_make(void)
{
    char problem[RESOURCE_PROBLEM_BYTES];
    cr_assert(resource_table_read(NULL, 0, &table, problem, sizeof problem), "%s", problem);
}

static void table_drop(void)
{
    resource_table_destroy(table);
}

TestSuite(pod_facts, .init = table_make, .fini = table_drop);

/* A pod with a container `gpu` that has an accelerator and `side` that has none; metadata, spec and status as given. */
static struct pod_facts read_pod(const char *metadata,
                                 const char *spec,
                                 const char *status,
                                 bool deleted)
{
    char text[4096];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"uid\":\"u-1\",\"name\":\"p\",\"namespace\":\"n\","
             "\"creationTimestamp\":\"2026-11-30T17:00:00Z\"%s},"
             "\"spec\":{\"nodeName\":\"node-1\",\"containers\":["
             "{\"name\":\"gpu\",\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"1\"}}},"
             "{\"name\":\"side\",\"resources\":{}}]%s},\"status\":{%s}}",
             metadata, spec, status);
    json_error_t where;
    json_t *pod = json_loads(text, 0, &where);
    cr_assert_not_null(pod, "%s: %s", where.text, text);
    struct pod_facts facts = {.uid = ""};
    cr_assert(pod_facts_read(pod, table, deleted, NOW, &facts));
    json_decref(pod);
    return facts;
}

#define SCHEDULED \
    "\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"True\",\"lastTransitionTime\":\"2026-11-30T17:01:00Z\"}]"
#define ENDED(name, when)                                                                \
    "{\"name\":\"" name                                                                  \
    "\",\"state\":{\"terminated\":{\"exitCode\":0,\"finishedAt\":\"2026-11-30T17:0" when \
    ":00Z\"}}}"
#define RUNS(name) "{\"name\":\"" name "\",\"state\":{\"running\":{}}}"
#define DELETED_AT(when, grace) \
    ",\"deletionTimestamp\":\"2026-11-30T17:0" when ":00Z\",\"deletionGracePeriodSeconds\":" grace

Test(pod_facts, end_by_the_best_evidence)
{
    static const struct {
        const char *name;
        const char *metadata;
        const char *spec;
        const char *status;
        bool deleted;
        int64_t at_s;
        enum pod_evidence evidence;
        const char *outcome;
    } cases[] = {
        {"runs", "", "", "\"phase\":\"Running\"," SCHEDULED, false, 0, EVIDENCE_CONTAINERS, NULL},
        {"its last accelerator container counts, not the sidecar", "",
         ",\"restartPolicy\":\"Never\"",
         "\"phase\":\"Succeeded\",\"containerStatuses\":[" ENDED("gpu", "4") "," ENDED("side",
                                                                                       "9") "]",
         false, MINUTE(4), EVIDENCE_CONTAINERS, "completed"},
        {"ended although a sidecar goes on", "", ",\"restartPolicy\":\"Never\"",
         "\"phase\":\"Running\",\"containerStatuses\":[" ENDED("gpu", "4") "," RUNS("side") "]",
         false, MINUTE(4), EVIDENCE_CONTAINERS, "completed"},
        {"will be started again", "", ",\"restartPolicy\":\"Always\"",
         "\"phase\":\"Running\",\"containerStatuses\":[" ENDED("gpu", "4") "," RUNS("side") "]",
         false, 0, EVIDENCE_CONTAINERS, NULL},
        {"a grace in the future ends nothing", DELETED_AT("9", "30"), "",
         "\"phase\":\"Running\"," SCHEDULED, false, 0, EVIDENCE_CONTAINERS, NULL},
        {"deleted by force", DELETED_AT("6", "0"), "", "\"phase\":\"Running\"," SCHEDULED, true,
         MINUTE(6), EVIDENCE_DELETION, "cancelled"},
        {"vanished without any time", "", "", "\"phase\":\"Running\"," SCHEDULED, true, NOW,
         EVIDENCE_RECEIPT, "cancelled"},
        {"evicted, and its containers forgotten",
         ",\"managedFields\":[{\"time\":\"2026-11-30T17:05:00Z\",\"fieldsV1\":{\"f:status\":{\"f:phase\":{}}}}]",
         "", "\"phase\":\"Failed\",\"reason\":\"Evicted\"", false, MINUTE(5), EVIDENCE_STATUS,
         "preempted"},
        {"disrupted", "", "",
         "\"phase\":\"Failed\",\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\","
         "\"reason\":\"PreemptionByScheduler\",\"lastTransitionTime\":\"2026-11-30T17:03:00Z\"}]",
         false, MINUTE(3), EVIDENCE_DISRUPTED, "preempted"},
        {"tidied up after it failed", DELETED_AT("8", "0"), "",
         "\"phase\":\"Failed\",\"containerStatuses\":[" ENDED("gpu", "4") "]", true, MINUTE(4),
         EVIDENCE_CONTAINERS, "failed"},
        {"failed because it was deleted", DELETED_AT("4", "30"), "",
         "\"phase\":\"Failed\",\"containerStatuses\":[" ENDED("gpu", "4") "]", false, MINUTE(4),
         EVIDENCE_CONTAINERS, "cancelled"},
        {"past its deadline", "", "",
         "\"phase\":\"Failed\",\"reason\":\"DeadlineExceeded\",\"containerStatuses\":[" ENDED(
             "gpu", "4") "]",
         false, MINUTE(4), EVIDENCE_CONTAINERS, "deadline"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pod_facts facts =
            read_pod(cases[i].metadata, cases[i].spec, cases[i].status, cases[i].deleted);
        cr_expect_eq(facts.end.at_s, cases[i].at_s, "%s: ended at %lld, not %lld", cases[i].name,
                     (long long)facts.end.at_s, (long long)cases[i].at_s);
        if (cases[i].at_s > 0) {
            cr_expect_eq(facts.end.evidence, cases[i].evidence, "%s: %s", cases[i].name,
                         pod_evidence_name(facts.end.evidence));
            cr_expect_str_eq(facts.end.outcome, cases[i].outcome, "%s: %s", cases[i].name,
                             facts.end.outcome);
        }
    }
}

Test(pod_facts, keep_what_a_later_state_has_forgotten)
{
    static const char *const states[] = {
        "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"nodeName\":\"a\"},\"status\":{\"phase\":\"Running\"," SCHEDULED
        "}}",
        "{\"metadata\":{\"uid\":\"u\"},\"spec\":{\"nodeName\":\"a\"},\"status\":{\"phase\":\"Failed\"}}",
    };
    struct pod_facts facts = {.uid = ""};
    for (size_t i = 0; i < 2; i++) {
        json_t *pod = json_loads(states[i], 0, NULL);
        cr_assert(pod_facts_read(pod, table, false, NOW, &facts));
        json_decref(pod);
    }
    cr_expect_eq(facts.scheduled_s, MINUTE(1));
    cr_expect_eq(facts.end.at_s, NOW);
}

Test(pod_facts, let_better_evidence_replace_an_end_and_no_worse_one)
{
    struct pod_facts facts =
        read_pod(DELETED_AT("6", "0"), "", "\"phase\":\"Running\"," SCHEDULED, true);
    cr_expect_eq(facts.end.evidence, EVIDENCE_DELETION);
    json_t *pod =
        json_pack("{s:{s:s}, s:{s:[{s:s, s:{s:{s:s}}}]}, s:{s:s, s:[{s:s, s:{s:{s:s}}}]}}",
                  "metadata", "uid", "u-1", "spec", "containers", "name", "gpu", "resources",
                  "limits", "nvidia.com/gpu", "1", "status", "phase", "Failed", "containerStatuses",
                  "name", "gpu", "state", "terminated", "finishedAt", "2026-11-30T17:05:00Z");
    cr_assert(pod_facts_read(pod, table, false, NOW, &facts));
    json_decref(pod);
    cr_expect_eq(facts.end.at_s, MINUTE(5));
    cr_expect_eq(facts.end.evidence, EVIDENCE_CONTAINERS);
}
