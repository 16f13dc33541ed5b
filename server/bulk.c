/*
 * The bulk thread. Invariant: answers are written in the order of the lines; a chunk's memory is reused only when its
 * answers have been written.
 */
#include "server/bulk.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ledger/base/clock.h"
#include "server/decode_commands.h"
#include "server/http.h"
#include "server/json_in.h"
#include "server/service.h"

enum {
    CHUNK_LINES = 256,
    REQUESTS_MAX = 256, /* that wait; beyond it 503 */
    RETRY_NS = 1000000, /* while the ledger's queue is full */
    ALIGN_BYTES = 16,
};

/* Some lines on their way through the ledger. */
struct chunk {
    struct batch_item item; /* first: its done() is given it */
    struct bulk *bulk;
    size_t capacity;
    size_t line_count;
    size_t command_count;
    struct bulk_line *lines;
    const struct command **commands;
    struct ledger_result *results;
    char *room; /* for commands, each as long as its kind needs */
    size_t room_bytes;
    size_t room_used;
    bool is_submitted;
    bool is_done; /* under the lock */
};

struct bulk {
    struct service *service;
    pthread_t thread;
    bool is_joined; /* of whoever stops it */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct bulk_queued {
        struct bulk_source *source;
    } queue[REQUESTS_MAX]; /* a ring, under the lock */
    size_t first;
    size_t queued;
    bool is_stopping;
    struct chunk *filling; /* the chunk that next() makes commands in */
    struct chunk *chunks[2];
};

/* ---- chunks */

static void chunk_destroy(struct chunk *chunk)
{
    if (chunk != NULL) {
        free(chunk->lines);
        free(chunk->commands);
        free(chunk->results);
        free(chunk->room);
        free(chunk);
    }
}

static struct chunk *chunk_create(struct bulk *bulk, size_t capacity)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    if (chunk == NULL) {
        return NULL;
    }
    const size_t largest = (sizeof(struct command) + ALIGN_BYTES) / ALIGN_BYTES * ALIGN_BYTES;
    chunk->bulk = bulk;
    chunk->capacity = capacity;
    chunk->room_bytes = capacity * largest;
    chunk->lines = calloc(capacity, sizeof(chunk->lines[0]));
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers */
    chunk->commands = calloc(capacity, sizeof(chunk->commands[0]));
    chunk->results = calloc(capacity, sizeof(chunk->results[0]));
    chunk->room = malloc(chunk->room_bytes); /* pages are touched as commands fill them */
    if (chunk->lines == NULL || chunk->commands == NULL || chunk->results == NULL ||
        chunk->room == NULL) {
        chunk_destroy(chunk);
        return NULL;
    }
    return chunk;
}

static void chunk_reset(struct chunk *chunk)
{
    for (size_t i = 0; i < chunk->command_count; i++) {
        ledger_result_fini(&chunk->results[i]);
    }
    memset(chunk->results, 0, chunk->command_count * sizeof(chunk->results[0]));
    chunk->line_count = 0;
    chunk->command_count = 0;
    chunk->room_used = 0;
    chunk->is_submitted = false;
    chunk->is_done = false;
}

struct command *bulk_command(struct bulk *bulk,
                             struct bulk_source *source,
                             struct bulk_line *line,
                             const struct route *route)
{
    struct chunk *chunk = bulk->filling;
    const enum command_kind kind = route->command->kind;
    const size_t bytes = (command_bytes(kind) + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
    assert(chunk->room_used + bytes <= chunk->room_bytes);
    struct command *command = (struct command *)(void *)(chunk->room + chunk->room_used);
    chunk->room_used += bytes;
    command_reset(command, kind);
    command->dry_run = source->request->dry_run;
    command->role = source->request->principal.role;
    command->place_no = source->request->principal.place_no;
    line->row = route->command;
    line->command = command;
    return command;
}

enum error_code bulk_find_route(const struct request *request,
                                enum command_kind kind,
                                const struct route **ret_route,
                                struct error *err)
{
    const struct route *route = route_of_command(kind);
    if (route == NULL || (route->roles & (unsigned)request->principal.role) == 0) {
        return error_set(err, ERR_NOT_ALLOWED, "the role of this token may not do this");
    }
    *ret_route = route;
    return ERR_OK;
}

/* Fill a chunk from the source. */
static void fill(struct bulk *bulk, struct bulk_source *source, struct chunk *chunk)
{
    chunk_reset(chunk);
    bulk->filling = chunk;
    while (chunk->line_count < chunk->capacity) {
        struct bulk_line *line = &chunk->lines[chunk->line_count];
        memset(line, 0, sizeof(*line));
        if (!source->next(source, bulk, line)) {
            break;
        }
        if (line->error.code != ERR_OK) {
            line->command = NULL;
        }
        if (line->command != NULL) {
            line->result = &chunk->results[chunk->command_count];
            chunk->commands[chunk->command_count++] = line->command;
        }
        chunk->line_count++;
    }
}

/* ---- through the ledger */

static void chunk_done(struct batch_item *item)
{
    struct chunk *chunk = (struct chunk *)(void *)item;
    struct bulk *bulk = chunk->bulk;
    pthread_mutex_lock(&bulk->lock);
    chunk->is_done = true;
    pthread_cond_broadcast(&bulk->wake);
    pthread_mutex_unlock(&bulk->lock);
}

static void fail_commands(struct chunk *chunk, const struct error *err)
{
    for (size_t i = 0; i < chunk->command_count; i++) {
        chunk->results[i].error = *err;
    }
}

/* Queue a chunk; the request has been accepted, so a full queue is waited for. */
static void submit(struct bulk *bulk, struct bulk_source *source, struct chunk *chunk)
{
    chunk->item.work = (struct ledger_work){
        .commands = chunk->commands,
        .results = chunk->results,
        .count = chunk->command_count,
        .atomic = source->is_atomic,
        .actor = source->actor,
    };
    chunk->item.done = chunk_done;
    struct error err;
    enum error_code code;
    while ((code = batcher_submit(bulk->service->batcher, &chunk->item, &err)) == ERR_OVERLOADED) {
        const struct timespec pause = {.tv_nsec = RETRY_NS};
        (void)nanosleep(&pause, NULL);
    }
    chunk->is_submitted = code == ERR_OK;
    if (code != ERR_OK) {
        fail_commands(chunk, &err);
    }
}

static void wait_for(struct bulk *bulk, struct chunk *chunk)
{
    pthread_mutex_lock(&bulk->lock);
    while (chunk->is_submitted && !chunk->is_done) {
        pthread_cond_wait(&bulk->wake, &bulk->lock);
    }
    pthread_mutex_unlock(&bulk->lock);
}

static void write_answers(struct bulk *bulk,
                          struct bulk_source *source,
                          struct chunk *chunk,
                          struct json_out *out)
{
    wait_for(bulk, chunk);
    for (size_t i = 0; i < chunk->line_count; i++) {
        const struct bulk_line *line = &chunk->lines[i];
        if (line->result != NULL) {
            metrics_add(bulk->service->metrics, METRIC_COMMANDS_ACCEPTED,
                        line->result->error.code == ERR_OK);
        }
        source->write(source, out, line);
    }
    chunk->line_count = 0;
}

/* Two chunks take turns: one is decoded and answered while the other is in the ledger. */
static void run_in_turns(struct bulk *bulk, struct bulk_source *source, struct json_out *out)
{
    struct chunk **chunks = bulk->chunks;
    for (size_t turn = 0;; turn ^= 1) {
        struct chunk *chunk = chunks[turn];
        write_answers(bulk, source, chunk, out);
        fill(bulk, source, chunk);
        if (chunk->line_count == 0) {
            write_answers(bulk, source, chunks[turn ^ 1], out);
            return;
        }
        if (chunk->command_count > 0) {
            submit(bulk, source, chunk);
        }
    }
}

/* All lines or none (SPEC 6): a line that is refused before the ledger sees it rolls back the others. */
static void run_atomic(struct bulk *bulk, struct bulk_source *source, struct json_out *out)
{
    struct chunk *chunk = chunk_create(bulk, source->lines > 0 ? source->lines : 1);
    if (chunk == NULL) {
        (void)error_set(&source->failure, ERR_UNAVAILABLE, "no memory for %zu lines",
                        source->lines);
        return;
    }
    fill(bulk, source, chunk);
    if (chunk->command_count < chunk->line_count) {
        struct error err;
        (void)error_set(&err, ERR_ROLLED_BACK, "another line was refused");
        fail_commands(chunk, &err);
    } else if (chunk->command_count > 0) {
        submit(bulk, source, chunk);
    }
    write_answers(bulk, source, chunk, out);
    chunk_reset(chunk);
    chunk_destroy(chunk);
}

static void run_request(struct bulk *bulk, struct bulk_source *source)
{
    struct request *request = source->request;
    struct json_out out;
    request_answer_begin(request, 200, &out);
    if (source->begin != NULL) {
        source->begin(source, &out);
    }
    if (source->is_atomic) {
        run_atomic(bulk, source, &out);
    } else {
        run_in_turns(bulk, source, &out);
    }
    if (source->end != NULL) {
        source->end(source, &out);
    }
    if (source->failure.code != ERR_OK) {
        request_refuse(request, &source->failure);
    } else {
        request->answer.content_type = source->content_type;
        request_answer_end(request);
    }
    source->fini(source);
    http_finish(request->http, request);
}

/* ---- the thread */

static struct bulk_source *take(struct bulk *bulk)
{
    struct bulk_source *source = NULL;
    pthread_mutex_lock(&bulk->lock);
    while (bulk->queued == 0 && !bulk->is_stopping) {
        pthread_cond_wait(&bulk->wake, &bulk->lock);
    }
    if (bulk->queued > 0) {
        source = bulk->queue[bulk->first].source;
        bulk->first = (bulk->first + 1) % REQUESTS_MAX;
        bulk->queued--;
    }
    pthread_mutex_unlock(&bulk->lock);
    return source;
}

static void *run(void *context)
{
    struct bulk *bulk = context;
    struct bulk_source *source;
    while ((source = take(bulk)) != NULL) {
        run_request(bulk, source);
    }
    return NULL;
}

enum error_code bulk_submit(struct bulk *bulk, struct bulk_source *source, struct error *err)
{
    source->actor = request_actor(source->request);
    pthread_mutex_lock(&bulk->lock);
    const bool is_full = bulk->queued == REQUESTS_MAX;
    if (!is_full) {
        bulk->queue[(bulk->first + bulk->queued) % REQUESTS_MAX].source = source;
        bulk->queued++;
        pthread_cond_broadcast(&bulk->wake);
    }
    pthread_mutex_unlock(&bulk->lock);
    return is_full ? error_set(err, ERR_OVERLOADED, "%d batches wait already", REQUESTS_MAX)
                   : ERR_OK;
}

enum error_code bulk_create(struct service *service, struct bulk **ret_bulk, struct error *err)
{
    struct bulk *bulk = calloc(1, sizeof(*bulk));
    if (bulk == NULL || pthread_mutex_init(&bulk->lock, NULL) != 0 ||
        pthread_cond_init(&bulk->wake, NULL) != 0) {
        free(bulk);
        return error_set(err, ERR_UNAVAILABLE, "no memory for the bulk thread");
    }
    bulk->service = service;
    bulk->chunks[0] = chunk_create(bulk, CHUNK_LINES);
    bulk->chunks[1] = chunk_create(bulk, CHUNK_LINES);
    if (bulk->chunks[0] == NULL || bulk->chunks[1] == NULL ||
        pthread_create(&bulk->thread, NULL, run, bulk) != 0) {
        chunk_destroy(bulk->chunks[0]);
        chunk_destroy(bulk->chunks[1]);
        free(bulk);
        return error_set(err, ERR_UNAVAILABLE, "the bulk thread does not start");
    }
    *ret_bulk = bulk;
    return ERR_OK;
}

enum error_code bulk_line_parse(struct bulk_line *line,
                                const char *what,
                                const char *text,
                                size_t bytes,
                                json_t **ret_body)
{
    if (bytes > LIMIT_BODY_BYTES) {
        return error_set(&line->error, ERR_TOO_LARGE, "%s has at most %d bytes", what,
                         LIMIT_BODY_BYTES);
    }
    return json_in_parse(text, bytes, ret_body, &line->error);
}

void bulk_results_begin(struct bulk_source *source, struct json_out *out)
{
    (void)source;
    json_out_object_open(out, NULL);
    json_out_array_open(out, "results");
}

void bulk_results_end(struct bulk_source *source, struct json_out *out)
{
    (void)source;
    json_out_array_close(out);
    json_out_object_close(out);
}

void bulk_stop(struct bulk *bulk)
{
    if (bulk == NULL || bulk->is_joined) {
        return;
    }
    pthread_mutex_lock(&bulk->lock);
    bulk->is_stopping = true;
    pthread_cond_broadcast(&bulk->wake);
    pthread_mutex_unlock(&bulk->lock);
    (void)pthread_join(bulk->thread, NULL);
    bulk->is_joined = true;
}

void bulk_destroy(struct bulk *bulk)
{
    if (bulk == NULL) {
        return;
    }
    bulk_stop(bulk);
    for (size_t i = 0; i < ARRAY_LEN(bulk->chunks); i++) {
        chunk_reset(bulk->chunks[i]);
        chunk_destroy(bulk->chunks[i]);
    }
    (void)pthread_mutex_destroy(&bulk->lock);
    (void)pthread_cond_destroy(&bulk->wake);
    free(bulk);
}
