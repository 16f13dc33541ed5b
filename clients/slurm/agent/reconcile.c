/* SPDX-License-Identifier: MIT
 *
 * See reconcile.h. A subject is a hold with what the ledger and Slurm know of it. Subjects come from the ledger's open holds
 * and from the records of the window; each is judged alone. */
#include "clients/slurm/agent/reconcile.h"

#include <inttypes.h>
#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "clients/slurm/agent/columns.h"
#include "clients/slurm/agent/indexes.h"
#include "clients/slurm/agent/logs.h"
#include "clients/slurm/agent/ops.h"
#include "clients/slurm/agent/program.h"
#include "clients/slurm/agent/records.h"
#include "clients/units.h"
#include "clients/url.h"

enum {
    SEEN_LATER_S =
        120, /* a record that ends this long before the ledger last heard of the job is not believed */
    OUTAGE_TAIL_S =
        60,       /* ends recorded this long after the controller came back may be its own time */
    YOUNG_S = 15, /* a job that has just been submitted is left alone */
};

struct subject {
    struct token token;
    json_t *hold;    /* in full, with its runs; NULL: the ledger does not know it */
    uint32_t job_id; /* 0: not bound */
    int64_t submit_s;
    bool is_live; /* in the queue, not ended */
};

struct subjects {
    struct subject **items;
    size_t count;
    size_t room;
    void *tree; /* tsearch, by hold */
};

struct pass {
    struct reconcile *reconcile;
    struct subjects subjects;
    struct records records; /* by id, of all subjects */
    struct records window;
    const struct record **by_array; /* the records ordered by array id, then as they are */
};

/* ---- telling ---- */

struct finding {
    const char *job;
    const char *hold;
    const char *what;
    const char *action;
};

static void tell(struct reconcile *reconcile, const struct finding *finding)
{
    if (reconcile->is_quiet) {
        logs_say(4, "reconcile: job %s hold %s: %s: %s", finding->job, finding->hold, finding->what,
                 finding->action);
        return;
    }
    if (reconcile->repaired + reconcile->listed == 0) {
        (void)fprintf(reconcile->out, "%-20s %-42s %-50s %s\n", "JOB", "HOLD", "WHAT", "ACTION");
    }
    (void)fprintf(reconcile->out, "%-20s %-42s %-50s %s\n", finding->job, finding->hold,
                  finding->what, finding->action);
}

static void list(struct pass *pass,
                 const char *job,
                 const struct subject *subject,
                 const char *what)
{
    const struct finding finding = {job, subject->token.hold, what, "listed: look into it"};
    tell(pass->reconcile, &finding);
    pass->reconcile->listed++;
}

/* Repairs by an operation, or says that it would. Takes `op` over. Returns false when the ledger is away. */
static bool repair(struct pass *pass,
                   const char *job,
                   const struct subject *subject,
                   const char *what,
                   json_t *op)
{
    struct reconcile *reconcile = pass->reconcile;
    char action[200];
    const char *name = json_string_value(json_object_get(op, "op"));
    json_t *answer = link_do(reconcile->client, op, reconcile->is_dry_run, reconcile->detail);
    const int status = link_status(answer);
    const bool good = status >= 200 && status < 300;
    (void)snprintf(action, sizeof action, good ? "%s%s" : "%s%s refused: %d %s",
                   reconcile->is_dry_run ? "would " : "", name == NULL ? "" : name, status,
                   link_code(answer));
    if (answer != NULL) {
        const struct finding finding = {job, subject->token.hold, what, action};
        tell(reconcile, &finding);
        *(good ? &reconcile->repaired : &reconcile->listed) += 1;
    }
    const bool there = answer != NULL && !link_is_later(status);
    json_decref(answer);
    json_decref(op);
    return there;
}

/* ---- the ledger's side ---- */

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

static int64_t time_of(const json_t *object, const char *name)
{
    int64_t time_s = 0;
    return corehour_time_parse(text_of(object, name), 0, &time_s) == COREHOUR_OK ? time_s : 0;
}

static int subjects_compare(const void *a, const void *b)
{
    return strcmp(((const struct subject *)a)->token.hold, ((const struct subject *)b)->token.hold);
}

static struct subject *subject_find(const struct subjects *subjects, const char *hold)
{
    struct subject wanted = {0};
    memcpy(wanted.token.hold, hold, strnlen(hold, sizeof wanted.token.hold - 1));
    void *node = tfind(&wanted, &subjects->tree, subjects_compare);
    return node == NULL ? NULL : *(struct subject **)node;
}

static struct subject *subject_add(struct subjects *subjects, const struct token *token)
{
    struct subject *subject = subject_find(subjects, token->hold);
    if (subject != NULL) {
        return subject;
    }
    if (subjects->count == subjects->room) {
        const size_t room = subjects->room == 0 ? 64 : subjects->room * 2;
        struct subject **grown = realloc(subjects->items, room * sizeof(void *));
        if (grown == NULL) {
            return NULL;
        }
        subjects->items = grown;
        subjects->room = room;
    }
    subject = calloc(1, sizeof *subject);
    if (subject == NULL) {
        return NULL;
    }
    subject->token = *token;
    subjects->items[subjects->count++] = subject;
    return tsearch(subject, &subjects->tree, subjects_compare) == NULL ? NULL : subject;
}

static void subjects_fini(struct subjects *subjects)
{
    for (size_t i = 0; i < subjects->count; i++) {
        (void)tdelete(subjects->items[i], &subjects->tree, subjects_compare);
        json_decref(subjects->items[i]->hold);
        free(subjects->items[i]);
    }
    free(subjects->items);
}

/* "8@1796058251" of a bound hold. */
static void key_read(struct subject *subject, const json_t *hold)
{
    char id[24];
    const char *key = text_of(hold, "job_key");
    const char *at = strchr(key, '@');
    if (at == NULL || at - key >= (ptrdiff_t)sizeof id) {
        return;
    }
    (void)snprintf(id, sizeof id, "%.*s", (int)(at - key), key);
    const int64_t number = columns_number(id, 0);
    if (number > 0 && number < UINT32_MAX) {
        subject->job_id = (uint32_t)number;
        subject->submit_s = columns_number(at + 1, 0);
    }
}

static bool holds_take(struct pass *pass, const json_t *page)
{
    size_t i;
    json_t *hold;
    json_array_foreach(json_object_get(page, "items"), i, hold)
    {
        struct token token = {0};
        (void)snprintf(token.hold, sizeof token.hold, "%s", text_of(hold, "id"));
        if (pass->reconcile->skip != NULL &&
            pass->reconcile->skip(pass->reconcile->context, token.hold)) {
            continue;
        }
        struct subject *subject = subject_add(&pass->subjects, &token);
        if (subject == NULL) {
            return false;
        }
        key_read(subject, hold);
    }
    return true;
}

/* All open holds of the cluster in one state, page by page. */
static bool holds_read(struct pass *pass, const char *state)
{
    char next[512] = "";
    do {
        char path[COREHOUR_URL_BYTES] = "/v1/holds";
        int status;
        if (corehour_url_query(path, sizeof path, "cluster", pass->reconcile->cluster) !=
                COREHOUR_OK ||
            corehour_url_query(path, sizeof path, "state", state) != COREHOUR_OK ||
            (*next != '\0' &&
             corehour_url_query(path, sizeof path, "page_token", next) != COREHOUR_OK)) {
            return false;
        }
        json_t *page = link_get(pass->reconcile->client, path, &status, pass->reconcile->detail);
        const bool good = page != NULL && holds_take(pass, page);
        (void)snprintf(next, sizeof next, "%s", text_of(page, "next_page_token"));
        json_decref(page);
        if (!good) {
            return false;
        }
    } while (*next != '\0');
    return true;
}

/* GET of a hold. Returns false when the ledger is away; ret_hold NULL: it is not known. */
static bool hold_get(struct reconcile *reconcile, const char *id, json_t **ret_hold)
{
    char path[COREHOUR_URL_BYTES] = "/v1/holds";
    int status = 0;
    if (corehour_url_segment(path, sizeof path, id) != COREHOUR_OK) {
        return false;
    }
    *ret_hold = link_get(reconcile->client, path, &status, reconcile->detail);
    return *ret_hold != NULL || status == 404;
}

/* ---- Slurm's side ---- */

static bool window_take(struct pass *pass)
{
    struct reconcile *reconcile = pass->reconcile;
    for (size_t i = 0; i < pass->window.count; i++) {
        const struct record *record = &pass->window.rows[i];
        const bool is_wanted =
            reconcile->since_s > 0 && record->is_ours && record->end_s >= reconcile->since_s;
        if (!is_wanted ||
            (reconcile->skip != NULL && reconcile->skip(reconcile->context, record->token.hold))) {
            continue;
        }
        struct subject *subject = subject_add(&pass->subjects, &record->token);
        if (subject == NULL) {
            return false;
        }
        subject->token.is_open = record->token.is_open;
        subject->job_id = subject->job_id == 0 ? record->array_id : subject->job_id;
    }
    return true;
}

/* Unbound holds whose job ran and is gone from the queue: the record names them. */
static void unbound_take(struct pass *pass)
{
    for (size_t i = 0; i < pass->window.count; i++) {
        const struct record *record = &pass->window.rows[i];
        struct subject *subject =
            record->is_ours ? subject_find(&pass->subjects, record->token.hold) : NULL;
        if (subject != NULL && subject->job_id == 0) {
            subject->job_id = record->array_id;
        }
    }
}

static void queue_take(struct pass *pass)
{
    const struct queue *queue = pass->reconcile->queue;
    for (size_t i = 0; i < queue->count; i++) {
        const struct queue_job *row = &queue->jobs[i];
        struct subject *subject =
            row->is_ours ? subject_find(&pass->subjects, row->token.hold) : NULL;
        if (subject != NULL) {
            subject->is_live = subject->is_live || row->fate.kind <= FATE_ENDING;
            subject->job_id = row->array_id;
        }
    }
}

static int by_array_compare(const void *a, const void *b)
{
    const struct record *x = *(const struct record *const *)a;
    const struct record *y = *(const struct record *const *)b;
    if (x->array_id != y->array_id) {
        return x->array_id < y->array_id ? -1 : 1;
    }
    return x < y ? -1 : x > y; /* in the order in which they are: raw id, submission, DBIndex */
}

/* The records of all subjects that have a job, ordered by it. */
static bool records_take(struct pass *pass)
{
    uint32_t *ids = calloc(pass->subjects.count + 1, sizeof *ids);
    size_t count = 0;
    bool good = ids != NULL;
    for (size_t i = 0; good && i < pass->subjects.count; i++) {
        if (pass->subjects.items[i]->job_id != 0) {
            ids[count++] = pass->subjects.items[i]->job_id;
        }
    }
    if (good && count > 0) {
        good = records_read_ids(pass->reconcile->sacct, ids, count, &pass->records,
                                pass->reconcile->detail);
    }
    free(ids);
    pass->by_array = good ? calloc(pass->records.count + 1, sizeof(void *)) : NULL;
    if (pass->by_array == NULL) {
        return false;
    }
    for (size_t i = 0; i < pass->records.count; i++) {
        pass->by_array[i] = &pass->records.rows[i];
    }
    qsort(pass->by_array, pass->records.count, sizeof(void *), by_array_compare);
    return true;
}

/* ---- judging one attempt ---- */

struct attempt {
    const struct record *record;
    int64_t task;
    int64_t number;
    bool another; /* another attempt follows */
};

static json_t *end_op(const char *verb,
                      const struct subject *subject,
                      const struct attempt *attempt)
{
    const struct ops_run run = {subject->token.hold, attempt->task, attempt->number};
    return ops_end(verb, &run, attempt->record);
}

static const json_t *run_find(const json_t *hold, const struct attempt *attempt)
{
    char key[32];
    size_t i;
    json_t *run;
    (void)snprintf(key, sizeof key, "%" PRIu64, attempt->record->db_index);
    json_array_foreach(json_object_get(hold, "runs"), i, run)
    {
        const bool is_it = json_integer_value(json_object_get(run, "task")) == attempt->task &&
                           json_integer_value(json_object_get(run, "attempt")) == attempt->number;
        if (is_it || strcmp(text_of(run, "run_key"), key) == 0) {
            return run;
        }
    }
    return NULL;
}

static void job_text(const struct record *record, char *ret_text, size_t size_bytes)
{
    if (record->is_array) {
        (void)snprintf(ret_text, size_bytes, "%" PRIu32 "_%.12s", record->array_id,
                       record->indexes);
    } else {
        (void)snprintf(ret_text, size_bytes, "%" PRIu32, record->raw_id);
    }
}

static bool is_in_outage(const struct reconcile *reconcile, const struct record *record)
{
    size_t i;
    json_t *outage;
    json_array_foreach(reconcile->outages, i, outage)
    {
        const int64_t from_s = json_integer_value(json_object_get(outage, "from"));
        const int64_t to_s = json_integer_value(json_object_get(outage, "to"));
        if (record->start_s < from_s && record->end_s >= to_s - 5 &&
            record->end_s <= to_s + OUTAGE_TAIL_S) {
            return true;
        }
    }
    return false;
}

static bool uncharged_judge(struct pass *pass,
                            const struct subject *subject,
                            const struct attempt *attempt)
{
    const struct record *record = attempt->record;
    char id[COREHOUR_ID_BYTES];
    char job[40];
    char key[48];
    json_t *charge = NULL;
    ops_charge_id(subject->token.hold, attempt->task, attempt->number, id);
    if (!hold_get(pass->reconcile, id, &charge)) {
        return false;
    }
    if (charge != NULL) {
        json_decref(charge);
        return true;
    }
    job_text(record, job, sizeof job);
    ops_job_key(record->array_id, subject->submit_s, key, sizeof key);
    const struct ops_job about = {key,         record->account, record->user, record->partition,
                                  record->qos, record->raw_id,  true};
    json_t *op = end_op("settle", subject, attempt);
    json_t *shown = ops_job_json(&about);
    const bool good = repair(pass, job, subject,
                             subject->token.is_open ? "let through, not charged"
                                                    : "ran, and the ledger knows no such hold",
                             ops_charge(op, shown, pass->reconcile->cluster));
    json_decref(op);
    json_decref(shown);
    return good;
}

/* The run is settled: with the same facts? */
static bool settled_judge(struct pass *pass,
                          const struct subject *subject,
                          const struct attempt *attempt)
{
    char job[40];
    json_t *op = end_op("settle", subject, attempt);
    json_t *answer = link_do(pass->reconcile->client, op, true, pass->reconcile->detail);
    const bool differs = strcmp(link_code(answer), "run_conflict") == 0;
    const bool there = answer != NULL && !link_is_later(link_status(answer));
    json_decref(answer);
    json_decref(op);
    job_text(attempt->record, job, sizeof job);
    if (!there || !differs) {
        return there;
    }
    return repair(pass, job, subject, "charged by other facts than Slurm's record",
                  end_op("correct", subject, attempt));
}

static bool run_judge(struct pass *pass,
                      const struct subject *subject,
                      const struct attempt *attempt)
{
    const struct record *record = attempt->record;
    char job[40];
    job_text(record, job, sizeof job);
    if (is_in_outage(pass->reconcile, record)) {
        list(pass, job, subject, "its end may be that of an outage of slurmctld");
    }
    if (subject->hold == NULL) {
        return uncharged_judge(pass, subject, attempt);
    }
    const json_t *run = run_find(subject->hold, attempt);
    if (run != NULL && strcmp(text_of(run, "state"), "settled") == 0) {
        return settled_judge(pass, subject, attempt);
    }
    const bool single = json_integer_value(json_object_get(subject->hold, "tasks")) == 1;
    if (single && !attempt->another && run != NULL &&
        time_of(subject->hold, "last_seen_at") > record->end_s + SEEN_LATER_S) {
        list(pass, job, subject, "its record ends before it was last seen running");
        return true;
    }
    return repair(pass, job, subject, "ended, and the ledger was not told",
                  end_op(attempt->another ? "requeue" : "settle", subject, attempt));
}

/* ---- judging a task ---- */

static bool is_of(const struct record *record, const struct subject *subject)
{
    if (record->has_comment &&
        (!record->is_ours || strcmp(record->token.hold, subject->token.hold) != 0)) {
        return false;
    }
    return record->submit_s >= subject->submit_s;
}

static bool is_open_state(const json_t *hold)
{
    static const char *const open[] = {"waiting", "frozen"};
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
        if (strcmp(text_of(hold, "state"), open[i]) == 0 ||
            json_integer_value(json_object_get(json_object_get(hold, "task_states"), open[i])) >
                0) {
            return true;
        }
    }
    return false;
}

/* The ranks of the row's indexes: "3-9" where they follow each other, as those of a row do; else one by one. */
static void ranks_write(const struct record *record,
                        const struct indexes *indexes,
                        char *ret_tasks,
                        size_t size_bytes)
{
    struct indexes row = {0};
    size_t bytes = 0;
    *ret_tasks = '\0';
    if (!indexes_add(&row, record->indexes, strlen(record->indexes))) {
        return;
    }
    const int64_t first = indexes_rank(indexes, row.values[0]);
    const int64_t last = indexes_rank(indexes, row.values[row.count - 1]);
    if (first >= 0 && last - first + 1 == (int64_t)row.count) {
        (void)snprintf(ret_tasks, size_bytes, "%" PRId64 "-%" PRId64, first, last);
        indexes_fini(&row);
        return;
    }
    for (size_t i = 0; i < row.count && bytes + 24 < size_bytes; i++) {
        bytes += (size_t)snprintf(ret_tasks + bytes, size_bytes - bytes, "%s%" PRId64,
                                  i == 0 ? "" : ",", indexes_rank(indexes, row.values[i]));
    }
    indexes_fini(&row);
}

static bool unstarted_judge(struct pass *pass,
                            const struct subject *subject,
                            const struct record *record,
                            const struct indexes *indexes)
{
    char job[40];
    char tasks[4096];
    if (subject->hold == NULL || !is_open_state(subject->hold)) {
        return true;
    }
    ranks_write(record, indexes, tasks, sizeof tasks);
    json_t *op = ops_release(subject->token.hold, record->is_array ? tasks : NULL,
                             "cancelled before it started");
    json_t *answer = link_do(pass->reconcile->client, op, true, pass->reconcile->detail);
    const bool there = answer != NULL;
    const bool frees = json_integer_value(json_object_get(answer, "refunded_mcs")) > 0 ||
                       strcmp(text_of(subject->hold, "state"), "waiting") == 0;
    json_decref(answer);
    if (!there || !frees) {
        json_decref(op);
        return there;
    }
    job_text(record, job, sizeof job);
    return repair(pass, job, subject, "never started, and the ledger was not told", op);
}

/* What the judging of a task needs beside its rows. */
struct task_of {
    const struct subject *subject;
    const struct indexes *indexes; /* of the whole array */
    int64_t task;
};

/* The rows of one task, or the row of tasks that were cancelled together. */
static bool task_judge(struct pass *pass,
                       const struct task_of *of,
                       const struct record *const *rows,
                       size_t count)
{
    const struct subject *subject = of->subject;
    int64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        const bool is_last = i + 1 == count;
        const struct attempt attempt = {rows[i], of->task, number, !is_last || subject->is_live};
        char job[40];
        if (!record_has_ended(rows[i])) {
            job_text(rows[i], job, sizeof job);
            if (!subject->is_live) {
                list(pass, job, subject,
                     "runaway: Slurm knows no end of it, its queue no such job");
            }
            return true;
        }
        if (is_last && subject->is_live) {
            return true; /* the agent is at it */
        }
        if (!record_has_run(rows[i])) {
            if (is_last && !unstarted_judge(pass, subject, rows[i], of->indexes)) {
                return false;
            }
            continue;
        }
        if (!run_judge(pass, subject, &attempt)) {
            return false;
        }
        number++;
    }
    return true;
}

/* All tasks of a subject. rows: its records, in the order of raw id, submission, DBIndex. */
static bool tasks_judge(struct pass *pass,
                        const struct subject *subject,
                        const struct record *const *rows,
                        size_t count)
{
    struct indexes indexes = {0};
    const int64_t tasks =
        subject->hold == NULL ? 0 : json_integer_value(json_object_get(subject->hold, "tasks"));
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        (void)(rows[i]->is_array &&
               indexes_add(&indexes, rows[i]->indexes, strlen(rows[i]->indexes)));
    }
    if (tasks > 1 && (int64_t)indexes.count != tasks) {
        char job[40];
        (void)snprintf(job, sizeof job, "%" PRIu32, subject->job_id);
        list(pass, job, subject, "Slurm shows another number of array tasks than were frozen");
        count = 0;
    }
    for (size_t first = 0; good && first < count;) {
        size_t end = first + 1;
        while (end < count && rows[end]->raw_id == rows[first]->raw_id &&
               strcmp(rows[end]->indexes, rows[first]->indexes) == 0) {
            end++;
        }
        const bool single =
            rows[first]->indexes[strspn(rows[first]->indexes, "0123456789")] == '\0';
        const struct task_of of = {
            .subject = subject,
            .indexes = &indexes,
            .task = rows[first]->is_array && single
                        ? indexes_rank(&indexes, (uint32_t)columns_number(rows[first]->indexes, 0))
                        : 0,
        };
        good = task_judge(pass, &of, rows + first, end - first);
        first = end;
    }
    indexes_fini(&indexes);
    return good;
}

/* ---- judging a subject ---- */

/* No record and no job: an orphan when it was never bound. */
static bool recordless_judge(struct pass *pass, const struct subject *subject)
{
    char job[24] = "-";
    const int64_t created_s = time_of(subject->hold, "created_at");
    if (subject->hold == NULL || subject->is_live ||
        !json_is_string(json_object_get(subject->hold, "state"))) {
        return true;
    }
    if (subject->job_id != 0) {
        (void)snprintf(job, sizeof job, "%" PRIu32, subject->job_id);
        list(pass, job, subject, "neither the queue nor the records know this job");
        return true;
    }
    if (pass->reconcile->now_s - created_s < pass->reconcile->orphan_s) {
        return true;
    }
    return repair(pass, job, subject, "no job came of it",
                  ops_release(subject->token.hold, NULL, "no job came of it"));
}

/* A hold that is not bound to the job that carries it: nobody has told the ledger of it. */
static bool bind_judge(struct pass *pass, const struct subject *subject, const struct record *first)
{
    char id[16];
    char key[48];
    const bool bound = json_is_string(json_object_get(subject->hold, "job_id"));
    if (subject->hold == NULL || bound || first == NULL ||
        (subject->is_live && pass->reconcile->now_s - first->submit_s < YOUNG_S)) {
        return true;
    }
    (void)snprintf(id, sizeof id, "%" PRIu32, subject->job_id);
    ops_job_key(subject->job_id, first->submit_s, key, sizeof key);
    return repair(pass, id, subject, "not bound to its job",
                  ops_bind(subject->token.hold, id, key));
}

static size_t first_of_array(const struct pass *pass, uint32_t array_id)
{
    size_t low = 0;
    size_t high = pass->records.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (pass->by_array[middle]->array_id < array_id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool subject_judge(struct pass *pass, struct subject *subject)
{
    const struct record **rows = calloc(pass->records.count + 1, sizeof(void *));
    size_t count = 0;
    bool good = rows != NULL && hold_get(pass->reconcile, subject->token.hold, &subject->hold);
    for (size_t i = first_of_array(pass, subject->job_id);
         good && subject->job_id != 0 && i < pass->records.count &&
         pass->by_array[i]->array_id == subject->job_id;
         i++) {
        if (is_of(pass->by_array[i], subject)) {
            rows[count++] = pass->by_array[i];
        }
    }
    if (good && subject->submit_s == 0 && count > 0) {
        subject->submit_s = rows[0]->submit_s;
    }
    pass->reconcile->compared++;
    if (good) {
        good = bind_judge(pass, subject, count > 0 ? rows[0] : NULL) &&
               (count == 0 ? recordless_judge(pass, subject)
                           : tasks_judge(pass, subject, rows, count));
    }
    free(rows);
    return good;
}

static bool gather(struct pass *pass)
{
    static const char *const states[] = {"waiting", "frozen", "running", "suspended"};
    struct reconcile *reconcile = pass->reconcile;
    const int64_t since_s = reconcile->since_s > 0 ? reconcile->since_s : reconcile->now_s - 86400;
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        if (!holds_read(pass, states[i])) {
            return false;
        }
    }
    queue_take(pass);
    bool needs_window = reconcile->since_s > 0;
    for (size_t i = 0; i < pass->subjects.count; i++) {
        needs_window = needs_window || pass->subjects.items[i]->job_id == 0;
    }
    if (needs_window &&
        !records_read_since(reconcile->sacct, since_s, &pass->window, reconcile->detail)) {
        return false;
    }
    unbound_take(pass);
    if (!window_take(pass)) {
        return false;
    }
    queue_take(pass);
    return records_take(pass);
}

bool reconcile_run(struct reconcile *reconcile)
{
    struct pass pass = {.reconcile = reconcile};
    bool good = gather(&pass);
    for (size_t i = 0; good && i < pass.subjects.count; i++) {
        good = subject_judge(&pass, pass.subjects.items[i]);
    }
    subjects_fini(&pass.subjects);
    free(pass.by_array);
    records_fini(&pass.records);
    records_fini(&pass.window);
    return good;
}
