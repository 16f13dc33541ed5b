/* SPDX-License-Identifier: MIT
 *
 * See roll.h. */
#include "clients/slurm/agent/roll.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

static int jobs_compare(const void *a, const void *b)
{
    return strcmp(((const struct roll_job *)a)->token.hold,
                  ((const struct roll_job *)b)->token.hold);
}

static struct roll_job *found_of(void *node)
{
    return node == NULL ? NULL : *(struct roll_job **)node;
}

struct roll_job *roll_find(struct roll *roll, const char *hold)
{
    struct roll_job wanted = {0};
    const size_t bytes = strnlen(hold, sizeof wanted.token.hold - 1);
    memcpy(wanted.token.hold, hold, bytes);
    return found_of(tfind(&wanted, &roll->tree, jobs_compare));
}

static bool jobs_reserve(struct roll *roll)
{
    if (roll->count < roll->room) {
        return true;
    }
    const size_t room = roll->room == 0 ? 64 : roll->room * 2;
    struct roll_job **grown = realloc(roll->jobs, room * sizeof(void *));
    if (grown == NULL) {
        return false;
    }
    roll->jobs = grown;
    roll->room = room;
    return true;
}

struct roll_job *roll_add(struct roll *roll, const struct token *token)
{
    struct roll_job *job = roll_find(roll, token->hold);
    if (job != NULL) {
        return job;
    }
    job = calloc(1, sizeof *job);
    if (job == NULL || !jobs_reserve(roll)) {
        free(job);
        return NULL;
    }
    job->token = *token;
    if (tsearch(job, &roll->tree, jobs_compare) == NULL) {
        free(job);
        return NULL;
    }
    roll->jobs[roll->count++] = job;
    return job;
}

/* Where the task is or belongs. */
static size_t place_of(const struct roll_job *job, uint32_t index)
{
    size_t low = 0;
    size_t high = job->task_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (job->tasks[middle].index < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct roll_task *roll_task_find(struct roll_job *job, uint32_t index)
{
    const size_t place = place_of(job, index);
    return place < job->task_count && job->tasks[place].index == index ? &job->tasks[place] : NULL;
}

struct roll_task *roll_task_add(struct roll_job *job, uint32_t index)
{
    const size_t place = place_of(job, index);
    if (place < job->task_count && job->tasks[place].index == index) {
        return &job->tasks[place];
    }
    if (job->task_count == job->task_room) {
        const size_t room = job->task_room == 0 ? 1 : job->task_room * 2;
        struct roll_task *grown = realloc(job->tasks, room * sizeof *grown);
        if (grown == NULL) {
            return NULL;
        }
        job->tasks = grown;
        job->task_room = room;
    }
    memmove(job->tasks + place + 1, job->tasks + place,
            (job->task_count - place) * sizeof *job->tasks);
    job->tasks[place] = (struct roll_task){.index = index, .kind = FATE_PENDING, .ranked = -1};
    job->task_count++;
    return &job->tasks[place];
}

static void job_destroy(struct roll_job *job)
{
    indexes_fini(&job->indexes);
    free(job->tasks);
    free(job);
}

void roll_remove(struct roll *roll, size_t i)
{
    struct roll_job *job = roll->jobs[i];
    (void)tdelete(job, &roll->tree, jobs_compare);
    roll->jobs[i] = roll->jobs[--roll->count];
    job_destroy(job);
}

void roll_fini(struct roll *roll)
{
    while (roll->count > 0) {
        roll_remove(roll, roll->count - 1);
    }
    free(roll->jobs);
    *roll = (struct roll){0};
}
