/* What the hook makes of every answer, and of none, with a server that answers byte for byte. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jansson.h>

#include "clients/clock.h"
#include "clients/slurm/gate.h"
#include "clients/slurm/request.h"
#include "tests/clients/fake_server.h"

TestSuite(gate, .timeout = 30);

static char folder[] = "/tmp/corehour-gate-XXXXXX";

/* A gate before a server that follows a script. */
struct scene {
    struct fake_server *server;
    struct slurm_config config;
    struct gate *gate;
    struct gate_decision decision;
    json_t *body;
};

static void scene_open(struct scene *scene, const struct fake_step *steps, size_t count)
{
    struct slurm_config_error error;
    cr_assert_not_null(mkdtemp(folder));
    scene->server = fake_server_start(steps, count);
    snprintf(scene->config.url.text, SLURM_CONFIG_TEXT_BYTES, "%s", fake_server_url(scene->server));
    snprintf(scene->config.cluster.text, SLURM_CONFIG_TEXT_BYTES, "alpha");
    snprintf(scene->config.spool_dir.text, SLURM_CONFIG_TEXT_BYTES, "%s", folder);
    snprintf(scene->config.token_file.text, SLURM_CONFIG_TEXT_BYTES, "%s/token", folder);
    if (scene->config.deadline_ms == 0) {
        scene->config.deadline_ms = 2000;
    }
    FILE *file = fopen(scene->config.token_file.text, "w");
    fputs("ch_secret\n", file);
    fclose(file);
    cr_assert(gate_create(&scene->config, &scene->gate, &error), "%s", error.detail);
    scene->body = json_pack("{s:s, s:s, s:s, s:s}", "id", "alpha-7", "cluster", "alpha", "account",
                            "vision", "user", "alice");
}

static int64_t scene_end(const struct scene *scene)
{
    return client_clock_mono_ms() + scene->config.deadline_ms;
}

static void scene_submit(struct scene *scene)
{
    gate_submit(scene->gate, scene->body, scene_end(scene), &scene->decision);
}

static void scene_close(struct scene *scene)
{
    char command[80];
    gate_destroy(scene->gate);
    fake_server_stop(scene->server);
    json_decref(scene->body);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

#define FROZEN "{\"id\":\"alpha-7\",\"state\":\"frozen\",\"warnings\":[]}"

Test(gate, a_frozen_submission_passes_with_its_hold_as_comment)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(201, FROZEN)}};
    struct scene scene = {0};
    scene_open(&scene, steps, 1);
    scene_submit(&scene);
    cr_assert_eq(scene.decision.verdict, GATE_PASS);
    cr_assert_str_eq(scene.decision.comment, "corehour:alpha-7");
    cr_assert_str_eq(scene.decision.message, "");
    cr_assert_not_null(strstr(fake_server_request(scene.server, 0), "POST /v1/holds HTTP/1.1"));
    cr_assert_not_null(strstr(fake_server_request(scene.server, 0), "Bearer ch_secret"));
    cr_assert_not_null(strstr(scene.decision.log, "hold alpha-7: frozen"));
    scene_close(&scene);
}

Test(gate, soft_limits_are_told)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_json(201, "{\"id\":\"alpha-7\",\"state\":\"frozen\",\"warnings\":"
                        "[{\"code\":\"soft_cap\",\"detail\":\"over the soft cap\"}]}")}};
    struct scene scene = {0};
    scene_open(&scene, steps, 1);
    scene_submit(&scene);
    cr_assert_str_eq(scene.decision.message, "over the soft cap");
    scene_close(&scene);
}

Test(gate, one_connection_serves_many_submissions)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(201, FROZEN)},
                                      {FAKE_ANSWER, fake_json(201, FROZEN)},
                                      {FAKE_ANSWER, fake_json(201, FROZEN)}};
    struct scene scene = {0};
    scene_open(&scene, steps, 3);
    for (int i = 0; i < 3; i++) {
        scene_submit(&scene);
        cr_assert_eq(scene.decision.verdict, GATE_PASS);
    }
    cr_assert_eq(fake_server_connections(scene.server), 1);
    scene_close(&scene);
}

Test(gate, a_refusal_has_the_daemons_words)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_answer(409, "application/problem+json", "",
                                  "{\"code\":\"quota_insufficient\",\"title\":\"no quota\","
                                  "\"detail\":\"no quota (1 x 2): why\",\"contact\":\"pi\"}")}};
    struct scene scene = {.config.fail_policy = SLURM_FAIL_OPEN};
    scene_open(&scene, steps, 1);
    scene_submit(&scene);
    cr_assert_eq(scene.decision.verdict, GATE_REFUSE, "also where the policy is open");
    cr_assert_str_eq(scene.decision.message, "no quota (1 x 2)\n  ask: pi");
    cr_assert_str_eq(scene.decision.comment, "");
    scene_close(&scene);
}

Test(gate, a_waiting_submission_is_held)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(202, "{\"id\":\"alpha-7\",\"state\":\"waiting\","
                                     "\"waiting_mcs\":4800000,\"warnings\":[]}")}};
    struct scene scene = {0};
    scene_open(&scene, steps, 1);
    scene_submit(&scene);
    cr_assert_eq(scene.decision.verdict, GATE_WAIT);
    cr_assert_str_eq(scene.decision.comment, "corehour:alpha-7");
    cr_assert_not_null(strstr(scene.decision.message, "waits for quota (1.33 core-hours)"));
    scene_close(&scene);
}

/* SPEC 11.1. */
Test(gate, what_decides_nothing_is_no_answer)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(201, "{\"id\":\"alpha-8\",\"state\":\"frozen\"}")},
        {FAKE_ANSWER, fake_json(201, "{\"id\":\"alpha-7\",\"state\":\"waiting\"}")},
        {FAKE_ANSWER, fake_json(200, FROZEN)},
        {FAKE_ANSWER, fake_json(201, "[]")},
        {FAKE_ANSWER, fake_json(201, "{")},
        {FAKE_ANSWER, fake_json(401, "{\"code\":\"unauthenticated\",\"title\":\"no\"}")},
        {FAKE_ANSWER, fake_json(403, "{\"code\":\"not_allowed\",\"title\":\"no\"}")},
        {FAKE_ANSWER, fake_json(404, "{\"code\":\"not_found\",\"title\":\"no\"}")},
        {FAKE_ANSWER, fake_json(503, "{\"code\":\"unavailable\",\"title\":\"no\"}")},
        {FAKE_ANSWER, fake_json(409, "{\"title\":\"of a proxy\"}")},
        {FAKE_ANSWER, fake_answer(502, "text/html", "", "<html>")},
        {FAKE_CLOSE, "HTTP/1.1 201 Created\r\nContent-Le"},
        {FAKE_CLOSE, "\x01\x02\x03"},
        {FAKE_CLOSE, ""},
    };
    struct scene scene = {0};
    const size_t count = sizeof steps / sizeof steps[0];
    scene_open(&scene, steps, count);
    for (size_t i = 0; i < count; i++) {
        scene_submit(&scene);
        cr_expect_eq(scene.decision.verdict, GATE_NO_ANSWER, "%zu: %s", i, steps[i].text);
        cr_expect_not_null(strstr(scene.decision.message, "gave no answer ("));
        cr_expect_str_eq(scene.decision.comment, "");
    }
    scene_close(&scene);
}

Test(gate, the_deadline_holds_whatever_drips_in)
{
    const struct fake_step steps[] = {{FAKE_HANG, "HTTP/1.1 201 Created\r\n"}, {FAKE_HANG, ""}};
    struct scene scene = {.config.deadline_ms = 150};
    scene_open(&scene, steps, 2);
    for (int i = 0; i < 2; i++) {
        const int64_t began_ms = client_clock_mono_ms();
        scene_submit(&scene);
        cr_assert_lt(client_clock_mono_ms() - began_ms, 1500, "the server would have taken 2 s");
        cr_assert_eq(scene.decision.verdict, GATE_NO_ANSWER);
    }
    scene_close(&scene);
}

Test(gate, after_a_slow_failure_nothing_is_asked_for_a_while)
{
    const struct fake_step steps[] = {{FAKE_HANG, ""}, {FAKE_ANSWER, fake_json(201, FROZEN)}};
    struct scene scene = {.config.deadline_ms = 100, .config.breaker_s = 2};
    scene_open(&scene, steps, 2);
    scene_submit(&scene);
    cr_assert_eq(scene.decision.verdict, GATE_NO_ANSWER);
    scene_submit(&scene);
    cr_assert_eq(scene.decision.verdict, GATE_NO_ANSWER);
    cr_assert_not_null(strstr(scene.decision.message, "a moment ago"));
    cr_assert_eq(fake_server_requests(scene.server), 1);
    scene.config.deadline_ms = 5000;
    client_clock_sleep_ms(2100);
    scene_submit(&scene);
    cr_assert_eq(scene.decision.verdict, GATE_PASS, "%s", scene.decision.message);
    scene_close(&scene);
}

Test(gate, a_quick_failure_does_not_shut_the_gate)
{
    const struct fake_step steps[] = {{FAKE_CLOSE, ""}, {FAKE_ANSWER, fake_json(201, FROZEN)}};
    struct scene scene = {.config.breaker_s = 60, .config.deadline_ms = 5000};
    scene_open(&scene, steps, 2);
    scene_submit(&scene);
    scene_submit(&scene);
    cr_assert_eq(scene.decision.verdict, GATE_PASS, "%s", scene.decision.message);
    scene_close(&scene);
}

/* SPEC 11.1: charged later. */
Test(gate, open_lets_through_and_keeps_the_fact)
{
    const struct fake_step steps[] = {{FAKE_CLOSE, ""}};
    struct scene scene = {.config.fail_policy = SLURM_FAIL_OPEN};
    char path[100];
    scene_open(&scene, steps, 1);
    scene_submit(&scene);
    cr_assert_eq(scene.decision.verdict, GATE_PASS);
    cr_assert_str_eq(scene.decision.comment, "corehour:open:alpha-7");
    cr_assert_not_null(strstr(scene.decision.message, "charged later"));
    snprintf(path, sizeof path, "%s/alpha-7.json", folder);
    json_t *fact = json_load_file(path, 0, NULL);
    cr_assert_str_eq(json_string_value(json_object_get(fact, "account")), "vision");
    cr_assert_eq(json_string_length(json_object_get(fact, "at")), 20);
    json_decref(fact);
    struct stat status;
    cr_assert_eq(stat(path, &status), 0);
    cr_assert_eq(status.st_mode & 0777, 0600);
    scene_close(&scene);
}

Test(gate, a_spool_that_is_not_there_refuses_nothing)
{
    const struct fake_step steps[] = {{FAKE_CLOSE, ""}};
    struct scene scene = {.config.fail_policy = SLURM_FAIL_OPEN};
    scene_open(&scene, steps, 1);
    snprintf(scene.config.spool_dir.text, SLURM_CONFIG_TEXT_BYTES, "/nonexistent");
    struct slurm_config_error error;
    gate_destroy(scene.gate);
    cr_assert(gate_create(&scene.config, &scene.gate, &error));
    scene_submit(&scene);
    cr_assert_eq(scene.decision.verdict, GATE_PASS);
    cr_assert_not_null(
        strstr(scene.decision.log, "NOT spooled: /nonexistent/alpha-7.json.part: No such"));
    scene_close(&scene);
}

Test(gate, observing_freezes_nothing_and_refuses_nothing)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(409, "{\"code\":\"quota_insufficient\",\"title\":\"no quota\","
                                     "\"detail\":\"no quota: why\"}")},
        {FAKE_CLOSE, ""},
    };
    struct scene scene = {.config.mode = SLURM_MODE_OBSERVE};
    scene_open(&scene, steps, 2);
    for (int i = 0; i < 2; i++) {
        scene_submit(&scene);
        cr_assert_eq(scene.decision.verdict, GATE_PASS);
        cr_assert_str_eq(scene.decision.comment, "corehour:observe");
        cr_assert_str_eq(scene.decision.message, "");
    }
    cr_assert_not_null(
        strstr(fake_server_request(scene.server, 0), "POST /v1/holds?dry_run=true "));
    scene_close(&scene);
}

Test(gate, siblings_are_given_back_in_one_request)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_answer(200, "application/x-ndjson", "", "{}\n{}\n")}};
    struct scene scene = {0};
    const char *const ids[] = {"alpha-1", "alpha-2"};
    scene_open(&scene, steps, 1);
    gate_release(scene.gate, ids, 2, scene_end(&scene));
    cr_assert_str_eq(fake_server_body(scene.server, 0),
                     "{\"op\":\"release\",\"hold\":\"alpha-1\",\"cluster\":\"alpha\",\"reason\":"
                     "\"sibling refused\"}\n{\"op\":\"release\",\"hold\":\"alpha-2\",\"cluster\":"
                     "\"alpha\",\"reason\":\"sibling refused\"}\n");
    scene_close(&scene);
}

/* ---- changes of jobs ---- */

static struct gate_change change_of(const char *job_id)
{
    struct gate_change change = {
        .user = "alice", .minutes = SLURM_UNSET, .cores = SLURM_UNSET, .max_running = SLURM_UNSET};
    snprintf(change.job_id, sizeof change.job_id, "%s", job_id);
    return change;
}

static const char *list_of(const char *state)
{
    char body[300];
    snprintf(
        body, sizeof body,
        "{\"items\":[{\"id\":\"alpha-7\",\"state\":\"%s\",\"max_running\":4,\"job\":{\"name\":\"n\"},"
        "\"resources\":{\"cores\":2,\"gpus\":[{\"count\":1}]}}],\"next_page_token\":null}",
        state);
    return fake_json(200, body);
}

static void scene_modify(struct scene *scene, const struct gate_change *change)
{
    gate_modify(scene->gate, change, scene_end(scene), &scene->decision);
}

Test(gate, a_change_that_costs_nothing_is_not_asked_about)
{
    struct scene scene = {0};
    struct gate_change change = change_of("12");
    scene_open(&scene, NULL, 0);
    scene_modify(&scene, &change);
    cr_assert_eq(scene.decision.verdict, GATE_PASS);
    cr_assert_eq(fake_server_requests(scene.server), 0);
    scene_close(&scene);
}

static const struct ruled {
    const char *state;
    bool release;
    bool size;
    int64_t max_running;
    enum gate_verdict verdict;
} ruled[] = {
    {"waiting", true, false, SLURM_UNSET, GATE_REFUSE},
    {"frozen", true, false, SLURM_UNSET, GATE_PASS},
    {"frozen", false, true, SLURM_UNSET, GATE_REFUSE},
    {"running", false, true, SLURM_UNSET, GATE_PASS},
    {"frozen", false, false, 4, GATE_PASS},
    {"frozen", false, false, 5, GATE_REFUSE},
    {"running", false, false, 0, GATE_REFUSE},
    {"frozen", false, false, 1, GATE_PASS},
};

Test(gate, the_state_of_the_hold_rules_what_a_user_may_do)
{
    struct fake_step steps[sizeof ruled / sizeof ruled[0]];
    struct scene scene = {0};
    const size_t count = sizeof ruled / sizeof ruled[0];
    for (size_t i = 0; i < count; i++) {
        steps[i] = (struct fake_step){FAKE_ANSWER, list_of(ruled[i].state)};
    }
    scene_open(&scene, steps, count);
    for (size_t i = 0; i < count; i++) {
        struct gate_change change = change_of("12");
        change.is_release = ruled[i].release;
        change.is_size = ruled[i].size;
        change.max_running = ruled[i].max_running;
        scene_modify(&scene, &change);
        cr_expect_eq(scene.decision.verdict, ruled[i].verdict, "%zu: %s", i, scene.decision.log);
    }
    cr_assert_not_null(
        strstr(fake_server_request(scene.server, 0), "GET /v1/holds?cluster=alpha&job_id=12 "));
    scene_close(&scene);
}

Test(gate, what_becomes_larger_is_frozen_for)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, list_of("frozen")},
                                      {FAKE_ANSWER, fake_json(200, "{}")}};
    struct scene scene = {0};
    struct gate_change change = change_of("12");
    change.minutes = 10;
    change.cores = 8;
    change.partition = "gpu";
    scene_open(&scene, steps, 2);
    scene_modify(&scene, &change);
    cr_assert_eq(scene.decision.verdict, GATE_PASS);
    cr_assert_not_null(
        strstr(fake_server_request(scene.server, 1), "POST /v1/holds/alpha-7/resize "));
    json_t *sent = json_loads(fake_server_body(scene.server, 1), 0, NULL);
    json_t *want = json_pack("{s:s, s:i, s:{s:i, s:[{s:i}]}, s:{s:s, s:s}}", "cluster", "alpha",
                             "time_limit_s", 600, "resources", "cores", 8, "gpus", "count", 1,
                             "job", "name", "n", "partition", "gpu");
    cr_assert(json_equal(sent, want), "%s", fake_server_body(scene.server, 1));
    json_decref(sent);
    json_decref(want);
    scene_close(&scene);
}

Test(gate, what_does_not_fit_stays_as_it_was)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, list_of("frozen")},
        {FAKE_ANSWER, fake_json(409, "{\"code\":\"quota_insufficient\",\"title\":\"no\"}")}};
    struct scene scene = {.config.fail_policy = SLURM_FAIL_OPEN};
    struct gate_change change = change_of("12");
    change.minutes = 10;
    scene_open(&scene, steps, 2);
    scene_modify(&scene, &change);
    cr_assert_eq(scene.decision.verdict, GATE_REFUSE);
    scene_close(&scene);
}

Test(gate, one_task_of_an_array_and_endless_jobs_are_refused)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, list_of("frozen")},
                                      {FAKE_ANSWER, list_of("frozen")}};
    struct scene scene = {0};
    struct gate_change change = change_of("12");
    change.minutes = 10;
    change.is_element = true;
    scene_open(&scene, steps, 2);
    scene_modify(&scene, &change);
    cr_assert_eq(scene.decision.verdict, GATE_REFUSE);
    change.minutes = SLURM_UNLIMITED;
    change.is_element = false;
    scene_modify(&scene, &change);
    cr_assert_eq(scene.decision.verdict, GATE_REFUSE);
    scene_close(&scene);
}

Test(gate, a_job_without_a_hold_follows_the_policy_but_is_its_owners_to_release)
{
    const char *none = "{\"items\":[],\"next_page_token\":null}";
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(200, none)},
        {FAKE_ANSWER, fake_json(200, none)},
        {FAKE_ANSWER, fake_json(200, "{\"items\":[{\"id\":\"alpha-6\",\"job_id\":\"11\"}]}")}};
    struct scene scene = {0};
    struct gate_change longer = change_of("12");
    struct gate_change release = change_of("12");
    longer.minutes = 10;
    release.is_release = true;
    scene_open(&scene, steps, 3);
    scene_modify(&scene, &longer);
    cr_assert_eq(scene.decision.verdict, GATE_NO_ANSWER);
    scene_modify(&scene, &release);
    cr_assert_eq(scene.decision.verdict, GATE_PASS, "the job that waits is another one");
    cr_assert_not_null(
        strstr(fake_server_request(scene.server, 2),
               "GET /v1/holds?state=waiting&page_size=100&cluster=alpha&user=alice "));
    scene_close(&scene);
}

/* SPEC 11.1 */
Test(gate, a_job_that_may_be_a_waiting_one_is_not_released_however_long_ago_it_was_accepted)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(200, "{\"items\":[]}")},
        {FAKE_ANSWER, fake_json(200, "{\"items\":[{\"id\":\"alpha-7\",\"job_id\":null}]}")},
        {FAKE_ANSWER, fake_json(200, "{\"items\":[]}")},
        {FAKE_ANSWER, fake_json(503, "{\"code\":\"unavailable\"}")},
        {FAKE_ANSWER, fake_json(200, "{\"items\":[]}")}};
    const enum gate_verdict want[] = {GATE_REFUSE, GATE_NO_ANSWER, GATE_NO_ANSWER};
    struct scene scene = {0};
    struct gate_change release = change_of("12");
    release.is_release = true;
    scene_open(&scene, steps, 5);
    for (int i = 0; i < 3; i++) {
        release.user = i == 2 ? "" : "alice";
        scene_modify(&scene, &release);
        cr_expect_eq(scene.decision.verdict, want[i], "%d: %s", i, scene.decision.log);
    }
    scene_close(&scene);
}

Test(gate, a_line_of_the_log_is_one_line_whatever_a_user_calls_things)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_json(422, "{\"code\":\"invalid_field\",\"title\":\"no\",\"detail\":\"a\\nb\"}")}};
    struct scene scene = {0};
    scene_open(&scene, steps, 1);
    json_object_set_new(scene.body, "account",
                        json_string("a\nslurmctld: error: all is lost\x1b[2J"));
    scene_submit(&scene);
    cr_assert_eq(scene.decision.verdict, GATE_REFUSE);
    cr_assert_null(strpbrk(scene.decision.log, "\n\x1b"), "%s", scene.decision.log);
    scene_close(&scene);
}

Test(gate, a_token_that_is_not_there_is_named)
{
    struct slurm_config config = {.deadline_ms = 100};
    struct slurm_config_error error;
    struct gate *gate = NULL;
    snprintf(config.url.text, SLURM_CONFIG_TEXT_BYTES, "http://127.0.0.1:1");
    snprintf(config.token_file.text, SLURM_CONFIG_TEXT_BYTES, "/nonexistent/token");
    cr_assert_not(gate_create(&config, &gate, &error));
    cr_assert_not_null(strstr(error.detail, "/nonexistent/token"));
}
