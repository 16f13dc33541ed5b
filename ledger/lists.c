/* See lists.h. */
#include "ledger/lists.h"

#include <stdlib.h>
#include <string.h>

static void fail_memory(struct ledger *ledger)
{
    working_set_fail_memory(ledger->set, "a list");
}

/* Room for one more element. */
static bool reserve(void **array, size_t count, size_t *capacity, size_t element_bytes)
{
    if (count < *capacity) {
        return true;
    }
    size_t larger = *capacity == 0 ? 8 : *capacity * 2;
    void *grown = realloc(*array, larger * element_bytes);
    if (grown == NULL) {
        return false;
    }
    *array = grown;
    *capacity = larger;
    return true;
}

/* A growing list of numbers, for callbacks, which may not use the working set. */
struct numbers {
    int64_t *nos;
    size_t count;
    size_t capacity;
    bool failed;
};

static bool numbers_add(struct numbers *numbers, int64_t no)
{
    void *array = numbers->nos;
    if (!reserve(&array, numbers->count, &numbers->capacity, sizeof *numbers->nos)) {
        numbers->failed = true;
        return false;
    }
    numbers->nos = array;
    numbers->nos[numbers->count++] = no;
    return true;
}

/* ---- payers */

void payer_rows_destroy(void *rows)
{
    free(((struct payer_rows *)rows)->cells);
    free(rows);
}

static bool collect_grant(void *context, const void *record)
{
    const struct grant *grant = record;
    return grant->ended ? true : numbers_add(context, grant->grant_no);
}

bool list_grant_before(const struct grant *a, const struct grant *b)
{
    if (a->kind != b->kind) {
        return a->kind < b->kind;
    }
    return a->end_s != b->end_s ? a->end_s < b->end_s : a->grant_no < b->grant_no;
}

static void place(struct payer_rows *rows, struct cell *cell)
{
    size_t at = rows->count++;
    while (at > 0 && list_grant_before(cell_record(cell), cell_record(rows->cells[at - 1]))) {
        rows->cells[at] = rows->cells[at - 1];
        at--;
    }
    rows->cells[at] = cell;
}

static void payer_rows_load(struct ledger *ledger, int64_t node_no, struct payer_rows *rows)
{
    struct numbers numbers = {0};
    struct select_args args = {.n = {node_no}};
    working_set_select(ledger->set, SELECT_GRANTS_OF_NODE, &args, collect_grant, &numbers);
    rows->count = 0;
    for (size_t i = 0; i < numbers.count && !numbers.failed; i++) {
        void *array = rows->cells;
        numbers.failed = !reserve(
            &array, rows->count, &rows->capacity,
            sizeof(struct cell *)); /* NOLINT(bugprone-sizeof-expression): pointers it is */
        rows->cells = array;
        struct cell *cell = row_find(ledger->set, RECORD_GRANT, numbers.nos[i]);
        if (!numbers.failed && cell_exists(cell)) {
            place(rows, cell);
        }
    }
    if (numbers.failed) {
        fail_memory(ledger);
    }
    free(numbers.nos);
    rows->generation = working_set_generation(ledger->set);
}

const struct payer_rows *list_payer_rows(struct ledger *ledger, int64_t node_no)
{
    static const struct payer_rows none;
    struct payer_rows *rows = map_get(&ledger->payers, node_no);
    if (rows == NULL) {
        rows = calloc(1, sizeof *rows);
        if (rows == NULL || !map_add(&ledger->payers, node_no, rows)) {
            free(rows);
            fail_memory(ledger);
            return &none;
        }
    }
    if (rows->generation != working_set_generation(ledger->set)) {
        payer_rows_load(ledger, node_no, rows);
    }
    return rows;
}

/* ---- rate cards */

void card_versions_destroy(void *versions)
{
    free(((struct card_versions *)versions)->versions);
    free(versions);
}

static bool collect_version(void *context, const void *record)
{
    const struct rate_version *row = record;
    struct card_versions *list = context;
    void *array = list->versions;
    if (!reserve(&array, list->count, &list->capacity, sizeof *list->versions)) {
        list->generation = UINT64_MAX;
        return false;
    }
    list->versions = array;
    size_t at = list->count++;
    /* Rows come by version: the higher number goes before its equals. */
    while (at > 0 && list->versions[at - 1].effective_from_s <= row->effective_from_s) {
        list->versions[at] = list->versions[at - 1];
        at--;
    }
    list->versions[at] = (struct card_version){
        .effective_from_s = row->effective_from_s,
        .version = row->version,
    };
    return true;
}

static void card_versions_load(struct ledger *ledger,
                               int64_t cluster_no,
                               struct card_versions *list)
{
    struct select_args args = {.n = {cluster_no}};
    list->count = 0;
    list->generation = 0;
    working_set_select(ledger->set, SELECT_RATE_VERSIONS, &args, collect_version, list);
    if (list->generation == UINT64_MAX) {
        fail_memory(ledger);
    }
    list->generation = working_set_generation(ledger->set);
}

int64_t list_card_at(struct ledger *ledger, int64_t cluster_no, int64_t at_s)
{
    struct card_versions *list = map_get(&ledger->cards, cluster_no);
    if (list == NULL) {
        list = calloc(1, sizeof *list);
        if (list == NULL || !map_add(&ledger->cards, cluster_no, list)) {
            free(list);
            fail_memory(ledger);
            return 0;
        }
    }
    if (list->generation != working_set_generation(ledger->set)) {
        card_versions_load(ledger, cluster_no, list);
    }
    for (size_t i = 0; i < list->count; i++) {
        if (list->versions[i].effective_from_s <= at_s) {
            return list->versions[i].version;
        }
    }
    return 0;
}

/* ---- clusters */

static bool collect_cluster(void *context, const void *record)
{
    return numbers_add(context, ((const struct cluster *)record)->cluster_no);
}

const struct cluster_list *list_clusters(struct ledger *ledger)
{
    struct cluster_list *list = &ledger->clusters;
    if (list->generation != working_set_generation(ledger->set)) {
        struct numbers numbers = {.nos = list->nos, .capacity = list->capacity};
        struct select_args args = {0};
        working_set_select(ledger->set, SELECT_CLUSTERS, &args, collect_cluster, &numbers);
        if (numbers.failed) {
            fail_memory(ledger);
        }
        list->nos = numbers.nos;
        list->count = numbers.count;
        list->capacity = numbers.capacity;
        list->generation = working_set_generation(ledger->set);
    }
    return list;
}

/* ---- models */

bool model_names_put(struct model_names *models, int64_t no, const char *name)
{
    while ((size_t)no >= models->count) {
        void *array = models->names;
        if (!reserve(&array, models->count, &models->capacity, sizeof *models->names)) {
            return false;
        }
        models->names = array;
        models->names[models->count++][0] = '\0';
    }
    row_text(models->names[no], sizeof models->names[no], name);
    return true;
}

static bool collect_model(void *context, const void *record)
{
    const struct name *row = record;
    struct model_names *models = context;
    models->loaded = model_names_put(models, row->target_no, row->name);
    return models->loaded;
}

const char *list_model_name(struct ledger *ledger, int64_t model_no)
{
    struct model_names *models = &ledger->models;
    bool known = models->loaded && (size_t)model_no < models->count;
    if (model_no > 0 && !known) {
        struct select_args args = {.n = {NAMES_MODEL, 0}, .s = {""}};
        models->count = 0;
        models->loaded = true;
        working_set_select(ledger->set, SELECT_NAMES, &args, collect_model, models);
        if (!models->loaded) {
            fail_memory(ledger);
        }
    }
    return model_no > 0 && (size_t)model_no < models->count ? models->names[model_no] : "";
}

void lists_forget(struct ledger *ledger)
{
    ledger->models.loaded = false;
    working_set_touch(ledger->set);
}

void lists_fini(struct ledger *ledger)
{
    map_fini(&ledger->payers);
    map_fini(&ledger->cards);
    free(ledger->clusters.nos);
    free(ledger->models.names);
}
