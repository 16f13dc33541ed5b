/* SPDX-License-Identifier: MIT
 *
 * corehour-slurm: the agent of a Slurm cluster, and what an operator does by hand. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/clock.h"
#include "clients/slurm/agent/agent.h"
#include "clients/slurm/agent/import.h"
#include "clients/slurm/agent/link.h"
#include "clients/slurm/agent/reconcile.h"
#include "clients/units.h"

#ifndef COREHOUR_VERSION
#    define COREHOUR_VERSION "0"
#endif

enum { EXIT_DIFFERS = 1, EXIT_USAGE = 2, EXIT_AWAY = 3 };

struct options {
    const char *config_path;
    const char *since;
    const char *organization;
    bool is_dry_run;
};

static const char help[] =
    "corehour-slurm: tells the ledger what the jobs of a Slurm cluster do, and does what the ledger asks for\n"
    "\n"
    "usage: corehour-slurm [run]                            the agent; one beside slurmctld, as SlurmUser\n"
    "       corehour-slurm reconcile [--since TIME]         compare with Slurm's records, repair what has evidence\n"
    "       corehour-slurm import --organization NAME       make projects and members of Slurm's accounts and users\n"
    "       corehour-slurm check                            is everything there that the agent needs?\n"
    "\n"
    "  --config FILE      default $COREHOUR_SLURM_CONF, else /etc/corehour/slurm.conf\n"
    "  --since TIME       jobs that ended since: -1d (default), -2h, 2026-12-01, RFC 3339\n"
    "  --organization O   the organization that the projects are made in\n"
    "  --dry-run          tell what would be done, do nothing\n"
    "  --version, --help\n"
    "\n"
    "first steps: write /etc/corehour/slurm.conf (url, cluster, token_file), then `corehour-slurm check`,\n"
    "`corehour-slurm import --organization acme --dry-run`, and start the service. docs/slurm.md has the whole way.\n"
    "\n"
    "exit status: 0 done, all agree · 1 something is left that a person must look into (reconcile), or it differs\n"
    "(--dry-run) · 2 usage or configuration · 3 the daemon or Slurm does not answer\n";

static int fail(int status, const char *detail)
{
    (void)fprintf(stderr, "corehour-slurm: %s\n", detail);
    return status;
}

static int run(const struct slurm_config *config, const struct options *options)
{
    (void)options;
    return agent_run(config);
}

static void result_print(const struct reconcile *reconcile)
{
    if (reconcile->repaired + reconcile->listed == 0) {
        (void)printf("%zu holds compared: all agree\n", reconcile->compared);
        return;
    }
    (void)printf("%zu holds compared: %zu differences %s, %zu to look into\n", reconcile->compared,
                 reconcile->repaired, reconcile->is_dry_run ? "would be repaired" : "repaired",
                 reconcile->listed);
}

static int reconcile(const struct slurm_config *config, const struct options *options)
{
    char detail[LINK_DETAIL_BYTES];
    char squeue[AGENT_PATH_BYTES];
    char sacct[AGENT_PATH_BYTES];
    struct queue queue;
    struct reconcile pass = {.cluster = config->cluster.text,
                             .sacct = sacct,
                             .queue = &queue,
                             .orphan_s = config->orphan_s,
                             .is_dry_run = options->is_dry_run,
                             .out = stdout};
    agent_command_path(config, "squeue", squeue);
    agent_command_path(config, "sacct", sacct);
    pass.now_s = client_clock_wall_ms() / 1000;
    if (corehour_time_parse(options->since, pass.now_s, &pass.since_s) != COREHOUR_OK) {
        return fail(EXIT_USAGE, "--since takes -1d, -2h, 2026-12-01 or a time of RFC 3339");
    }
    if (!link_open(config, 0, &pass.client, detail)) {
        return fail(EXIT_USAGE, detail);
    }
    if (!queue_read(squeue, &queue, detail)) {
        corehour_client_destroy(pass.client);
        return fail(EXIT_AWAY, detail);
    }
    pass.outages = agent_outages_read(config);
    const bool good = reconcile_run(&pass);
    json_decref(pass.outages);
    queue_fini(&queue);
    corehour_client_destroy(pass.client);
    if (!good) {
        return fail(EXIT_AWAY, pass.detail);
    }
    result_print(&pass);
    const bool differs = pass.listed > 0 || (pass.is_dry_run && pass.repaired > 0);
    return differs ? EXIT_DIFFERS : 0;
}

static int import(const struct slurm_config *config, const struct options *options)
{
    if (options->organization == NULL) {
        return fail(EXIT_USAGE, "import needs --organization: where the projects are to be made");
    }
    return import_run(config, options->organization, options->is_dry_run);
}

static int check(const struct slurm_config *config, const struct options *options)
{
    (void)options;
    return check_run(config);
}

static const struct {
    const char *name;
    int (*run)(const struct slurm_config *config, const struct options *options);
} commands[] = {
    {"run", run},
    {"reconcile", reconcile},
    {"import", import},
    {"check", check},
};

/* Returns -1 to go on, else the exit status. */
static int options_read(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {
        {"config", required_argument, NULL, 'c'},
        {"since", required_argument, NULL, 's'},
        {"organization", required_argument, NULL, 'o'},
        {"dry-run", no_argument, NULL, 'n'},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread */
    for (int found; (found = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (found) {
        case 'c':
            options->config_path = optarg;
            break;
        case 's':
            options->since = optarg;
            break;
        case 'o':
            options->organization = optarg;
            break;
        case 'n':
            options->is_dry_run = true;
            break;
        case 'h':
            (void)fputs(help, stdout);
            return 0;
        case 'V':
            (void)puts("corehour-slurm " COREHOUR_VERSION);
            return 0;
        default:
            (void)fputs("try --help\n", stderr);
            return EXIT_USAGE;
        }
    }
    return -1;
}

int main(int argc, char **argv)
{
    struct options options = {.config_path = slurm_config_path(), .since = "-1d"};
    struct slurm_config config;
    struct slurm_config_error error;
    const int early = options_read(argc, argv, &options);
    if (early >= 0) {
        return early;
    }
    const char *name = optind < argc ? argv[optind] : "run";
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].name, name) != 0 || argc - optind > 1) {
            continue;
        }
        if (!slurm_config_read(options.config_path, &config, &error)) {
            return fail(EXIT_USAGE, error.detail);
        }
        return commands[i].run(&config, &options);
    }
    (void)fputs(help, stderr);
    return EXIT_USAGE;
}
