/* From a struct cli to a request and its answer: see request.h. */
#include "clients/cli/request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/kinds.h"
#include "clients/cli/refusal.h"
#include "clients/cli/show.h"
#include "clients/cli/text.h"
#include "clients/clock.h"
#include "clients/ids.h"

enum cli_exit request_fail(const struct cli *cli, enum cli_exit exit, const char *format, ...)
{
    char message[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    fprintf(cli->err, "corehour %s: ", cli->command->name);
    text_print(cli->err, message);
    fputc('\n', cli->err);
    return exit;
}

/* ---- the body ---- */

/* The object below `field`, made when there is none; NULL without memory. */
static json_t *inner_object(json_t *object, const char *field)
{
    json_t *inner = json_object_get(object, field);
    if (json_is_object(inner)) {
        return inner;
    }
    inner = json_object();
    return json_object_set_new(object, field, inner) == 0 ? inner : NULL;
}

enum corehour_result request_field_set(json_t *object, const char *field, json_t *value)
{
    const char *dot;
    while (object != NULL && (dot = strchr(field, '.')) != NULL) {
        char step[64];
        snprintf(step, sizeof step, "%.*s", (int)(dot - field), field);
        object = inner_object(object, step);
        field = dot + 1;
    }
    if (object == NULL) {
        json_decref(value);
        return COREHOUR_MEMORY;
    }
    return json_object_set_new(object, field, value) == 0 ? COREHOUR_OK : COREHOUR_MEMORY;
}

static enum cli_exit body_file_load(struct cli *cli, json_t **ret_body)
{
    json_error_t where;
    bool is_stdin = strcmp(cli->body_file, "-") == 0;
    FILE *file = is_stdin ? cli->in : fopen(cli->body_file, "re");
    if (file == NULL) {
        return request_fail(cli, CLI_USAGE, tr("%s cannot be read: %s"), cli->body_file,
                            strerror(errno));
    }
    json_t *body = json_loadf(file, JSON_REJECT_DUPLICATES, &where);
    if (!is_stdin) {
        fclose(file);
    }
    if (json_is_object(body)) {
        *ret_body = body;
        return CLI_DONE;
    }
    if (body != NULL) {
        json_decref(body);
        return request_fail(cli, CLI_USAGE, tr("%s is JSON, but no object"), cli->body_file);
    }
    return request_fail(cli, CLI_USAGE, tr("%s is not JSON: %s (line %d)"), cli->body_file,
                        where.text, where.line);
}

/* Converts one text by its field's kind and sets it in the body. */
enum cli_exit request_field_put(struct cli *cli,
                                const struct cli_field *field,
                                const char *text,
                                json_t *body)
{
    json_t *value = NULL;
    if (kind_convert(field->kind, text, cli->now_s, &value) != COREHOUR_OK) {
        return request_fail(cli, CLI_USAGE, tr("%s \"%s\": give %s"), field->name, text,
                            tr(kind_expects(field->kind)));
    }
    if (request_field_set(body, field->field, value) != COREHOUR_OK) {
        return request_fail(cli, CLI_OTHER, tr("out of memory"));
    }
    return CLI_DONE;
}

static enum cli_exit arguments_put(struct cli *cli, json_t *body)
{
    size_t count = cli_fields_count(cli->command->args);
    for (size_t i = 0; i < cli->args_count && i < count; i++) {
        const struct cli_field *field = &cli->command->args[i];
        enum cli_exit exit =
            field->field == NULL ? CLI_DONE : request_field_put(cli, field, cli->args[i], body);
        if (exit != CLI_DONE) {
            return exit;
        }
    }
    return CLI_DONE;
}

/* Whether --body's file has set what would only be a default. */
static bool is_set(const struct cli *cli, const json_t *body, const struct cli_field *field)
{
    return cli_value(cli, field->name) == NULL && json_object_get(body, field->field) != NULL;
}

static enum cli_exit options_put(struct cli *cli, json_t *body)
{
    const struct cli_field *field;
    enum cli_exit exit = CLI_DONE;
    for (size_t i = 0; exit == CLI_DONE && (field = cli_option_at(cli->command, i)) != NULL; i++) {
        const char *text = cli->values[i] != NULL ? cli->values[i] : field->otherwise;
        if (text != NULL && field->field != NULL && !is_set(cli, body, field)) {
            exit = request_field_put(cli, field, text, body);
        }
    }
    return exit;
}

static enum cli_exit id_put(struct cli *cli, json_t *body)
{
    const char *prefix = cli->command->id_prefix;
    if (prefix == NULL || json_object_get(body, "id") != NULL) {
        return CLI_DONE;
    }
    if (strcmp(prefix, "cluster") == 0) {
        prefix = json_string_value(json_object_get(body, "cluster"));
    }
    char id[COREHOUR_ID_BYTES];
    if (prefix == NULL) {
        return request_fail(cli, CLI_USAGE, tr("--cluster is missing"));
    }
    if (corehour_id_create(prefix, id) != COREHOUR_OK) {
        return request_fail(cli, CLI_USAGE, tr("\"%s\" cannot be the name of a cluster"), prefix);
    }
    if (json_object_set_new(body, "id", json_string(id)) != 0) {
        return request_fail(cli, CLI_OTHER, tr("out of memory"));
    }
    return CLI_DONE;
}

enum cli_exit request_body_create(struct cli *cli, json_t **ret_body)
{
    json_t *body = NULL;
    enum cli_exit exit = CLI_DONE;
    if (cli->body_file != NULL) {
        exit = body_file_load(cli, &body);
    } else {
        body = json_object();
    }
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = arguments_put(cli, body);
    if (exit == CLI_DONE) {
        exit = options_put(cli, body);
    }
    if (exit == CLI_DONE) {
        exit = id_put(cli, body);
    }
    if (exit != CLI_DONE) {
        json_decref(body);
        return exit;
    }
    *ret_body = body;
    return CLI_DONE;
}

/* ---- path and query ---- */

enum cli_exit request_path_write(struct cli *cli, const char *template, char *path)
{
    size_t next = 0;
    size_t count = cli_fields_count(cli->command->args);
    path[0] = '\0';
    for (const char *brace = strstr(template, "/{}"); brace != NULL;
         brace = strstr(template, "/{}")) {
        char constant[128];
        snprintf(constant, sizeof constant, "%.*s", (int)(brace - template), template);
        while (next < count && cli->command->args[next].field != NULL) {
            next++;
        }
        const char *argument = next < cli->args_count ? cli->args[next] : "";
        if (corehour_url_append(path, COREHOUR_URL_BYTES, constant) != COREHOUR_OK ||
            corehour_url_segment(path, COREHOUR_URL_BYTES, argument) != COREHOUR_OK) {
            return request_fail(cli, CLI_USAGE, tr("\"%s\" cannot be a name"), argument);
        }
        next++;
        template = brace + 3;
    }
    return corehour_url_append(path, COREHOUR_URL_BYTES, template) == COREHOUR_OK
               ? CLI_DONE
               : request_fail(cli, CLI_USAGE, "%s", tr("the request is too long"));
}

/* A value of a query is the JSON value's text. */
static enum cli_exit query_put(struct cli *cli,
                               const struct cli_field *field,
                               const char *text,
                               char *path)
{
    json_t *value = NULL;
    char number[32];
    /* The daemon takes a list as it is written. */
    const enum cli_kind kind = field->kind == CLI_LIST ? CLI_TEXT : field->kind;
    if (kind_convert(kind, text, cli->now_s, &value) != COREHOUR_OK) {
        return request_fail(cli, CLI_USAGE, tr("%s \"%s\": give %s"), field->name, text,
                            tr(kind_expects(field->kind)));
    }
    const char *written = json_is_true(value) ? "true" : json_string_value(value);
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        written = number;
    }
    enum corehour_result result =
        corehour_url_query(path, COREHOUR_URL_BYTES, field->field, written);
    json_decref(value);
    if (result != COREHOUR_OK) {
        return request_fail(cli, CLI_USAGE, tr("%s: the value is too long"), field->name);
    }
    return CLI_DONE;
}

enum cli_exit request_query_append(struct cli *cli, char *path)
{
    const struct cli_field *field;
    enum cli_exit exit = CLI_DONE;
    size_t count = cli_fields_count(cli->command->args);
    for (size_t i = 0; exit == CLI_DONE && i < cli->args_count && i < count; i++) {
        field = &cli->command->args[i];
        if (field->field != NULL) {
            exit = query_put(cli, field, cli->args[i], path);
        }
    }
    for (size_t i = 0; exit == CLI_DONE && (field = cli_option_at(cli->command, i)) != NULL; i++) {
        if (cli->values[i] != NULL && field->field != NULL) {
            exit = query_put(cli, field, cli->values[i], path);
        }
    }
    return exit;
}

/* ---- calling ---- */

static void trace_request(const struct cli *cli, const struct corehour_request *request)
{
    fprintf(cli->err, "> %s %s\n", request->method, request->path);
    if (request->if_match != NULL) {
        fprintf(cli->err, "> If-Match: %s\n", request->if_match);
    }
    char *text = request->body == NULL ? NULL : json_dumps(request->body, JSON_COMPACT);
    if (text != NULL) {
        fprintf(cli->err, "> %s\n", text);
    }
    free(text);
}

static void trace_answer(const struct cli *cli,
                         const struct corehour_answer *answer,
                         int64_t took_ms)
{
    fprintf(cli->err, "< %d (%" PRId64 " ms, try %u%s)\n", answer->status, took_ms, answer->tries,
            answer->reused ? ", same connection" : "");
    if (answer->text_bytes == 0) {
        return;
    }
    fputs("< ", cli->err);
    text_print(cli->err, answer->text);
    fputc('\n', cli->err);
}

enum cli_exit request_send(struct cli *cli,
                           struct corehour_request *request,
                           struct corehour_answer *ret_answer)
{
    char path[COREHOUR_URL_BYTES + 16];
    struct corehour_error error;
    snprintf(path, sizeof path, "%s", request->path);
    if (cli->dry_run && strcmp(request->method, "GET") != 0) {
        corehour_url_query(path, sizeof path, "dry_run", "true");
    }
    request->path = path;
    if (cli->deadline_ms > 0 && request->deadline_ms == 0) {
        request->deadline_ms = cli->deadline_ms;
    }
    if (cli->trace) {
        trace_request(cli, request);
    }
    int64_t start_ms = client_clock_mono_ms();
    enum corehour_result result = corehour_call(cli->client, request, ret_answer, &error);
    request->path = NULL; /* pointed here */
    if (result != COREHOUR_OK) {
        return refusal_no_answer(cli, &error);
    }
    if (cli->trace) {
        trace_answer(cli, ret_answer, client_clock_mono_ms() - start_ms);
    }
    return CLI_DONE;
}

/* What changes something has a body, if only an empty one. */
static struct corehour_request request_of(const struct cli *cli,
                                          const char *method,
                                          const char *path,
                                          const json_t *body)
{
    struct corehour_request request = {
        .method = method, .path = path, .body = body, .once = cli->command->once};
    if (body == NULL && strcmp(method, "GET") != 0 && strcmp(method, "DELETE") != 0) {
        request.bytes = "{}";
        request.bytes_count = 2;
    }
    return request;
}

enum cli_exit request_call(struct cli *cli,
                           const char *method,
                           const char *path,
                           const json_t *body,
                           struct corehour_answer *ret_answer)
{
    struct corehour_request request = request_of(cli, method, path, body);
    return request_send(cli, &request, ret_answer);
}

enum cli_exit request_report(struct cli *cli,
                             const struct corehour_answer *answer,
                             void (*show)(struct cli *cli, const json_t *body))
{
    if (answer->status >= 300) {
        return refusal_report(cli, answer);
    }
    if (cli->json || (answer->body == NULL && answer->text_bytes > 0)) {
        fwrite(answer->text, 1, answer->text_bytes, cli->out);
        if (answer->text_bytes > 0 && answer->text[answer->text_bytes - 1] != '\n') {
            fputc('\n', cli->out);
        }
        return CLI_DONE;
    }
    cli->status = answer->status;
    if (cli->dry_run && strcmp(cli->command->method, "GET") != 0) {
        fprintf(cli->out, "%s", tr("dry run, nothing written: "));
    }
    if (answer->body == NULL) {
        fprintf(cli->out, "%s\n", tr("done"));
    } else if (show != NULL) {
        show(cli, answer->body);
    } else {
        show_object(cli, answer->body);
    }
    return CLI_DONE;
}

enum cli_exit request_send_report(struct cli *cli,
                                  struct corehour_request *request,
                                  void (*show)(struct cli *cli, const json_t *body))
{
    struct corehour_answer answer;
    enum cli_exit exit = request_send(cli, request, &answer);
    if (exit == CLI_DONE) {
        exit = request_report(cli, &answer, show);
        corehour_answer_fini(&answer);
    }
    return exit;
}

enum cli_exit request_call_report(struct cli *cli,
                                  const char *method,
                                  const char *path,
                                  const json_t *body,
                                  void (*show)(struct cli *cli, const json_t *body))
{
    struct corehour_request request = request_of(cli, method, path, body);
    return request_send_report(cli, &request, show);
}

enum cli_exit request_quote(struct cli *cli, const json_t *body)
{
    struct corehour_answer answer;
    enum cli_exit exit = request_call(cli, "POST", cli->command->path, body, &answer);
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = request_report(cli, &answer, cli->command->show);
    if (exit == CLI_DONE && json_is_false(json_object_get(answer.body, "would_pass"))) {
        exit = CLI_QUOTA;
    }
    corehour_answer_fini(&answer);
    return exit;
}

enum cli_exit request_need_ok(struct cli *cli, struct corehour_answer *answer)
{
    if (answer->status == 200) {
        return CLI_DONE;
    }
    const enum cli_exit exit = request_report(cli, answer, NULL);
    corehour_answer_fini(answer);
    return exit != CLI_DONE ? exit : CLI_OTHER;
}

enum cli_exit request_run(struct cli *cli)
{
    const struct cli_command *command = cli->command;
    char path[COREHOUR_URL_BYTES];
    json_t *body = NULL;
    bool reads = strcmp(command->method, "GET") == 0 || strcmp(command->method, "DELETE") == 0;
    enum cli_exit exit = request_path_write(cli, command->path, path);
    if (exit == CLI_DONE) {
        exit = reads ? request_query_append(cli, path) : request_body_create(cli, &body);
    }
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = request_call_report(cli, command->method, path, body, command->show);
    json_decref(body);
    return exit;
}
