/* SPDX-License-Identifier: MIT
 *
 * See link.h. */
#include "clients/slurm/agent/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/ndjson.h"

bool link_open(const struct slurm_config *config,
               int64_t deadline_ms,
               struct corehour_client **ret_client,
               char *ret_detail)
{
    char token[SLURM_CONFIG_TOKEN_BYTES];
    struct slurm_config_error config_error;
    struct corehour_error error;
    if (!slurm_config_token_read(config, token, &config_error)) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "%s", config_error.detail);
        return false;
    }
    const struct corehour_options options = {
        .url = config->url.text,
        .token = token,
        .ca_file = config->ca_file.text[0] == '\0' ? NULL : config->ca_file.text,
        .agent = "corehour-slurm",
        .deadline_ms = deadline_ms > 0 ? deadline_ms : 10000,
        .try_ms = deadline_ms > 0 ? deadline_ms : 8000,
        .tries_max = 2,
    };
    const bool good = corehour_client_create(&options, ret_client, &error) == COREHOUR_OK;
    if (!good) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "%s", error.detail);
    }
    explicit_bzero(token, sizeof token);
    return good;
}

int link_status(const json_t *answer)
{
    return (int)json_integer_value(json_object_get(answer, "status"));
}

const char *link_code(const json_t *answer)
{
    const char *code = json_string_value(json_object_get(answer, "code"));
    return code == NULL ? "" : code;
}

bool link_is_later(int status)
{
    return status == 401 || status == 408 || status == 424 || status == 429 || status >= 500 ||
           status == 0;
}

/* Lines into an array. */
static json_t *answers_read(const char *text)
{
    json_t *answers = json_array();
    json_t *answer;
    while (ndjson_next(&text, &answer)) {
        if (json_array_append_new(answers, answer) != 0) {
            json_decref(answers);
            return NULL;
        }
    }
    return answers;
}

static char *ops_write(const json_t *ops, size_t *ret_bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_bytes);
    size_t i;
    json_t *op;
    if (out == NULL) {
        return NULL;
    }
    bool good = true;
    json_array_foreach(ops, i, op)
    {
        good = json_dumpf(op, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF && good;
    }
    if (fclose(out) != 0 || !good) {
        free(text);
        return NULL;
    }
    return text;
}

json_t *link_batch(struct corehour_client *client,
                   const json_t *ops,
                   bool dry_run,
                   char *ret_detail)
{
    size_t bytes = 0;
    struct corehour_answer answer;
    struct corehour_error error;
    json_t *answers = NULL;
    char *text = ops_write(ops, &bytes);
    if (text == NULL) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "out of memory");
        return NULL;
    }
    const struct corehour_request request = {
        .method = "POST",
        .path = dry_run ? "/v1/batch?dry_run=true" : "/v1/batch",
        .bytes = text,
        .bytes_count = bytes,
        .content_type = "application/x-ndjson",
    };
    const enum corehour_result result = corehour_call(client, &request, &answer, &error);
    free(text);
    if (result != COREHOUR_OK) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "%s", error.detail);
        return NULL;
    }
    if (answer.status == 200) {
        answers = answers_read(answer.text);
    }
    if (answers == NULL || json_array_size(answers) != json_array_size(ops)) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "the daemon answered %d %s to a batch",
                       answer.status, corehour_answer_code(&answer));
        json_decref(answers);
        answers = NULL;
    }
    corehour_answer_fini(&answer);
    return answers;
}

json_t *link_do(struct corehour_client *client, json_t *op, bool dry_run, char *ret_detail)
{
    json_t *ops = op == NULL ? NULL : json_pack("[O]", op);
    if (ops == NULL) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "out of memory");
        return NULL;
    }
    json_t *answers = link_batch(client, ops, dry_run, ret_detail);
    json_t *answer = json_incref(json_array_get(answers, 0));
    json_decref(answers);
    json_decref(ops);
    return answer;
}

json_t *link_get(struct corehour_client *client,
                 const char *path,
                 int *ret_status,
                 char *ret_detail)
{
    struct corehour_answer answer;
    struct corehour_error error;
    const struct corehour_request request = {.method = "GET", .path = path};
    *ret_status = 0;
    if (corehour_call(client, &request, &answer, &error) != COREHOUR_OK) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "%s", error.detail);
        return NULL;
    }
    json_t *body = answer.status == 200 ? json_incref(answer.body) : NULL;
    *ret_status = answer.status;
    if (body == NULL) {
        (void)snprintf(ret_detail, LINK_DETAIL_BYTES, "GET %.120s: %d %s", path, answer.status,
                       corehour_answer_code(&answer));
    }
    corehour_answer_fini(&answer);
    return body;
}
