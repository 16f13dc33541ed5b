/* SPDX-License-Identifier: MIT
 *
 * See queue.h. */
#include "clients/slurm/agent/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/slurm/agent/columns.h"
#include "clients/slurm/agent/program.h"

enum {
    AT_RAW,
    AT_JOB,
    AT_STATE,
    AT_SUBMIT,
    AT_START,
    AT_RESTARTS,
    AT_TRES,
    AT_PRIORITY,
    AT_REASON,
    AT_LIMIT,
    AT_ACCOUNT,
    AT_USER,
    AT_PARTITION,
    AT_QOS,
    AT_ADMIN_COMMENT,
    AT__COUNT
};

const char queue_columns[] =
    "JobID:|,JobArrayID:|,State:|,SubmitTime:|,StartTime:|,RestartCnt:|,tres-alloc:|,"
    "PriorityLong:|,Reason:|,TimeLimit:|,Account:|,UserName:|,Partition:|,QOS:|,"
    "admin_comment:|";

static bool row_read(char **columns, struct queue_job *job)
{
    struct columns_job id;
    const int64_t raw = columns_number(columns[AT_RAW], -1);
    if (raw <= 0 || raw >= UINT32_MAX) {
        return false;
    }
    job->raw_id = (uint32_t)raw;
    if (!columns_job_read(columns[AT_JOB], job->raw_id, &id)) {
        return false;
    }
    job->array_id = id.array_id;
    job->is_array = id.is_array;
    job->indexes = id.indexes;
    columns_copy(job->state, sizeof job->state, columns[AT_STATE]);
    columns_copy(job->reason, sizeof job->reason, columns[AT_REASON]);
    job->fate = fate_of(job->state);
    job->submit_s = columns_number(columns[AT_SUBMIT], 0);
    job->start_s = columns_number(columns[AT_START], 0);
    job->restarts = columns_number(columns[AT_RESTARTS], 0);
    job->priority = columns_number(columns[AT_PRIORITY], 1);
    job->time_limit_s = columns_duration(columns[AT_LIMIT], 0);
    job->tres = columns[AT_TRES];
    columns_copy(job->account, sizeof job->account, columns[AT_ACCOUNT]);
    columns_copy(job->user, sizeof job->user, columns[AT_USER]);
    columns_copy(job->partition, sizeof job->partition, columns[AT_PARTITION]);
    columns_copy(job->qos, sizeof job->qos, columns[AT_QOS]);
    job->is_ours = token_parse(columns[AT_ADMIN_COMMENT], &job->token);
    return true;
}

bool queue_parse(char *text, struct queue *ret_queue)
{
    struct queue queue = {.text = text,
                          .jobs = calloc(columns_lines(text), sizeof(struct queue_job))};
    char *columns[AT__COUNT];
    char *at = text;
    if (queue.jobs == NULL) {
        free(text);
        return false;
    }
    for (int found; (found = columns_next(&at, AT__COUNT, columns)) != 0;) {
        struct queue_job *job = &queue.jobs[queue.count];
        *job = (struct queue_job){0};
        if (found > 0 && row_read(columns, job)) {
            queue.count++;
        } else {
            queue.strange++;
        }
    }
    *ret_queue = queue;
    return true;
}

bool queue_read(const char *command, struct queue *ret_queue, char *ret_detail)
{
    const char *const argv[] = {command, "-h", "-a", "-t", "all", "-O", queue_columns, NULL};
    struct program_output output;
    bool good = program_run(argv, 30000, &output);
    if (!good) {
        (void)snprintf(ret_detail, PROGRAM_DETAIL_BYTES, "%s", output.detail);
        program_output_fini(&output);
        return false;
    }
    good = queue_parse(output.text, ret_queue);
    if (!good) {
        (void)snprintf(ret_detail, PROGRAM_DETAIL_BYTES, "out of memory");
    }
    return good;
}

void queue_fini(struct queue *queue)
{
    free(queue->jobs);
    free(queue->text);
    *queue = (struct queue){0};
}
