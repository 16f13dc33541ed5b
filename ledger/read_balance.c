/* What GET .../balance shows: a node's figures, its payer's, and every cap on its path. */
#include <stddef.h>
#include <string.h>

#include "ledger/reader.h"

/* A path as it is now, this node first. */
struct read_path {
    int32_t count;
    struct node nodes[RECORD_PATH_NODES];
};

static enum error_code read_path(struct ledger_reader *reader,
                                 const struct node *node,
                                 struct read_path *path,
                                 struct error *err)
{
    enum error_code code = ERR_OK;
    int64_t parent_no = node->parent_no;
    path->nodes[0] = *node;
    path->count = 1;
    while (code == ERR_OK && parent_no != 0 && path->count < RECORD_PATH_NODES) {
        struct node *parent = &path->nodes[path->count++];
        code = ledger_read_node_no(reader, parent_no, parent, err);
        parent_no = code == ERR_OK ? parent->parent_no : 0;
    }
    if (code == ERR_OK && parent_no != 0) {
        return error_set(err, ERR_INTERNAL, "the ledger is damaged: %s lies too deep", node->name);
    }
    return code;
}

static enum error_code read_counter(struct ledger_reader *reader,
                                    int64_t node_no,
                                    struct counter *counter,
                                    struct error *err)
{
    bool found = false;
    memset(counter, 0, sizeof *counter);
    counter->node_no = node_no;
    return reader_look(reader, RECORD_COUNTER, counter, &found, err);
}

/* ---- the payer */

struct payer_sum {
    struct ledger_balance *balance;
    int64_t now_s;
};

static bool add_grant(void *context, const void *record)
{
    const struct grant *grant = record;
    struct payer_sum *sum = context;
    struct ledger_balance *balance = sum->balance;
    if (grant->ended != 0) {
        return true;
    }
    balance->unlimited = balance->unlimited || grant->kind == GRANT_ENDLESS;
    balance->granted_mcs +=
        grant->granted_mcs + grant->in_mcs - grant->out_mcs - grant->withdrawn_mcs;
    if (grant->start_s <= sum->now_s && sum->now_s < grant->end_s) {
        balance->available_mcs += grant->available_mcs;
    }
    if (grant->kind == GRANT_OVERDRAFT && grant->available_mcs < 0) {
        balance->overdrawn = true;
    }
    return true;
}

static enum error_code read_payer(struct ledger_reader *reader,
                                  const struct read_path *path,
                                  int64_t now_s,
                                  struct ledger_balance *balance,
                                  struct error *err)
{
    int32_t i = 0;
    while (i + 1 < path->count && path->nodes[i].funding == FUNDING_PARENT) {
        i++;
    }
    const struct node *payer = &path->nodes[i];
    struct payer_sum sum = {.balance = balance, .now_s = now_s};
    struct select_args args = {.n = {payer->node_no}};
    row_text(balance->funding_node, sizeof balance->funding_node, payer->name);
    return store_select(reader->store, SELECT_GRANTS_OF_NODE, &args, add_grant, &sum, err);
}

/* ---- caps */

static int64_t in_flight(const struct counter *counter, const struct cap *cap)
{
    if (cap->kind == CAP_CORES) {
        return counter->mcores;
    }
    if (cap->kind == CAP_JOBS) {
        return counter->jobs;
    }
    if (cap->kind != CAP_GPUS || cap->model_no == 0) {
        return cap->kind == CAP_GPUS ? counter->mgpus : 0;
    }
    for (int32_t i = 0; i < counter->model_count; i++) {
        if (counter->models[i].model_no == cap->model_no) {
            return counter->models[i].mgpus;
        }
    }
    return 0;
}

static enum error_code read_cap(struct ledger_reader *reader,
                                const struct node *node,
                                const struct cap *cap,
                                const struct counter *counter,
                                struct ledger_balance *balance,
                                struct error *err)
{
    struct ledger_cap *row = &balance->caps[balance->cap_count];
    const char *model;
    enum error_code code = reader_model(reader, cap->model_no, &model, err);
    memset(row, 0, sizeof *row);
    if (code == ERR_OK && cap->kind <= CAP_TOTAL) {
        row->frozen = counter->frozen_mcs;
        code = reader_window_used(reader, counter, (enum cap_kind)cap->kind, &reader->time,
                                  &row->used, err);
        int64_t end_s = reader->time.window_end_s[cap->kind];
        row->resets_at_s = end_s == INT64_MAX ? 0 : end_s;
    } else if (code == ERR_OK) {
        row->frozen = in_flight(counter, cap);
    }
    if (code != ERR_OK) {
        return code;
    }
    row_text(row->node, sizeof row->node, node->name);
    row_text(row->model, sizeof row->model, model);
    row->node_kind = node->kind;
    row->cap = *cap;
    row->available = cap->limit - row->used - row->frozen;
    row->over_cap = cap->limit != RECORD_UNLIMITED && row->available < 0;
    balance->cap_count++;
    return ERR_OK;
}

static bool has_cap(const struct node *node, const struct cap *cap)
{
    for (int32_t i = 0; i < node->cap_count; i++) {
        if (node->caps[i].kind == cap->kind && node->caps[i].model_no == cap->model_no) {
            return true;
        }
    }
    return false;
}

/* The caps of `from` for a node; those that the node has itself left out when it is another one. */
static enum error_code read_caps(struct ledger_reader *reader,
                                 const struct node *node,
                                 const struct node *from,
                                 struct ledger_balance *balance,
                                 struct error *err)
{
    struct counter counter;
    enum error_code code = read_counter(reader, node->node_no, &counter, err);
    for (int32_t i = 0; i < from->cap_count && code == ERR_OK; i++) {
        bool skip = from != node && has_cap(node, &from->caps[i]);
        if (!skip && balance->cap_count < (int32_t)ARRAY_LEN(balance->caps)) {
            code = read_cap(reader, node, &from->caps[i], &counter, balance, err);
        }
    }
    return code;
}

/* Those of `*`, where the member has none of its own. */
static enum error_code read_default_caps(struct ledger_reader *reader,
                                         const struct node *member,
                                         int64_t star_no,
                                         struct ledger_balance *balance,
                                         struct error *err)
{
    struct node star;
    if (star_no == 0 || star_no == member->node_no) {
        return ERR_OK;
    }
    enum error_code code = ledger_read_node_no(reader, star_no, &star, err);
    return code == ERR_OK ? read_caps(reader, member, &star, balance, err) : code;
}

static enum error_code read_all_caps(struct ledger_reader *reader,
                                     const struct read_path *path,
                                     struct ledger_balance *balance,
                                     struct error *err)
{
    enum error_code code = ERR_OK;
    for (int32_t i = 0; i < path->count && code == ERR_OK; i++) {
        code = read_caps(reader, &path->nodes[i], &path->nodes[i], balance, err);
        if (code == ERR_OK && path->nodes[i].kind == NODE_MEMBER && path->count > 1) {
            code = read_default_caps(reader, &path->nodes[i], path->nodes[1].default_member_no,
                                     balance, err);
        }
    }
    return code;
}

enum error_code ledger_read_balance(struct ledger_reader *reader,
                                    const struct node *node,
                                    int64_t now_ms,
                                    struct ledger_balance *ret_balance,
                                    struct error *err)
{
    struct read_path path;
    const struct root_time *time;
    struct ledger_balance *balance = ret_balance;
    memset(balance, 0, offsetof(struct ledger_balance, caps));
    balance->node = *node;
    enum error_code code = read_path(reader, node, &path, err);
    if (code == ERR_OK) {
        code = reader_time(reader, &path.nodes[path.count - 1], now_ms / 1000, &time, err);
    }
    for (int32_t i = path.count - 1; code == ERR_OK && i >= 0; i--) {
        row_text(balance->path[balance->path_count], sizeof balance->path[balance->path_count],
                 path.nodes[i].name);
        balance->path_count++;
    }
    if (code == ERR_OK) {
        code = read_counter(reader, node->node_no, &balance->counter, err);
    }
    if (code == ERR_OK) {
        code = read_payer(reader, &path, now_ms / 1000, balance, err);
    }
    return code == ERR_OK ? read_all_caps(reader, &path, balance, err) : code;
}
