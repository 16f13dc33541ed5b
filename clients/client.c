/*
 * Clients, the loop of tries and the few commands that need more than a call: see client.h. The
 * loop is in tries_run and nowhere else; the bytes of a request are made before the first try and
 * never change.
 */
#include "clients/client.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#include "clients/clock.h"
#include "clients/exchange.h"
#include "clients/ids.h"
#include "clients/url.h"

static const int64_t backoff_first_ms = 100;
static const int64_t backoff_last_ms = 5000;
static const int64_t call_max_ms = 3600000;

struct corehour_client {
    struct exchange exchange;
    int64_t deadline_ms;
    int64_t try_ms;
    unsigned tries_max;
};

/* ---- making a client ---- */

static enum corehour_result url_check(const char *url, struct corehour_error *ret_error)
{
    if (url == NULL || exchange_has_control(url) || strpbrk(url, "?# ") != NULL ||
        (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)) {
        return exchange_error(ret_error, COREHOUR_INVALID,
                              "\"%.200s\" is not an http:// or https:// URL",
                              url == NULL ? "" : url);
    }
    CURLU *parsed = curl_url();
    if (parsed == NULL) {
        return exchange_error(ret_error, COREHOUR_MEMORY, "out of memory");
    }
    CURLUcode code = curl_url_set(parsed, CURLUPART_URL, url, 0);
    curl_url_cleanup(parsed);
    if (code != CURLUE_OK) {
        return exchange_error(ret_error, COREHOUR_INVALID, "\"%.200s\" is not a URL: %.80s", url,
                              curl_url_strerror(code));
    }
    return COREHOUR_OK;
}

static bool is_time(int64_t time_ms)
{
    return time_ms >= 0 && time_ms <= call_max_ms;
}

static enum corehour_result options_check(const struct corehour_options *options,
                                          struct corehour_error *ret_error)
{
    if (!is_time(options->deadline_ms) || !is_time(options->try_ms) ||
        !is_time(options->connect_ms) || options->tries_max > 100) {
        return exchange_error(ret_error, COREHOUR_RANGE,
                              "a time is outside 1 ms to 1 h, or the tries are more than 100");
    }
    if ((options->token != NULL && exchange_has_control(options->token)) ||
        (options->language != NULL && exchange_has_control(options->language)) ||
        (options->address != NULL && exchange_has_control(options->address))) {
        return exchange_error(ret_error, COREHOUR_INVALID,
                              "the token, the language or the address holds a control character");
    }
    if (options->ca_file != NULL && access(options->ca_file, R_OK) != 0) {
        return exchange_error(ret_error, COREHOUR_INVALID, "the CA file %.200s cannot be read",
                              options->ca_file);
    }
    return url_check(options->url, ret_error);
}

enum corehour_result corehour_client_create(const struct corehour_options *options,
                                            struct corehour_client **ret_client,
                                            struct corehour_error *ret_error)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return exchange_error(ret_error, COREHOUR_MEMORY, "libcurl cannot be initialized");
    }
    enum corehour_result result = options_check(options, ret_error);
    if (result != COREHOUR_OK) {
        return result;
    }
    struct corehour_options filled = *options;
    filled.connect_ms = options->connect_ms > 0 ? options->connect_ms : 2000;
    if (filled.answer_bytes_max == 0) {
        filled.answer_bytes_max = (size_t)64 << 20;
    }
    struct corehour_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return exchange_error(ret_error, COREHOUR_MEMORY, "out of memory");
    }
    client->deadline_ms = options->deadline_ms > 0 ? options->deadline_ms : 30000;
    client->try_ms = options->try_ms > 0 ? options->try_ms : 10000;
    client->tries_max = options->tries_max > 0 ? options->tries_max : 4;
    result = exchange_init(&client->exchange, &filled, ret_error);
    if (result != COREHOUR_OK) {
        corehour_client_destroy(client);
        return result;
    }
    *ret_client = client;
    return COREHOUR_OK;
}

void corehour_client_destroy(struct corehour_client *client)
{
    if (client == NULL) {
        return;
    }
    exchange_fini(&client->exchange);
    free(client);
}

/* ---- calls ---- */

/* Whether the same bytes may go out once more after this outcome. */
static bool may_repeat(const struct corehour_request *request,
                       const struct exchange_attempt *attempt,
                       enum corehour_result result)
{
    int status = attempt->answer.status;
    if (attempt->sink_fed) {
        return false;
    }
    if (result == COREHOUR_UNREACHABLE) {
        return true;
    }
    if (result == COREHOUR_NO_ANSWER) {
        return !request->once;
    }
    if (result != COREHOUR_OK) {
        return false;
    }
    if (status == 429) {
        return true;
    }
    return !request->once && (status == 502 || status == 503 || status == 504);
}

/* What the daemon asked for, or 100 ms doubling, with up to half of it more by chance. */
static int64_t pause_ms(int64_t retry_after_s, unsigned tries)
{
    if (retry_after_s > call_max_ms / 1000) {
        return call_max_ms;
    }
    if (retry_after_s > 0) {
        return retry_after_s * 1000;
    }
    int64_t wait_ms = backoff_first_ms << (tries < 7 ? tries - 1 : 6);
    if (wait_ms > backoff_last_ms) {
        wait_ms = backoff_last_ms;
    }
    uint16_t chance = 0;
    if (getrandom(&chance, sizeof chance, GRND_NONBLOCK) != (ssize_t)sizeof chance) {
        chance = 0;
    }
    return wait_ms + wait_ms * chance / 2 / UINT16_MAX;
}

/* Tries until an answer stands. `ret_attempt` holds the last try's. */
static enum corehour_result tries_run(struct corehour_client *client,
                                      const struct exchange_request *prepared,
                                      struct exchange_attempt *ret_attempt,
                                      struct corehour_error *ret_error)
{
    const struct corehour_request *request = prepared->request;
    int64_t deadline_ms = request->deadline_ms > 0 ? request->deadline_ms : client->deadline_ms;
    int64_t try_max_ms = request->try_ms > 0 ? request->try_ms : client->try_ms;
    int64_t end_ms = client_clock_mono_ms() + deadline_ms;
    for (unsigned tries = 1;; tries++) {
        int64_t try_ms = end_ms - client_clock_mono_ms();
        if (try_ms > try_max_ms) {
            try_ms = try_max_ms;
        }
        if (try_ms < 1) {
            try_ms = 1;
        }
        enum corehour_result result =
            exchange_try(&client->exchange, prepared, try_ms, ret_attempt, ret_error);
        ret_attempt->answer.tries = tries;
        if (tries >= client->tries_max || !may_repeat(request, ret_attempt, result)) {
            return result;
        }
        int64_t wait_ms = pause_ms(ret_attempt->answer.retry_after_s, tries);
        if (client_clock_mono_ms() + wait_ms >= end_ms) {
            return result;
        }
        corehour_answer_fini(&ret_attempt->answer);
        client_clock_sleep_ms(wait_ms);
    }
}

enum corehour_result corehour_call(struct corehour_client *client,
                                   const struct corehour_request *request,
                                   struct corehour_answer *ret_answer,
                                   struct corehour_error *ret_error)
{
    assert(client != NULL && request->method != NULL && request->path != NULL);
    struct exchange_request prepared;
    struct exchange_attempt attempt = {0};
    enum corehour_result result =
        exchange_request_init(&client->exchange, request, &prepared, ret_error);
    if (result == COREHOUR_OK) {
        result = tries_run(client, &prepared, &attempt, ret_error);
    }
    exchange_request_fini(&prepared);
    if (result != COREHOUR_OK) {
        corehour_answer_fini(&attempt.answer);
    }
    *ret_answer = attempt.answer;
    return result;
}

void corehour_answer_fini(struct corehour_answer *answer)
{
    if (answer == NULL) {
        return;
    }
    json_decref(answer->body);
    free(answer->text);
    *answer = (struct corehour_answer){.retry_after_s = -1};
}

const char *corehour_answer_code(const struct corehour_answer *answer)
{
    if (answer->status < 400) {
        return "";
    }
    const char *code = json_string_value(json_object_get(answer->body, "code"));
    return code == NULL ? "" : code;
}

/* ---- commands ---- */

enum corehour_result corehour_freeze(struct corehour_client *client,
                                     json_t *body,
                                     struct corehour_answer *ret_answer,
                                     struct corehour_error *ret_error)
{
    *ret_answer = (struct corehour_answer){.retry_after_s = -1};
    if (json_object_get(body, "id") == NULL) {
        char id[COREHOUR_ID_BYTES];
        const char *cluster = json_string_value(json_object_get(body, "cluster"));
        if (cluster == NULL || corehour_id_create(cluster, id) != COREHOUR_OK) {
            return exchange_error(ret_error, COREHOUR_INVALID,
                                  "a freeze needs an id, or a cluster to make one from");
        }
        if (json_object_set_new(body, "id", json_string(id)) != 0) {
            return exchange_error(ret_error, COREHOUR_MEMORY, "out of memory");
        }
    }
    struct corehour_request request = {.method = "POST", .path = "/v1/holds", .body = body};
    return corehour_call(client, &request, ret_answer, ret_error);
}

enum corehour_result corehour_hold_verb(struct corehour_client *client,
                                        const char *hold,
                                        const char *verb,
                                        const json_t *body,
                                        struct corehour_answer *ret_answer,
                                        struct corehour_error *ret_error)
{
    char path[COREHOUR_URL_BYTES] = "/v1/holds";
    *ret_answer = (struct corehour_answer){.retry_after_s = -1};
    if (corehour_url_segment(path, sizeof path, hold) != COREHOUR_OK ||
        corehour_url_segment(path, sizeof path, verb) != COREHOUR_OK) {
        return exchange_error(ret_error, COREHOUR_INVALID, "\"%.100s\" cannot be the id of a hold",
                              hold);
    }
    struct corehour_request request = {.method = "POST", .path = path, .body = body};
    if (body == NULL) {
        request.bytes = "{}";
        request.bytes_count = 2;
    }
    return corehour_call(client, &request, ret_answer, ret_error);
}
