/* What is to be done about a pod, from what is known of it and of its hold. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "clients/kubernetes/pod_record.h"

/* One letter a fact: p placed, e ended, g gated, G of a gating namespace, f frozen by the controller, c other end in the ledger. */
static struct pod_record record_of(const char *facts, enum pod_hold hold)
{
    struct pod_record record = {.hold = hold, .rules = {.mode = NAMESPACE_ENFORCE}};
    record.facts.placed = strchr(facts, 'p') != NULL;
    record.facts.end.at_s = strchr(facts, 'e') != NULL ? 1000 : 0;
    record.facts.gated = strchr(facts, 'g') != NULL;
    record.frozen_here = strchr(facts, 'f') != NULL;
    record.conflict = strchr(facts, 'c') != NULL;
    if (strchr(facts, 'G') != NULL) {
        record.rules.mode = NAMESPACE_GATE;
    }
    return record;
}

Test(pod_record, has_one_next_step_for_everything_that_may_be_known)
{
    static const struct {
        const char *facts;
        enum pod_hold hold;
        enum pod_step step;
    } cases[] = {
        {"", POD_HOLD_UNKNOWN, POD_STEP_BIND},       {"p", POD_HOLD_UNKNOWN, POD_STEP_BIND},
        {"pe", POD_HOLD_UNKNOWN, POD_STEP_BIND},     {"gG", POD_HOLD_UNKNOWN, POD_STEP_FREEZE},
        {"gGf", POD_HOLD_UNKNOWN, POD_STEP_BIND},    {"gGe", POD_HOLD_UNKNOWN, POD_STEP_BIND},
        {"g", POD_HOLD_UNKNOWN, POD_STEP_BIND},      {"", POD_HOLD_NONE, POD_STEP_NONE},
        {"p", POD_HOLD_NONE, POD_STEP_NONE},         {"pe", POD_HOLD_NONE, POD_STEP_CHARGE},
        {"e", POD_HOLD_NONE, POD_STEP_NONE},         {"gG", POD_HOLD_NONE, POD_STEP_FREEZE},
        {"g", POD_HOLD_WAITING, POD_STEP_NONE},      {"e", POD_HOLD_WAITING, POD_STEP_RELEASE},
        {"p", POD_HOLD_WAITING, POD_STEP_START},     {"pe", POD_HOLD_WAITING, POD_STEP_SETTLE},
        {"", POD_HOLD_FROZEN, POD_STEP_NONE},        {"g", POD_HOLD_FROZEN, POD_STEP_LIFT},
        {"p", POD_HOLD_FROZEN, POD_STEP_START},      {"e", POD_HOLD_FROZEN, POD_STEP_RELEASE},
        {"ge", POD_HOLD_FROZEN, POD_STEP_RELEASE},   {"pe", POD_HOLD_FROZEN, POD_STEP_SETTLE},
        {"p", POD_HOLD_RUNNING, POD_STEP_NONE},      {"pe", POD_HOLD_RUNNING, POD_STEP_SETTLE},
        {"pec", POD_HOLD_RUNNING, POD_STEP_CORRECT}, {"pe", POD_HOLD_SETTLED, POD_STEP_NONE},
        {"e", POD_HOLD_FREED, POD_STEP_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct pod_record record = record_of(cases[i].facts, cases[i].hold);
        cr_expect_eq(pod_record_step(&record), cases[i].step,
                     "\"%s\" with hold %d: step %d, not %d", cases[i].facts, (int)cases[i].hold,
                     (int)pod_record_step(&record), (int)cases[i].step);
    }
}

Test(pod_record, is_forgotten_only_when_the_pod_is_gone_and_the_ledger_has_all_of_it)
{
    for (int hold = POD_HOLD_UNKNOWN; hold <= POD_HOLD_FREED; hold++) {
        struct pod_record record = record_of("pe", (enum pod_hold)hold);
        cr_expect_not(pod_record_is_done(&record), "hold %d, not gone", hold);
        record.gone = true;
        const bool has_all = hold == POD_HOLD_SETTLED || hold == POD_HOLD_FREED;
        cr_expect_eq(pod_record_is_done(&record), has_all, "hold %d", hold);
    }
    struct pod_record never = record_of("e", POD_HOLD_NONE);
    never.gone = true;
    cr_expect(pod_record_is_done(&never), "never placed and never frozen");
}

Test(pod_record, does_not_charge_what_ended_before_its_namespace_took_part)
{
    struct pod_record record = record_of("pe", POD_HOLD_NONE);
    record.rules.since_s = record.facts.end.at_s;
    cr_expect_eq(pod_record_step(&record), POD_STEP_CHARGE);
    record.rules.since_s++;
    cr_expect_eq(pod_record_step(&record), POD_STEP_NONE);
}

Test(pod_store, finds_all_of_many_pods_and_none_that_were_removed)
{
    struct pod_store store;
    char uid[32];
    cr_assert(pod_store_init(&store));
    for (int i = 0; i < 10000; i++) {
        snprintf(uid, sizeof uid, "uid-%d", i);
        cr_assert_not_null(pod_store_add(&store, uid));
    }
    for (int i = 0; i < 10000; i += 2) {
        snprintf(uid, sizeof uid, "uid-%d", i);
        pod_store_remove(&store, pod_store_find(&store, uid));
    }
    size_t walked = 0;
    for (struct pod_record *record = pod_store_next(&store, NULL); record != NULL;
         record = pod_store_next(&store, record)) {
        walked++;
    }
    cr_expect_eq(walked, 5000);
    cr_expect_eq(store.count, 5000);
    for (int i = 0; i < 10000; i++) {
        snprintf(uid, sizeof uid, "uid-%d", i);
        cr_assert_eq(pod_store_find(&store, uid) != NULL, i % 2 == 1);
    }
    pod_store_fini(&store);
}
