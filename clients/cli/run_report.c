/* Reports as files: what the daemon writes goes to --output, or to stdout, as it comes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clients/cli/refusal.h"
#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/show.h"
#include "clients/cli/text.h"
#include "clients/url.h"

static const int64_t download_ms = 600000;

/* Options that ask for a file, and the format that the daemon knows. */
static const struct format {
    const char *option;
    const char *name;
} formats[] = {
    {"csv", "csv"},
    {"xlsx", "xlsx"},
    {"focus", "focus"},
    {"hledger", "hledger"},
};

/* The value of an option that not every command of this file has. */
static const char *value_of(const struct cli *cli, const char *name)
{
    for (size_t i = 0;; i++) {
        const struct cli_field *field = cli_option_at(cli->command, i);
        if (field == NULL) {
            return NULL;
        }
        if (strcmp(field->name, name) == 0) {
            return cli->values[i];
        }
    }
}

/* The format asked for; NULL: none. More than one is a mistake. */
static enum cli_exit format_read(const struct cli *cli, const char **ret_format)
{
    *ret_format = NULL;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (value_of(cli, formats[i].option) == NULL) {
            continue;
        }
        if (*ret_format != NULL) {
            return request_fail(cli, CLI_USAGE, tr("--%s and --%s: choose one"), *ret_format,
                                formats[i].option);
        }
        *ret_format = formats[i].name;
    }
    return CLI_DONE;
}

static bool bytes_take(void *arg, const char *bytes, size_t bytes_count)
{
    return fwrite(bytes, 1, bytes_count, arg) == bytes_count;
}

static enum cli_exit download(struct cli *cli, const char *path, FILE *to)
{
    struct corehour_answer answer;
    struct corehour_request request = {.method = "GET",
                                       .path = path,
                                       .try_ms = download_ms,
                                       .deadline_ms =
                                           cli->deadline_ms > 0 ? cli->deadline_ms : download_ms,
                                       .once = true,
                                       .sink = bytes_take,
                                       .sink_arg = to};
    enum cli_exit exit = request_send(cli, &request, &answer);
    if (exit == CLI_DONE && answer.status >= 300) {
        exit = refusal_report(cli, &answer);
    }
    corehour_answer_fini(&answer);
    return exit;
}

/* Into a file of that name, which is there only when all of it is. */
static enum cli_exit download_to_file(struct cli *cli, const char *path, const char *name)
{
    char part[4096];
    int bytes = snprintf(part, sizeof part, "%s.part", name);
    FILE *file = bytes > 0 && (size_t)bytes < sizeof part ? fopen(part, "wb") : NULL;
    if (file == NULL) {
        return request_fail(cli, CLI_OTHER, tr("%s: %s"), name, strerror(errno));
    }
    enum cli_exit exit = download(cli, path, file);
    bool written = fflush(file) == 0 && ferror(file) == 0;
    written = fclose(file) == 0 && written;
    if (exit == CLI_DONE && (!written || rename(part, name) != 0)) {
        exit = request_fail(cli, CLI_OTHER, tr("%s: %s"), name, strerror(errno));
    }
    if (exit != CLI_DONE) {
        (void)unlink(part);
    }
    return exit;
}

/* The path of a request with its query and format. */
static enum cli_exit path_make(struct cli *cli, const char *format, char *ret_path)
{
    enum cli_exit exit = request_path_write(cli, cli->command->path, ret_path);
    if (exit == CLI_DONE) {
        exit = request_query_append(cli, ret_path);
    }
    if (exit == CLI_DONE &&
        corehour_url_query(ret_path, COREHOUR_URL_BYTES, "format", format) != COREHOUR_OK) {
        exit = request_fail(cli, CLI_USAGE, tr("the request is too long"));
    }
    return exit;
}

/* As a file where one is asked for; *ret_done: it was. */
static enum cli_exit file_run(struct cli *cli, bool *ret_done)
{
    char path[COREHOUR_URL_BYTES];
    const char *format;
    const char *output = value_of(cli, "output");
    enum cli_exit exit = format_read(cli, &format);
    *ret_done = exit != CLI_DONE || format != NULL || output != NULL;
    if (exit != CLI_DONE || !*ret_done) {
        return exit;
    }
    exit = path_make(cli, format != NULL ? format : "json", path);
    if (exit == CLI_DONE && output != NULL) {
        return download_to_file(cli, path, output);
    }
    return exit == CLI_DONE ? download(cli, path, cli->out) : exit;
}

enum cli_exit run_report(struct cli *cli)
{
    bool done;
    enum cli_exit exit = file_run(cli, &done);
    return done ? exit : run_list(cli);
}

enum cli_exit run_statement(struct cli *cli)
{
    bool done;
    enum cli_exit exit = file_run(cli, &done);
    return done ? exit : request_run(cli);
}

enum cli_exit run_journal_or_file(struct cli *cli)
{
    bool done;
    enum cli_exit exit = file_run(cli, &done);
    return done ? exit : run_journal(cli);
}

void show_statement(struct cli *cli, const json_t *body)
{
    static const char *const lines[] = {"opening",  "granted",   "transferred", "withdrawn", "used",
                                        "refunded", "corrected", "expired",     "closing"};
    static const char *const columns[] = {"line", "amount_mcs", NULL};
    json_t *rows = json_array();
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char field[32];
        snprintf(field, sizeof field, "%s_mcs", lines[i]);
        json_t *amount = json_object_get(body, field);
        json_t *row = json_pack("{s:s, s:O}", "line", tr(lines[i]), "amount_mcs", amount);
        if (row != NULL) {
            (void)json_array_append_new(rows, row);
        }
    }
    fprintf(cli->out, "%s, %s%s\n", show_text(body, "node"), show_text(body, "month"),
            json_is_true(json_object_get(body, "closed")) ? tr(" (closed)") : "");
    show_rows(cli, rows, columns, 0);
    json_decref(rows);
}
