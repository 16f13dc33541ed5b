/* SPDX-License-Identifier: MIT
 *
 * The submit hook's questions: see gate.h. */
#include "clients/slurm/gate.h"

#include <inttypes.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "clients/client.h"
#include "clients/clock.h"
#include "clients/slurm/request.h"
#include "clients/slurm/spool.h"
#include "clients/units.h"
#include "clients/url.h"

enum {
    ANSWER_BYTES_MAX = 256 * 1024,
    WHY_BYTES = 200,
};

struct gate {
    struct slurm_config config;
    struct corehour_client *client;
    int64_t shut_until_ms; /* nothing is asked before: the breaker */
};

/* What came of a question. */
struct reply {
    struct corehour_answer answer; /* to be freed in every case */
    bool answered;       /* a decision of the daemon: 2xx, 409, 422, or 404 unknown_hold */
    char why[WHY_BYTES]; /* else why not, for people */
};

/* ---- making one ---- */

/* The host of a URL into a buffer; false when it is an IPv6 address, which needs no look-up, or no URL. */
static bool host_of(const char *url, char *ret_host, size_t size_bytes)
{
    const char *start = strstr(url, "://");
    if (start == NULL || start[3] == '[') {
        return false;
    }
    const size_t bytes = strcspn(start + 3, ":/");
    if (bytes == 0 || bytes >= size_bytes) {
        return false;
    }
    memcpy(ret_host, start + 3, bytes);
    ret_host[bytes] = '\0';
    return true;
}

/* Adds a numeric address to a list with commas, when there is room. */
static void address_add(const struct addrinfo *info, char *addresses, size_t size_bytes)
{
    char address[64];
    const size_t at = strlen(addresses);
    if (getnameinfo(info->ai_addr, info->ai_addrlen, address, sizeof address, NULL, 0,
                    NI_NUMERICHOST) == 0 &&
        at + strlen(address) + 2 <= size_bytes) {
        snprintf(addresses + at, size_bytes - at, "%s%s", at > 0 ? "," : "", address);
    }
}

/* All addresses of the URL's host: that the first of them is the one that answers is not said. They are connected to whatever
 * proxies the environment of slurmctld names. */
static bool addresses_find(const char *url,
                           char *ret_addresses,
                           size_t size_bytes,
                           struct slurm_config_error *ret_error)
{
    char host[SLURM_CONFIG_TEXT_BYTES];
    *ret_addresses = '\0';
    if (!host_of(url, host, sizeof host)) {
        return true;
    }
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    const int code = getaddrinfo(host, NULL, &hints, &list);
    if (code != 0) {
        snprintf(ret_error->detail, sizeof ret_error->detail, "url: %.200s: %s", host,
                 gai_strerror(code));
        return false;
    }
    for (const struct addrinfo *one = list; one != NULL; one = one->ai_next) {
        address_add(one, ret_addresses, size_bytes);
    }
    freeaddrinfo(list);
    return true;
}

bool gate_create(const struct slurm_config *config,
                 struct gate **ret_gate,
                 struct slurm_config_error *ret_error)
{
    char token[SLURM_CONFIG_TOKEN_BYTES];
    char addresses[512];
    struct corehour_error error;
    if (!slurm_config_token_read(config, token, ret_error) ||
        !addresses_find(config->url.text, addresses, sizeof addresses, ret_error)) {
        return false;
    }
    struct gate *gate = calloc(1, sizeof *gate);
    if (gate == NULL) {
        snprintf(ret_error->detail, sizeof ret_error->detail, "out of memory");
        return false;
    }
    gate->config = *config;
    const struct corehour_options options = {
        .url = config->url.text,
        .token = token,
        .language = config->language == SLURM_LANGUAGE_ZH ? "zh" : "en",
        .ca_file = config->ca_file.text[0] == '\0' ? NULL : config->ca_file.text,
        .agent = "corehour-slurm-submit",
        .address = addresses[0] == '\0' ? NULL : addresses,
        .deadline_ms = config->deadline_ms,
        .try_ms = config->deadline_ms,
        .connect_ms = config->deadline_ms,
        .tries_max = 1,
        .answer_bytes_max = ANSWER_BYTES_MAX,
    };
    if (corehour_client_create(&options, &gate->client, &error) != COREHOUR_OK) {
        snprintf(ret_error->detail, sizeof ret_error->detail, "url: %.300s", error.detail);
        free(gate);
        return false;
    }
    *ret_gate = gate;
    return true;
}

void gate_destroy(struct gate *gate)
{
    if (gate != NULL) {
        corehour_client_destroy(gate->client);
        free(gate);
    }
}

const struct slurm_config *gate_config(const struct gate *gate)
{
    return &gate->config;
}

/* ---- asking ---- */

static bool is_zh(const struct gate *gate)
{
    return gate->config.language == SLURM_LANGUAGE_ZH;
}

/* Whether an answer decides something. 401, 403, 5xx, a proxy's page and the like do not: no funds and no answer differ. */
static bool is_decision(const struct corehour_answer *answer)
{
    if (!json_is_object(answer->body)) {
        return false;
    }
    if (answer->status >= 200 && answer->status < 300) {
        return true;
    }
    const char *code = corehour_answer_code(answer);
    return *code != '\0' &&
           (answer->status == 409 || answer->status == 422 || strcmp(code, "unknown_hold") == 0);
}

/* After a question that cost much of the deadline for nothing, the next ones are not asked for a while. */
static void breaker_note(struct gate *gate, int64_t began_ms)
{
    const int64_t now_ms = client_clock_mono_ms();
    if ((now_ms - began_ms) * 2 >= gate->config.deadline_ms) {
        gate->shut_until_ms = now_ms + gate->config.breaker_s * 1000;
    }
}

static void ask(struct gate *gate,
                const struct corehour_request *question,
                int64_t end_ms,
                struct reply *ret_reply)
{
    struct corehour_request request = *question;
    struct corehour_error error;
    struct reply reply = {.answer = {.retry_after_s = -1}};
    const int64_t began_ms = client_clock_mono_ms();
    request.deadline_ms = end_ms - began_ms;
    request.try_ms = request.deadline_ms;
    if (began_ms < gate->shut_until_ms) {
        snprintf(reply.why, sizeof reply.why,
                 "it gave none a moment ago and is asked again in %" PRId64 " s",
                 (gate->shut_until_ms - began_ms + 999) / 1000);
    } else if (request.deadline_ms < 1) {
        snprintf(reply.why, sizeof reply.why, "the time was over before it could be asked");
    } else if (corehour_call(gate->client, &request, &reply.answer, &error) != COREHOUR_OK) {
        breaker_note(gate, began_ms);
        snprintf(reply.why, sizeof reply.why, "%.180s", error.detail);
    } else if (!is_decision(&reply.answer)) {
        snprintf(reply.why, sizeof reply.why, "it answered %d %.60s", reply.answer.status,
                 corehour_answer_code(&reply.answer));
    } else {
        reply.answered = true;
    }
    *ret_reply = reply;
}

static void ask_with_body(struct gate *gate,
                          const char *path,
                          const json_t *body,
                          int64_t end_ms,
                          struct reply *ret_reply)
{
    const struct corehour_request question = {.method = "POST", .path = path, .body = body};
    ask(gate, &question, end_ms, ret_reply);
}

/* ---- submissions ---- */

static const char *id_of(const json_t *body)
{
    const char *id = json_string_value(json_object_get(body, "id"));
    return id == NULL ? "" : id;
}

static const char *member_of(const json_t *body, const char *key)
{
    const char *text = json_string_value(json_object_get(body, key));
    return text == NULL ? "-" : text;
}

/* Names in a line of the log are the user's: nothing in them may begin a line of its own. */
static void controls_blank(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            *text = ' ';
        }
    }
}

__attribute__((format(printf, 4, 5))) static void decide(struct gate_decision *decision,
                                                         enum gate_verdict verdict,
                                                         const json_t *body,
                                                         const char *format,
                                                         ...)
{
    char what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    decision->verdict = verdict;
    snprintf(decision->log, sizeof decision->log, "user %.60s account %.60s hold %.64s: %s",
             member_of(body, "user"), member_of(body, "account"), id_of(body), what);
    controls_blank(decision->log);
}

static void comment_set(struct gate_decision *decision, const char *prefix, const char *id)
{
    snprintf(decision->comment, sizeof decision->comment, "corehour:%s%.64s", prefix, id);
}

static void let_through(struct gate *gate,
                        const json_t *body,
                        const char *why,
                        struct gate_decision *decision)
{
    char trouble[300] = "";
    const bool kept = spool_write(gate->config.spool_dir.text, body, client_clock_wall_ms() / 1000,
                                  trouble, sizeof trouble);
    decide(decision, GATE_PASS, body, "no answer (%.120s), let through%s%.150s", why,
           kept ? ", spooled" : ", NOT spooled: ", trouble);
    comment_set(decision, "open:", id_of(body));
    snprintf(decision->message, sizeof decision->message,
             is_zh(gate) ? "配额服务没有应答（%.180s）：作业放行，稍后计费"
                         : "the quota service gave no answer (%.180s): the job goes ahead and is "
                           "charged later",
             why);
}

void gate_submit_unasked(struct gate *gate,
                         const json_t *body,
                         const char *why,
                         struct gate_decision *ret_decision)
{
    struct gate_decision *decision = ret_decision;
    decision->comment[0] = decision->message[0] = decision->log[0] = '\0';
    if (gate->config.mode == SLURM_MODE_OBSERVE) {
        decide(decision, GATE_PASS, body, "observe: no answer (%.200s)", why);
        comment_set(decision, "observe", "");
        return;
    }
    if (gate->config.fail_policy == SLURM_FAIL_OPEN && body != NULL) {
        let_through(gate, body, why, decision);
        return;
    }
    decide(decision, GATE_NO_ANSWER, body, "no answer (%.200s), refused", why);
    snprintf(decision->message, sizeof decision->message,
             is_zh(gate)
                 ? "配额服务没有应答（%.180s）：暂不接受提交，请稍后再试"
                 : "the quota service gave no answer (%.180s): nothing is submitted without "
                   "one; please try again later",
             why);
}

/* Soft caps that the freeze went over, and what else the daemon wants known. */
static void warnings_write(const json_t *answer, struct gate_decision *decision)
{
    size_t i;
    json_t *warning;
    size_t at = strlen(decision->message);
    json_array_foreach(json_object_get(answer, "warnings"), i, warning)
    {
        const char *detail = json_string_value(json_object_get(warning, "detail"));
        const size_t room = sizeof decision->message - at;
        const int bytes = snprintf(decision->message + at, room, "%s%.300s", at > 0 ? "\n" : "",
                                   detail == NULL ? member_of(warning, "code") : detail);
        if (bytes < 0 || (size_t)bytes >= room) {
            decision->message[at] = '\0';
            return;
        }
        at += (size_t)bytes;
    }
}

static void accepted_to_wait(const struct gate *gate,
                             const json_t *body,
                             const json_t *answer,
                             struct gate_decision *decision)
{
    char amount[COREHOUR_UNITS_TEXT_BYTES];
    const json_t *waiting = json_object_get(answer, "waiting_mcs");
    corehour_amount_format((int64_t)json_integer_value(waiting), amount);
    decide(decision, GATE_WAIT, body, "waits for %s core-hours", amount);
    comment_set(decision, "", id_of(body));
    snprintf(decision->message, sizeof decision->message,
             is_zh(gate)
                 ? "作业排队等待%s核时的配额；有余额时自动开始"
                 : "the job waits for quota (%s core-hours) and starts by itself when there "
                   "is room",
             amount);
    warnings_write(answer, decision);
}

/* A 2xx answer must be about our hold, in a state that a freeze has. */
static bool is_about(const json_t *answer, const json_t *body, const char *state)
{
    return strcmp(member_of(answer, "id"), id_of(body)) == 0 &&
           strcmp(member_of(answer, "state"), state) == 0;
}

static void enforce(struct gate *gate,
                    const json_t *body,
                    const struct corehour_answer *answer,
                    struct gate_decision *decision)
{
    if (answer->status == 201 && is_about(answer->body, body, "frozen")) {
        decide(decision, GATE_PASS, body, "frozen");
        comment_set(decision, "", id_of(body));
        warnings_write(answer->body, decision);
    } else if (answer->status == 202 && is_about(answer->body, body, "waiting")) {
        accepted_to_wait(gate, body, answer->body, decision);
    } else if (answer->status >= 400) {
        decide(decision, GATE_REFUSE, body, "refused: %.200s", member_of(answer->body, "detail"));
        explain_problem(answer->body, is_zh(gate), decision->message);
    } else {
        gate_submit_unasked(gate, body, "its answer is not about this job", decision);
    }
}

static void observe(const json_t *body,
                    const struct corehour_answer *answer,
                    struct gate_decision *decision)
{
    const char *would = answer->status == 201   ? "would be frozen"
                        : answer->status == 202 ? "would wait"
                                                : "would be refused: ";
    decide(decision, GATE_PASS, body, "observe: %s%.200s", would,
           answer->status >= 400 ? member_of(answer->body, "detail") : "");
    comment_set(decision, "observe", "");
}

void gate_submit(struct gate *gate,
                 const json_t *body,
                 int64_t end_ms,
                 struct gate_decision *ret_decision)
{
    const bool observes = gate->config.mode == SLURM_MODE_OBSERVE;
    struct reply reply;
    ret_decision->comment[0] = ret_decision->message[0] = ret_decision->log[0] = '\0';
    ask_with_body(gate, observes ? "/v1/holds?dry_run=true" : "/v1/holds", body, end_ms, &reply);
    if (!reply.answered) {
        gate_submit_unasked(gate, body, reply.why, ret_decision);
    } else if (observes) {
        observe(body, &reply.answer, ret_decision);
    } else {
        enforce(gate, body, &reply.answer, ret_decision);
    }
    corehour_answer_fini(&reply.answer);
}

void gate_release(struct gate *gate, const char *const *ids, size_t count, int64_t end_ms)
{
    char lines[8192];
    size_t at = 0;
    struct reply reply;
    for (size_t i = 0; i < count && at + 256 < sizeof lines; i++) {
        at += (size_t)snprintf(lines + at, sizeof lines - at,
                               "{\"op\":\"release\",\"hold\":\"%.64s\",\"cluster\":\"%.64s\","
                               "\"reason\":\"sibling refused\"}\n",
                               ids[i], gate->config.cluster.text);
    }
    const struct corehour_request question = {.method = "POST",
                                              .path = "/v1/batch",
                                              .bytes = lines,
                                              .bytes_count = at,
                                              .content_type = "application/x-ndjson"};
    ask(gate, &question, end_ms, &reply);
    corehour_answer_fini(&reply.answer);
}

/* ---- changes of jobs ---- */

/* The change as log line and verdict. */
__attribute__((format(printf, 4, 5))) static void rule(struct gate_decision *decision,
                                                       enum gate_verdict verdict,
                                                       const struct gate_change *change,
                                                       const char *format,
                                                       ...)
{
    char what[300];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    decision->verdict = verdict;
    snprintf(decision->log, sizeof decision->log, "change of job %s: %s", change->job_id, what);
    controls_blank(decision->log);
}

static void rule_unasked(const struct gate *gate,
                         const struct gate_change *change,
                         const char *why,
                         struct gate_decision *decision)
{
    const bool open = gate->config.fail_policy == SLURM_FAIL_OPEN;
    rule(decision, open ? GATE_PASS : GATE_NO_ANSWER, change, "no answer (%.150s), %s", why,
         open ? "let through" : "refused");
}

/* The newest hold of the job, from a list; NULL when the daemon knows none. */
static const json_t *hold_of(const struct corehour_answer *answer)
{
    return json_array_get(json_object_get(answer->body, "items"), 0);
}

static void ask_for_hold(struct gate *gate,
                         const struct gate_change *change,
                         int64_t end_ms,
                         struct reply *ret_reply)
{
    char path[COREHOUR_URL_BYTES] = "/v1/holds";
    corehour_url_query(path, sizeof path, "cluster", gate->config.cluster.text);
    corehour_url_query(path, sizeof path, "job_id", change->job_id);
    const struct corehour_request question = {.method = "GET", .path = path};
    ask(gate, &question, end_ms, ret_reply);
}

/* Whether the throttle of an array would let more run at once than was counted at the freeze. */
static bool is_wider(const struct gate_change *change, const json_t *hold)
{
    const json_t *known = json_object_get(hold, "max_running");
    if (change->max_running == SLURM_UNSET || !json_is_integer(known)) {
        return false;
    }
    return change->max_running == 0 || change->max_running > json_integer_value(known);
}

/*
 * What can be said from the state of the hold alone. Returns false when it says nothing and the change must be frozen for.
 */
static bool rule_by_hold(const struct gate_change *change,
                         const json_t *hold,
                         struct gate_decision *decision)
{
    const char *state = member_of(hold, "state");
    const bool waits = strcmp(state, "waiting") == 0;
    const bool runs = strcmp(state, "running") == 0 || strcmp(state, "suspended") == 0;
    if (change->is_release && waits) {
        rule(decision, GATE_REFUSE, change, "refused: it waits for quota");
    } else if (is_wider(change, hold)) {
        rule(decision, GATE_REFUSE, change, "refused: more tasks at once than were counted");
    } else if (change->is_size && !runs) {
        rule(decision, GATE_REFUSE, change, "refused: another size is another submission");
    } else {
        return false;
    }
    return true;
}

/* Whether anything is left that the ledger must freeze for. */
static bool needs_freeze(const struct gate_change *change)
{
    return change->minutes != SLURM_UNSET || change->cores != SLURM_UNSET ||
           change->account != NULL || change->partition != NULL || change->qos != NULL;
}

static json_t *resize_body(const struct gate *gate,
                           const struct gate_change *change,
                           const json_t *hold)
{
    json_t *body = json_object();
    json_t *job = json_object();
    json_object_set_new(body, "cluster", json_string(gate->config.cluster.text));
    if (change->minutes != SLURM_UNSET) {
        json_object_set_new(body, "time_limit_s", json_integer(change->minutes * 60));
    }
    if (change->account != NULL) {
        json_object_set_new(body, "account", json_string(change->account));
    }
    json_t *resources = json_object_get(hold, "resources");
    if (change->cores != SLURM_UNSET && json_is_object(resources)) {
        json_t *changed = json_copy(resources);
        json_object_set_new(changed, "cores", json_integer(change->cores));
        json_object_set_new(body, "resources", changed);
    }
    json_object_update(job, json_object_get(hold, "job"));
    if (change->partition != NULL) {
        json_object_set_new(job, "partition", json_string(change->partition));
    }
    if (change->qos != NULL) {
        json_object_set_new(job, "qos", json_string(change->qos));
    }
    if (change->partition != NULL || change->qos != NULL) {
        json_object_set(body, "job", job);
    }
    json_decref(job);
    return body;
}

static void freeze_difference(struct gate *gate,
                              const struct gate_change *change,
                              const json_t *hold,
                              int64_t end_ms,
                              struct gate_decision *decision)
{
    char path[COREHOUR_URL_BYTES] = "/v1/holds";
    struct reply reply;
    corehour_url_segment(path, sizeof path, member_of(hold, "id"));
    corehour_url_append(path, sizeof path, "/resize");
    json_t *body = resize_body(gate, change, hold);
    ask_with_body(gate, path, body, end_ms, &reply);
    json_decref(body);
    if (!reply.answered) {
        rule_unasked(gate, change, reply.why, decision);
    } else if (reply.answer.status < 300) {
        rule(decision, GATE_PASS, change, "frozen for");
    } else {
        rule(decision, GATE_REFUSE, change, "refused: %.250s",
             member_of(reply.answer.body, "detail"));
        explain_problem(reply.answer.body, is_zh(gate), decision->message);
    }
    corehour_answer_fini(&reply.answer);
}

/* Whether one of these holds has not been tied to a job yet. */
static bool any_unbound(const json_t *holds)
{
    size_t i;
    json_t *hold;
    json_array_foreach(holds, i, hold)
    {
        if (!json_is_string(json_object_get(hold, "job_id"))) {
            return true;
        }
    }
    return false;
}

/* The job may be one that waits for quota and that the agent has not told of: then its owner has a waiting hold without a job. */
static bool rule_unbound_release(struct gate *gate,
                                 const struct gate_change *change,
                                 int64_t end_ms,
                                 struct gate_decision *decision)
{
    char path[COREHOUR_URL_BYTES] = "/v1/holds?state=waiting&page_size=100";
    struct reply reply;
    if (change->user[0] == '\0') {
        rule_unasked(gate, change, "the user's name was not found in time", decision);
        return true;
    }
    corehour_url_query(path, sizeof path, "cluster", gate->config.cluster.text);
    corehour_url_query(path, sizeof path, "user", change->user);
    const struct corehour_request question = {.method = "GET", .path = path};
    ask(gate, &question, end_ms, &reply);
    const bool waits = reply.answered && any_unbound(json_object_get(reply.answer.body, "items"));
    if (!reply.answered) {
        rule_unasked(gate, change, reply.why, decision);
    } else if (waits) {
        rule(decision, GATE_REFUSE, change, "refused: a job of %.64s waits for quota",
             change->user);
    }
    const bool ruled = waits || !reply.answered;
    corehour_answer_fini(&reply.answer);
    return ruled;
}

/* A job of which the daemon knows nothing: of before Corehour, let through, or not bound yet. */
static void rule_unknown(struct gate *gate,
                         const struct gate_change *change,
                         int64_t end_ms,
                         struct gate_decision *decision)
{
    if (change->is_release && rule_unbound_release(gate, change, end_ms, decision)) {
        return;
    }
    if (!needs_freeze(change) && !change->is_size) {
        rule(decision, GATE_PASS, change, "no hold is known");
    } else {
        rule_unasked(gate, change, "no hold is known for this job", decision);
    }
}

static void rule_known(struct gate *gate,
                       const struct gate_change *change,
                       const json_t *hold,
                       int64_t end_ms,
                       struct gate_decision *decision)
{
    if (rule_by_hold(change, hold, decision)) {
        return;
    }
    if (!needs_freeze(change)) {
        rule(decision, GATE_PASS, change, "passes");
    } else if (change->is_element) {
        rule(decision, GATE_REFUSE, change, "refused: change the whole array");
    } else if (change->minutes == SLURM_UNLIMITED) {
        rule(decision, GATE_REFUSE, change, "refused: a time without limit cannot be frozen");
    } else {
        freeze_difference(gate, change, hold, end_ms, decision);
    }
}

void gate_modify(struct gate *gate,
                 const struct gate_change *change,
                 int64_t end_ms,
                 struct gate_decision *ret_decision)
{
    ret_decision->comment[0] = ret_decision->message[0] = ret_decision->log[0] = '\0';
    ret_decision->verdict = GATE_PASS;
    const bool asks = change->is_release || change->is_size || needs_freeze(change) ||
                      change->max_running != SLURM_UNSET;
    if (!asks || gate->config.mode == SLURM_MODE_OBSERVE) {
        return;
    }
    struct reply reply;
    ask_for_hold(gate, change, end_ms, &reply);
    const json_t *hold = reply.answered ? hold_of(&reply.answer) : NULL;
    if (!reply.answered) {
        rule_unasked(gate, change, reply.why, ret_decision);
    } else if (hold == NULL) {
        rule_unknown(gate, change, end_ms, ret_decision);
    } else {
        rule_known(gate, change, hold, end_ms, ret_decision);
    }
    corehour_answer_fini(&reply.answer);
}
