/*
 * Recomputing everything from one snapshot (SPEC 9.2). See check.h, and ledger_check() in ledger.h.
 */
#include "ledger/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_report(struct check *check, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    check->differences++;
    check->difference(check->context, line);
}

void check_equal(struct check *check,
                 const char *what,
                 const char *whose,
                 int64_t stored,
                 int64_t computed)
{
    if (stored != computed) {
        check_report(check, "%s: %s is %" PRId64 ", should be %" PRId64, whose, what, stored,
                     computed);
    }
}

bool check_fail(struct check *check, enum error_code code)
{
    if (check->code == ERR_OK) {
        check->code = code;
    }
    return false;
}

bool check_fail_memory(struct check *check)
{
    return check_fail(check, error_set(check->err, ERR_UNAVAILABLE, "out of memory for the check"));
}

void *check_value(struct check *check, struct map *map, int64_t key, size_t bytes)
{
    void *value = map_get(map, key);
    if (value == NULL) {
        value = calloc(1, bytes);
        if (value == NULL || !map_add(map, key, value)) {
            free(value);
            (void)check_fail_memory(check);
            return NULL;
        }
    }
    return value;
}

struct check_hold *check_hold_of(struct check *check, int64_t hold_no)
{
    size_t index = (size_t)hold_no;
    if (hold_no < 0) {
        index = 0;
    }
    if (index >= check->hold_capacity) {
        size_t capacity = check->hold_capacity == 0 ? 1024 : check->hold_capacity * 2;
        while (capacity <= index) {
            capacity *= 2;
        }
        struct check_hold *holds = realloc(check->holds, capacity * sizeof *holds);
        if (holds == NULL) {
            (void)check_fail_memory(check);
            return NULL;
        }
        memset(holds + check->hold_capacity, 0, (capacity - check->hold_capacity) * sizeof *holds);
        check->holds = holds;
        check->hold_capacity = capacity;
    }
    return &check->holds[index];
}

static bool load_time(struct check *check, int64_t root_no, struct check_root *root)
{
    struct node node;
    const struct root_time *time;
    enum error_code code = ledger_read_node_no(check->reader, root_no, &node, check->err);
    if (code == ERR_OK) {
        code = reader_time(check->reader, &node, 0, &time, check->err);
    }
    if (code != ERR_OK) {
        return check_fail(check, code);
    }
    root->time = *time;
    return true;
}

struct check_root *check_root_of(struct check *check, int64_t root_no)
{
    struct check_root *root = map_get(&check->roots, root_no);
    if (root != NULL) {
        return root;
    }
    root = check_value(check, &check->roots, root_no, sizeof *root);
    if (root == NULL) {
        return NULL;
    }
    map_init(&root->months, free);
    return load_time(check, root_no, root) ? root : NULL;
}

static void destroy_root(void *value)
{
    struct check_root *root = value;
    map_fini(&root->months);
    free(root);
}

bool check_select(struct check *check,
                  enum select_kind select,
                  const struct select_args *args,
                  store_row_fn row)
{
    if (check->code == ERR_OK) {
        enum error_code code =
            store_select(check->reader->store, select, args, row, check, check->err);
        if (code != ERR_OK) {
            (void)check_fail(check, code);
        }
    }
    return check->code == ERR_OK;
}

static void run_passes(struct check *check)
{
    static void (*const passes[])(struct check *) = {
        check_journal, check_runs,     check_tasks, check_holds, check_usage,
        check_grants,  check_counters, check_names, check_flows, check_periods,
    };
    for (size_t i = 0; i < ARRAY_LEN(passes) && check->code == ERR_OK; i++) {
        passes[i](check);
    }
}

enum error_code ledger_check(struct ledger_reader *reader,
                             int64_t since,
                             ledger_difference_fn difference,
                             void *context,
                             int64_t *ret_differences,
                             struct error *err)
{
    struct error own = {.code = ERR_OK};
    struct check check = {
        .reader = reader,
        .difference = difference,
        .context = context,
        .since = since,
        .err = err != NULL ? err : &own,
    };
    bool began;
    enum error_code code = reader_begin(reader, &began, check.err);
    if (code != ERR_OK) {
        return code;
    }
    map_init(&check.grants, free);
    map_init(&check.dims, free);
    map_init(&check.counters, free);
    map_init(&check.node_months, free);
    map_init(&check.flows, free);
    map_init(&check.payers, free);
    map_init(&check.roots, destroy_root);
    run_passes(&check);
    map_fini(&check.flows);
    map_fini(&check.payers);
    map_fini(&check.grants);
    map_fini(&check.dims);
    map_fini(&check.counters);
    map_fini(&check.node_months);
    map_fini(&check.roots);
    free(check.holds);
    reader_end(reader, began);
    *ret_differences = check.differences;
    return check.code;
}
