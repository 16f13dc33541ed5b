/* Namespaces by name: see namespaces.h. */
#include "clients/kubernetes/namespaces.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "clients/kubernetes/names.h"
#include "clients/kubernetes/object.h"

struct entry {
    struct entry *next;
    char name[64];
    struct namespace_rules rules;
    bool seen; /* by the list that is coming in */
};

struct namespaces {
    pthread_mutex_t lock;
    char own[64];
    bool known;
    struct entry *entries;
};

static const char *const protected_names[] = {"kube-system", "kube-public", "kube-node-lease"};

static const struct {
    const char *word;
    enum namespace_mode mode;
} modes[] = {
    {"enforce", NAMESPACE_ENFORCE},
    {"gate", NAMESPACE_GATE},
    {"observe", NAMESPACE_OBSERVE},
    {"kueue", NAMESPACE_KUEUE},
};

struct namespaces *namespaces_create(const char *own)
{
    struct namespaces *namespaces = calloc(1, sizeof *namespaces);
    if (namespaces != NULL) {
        pthread_mutex_init(&namespaces->lock, NULL);
        object_copy(namespaces->own, own, sizeof namespaces->own);
    }
    return namespaces;
}

void namespaces_destroy(struct namespaces *namespaces)
{
    if (namespaces == NULL) {
        return;
    }
    while (namespaces->entries != NULL) {
        struct entry *entry = namespaces->entries;
        namespaces->entries = entry->next;
        free(entry);
    }
    pthread_mutex_destroy(&namespaces->lock);
    free(namespaces);
}

bool namespaces_is_protected(const struct namespaces *namespaces, const char *name)
{
    for (size_t i = 0; i < sizeof protected_names / sizeof protected_names[0]; i++) {
        if (strcmp(protected_names[i], name) == 0) {
            return true;
        }
    }
    return strcmp(namespaces->own, name) == 0;
}

static struct entry **place_of(struct namespaces *namespaces, const char *name)
{
    struct entry **place = &namespaces->entries;
    while (*place != NULL && strcmp((*place)->name, name) != 0) {
        place = &(*place)->next;
    }
    return place;
}

/* When the label was written, by the API server's own record of who owns it. */
static int64_t labelled_s(const json_t *object)
{
    int64_t since_s = 0;
    size_t index;
    json_t *entry;
    json_array_foreach(object_get(object, "metadata", "managedFields", NULL), index, entry)
    {
        if (object_get(entry, "fieldsV1", "f:metadata", "f:labels", "f:" NAME_MODE, NULL) != NULL) {
            since_s = object_time(entry, "time");
        }
    }
    return since_s;
}

static struct namespace_rules rules_read(const struct namespaces *namespaces, const json_t *object)
{
    const char *name = object_text(object, "metadata", "name", NULL);
    const char *mode = object_text(object, "metadata", "labels", NAME_MODE, NULL);
    const char *account = object_text(object, "metadata", "annotations", NAME_ACCOUNT, NULL);
    struct namespace_rules rules = {.mode = NAMESPACE_UNTOUCHED};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(modes[i].word, mode) == 0 && !namespaces_is_protected(namespaces, name)) {
            rules.mode = modes[i].mode;
        }
    }
    rules.since_s = labelled_s(object);
    rules.gang = strcmp(object_text(object, "metadata", "labels", NAME_GANG, NULL), "true") == 0;
    object_copy(rules.account, account[0] == '\0' ? name : account, sizeof rules.account);
    return rules;
}

void namespaces_put(struct namespaces *namespaces, const json_t *object, bool deleted)
{
    const char *name = object_text(object, "metadata", "name", NULL);
    if (name[0] == '\0' || strlen(name) >= sizeof((struct entry *)0)->name) {
        return;
    }
    pthread_mutex_lock(&namespaces->lock);
    struct entry **place = place_of(namespaces, name);
    struct entry *entry = *place;
    if (deleted) {
        /* Its last pods may still have to be settled: the rules stay until the next list. */
        pthread_mutex_unlock(&namespaces->lock);
        return;
    }
    if (entry == NULL) {
        entry = calloc(1, sizeof *entry);
    }
    if (entry != NULL) {
        object_copy(entry->name, name, sizeof entry->name);
        entry->rules = rules_read(namespaces, object);
        entry->seen = true;
        *place = entry;
    }
    pthread_mutex_unlock(&namespaces->lock);
}

void namespaces_list_begin(struct namespaces *namespaces)
{
    pthread_mutex_lock(&namespaces->lock);
    for (struct entry *entry = namespaces->entries; entry != NULL; entry = entry->next) {
        entry->seen = false;
    }
    pthread_mutex_unlock(&namespaces->lock);
}

void namespaces_list_end(struct namespaces *namespaces)
{
    pthread_mutex_lock(&namespaces->lock);
    for (struct entry **place = &namespaces->entries; *place != NULL;) {
        struct entry *entry = *place;
        if (entry->seen) {
            place = &entry->next;
            continue;
        }
        *place = entry->next;
        free(entry);
    }
    namespaces->known = true;
    pthread_mutex_unlock(&namespaces->lock);
}

bool namespaces_are_known(struct namespaces *namespaces)
{
    pthread_mutex_lock(&namespaces->lock);
    const bool known = namespaces->known;
    pthread_mutex_unlock(&namespaces->lock);
    return known;
}

struct namespace_rules namespaces_find(struct namespaces *namespaces, const char *name)
{
    struct namespace_rules rules = {.mode = NAMESPACE_UNTOUCHED};
    object_copy(rules.account, name, sizeof rules.account);
    pthread_mutex_lock(&namespaces->lock);
    const struct entry *entry = *place_of(namespaces, name);
    if (entry != NULL) {
        rules = entry->rules;
    }
    pthread_mutex_unlock(&namespaces->lock);
    return rules;
}
