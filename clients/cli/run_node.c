/*
 * Nodes, settings and caps. What exists is only changed on its ETag (SPEC 10.3): these read it first and
 * send it back, so that two people never overwrite each other unseen.
 */
#include <string.h>

#include "clients/cli/node.h"
#include "clients/cli/run.h"
#include "clients/cli/show.h"
#include "clients/cli/show_balance.h"
#include "clients/cli/text.h"

/* Reads the ETag of a resource into `ret_etag` (128 bytes). */
static enum cli_exit etag_read(struct cli *cli, const char *path, char *ret_etag)
{
    struct corehour_answer answer;
    enum cli_exit exit = request_call(cli, "GET", path, NULL, &answer);
    if (exit == CLI_DONE) {
        exit = request_need_ok(cli, &answer);
    }
    if (exit == CLI_DONE) {
        memcpy(ret_etag, answer.etag, sizeof answer.etag);
        corehour_answer_fini(&answer);
    }
    return exit;
}

/* Sends a change under the ETag that the resource has now. */
static enum cli_exit change_send(struct cli *cli,
                                 const char *method,
                                 const char *path,
                                 const json_t *body)
{
    char etag[sizeof((struct corehour_answer *)0)->etag];
    enum cli_exit exit = etag_read(cli, path, etag);
    if (exit != CLI_DONE) {
        return exit;
    }
    struct corehour_request request = {
        .method = method, .path = path, .body = body, .if_match = etag, .once = true};
    return request_send_report(cli, &request, cli->command->show);
}

/* Makes it; when it is there already, replaces it. */
static enum cli_exit put_send(struct cli *cli, const char *path, const json_t *body)
{
    struct corehour_answer answer;
    enum cli_exit exit = request_call(cli, "PUT", path, body, &answer);
    if (exit != CLI_DONE) {
        return exit;
    }
    if (answer.status == 428) {
        exit = change_send(cli, "PUT", path, body);
    } else {
        exit = request_report(cli, &answer, cli->command->show);
    }
    corehour_answer_fini(&answer);
    return exit;
}

/* The file of `rates put CLUSTER VERSION FILE` is a body too. */
static void file_argument_take(struct cli *cli)
{
    size_t count = cli_fields_count(cli->command->args);
    if (cli->args_count > 0 && strcmp(cli->command->args[count - 1].name, "FILE") == 0 &&
        cli->args_count == count) {
        cli->body_file = cli->args[--cli->args_count];
    }
}

enum cli_exit run_put(struct cli *cli)
{
    char path[COREHOUR_URL_BYTES];
    json_t *body = NULL;
    file_argument_take(cli);
    enum cli_exit exit = request_path_write(cli, cli->command->path, path);
    if (exit == CLI_DONE) {
        exit = request_body_create(cli, &body);
    }
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = put_send(cli, path, body);
    json_decref(body);
    return exit;
}

enum cli_exit run_patch(struct cli *cli)
{
    char path[COREHOUR_URL_BYTES];
    json_t *body = NULL;
    enum cli_exit exit = request_path_write(cli, cli->command->path, path);
    if (exit == CLI_DONE) {
        exit = request_body_create(cli, &body);
    }
    if (exit != CLI_DONE) {
        return exit;
    }
    if (json_object_size(body) == 0) {
        exit =
            request_fail(cli, CLI_USAGE, tr("nothing to change: give an option (corehour help %s)"),
                         cli->command->name);
    } else {
        exit = change_send(cli, "PATCH", path, body);
    }
    json_decref(body);
    return exit;
}

enum cli_exit run_close(struct cli *cli)
{
    char path[COREHOUR_URL_BYTES];
    enum cli_exit exit = request_path_write(cli, cli->command->path, path);
    if (exit != CLI_DONE) {
        return exit;
    }
    json_t *body = json_pack("{s:s}", "state", "closed");
    exit = change_send(cli, "PATCH", path, body);
    json_decref(body);
    return exit;
}

enum cli_exit run_remove(struct cli *cli)
{
    char path[COREHOUR_URL_BYTES];
    enum cli_exit exit = request_path_write(cli, cli->command->path, path);
    return exit == CLI_DONE ? change_send(cli, "DELETE", path, NULL) : exit;
}

enum cli_exit run_bare(struct cli *cli)
{
    char path[COREHOUR_URL_BYTES];
    enum cli_exit exit = request_path_write(cli, cli->command->path, path);
    struct corehour_request request = {.method = cli->command->method, .path = path, .bytes = ""};
    return exit == CLI_DONE ? request_send_report(cli, &request, cli->command->show) : exit;
}

/* ---- caps ---- */

/* What each cap takes in its body. */
static const struct cap_kind {
    const char *name;
    enum cli_kind kind;
    const char *field;
} cap_kinds[] = {
    {"month", CLI_AMOUNT, "core_hours"},
    {"quarter", CLI_AMOUNT, "core_hours"},
    {"year", CLI_AMOUNT, "core_hours"},
    {"total", CLI_AMOUNT, "core_hours"},
    {"job_core_hours", CLI_AMOUNT, "core_hours"},
    {"gpus", CLI_COUNT, "limit"},
    {"cores", CLI_COUNT, "limit"},
    {"jobs", CLI_COUNT, "limit"},
    {"job_gpus", CLI_COUNT, "limit"},
    {"job_duration", CLI_DURATION, "limit_s"},
};

static const struct cap_kind *cap_kind_find(struct cli *cli, const char *name)
{
    size_t length = strncmp(name, "gpus:", 5) == 0 ? 4 : strlen(name);
    for (size_t i = 0; i < sizeof cap_kinds / sizeof cap_kinds[0]; i++) {
        if (strlen(cap_kinds[i].name) == length && strncmp(cap_kinds[i].name, name, length) == 0) {
            return &cap_kinds[i];
        }
    }
    request_fail(
        cli, CLI_USAGE,
        tr("there is no cap \"%s\"; there are month, quarter, year, total, gpus, gpus:MODEL, "
           "cores, jobs, job_core_hours, job_gpus and job_duration"),
        name);
    return NULL;
}

static enum cli_exit cap_suffix_write(struct cli *cli, const char *cap, char *ret_suffix)
{
    snprintf(ret_suffix, COREHOUR_URL_BYTES, "/caps");
    if (corehour_url_segment(ret_suffix, COREHOUR_URL_BYTES, cap) == COREHOUR_OK) {
        return CLI_DONE;
    }
    return request_fail(cli, CLI_USAGE, tr("\"%s\" cannot be a cap"), cap);
}

/* The body of a cap: its limit, and whether it is soft. */
static enum cli_exit cap_body_create(struct cli *cli,
                                     const struct cap_kind *kind,
                                     json_t **ret_body)
{
    const struct cli_field limit = {"LIMIT", kind->kind, kind->field, NULL, NULL, NULL};
    json_t *body = json_object();
    enum cli_exit exit = request_field_put(cli, &limit, cli->args[2], body);
    if (exit == CLI_DONE && cli_value(cli, "soft") != NULL) {
        json_object_set_new(body, "soft", json_true());
    }
    if (exit != CLI_DONE) {
        json_decref(body);
    } else {
        *ret_body = body;
    }
    return exit;
}

/* Sends the cap; on 428 once more under the ETag of what stands. */
static enum cli_exit cap_send(struct cli *cli, const char *suffix, const json_t *body)
{
    char path[COREHOUR_URL_BYTES];
    struct corehour_answer answer;
    struct corehour_request request = {.method = "PUT", .body = body};
    enum cli_exit exit = node_call(cli, cli->args[0], suffix, &request, path, &answer);
    if (exit != CLI_DONE) {
        return exit;
    }
    if (answer.status == 428) {
        exit = change_send(cli, "PUT", path, body);
    } else {
        exit = request_report(cli, &answer, show_cap);
    }
    corehour_answer_fini(&answer);
    return exit;
}

enum cli_exit run_cap_set(struct cli *cli)
{
    char suffix[COREHOUR_URL_BYTES];
    json_t *body = NULL;
    const struct cap_kind *kind = cap_kind_find(cli, cli->args[1]);
    if (kind == NULL) {
        return CLI_USAGE;
    }
    enum cli_exit exit = cap_suffix_write(cli, cli->args[1], suffix);
    if (exit == CLI_DONE) {
        exit = cap_body_create(cli, kind, &body);
    }
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = cap_send(cli, suffix, body);
    json_decref(body);
    return exit;
}

enum cli_exit run_cap_remove(struct cli *cli)
{
    char suffix[COREHOUR_URL_BYTES];
    char path[COREHOUR_URL_BYTES];
    struct corehour_answer answer;
    struct corehour_request request = {.method = "GET"};
    if (cap_kind_find(cli, cli->args[1]) == NULL) {
        return CLI_USAGE;
    }
    enum cli_exit exit = cap_suffix_write(cli, cli->args[1], suffix);
    if (exit == CLI_DONE) {
        exit = node_call(cli, cli->args[0], suffix, &request, path, &answer);
    }
    if (exit == CLI_DONE) {
        exit = request_need_ok(cli, &answer);
    }
    if (exit == CLI_DONE) {
        corehour_answer_fini(&answer);
        exit = change_send(cli, "DELETE", path, NULL);
    }
    return exit;
}

static enum cli_exit balance_send(struct cli *cli,
                                  void (*show)(struct cli *cli, const json_t *body))
{
    char path[COREHOUR_URL_BYTES];
    struct corehour_answer answer;
    struct corehour_request request = {.method = "GET"};
    enum cli_exit exit = node_call(cli, cli->args[0], "/balance", &request, path, &answer);
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = request_report(cli, &answer, show);
    corehour_answer_fini(&answer);
    return exit;
}

enum cli_exit run_cap_list(struct cli *cli)
{
    return balance_send(cli, show_caps);
}

/* Without a node the person's own, which the door has named. */
enum cli_exit run_balance(struct cli *cli)
{
    char own[2 * DOOR_TEXT_BYTES];
    if (cli->args_count == 0 && cli->door == NULL) {
        return request_fail(cli, CLI_USAGE, "%s",
                            tr("name a node: a project, an organization, or PROJECT/USER"));
    }
    if (cli->args_count == 0) {
        snprintf(own, sizeof own, "%s/%s", cli->door->project, cli->door->user);
        cli->args[0] = own;
    }
    return balance_send(cli, show_balance);
}
