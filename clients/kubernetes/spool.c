/* Files of pods: see spool.h. */
#include "clients/kubernetes/spool.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/counters.h"
#include "clients/kubernetes/object.h"

enum { PATH_BYTES = 255 + 1 + 255 + 1, FILE_BYTES_MAX = 65536 }; /* spool_dir, '/', a name */

/* Outcomes that a file may name: the strings of struct pod_end are constants. */
static const char *const outcomes[] = {"completed", "failed", "cancelled", "node_fail", "boot_fail",
                                       "preempted", "oom",    "deadline",  "other"};

static void path_write(const char *folder, const char *uid, const char *suffix, char *ret_path)
{
    (void)snprintf(ret_path, PATH_BYTES, "%.255s/%.64s%s", folder, uid, suffix);
}

bool spool_open(const char *folder, struct agent_error *ret_error)
{
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        return agent_error_set(ret_error, "spool_dir %.200s cannot be made: %m", folder);
    }
    return access(folder, R_OK | W_OK | X_OK) == 0 ||
           agent_error_set(ret_error, "spool_dir %.200s cannot be used: %m", folder);
}

/* ---- writing */

static json_t *record_write(const struct pod_record *record)
{
    const struct pod_facts *facts = &record->facts;
    json_t *end = facts->end.at_s == 0
                      ? json_null()
                      : json_pack("{s:I, s:s, s:i}", "at_s", (json_int_t)facts->end.at_s, "outcome",
                                  facts->end.outcome, "evidence", (int)facts->end.evidence);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:b, s:O?, s:O?, s:O?, s:o}",
        "uid", facts->uid, "namespace", facts->namespace, "name", facts->name, "node", facts->node,
        "account", record->rules.account, "user", record->user, "qos", record->qos, "mode",
        (int)record->rules.mode, "created_s", (json_int_t)facts->created_s, "scheduled_s",
        (json_int_t)facts->scheduled_s, "time_limit_s", (json_int_t)facts->time_limit_s, "placed",
        facts->placed, "resources", record->resources, "allocated", record->allocated, "relations",
        record->relations, "end", end);
}

static bool file_replace(const char *part, const char *path, const char *text, bool durable)
{
    const int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) {
        return false;
    }
    const size_t bytes = strlen(text);
    bool ok = write(fd, text, bytes) == (ssize_t)bytes && (!durable || fsync(fd) == 0);
    ok = close(fd) == 0 && ok;
    return ok && rename(part, path) == 0;
}

static void folder_sync(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        (void)fsync(fd);
        (void)close(fd);
    }
}

bool spool_put(const char *folder, struct pod_record *record, bool durable)
{
    char path[PATH_BYTES];
    char part[PATH_BYTES];
    path_write(folder, record->facts.uid, ".json", path);
    path_write(folder, record->facts.uid, ".part", part);
    json_t *object = record_write(record);
    char *text = object == NULL ? NULL : json_dumps(object, JSON_COMPACT);
    json_decref(object);
    const bool ok = text != NULL && file_replace(part, path, text, durable);
    free(text);
    if (!ok) {
        agent_log("error", "spool_failed", "path", path, "why", strerrorname_np(errno), NULL);
        return false;
    }
    if (durable) {
        folder_sync(folder);
    }
    counter_add(COUNTER_SPOOLED, record->spooled ? 0 : 1);
    record->spooled = true;
    return true;
}

void spool_touch(const char *folder, const struct pod_record *record)
{
    char path[PATH_BYTES];
    path_write(folder, record->facts.uid, ".json", path);
    const struct timespec times[2] = {{.tv_sec = record->seen_s}, {.tv_sec = record->seen_s}};
    (void)utimensat(AT_FDCWD, path, times, 0);
}

void spool_drop(const char *folder, struct pod_record *record)
{
    if (!record->spooled) {
        return;
    }
    char path[PATH_BYTES];
    path_write(folder, record->facts.uid, ".json", path);
    (void)unlink(path);
    record->spooled = false;
    counter_add(COUNTER_SPOOLED, -1);
}

/* ---- reading */

static const char *outcome_find(const char *text)
{
    for (size_t i = 0; i < sizeof outcomes / sizeof outcomes[0]; i++) {
        if (strcmp(outcomes[i], text) == 0) {
            return outcomes[i];
        }
    }
    return "other";
}

static void end_read(const json_t *object, struct pod_end *end)
{
    const json_t *given = object_get(object, "end", NULL);
    const json_int_t evidence = json_integer_value(object_get(given, "evidence", NULL));
    if (!json_is_object(given) || evidence < EVIDENCE_CONTAINERS || evidence > EVIDENCE_RECEIPT) {
        return;
    }
    end->at_s = json_integer_value(object_get(given, "at_s", NULL));
    end->outcome = outcome_find(object_text(given, "outcome", NULL));
    end->evidence = (enum pod_evidence)evidence;
}

/* A new reference to a member that is an object, else NULL. */
static json_t *object_keep(const json_t *object, const char *member)
{
    json_t *place = object_get(object, member, NULL);
    return json_is_object(place) ? json_incref(place) : NULL;
}

static void record_read(const json_t *object, struct pod_record *record)
{
    struct pod_facts *facts = &record->facts;
    object_copy(facts->namespace, object_text(object, "namespace", NULL), sizeof facts->namespace);
    object_copy(facts->name, object_text(object, "name", NULL), sizeof facts->name);
    object_copy(facts->node, object_text(object, "node", NULL), sizeof facts->node);
    object_copy(record->rules.account, object_text(object, "account", NULL),
                sizeof record->rules.account);
    object_copy(record->user, object_text(object, "user", NULL), sizeof record->user);
    object_copy(record->qos, object_text(object, "qos", NULL), sizeof record->qos);
    record->rules.mode = (enum namespace_mode)json_integer_value(object_get(object, "mode", NULL));
    facts->created_s = json_integer_value(object_get(object, "created_s", NULL));
    facts->scheduled_s = json_integer_value(object_get(object, "scheduled_s", NULL));
    facts->time_limit_s = json_integer_value(object_get(object, "time_limit_s", NULL));
    facts->placed = json_is_true(object_get(object, "placed", NULL));
    facts->grace_s = -1;
    end_read(object, &facts->end);
    record->resources = json_incref(object_get(object, "resources", NULL));
    record->allocated = object_keep(object, "allocated");
    record->relations = object_keep(object, "relations");
}

static void file_load(const char *path, struct pod_store *store)
{
    struct stat status;
    json_t *object = NULL;
    if (stat(path, &status) == 0 && status.st_size <= FILE_BYTES_MAX) {
        object = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    }
    const char *uid = object_text(object, "uid", NULL);
    const bool usable = uid[0] != '\0' && strlen(uid) < POD_UID_BYTES &&
                        json_is_object(object_get(object, "resources", NULL));
    struct pod_record *record = NULL;
    if (!usable) {
        agent_log("error", "spool_file_unreadable", "path", path, NULL);
    } else if (pod_store_find(store, uid) == NULL) {
        record = pod_store_add(store, uid);
    }
    if (record != NULL) {
        record_read(object, record);
        record->seen_s = status.st_mtim.tv_sec;
        record->spooled = true;
        counter_add(COUNTER_SPOOLED, 1);
    }
    json_decref(object);
}

void spool_load(const char *folder, struct pod_store *store)
{
    DIR *files = opendir(folder);
    if (files == NULL) {
        return;
    }
    const struct dirent *file;
    /* A stream of our own. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    while ((file = readdir(files)) != NULL) {
        const size_t bytes = strlen(file->d_name);
        if (bytes > 5 && strcmp(file->d_name + bytes - 5, ".json") == 0) {
            char path[PATH_BYTES];
            (void)snprintf(path, sizeof path, "%.255s/%.255s", folder, file->d_name);
            file_load(path, store);
        }
    }
    (void)closedir(files);
}
