/* What a job would cost, from the options that sbatch would get. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/text.h"
#include "clients/slurm/options.h"
#include "clients/slurm/slurm_config.h"

enum { SCRIPT_BYTES = 256 * 1024 };

/* Room for what the options borrow. */
struct cost {
    struct slurm_options options;
    struct slurm_config config; /* its cluster */
    char script[SCRIPT_BYTES];
};

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || *value == '\0' ? NULL : value;
}

/* The #SBATCH lines of the script that is named behind the options. */
static enum cli_exit script_read(struct cli *cli, struct cost *cost, const char *path)
{
    char why[200];
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return request_fail(cli, CLI_USAGE, tr("%s cannot be read: %s"), path, strerror(errno));
    }
    const size_t bytes = fread(cost->script, 1, sizeof cost->script - 1, file);
    const int failed = ferror(file) != 0 ? errno : 0;
    fclose(file);
    cost->script[bytes] = '\0';
    if (failed != 0) {
        return request_fail(cli, CLI_USAGE, tr("%s cannot be read: %s"), path, strerror(failed));
    }
    if (!slurm_options_take_script(&cost->options, cost->script, why, sizeof why)) {
        return request_fail(cli, CLI_USAGE, "%s: %s", path, why);
    }
    return CLI_DONE;
}

/* The script's lines first, so that the words win. */
static enum cli_exit options_read(struct cli *cli, struct cost *cost)
{
    char why[200];
    size_t used = 0;
    slurm_options_init(&cost->options);
    for (int pass = 0; pass < 2; pass++) {
        if (!slurm_options_take(&cost->options, cli->args, cli->args_count, &used, why,
                                sizeof why)) {
            return request_fail(cli, CLI_USAGE, "%s", why);
        }
        if (used == cli->args_count) {
            return CLI_DONE;
        }
        const enum cli_exit exit = pass == 0 ? script_read(cli, cost, cli->args[used]) : CLI_DONE;
        if (exit != CLI_DONE) {
            return exit;
        }
    }
    return CLI_DONE;
}

/* What the options left out, from where Slurm's own commands take it, and from this machine's slurm.conf of Corehour. */
static enum cli_exit gaps_fill(struct cli *cli, struct cost *cost)
{
    struct slurm_request *request = &cost->options.request;
    struct slurm_config_error error;
    if (request->account == NULL) {
        request->account = variable("SBATCH_ACCOUNT");
    }
    if (request->user == NULL) {
        request->user = variable("USER");
    }
    if (cost->options.cluster == NULL &&
        slurm_config_read(slurm_config_path(), &cost->config, &error)) {
        cost->options.cluster = cost->config.cluster.text;
    }
    if (cost->options.cluster == NULL) {
        return request_fail(cli, CLI_USAGE, tr("name the cluster with -M"));
    }
    if (request->account == NULL) {
        return request_fail(cli, CLI_USAGE, tr("name the account with -A"));
    }
    return CLI_DONE;
}

static enum cli_exit body_create(struct cli *cli, const struct cost *cost, json_t **ret_body)
{
    static const struct slurm_site site = {.memory_per_cpu_mib = SLURM_UNSET,
                                           .memory_per_node_mib = SLURM_UNSET};
    struct slurm_shape shape;
    const char *what = NULL;
    const struct slurm_request *request = &cost->options.request;
    if (!slurm_shape_of(request, &site, &shape, &what)) {
        return request_fail(cli, CLI_USAGE, tr("--%s cannot be read"), what);
    }
    json_t *body = slurm_freeze_body(request, &site, &shape, "-", cost->options.cluster);
    if (body == NULL) {
        return request_fail(cli, CLI_OTHER, tr("out of memory"));
    }
    json_object_del(body, "id");
    *ret_body = body;
    return CLI_DONE;
}

static enum cli_exit quote(struct cli *cli, struct cost *cost)
{
    json_t *body = NULL;
    enum cli_exit exit = options_read(cli, cost);
    if (exit == CLI_DONE) {
        exit = gaps_fill(cli, cost);
    }
    if (exit == CLI_DONE) {
        exit = body_create(cli, cost, &body);
    }
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = request_quote(cli, body);
    json_decref(body);
    return exit;
}

enum cli_exit run_cost(struct cli *cli)
{
    struct cost *cost = calloc(1, sizeof *cost);
    if (cost == NULL) {
        return request_fail(cli, CLI_OTHER, tr("out of memory"));
    }
    const enum cli_exit exit = quote(cli, cost);
    free(cost);
    return exit;
}
