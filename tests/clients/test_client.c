/* The transport: deadlines, tries that keep the bytes, garbage, one connection for many calls. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <criterion/criterion.h>

#include "clients/client.h"
#include "clients/clock.h"
#include "tests/clients/fake_server.h"

TestSuite(client, .timeout = 20);

/* A server with a client of it. */
struct pair {
    struct fake_server *server;
    struct corehour_client *client;
    struct corehour_answer answer;
    struct corehour_error error;
};

static struct pair pair_open(const struct fake_step *steps,
                             size_t count,
                             struct corehour_options options)
{
    struct pair pair = {.server = fake_server_start(steps, count)};
    options.url = fake_server_url(pair.server);
    if (options.deadline_ms == 0)
        options.deadline_ms = 5000;
    cr_assert_eq(corehour_client_create(&options, &pair.client, &pair.error), COREHOUR_OK, "%s",
                 pair.error.detail);
    return pair;
}

static void pair_close(struct pair *pair)
{
    corehour_answer_fini(&pair->answer);
    corehour_client_destroy(pair->client);
    fake_server_stop(pair->server);
}

static enum corehour_result pair_get(struct pair *pair)
{
    struct corehour_request request = {.method = "GET", .path = "/v1/holds"};
    corehour_answer_fini(&pair->answer);
    return corehour_call(pair->client, &request, &pair->answer, &pair->error);
}

#define STEPS(...)             \
    (const struct fake_step[]) \
    {                          \
        __VA_ARGS__            \
    }
#define COUNT(steps) (sizeof(steps) / sizeof(steps)[0])

Test(client, an_answer_comes_with_its_body_and_headers)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_answer(201, "Application/JSON; charset=utf-8",
                     "ETag: \"a1\"\r\nIdempotency-Replayed: true\r\nRetry-After: 7\r\n",
                     "{\"state\":\"frozen\"}")}};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){0});
    cr_assert_eq(pair_get(&pair), COREHOUR_OK, "%s", pair.error.detail);
    cr_expect_eq(pair.answer.status, 201);
    cr_expect_str_eq(json_string_value(json_object_get(pair.answer.body, "state")), "frozen");
    cr_expect_str_eq(pair.answer.text, "{\"state\":\"frozen\"}");
    cr_expect_str_eq(pair.answer.etag, "\"a1\"");
    cr_expect_str_eq(pair.answer.type, "application/json");
    cr_expect_eq(pair.answer.retry_after_s, 7);
    cr_expect(pair.answer.replayed);
    cr_expect_eq(pair.answer.tries, 1u);
    pair_close(&pair);
}

Test(client, a_request_carries_token_language_and_condition)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(200, "{}")}};
    struct pair pair = pair_open(
        steps, COUNT(steps),
        (struct corehour_options){.token = "ch_secret", .language = "zh", .agent = "probe/1"});
    json_t *body = json_pack("{s:s}", "core_hours", "500");
    struct corehour_request request = {.method = "PUT",
                                       .path = "/v1/x",
                                       .body = body,
                                       .if_match = "\"a1\"",
                                       .idempotency_key = "k1"};
    cr_assert_eq(corehour_call(pair.client, &request, &pair.answer, &pair.error), COREHOUR_OK);
    const char *sent = fake_server_request(pair.server, 0);
    cr_expect_eq(strncmp(sent, "PUT /v1/x HTTP/1.1\r\n", 20), 0, "%s", sent);
    cr_expect_neq(strstr(sent, "\r\nAuthorization: Bearer ch_secret\r\n"), NULL);
    cr_expect_neq(strstr(sent, "\r\nAccept-Language: zh\r\n"), NULL);
    cr_expect_neq(strstr(sent, "\r\nUser-Agent: probe/1\r\n"), NULL);
    cr_expect_neq(strstr(sent, "\r\nIf-Match: \"a1\"\r\n"), NULL);
    cr_expect_neq(strstr(sent, "\r\nIdempotency-Key: k1\r\n"), NULL);
    cr_expect_neq(strstr(sent, "\r\nContent-Type: application/json\r\n"), NULL);
    cr_expect_eq(strstr(sent, "Expect:"), NULL);
    cr_expect_str_eq(fake_server_body(pair.server, 0), "{\"core_hours\":\"500\"}");
    json_decref(body);
    pair_close(&pair);
}

Test(client, many_calls_share_one_connection)
{
    const char *ok = fake_json(200, "{}");
    const struct fake_step steps[] = {
        {FAKE_ANSWER, ok}, {FAKE_ANSWER, ok}, {FAKE_ANSWER, ok}, {FAKE_ANSWER, ok}};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){0});
    for (int i = 0; i < 4; i++) {
        cr_assert_eq(pair_get(&pair), COREHOUR_OK);
        cr_expect_eq(pair.answer.reused, i > 0);
    }
    cr_expect_eq(fake_server_connections(pair.server), 1u);
    pair_close(&pair);
}

Test(client, a_get_after_a_post_sends_no_body)
{
    const char *ok = fake_json(200, "{}");
    const struct fake_step steps[] = {{FAKE_ANSWER, ok}, {FAKE_ANSWER, ok}};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){0});
    cr_assert_eq(
        corehour_hold_verb(pair.client, "alpha-1", "start", NULL, &pair.answer, &pair.error),
        COREHOUR_OK);
    cr_assert_eq(pair_get(&pair), COREHOUR_OK);
    cr_expect_str_eq(fake_server_body(pair.server, 0), "{}");
    cr_expect_eq(strncmp(fake_server_request(pair.server, 1), "GET ", 4), 0);
    cr_expect_eq(strstr(fake_server_request(pair.server, 1), "Content-"), NULL);
    pair_close(&pair);
}

Test(client, a_freeze_is_tried_again_with_the_same_bytes)
{
    const struct fake_step steps[] = {
        {FAKE_CLOSE, ""},
        {FAKE_CLOSE,
         "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"},
        {FAKE_ANSWER, fake_json(503, "{\"code\":\"overloaded\"}")},
        {FAKE_ANSWER, fake_json(201, "{}")}};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){.tries_max = 4});
    json_t *body = json_pack("{s:s}", "cluster", "alpha");
    cr_assert_eq(corehour_freeze(pair.client, body, &pair.answer, &pair.error), COREHOUR_OK, "%s",
                 pair.error.detail);
    cr_expect_eq(pair.answer.status, 201);
    cr_expect_eq(pair.answer.tries, 4u);
    const char *id = json_string_value(json_object_get(body, "id"));
    cr_assert_neq(id, NULL);
    cr_expect_neq(strstr(fake_server_body(pair.server, 0), id), NULL);
    for (size_t i = 1; i < 4; i++)
        cr_expect_str_eq(fake_server_body(pair.server, i), fake_server_body(pair.server, 0));
    json_decref(body);
    pair_close(&pair);
}

Test(client, what_must_not_be_done_twice_is_not_sent_again)
{
    const struct fake_step steps[] = {{FAKE_CLOSE, ""},
                                      {FAKE_ANSWER, fake_json(503, "{\"code\":\"unavailable\"}")}};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){0});
    struct corehour_request request = {
        .method = "POST", .path = "/v1/tokens", .bytes = "{}", .bytes_count = 2, .once = true};
    cr_expect_eq(corehour_call(pair.client, &request, &pair.answer, &pair.error),
                 COREHOUR_NO_ANSWER);
    cr_expect_eq(fake_server_requests(pair.server), 1u);
    cr_expect_eq(corehour_call(pair.client, &request, &pair.answer, &pair.error), COREHOUR_OK);
    cr_expect_eq(pair.answer.status, 503);
    cr_expect_eq(fake_server_requests(pair.server), 2u);
    pair_close(&pair);
}

Test(client, a_refusal_is_an_answer_and_is_not_repeated)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(409, "{\"code\":\"quota_insufficient\",\"status\":409}")}};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){0});
    cr_assert_eq(pair_get(&pair), COREHOUR_OK);
    cr_expect_eq(pair.answer.status, 409);
    cr_expect_str_eq(corehour_answer_code(&pair.answer), "quota_insufficient");
    cr_expect_eq(fake_server_requests(pair.server), 1u);
    pair_close(&pair);
}

Test(client, retry_after_is_waited_for_when_it_fits_the_deadline)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_answer(429, "application/problem+json", "Retry-After: 1\r\n", "{}")},
        {FAKE_ANSWER, fake_json(200, "{}")}};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){0});
    int64_t start_ms = client_clock_mono_ms();
    cr_assert_eq(pair_get(&pair), COREHOUR_OK);
    cr_expect_eq(pair.answer.status, 200);
    cr_expect_geq(client_clock_mono_ms() - start_ms, 1000);
    pair_close(&pair);
}

Test(client, a_pause_beyond_the_deadline_is_not_begun)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_answer(503, "application/problem+json", "Retry-After: 99999999999\r\n", "{}")}};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){0});
    int64_t start_ms = client_clock_mono_ms();
    cr_assert_eq(pair_get(&pair), COREHOUR_OK);
    cr_expect_eq(pair.answer.status, 503);
    cr_expect_lt(client_clock_mono_ms() - start_ms, 1000);
    pair_close(&pair);
}

Test(client, a_silent_daemon_costs_no_more_than_the_deadline)
{
    const struct fake_step steps[] = {
        {FAKE_HANG, ""}, {FAKE_HANG, ""}, {FAKE_HANG, ""}, {FAKE_HANG, ""}};
    struct pair pair =
        pair_open(steps, COUNT(steps), (struct corehour_options){.deadline_ms = 600});
    int64_t start_ms = client_clock_mono_ms();
    cr_expect_eq(pair_get(&pair), COREHOUR_NO_ANSWER);
    cr_expect_lt(client_clock_mono_ms() - start_ms, 1500);
    cr_expect_geq(client_clock_mono_ms() - start_ms, 500);
    pair_close(&pair);
}

Test(client, an_answer_that_stops_half_way_is_no_answer)
{
    const struct fake_step steps[] = {
        {FAKE_HANG,
         "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{\"a\""}};
    struct pair pair = pair_open(steps, COUNT(steps),
                                 (struct corehour_options){.deadline_ms = 400, .tries_max = 1});
    cr_expect_eq(pair_get(&pair), COREHOUR_NO_ANSWER);
    cr_expect_eq(pair.answer.text, NULL);
    pair_close(&pair);
}

Test(client, nobody_at_the_address_is_unreachable)
{
    struct fake_server *gone = fake_server_start(NULL, 0);
    char url[64];
    struct corehour_client *client;
    struct corehour_error error;
    struct corehour_answer answer;
    snprintf(url, sizeof url, "%s", fake_server_url(gone));
    fake_server_stop(gone);
    struct corehour_options options = {.url = url, .tries_max = 2, .deadline_ms = 3000};
    cr_assert_eq(corehour_client_create(&options, &client, &error), COREHOUR_OK);
    struct corehour_request request = {.method = "GET", .path = "/readyz"};
    cr_expect_eq(corehour_call(client, &request, &answer, &error), COREHOUR_UNREACHABLE);
    cr_expect_neq(strstr(error.detail, url), NULL, "%s", error.detail);
    corehour_client_destroy(client);
}

Test(client, garbage_is_told_apart_from_an_answer)
{
    static const char *const garbage[] = {
        "SSH-2.0-OpenSSH_9.2\r\n",
        "\x16\x03\x01\x02garbage",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n{nope",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{\"a\":1,\"a\":2}",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 34\r\n\r\n{\"a\":99999999999999999999999999999}",
    };
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        const struct fake_step steps[] = {{FAKE_CLOSE, garbage[i]}};
        struct pair pair = pair_open(steps, 1, (struct corehour_options){.tries_max = 1});
        enum corehour_result result = pair_get(&pair);
        cr_expect_eq(result, COREHOUR_GARBLED, "case %zu gave %d: %s", i, result,
                     pair.error.detail);
        pair_close(&pair);
    }
}

Test(client, an_error_page_of_a_proxy_is_an_answer_without_a_body_of_ours)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_answer(404, "text/html", "", "<html>no</html>")},
        {FAKE_ANSWER, fake_answer(400, "application/problem+json", "", "{broken")}};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){0});
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(pair_get(&pair), COREHOUR_OK);
        cr_expect_eq(pair.answer.body, NULL);
        cr_expect_str_eq(corehour_answer_code(&pair.answer), "");
    }
    pair_close(&pair);
}

Test(client, an_answer_longer_than_allowed_is_given_up)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(200, "{\"a\":\"0123456789012345678901234567890123456789\"}")}};
    struct pair pair =
        pair_open(steps, COUNT(steps), (struct corehour_options){.answer_bytes_max = 32});
    cr_expect_eq(pair_get(&pair), COREHOUR_GARBLED);
    cr_expect_neq(strstr(pair.error.detail, "32 bytes"), NULL, "%s", pair.error.detail);
    cr_expect_eq(fake_server_requests(pair.server), 1u);
    pair_close(&pair);
}

/* Counts what it takes; refuses beyond `max`. */
struct counter {
    size_t bytes;
    size_t max;
};

static bool counter_take(void *arg, const char *bytes, size_t bytes_count)
{
    struct counter *counter = arg;
    (void)bytes;
    counter->bytes += bytes_count;
    return counter->bytes <= counter->max;
}

Test(client, a_sink_takes_a_good_body_and_a_problem_is_kept)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_answer(200, "application/x-ndjson", "", "{}\n{}\n")},
        {FAKE_ANSWER, fake_json(403, "{\"code\":\"not_allowed\"}")},
        {FAKE_ANSWER, fake_answer(200, "application/x-ndjson", "", "{}\n{}\n")}};
    struct counter counter = {.max = 100};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){0});
    struct corehour_request request = {
        .method = "GET", .path = "/v1/journal", .sink = counter_take, .sink_arg = &counter};
    cr_assert_eq(corehour_call(pair.client, &request, &pair.answer, &pair.error), COREHOUR_OK);
    cr_expect_eq(counter.bytes, 6u);
    cr_expect_eq(pair.answer.text_bytes, 0u);
    corehour_answer_fini(&pair.answer);
    cr_assert_eq(corehour_call(pair.client, &request, &pair.answer, &pair.error), COREHOUR_OK);
    cr_expect_eq(counter.bytes, 6u);
    cr_expect_str_eq(corehour_answer_code(&pair.answer), "not_allowed");
    corehour_answer_fini(&pair.answer);
    counter.max = 0;
    cr_expect_eq(corehour_call(pair.client, &request, &pair.answer, &pair.error), COREHOUR_GARBLED);
    pair_close(&pair);
}

Test(client, a_connection_that_the_daemon_closed_meanwhile_is_made_anew)
{
    const char *closing = fake_json(200, "{}");
    const struct fake_step steps[] = {{FAKE_CLOSE, closing}, {FAKE_ANSWER, closing}};
    struct pair pair = pair_open(steps, COUNT(steps), (struct corehour_options){.tries_max = 1});
    cr_assert_eq(pair_get(&pair), COREHOUR_OK, "%s", pair.error.detail);
    cr_assert_eq(pair_get(&pair), COREHOUR_OK, "%s", pair.error.detail);
    cr_expect_eq(fake_server_connections(pair.server), 2u);
    pair_close(&pair);
}

Test(client, options_that_cannot_work_are_refused_at_once)
{
    static const struct corehour_options bad[] = {
        {.url = NULL},
        {.url = ""},
        {.url = "127.0.0.1:8080"},
        {.url = "ftp://127.0.0.1"},
        {.url = "file:///etc/passwd"},
        {.url = "http://"},
        {.url = "http://host:99999"},
        {.url = "http://host/?a=b"},
        {.url = "http://host/#a"},
        {.url = "http://ho st"},
        {.url = "http://host", .token = "a\r\nX-Evil: 1"},
        {.url = "http://host", .language = "zh\n"},
        {.url = "https://host", .ca_file = "/nonexistent/ca.pem"},
        {.url = "http://host", .deadline_ms = -1},
        {.url = "http://host", .try_ms = 3600001},
        {.url = "http://host", .tries_max = 101},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct corehour_client *client = NULL;
        struct corehour_error error = {0};
        cr_expect_neq(corehour_client_create(&bad[i], &client, &error), COREHOUR_OK, "case %zu", i);
        cr_expect_eq(client, NULL);
        cr_expect_neq(error.detail[0], '\0', "case %zu", i);
    }
}

Test(client, a_path_below_the_daemons_url_is_kept)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(200, "{}")}};
    struct fake_server *server = fake_server_start(steps, 1);
    char url[128];
    struct corehour_client *client;
    struct corehour_error error;
    struct corehour_answer answer;
    snprintf(url, sizeof url, "%s/quota//", fake_server_url(server));
    cr_assert_eq(corehour_client_create(&(struct corehour_options){.url = url}, &client, &error),
                 COREHOUR_OK);
    struct corehour_request request = {.method = "GET", .path = "/v1/holds"};
    cr_assert_eq(corehour_call(client, &request, &answer, &error), COREHOUR_OK);
    cr_expect_eq(strncmp(fake_server_request(server, 0), "GET /quota/v1/holds ", 20), 0, "%s",
                 fake_server_request(server, 0));
    corehour_answer_fini(&answer);
    corehour_client_destroy(client);
    fake_server_stop(server);
}

Test(client, a_header_that_would_break_the_request_is_refused)
{
    struct pair pair = pair_open(NULL, 0, (struct corehour_options){0});
    struct corehour_request bad[] = {
        {.method = "GET", .path = "v1"},
        {.method = "GET", .path = "/v1\r\nX: y"},
        {.method = "PUT", .path = "/v1", .if_match = "a\nb"},
        {.method = "PUT", .path = "/v1", .idempotency_key = "a\nb"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        cr_expect_eq(corehour_call(pair.client, &bad[i], &pair.answer, &pair.error),
                     COREHOUR_INVALID);
    cr_expect_eq(fake_server_requests(pair.server), 0u);
    pair_close(&pair);
}

Test(client, a_freeze_without_id_and_cluster_is_not_sent)
{
    struct pair pair = pair_open(NULL, 0, (struct corehour_options){0});
    json_t *body = json_object();
    cr_expect_eq(corehour_freeze(pair.client, body, &pair.answer, &pair.error), COREHOUR_INVALID);
    cr_expect_eq(corehour_hold_verb(pair.client, "..", "start", NULL, &pair.answer, &pair.error),
                 COREHOUR_INVALID);
    cr_expect_eq(fake_server_requests(pair.server), 0u);
    json_decref(body);
    pair_close(&pair);
}

Test(client, an_address_is_connected_to_and_the_name_stays_in_the_request)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(200, "{}")}};
    struct fake_server *server = fake_server_start(steps, 1);
    char url[80];
    snprintf(url, sizeof url, "http://nowhere.invalid:%s",
             strrchr(fake_server_url(server), ':') + 1);
    struct corehour_options options = {.url = url, .address = "127.0.0.1", .deadline_ms = 5000};
    struct pair pair = {.server = server};
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    cr_assert_eq(corehour_client_create(&options, &pair.client, &pair.error), COREHOUR_OK);
    cr_assert_eq(pair_get(&pair), COREHOUR_OK, "past the proxy: %s", pair.error.detail);
    cr_assert_not_null(strstr(fake_server_request(server, 0), "Host: nowhere.invalid:"));
    pair_close(&pair);
}

Test(client, of_several_addresses_the_next_is_tried_when_one_does_not_answer)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(200, "{}")}};
    struct fake_server *server = fake_server_start(steps, 1);
    char url[80];
    snprintf(url, sizeof url, "http://nowhere.invalid:%s/",
             strrchr(fake_server_url(server), ':') + 1);
    struct corehour_options options = {
        .url = url, .address = "127.0.0.2,127.0.0.1", .deadline_ms = 5000, .tries_max = 1};
    struct pair pair = {.server = server};
    cr_assert_eq(corehour_client_create(&options, &pair.client, &pair.error), COREHOUR_OK);
    cr_assert_eq(pair_get(&pair), COREHOUR_OK, "%s", pair.error.detail);
    pair_close(&pair);
}

/* libcurl would send it once more by itself when a connection that it kept turns out to be dead. */
Test(client, what_goes_once_goes_once_when_a_kept_connection_dies_under_it)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(200, "{}")}, {FAKE_CLOSE, ""}, {FAKE_ANSWER, fake_json(200, "{}")}};
    struct pair pair = pair_open(steps, 3, (struct corehour_options){0});
    cr_assert_eq(pair_get(&pair), COREHOUR_OK);
    corehour_answer_fini(&pair.answer);
    struct corehour_request request = {
        .method = "POST", .path = "/v1/tokens", .bytes = "{}", .bytes_count = 2, .once = true};
    cr_expect_eq(corehour_call(pair.client, &request, &pair.answer, &pair.error),
                 COREHOUR_NO_ANSWER);
    cr_expect_eq(fake_server_requests(pair.server), 2u);
    pair_close(&pair);
}

/* Of the network: libcurl has a pair of its own besides, to wake itself. */
static bool is_inherited_socket(int fd)
{
    struct sockaddr_storage address;
    socklen_t bytes = sizeof address;
    const int flags = fcntl(fd, F_GETFD);
    return flags >= 0 && (flags & FD_CLOEXEC) == 0 &&
           getsockname(fd, (struct sockaddr *)&address, &bytes) == 0 &&
           address.ss_family == AF_INET;
}

Test(client, programs_that_the_process_starts_do_not_inherit_the_connection)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(200, "{}")}};
    bool before[256];
    for (int fd = 0; fd < 256; fd++) {
        before[fd] = is_inherited_socket(fd);
    }
    struct fake_server *server = fake_server_start(steps, 1);
    const struct corehour_options options = {.url = fake_server_url(server), .deadline_ms = 5000};
    struct pair pair = {.server = server};
    cr_assert_eq(corehour_client_create(&options, &pair.client, &pair.error), COREHOUR_OK);
    cr_assert_eq(pair_get(&pair), COREHOUR_OK, "%s", pair.error.detail);
    for (int fd = 0; fd < 256; fd++) {
        cr_assert(before[fd] || !is_inherited_socket(fd), "descriptor %d", fd);
    }
    pair_close(&pair);
}
