/* Many lines in or out: batches and the journal. Lines are shown as they come, nothing is kept. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/lines.h"
#include "clients/cli/refusal.h"
#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/show.h"
#include "clients/cli/text.h"

/* A request's share of a batch: half of the daemon's bounds (SPEC 1.6), so that nobody waits long. */
static const size_t part_lines_max = 5000;
static const size_t part_bytes_max = (size_t)8 << 20;
static const size_t atomic_lines_max = 10000;
static const size_t atomic_bytes_max = (size_t)16 << 20;
static const int64_t part_deadline_ms = 120000;

/* A batch on its way. */
struct batch {
    struct cli *cli;
    bool atomic;
    char *bytes; /* the part that is being filled */
    size_t bytes_count;
    size_t lines;
    size_t answered; /* lines answered of the whole file: their numbers in it */
    size_t done;
    size_t refused;     /* for quota */
    size_t failed;      /* otherwise */
    enum cli_exit exit; /* of the worst line */
};

/* Of two ends the one to report: anything else outweighs a refusal for quota, which outweighs done. */
static enum cli_exit worse(enum cli_exit a, enum cli_exit b)
{
    return a > b ? a : b;
}

static void line_result_show(const struct batch *batch, const json_t *result, int status)
{
    const struct cli *cli = batch->cli;
    const char *name = status >= 400 ? "detail" : "id";
    const char *text = show_text(result, name);
    if (status >= 400 && *text == '\0') {
        text = show_text(result, "title");
    }
    fprintf(cli->out, tr("line %zu: %d "), batch->answered, status);
    text_print(cli->out, status >= 400 ? show_text(result, "code") : show_text(result, "state"));
    fputs(*text == '\0' ? "" : " ", cli->out);
    text_print(cli->out, text);
    fputc('\n', cli->out);
}

/* A lines_fn: takes the answer of one line. */
static bool line_result_take(void *arg, const char *line, size_t line_bytes)
{
    struct batch *batch = arg;
    json_t *result = json_loadb(line, line_bytes, 0, NULL);
    int status = (int)show_integer(result, "status", 0);
    enum cli_exit exit =
        status >= 200 && status < 300 ? CLI_DONE : refusal_exit(status, show_text(result, "code"));
    batch->answered++;
    batch->done += exit == CLI_DONE;
    batch->refused += exit == CLI_QUOTA;
    batch->failed += exit != CLI_DONE && exit != CLI_QUOTA;
    batch->exit = worse(batch->exit, exit);
    if (batch->cli->json) {
        fprintf(batch->cli->out, "%s\n", line);
    } else if (exit != CLI_DONE) {
        line_result_show(batch, result, status);
    }
    json_decref(result);
    return ferror(batch->cli->out) == 0;
}

/* Sends the part that is filled and empties it. */
static enum cli_exit part_send(struct batch *batch)
{
    struct lines lines;
    struct corehour_answer answer;
    if (batch->lines == 0) {
        return CLI_DONE;
    }
    size_t expected = batch->answered + batch->lines;
    lines_init(&lines, line_result_take, batch);
    struct corehour_request request = {
        .method = "POST",
        .path = batch->atomic ? "/v1/batch?atomic=true" : "/v1/batch",
        .bytes = batch->bytes,
        .bytes_count = batch->bytes_count,
        .content_type = "application/x-ndjson",
        .deadline_ms = batch->cli->deadline_ms > 0 ? batch->cli->deadline_ms : part_deadline_ms,
        .try_ms = part_deadline_ms,
        .sink = lines_feed,
        .sink_arg = &lines};
    enum cli_exit exit = request_send(batch->cli, &request, &answer);
    if (exit == CLI_DONE && answer.status >= 300) {
        exit = refusal_report(batch->cli, &answer);
    }
    lines_end(&lines);
    lines_fini(&lines);
    corehour_answer_fini(&answer);
    batch->bytes_count = 0;
    batch->lines = 0;
    if (exit == CLI_DONE && batch->answered != expected) {
        exit = request_fail(batch->cli, CLI_OTHER, tr("%zu lines were sent and %zu answered"),
                            expected, batch->answered);
    }
    return exit;
}

/* Puts one line, with its newline, into the part. */
static enum cli_exit line_put(struct batch *batch, const char *line, size_t line_bytes)
{
    size_t lines_max = batch->atomic ? atomic_lines_max : part_lines_max;
    size_t bytes_max = batch->atomic ? atomic_bytes_max : part_bytes_max;
    if (batch->lines == lines_max || batch->bytes_count + line_bytes + 1 > bytes_max) {
        if (batch->atomic || batch->lines == 0) {
            return request_fail(batch->cli, CLI_USAGE,
                                tr("at most %zu lines and %zu MiB go into one"), lines_max,
                                bytes_max >> 20);
        }
        enum cli_exit exit = part_send(batch);
        if (exit != CLI_DONE) {
            return exit;
        }
    }
    memcpy(batch->bytes + batch->bytes_count, line, line_bytes);
    batch->bytes_count += line_bytes;
    if (line[line_bytes - 1] != '\n') {
        batch->bytes[batch->bytes_count++] = '\n';
    }
    batch->lines++;
    return CLI_DONE;
}

static enum cli_exit file_send(struct batch *batch, FILE *file)
{
    char *line = NULL;
    size_t room = 0;
    enum cli_exit exit = CLI_DONE;
    for (;;) {
        ssize_t line_bytes = getline(&line, &room, file);
        if (line_bytes < 0 || exit != CLI_DONE) {
            break;
        }
        if (line_bytes > 1) { /* an empty one asks for nothing */
            exit = line_put(batch, line, (size_t)line_bytes);
        }
    }
    free(line);
    if (exit == CLI_DONE && ferror(file)) {
        exit = request_fail(batch->cli, CLI_OTHER, tr("the input cannot be read: %s"),
                            strerror(errno));
    }
    return exit != CLI_DONE ? exit : part_send(batch);
}

enum cli_exit run_batch(struct cli *cli)
{
    struct batch batch = {.cli = cli, .atomic = cli_value(cli, "atomic") != NULL};
    const char *name = cli->args_count > 0 ? cli->args[0] : "-";
    bool is_stdin = strcmp(name, "-") == 0;
    FILE *file = is_stdin ? cli->in : fopen(name, "re");
    if (file == NULL) {
        return request_fail(cli, CLI_USAGE, tr("%s cannot be read: %s"), name, strerror(errno));
    }
    batch.bytes = malloc(atomic_bytes_max + 1);
    enum cli_exit exit = batch.bytes == NULL ? request_fail(cli, CLI_OTHER, tr("out of memory"))
                                             : file_send(&batch, file);
    free(batch.bytes);
    if (!is_stdin) {
        fclose(file);
    }
    if (!cli->json) {
        fprintf(cli->out, tr("%zu lines: %zu done, %zu refused for quota, %zu failed\n"),
                batch.answered, batch.done, batch.refused, batch.failed);
    }
    return exit != CLI_DONE ? exit : batch.exit;
}

/* ---- the journal ---- */

/* Rows are shown a screenful at a time, so that a long journal begins at once and columns still fit. */
struct journal {
    struct cli *cli;
    json_t *rows;
    size_t rows_max;
};

static const char *const journal_columns[] = {"seq",  "at",   "kind",  "from",   "to", "amount_mcs",
                                              "hold", "task", "grant", "period", NULL};

/* One column for the grant, and none for the task of what is about a whole hold. */
static void journal_row_tidy(json_t *row)
{
    json_t *from = json_object_get(row, "from_grant");
    json_t *to = json_object_get(row, "to_grant");
    bool both = from != NULL && to != NULL && !json_equal(from, to);
    json_t *grant = both ? json_sprintf("%s > %s", json_string_value(from), json_string_value(to))
                         : json_incref(from != NULL ? from : to);
    if (grant != NULL && json_object_set_new(row, "grant", grant) != 0) {
        return;
    }
    if (show_integer(row, "task", 0) < 0) {
        json_object_del(row, "task");
    }
}

static void journal_flush(struct journal *journal)
{
    if (json_array_size(journal->rows) == 0) {
        return;
    }
    show_rows(journal->cli, journal->rows, journal_columns, 0);
    json_array_clear(journal->rows);
}

static bool journal_line_take(void *arg, const char *line, size_t line_bytes)
{
    struct journal *journal = arg;
    if (journal->cli->json) {
        fprintf(journal->cli->out, "%s\n", line);
        return ferror(journal->cli->out) == 0;
    }
    json_t *row = json_loadb(line, line_bytes, 0, NULL);
    journal_row_tidy(row);
    if (!json_is_object(row) || json_array_append(journal->rows, row) != 0) {
        json_decref(row);
        return false;
    }
    json_decref(row);
    if (json_array_size(journal->rows) >= journal->rows_max) {
        journal_flush(journal);
    }
    return true;
}

enum cli_exit run_journal(struct cli *cli)
{
    char path[COREHOUR_URL_BYTES];
    struct corehour_answer answer;
    struct journal journal = {.cli = cli, .rows = json_array(), .rows_max = 200};
    struct lines lines;
    enum cli_exit exit = request_path_write(cli, cli->command->path, path);
    if (exit == CLI_DONE) {
        exit = request_query_append(cli, path);
    }
    if (exit != CLI_DONE) {
        json_decref(journal.rows);
        return exit;
    }
    lines_init(&lines, journal_line_take, &journal);
    struct corehour_request request = {.method = "GET",
                                       .path = path,
                                       .try_ms = part_deadline_ms,
                                       .deadline_ms = cli->deadline_ms > 0 ? cli->deadline_ms
                                                                           : part_deadline_ms,
                                       .sink = lines_feed,
                                       .sink_arg = &lines};
    exit = request_send(cli, &request, &answer);
    if (exit == CLI_DONE && answer.status >= 300) {
        exit = refusal_report(cli, &answer);
    }
    if (exit == CLI_DONE) {
        lines_end(&lines);
        journal_flush(&journal);
    }
    lines_fini(&lines);
    json_decref(journal.rows);
    corehour_answer_fini(&answer);
    return exit;
}
