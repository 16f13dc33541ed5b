/* Shared shapes. The lists are in the order of their enums in ledger/core/record.h. */
#include "server/decode_shapes.h"

#include <string.h>

#include "ledger/base/text.h"
#include "ledger/core/command.h"

const struct decode_choice choices_mode[] = {
    {"full", MODE_FULL},
    {"window", MODE_WINDOW},
    {NULL, 0},
};

const struct decode_choice choices_on_insufficient[] = {
    {"reject", INSUFFICIENT_REJECT},
    {"wait", INSUFFICIENT_WAIT},
    {NULL, 0},
};

const struct decode_choice choices_outcome[] = {
    {"completed", OUTCOME_COMPLETED},
    {"failed", OUTCOME_FAILED},
    {"timeout", OUTCOME_TIMEOUT},
    {"cancelled", OUTCOME_CANCELLED},
    {"node_fail", OUTCOME_NODE_FAIL},
    {"boot_fail", OUTCOME_BOOT_FAIL},
    {"preempted", OUTCOME_PREEMPTED},
    {"oom", OUTCOME_OOM},
    {"deadline", OUTCOME_DEADLINE},
    {"other", OUTCOME_OTHER},
    {NULL, 0},
};

const struct decode_choice choices_funding[] = {
    {"parent", FUNDING_PARENT},
    {"self", FUNDING_SELF},
    {"unlimited", FUNDING_UNLIMITED},
    {NULL, 0},
};

const struct decode_choice choices_membership[] = {
    {"open", MEMBERSHIP_OPEN},
    {"listed", MEMBERSHIP_LISTED},
    {NULL, 0},
};

const struct decode_choice choices_node_state[] = {
    {"open", NODE_OPEN},
    {"closed", NODE_CLOSED},
    {NULL, 0},
};

const struct decode_choice choices_cluster_kind[] = {
    {"slurm", CLUSTER_SLURM},
    {"kubernetes", CLUSTER_KUBERNETES},
    {"other", CLUSTER_OTHER},
    {NULL, 0},
};

const struct decode_choice choices_on_exhausted[] = {
    {"continue", EXHAUSTED_CONTINUE},
    {"notify", EXHAUSTED_NOTIFY},
    {"stop", EXHAUSTED_STOP},
    {NULL, 0},
};

const struct decode_choice choices_fail_policy[] = {
    {"closed", FAIL_CLOSED},
    {"open", FAIL_OPEN},
    {NULL, 0},
};

const struct decode_choice choices_combine[] = {
    {"sum", COMBINE_SUM},
    {"max", COMBINE_MAX},
    {NULL, 0},
};

const struct decode_choice choices_role[] = {
    {"admin", ROLE_ADMIN},
    {"scheduler", ROLE_SCHEDULER},
    {"lead", ROLE_LEAD},
    {"finance", ROLE_FINANCE},
    {"viewer", ROLE_VIEWER},
    {"member", ROLE_MEMBER},
    {NULL, 0},
};

const struct decode_choice choices_cap[] = {
    {"month", CAP_MONTH},
    {"quarter", CAP_QUARTER},
    {"year", CAP_YEAR},
    {"total", CAP_TOTAL},
    {"gpus", CAP_GPUS},
    {"cores", CAP_CORES},
    {"jobs", CAP_JOBS},
    {"job_core_hours", CAP_JOB_CORE_HOURS},
    {"job_gpus", CAP_JOB_GPUS},
    {"job_duration", CAP_JOB_DURATION},
    {"funds", CAP_FUNDS}, /* among violations only: no path leads to it */
    {NULL, 0},
};

const struct decode_choice choices_task_state[] = {
    {"waiting", TASK_WAITING}, {"frozen", TASK_FROZEN},
    {"running", TASK_RUNNING}, {"suspended", TASK_SUSPENDED},
    {"settled", TASK_SETTLED}, {"released", TASK_RELEASED},
    {"expired", TASK_EXPIRED}, {NULL, 0},
};

const struct decode_choice choices_node_kind[] = {
    {"organization", NODE_ORGANIZATION},
    {"project", NODE_PROJECT},
    {"member", NODE_MEMBER},
    {NULL, 0},
};

const struct decode_choice choices_flag[] = {
    {"late", FLAG_LATE},
    {"unfrozen", FLAG_UNFROZEN},
    {"overrun", FLAG_OVERRUN},
    {"exhausted", FLAG_EXHAUSTED},
    {"stopped", FLAG_STOPPED},
    {"by_heartbeat", FLAG_BY_HEARTBEAT},
    {"restarted", FLAG_RESTARTED},
    {"closed_node", FLAG_CLOSED_NODE},
    {"non_member", FLAG_NON_MEMBER},
    {"unattributed", FLAG_UNATTRIBUTED},
    {"corrected", FLAG_CORRECTED},
    {"overdrawn", FLAG_OVERDRAWN},
    {"over_cap", FLAG_OVER_CAP},
    {"unpriced", FLAG_UNPRICED},
    {"assigned", FLAG_ASSIGNED},
    {NULL, 0},
};

#define JOB_TEXT(member)                            \
    .offset = offsetof(struct command_job, member), \
    .size = sizeof(((struct command_job *)NULL)->member), .null_is_absent = true

static const struct decode_field job_fields[] = {
    {.name = "name", .kind = DECODE_NAME, JOB_TEXT(name)},
    {.name = "partition", .kind = DECODE_NAME, JOB_TEXT(partition)},
    {.name = "qos", .kind = DECODE_NAME, JOB_TEXT(qos)},
};

const struct decode_table decode_table_job = {DECODE_ROWS(job_fields)};

static const struct decode_field gpu_fields[] = {
    {.name = "model",
     .kind = DECODE_NAME,
     DECODE_AT(struct command_gpu, model),
     .null_is_absent = true},
    {.name = "count",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command_gpu, count),
     .min = 1,
     .max = LIMIT_GPU_COUNT,
     .required = true},
    {.name = "cores_percent",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command_gpu, cores_percent),
     .min = 1,
     .max = 100,
     .null_is_absent = true},
    {.name = "memory_mib",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command_gpu, memory_mib),
     .min = 1,
     .max = LIMIT_MEMORY_MIB,
     .null_is_absent = true},
};

static const struct decode_table gpu_table = {DECODE_ROWS(gpu_fields)};

static enum error_code decode_gpus(const json_t *value,
                                   void *place,
                                   const struct decode_path *path,
                                   struct error *err)
{
    /* The row's offset is that of gpus[], the count stands before it. */
    struct command_resources *resources =
        (struct command_resources *)(void *)((char *)place -
                                             offsetof(struct command_resources, gpus));
    if (!json_is_array(value)) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not an array");
    }
    const size_t count = json_array_size(value);
    if (count > LIMIT_GPU_ENTRIES) {
        return decode_refuse(err, ERR_TOO_MANY_GPUS, path, "%zu entries are more than %d", count,
                             LIMIT_GPU_ENTRIES);
    }
    for (size_t i = 0; i < count; i++) {
        const struct decode_path entry = {.outer = path, .index = i};
        struct command_gpu *gpu = &resources->gpus[i];
        const enum error_code code =
            decode_object(json_array_get(value, i), &gpu_table, gpu, &entry, err);
        if (code != ERR_OK) {
            return code;
        }
        decode_lower_case(gpu->model);
    }
    resources->gpu_count = (int32_t)count;
    return ERR_OK;
}

static const struct decode_field resources_fields[] = {
    {.name = "cores",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command_resources, cores),
     .max = LIMIT_CORES},
    {.name = "memory_mib",
     .kind = DECODE_INTEGER,
     DECODE_AT(struct command_resources, memory_mib),
     .max = LIMIT_MEMORY_MIB},
    {.name = "gpus",
     .kind = DECODE_OTHER,
     DECODE_AT(struct command_resources, gpus),
     .other = decode_gpus},
};

static const struct decode_table resources_table = {DECODE_ROWS(resources_fields)};

enum error_code decode_resources(const json_t *value,
                                 void *place,
                                 const struct decode_path *path,
                                 struct error *err)
{
    struct command_resources *resources = place;
    const enum error_code code = decode_object(value, &resources_table, resources, path, err);
    if (code != ERR_OK) {
        return code;
    }
    if (resources->cores == 0 && resources->memory_mib == 0 && resources->gpu_count == 0) {
        return decode_refuse(err, ERR_INVALID_FIELD, path,
                             "at least one of cores, memory_mib and gpus must be above 0");
    }
    resources->given = true;
    return ERR_OK;
}

/* Append one host; @used is the length so far. */
static enum error_code append_host(const json_t *value,
                                   char *hosts,
                                   size_t *used,
                                   const struct decode_path *path,
                                   struct error *err)
{
    const char *host = NULL;
    const enum error_code code = decode_text(value, path, &host, err);
    if (code != ERR_OK) {
        return code;
    }
    if (!text_is_name(host) || strchr(host, ',') != NULL) {
        return decode_refuse(err, ERR_INVALID_FIELD, path,
                             "not a host name of 1 to 128 bytes without commas");
    }
    const size_t bytes = strlen(host);
    const size_t comma = *used > 0;
    if (*used + comma + bytes > LIMIT_HOSTS_BYTES) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "host names of more than %d bytes",
                             LIMIT_HOSTS_BYTES);
    }
    if (comma != 0) {
        hosts[*used] = ',';
    }
    memcpy(hosts + *used + comma, host, bytes + 1);
    *used += comma + bytes;
    return ERR_OK;
}

enum error_code decode_hosts(const json_t *value,
                             void *place,
                             const struct decode_path *path,
                             struct error *err)
{
    if (!json_is_array(value)) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not an array");
    }
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        const struct decode_path entry = {.outer = path, .index = i};
        const enum error_code code =
            append_host(json_array_get(value, i), place, &used, &entry, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    return ERR_OK;
}

/* Digits of one task number; -1 when there are none or it is out of range. */
static int64_t read_task(const char **at)
{
    int64_t task = -1;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        task = (task < 0 ? 0 : task) * 10 + (**at - '0');
        if (task >= LIMIT_TASKS) {
            return -1;
        }
    }
    return task;
}

static bool is_task_set(const char *text)
{
    int64_t last = -1;
    for (const char *at = text;; at++) {
        const int64_t first = read_task(&at);
        if (first <= last) {
            return false;
        }
        last = first;
        if (*at == '-') {
            at++;
            last = read_task(&at);
            if (last <= first) {
                return false;
            }
        }
        if (*at != ',') {
            return *at == '\0';
        }
    }
}

enum error_code decode_task_set(const json_t *value,
                                void *place,
                                const struct decode_path *path,
                                struct error *err)
{
    const char *text = NULL;
    const enum error_code code = decode_text(value, path, &text, err);
    if (code != ERR_OK) {
        return code;
    }
    const size_t bytes = strlen(text);
    if (bytes >= RECORD_TASKS_TEXT_BYTES || !is_task_set(text)) {
        return decode_refuse(
            err, ERR_INVALID_FIELD, path,
            "not ascending task numbers and ranges such as 3-9,12 in at most %d bytes",
            RECORD_TASKS_TEXT_BYTES - 1);
    }
    memcpy(place, text, bytes + 1);
    return ERR_OK;
}

void decode_lower_case(char *text)
{
    for (; *text != '\0'; text++) {
        if (*text >= 'A' && *text <= 'Z') {
            *text = (char)(*text - 'A' + 'a');
        }
    }
}
