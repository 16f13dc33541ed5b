/* A queue and its threads. Jobs start in order; they may end in any. */
#include "server/reader.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "ledger/base/clock.h"

struct readers {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct reader_job *head; /* under the lock, as are the next four */
    struct reader_job **tail;
    size_t queued;
    size_t queue_max;
    int niceness;
    bool is_stopping;
    size_t started;
    size_t count;
    struct reader_thread {
        struct readers *readers;
        struct ledger_reader *reader;
        pthread_t thread;
    } threads[];
};

enum error_code readers_submit(struct readers *readers, struct reader_job *job, struct error *err)
{
    job->next = NULL;
    job->queued_ns = clock_mono_ns();
    enum error_code code = ERR_OK;
    pthread_mutex_lock(&readers->lock);
    if (readers->is_stopping) {
        code = ERR_UNAVAILABLE;
    } else if (readers->queued >= readers->queue_max) {
        code = ERR_OVERLOADED;
    } else {
        *readers->tail = job;
        readers->tail = &job->next;
        readers->queued++;
        pthread_cond_signal(&readers->wake);
    }
    pthread_mutex_unlock(&readers->lock);
    if (code == ERR_UNAVAILABLE) {
        return error_set(err, code, "the service is stopping");
    }
    return code == ERR_OK ? code
                          : error_set(err, code, "%zu reads wait already", readers->queue_max);
}

static struct reader_job *take(struct readers *readers)
{
    pthread_mutex_lock(&readers->lock);
    while (readers->head == NULL && !readers->is_stopping) {
        pthread_cond_wait(&readers->wake, &readers->lock);
    }
    struct reader_job *job = readers->head;
    if (job != NULL) {
        readers->head = job->next;
        readers->tail = job->next == NULL ? &readers->head : readers->tail;
        readers->queued--;
    }
    pthread_mutex_unlock(&readers->lock);
    return job;
}

static void *run(void *context)
{
    struct reader_thread *thread = context;
    struct reader_job *job;
    if (thread->readers->niceness != 0) {
        /* Of this thread alone; where it is refused the work is only less polite. */
        (void)setpriority(PRIO_PROCESS, (id_t)gettid(), thread->readers->niceness);
    }
    while ((job = take(thread->readers)) != NULL) {
        job->run(job, thread->reader);
    }
    return NULL;
}

static enum error_code start(struct readers *readers, const char *url, struct error *err)
{
    for (size_t i = 0; i < readers->count; i++) {
        struct reader_thread *thread = &readers->threads[i];
        thread->readers = readers;
        const enum error_code code = ledger_reader_open(url, &thread->reader, err);
        if (code != ERR_OK) {
            return code;
        }
        if (pthread_create(&thread->thread, NULL, run, thread) != 0) {
            ledger_reader_close(thread->reader);
            return error_set(err, ERR_UNAVAILABLE, "a reader thread does not start");
        }
        readers->started++;
    }
    return ERR_OK;
}

enum error_code readers_create(const char *url,
                               size_t threads,
                               int niceness,
                               size_t queue_max,
                               struct readers **ret_readers,
                               struct error *err)
{
    struct readers *readers = calloc(1, sizeof(*readers) + threads * sizeof(readers->threads[0]));
    if (readers == NULL || pthread_mutex_init(&readers->lock, NULL) != 0 ||
        pthread_cond_init(&readers->wake, NULL) != 0) {
        free(readers);
        return error_set(err, ERR_UNAVAILABLE, "no memory for reader threads");
    }
    readers->tail = &readers->head;
    readers->queue_max = queue_max;
    readers->niceness = niceness;
    readers->count = threads;
    const enum error_code code = start(readers, url, err);
    if (code != ERR_OK) {
        readers_destroy(readers);
        return code;
    }
    *ret_readers = readers;
    return ERR_OK;
}

void readers_stop(struct readers *readers)
{
    if (readers == NULL) {
        return;
    }
    pthread_mutex_lock(&readers->lock);
    readers->is_stopping = true;
    pthread_cond_broadcast(&readers->wake);
    pthread_mutex_unlock(&readers->lock);
    for (size_t i = 0; i < readers->started; i++) {
        (void)pthread_join(readers->threads[i].thread, NULL);
        ledger_reader_close(readers->threads[i].reader);
    }
    readers->started = 0;
}

void readers_destroy(struct readers *readers)
{
    if (readers == NULL) {
        return;
    }
    readers_stop(readers);
    (void)pthread_mutex_destroy(&readers->lock);
    (void)pthread_cond_destroy(&readers->wake);
    free(readers);
}
