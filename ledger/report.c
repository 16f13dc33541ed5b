/*
 * Usage of a root, grouped (SPEC 8.3, 7.5).
 *
 * The finest rows are read once, in the order of their months and days, each priced for itself, and
 * added to groups in a hash table. When a month is over (a day, where days are a column), its groups
 * are sorted by their columns and given out, so that the order is the same every time and memory holds
 * one month, or one day, however long the time asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/core/rate.h"
#include "ledger/map.h"
#include "ledger/reader.h"
#include "ledger/strings.h"

enum { TEXTS = 8 };

/* The texts of a group, kept once each, in the order of sorting. */
enum text { ORGANIZATION, PROJECT, USER, CLUSTER, PARTITION, QOS, GPU_MODEL, CURRENCY };

struct group_key {
    const char *texts[TEXTS];
    int64_t outcome;
    int64_t day;
    int64_t month;
    int64_t period;
    int64_t kind;
    int64_t card_version;
    int64_t price_micro;
};

struct group {
    struct group_key key;
    int64_t used_mcs;
    int64_t mgs;
    int64_t waived_mcs;
    int64_t runs;
    int64_t unfrozen_mcs;
    int64_t cost_micro;
};

/* What a dims_no stands for. */
struct dims_texts {
    const char *texts[TEXTS];
    int64_t card_version;
    int64_t price_micro; /* -1: none */
    bool is_left_out;    /* not below the node that is asked for */
};

struct report {
    struct ledger_reader *reader;
    const struct report_query *query;
    report_row_fn row;
    void *context;
    bool stopped; /* by its taker */
    bool any;     /* rows of month and day below have been added */
    int64_t month;
    int64_t day;
    const char *empty; /* "" as kept in strings */
    struct strings strings;
    struct map dims; /* dims_no -> struct dims_texts */
    struct group *groups;
    uint32_t *slots; /* index + 1 into groups; 0: free */
    size_t slot_count;
    size_t count;
    size_t capacity;
    enum error_code code;
    struct error *err;
};

static bool fail(struct report *report, enum error_code code)
{
    report->code = code;
    return false;
}

static bool fail_memory(struct report *report)
{
    return fail(report, error_set(report->err, ERR_UNAVAILABLE, "out of memory for a report"));
}

/* ---- what a row stands for */

static bool keep(struct report *report, enum text which, const char *text, struct dims_texts *texts)
{
    texts->texts[which] = strings_keep(&report->strings, text);
    return texts->texts[which] != NULL ? true : fail_memory(report);
}

static bool keep_node(struct report *report,
                      enum text which,
                      int64_t node_no,
                      struct dims_texts *texts)
{
    struct node node;
    enum error_code code = ledger_read_node_no(report->reader, node_no, &node, report->err);
    return code == ERR_OK ? keep(report, which, node.name, texts) : fail(report, code);
}

/* Price and currency of a version; -1 and "" where it has none. */
static bool keep_price(struct report *report, const struct dims *dims, struct dims_texts *texts)
{
    struct rate_version version = {.cluster_no = dims->cluster_no, .version = dims->card_version};
    bool found = false;
    enum error_code code =
        reader_look(report->reader, RECORD_RATE_VERSION, &version, &found, report->err);
    if (code != ERR_OK) {
        return fail(report, code);
    }
    bool priced = found && version.price_micro >= 0;
    texts->card_version = dims->card_version;
    texts->price_micro = priced ? version.price_micro : -1;
    return keep(report, CURRENCY, priced ? version.currency : "", texts);
}

static bool lies_below(const struct dims *dims, int64_t node_no)
{
    for (int32_t i = 0; i < dims->path_count; i++) {
        if (dims->path[i].node_no == node_no) {
            return true;
        }
    }
    return node_no == 0;
}

static bool fill_texts(struct report *report, int64_t dims_no, struct dims_texts *texts)
{
    struct dims dims = {.dims_no = dims_no};
    char cluster[RECORD_NAME_BYTES];
    enum error_code code =
        reader_get(report->reader, RECORD_DIMS, &dims, "such dimensions", report->err);
    if (code == ERR_OK) {
        code = ledger_read_name_of(report->reader, NAMES_CLUSTER, dims.cluster_no, cluster,
                                   sizeof cluster, report->err);
    }
    if (code != ERR_OK) {
        return fail(report, code);
    }
    texts->is_left_out = !lies_below(&dims, report->query->below_no);
    int64_t organization_no = dims.path_count > 2 ? dims.path[2].node_no : dims.root_no;
    return keep_node(report, ORGANIZATION, organization_no, texts) &&
           keep_node(report, PROJECT, dims.project_no, texts) &&
           keep_node(report, USER, dims.member_no, texts) &&
           keep(report, CLUSTER, cluster, texts) &&
           keep(report, PARTITION, dims.partition, texts) && keep(report, QOS, dims.qos, texts) &&
           keep(report, GPU_MODEL, dims.gpu_model, texts) && keep_price(report, &dims, texts);
}

static const struct dims_texts *texts_of(struct report *report, int64_t dims_no)
{
    struct dims_texts *texts = map_get(&report->dims, dims_no);
    if (texts != NULL) {
        return texts;
    }
    texts = calloc(1, sizeof *texts);
    if (texts == NULL || !map_add(&report->dims, dims_no, texts)) {
        free(texts);
        (void)fail_memory(report);
        return NULL;
    }
    return fill_texts(report, dims_no, texts) ? texts : NULL;
}

/* ---- groups */

static uint64_t key_hash(const struct group_key *key)
{
    uint64_t hash = 0;
    uint64_t words[sizeof *key / 8];
    memcpy(words, key, sizeof words);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static uint32_t *slot_of(const struct report *report, const struct group_key *key)
{
    size_t mask = report->slot_count - 1;
    size_t i = (size_t)key_hash(key) & mask;
    while (report->slots[i] != 0 &&
           memcmp(&report->groups[report->slots[i] - 1].key, key, sizeof *key) != 0) {
        i = (i + 1) & mask;
    }
    return &report->slots[i];
}

static bool grow(struct report *report)
{
    size_t capacity = report->capacity == 0 ? 256 : report->capacity * 2;
    struct group *groups = realloc(report->groups, capacity * sizeof *groups);
    if (groups == NULL) {
        return fail_memory(report);
    }
    report->groups = groups;
    report->capacity = capacity;
    free(report->slots);
    report->slot_count = capacity * 2;
    report->slots = calloc(report->slot_count, sizeof *report->slots);
    if (report->slots == NULL) {
        return fail_memory(report);
    }
    for (size_t i = 0; i < report->count; i++) {
        *slot_of(report, &groups[i].key) = (uint32_t)i + 1;
    }
    return true;
}

static struct group *group_of(struct report *report, const struct group_key *key)
{
    if (report->count == report->capacity && !grow(report)) {
        return NULL;
    }
    uint32_t *slot = slot_of(report, key);
    if (*slot == 0 && report->count == LIMIT_REPORT_GROUPS) {
        (void)fail(report, error_set_field(report->err, ERR_INVALID_FIELD, "group_by",
                                           "more than %d groups: ask for fewer columns or a "
                                           "shorter time",
                                           LIMIT_REPORT_GROUPS));
        return NULL;
    }
    if (*slot == 0) {
        report->groups[report->count] = (struct group){.key = *key};
        *slot = (uint32_t)++report->count;
    }
    return &report->groups[*slot - 1];
}

static struct group_key key_of(const struct report *report,
                               const struct usage *usage,
                               const struct dims_texts *texts)
{
    static const uint32_t columns[TEXTS] = {
        REPORT_ORGANIZATION, REPORT_PROJECT, REPORT_USER,      REPORT_CLUSTER,
        REPORT_PARTITION,    REPORT_QOS,     REPORT_GPU_MODEL, 0,
    };
    uint32_t by = report->query->group_by;
    struct group_key key;
    memset(&key, 0, sizeof key);
    for (int i = 0; i < TEXTS; i++) {
        bool shown = i == CURRENCY || (by & columns[i]) != 0;
        key.texts[i] = shown ? texts->texts[i] : report->empty;
    }
    key.outcome = (by & REPORT_OUTCOME) != 0 ? usage->outcome : 0;
    key.day = (by & REPORT_DAY) != 0 ? usage->day : 0;
    key.month = usage->month;
    key.period = usage->period;
    key.kind = usage->kind;
    key.card_version = (by & REPORT_CARD) != 0 ? texts->card_version : 0;
    key.price_micro = (by & REPORT_CARD) != 0 ? texts->price_micro : -1;
    return key;
}

static bool add_to_group(struct report *report,
                         struct group *group,
                         const struct usage *usage,
                         int64_t cost_micro)
{
    bool fits = i64_add(group->used_mcs, usage->used_mcs, &group->used_mcs) &&
                i64_add(group->mgs, usage->mgs, &group->mgs) &&
                i64_add(group->waived_mcs, usage->waived_mcs, &group->waived_mcs) &&
                i64_add(group->runs, usage->runs, &group->runs) &&
                i64_add(group->unfrozen_mcs, usage->unfrozen_mcs, &group->unfrozen_mcs) &&
                i64_add(group->cost_micro, cost_micro, &group->cost_micro);
    return fits ? true
                : fail(report, error_set(report->err, ERR_INTERNAL,
                                         "a sum of the report leaves what can be counted"));
}

static bool give_out(struct report *report);

/* Rows come by month and day: what is behind them is complete. */
static bool begin_part(struct report *report, const struct usage *usage)
{
    bool by_day = (report->query->group_by & REPORT_DAY) != 0;
    bool same = usage->month == report->month && (!by_day || usage->day == report->day);
    if (report->any && !same && !give_out(report)) {
        return false;
    }
    report->any = true;
    report->month = usage->month;
    report->day = usage->day;
    return true;
}

static bool add_usage(void *context, const void *record)
{
    struct report *report = context;
    const struct usage *usage = record;
    const struct dims_texts *texts = texts_of(report, usage->dims_no);
    if (texts == NULL) {
        return false;
    }
    if (texts->is_left_out) {
        return true;
    }
    if (!begin_part(report, usage)) {
        return false;
    }
    struct group_key key = key_of(report, usage, texts);
    struct group *group = group_of(report, &key);
    const int64_t cost_micro =
        texts->price_micro >= 0 ? rate_cost_micro(usage->used_mcs, texts->price_micro) : 0;
    return group != NULL && add_to_group(report, group, usage, cost_micro);
}

/* ---- output */

static int compare_numbers(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_groups(const void *a, const void *b)
{
    const struct group_key *one = &((const struct group *)a)->key;
    const struct group_key *two = &((const struct group *)b)->key;
    for (int i = 0; i < TEXTS; i++) {
        int order = one->texts[i] == two->texts[i] ? 0 : strcmp(one->texts[i], two->texts[i]);
        if (order != 0) {
            return order;
        }
    }
    const int64_t numbers_a[] = {one->period, one->kind, one->outcome, one->card_version};
    const int64_t numbers_b[] = {two->period, two->kind, two->outcome, two->card_version};
    for (size_t i = 0; i < ARRAY_LEN(numbers_a); i++) {
        if (numbers_a[i] != numbers_b[i]) {
            return compare_numbers(numbers_a[i], numbers_b[i]);
        }
    }
    return 0;
}

/* Booked and taken back in full. */
static bool is_nothing(const struct group *group)
{
    return group->used_mcs == 0 && group->mgs == 0 && group->waived_mcs == 0 && group->runs == 0;
}

static void show(const struct group *group, struct report_row *row)
{
    memset(row, 0, sizeof *row);
    row_text(row->organization, sizeof row->organization, group->key.texts[ORGANIZATION]);
    row_text(row->project, sizeof row->project, group->key.texts[PROJECT]);
    row_text(row->user, sizeof row->user, group->key.texts[USER]);
    row_text(row->cluster, sizeof row->cluster, group->key.texts[CLUSTER]);
    row_text(row->partition, sizeof row->partition, group->key.texts[PARTITION]);
    row_text(row->qos, sizeof row->qos, group->key.texts[QOS]);
    row_text(row->gpu_model, sizeof row->gpu_model, group->key.texts[GPU_MODEL]);
    row_text(row->currency, sizeof row->currency, group->key.texts[CURRENCY]);
    row->outcome = (enum outcome)group->key.outcome;
    row->kind = (enum usage_kind)group->key.kind;
    row->day = group->key.day;
    row->month = group->key.month;
    row->period = group->key.period;
    row->used_mcs = group->used_mcs;
    row->mgs = group->mgs;
    row->waived_mcs = group->waived_mcs;
    row->runs = group->runs;
    row->unfrozen_mcs = group->unfrozen_mcs;
    row->cost_micro = group->cost_micro;
    row->cost_known = group->key.texts[CURRENCY][0] != '\0';
    row->card_version = group->key.card_version;
    row->price_micro = group->key.price_micro;
}

/* The groups of what has been read, in order; then begin anew. False when no more is wanted. */
static bool give_out(struct report *report)
{
    if (report->count > 0) {
        qsort(report->groups, report->count, sizeof report->groups[0], compare_groups);
    }
    for (size_t i = 0; i < report->count && !report->stopped; i++) {
        struct report_row shown;
        if (!is_nothing(&report->groups[i])) {
            show(&report->groups[i], &shown);
            report->stopped = !report->row(report->context, &shown);
        }
    }
    report->count = 0;
    if (report->slots != NULL) {
        memset(report->slots, 0, report->slot_count * sizeof *report->slots);
    }
    return !report->stopped;
}

enum error_code ledger_report_usage(struct ledger_reader *reader,
                                    const struct report_query *query,
                                    report_row_fn row,
                                    void *context,
                                    struct error *err)
{
    struct report report = {
        .reader = reader, .query = query, .row = row, .context = context, .err = err};
    struct select_args args = {.n = {query->root_no, query->from, query->to}};
    map_init(&report.dims, free);
    report.empty = strings_keep(&report.strings, "");
    enum error_code code =
        report.empty != NULL ? ERR_OK : error_set(err, ERR_UNAVAILABLE, "out of memory");
    if (code == ERR_OK) {
        code = store_select(reader->store, query->by_days ? SELECT_USAGE_DAYS : SELECT_USAGE, &args,
                            add_usage, &report, err);
    }
    code = code == ERR_OK ? report.code : code;
    if (code == ERR_OK && !report.stopped) {
        (void)give_out(&report);
    }
    map_fini(&report.dims);
    strings_fini(&report.strings);
    free(report.groups);
    free(report.slots);
    return code;
}
