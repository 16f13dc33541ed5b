/* Reads of one thing by its name. Each write_ function runs on a reader thread inside a snapshot. */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"
#include "server/api.h"
#include "server/decode_caps.h"
#include "server/encode.h"
#include "server/encode_settings.h"
#include "server/holds.h"
#include "server/rights.h"

/* ---- holds */

enum { RUNS_SHOWN = 100 }; /* attempts in the answer about one hold */

struct runs_out {
    struct json_out *out;
    int count;
};

static bool write_run(void *context, const void *record)
{
    struct runs_out *runs = context;
    encode_run(runs->out, record);
    return ++runs->count < RUNS_SHOWN;
}

/* The hold of the path: in the cluster that the query names, or else the only one of its id that may
 * be seen. */
static enum error_code read_hold(const struct request *request,
                                 struct ledger_reader *reader,
                                 struct rights *rights,
                                 struct ledger_hold *ret_hold,
                                 struct error *err)
{
    const char *id = request->path_values[0];
    const char *root = request_query(request, QUERY_ROOT);
    const char *cluster = request_query(request, QUERY_CLUSTER);
    if (cluster == NULL) {
        cluster = request->principal.role == ROLE_SCHEDULER ? request->principal.place : "";
    }
    char own[RECORD_NAME_BYTES];
    enum error_code code = rights_root_name(rights, root, own, err);
    if (code == ERR_OK) {
        code = ledger_read_hold(reader, cluster, own, id, ret_hold, err);
    }
    if (code == ERR_NOT_FOUND) {
        code = error_set(err, ERR_UNKNOWN_HOLD, "no hold %s", id);
    }
    if (code == ERR_OK && !rights_see_hold(rights, &ret_hold->hold)) {
        code = error_set(err, ERR_UNKNOWN_HOLD, "no hold %s", id);
    }
    return code;
}

static enum error_code write_hold(struct request *request,
                                  struct ledger_reader *reader,
                                  struct json_out *out,
                                  struct error *err)
{
    struct rights rights;
    struct ledger_hold hold;
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    if (code == ERR_OK) {
        code = read_hold(request, reader, &rights, &hold, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    struct holds_view view = {.reader = reader, .now_s = request->now_ms / 1000};
    encode_hold(out, &hold);
    encode_hold_rest(out, &hold, holds_is_stale(&view, &hold));
    json_out_array_open(out, "warnings");
    json_out_array_close(out);
    struct runs_out runs = {.out = out};
    const struct select_args args = {.n = {hold.hold.hold_no}, .limit = RUNS_SHOWN};
    json_out_array_open(out, "runs");
    code = ledger_read_list(reader, SELECT_RUNS_OF_HOLD, &args, write_run, &runs, err);
    json_out_array_close(out);
    return code;
}

void api_get_hold(struct request *request)
{
    struct error err;
    if (!text_is_id(request->path_values[0])) {
        (void)error_set(&err, ERR_UNKNOWN_HOLD, "no hold has such an id");
        request_refuse(request, &err);
        return;
    }
    request_answer_by_reading(request, write_hold);
}

/* ---- nodes, caps, balances */

/* The node of the path and the right to see it. */
static enum error_code read_node(struct request *request,
                                 struct ledger_reader *reader,
                                 struct node *ret_node,
                                 struct error *err)
{
    const enum node_kind kind = request->route->node;
    const bool is_member = kind == NODE_MEMBER;
    const char *name = request->path_values[is_member ? 1 : 0];
    const char *project = is_member ? request->path_values[0] : "";
    struct rights rights;
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    if (code == ERR_OK) {
        code = ledger_read_node(reader, kind, name, project, ret_node, err);
    }
    if (code == ERR_OK) {
        code = rights_see_node(&rights, ret_node, name, err);
    }
    if (code == ERR_NOT_FOUND && is_member) {
        code = error_set(err, code, "no member %s in a project %s", name, project);
    } else if (code == ERR_NOT_FOUND) {
        code = error_set(err, code, "no organization or project %s", name);
    }
    return code;
}

static enum error_code write_node(struct request *request,
                                  struct ledger_reader *reader,
                                  struct json_out *out,
                                  struct error *err)
{
    struct node node;
    struct ledger_node shown;
    enum error_code code = read_node(request, reader, &node, err);
    if (code == ERR_OK) {
        code = ledger_read_node_names(reader, &node, &shown, err);
    }
    if (code == ERR_OK) {
        encode_node(out, &shown);
        request->answer.etag = node.version;
    }
    return code;
}

void api_get_node(struct request *request)
{
    request_answer_by_reading(request, write_node);
}

/* The number of a GPU model; ERR_NOT_FOUND when no rate or cap has ever named it. */
static enum error_code find_cap(struct ledger_reader *reader,
                                const struct node *node,
                                const struct command_cap *wanted,
                                const struct cap **ret_cap,
                                struct error *err)
{
    for (int32_t i = 0; i < node->cap_count; i++) {
        const struct cap *cap = &node->caps[i];
        char model[RECORD_NAME_BYTES] = "";
        if (cap->kind != wanted->cap.kind) {
            continue;
        }
        if (cap->model_no != 0) {
            const enum error_code code =
                ledger_read_name_of(reader, NAMES_MODEL, cap->model_no, model, sizeof(model), err);
            if (code != ERR_OK) {
                return code;
            }
        }
        if (strcmp(model, wanted->model) == 0) {
            *ret_cap = cap;
            return ERR_OK;
        }
    }
    return error_set(err, ERR_NOT_FOUND, "%s has no such cap", node->name);
}

static enum error_code write_cap(struct request *request,
                                 struct ledger_reader *reader,
                                 struct json_out *out,
                                 struct error *err)
{
    struct command_cap wanted = {0};
    const size_t last = request->route->node == NODE_MEMBER ? 2 : 1;
    if (!decode_cap_name(request->path_values[last], &wanted)) {
        return error_set(err, ERR_NOT_FOUND, "no cap has this name");
    }
    struct node node;
    const struct cap *cap = NULL;
    enum error_code code = read_node(request, reader, &node, err);
    if (code == ERR_OK) {
        code = find_cap(reader, &node, &wanted, &cap, err);
    }
    if (code == ERR_OK) {
        const char *project = node.kind == NODE_MEMBER ? request->path_values[0] : "";
        encode_cap(out, node.kind, project, node.name, cap, wanted.model);
        request->answer.etag = node.version;
    }
    return code;
}

void api_get_cap(struct request *request)
{
    request_answer_by_reading(request, write_cap);
}

static enum error_code write_balance(struct request *request,
                                     struct ledger_reader *reader,
                                     struct json_out *out,
                                     struct error *err)
{
    struct node node;
    enum error_code code = read_node(request, reader, &node, err);
    if (code != ERR_OK) {
        return code;
    }
    CLEANUP(cleanup_free) struct ledger_balance *balance = malloc(sizeof(*balance));
    if (balance == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    code = ledger_read_balance(reader, &node, request->now_ms, balance, err);
    if (code == ERR_OK) {
        encode_balance(out, balance);
    }
    return code;
}

void api_get_balance(struct request *request)
{
    request_answer_by_reading(request, write_balance);
}

/* ---- clusters, mappings, rates */

/* The cluster of the path and the right to see it. */
static enum error_code read_cluster(struct request *request,
                                    struct ledger_reader *reader,
                                    struct cluster *ret_cluster,
                                    struct error *err)
{
    struct rights rights;
    const char *name = request->path_values[0];
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    if (code == ERR_OK) {
        code = ledger_read_cluster(reader, name, ret_cluster, err);
    }
    if (code == ERR_UNKNOWN_CLUSTER) {
        code = error_set(err, ERR_NOT_FOUND, "no cluster %s", name); /* in a path it is a thing */
    }
    return code == ERR_OK ? rights_see_cluster(&rights, ret_cluster, name, err) : code;
}

static enum error_code write_cluster(struct request *request,
                                     struct ledger_reader *reader,
                                     struct json_out *out,
                                     struct error *err)
{
    struct cluster cluster;
    struct ledger_cluster shown;
    enum error_code code = read_cluster(request, reader, &cluster, err);
    if (code == ERR_OK) {
        code = ledger_read_cluster_names(reader, &cluster, &shown, err);
    }
    if (code == ERR_OK) {
        encode_cluster(out, &shown);
        request->answer.etag = cluster.version;
    }
    return code;
}

void api_get_cluster(struct request *request)
{
    request_answer_by_reading(request, write_cluster);
}

static enum error_code write_mapping(struct request *request,
                                     struct ledger_reader *reader,
                                     struct json_out *out,
                                     bool is_user,
                                     struct error *err)
{
    struct cluster cluster;
    struct name mapping = {0};
    struct node node = {0};
    const char *name = request->path_values[1];
    enum error_code code = read_cluster(request, reader, &cluster, err);
    if (code == ERR_OK) {
        code = ledger_read_mapping(reader, cluster.cluster_no, is_user, name, &mapping, err);
    }
    if (code == ERR_OK && !is_user) {
        code = ledger_read_node_no(reader, mapping.target_no, &node, err);
    }
    if (code == ERR_OK) {
        encode_mapping(out, cluster.name, is_user, name, is_user ? mapping.target : node.name);
        request->answer.etag = mapping.version;
    }
    return code;
}

static enum error_code write_account(struct request *request,
                                     struct ledger_reader *reader,
                                     struct json_out *out,
                                     struct error *err)
{
    return write_mapping(request, reader, out, false, err);
}

static enum error_code write_user(struct request *request,
                                  struct ledger_reader *reader,
                                  struct json_out *out,
                                  struct error *err)
{
    return write_mapping(request, reader, out, true, err);
}

void api_get_account(struct request *request)
{
    request_answer_by_reading(request, write_account);
}

void api_get_user(struct request *request)
{
    request_answer_by_reading(request, write_user);
}

/* The names of a card's models, looked up before it is written. */
struct card_names {
    char names[RECORD_RATE_ROWS][RECORD_RATE_MODELS][RECORD_NAME_BYTES];
};

static const char *card_model(const void *context, int32_t row, int32_t gpu)
{
    const struct card_names *names = context;
    return names->names[row][gpu];
}

static enum error_code read_card_names(struct ledger_reader *reader,
                                       const struct rate_card *card,
                                       struct card_names *names,
                                       struct error *err)
{
    for (int32_t row = 0; row < card->version.row_count; row++) {
        for (int32_t gpu = 0; gpu < card->rows[row].gpu_count; gpu++) {
            char *name = names->names[row][gpu];
            const enum error_code code =
                ledger_read_name_of(reader, NAMES_MODEL, card->rows[row].gpus[gpu].model_no, name,
                                    RECORD_NAME_BYTES, err);
            if (code != ERR_OK) {
                return code;
            }
        }
    }
    return ERR_OK;
}

struct card_room {
    struct rate_card card;
    struct card_names names;
};

static enum error_code write_rates(struct request *request,
                                   struct ledger_reader *reader,
                                   struct json_out *out,
                                   struct error *err)
{
    CLEANUP(cleanup_free) struct card_room *room = malloc(sizeof(*room));
    if (room == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    struct cluster cluster;
    const long long version = strtoll(request->path_values[1], NULL, 10);
    enum error_code code = read_cluster(request, reader, &cluster, err);
    if (code == ERR_OK) {
        code = ledger_read_card(reader, cluster.cluster_no, version, &room->card, err);
    }
    if (code == ERR_OK) {
        code = read_card_names(reader, &room->card, &room->names, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    const struct encode_rates shown = {
        .cluster = cluster.name,
        .version = &room->card.version,
        .rows = room->card.rows,
        .row_bytes = sizeof(room->card.rows[0]),
        .model = card_model,
        .context = &room->names,
    };
    encode_rates(out, &shown);
    request->answer.etag = 1;
    return ERR_OK;
}

void api_get_rates(struct request *request)
{
    request_answer_by_reading(request, write_rates);
}
