/* SPDX-License-Identifier: MIT
 *
 * See import.h. Accounts of Slurm are a tree, as organizations are: an account that has accounts below it becomes an
 * organization, one without becomes a project. */
#include "clients/slurm/agent/import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/credential.h"
#include "clients/slurm/agent/agent.h"
#include "clients/slurm/agent/columns.h"
#include "clients/slurm/agent/link.h"
#include "clients/slurm/agent/program.h"
#include "clients/slurm/agent/queue.h"
#include "clients/url.h"

enum { AT_ACCOUNT, AT_PARENT, AT_USER, AT__COUNT };

struct assoc {
    const char *account;
    const char *parent; /* "" of a user's row and of the top */
    const char *user;   /* "" of an account's row */
};

struct import {
    struct corehour_client *client;
    const char *organization;
    struct assoc *assocs;
    size_t count;
    bool is_dry_run;
    size_t made;
    size_t there;
    size_t refused;
    char detail[LINK_DETAIL_BYTES];
};

static bool is_user(const struct assoc *assoc)
{
    return assoc->user != NULL && assoc->user[0] != '\0';
}

/* Slurm's own account above all others. */
static bool is_top(const struct assoc *assoc)
{
    return assoc->account == NULL || strcmp(assoc->account, "root") == 0;
}

static bool is_parent(const struct import *import, const char *account)
{
    for (size_t i = 0; i < import->count; i++) {
        if (!is_user(&import->assocs[i]) && strcmp(import->assocs[i].parent, account) == 0) {
            return true;
        }
    }
    return false;
}

/* Makes one thing unless it is there. Takes `body` over. Returns false when the daemon does not answer. */
static bool thing_put(struct import *import, const char *what, const char *path, json_t *body)
{
    struct corehour_answer answer;
    struct corehour_error error;
    int status = 0;
    json_t *found = link_get(import->client, path, &status, import->detail);
    if (found != NULL || status != 404 || import->is_dry_run) {
        const bool makes = found == NULL && status == 404;
        (void)printf("%-9s %s\n", found != NULL ? "there" : makes ? "would put" : "refused", what);
        import->there += found != NULL;
        import->made += makes;
        import->refused += found == NULL && !makes;
        json_decref(found);
        json_decref(body);
        return status != 0;
    }
    const struct corehour_request request = {.method = "PUT", .path = path, .body = body};
    const bool sent = corehour_call(import->client, &request, &answer, &error) == COREHOUR_OK;
    json_decref(body);
    if (!sent) {
        (void)snprintf(import->detail, sizeof import->detail, "%s", error.detail);
        return false;
    }
    const bool good = answer.status < 300;
    (void)printf("%-9s %s%s%s\n", good ? "put" : "refused", what, good ? "" : ": ",
                 corehour_answer_code(&answer));
    *(good ? &import->made : &import->refused) += 1;
    corehour_answer_fini(&answer);
    return true;
}

static bool node_put(struct import *import, const struct assoc *assoc)
{
    char path[COREHOUR_URL_BYTES];
    char what[300];
    const bool organization = is_parent(import, assoc->account);
    const bool top = assoc->parent[0] == '\0' || strcmp(assoc->parent, "root") == 0;
    const char *parent = top ? import->organization : assoc->parent;
    (void)snprintf(path, sizeof path, organization ? "/v1/organizations" : "/v1/projects");
    (void)snprintf(what, sizeof what, "%s %.100s in %.100s",
                   organization ? "organization" : "project", assoc->account, parent);
    return corehour_url_segment(path, sizeof path, assoc->account) == COREHOUR_OK &&
           thing_put(import, what, path,
                     json_pack("{s:s}", organization ? "parent" : "organization", parent));
}

static bool member_put(struct import *import, const struct assoc *assoc)
{
    char path[COREHOUR_URL_BYTES] = "/v1/projects";
    char what[300];
    (void)snprintf(what, sizeof what, "member %.100s of %.100s", assoc->user, assoc->account);
    if (is_parent(import, assoc->account)) {
        (void)printf("%-9s %s: the account has accounts below it; map it to a project of its own\n",
                     "passed", what);
        import->refused++;
        return true;
    }
    return corehour_url_segment(path, sizeof path, assoc->account) == COREHOUR_OK &&
           corehour_url_append(path, sizeof path, "/members") == COREHOUR_OK &&
           corehour_url_segment(path, sizeof path, assoc->user) == COREHOUR_OK &&
           thing_put(import, what, path, json_object());
}

/* Parents come before what is in them: sacctmgr lists the tree from the top. */
static bool assocs_put(struct import *import)
{
    const struct assoc *assocs = import->assocs;
    if (assocs == NULL) {
        return false;
    }
    for (size_t i = 0; i < import->count; i++) {
        const struct assoc *assoc = &assocs[i];
        if (!is_user(assoc) && !is_top(assoc) && !node_put(import, assoc)) {
            return false;
        }
    }
    for (size_t i = 0; i < import->count; i++) {
        const struct assoc *assoc = &assocs[i];
        if (is_user(assoc) && !is_top(assoc) && !member_put(import, assoc)) {
            return false;
        }
    }
    return true;
}

static bool assocs_read(struct import *import, char *text)
{
    size_t room = 1;
    char *columns[AT__COUNT];
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        room++;
    }
    import->assocs = calloc(room, sizeof *import->assocs);
    for (int found;
         import->assocs != NULL && (found = columns_next(&text, AT__COUNT, columns)) != 0;) {
        if (found > 0) {
            import->assocs[import->count++] =
                (struct assoc){columns[AT_ACCOUNT], columns[AT_PARENT], columns[AT_USER]};
        }
    }
    return import->assocs != NULL;
}

/* Making projects is an admin's, so an admin's token from the environment goes before the agent's. */
static bool admin_open(const struct slurm_config *config,
                       struct corehour_client **ret_client,
                       char *detail)
{
    struct corehour_error error;
    const char *token = getenv("COREHOUR_TOKEN"); /* NOLINT(concurrency-mt-unsafe): one thread */
    if (token == NULL || *token == '\0') {
        return link_open(config, 0, ret_client, detail);
    }
    const struct corehour_options options = {
        .url = config->url.text,
        .token = token,
        .ca_file = config->ca_file.text[0] == '\0' ? NULL : config->ca_file.text,
        .agent = "corehour-slurm",
    };
    const bool good = corehour_client_create(&options, ret_client, &error) == COREHOUR_OK;
    if (!good) {
        (void)snprintf(detail, LINK_DETAIL_BYTES, "%s", error.detail);
    }
    return good;
}

/* What Slurm calls this cluster; it may have another name in Corehour. */
static bool slurm_cluster_read(const struct slurm_config *config,
                               char *ret_name,
                               size_t size_bytes,
                               char *detail)
{
    char scontrol[AGENT_PATH_BYTES];
    struct program_output output;
    agent_command_path(config, "scontrol", scontrol);
    const char *const argv[] = {scontrol, "show", "config", NULL};
    bool good = program_run(argv, 15000, &output);
    const char *at = good ? strstr(output.text, "ClusterName") : NULL;
    at = at == NULL ? NULL : strchr(at, '=');
    if (at != NULL) {
        at += 1 + strspn(at + 1, " ");
        (void)snprintf(ret_name, size_bytes, "%.*s", (int)strcspn(at, " \n"), at);
    }
    (void)snprintf(detail, LINK_DETAIL_BYTES, "%s", output.detail);
    good = at != NULL;
    program_output_fini(&output);
    return good;
}

int import_run(const struct slurm_config *config, const char *organization, bool is_dry_run)
{
    char sacctmgr[AGENT_PATH_BYTES];
    char cluster[QUEUE_NAME_BYTES];
    char filter[QUEUE_NAME_BYTES + 16];
    struct program_output output = {0};
    struct import import = {.organization = organization, .is_dry_run = is_dry_run};
    agent_command_path(config, "sacctmgr", sacctmgr);
    if (!admin_open(config, &import.client, import.detail)) {
        (void)fprintf(stderr, "corehour-slurm: %s\n", import.detail);
        return 2;
    }
    bool good = slurm_cluster_read(config, cluster, sizeof cluster, import.detail);
    if (good) {
        (void)snprintf(filter, sizeof filter, "cluster=%s", cluster);
        const char *const argv[] = {
            sacctmgr, "-nP", "list", "assoc", filter, "format=account,parentname,user", NULL};
        good = program_run(argv, 60000, &output);
        (void)snprintf(import.detail, sizeof import.detail, "%s", output.detail);
    }
    good = good && assocs_read(&import, output.text) && assocs_put(&import);
    if (good) {
        (void)printf("%zu there, %zu %s, %zu refused or passed over\n", import.there, import.made,
                     is_dry_run ? "would be put" : "put", import.refused);
    } else {
        (void)fprintf(stderr, "corehour-slurm: %s\n", import.detail);
    }
    free(import.assocs);
    program_output_fini(&output);
    corehour_client_destroy(import.client);
    return !good ? 3 : import.refused > 0 ? 1 : 0;
}

/* ---- check ---- */

static bool tell(bool good, const char *what, const char *detail)
{
    (void)printf("%-4s %s%s%s\n", good ? "ok" : "BAD", what, good || *detail == '\0' ? "" : ": ",
                 good ? "" : detail);
    return good;
}

static bool daemon_check(const struct slurm_config *config)
{
    char detail[LINK_DETAIL_BYTES] = "";
    char path[COREHOUR_URL_BYTES] = "/v1/clusters";
    struct corehour_client *client = NULL;
    int status = 0;
    json_t *cluster = NULL;
    bool good = link_open(config, 3000, &client, detail);
    if (good) {
        good = corehour_url_segment(path, sizeof path, config->cluster.text) == COREHOUR_OK;
        cluster = link_get(client, path, &status, detail);
        good = good && cluster != NULL;
        corehour_client_destroy(client);
    }
    json_decref(cluster);
    return tell(good, "the daemon answers, the token is good for this cluster", detail);
}

static bool command_check(const struct slurm_config *config, const char *name)
{
    char path[AGENT_PATH_BYTES];
    char what[100];
    struct program_output output;
    agent_command_path(config, name, path);
    const char *const argv[] = {path, "--version", NULL};
    const bool good = program_run(argv, 5000, &output);
    (void)snprintf(what, sizeof what, "%s runs", name);
    (void)tell(good, what, output.detail);
    program_output_fini(&output);
    return good;
}

static bool slurm_check(const struct slurm_config *config)
{
    char scontrol[AGENT_PATH_BYTES];
    struct program_output output;
    agent_command_path(config, "scontrol", scontrol);
    const char *const argv[] = {scontrol, "show", "config", NULL};
    bool good = tell(program_run(argv, 15000, &output), "slurmctld answers", output.detail);
    if (good) {
        const bool dbd = strstr(output.text, "accounting_storage/slurmdbd") != NULL;
        const char *counted = strstr(output.text, "AccountingStorageTRES");
        const bool gpus =
            counted != NULL && memmem(counted, strcspn(counted, "\n"), "gres/gpu", 8) != NULL;
        const char *plugins = strstr(output.text, "JobSubmitPlugins");
        const char *end = plugins == NULL ? NULL : strchr(plugins, '\n');
        if (end != NULL) {
            output.text[end - output.text] = '\0';
        }
        const bool hook = plugins != NULL &&
                          (strstr(plugins, "corehour") != NULL || strstr(plugins, "lua") != NULL);
        good = tell(dbd, "slurmdbd records jobs (AccountingStorageType)",
                    "needed: what jobs used is read from its records") &&
               good;
        good = tell(gpus, "GPUs are counted (AccountingStorageTRES=gres/gpu,gres/gpu:MODEL,...)",
                    "without it GPUs are not in the records and would not be charged") &&
               good;
        (void)tell(hook, "the submit plugin is there (JobSubmitPlugins)",
                   "nothing is frozen at submission yet");
    }
    program_output_fini(&output);
    return good;
}

static bool folder_check(const char *what, const char *path)
{
    char line[640];
    (void)snprintf(line, sizeof line, "%s %s is writable", what, path);
    return tell(access(path, W_OK) == 0, line, strerrordesc_np(errno));
}

int check_run(const struct slurm_config *config)
{
    static const char *const commands[] = {"squeue", "sacct", "scontrol", "scancel"};
    char detail[CREDENTIAL_DETAIL_BYTES] = "";
    bool good = daemon_check(config);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        good = command_check(config, commands[i]) && good;
    }
    good = slurm_check(config) && good;
    good = folder_check("spool_dir", config->spool_dir.text) && good;
    good = folder_check("state_dir", config->state_dir.text) && good;
    if (config->door.text[0] != '\0') {
        good = tell(credential_works(config->munge_socket.text, detail),
                    "MUNGE answers (for the users' door)", detail) &&
               good;
    }
    return good ? 0 : 1;
}
