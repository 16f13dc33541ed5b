/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The submit plugin of slurmctld: a submission is frozen for, refused with words that help, or held until quota arrives. Built
 * from Slurm's public headers; loaded by `JobSubmitPlugins=corehour`.
 *
 * slurmctld calls it with locks held and one submission at a time, so nothing here may wait beyond the deadline of the
 * configuration: the daemon is asked by gate.h, the user's name by user_names.h, the partitions are a picture that watch.h keeps.
 */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/slurmdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/clock.h"
#include "clients/ids.h"
#include "clients/slurm/gate.h"
#include "clients/slurm/request.h"
#include "clients/slurm/slurm_log.h"
#include "clients/slurm/user_names.h"
#include "clients/slurm/watch.h"

#define EXPORTED __attribute__((visibility("default")))

enum { SIBLINGS_MAX = 32, UNCONFIGURED_MS = 500 };

EXPORTED extern const char plugin_name[];
EXPORTED extern const char plugin_type[];
EXPORTED extern const uint32_t plugin_version;
const char plugin_name[] = "Corehour job submit plugin";
const char plugin_type[] = "job_submit/corehour";
const uint32_t plugin_version = SLURM_VERSION_NUMBER;

EXPORTED int init(void);
EXPORTED int fini(void);
EXPORTED int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg);

/* What slurmctld exports besides its public headers: its allocator (it frees what we give it), and who a user's default account
 * is. The second may be missing in another version: then the account must be given. */
extern char *slurm_xstrdup(const char *text);
extern void slurm_xfree(void **item);
extern int assoc_mgr_fill_in_user(void *db_conn,
                                  slurmdb_user_rec_t *user,
                                  int enforce,
                                  slurmdb_user_rec_t **user_pptr,
                                  bool locked) __attribute__((weak));

int init(void)
{
    watch_start();
    return SLURM_SUCCESS;
}

int fini(void)
{
    watch_stop();
    return SLURM_SUCCESS;
}

/* ---- the request ---- */

static int64_t number32(uint32_t value)
{
    return value == NO_VAL ? SLURM_UNSET : value == INFINITE ? SLURM_UNLIMITED : (int64_t)value;
}

static int64_t number16(uint16_t value)
{
    return value == NO_VAL16 || value == INFINITE16 ? SLURM_UNSET : (int64_t)value;
}

static void memory_take(const job_desc_msg_t *job, struct slurm_request *request)
{
    const uint64_t memory = job->pn_min_memory;
    if (memory == NO_VAL64) {
        return;
    }
    if ((memory & MEM_PER_CPU) != 0) {
        request->memory_per_cpu_mib = (int64_t)(memory & ~MEM_PER_CPU);
    } else {
        request->memory_per_node_mib = (int64_t)memory;
    }
}

static void request_take(const job_desc_msg_t *job, struct slurm_request *request)
{
    slurm_request_init(request);
    request->name = job->name;
    request->partition = job->partition;
    request->qos = job->qos;
    request->array = job->array_inx;
    request->tres_per_job = job->tres_per_job;
    request->tres_per_node = job->tres_per_node;
    request->tres_per_socket = job->tres_per_socket;
    request->tres_per_task = job->tres_per_task;
    request->cpus_per_tres = job->cpus_per_tres;
    request->memory_per_tres = job->mem_per_tres;
    request->tasks = number32(job->num_tasks);
    request->tasks_per_node = number16(job->ntasks_per_node);
    request->tasks_per_gpu = number16(job->ntasks_per_tres);
    request->cpus_per_task = number16(job->cpus_per_task);
    request->cpus_min = number32(job->min_cpus);
    request->cpus_per_node_min = number16(job->pn_min_cpus);
    request->nodes_min = number32(job->min_nodes);
    request->nodes_max = number32(job->max_nodes);
    request->sockets_per_node = number16(job->sockets_per_node);
    request->minutes = number32(job->time_limit);
    request->is_exclusive = job->shared == JOB_SHARED_NONE;
    request->is_overcommitted = job->overcommit == 1;
    memory_take(job, request);
}

static const char *default_account(uint32_t uid)
{
    slurmdb_user_rec_t user;
    memset(&user, 0, sizeof user);
    user.uid = uid;
    if (assoc_mgr_fill_in_user == NULL ||
        assoc_mgr_fill_in_user(NULL, &user, 0, NULL, false) != SLURM_SUCCESS) {
        return NULL;
    }
    return user.default_acct; /* slurmctld's own: it stays */
}

/* ---- a submission ---- */

/* Holds of the components of the heterogeneous job that this thread is at: they come back to back in one RPC. */
static _Thread_local struct {
    uint32_t uid;
    size_t count;
    char ids[SIBLINGS_MAX][COREHOUR_ID_BYTES];
} siblings;

static void siblings_follow(struct gate *gate,
                            const job_desc_msg_t *job,
                            const struct gate_decision *decision,
                            const char *hold,
                            int64_t end_ms)
{
    if (job->het_job_offset == 0 || job->het_job_offset == NO_VAL || siblings.uid != job->user_id) {
        siblings.count = 0;
        siblings.uid = job->user_id;
    }
    if (job->het_job_offset == NO_VAL) {
        return;
    }
    if (decision->verdict == GATE_PASS || decision->verdict == GATE_WAIT) {
        if (siblings.count < SIBLINGS_MAX) {
            snprintf(siblings.ids[siblings.count++], COREHOUR_ID_BYTES, "%s", hold);
        }
        return;
    }
    const char *ids[SIBLINGS_MAX];
    for (size_t i = 0; i < siblings.count; i++) {
        ids[i] = siblings.ids[i];
    }
    if (siblings.count > 0) {
        slurm_log_info("component %u of user %u refused: %zu before it given back",
                       job->het_job_offset, job->user_id, siblings.count);
        gate_release(gate, ids, siblings.count, end_ms);
    }
    siblings.count = 0;
}

/* Why there is nothing to ask about; NULL when there is. */
static const char *obstacle_of(const struct slurm_site *site,
                               const struct slurm_shape *shape,
                               bool has_name,
                               const json_t *body)
{
    if (!has_name) {
        return "the user's name was not found in time";
    }
    if (site->partitions_count == 0 && shape->seconds == 0) {
        return "slurmctld has just started: the partitions are not known"; /* nor their DefaultTime */
    }
    return body == NULL ? "out of memory" : NULL;
}

/* Works the request out and asks. ret_hold: COREHOUR_ID_BYTES. */
static void submission_decide(struct gate *gate,
                              const struct slurm_site *site,
                              const job_desc_msg_t *job,
                              int64_t end_ms,
                              char *ret_hold,
                              struct gate_decision *ret_decision)
{
    char user[USER_NAME_BYTES] = "";
    struct slurm_request request;
    struct slurm_shape shape;
    const char *what = NULL;
    request_take(job, &request);
    const bool has_name = user_names_find(job->user_id, end_ms, user);
    request.user = user;
    request.account = job->account != NULL ? job->account : default_account(job->user_id);
    if (corehour_id_create(gate_config(gate)->cluster.text, ret_hold) != COREHOUR_OK) {
        gate_submit_unasked(gate, NULL, "no id could be made for it", ret_decision);
        return;
    }
    if (!slurm_shape_of(&request, site, &shape, &what)) {
        /* Slurm itself refuses such a text when it is as wrong as it looks. */
        *ret_decision = (struct gate_decision){.verdict = GATE_REFUSE};
        snprintf(ret_decision->message, sizeof ret_decision->message,
                 "what the job asks for cannot be worked out: its %s", what);
        return;
    }
    json_t *body =
        slurm_freeze_body(&request, site, &shape, ret_hold, gate_config(gate)->cluster.text);
    const char *obstacle = obstacle_of(site, &shape, has_name, body);
    if (obstacle == NULL) {
        gate_submit(gate, body, end_ms, ret_decision);
    } else {
        gate_submit_unasked(gate, body, obstacle, ret_decision);
    }
    json_decref(body);
}

static void replace(char **text, const char *with)
{
    slurm_xfree((void **)text);
    *text = slurm_xstrdup(with);
}

/* Carries a decision over to the job. Returns what slurmctld makes of it. */
static int submission_apply(const struct gate_decision *decision,
                            job_desc_msg_t *job,
                            char **err_msg)
{
    static const int codes[] = {
        [GATE_PASS] = SLURM_SUCCESS,
        [GATE_WAIT] = SLURM_SUCCESS,
        [GATE_REFUSE] = ESLURM_ACCOUNTING_POLICY,
        [GATE_NO_ANSWER] = ESLURM_DB_CONNECTION,
    };
    if (decision->log[0] != '\0') {
        slurm_log_info("%s", decision->log);
    }
    if (decision->comment[0] != '\0') {
        replace(&job->admin_comment, decision->comment);
    }
    if (decision->message[0] != '\0') {
        replace(err_msg, decision->message);
    }
    if (decision->verdict == GATE_WAIT) {
        job->priority = 0;
    }
    return codes[decision->verdict];
}

/* Refuses because there is nobody to ask and no policy to follow. */
static int submission_lost(const char *why, char **err_msg)
{
    char message[400];
    snprintf(message, sizeof message,
             "the quota hook cannot work (%.320s); please tell the administrators", why);
    slurm_log_error("a submission is refused: %s", why);
    replace(err_msg, message);
    return ESLURM_DB_CONNECTION;
}

int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg)
{
    const int64_t began_ms = client_clock_mono_ms();
    struct gate *gate;
    const struct slurm_site *site;
    const char *why;
    struct gate_decision decision;
    char hold[COREHOUR_ID_BYTES] = "";
    if (job->user_id == NO_VAL) {
        job->user_id = submit_uid;
    }
    if (!watch_lock(began_ms + UNCONFIGURED_MS, &gate, &site, &why)) {
        return submission_lost("other submissions have not got an answer yet", err_msg);
    }
    if (gate == NULL) {
        const int code = submission_lost(why, err_msg);
        watch_unlock();
        return code;
    }
    const int64_t end_ms = began_ms + gate_config(gate)->deadline_ms;
    submission_decide(gate, site, job, end_ms, hold, &decision);
    siblings_follow(gate, job, &decision, hold, end_ms);
    watch_unlock();
    return submission_apply(&decision, job, err_msg);
}

/* ---- a change of a job ---- */

/* "123", "123_4", "123_[1-3]" or "123+1" into the id that the job has in the ledger. */
static bool job_id_take(const job_desc_msg_t *job, struct gate_change *change)
{
    char *end = NULL;
    unsigned long long id = job->job_id;
    if (job->job_id_str != NULL) {
        id = strtoull(job->job_id_str, &end, 10);
        change->is_element = *end == '_';
        if (*end == '+') {
            id += strtoull(end + 1, NULL, 10);
        }
    }
    snprintf(change->job_id, sizeof change->job_id, "%llu", id);
    return id > 0 && id < NO_VAL;
}

static bool changes_size(const job_desc_msg_t *job)
{
    return job->min_nodes != NO_VAL || job->max_nodes != NO_VAL || job->num_tasks != NO_VAL ||
           job->cpus_per_task != NO_VAL16 || job->ntasks_per_node != NO_VAL16 ||
           job->pn_min_cpus != NO_VAL16 || job->pn_min_memory != NO_VAL64 ||
           job->shared != NO_VAL16 || job->tres_per_job != NULL || job->tres_per_node != NULL ||
           job->tres_per_socket != NULL || job->tres_per_task != NULL ||
           job->cpus_per_tres != NULL || job->mem_per_tres != NULL;
}

static void change_take(const job_desc_msg_t *job, struct gate_change *change)
{
    change->is_release = job->priority != NO_VAL && job->priority != 0;
    change->is_size = changes_size(job);
    change->minutes = number32(job->time_limit);
    change->cores = number32(job->max_cpus == NO_VAL ? job->min_cpus : job->max_cpus);
    change->max_running =
        job->array_inx == NULL ? SLURM_UNSET : (int64_t)strtoull(job->array_inx, NULL, 10);
    change->account = job->account;
    change->partition = job->partition;
    change->qos = job->qos;
}

static bool is_admin(const struct gate *gate, uint32_t uid)
{
    return uid == 0 || uid == getuid() ||
           (gate != NULL && slurm_config_is_admin(gate_config(gate), uid));
}

static int change_decide(job_desc_msg_t *job, uint32_t uid)
{
    const int64_t began_ms = client_clock_mono_ms();
    struct gate *gate;
    const struct slurm_site *site;
    const char *why;
    char user[USER_NAME_BYTES] = "";
    struct gate_change change = {.user = user, .minutes = SLURM_UNSET};
    struct gate_decision decision = {.verdict = GATE_PASS};
    if (!watch_lock(began_ms + UNCONFIGURED_MS, &gate, &site, &why)) {
        return ESLURM_DB_CONNECTION;
    }
    if (!is_admin(gate, uid)) {
        change_take(job, &change);
        if (gate == NULL) {
            decision.verdict = GATE_NO_ANSWER;
        } else if (job_id_take(job, &change)) {
            const int64_t end_ms = began_ms + gate_config(gate)->deadline_ms;
            (void)user_names_find(uid, end_ms, user);
            gate_modify(gate, &change, end_ms, &decision);
        }
    }
    watch_unlock();
    if (decision.log[0] != '\0') {
        slurm_log_info("user %u: %s", uid, decision.log);
    }
    switch (decision.verdict) {
    case GATE_PASS:
    case GATE_WAIT:
        return SLURM_SUCCESS;
    case GATE_REFUSE:
        return change.is_release ? ESLURM_ACCESS_DENIED : ESLURM_ACCOUNTING_POLICY;
    case GATE_NO_ANSWER:
        return ESLURM_DB_CONNECTION;
    }
    return SLURM_ERROR;
}

/* The record of the job is not public: the ledger knows the job by its id. Later versions can tell the user why. */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 2, 0)
EXPORTED int job_modify(job_desc_msg_t *job, void *record, uint32_t submit_uid, char **err_msg);
int job_modify(job_desc_msg_t *job, void *record, uint32_t submit_uid, char **err_msg)
{
    (void)record;
    (void)err_msg;
    return change_decide(job, submit_uid);
}
#else
EXPORTED int job_modify(job_desc_msg_t *job, void *record, uint32_t submit_uid);
int job_modify(job_desc_msg_t *job, void *record, uint32_t submit_uid)
{
    (void)record;
    return change_decide(job, submit_uid);
}
#endif
