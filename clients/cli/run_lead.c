/* For team leads: a table of caps, the history of one, and what is removed on its ETag. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/node.h"
#include "clients/cli/run.h"
#include "clients/cli/show.h"
#include "clients/cli/text.h"

static const size_t import_bytes_max = (size_t)16 << 20;

/* ---- many caps ---- */

/* Reads a file, or stdin for "-", whole. ret_bytes: the caller's. */
static enum cli_exit file_read(struct cli *cli,
                               const char *name,
                               char **ret_bytes,
                               size_t *ret_count)
{
    FILE *file = strcmp(name, "-") == 0 ? cli->in : fopen(name, "rb");
    if (file == NULL) {
        return request_fail(cli, CLI_USAGE, tr("%s: %s"), name, strerror(errno));
    }
    char *bytes = malloc(import_bytes_max + 1);
    size_t count = bytes == NULL ? 0 : fread(bytes, 1, import_bytes_max + 1, file);
    bool fits = bytes != NULL && ferror(file) == 0 && count <= import_bytes_max;
    if (file != cli->in) {
        (void)fclose(file);
    }
    if (!fits) {
        free(bytes);
        return request_fail(cli, CLI_USAGE, tr("%s: cannot be read, or is larger than 16 MiB"),
                            name);
    }
    *ret_bytes = bytes;
    *ret_count = count;
    return CLI_DONE;
}

/* Every wrong row on a line of its own. */
static void wrong_rows_show(struct cli *cli, const json_t *problem)
{
    size_t i;
    const json_t *row;
    json_array_foreach(json_object_get(problem, "errors"), i, row)
    {
        const char *column = show_text(row, "column");
        fprintf(cli->err, tr("line %ld"), (long)show_integer(row, "line", 0));
        fprintf(cli->err, "%s%s: ", *column == '\0' ? "" : ", ", column);
        text_print(cli->err, show_text(row, "detail"));
        fputc('\n', cli->err);
    }
}

enum cli_exit run_cap_import(struct cli *cli)
{
    const char *name = cli->args[0];
    size_t length = strlen(name);
    bool is_json = length > 5 && strcmp(name + length - 5, ".json") == 0;
    char *bytes = NULL;
    struct corehour_answer answer;
    struct corehour_request request = {
        .method = "PUT",
        .path = "/v1/caps",
        .content_type = is_json ? "application/json" : "text/csv",
        .if_match = cli_value(cli, "overwrite") != NULL ? "*" : NULL,
    };
    enum cli_exit exit = file_read(cli, name, &bytes, &request.bytes_count);
    if (exit != CLI_DONE) {
        return exit;
    }
    request.bytes = bytes;
    exit = request_send(cli, &request, &answer);
    free(bytes);
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = request_report(cli, &answer, NULL);
    if (answer.status >= 400 && !cli->json && answer.body != NULL) {
        wrong_rows_show(cli, answer.body);
    }
    corehour_answer_fini(&answer);
    return exit;
}

/* ---- the history of a cap ---- */

/* How the audit log calls a node: "projects/vision/members/alice". */
static void what_write(const json_t *balance, const char *cap, char *ret_what, size_t bytes)
{
    const char *user = show_text(balance, "user");
    if (*user != '\0') {
        snprintf(ret_what, bytes, "projects/%s/members/%s/caps/%s", show_text(balance, "project"),
                 user, cap);
        return;
    }
    bool is_project = strcmp(show_text(balance, "kind"), "project") == 0;
    snprintf(ret_what, bytes, "%s/%s/caps/%s", is_project ? "projects" : "organizations",
             show_text(balance, "node"), cap);
}

/* Adds the changes of one cap among those of a page to `rows`. */
static void changes_gather(const json_t *page, const char *what, json_t *rows)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(page, "items"), i, row)
    {
        if (strcmp(show_text(row, "what"), what) == 0) {
            json_array_append(rows, row);
        }
    }
}

/* The path of a page of the audit log: what is about the cap's node, or its member's project. */
static enum corehour_result page_path_write(const json_t *balance,
                                            const char *token,
                                            char *ret_path)
{
    const char *root = json_string_value(json_array_get(json_object_get(balance, "path"), 0));
    const bool is_member = *show_text(balance, "user") != '\0';
    const struct {
        const char *key;
        const char *value;
    } query[] = {{"root", root == NULL ? "" : root},
                 {"node", show_text(balance, is_member ? "project" : "node")},
                 {"page_size", "1000"},
                 {"page_token", token}};
    enum corehour_result result = COREHOUR_OK;
    snprintf(ret_path, COREHOUR_URL_BYTES, "/v1/audit");
    for (size_t i = 0; result == COREHOUR_OK && i < sizeof query / sizeof query[0]; i++) {
        if (*query[i].value != '\0') {
            result = corehour_url_query(ret_path, COREHOUR_URL_BYTES, query[i].key, query[i].value);
        }
    }
    return result;
}

static enum cli_exit history_gather(struct cli *cli,
                                    const json_t *balance,
                                    const char *what,
                                    json_t *rows)
{
    char path[COREHOUR_URL_BYTES];
    char token[1024] = "";
    do {
        struct corehour_answer answer;
        if (page_path_write(balance, token, path) != COREHOUR_OK) {
            return request_fail(cli, CLI_OTHER, "%s", tr("the request is too long"));
        }
        enum cli_exit exit = request_call(cli, "GET", path, NULL, &answer);
        if (exit == CLI_DONE) {
            exit = request_need_ok(cli, &answer);
        }
        if (exit != CLI_DONE) {
            return exit;
        }
        changes_gather(answer.body, what, rows);
        snprintf(token, sizeof token, "%s", show_text(answer.body, "next_page_token"));
        corehour_answer_fini(&answer);
    } while (*token != '\0');
    return CLI_DONE;
}

static void history_show(struct cli *cli, const json_t *rows)
{
    static const char *const columns[] = {"at", "name", "action", "before", "after", NULL};
    if (cli->json) {
        json_dumpf(rows, cli->out, JSON_INDENT(2));
        fputc('\n', cli->out);
    } else if (json_array_size(rows) == 0) {
        fprintf(cli->out, "%s\n", tr("none"));
    } else {
        show_rows(cli, rows, columns, 0);
    }
}

enum cli_exit run_cap_history(struct cli *cli)
{
    char path[COREHOUR_URL_BYTES];
    char what[1024];
    struct corehour_answer answer;
    struct corehour_request request = {.method = "GET"};
    enum cli_exit exit = node_call(cli, cli->args[0], "/balance", &request, path, &answer);
    if (exit == CLI_DONE) {
        exit = request_need_ok(cli, &answer);
    }
    if (exit != CLI_DONE) {
        return exit;
    }
    json_t *rows = json_array();
    what_write(answer.body, cli->args[1], what, sizeof what);
    exit = history_gather(cli, answer.body, what, rows);
    if (exit == CLI_DONE) {
        history_show(cli, rows);
    }
    json_decref(rows);
    corehour_answer_fini(&answer);
    return exit;
}
