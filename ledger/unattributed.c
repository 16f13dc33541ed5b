/* See unattributed.h. */
#include "ledger/unattributed.h"

#include <inttypes.h>
#include <string.h>

#include "ledger/core/rate.h"
#include "ledger/lists.h"
#include "ledger/load.h"
#include "ledger/names.h"

/* Times that a charge must have, and that fit together. */
static enum error_code check_times(const struct ledger *ledger,
                                   const struct command_run *run,
                                   struct error *err)
{
    int64_t latest_s = ledger->clock_ms / 1000 + LIMIT_FUTURE_S;
    if (run->started_at_s == 0 || run->ended_at_s == 0) {
        return error_set_field(err, ERR_INVALID_FIELD,
                               run->started_at_s == 0 ? "started_at" : "ended_at",
                               "missing: say when the run began and ended");
    }
    if (run->started_at_s > latest_s || run->ended_at_s > latest_s) {
        return error_set_field(err, ERR_TIME_IN_FUTURE, "ended_at",
                               "more than %d s ahead of the ledger's clock", LIMIT_FUTURE_S);
    }
    if (run->ended_at_s < run->started_at_s ||
        run->suspended_s > run->ended_at_s - run->started_at_s) {
        return error_set_field(err, ERR_INVALID_FIELD, "ended_at",
                               "the run ends before it begins, or was suspended for longer than "
                               "it ran");
    }
    return ERR_OK;
}

static bool load_rates(struct ledger *ledger, int64_t cluster_no, int64_t at_s)
{
    int64_t version = list_card_at(ledger, cluster_no, at_s);
    load_card(ledger, cluster_no, version);
    return ledger->view.card_found;
}

/* What it would have cost; nothing where there is no price, for a person to look into. */
static void price(struct ledger *ledger,
                  const struct command_charge *charge,
                  struct unattributed *row)
{
    struct rate_price rate;
    struct error ignored = {0};
    int64_t seconds = charge->run.ended_at_s - charge->run.started_at_s - charge->run.suspended_s;
    if (!load_rates(ledger, row->cluster_no, charge->run.started_at_s) ||
        rate_price(&ledger->view.card, charge->job.partition, charge->job.qos, &row->resources,
                   &rate, &ignored) != ERR_OK ||
        rate_amount(rate.rate_mcores, seconds, &row->used_mcs, &ignored) != ERR_OK) {
        return;
    }
    row->rate_mcores = rate.rate_mcores;
}

static void answer(const struct cluster *cluster,
                   const struct unattributed *row,
                   struct ledger_result *result)
{
    struct ledger_hold *hold = &result->hold;
    memset(hold, 0, sizeof *hold);
    row_text(hold->hold.id, sizeof hold->hold.id, row->id);
    hold->hold.cluster_no = row->cluster_no;
    hold->hold.tasks = 1;
    hold->hold.counts[TASK_SETTLED] = 1;
    hold->hold.last_terminal = TASK_SETTLED;
    hold->hold.rate_mcores = row->rate_mcores;
    hold->hold.flags = FLAG_UNFROZEN | FLAG_UNATTRIBUTED;
    hold->state = TASK_SETTLED;
    row_text(hold->cluster, sizeof hold->cluster, cluster->name);
    row_text(hold->user, sizeof hold->user, row->user);
    result->charged_mcs = row->used_mcs;
    result->overrun_mcs = row->used_mcs;
    result->warnings = hold->hold.flags;
    result->created = true;
}

static void fill(struct ledger *ledger, const struct command *command, struct unattributed *row)
{
    const struct command_charge *charge = &command->charge;
    row->started_s = charge->run.started_at_s;
    row->ended_s = charge->run.ended_at_s;
    row->suspended_s = charge->run.suspended_s;
    row->outcome = charge->run.outcome;
    row->at_ms = ledger->clock_ms;
    row->content = load_content(command);
    row_text(row->account, sizeof row->account, charge->account);
    row_text(row->user, sizeof row->user, charge->user);
    row_text(row->job_key, sizeof row->job_key, charge->job_key);
    row_text(row->run_key, sizeof row->run_key, charge->run.run_key);
    row_text(row->job_name, sizeof row->job_name, charge->job.name);
    row_text(row->partition, sizeof row->partition, charge->job.partition);
    row_text(row->qos, sizeof row->qos, charge->job.qos);
    row_text(row->hosts, sizeof row->hosts, charge->run.hosts);
    names_resources(ledger, &charge->run.resources, &row->resources);
    price(ledger, charge, row);
}

static struct cell *find(struct ledger *ledger, int64_t cluster_no, const char *id)
{
    struct {
        int64_t cluster_no;
        char id[RECORD_ID_BYTES];
    } key;
    key.cluster_no = cluster_no;
    row_text(key.id, sizeof key.id, id);
    return working_set_find(ledger->set, RECORD_UNATTRIBUTED, &key);
}

static enum error_code check_same(const struct unattributed *known,
                                  const struct command *command,
                                  struct error *err)
{
    const struct digest16 content = load_content(command);
    if (memcmp(&known->content, &content, sizeof content) == 0) {
        return ERR_OK;
    }
    return error_set_field(err, ERR_ID_REUSED, "id", "%s was used before with other content",
                           command->charge.id);
}

enum error_code unattributed_check(struct ledger *ledger,
                                   const struct command *command,
                                   struct error *err)
{
    struct cell *cell = find(ledger, ledger->view.hold.cluster_no, command->charge.id);
    if (!cell_exists(cell)) {
        return working_set_failure(ledger->set, err);
    }
    return check_same(cell_record(cell), command, err);
}

void unattributed_leave(struct ledger *ledger, const struct command *command)
{
    struct cell *cell = find(ledger, ledger->view.hold.cluster_no, command->charge.id);
    if (cell_exists(cell) && !command->dry_run) {
        working_set_remove(ledger->set, cell);
    }
}

/* ---- assigning */

static void fill_resources(struct ledger *ledger,
                           const struct resources *from,
                           struct command_resources *to)
{
    to->given = true;
    to->cores = from->cores;
    to->memory_mib = from->memory_mib;
    to->gpu_count = from->gpu_count;
    for (int32_t i = 0; i < from->gpu_count; i++) {
        struct command_gpu *gpu = &to->gpus[i];
        gpu->count = from->gpus[i].count;
        gpu->cores_percent = from->gpus[i].cores_percent;
        gpu->memory_mib = from->gpus[i].memory_mib;
        row_text(gpu->model, sizeof gpu->model, list_model_name(ledger, from->gpus[i].model_no));
    }
}

/* The charge as it was sent. */
static void fill_charge(struct ledger *ledger,
                        const struct unattributed *row,
                        struct command_charge *to)
{
    to->content = row->content;
    row_text(to->account, sizeof to->account, row->account);
    row_text(to->user, sizeof to->user, row->user);
    row_text(to->job_key, sizeof to->job_key, row->job_key);
    to->job.given = true;
    row_text(to->job.name, sizeof to->job.name, row->job_name);
    row_text(to->job.partition, sizeof to->job.partition, row->partition);
    row_text(to->job.qos, sizeof to->job.qos, row->qos);
    to->run.started_at_s = row->started_s;
    to->run.ended_at_s = row->ended_s;
    to->run.suspended_given = row->suspended_s > 0;
    to->run.suspended_s = row->suspended_s;
    to->run.outcome = row->outcome;
    row_text(to->run.run_key, sizeof to->run.run_key, row->run_key);
    row_text(to->run.hosts, sizeof to->run.hosts, row->hosts);
    fill_resources(ledger, &row->resources, &to->run.resources);
}

/* It is not on the list: was it, and went to this project? */
static enum error_code assigned_before(struct ledger *ledger,
                                       int64_t cluster_no,
                                       struct command_charge *charge,
                                       struct error *err)
{
    const struct cell *id = row_find_hold_id(ledger->set, cluster_no, charge->id);
    const struct hold *hold =
        !cell_exists(id)
            ? NULL
            : row_get(ledger->set, RECORD_HOLD, ((const struct hold_id *)cell_record(id))->hold_no);
    if (hold == NULL || (hold->flags & FLAG_ASSIGNED) == 0) {
        return error_set(err, ERR_NOT_FOUND, "no charge %s is on the list", charge->id);
    }
    const struct node *project = row_get(ledger->set, RECORD_NODE, hold->project_no);
    if (project == NULL) {
        return working_set_failure(ledger->set, err);
    }
    if (charge->project[0] != '\0' && strcmp(charge->project, project->name) != 0) {
        return error_set_field(err, ERR_ID_REUSED, "project", "%s was assigned to %s", charge->id,
                               project->name);
    }
    charge->content = hold->content;
    return ERR_OK;
}

enum error_code unattributed_assign(struct ledger *ledger,
                                    const struct command *command,
                                    struct command *ret_charge,
                                    struct error *err)
{
    struct cell *cell;
    enum error_code code = names_cluster(ledger, command, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    int64_t cluster_no = ((const struct cluster *)cell_record(cell))->cluster_no;
    memset(ret_charge, 0, sizeof *ret_charge);
    ret_charge->kind = COMMAND_CHARGE;
    ret_charge->dry_run = command->dry_run;
    ret_charge->role = command->role;
    ret_charge->place_no = command->place_no;
    row_text(ret_charge->cluster, sizeof ret_charge->cluster, command->cluster);
    struct command_charge *charge = &ret_charge->charge;
    charge->assigned = true;
    row_text(charge->id, sizeof charge->id, command->charge.id);
    row_text(charge->project, sizeof charge->project, command->charge.project);
    cell = find(ledger, cluster_no, charge->id);
    if (!cell_exists(cell)) {
        return assigned_before(ledger, cluster_no, charge, err);
    }
    fill_charge(ledger, cell_record(cell), charge);
    return ERR_OK;
}

/* ---- charging */

enum error_code unattributed_charge(struct ledger *ledger,
                                    const struct command *command,
                                    struct ledger_result *result,
                                    struct error *err)
{
    struct cell *cell;
    error_clear(err);
    enum error_code code = names_cluster(ledger, command, &cell, err);
    if (code == ERR_OK) {
        code = check_times(ledger, &command->charge.run, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    const struct cluster *cluster = cell_record(cell);
    cell = find(ledger, cluster->cluster_no, command->charge.id);
    if (cell_exists(cell)) {
        const struct unattributed *known = cell_record(cell);
        code = check_same(known, command, err);
        if (code != ERR_OK) {
            return code;
        }
        result->replayed = true;
        answer(cluster, known, result);
        return ERR_OK;
    }
    struct unattributed row;
    memset(&row, 0, sizeof row);
    row.cluster_no = cluster->cluster_no;
    row_text(row.id, sizeof row.id, command->charge.id);
    fill(ledger, command, &row);
    if (!command->dry_run) {
        names_store_models(ledger);
        *(struct unattributed *)working_set_make(ledger->set, cell) = row;
        /* Ids are one space: known, with no hold yet (SPEC 6.1). */
        (void)working_set_make(ledger->set, row_find_hold_id(ledger->set, row.cluster_no, row.id));
    }
    answer(cluster, &row, result);
    return ERR_OK;
}
