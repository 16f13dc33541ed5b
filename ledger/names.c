/* See names.h. */
#include "ledger/names.h"

#include <string.h>

#include "ledger/lists.h"

bool cluster_serves(const struct cluster *cluster, int64_t root_no)
{
    for (int32_t i = 0; i < cluster->root_count; i++) {
        if (cluster->roots[i].root_no == root_no) {
            return true;
        }
    }
    return cluster->root_count == 0;
}

enum error_code names_cluster_by_name(struct ledger *ledger,
                                      const char *name,
                                      struct cell **ret_cell,
                                      struct error *err)
{
    int64_t no = row_name_target(ledger->set, NAMES_CLUSTER, 0, name);
    if (no == 0) {
        return error_set(err, ERR_NOT_FOUND, "no cluster %s", name);
    }
    *ret_cell = row_find(ledger->set, RECORD_CLUSTER, no);
    return ERR_OK;
}

/* Roles whose place is a node. */
static bool is_of_node(const struct command *command)
{
    const unsigned roles = ROLE_LEAD | ROLE_FINANCE | ROLE_VIEWER | ROLE_MEMBER;
    return ((unsigned)command->role & roles) != 0;
}

/* Does a cluster serve the root of the asker's place? */
static bool place_is_served(struct ledger *ledger,
                            const struct command *command,
                            int64_t cluster_no)
{
    const struct cluster *cluster =
        cluster_no == 0 ? NULL : row_get(ledger->set, RECORD_CLUSTER, cluster_no);
    const struct node *place = row_get(ledger->set, RECORD_NODE, command->place_no);
    return cluster != NULL && place != NULL && cluster_serves(cluster, place->root_no);
}

enum error_code names_cluster(struct ledger *ledger,
                              const struct command *command,
                              struct cell **ret_cell,
                              struct error *err)
{
    bool named = command->cluster[0] != '\0';
    int64_t no = named ? row_name_target(ledger->set, NAMES_CLUSTER, 0, command->cluster) : 0;
    bool scheduler = command->role == ROLE_SCHEDULER;
    bool hidden =
        named && (scheduler ? no != command->place_no
                            : is_of_node(command) && !place_is_served(ledger, command, no));
    if (hidden) {
        return error_set_field(err, ERR_NOT_FOUND, "cluster",
                               "this token does not see a cluster %s", command->cluster);
    }
    no = scheduler ? command->place_no : no;
    struct cell *cell = no == 0 ? NULL : row_find(ledger->set, RECORD_CLUSTER, no);
    if (cell == NULL || !cell_exists(cell)) {
        return error_set_field(err, ERR_UNKNOWN_CLUSTER, "cluster", "no cluster %s",
                               named ? command->cluster : "is named");
    }
    *ret_cell = cell;
    return ERR_OK;
}

enum error_code names_account(struct ledger *ledger,
                              const struct cluster *cluster,
                              const char *account,
                              const struct node **ret_project,
                              struct error *err)
{
    int64_t no = row_name_target(ledger->set, NAMES_ACCOUNT, cluster->cluster_no, account);
    if (no == 0) {
        no = row_name_target(ledger->set, NAMES_NODE, 0, account);
    }
    const struct node *node = no == 0 ? NULL : row_get(ledger->set, RECORD_NODE, no);
    if (node == NULL || node->kind != NODE_PROJECT || !cluster_serves(cluster, node->root_no)) {
        return error_set_field(err, ERR_UNKNOWN_ACCOUNT, "account",
                               "no project belongs to account %s on cluster %s", account,
                               cluster->name);
    }
    *ret_project = node;
    return ERR_OK;
}

const char *names_person(struct ledger *ledger, const struct cluster *cluster, const char *user)
{
    const struct cell *cell = row_find_name(ledger->set, NAMES_USER, cluster->cluster_no, user);
    return cell_exists(cell) ? ((const struct name *)cell_record(cell))->target : user;
}

enum error_code names_node(struct ledger *ledger,
                           enum node_kind kind,
                           const char *name,
                           struct cell **ret_cell,
                           struct error *err)
{
    static const char *const kinds[] = {
        [NODE_ORGANIZATION] = "organization",
        [NODE_PROJECT] = "project",
        [NODE_MEMBER] = "organization or project",
    };
    int64_t no = row_name_target(ledger->set, NAMES_NODE, 0, name);
    struct cell *cell = no == 0 ? NULL : row_find(ledger->set, RECORD_NODE, no);
    bool found = cell != NULL && cell_exists(cell);
    if (found && kind != NODE_MEMBER) {
        found = ((const struct node *)cell_record(cell))->kind == kind;
    }
    if (!found) {
        return error_set(err, ERR_NOT_FOUND, "no %s %s", kinds[kind], name);
    }
    *ret_cell = cell;
    return ERR_OK;
}

enum error_code names_seen_node(struct ledger *ledger,
                                const struct command *command,
                                enum node_kind kind,
                                const char *name,
                                struct cell **ret_cell,
                                struct error *err)
{
    struct cell *cell;
    enum error_code code = names_node(ledger, kind, name, &cell, err);
    if (code != ERR_OK || !names_node_is_seen(ledger, command, cell_record(cell))) {
        return error_set(err, ERR_NOT_FOUND, "no organization or project %s", name);
    }
    *ret_cell = cell;
    return ERR_OK;
}

bool names_is_below_place(const struct command *command, const struct node *node)
{
    return command->role != ROLE_LEAD || node->node_no != command->place_no;
}

enum error_code names_check_quote(struct ledger *ledger,
                                  const struct command *command,
                                  const struct node *project,
                                  const char *person,
                                  struct error *err)
{
    if (!is_of_node(command)) {
        return ERR_OK;
    }
    const struct node *place = row_get(ledger->set, RECORD_NODE, command->place_no);
    const bool is_member = command->role == ROLE_MEMBER;
    bool is_seen = place != NULL && project != NULL;
    if (is_seen) {
        is_seen = is_member ? place->parent_no == project->node_no
                            : names_node_is_seen(ledger, command, project);
    }
    if (!is_seen) {
        return error_set_field(err, ERR_NOT_FOUND, "account", "no project belongs to account %s",
                               command->freeze.account);
    }
    if (is_member && strcmp(place->name, person) != 0) {
        return error_set_field(err, ERR_NOT_ALLOWED, "user", "this token asks for %s only",
                               place->name);
    }
    return ERR_OK;
}

struct cell *names_member(struct ledger *ledger, int64_t project_no, const char *person)
{
    int64_t no = row_name_target(ledger->set, NAMES_MEMBER, project_no, person);
    struct cell *cell = no == 0 ? NULL : row_find(ledger->set, RECORD_NODE, no);
    return cell != NULL && cell_exists(cell) ? cell : NULL;
}

bool names_node_is_seen(struct ledger *ledger,
                        const struct command *command,
                        const struct node *node)
{
    if (command->role == ROLE_ADMIN) {
        return true;
    }
    if (command->role == ROLE_SCHEDULER) {
        const struct cell *cell = row_find(ledger->set, RECORD_CLUSTER, command->place_no);
        return cell_exists(cell) && cluster_serves(cell_record(cell), node->root_no);
    }
    while (node != NULL && node->node_no != command->place_no) {
        node = node->parent_no == 0 ? NULL : row_get(ledger->set, RECORD_NODE, node->parent_no);
    }
    return node != NULL;
}

/* ---- holds */

static bool hold_is_seen(struct ledger *ledger,
                         const struct command *command,
                         const struct hold *hold)
{
    if (command->root[0] != '\0' &&
        row_name_target(ledger->set, NAMES_NODE, 0, command->root) != hold->root_no) {
        return false;
    }
    if (command->role == ROLE_SCHEDULER) {
        return hold->cluster_no == command->place_no;
    }
    if (command->role == ROLE_ADMIN) {
        return true;
    }
    const struct node *member = row_get(ledger->set, RECORD_NODE, hold->member_no);
    return member != NULL && names_node_is_seen(ledger, command, member);
}

static struct cell *hold_by_id(struct ledger *ledger, int64_t cluster_no, const char *id)
{
    const struct cell *cell = row_find_hold_id(ledger->set, cluster_no, id);
    if (!cell_exists(cell)) {
        return NULL;
    }
    return row_find(ledger->set, RECORD_HOLD, ((const struct hold_id *)cell_record(cell))->hold_no);
}

/* By id alone: the one cluster, among those that the asker sees, that knows it. */
static enum error_code hold_anywhere(struct ledger *ledger,
                                     const struct command *command,
                                     struct cell **ret_cell,
                                     struct error *err)
{
    const struct cluster_list *clusters = list_clusters(ledger);
    int count = 0;
    for (size_t i = 0; i < clusters->count; i++) {
        struct cell *cell = hold_by_id(ledger, clusters->nos[i], command->hold);
        if (cell != NULL && cell_exists(cell) && hold_is_seen(ledger, command, cell_record(cell))) {
            *ret_cell = cell;
            count++;
        }
    }
    if (count > 1) {
        return error_set_field(err, ERR_AMBIGUOUS_ID, "hold",
                               "%d clusters know hold %s: name one with cluster", count,
                               command->hold);
    }
    return ERR_OK;
}

static struct cell *hold_by_job(struct ledger *ledger,
                                const struct command *command,
                                int64_t cluster_no)
{
    bool by_key = command->job_key[0] != '\0';
    const struct cell *cell =
        row_find_job(ledger->set, cluster_no, by_key, by_key ? command->job_key : command->job_id);
    if (!cell_exists(cell)) {
        return NULL;
    }
    return row_find(ledger->set, RECORD_HOLD, ((const struct job *)cell_record(cell))->hold_no);
}

/* By id or job in one cluster, or by id in any. */
static enum error_code hold_by_name(struct ledger *ledger,
                                    const struct command *command,
                                    struct cell **ret_cell,
                                    struct error *err)
{
    bool by_id = command->hold[0] != '\0';
    if (by_id && command->cluster[0] == '\0' && command->role != ROLE_SCHEDULER) {
        return hold_anywhere(ledger, command, ret_cell, err);
    }
    struct cell *cluster;
    enum error_code code = names_cluster(ledger, command, &cluster, err);
    if (code == ERR_OK) {
        int64_t cluster_no = ((const struct cluster *)cell_record(cluster))->cluster_no;
        *ret_cell = by_id ? hold_by_id(ledger, cluster_no, command->hold)
                          : hold_by_job(ledger, command, cluster_no);
    }
    return code;
}

enum error_code names_hold(struct ledger *ledger,
                           const struct command *command,
                           struct cell **ret_cell,
                           struct error *err)
{
    struct cell *cell = NULL;
    if (command->kind == COMMAND_EXPIRE_HOLD || command->kind == COMMAND_TURN_RUN) {
        cell = row_find(ledger->set, RECORD_HOLD, command->due.hold_no);
    } else {
        enum error_code code = hold_by_name(ledger, command, &cell, err);
        if (code != ERR_OK) {
            return code;
        }
        if (cell != NULL && cell_exists(cell) &&
            !hold_is_seen(ledger, command, cell_record(cell))) {
            cell = NULL;
        }
    }
    if (cell == NULL || !cell_exists(cell)) {
        const char *name = command->hold[0] != '\0'      ? command->hold
                           : command->job_key[0] != '\0' ? command->job_key
                                                         : command->job_id;
        return error_set(err, ERR_UNKNOWN_HOLD, "no hold %s", name);
    }
    *ret_cell = cell;
    return ERR_OK;
}

/* ---- models */

static int64_t model_no(struct ledger *ledger, const char *name)
{
    struct subject *subject = &ledger->subject;
    if (name[0] == '\0') {
        return 0;
    }
    int64_t no = row_name_target(ledger->set, NAMES_MODEL, 0, name);
    if (no != 0) {
        return no;
    }
    int32_t i = 0;
    while (i < subject->new_model_count && strcmp(subject->new_models[i], name) != 0) {
        i++;
    }
    if (i == subject->new_model_count) {
        row_text(subject->new_models[i], sizeof subject->new_models[i], name);
        subject->new_model_count++;
    }
    return row_next_no(ledger->set, "model") + i;
}

void names_resources(struct ledger *ledger,
                     const struct command_resources *given,
                     struct resources *ret_resources)
{
    ret_resources->cores = given->cores;
    ret_resources->memory_mib = given->memory_mib;
    ret_resources->gpu_count = given->gpu_count;
    for (int32_t i = 0; i < given->gpu_count; i++) {
        ret_resources->gpus[i] = (struct gpu_request){
            .model_no = model_no(ledger, given->gpus[i].model),
            .count = given->gpus[i].count,
            .cores_percent = given->gpus[i].cores_percent,
            .memory_mib = given->gpus[i].memory_mib,
        };
    }
}

void names_store_models(struct ledger *ledger)
{
    for (int32_t i = 0; i < ledger->subject.new_model_count; i++) {
        int64_t no = row_take_no(ledger->set, "model");
        row_add_name(ledger->set, NAMES_MODEL, 0, ledger->subject.new_models[i], no);
    }
    ledger->subject.new_model_count = 0;
}
