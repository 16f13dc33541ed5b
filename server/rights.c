/* See rights.h. */
#include "server/rights.h"

#include <string.h>

enum error_code rights_begin(const struct principal *principal,
                             struct ledger_reader *reader,
                             struct rights *ret_rights,
                             struct error *err)
{
    ret_rights->principal = principal;
    ret_rights->reader = reader;
    ret_rights->sees_all = principal->role == ROLE_ADMIN;
    memset(ret_rights->verdicts, 0, sizeof(ret_rights->verdicts));
    if (principal->role == ROLE_ADMIN) {
        return ERR_OK;
    }
    if (principal->role == ROLE_SCHEDULER) {
        return ledger_read_cluster(reader, principal->place, &ret_rights->cluster, err);
    }
    return ledger_read_node_no(reader, principal->place_no, &ret_rights->place, err);
}

static bool is_scheduler(const struct rights *rights)
{
    return rights->principal->role == ROLE_SCHEDULER;
}

/* Does the node lie at the place or below it? */
static bool lies_at_place(const struct rights *rights, const struct node *node)
{
    struct node at = *node;
    struct error ignored;
    if (node->root_no != rights->place.root_no) {
        return false;
    }
    while (at.node_no != rights->place.node_no) {
        if (at.parent_no == 0 ||
            ledger_read_node_no(rights->reader, at.parent_no, &at, &ignored) != ERR_OK) {
            return false;
        }
    }
    return true;
}

static bool sees_node(const struct rights *rights, const struct node *node)
{
    if (rights->sees_all) {
        return true;
    }
    return is_scheduler(rights) ? cluster_serves(&rights->cluster, node->root_no)
                                : lies_at_place(rights, node);
}

/* In the words that the ledger's readers have for what is not there. */
static enum error_code answer(bool is_seen, const char *what, const char *name, struct error *err)
{
    return is_seen ? ERR_OK : error_set(err, ERR_NOT_FOUND, "no %s %s", what, name);
}

enum error_code rights_see_node(struct rights *rights,
                                const struct node *node,
                                const char *name,
                                struct error *err)
{
    return answer(sees_node(rights, node), "organization or project", name, err);
}

enum error_code rights_see_root(struct rights *rights,
                                int64_t root_no,
                                const char *name,
                                struct error *err)
{
    bool is_seen = rights->sees_all;
    if (!is_seen && is_scheduler(rights)) {
        is_seen = cluster_serves(&rights->cluster, root_no);
    } else if (!is_seen) {
        is_seen = rights->place.node_no == root_no;
    }
    return answer(is_seen, "root", name, err);
}

enum error_code rights_see_cluster(struct rights *rights,
                                   const struct cluster *cluster,
                                   const char *name,
                                   struct error *err)
{
    bool is_seen = rights->sees_all;
    if (!is_seen && is_scheduler(rights)) {
        is_seen = rights->cluster.cluster_no == cluster->cluster_no;
    } else if (!is_seen) {
        is_seen = cluster_serves(cluster, rights->place.root_no);
    }
    return answer(is_seen, "cluster", name, err);
}

enum error_code rights_narrow(struct rights *rights,
                              const struct node *root,
                              int64_t *ret_below_no,
                              struct error *err)
{
    bool is_seen = rights->sees_all;
    *ret_below_no = 0;
    if (!is_seen && is_scheduler(rights)) {
        is_seen = cluster_serves(&rights->cluster, root->node_no);
    } else if (!is_seen) {
        is_seen = rights->place.root_no == root->node_no;
        *ret_below_no = rights->place.parent_no != 0 ? rights->place.node_no : 0;
    }
    return answer(is_seen, "root", root->name, err);
}

enum error_code rights_root_name(const struct rights *rights,
                                 const char *asked,
                                 char ret_name[RECORD_NAME_BYTES],
                                 struct error *err)
{
    struct node root = {.name = ""};
    if (asked != NULL && strlen(asked) >= RECORD_NAME_BYTES) {
        return error_set(err, ERR_NOT_FOUND, "no such root");
    }
    const bool is_bound = !rights->sees_all && !is_scheduler(rights);
    if (is_bound) {
        const enum error_code code =
            ledger_read_node_no(rights->reader, rights->place.root_no, &root, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    if (is_bound && asked != NULL && strcmp(asked, root.name) != 0) {
        return error_set(err, ERR_NOT_FOUND, "no such root");
    }
    const char *name = is_bound ? root.name : asked != NULL ? asked : "";
    memcpy(ret_name, name, strlen(name) + 1);
    return ERR_OK;
}

bool rights_see_node_no(struct rights *rights, int64_t node_no)
{
    struct rights_verdict *verdict = &rights->verdicts[(size_t)node_no % RIGHTS_REMEMBERED];
    struct node node;
    struct error ignored;
    if (rights->sees_all) {
        return true;
    }
    if (verdict->node_no != node_no) {
        verdict->node_no = node_no;
        verdict->is_seen =
            ledger_read_node_no(rights->reader, node_no, &node, &ignored) == ERR_OK &&
            sees_node(rights, &node);
    }
    return verdict->is_seen;
}

bool rights_see_hold(struct rights *rights, const struct hold *hold)
{
    if (rights->sees_all) {
        return true;
    }
    if (is_scheduler(rights)) {
        return rights->cluster.cluster_no == hold->cluster_no;
    }
    if (rights->principal->role == ROLE_MEMBER) {
        return hold->member_no == rights->place.node_no;
    }
    return hold->root_no == rights->place.root_no && rights_see_node_no(rights, hold->project_no);
}

enum error_code rights_see_project(struct rights *rights,
                                   const struct node *project,
                                   struct error *err)
{
    const bool is_own =
        rights->principal->role == ROLE_MEMBER && rights->place.parent_no == project->node_no;
    return answer(is_own || sees_node(rights, project), "project", project->name, err);
}
