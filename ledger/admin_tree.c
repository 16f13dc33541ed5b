/* See admin_tree.h. */
#include "ledger/admin_tree.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/lists.h"

const struct node *tree_add(struct ledger *ledger,
                            const struct node *node,
                            const struct node *parent)
{
    int64_t no = row_take_no(ledger->set, "node");
    struct node *row = working_set_make(ledger->set, row_find(ledger->set, RECORD_NODE, no));
    *row = *node;
    row->node_no = no;
    row->root_no = parent == NULL ? no : parent->root_no;
    row->parent_no = parent == NULL ? 0 : parent->node_no;
    row->version = 1;
    row->created_ms = ledger->clock_ms;
    bool member = node->kind == NODE_MEMBER;
    row_add_name(ledger->set, member ? NAMES_MEMBER : NAMES_NODE, member ? row->parent_no : 0,
                 node->name, no);
    if (member && strcmp(node->name, "*") == 0) {
        struct node *project =
            working_set_change(ledger->set, row_find(ledger->set, RECORD_NODE, row->parent_no));
        project->default_member_no = no;
    }
    working_set_touch(ledger->set);
    return row;
}

const struct node *tree_add_member(struct ledger *ledger,
                                   const struct node *project,
                                   const char *person)
{
    struct node node;
    memset(&node, 0, sizeof node);
    node.kind = NODE_MEMBER;
    row_text(node.name, sizeof node.name, person);
    return tree_add(ledger, &node, project);
}

/* ---- depth */

static int depth_of(struct ledger *ledger, const struct node *node)
{
    int depth = 0;
    while (node != NULL && depth <= LIMIT_LEVELS) {
        depth++;
        node = node->parent_no == 0 ? NULL : row_get(ledger->set, RECORD_NODE, node->parent_no);
    }
    return depth;
}

enum error_code tree_check_depth(struct ledger *ledger,
                                 const struct node *parent,
                                 int height,
                                 struct error *err)
{
    if (depth_of(ledger, parent) + height > LIMIT_LEVELS) {
        return error_set(err, ERR_TOO_MANY_LEVELS,
                         "below %s the tree would be deeper than %d nodes from root to project",
                         parent->name, LIMIT_LEVELS);
    }
    return ERR_OK;
}

/* Parents of the organizations and projects of a root. */
struct edges {
    struct edge {
        int64_t node_no;
        int64_t parent_no;
    } * edges; /* by node_no */
    size_t count;
    size_t capacity;
    bool failed;
};

static bool collect_edge(void *context, const void *record)
{
    const struct node *node = record;
    struct edges *list = context;
    if (node->kind == NODE_MEMBER) {
        return true;
    }
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 64 : list->capacity * 2;
        struct edge *edges = realloc(list->edges, capacity * sizeof *edges);
        if (edges == NULL) {
            list->failed = true;
            return false;
        }
        list->edges = edges;
        list->capacity = capacity;
    }
    list->edges[list->count++] = (struct edge){node->node_no, node->parent_no};
    return true;
}

static int64_t parent_of(const struct edges *list, int64_t node_no)
{
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->edges[middle].node_no < node_no) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < list->count && list->edges[low].node_no == node_no;
    return found ? list->edges[low].parent_no : 0;
}

/* How many nodes below `top`, itself counted, lead down to node_no; 0 when it does not lie there. */
static int levels_below(const struct edges *list, int64_t node_no, int64_t top)
{
    int levels = 1;
    while (node_no != 0 && node_no != top) {
        node_no = parent_of(list, node_no);
        levels++;
    }
    return node_no == top ? levels : 0;
}

enum error_code tree_check_move(struct ledger *ledger,
                                const struct node *node,
                                const struct node *parent,
                                struct error *err)
{
    struct edges list = {0};
    struct select_args args = {.n = {node->root_no, -1, 0}};
    working_set_select(ledger->set, SELECT_NODES, &args, collect_edge, &list);
    enum error_code code = working_set_failure(ledger->set, err);
    if (list.failed) {
        code = error_set(err, ERR_UNAVAILABLE, "out of memory for the tree of a root");
    }
    int height = 1;
    for (size_t i = 0; i < list.count; i++) {
        int levels = levels_below(&list, list.edges[i].node_no, node->node_no);
        height = levels > height ? levels : height;
    }
    if (code == ERR_OK && levels_below(&list, parent->node_no, node->node_no) > 0) {
        code = error_set_field(err, ERR_INVALID_STATE, "parent", "%s lies below %s", parent->name,
                               node->name);
    }
    free(list.edges);
    return code == ERR_OK ? tree_check_depth(ledger, parent, height, err) : code;
}

int64_t tree_open_tasks(struct ledger *ledger, const struct node *node)
{
    const struct cell *cell = row_find(ledger->set, RECORD_COUNTER, node->node_no);
    return cell_exists(cell) ? ((const struct counter *)cell_record(cell))->open_tasks : 0;
}

/* ---- rows of payers */

/* Something available in a row that goes on, or owed. */
static bool has_money(const struct payer_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct grant *grant = cell_record(rows->cells[i]);
        if (grant->ended == 0 && grant->available_mcs != 0) {
            return true;
        }
    }
    return false;
}

enum error_code tree_check_funding(struct ledger *ledger,
                                   const struct node *before,
                                   const struct node *after,
                                   struct error *err)
{
    bool pays_no_more = before->funding != FUNDING_PARENT && after->funding == FUNDING_PARENT;
    if (!pays_no_more || !has_money(list_payer_rows(ledger, before->node_no))) {
        return ERR_OK;
    }
    return error_set_field(
        err, ERR_INVALID_STATE, "funding",
        "%s still has core-hours, or owes some: withdraw, transfer or grant them "
        "first",
        before->name);
}

struct find_row {
    enum grant_kind kind;
    int64_t grant_no;
};

static bool find_row(void *context, const void *record)
{
    const struct grant *grant = record;
    struct find_row *find = context;
    if (grant->kind == find->kind) {
        find->grant_no = grant->grant_no;
    }
    return find->grant_no == 0;
}

static void ensure_row(struct ledger *ledger,
                       const struct node *node,
                       enum grant_kind kind,
                       bool wanted)
{
    struct find_row find = {.kind = kind};
    struct select_args args = {.n = {node->node_no}};
    working_set_select(ledger->set, SELECT_GRANTS_OF_NODE, &args, find_row, &find);
    if (find.grant_no == 0 && wanted) {
        int64_t no = row_take_no(ledger->set, "grant");
        struct grant *row = working_set_make(ledger->set, row_find(ledger->set, RECORD_GRANT, no));
        row->root_no = node->root_no;
        row->node_no = node->node_no;
        row->kind = kind;
        row->end_s = INT64_MAX;
        row->created_ms = ledger->clock_ms;
    } else if (find.grant_no != 0) {
        struct grant *row =
            working_set_put(ledger->set, row_find(ledger->set, RECORD_GRANT, find.grant_no));
        row->ended = wanted ? 0 : 1;
    }
}

void tree_ensure_rows(struct ledger *ledger, const struct node *node)
{
    if (node->kind == NODE_MEMBER) {
        return;
    }
    bool pays = node->funding != FUNDING_PARENT;
    ensure_row(ledger, node, GRANT_OVERDRAFT, pays);
    if (node->parent_no == 0) {
        ensure_row(ledger, node, GRANT_ENDLESS, node->funding == FUNDING_UNLIMITED);
    }
    working_set_touch(ledger->set);
}
