/* What is done to holds, quotes, heartbeats, and lists that come in pages. */
#include <stdlib.h>
#include <string.h>

#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/show.h"
#include "clients/cli/text.h"

/* "/v1/holds/ID/verb", or of "CLUSTER/JOB": "/v1/clusters/CLUSTER/jobs/JOB/verb". */
static enum cli_exit verb_path_write(struct cli *cli,
                                     const char *hold,
                                     const char *verb,
                                     char *path)
{
    char cluster[COREHOUR_URL_BYTES];
    const char *slash = strchr(hold, '/');
    snprintf(cluster, sizeof cluster, "%.*s", slash == NULL ? 0 : (int)(slash - hold), hold);
    snprintf(path, COREHOUR_URL_BYTES, "%s", slash == NULL ? "/v1/holds" : "/v1/clusters");
    bool ok =
        slash == NULL || (corehour_url_segment(path, COREHOUR_URL_BYTES, cluster) == COREHOUR_OK &&
                          corehour_url_append(path, COREHOUR_URL_BYTES, "/jobs") == COREHOUR_OK);
    ok = ok &&
         corehour_url_segment(path, COREHOUR_URL_BYTES, slash == NULL ? hold : slash + 1) ==
             COREHOUR_OK &&
         corehour_url_segment(path, COREHOUR_URL_BYTES, verb) == COREHOUR_OK;
    return ok ? CLI_DONE
              : request_fail(cli, CLI_USAGE, tr("\"%s\" cannot be the id of a hold"), hold);
}

enum cli_exit run_verb(struct cli *cli)
{
    char path[COREHOUR_URL_BYTES];
    json_t *body = NULL;
    enum cli_exit exit = verb_path_write(cli, cli->args[0], cli->command->name, path);
    if (exit == CLI_DONE) {
        exit = request_body_create(cli, &body);
    }
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = request_call_report(cli, "POST", path, body, cli->command->show);
    json_decref(body);
    return exit;
}

enum cli_exit run_quote(struct cli *cli)
{
    json_t *body = NULL;
    enum cli_exit exit = request_body_create(cli, &body);
    if (exit == CLI_DONE) {
        exit = request_quote(cli, body);
    }
    json_decref(body);
    return exit;
}

/* Reads "3" (a task) or "3.1" (its second attempt) to its end. */
static bool task_read(const char *text, json_int_t *ret_task, json_int_t *ret_attempt)
{
    json_int_t numbers[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 9) {
            return false;
        }
        for (; digits > 0; digits--, text++) {
            numbers[i] = numbers[i] * 10 + (*text - '0');
        }
        if (*text == '\0') {
            *ret_task = numbers[0];
            *ret_attempt = numbers[1];
            return true;
        }
        if (*text++ != '.') {
            return false;
        }
    }
    return false;
}

/* "HOLD", "HOLD/3" (a task), "HOLD/3.1" (its second attempt) into an object of "runs". */
static json_t *run_create(const char *text)
{
    char hold[128];
    const char *slash = strchr(text, '/');
    size_t length = slash == NULL ? strlen(text) : (size_t)(slash - text);
    if (length == 0 || length >= sizeof hold) {
        return NULL;
    }
    memcpy(hold, text, length);
    hold[length] = '\0';
    json_int_t task = 0;
    json_int_t attempt = 0;
    if (slash != NULL && !task_read(slash + 1, &task, &attempt)) {
        return NULL;
    }
    return json_pack("{s:s, s:I, s:I}", "hold", hold, "task", task, "attempt", attempt);
}

static void show_results(struct cli *cli, const json_t *body)
{
    show_rows(cli, json_object_get(body, "results"), NULL, 0);
}

enum cli_exit run_heartbeat(struct cli *cli)
{
    json_t *body = NULL;
    enum cli_exit exit = request_body_create(cli, &body);
    if (exit != CLI_DONE) {
        return exit;
    }
    json_t *runs = json_array();
    for (size_t i = 0; i < cli->args_count && exit == CLI_DONE; i++) {
        json_t *run = run_create(cli->args[i]);
        if (run == NULL || json_array_append_new(runs, run) != 0) {
            exit =
                request_fail(cli, CLI_USAGE,
                             tr("\"%s\": give HOLD, HOLD/TASK or HOLD/TASK.ATTEMPT"), cli->args[i]);
        }
    }
    if (json_object_set_new(body, "runs", runs) != 0) {
        exit = request_fail(cli, CLI_OTHER, tr("out of memory"));
    }
    if (exit == CLI_DONE) {
        exit = request_call_report(cli, "POST", cli->command->path, body, show_results);
    }
    json_decref(body);
    return exit;
}

/* ---- lists ---- */

static const char *const hold_columns[] = {"id",         "state",       "project",  "user",
                                           "frozen_mcs", "waiting_mcs", "used_mcs", "tasks",
                                           "job_id",     "created_at",  "stale",    NULL};
static const char *const grant_columns[] = {
    "id",          "node",  "granted_mcs", "available_mcs", "frozen_mcs", "used_mcs",
    "expired_mcs", "start", "end",         "note",          NULL};
static const char *const token_columns[] = {"id",         "name",       "role",         "place",
                                            "created_at", "expires_at", "last_used_at", NULL};

static const char *const audit_columns[] = {"no",   "at",     "name",  "action",
                                            "what", "before", "after", NULL};

static const char *const period_columns[] = {"month", "closed_at", "closed_with", "used_mcs",
                                             "runs",  "digest",    NULL};

static const char *const webhook_columns[] = {"name",       "node",     "url", "types",
                                              "grant_days", "disabled", NULL};

static const char *const unattributed_columns[] = {
    "id", "account", "user", "resources", "started_at", "ended_at", "used_mcs", NULL};

static const char *const delivery_columns[] = {
    "id", "type", "state", "tries", "status", "error", "created_at", "next_try_at", NULL};

static const struct list {
    const char *command;
    const char *rows;
    const char *const *columns;
} lists[] = {
    {"holds", "items", hold_columns},
    {"grants", "items", grant_columns},
    {"token list", "items", token_columns},
    {"audit", "items", audit_columns},
    {"webhook list", "items", webhook_columns},
    {"webhook deliveries", "items", delivery_columns},
    {"usage", "rows", NULL},
    {"report", "rows", NULL},
    {"periods", "items", period_columns},
    {"unattributed list", "items", unattributed_columns},
};

static void page_show(struct cli *cli, const json_t *body)
{
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(lists[i].command, cli->command->name) != 0) {
            continue;
        }
        const json_t *rows = json_object_get(body, lists[i].rows);
        if (json_array_size(rows) == 0) {
            fprintf(cli->out, "%s\n", tr("none"));
        } else {
            show_rows(cli, rows, lists[i].columns, 0);
        }
    }
}

/* Fetches one page. ret_next: the next page's token, "" after the last. */
static enum cli_exit page_run(struct cli *cli,
                              const char *first_path,
                              char *ret_next,
                              size_t size_bytes)
{
    char path[COREHOUR_URL_BYTES];
    struct corehour_answer answer;
    snprintf(path, sizeof path, "%s", first_path);
    if (*ret_next != '\0' &&
        corehour_url_query(path, sizeof path, "page_token", ret_next) != COREHOUR_OK) {
        return request_fail(cli, CLI_OTHER, tr("the page token is too long"));
    }
    *ret_next = '\0';
    enum cli_exit exit = request_call(cli, "GET", path, NULL, &answer);
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = request_report(cli, &answer, page_show);
    if (exit == CLI_DONE) {
        snprintf(ret_next, size_bytes, "%s", show_text(answer.body, "next_page_token"));
    }
    corehour_answer_fini(&answer);
    return exit;
}

static bool has_pages(const struct cli *cli)
{
    const struct cli_field *field;
    size_t i = 0;
    while ((field = cli_option_at(cli->command, i)) != NULL && strcmp(field->name, "all") != 0) {
        i++;
    }
    return field != NULL;
}

enum cli_exit run_list(struct cli *cli)
{
    char path[COREHOUR_URL_BYTES];
    char next[1024] = "";
    bool pages = has_pages(cli);
    bool all = pages && cli_value(cli, "all") != NULL;
    const char *first = pages ? cli_value(cli, "page-token") : NULL;
    if (first != NULL && strlen(first) >= sizeof next) {
        return request_fail(cli, CLI_USAGE, "%s", tr("the page token is too long"));
    }
    snprintf(next, sizeof next, "%s", first == NULL ? "" : first);
    enum cli_exit exit = request_path_write(cli, cli->command->path, path);
    if (exit == CLI_DONE) {
        exit = request_query_append(cli, path);
    }
    do {
        if (exit == CLI_DONE) {
            exit = page_run(cli, path, next, sizeof next);
        }
    } while (exit == CLI_DONE && all && *next != '\0');
    if (exit == CLI_DONE && *next != '\0' && !cli->json) {
        fprintf(cli->err, tr("there are more: --all, or --page-token %s\n"), next);
    }
    return exit;
}
