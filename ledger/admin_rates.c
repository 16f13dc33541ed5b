/* Versions of rate cards (SPEC 7.1). */
#include <inttypes.h>
#include <string.h>

#include "ledger/admin.h"
#include "ledger/audit_describe.h"
#include "ledger/base/text.h"
#include "ledger/names.h"

static int64_t intern_model(struct ledger *ledger, const char *name)
{
    int64_t no = row_name_target(ledger->set, NAMES_MODEL, 0, name);
    if (no == 0) {
        no = row_take_no(ledger->set, "model");
        row_add_name(ledger->set, NAMES_MODEL, 0, name, no);
    }
    return no;
}

/* A row as given, with its key and the numbers of its models. */
static struct rate_row numbered_row(struct ledger *ledger,
                                    const struct command_rate_row *given,
                                    const struct rate_version *version,
                                    int32_t i)
{
    struct rate_row row = given->row;
    row.cluster_no = version->cluster_no;
    row.version = version->version;
    row.row = i;
    for (int32_t j = 0; j < row.gpu_count; j++) {
        row.gpus[j].model_no = intern_model(ledger, given->models[j]);
    }
    return row;
}

static bool same_row(const struct rate_row *a, const struct rate_row *b)
{
    return a->permille == b->permille && a->core_mcores == b->core_mcores &&
           a->gib_mcores == b->gib_mcores && a->gpu_default_mcores == b->gpu_default_mcores &&
           strcmp(a->partition, b->partition) == 0 && strcmp(a->qos, b->qos) == 0 &&
           a->gpu_count == b->gpu_count &&
           memcmp(a->gpus, b->gpus, (size_t)a->gpu_count * sizeof a->gpus[0]) == 0;
}

static bool same_version(struct ledger *ledger,
                         const struct command_rates *given,
                         const struct rate_version *before)
{
    const struct rate_version *after = &given->version;
    bool same = before->effective_from_s == after->effective_from_s &&
                before->combine == after->combine && before->row_count == after->row_count &&
                before->price_micro == after->price_micro &&
                strcmp(before->currency, after->currency) == 0;
    for (int32_t i = 0; same && i < before->row_count; i++) {
        struct rate_row row = numbered_row(ledger, &given->rows[i], before, i);
        const struct cell *cell =
            row_find3(ledger->set, RECORD_RATE_ROW, before->cluster_no, before->version, i);
        same = cell_exists(cell) && same_row(&row, cell_record(cell));
    }
    return same;
}

static enum error_code check_change(const struct command *command,
                                    const struct rate_version *before,
                                    struct error *err)
{
    if (before == NULL) {
        return command->if_match == MATCH_VERSION
                   ? error_set(err, ERR_PRECONDITION_FAILED, "there is no such version yet")
                   : ERR_OK;
    }
    if (before->used != 0) {
        return error_set(err, ERR_INVALID_STATE,
                         "version %" PRId64 " is in use and never changes: put a new one",
                         before->version);
    }
    return admin_match(command, 1, err);
}

static enum error_code check_time(const struct cluster *cluster,
                                  const struct rate_version *version,
                                  struct error *err)
{
    if (version->effective_from_s >= cluster->used_until_s) {
        return ERR_OK;
    }
    char text[TEXT_TIME_BYTES];
    return error_set_field(err, ERR_INVALID_STATE, "effective_from",
                           "usage of cluster %s is booked up to %s: new rates begin then or later",
                           cluster->name, text_format_time(cluster->used_until_s, text));
}

static void store(struct ledger *ledger, int64_t cluster_no, const struct command_rates *given)
{
    int64_t no = given->version.version;
    struct cell *cell = row_find2(ledger->set, RECORD_RATE_VERSION, cluster_no, no);
    int32_t before =
        cell_exists(cell) ? ((const struct rate_version *)cell_record(cell))->row_count : 0;
    struct rate_version *version = working_set_put(ledger->set, cell);
    *version = given->version;
    version->cluster_no = cluster_no;
    version->used = 0;
    version->created_ms = admin_now_ms(ledger);
    for (int32_t i = 0; i < version->row_count || i < before; i++) {
        cell = row_find3(ledger->set, RECORD_RATE_ROW, cluster_no, no, i);
        if (i < version->row_count) {
            struct rate_row row = numbered_row(ledger, &given->rows[i], version, i);
            *(struct rate_row *)working_set_put(ledger->set, cell) = row;
        } else if (cell_exists(cell)) {
            working_set_remove(ledger->set, cell);
        }
    }
    working_set_touch(ledger->set);
}

enum error_code admin_put_rates(struct ledger *ledger,
                                const struct command *command,
                                struct ledger_result *ret_result,
                                struct error *err)
{
    const struct command_rates *given = &((const struct command_with_rates *)command)->rates;
    struct cell *cell;
    enum error_code code = names_cluster_by_name(ledger, command->cluster, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct cluster *cluster = cell_record(cell);
    cell = row_find2(ledger->set, RECORD_RATE_VERSION, cluster->cluster_no, given->version.version);
    const struct rate_version *before = cell_exists(cell) ? cell_record(cell) : NULL;
    ret_result->version = 1;
    if (before != NULL && same_version(ledger, given, before)) {
        ret_result->no_effect = true;
        return ERR_OK;
    }
    code = check_change(command, before, err);
    if (code == ERR_OK) {
        code = check_time(cluster, &given->version, err);
    }
    if (code == ERR_OK) {
        static const struct rate_version none;
        const struct rate_version old = before != NULL ? *before : none;
        ret_result->created = before == NULL;
        store(ledger, cluster->cluster_no, given);
        audit_rates(ledger, cluster, ret_result->created ? NULL : &old, cell_record(cell));
    }
    return code;
}
