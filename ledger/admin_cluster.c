/* Clusters, what their accounts and users mean, and their agents (SPEC 2.2, 5.3). */
#include <string.h>

#include "ledger/admin.h"
#include "ledger/audit_describe.h"
#include "ledger/base/text.h"
#include "ledger/names.h"
#include "ledger/result.h"

#define BIT(field) (UINT32_C(1) << (field))

enum { AGENT_SILENT_S = 120 };

static void set_defaults(struct cluster *cluster)
{
    cluster->mode = MODE_FULL;
    cluster->on_insufficient = INSUFFICIENT_REJECT;
    cluster->on_exhausted = EXHAUSTED_CONTINUE;
    cluster->fail_policy = FAIL_CLOSED;
    cluster->window_s = 300;
    cluster->stop_grace_s = 120;
    cluster->ttl_s = 600;
    cluster->heartbeat_s = 60;
    cluster->stale_after_s = 900;
    cluster->root_count = 0;
}

static void set_policies(struct cluster *cluster, uint32_t given, const struct cluster *set)
{
    if ((given & BIT(CLUSTER_FIELD_KIND)) != 0) {
        cluster->kind = set->kind;
    }
    if ((given & BIT(CLUSTER_FIELD_MODE)) != 0) {
        cluster->mode = set->mode;
    }
    if ((given & BIT(CLUSTER_FIELD_ON_INSUFFICIENT)) != 0) {
        cluster->on_insufficient = set->on_insufficient;
    }
    if ((given & BIT(CLUSTER_FIELD_ON_EXHAUSTED)) != 0) {
        cluster->on_exhausted = set->on_exhausted;
    }
    if ((given & BIT(CLUSTER_FIELD_FAIL_POLICY)) != 0) {
        cluster->fail_policy = set->fail_policy;
    }
    if ((given & BIT(CLUSTER_FIELD_STATE)) != 0) {
        cluster->state = set->state;
    }
}

static void set_times(struct cluster *cluster, uint32_t given, const struct cluster *set)
{
    if ((given & BIT(CLUSTER_FIELD_WINDOW)) != 0) {
        cluster->window_s = set->window_s;
    }
    if ((given & BIT(CLUSTER_FIELD_STOP_GRACE)) != 0) {
        cluster->stop_grace_s = set->stop_grace_s;
    }
    if ((given & BIT(CLUSTER_FIELD_TTL)) != 0) {
        cluster->ttl_s = set->ttl_s;
    }
    if ((given & BIT(CLUSTER_FIELD_HEARTBEAT)) != 0) {
        cluster->heartbeat_s = set->heartbeat_s;
    }
    if ((given & BIT(CLUSTER_FIELD_STALE_AFTER)) != 0) {
        cluster->stale_after_s = set->stale_after_s;
    }
}

static enum error_code find_root(struct ledger *ledger,
                                 const char *name,
                                 int64_t *ret_no,
                                 struct error *err)
{
    struct cell *cell;
    enum error_code code = names_node(ledger, NODE_ORGANIZATION, name, &cell, err);
    const struct node *node = code == ERR_OK ? cell_record(cell) : NULL;
    if (node == NULL || node->parent_no != 0) {
        return error_set_field(err, ERR_NOT_FOUND, "roots", "no root organization %s", name);
    }
    *ret_no = node->node_no;
    return ERR_OK;
}

static enum error_code set_roots(struct ledger *ledger,
                                 struct cluster *cluster,
                                 const struct command_cluster *given,
                                 struct error *err)
{
    if ((given->given & BIT(CLUSTER_FIELD_ROOTS)) == 0) {
        return ERR_OK;
    }
    cluster->root_count = 0;
    enum error_code code = ERR_OK;
    for (int32_t i = 0; i < given->root_count && code == ERR_OK; i++) {
        int64_t *root_no = &cluster->roots[cluster->root_count++].root_no;
        code = find_root(ledger, given->roots[i], root_no, err);
    }
    return code;
}

static bool same_settings(const struct cluster *a, const struct cluster *b)
{
    return a->kind == b->kind && a->mode == b->mode && a->on_insufficient == b->on_insufficient &&
           a->on_exhausted == b->on_exhausted && a->fail_policy == b->fail_policy &&
           a->state == b->state && a->window_s == b->window_s &&
           a->stop_grace_s == b->stop_grace_s && a->ttl_s == b->ttl_s &&
           a->heartbeat_s == b->heartbeat_s && a->stale_after_s == b->stale_after_s &&
           a->root_count == b->root_count &&
           memcmp(a->roots, b->roots, (size_t)a->root_count * sizeof a->roots[0]) == 0;
}

static enum error_code make_cluster(struct ledger *ledger,
                                    const struct command *command,
                                    struct ledger_result *result,
                                    struct error *err)
{
    const struct command_cluster *given = &command->cluster_set;
    struct cluster cluster;
    memset(&cluster, 0, sizeof cluster);
    if (command->if_match == MATCH_VERSION) {
        return error_set(err, ERR_PRECONDITION_FAILED, "cluster %s does not exist",
                         command->cluster);
    }
    if (!text_is_id(command->cluster)) {
        return error_set_field(err, ERR_INVALID_FIELD, "name", "not a name for a cluster");
    }
    if ((given->given & BIT(CLUSTER_FIELD_KIND)) == 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "kind",
                               "missing: slurm, kubernetes or other");
    }
    set_defaults(&cluster);
    set_policies(&cluster, given->given, &given->set);
    set_times(&cluster, given->given, &given->set);
    enum error_code code = set_roots(ledger, &cluster, given, err);
    if (code != ERR_OK) {
        return code;
    }
    cluster.cluster_no = row_take_no(ledger->set, "cluster");
    cluster.version = 1;
    cluster.created_ms = admin_now_ms(ledger);
    row_text(cluster.name, sizeof cluster.name, command->cluster);
    struct cell *cell = row_find(ledger->set, RECORD_CLUSTER, cluster.cluster_no);
    *(struct cluster *)working_set_make(ledger->set, cell) = cluster;
    row_add_name(ledger->set, NAMES_CLUSTER, 0, cluster.name, cluster.cluster_no);
    working_set_touch(ledger->set);
    audit_cluster(ledger, NULL, &cluster);
    result->created = true;
    result_of_cluster(ledger, &cluster, result);
    return ERR_OK;
}

enum error_code admin_put_cluster(struct ledger *ledger,
                                  const struct command *command,
                                  struct ledger_result *ret_result,
                                  struct error *err)
{
    const struct command_cluster *given = &command->cluster_set;
    struct cell *cell;
    enum error_code code = names_cluster_by_name(ledger, command->cluster, &cell, err);
    if (code != ERR_OK && command->kind == COMMAND_PUT_CLUSTER) {
        error_clear(err);
        return make_cluster(ledger, command, ret_result, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    const struct cluster *before = cell_record(cell);
    struct cluster after = *before;
    if (command->kind == COMMAND_PUT_CLUSTER) {
        set_defaults(&after);
    }
    set_policies(&after, given->given, &given->set);
    set_times(&after, given->given, &given->set);
    code = set_roots(ledger, &after, given, err);
    if (code == ERR_OK && same_settings(before, &after)) {
        ret_result->no_effect = true;
        result_of_cluster(ledger, before, ret_result);
        return ERR_OK;
    }
    if (code == ERR_OK) {
        code = admin_match(command, before->version, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    after.version++;
    audit_cluster(ledger, before, &after);
    *(struct cluster *)working_set_change(ledger->set, cell) = after;
    working_set_touch(ledger->set);
    result_of_cluster(ledger, &after, ret_result);
    return ERR_OK;
}

/* ---- accounts and users */

/* What an account is to lead to: a project that the cluster's roots have. */
static enum error_code find_target(struct ledger *ledger,
                                   const struct cluster *cluster,
                                   const struct command_mapping *given,
                                   int64_t *ret_no,
                                   struct error *err)
{
    struct cell *cell;
    *ret_no = 0;
    if (given->is_user) {
        return ERR_OK;
    }
    enum error_code code = names_node(ledger, NODE_PROJECT, given->target, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct node *project = cell_record(cell);
    if (!cluster_serves(cluster, project->root_no)) {
        return error_set_field(err, ERR_INVALID_STATE, "project",
                               "cluster %s does not serve the root of project %s", cluster->name,
                               project->name);
    }
    *ret_no = project->node_no;
    return ERR_OK;
}

enum error_code admin_put_mapping(struct ledger *ledger,
                                  const struct command *command,
                                  struct ledger_result *ret_result,
                                  struct error *err)
{
    const struct command_mapping *given = &command->mapping;
    struct cell *cell;
    int64_t target_no = 0;
    enum error_code code = names_cluster_by_name(ledger, command->cluster, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct cluster *cluster = cell_record(cell);
    code = find_target(ledger, cluster, given, &target_no, err);
    if (code != ERR_OK) {
        return code;
    }
    cell = row_find_name(ledger->set, given->is_user ? NAMES_USER : NAMES_ACCOUNT,
                         cluster->cluster_no, given->name);
    const struct name *before = cell_exists(cell) ? cell_record(cell) : NULL;
    bool same = before != NULL && before->target_no == target_no &&
                strcmp(before->target, given->target) == 0;
    if (before != NULL && !same) {
        code = admin_match(command, before->version, err);
    } else if (before == NULL && command->if_match == MATCH_VERSION) {
        code = error_set(err, ERR_PRECONDITION_FAILED, "%s is not mapped", given->name);
    }
    if (code != ERR_OK) {
        return code;
    }
    ret_result->no_effect = same;
    ret_result->created = before == NULL;
    ret_result->version = before == NULL ? 1 : before->version + (same ? 0 : 1);
    if (!same) {
        const struct name old = *(const struct name *)cell_record(cell);
        struct name *row = working_set_put(ledger->set, cell);
        row->target_no = target_no;
        row->version = ret_result->version;
        row_text(row->target, sizeof row->target, given->target);
        working_set_touch(ledger->set);
        audit_mapping(ledger, cluster, ret_result->created ? NULL : &old, row);
    }
    return ERR_OK;
}

/* ---- agents */

void admin_hear_agent(struct ledger *ledger, struct cell *cell, bool polls)
{
    const struct cluster *cluster = cell_record(cell);
    int64_t now_s = admin_now_ms(ledger) / 1000;
    if (now_s <= cluster->agent_seen_s || (!polls && cluster->agent_seen_s == 0)) {
        return;
    }
    struct cluster *row = working_set_change(ledger->set, cell);
    if (row->agent_seen_s != 0 && now_s - row->agent_seen_s > AGENT_SILENT_S) {
        row->agent_resumed_s = now_s;
    }
    row->agent_seen_s = now_s;
}

enum error_code admin_touch_agent(struct ledger *ledger,
                                  const struct command *command,
                                  struct ledger_result *ret_result,
                                  struct error *err)
{
    struct cell *cell;
    (void)ret_result;
    enum error_code code = names_cluster(ledger, command, &cell, err);
    if (code == ERR_OK) {
        admin_hear_agent(ledger, cell, true);
    }
    return code;
}
