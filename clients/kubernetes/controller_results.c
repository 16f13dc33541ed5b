/* What the ledger's answers mean for a record: see controller.h. */
#include <stdio.h>
#include <string.h>

#include "clients/clock.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/commands.h"
#include "clients/kubernetes/controller_parts.h"
#include "clients/kubernetes/counters.h"
#include "clients/kubernetes/object.h"
#include "clients/kubernetes/spool.h"
#include "clients/units.h"

enum {
    RETRY_FIRST_MS = 500,
    RETRY_LAST_MS = 30000,
    REFUSED_FIRST_MS = 15000, /* a refusal for quota: the world has to change */
    REFUSED_LAST_MS = 60000,
};

/* A state of a hold -> what the record takes it for. An expired or released hold is frozen again by the next start. */
static const struct {
    const char *state;
    enum pod_hold hold;
} states[] = {
    {"waiting", POD_HOLD_WAITING},   {"frozen", POD_HOLD_FROZEN},   {"running", POD_HOLD_RUNNING},
    {"suspended", POD_HOLD_RUNNING}, {"settled", POD_HOLD_SETTLED}, {"released", POD_HOLD_FROZEN},
    {"expired", POD_HOLD_FROZEN},
};

void controller_retry(struct pod_record *record, int64_t first_ms, int64_t last_ms)
{
    const unsigned doublings = record->failures < 10 ? record->failures : 10;
    const int64_t wait_ms = first_ms << doublings;
    record->failures++;
    record->retry_ms = client_clock_mono_ms() + (wait_ms < last_ms ? wait_ms : last_ms);
}

void controller_tell(struct pod_record *record,
                     const char *type,
                     const char *reason,
                     const char *message,
                     struct controller_told *ret_told)
{
    uint32_t said = 2166136261u;
    for (const char *byte = message; *byte != '\0'; byte++) {
        said = (said ^ (unsigned char)*byte) * 16777619u;
    }
    if (said == record->said) {
        return;
    }
    record->said = said;
    ret_told->facts = record->facts;
    ret_told->type = type;
    ret_told->reason = reason;
    object_copy(ret_told->message, message, sizeof ret_told->message);
}

static bool is_code(const json_t *body, const char *code)
{
    return strcmp(object_text(body, "code", NULL), code) == 0;
}

static void log_refusal(const struct pod_record *record, const char *step, const json_t *body)
{
    agent_log("warning", "ledger_refused", "step", step, "namespace", record->facts.namespace,
              "pod", record->facts.name, "uid", record->facts.uid, "code",
              object_text(body, "code", NULL), "detail", object_text(body, "detail", NULL), NULL);
}

/* ---- one function a step. Each has status and body of a whole answer. */

struct answer {
    struct controller *controller;
    struct pod_record *record;
    int status;
    const json_t *body;
    struct controller_told *told;
};

static bool is_yes(const struct answer *answer)
{
    return answer->status >= 200 && answer->status < 300;
}

static void hold_from_state(const struct answer *answer)
{
    struct pod_record *record = answer->record;
    const char *state = object_text(answer->body, "state", NULL);
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (strcmp(states[i].state, state) == 0) {
            record->hold = states[i].hold;
        }
    }
    /* Settled before this record was made. Whoever knows when its containers ended makes sure that it is the same end. */
    const bool weak =
        record->facts.end.at_s > 0 && record->facts.end.evidence != EVIDENCE_CONTAINERS;
    if (record->hold == POD_HOLD_SETTLED && !weak) {
        record->hold = POD_HOLD_RUNNING;
    }
}

static void unheld(const struct answer *answer)
{
    answer->record->hold = POD_HOLD_NONE;
    answer->record->frozen_here = false;
}

static void told_settled(const struct answer *answer, const char *event)
{
    struct pod_record *record = answer->record;
    char ended[COREHOUR_UNITS_TEXT_BYTES];
    char amount[COREHOUR_UNITS_TEXT_BYTES];
    char message[256];
    const json_t *mcs = object_get(answer->body, "charged_mcs", NULL);
    corehour_time_format(record->facts.end.at_s, ended);
    corehour_amount_format(json_integer_value(mcs), amount);
    const char *evidence = pod_evidence_name(record->facts.end.evidence);
    record->hold = POD_HOLD_SETTLED;
    counter_add(COUNTER_SETTLED, 1);
    agent_log("info", event, "namespace", record->facts.namespace, "pod", record->facts.name, "uid",
              record->facts.uid, "ended", ended, "outcome", record->facts.end.outcome, "evidence",
              evidence, "core_hours", amount, NULL);
    (void)snprintf(message, sizeof message, "%s core-hours charged; ended %s (%s)", amount, ended,
                   evidence);
    controller_tell(record, "Normal", "CorehourSettled", message, answer->told);
}

static void on_freeze(const struct answer *answer)
{
    struct pod_record *record = answer->record;
    const char *state = object_text(answer->body, "state", NULL);
    const char *detail = object_text(answer->body, "detail", NULL);
    if (is_yes(answer) || is_code(answer->body, "id_reused")) {
        record->frozen_here = true;
        record->hold = POD_HOLD_UNKNOWN;
        if (strcmp(state, "waiting") == 0) {
            controller_tell(record, "Normal", "CorehourWaiting",
                            "waits for room: its core-hours are frozen as soon as they are there",
                            answer->told);
        }
        return;
    }
    controller_tell(
        record, "Warning",
        is_code(answer->body, "quota_insufficient") ? "CorehourInsufficient" : "CorehourRefused",
        detail[0] == '\0' ? object_text(answer->body, "title", NULL) : detail, answer->told);
    controller_retry(record, REFUSED_FIRST_MS, REFUSED_LAST_MS);
}

static void on_bind(const struct answer *answer)
{
    if (is_yes(answer)) {
        hold_from_state(answer);
    } else if (is_code(answer->body, "unknown_hold")) {
        unheld(answer);
    } else {
        log_refusal(answer->record, "bind", answer->body);
        controller_retry(answer->record, REFUSED_FIRST_MS, REFUSED_LAST_MS);
    }
}

static void on_start(const struct answer *answer)
{
    if (is_yes(answer)) {
        answer->record->hold = POD_HOLD_RUNNING;
    } else if (is_code(answer->body, "unknown_hold")) {
        unheld(answer);
    } else {
        log_refusal(answer->record, "start", answer->body);
        controller_retry(answer->record, REFUSED_FIRST_MS, REFUSED_LAST_MS);
    }
}

static void on_settle(const struct answer *answer)
{
    struct pod_record *record = answer->record;
    if (is_yes(answer)) {
        told_settled(answer, "settled");
    } else if (is_code(answer->body, "unknown_hold")) {
        unheld(answer);
    } else if (is_code(answer->body, "run_conflict")) {
        record->conflict = record->facts.end.evidence == EVIDENCE_CONTAINERS;
        record->hold = record->conflict ? POD_HOLD_RUNNING : POD_HOLD_SETTLED;
    } else if (answer->status == 422 && !record->start_known &&
               is_code(answer->body, "invalid_field")) {
        record->start_known = true; /* the ledger has no start: ours is all there is */
    } else {
        log_refusal(record, "settle", answer->body);
        controller_retry(record, REFUSED_FIRST_MS, REFUSED_LAST_MS);
    }
}

static void on_correct(const struct answer *answer)
{
    if (is_yes(answer)) {
        told_settled(answer, "corrected");
        return;
    }
    log_refusal(answer->record, "correct", answer->body);
    answer->record->hold = POD_HOLD_SETTLED; /* the first end stays */
}

static void on_release(const struct answer *answer)
{
    if (!is_yes(answer) && !is_code(answer->body, "unknown_hold")) {
        log_refusal(answer->record, "release", answer->body);
    } else {
        agent_log("info", "released", "namespace", answer->record->facts.namespace, "pod",
                  answer->record->facts.name, "uid", answer->record->facts.uid, NULL);
    }
    answer->record->hold = POD_HOLD_FREED;
}

static void on_charge(const struct answer *answer)
{
    struct pod_record *record = answer->record;
    if (is_yes(answer)) {
        told_settled(answer, "charged");
    } else if (is_code(answer->body, "id_reused")) {
        record->hold = POD_HOLD_UNKNOWN; /* it has a hold after all, or was charged before */
        controller_retry(record, RETRY_FIRST_MS, RETRY_LAST_MS);
    } else {
        log_refusal(record, "charge", answer->body);
        controller_retry(record, REFUSED_FIRST_MS, REFUSED_LAST_MS);
    }
}

void controller_result(struct controller *controller,
                       struct pod_record *record,
                       enum pod_step step,
                       int status,
                       const json_t *body,
                       struct controller_told *ret_told)
{
    static void (*const handlers[])(const struct answer *answer) = {
        [POD_STEP_FREEZE] = on_freeze,   [POD_STEP_BIND] = on_bind,
        [POD_STEP_START] = on_start,     [POD_STEP_SETTLE] = on_settle,
        [POD_STEP_CORRECT] = on_correct, [POD_STEP_RELEASE] = on_release,
        [POD_STEP_CHARGE] = on_charge,   [POD_STEP_LIFT] = NULL,
    };
    const struct answer answer = {.controller = controller,
                                  .record = record,
                                  .status = status,
                                  .body = body,
                                  .told = ret_told};
    ret_told->type = NULL;
    if (handlers[step] == NULL) {
        return;
    }
    if (status >= 500 || status == 401 || status == 403 || status == 429 || status == 0) {
        controller_retry(record, RETRY_FIRST_MS, RETRY_LAST_MS);
        return;
    }
    const unsigned failures = record->failures;
    handlers[step](&answer);
    if (record->failures == failures) {
        record->failures = 0;
        record->retry_ms = 0;
    }
    if (record->hold == POD_HOLD_SETTLED || record->hold == POD_HOLD_FREED) {
        spool_drop(controller->config->spool_dir.text, record);
    }
}
