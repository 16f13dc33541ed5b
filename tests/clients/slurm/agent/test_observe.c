/* Rounds of looking: what is said of the queue and the records, in which order, and only once. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "clients/slurm/agent/observe.h"

#define H       "corehour:lab-1"
#define T0      INT64_C(1796058251)
#define ROW_END "|u|p|q|"

static char folder[64];
static struct observer observer;
static const char *records_text; /* what sacct says; NULL: it fails */
static int records_calls;

static bool records_give(void *context,
                         const uint32_t *ids,
                         size_t count,
                         struct records *ret_records,
                         char *ret_detail)
{
    (void)context;
    (void)ids;
    cr_assert(count > 0);
    records_calls++;
    if (records_text == NULL) {
        (void)snprintf(ret_detail, 100, "slurmdbd is away");
        return false;
    }
    return records_parse(strdup(records_text), ret_records);
}

static void setup(void)
{
    char detail[OUTBOX_DETAIL_BYTES];
    (void)snprintf(folder, sizeof folder, "/tmp/corehour-observe-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
    observer = (struct observer){
        .records_read = records_give, .spool_dir = folder, .now_ms = 1000, .now_s = T0 + 5};
    cr_assert(outbox_open(folder, &observer.outbox, detail), "%s", detail);
    records_text = "";
    records_calls = 0;
}

static void teardown(void)
{
    char command[128];
    roll_fini(&observer.roll);
    outbox_close(observer.outbox);
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

/* A round, two seconds after the one before. */
static void round_run(const char *rows)
{
    struct queue queue;
    cr_assert(queue_parse(strdup(rows), &queue));
    cr_assert_eq(queue.strange, 0U, "%s", rows);
    observer.now_ms += 2000;
    observer.now_s += 2;
    cr_assert(observe_round(&observer, &queue));
    queue_fini(&queue);
}

/* All that was said since the last call, a word each: "bind start settle". */
static void said(const char *expected)
{
    char text[512] = "";
    json_t *lines = outbox_peek(observer.outbox, 100);
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const json_t *op = json_object_get(json_array_get(lines, i), "op");
        const json_t *task = json_object_get(op, "task");
        const json_t *attempt = json_object_get(op, "attempt");
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i == 0 ? "" : " ",
                       json_string_value(json_object_get(op, "op")));
        if (attempt != NULL) {
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), ":%d.%d",
                           (int)json_integer_value(task), (int)json_integer_value(attempt));
        } else if (json_object_get(op, "tasks") != NULL) {
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), ":%s",
                           json_string_value(json_object_get(op, "tasks")));
        }
    }
    cr_assert(outbox_advance(observer.outbox, json_array_size(lines)));
    json_decref(lines);
    cr_assert_str_eq(text, expected);
}

#define RUNNING "7|7|RUNNING|1796058251|1796058252|0|cpu=1|1|None|5:00|a" ROW_END H "|\n"
#define PENDING "7|7|PENDING|1796058251|N/A|0|cpu=1|1|None|5:00|a" ROW_END H "|\n"

Test(slurm_observe, a_job_is_bound_started_and_settled_once, .init = setup, .fini = teardown)
{
    round_run(PENDING);
    said("bind");
    round_run(RUNNING);
    said("start:0.0");
    round_run(RUNNING);
    said("");
    records_text =
        "7|7|COMPLETED|1796058251|1796058252|1796058260|8|00:00:00|cpu=1|5|a|u|p|q|n1|" H "\n";
    round_run("7|7|COMPLETED|1796058251|1796058252|0|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("settle:0.0");
    round_run("7|7|COMPLETED|1796058251|1796058252|0|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    round_run("");
    said("");
    cr_assert_eq(observer.roll.count, 0U);
}

Test(slurm_observe,
     a_job_that_came_and_went_between_two_rounds_is_settled,
     .init = setup,
     .fini = teardown)
{
    records_text =
        "7|7|FAILED|1796058251|1796058252|1796058252|0|00:00:00|cpu=1|5|a|u|p|q|n1|" H "\n";
    round_run("7|7|FAILED|1796058251|1796058252|0|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("bind settle:0.0");
}

Test(slurm_observe, an_end_waits_until_slurmdbd_has_it, .init = setup, .fini = teardown)
{
    round_run(RUNNING);
    said("bind start:0.0");
    records_text = NULL;
    round_run("7|7|COMPLETED|1796058251|1796058252|0|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    cr_assert(observer.records_failed);
    round_run("");
    said("");
    records_text = "7|7|COMPLETED|1796058251|1796058252|Unknown|12|00:00:00|cpu=1|5|a|u|p|q|n1|\n";
    round_run("");
    said("");
    records_text =
        "7|7|COMPLETED|1796058251|1796058252|1796058253|1|00:00:00|cpu=1|5|a|u|p|q|n1|" H "\n";
    for (int i = 0; i < 5; i++) {
        round_run("");
    }
    said("settle:0.0");
    cr_assert_eq(observer.roll.count, 0U);
}

Test(slurm_observe,
     a_requeued_attempt_is_closed_before_the_next_starts,
     .init = setup,
     .fini = teardown)
{
    round_run(RUNNING);
    said("bind start:0.0");
    records_text =
        "7|7|REQUEUED|1796058251|1796058252|1796058255|3|00:00:00|cpu=1|5|a|u|p|q|n1|" H "\n"
        "7|7|RUNNING|1796058255|1796058257|Unknown|0|00:00:00|cpu=1|9|a|u|p|q|n1|\n";
    round_run("7|7|RUNNING|1796058255|1796058257|1|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("requeue:0.0 start:0.1");
    records_text =
        "7|7|REQUEUED|1796058251|1796058252|1796058255|3|00:00:00|cpu=1|5|a|u|p|q|n1|" H "\n"
        "7|7|COMPLETED|1796058255|1796058257|1796058259|2|00:00:00|cpu=1|9|a|u|p|q|n1|" H "\n";
    round_run("7|7|COMPLETED|1796058255|1796058257|1|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("settle:0.1");
}

Test(slurm_observe,
     a_new_agent_says_the_attempts_that_it_never_saw,
     .init = setup,
     .fini = teardown)
{
    records_text =
        "7|7|NODE_FAIL|1796058251|1796058252|1796058255|3|00:00:00|cpu=1|5|a|u|p|q|n1|" H "\n"
        "7|7|RUNNING|1796058255|1796058257|Unknown|0|00:00:00|cpu=1|9|a|u|p|q|n1|\n";
    round_run("7|7|RUNNING|1796058255|1796058257|1|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    round_run("7|7|RUNNING|1796058255|1796058257|1|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("bind requeue:0.0 start:0.1");
}

Test(slurm_observe,
     another_job_with_the_same_number_is_not_taken_for_it,
     .init = setup,
     .fini = teardown)
{
    records_text =
        "7|7|COMPLETED|1790000000|1790000001|1790000009|8|00:00:00|cpu=4|1|a|u|p|q|n1|corehour:lab-0\n"
        "7|7|COMPLETED|1796058251|1796058252|1796058254|2|00:00:00|cpu=1|5|a|u|p|q|n1|" H "\n";
    round_run(RUNNING);
    round_run("");
    said("bind start:0.0 settle:0.0");
}

Test(slurm_observe, a_job_cancelled_while_it_pended_is_released, .init = setup, .fini = teardown)
{
    round_run(PENDING);
    records_text =
        "7|7|CANCELLED by 1|1796058251|None|1796058260|0|00:00:00||5|a|u|p|q|None assigned|" H "\n";
    round_run("7|7|CANCELLED|1796058251|1796058260|0|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("bind release");
    round_run("");
    said("");
}

Test(slurm_observe, a_suspension_is_said_when_it_begins_and_ends, .init = setup, .fini = teardown)
{
    round_run(RUNNING);
    round_run("7|7|SUSPENDED|1796058251|1796058252|0|cpu=1|0|None|5:00|a" ROW_END H "|\n");
    round_run("7|7|SUSPENDED|1796058251|1796058252|0|cpu=1|0|None|5:00|a" ROW_END H "|\n");
    round_run(RUNNING);
    said("bind start:0.0 suspend resume");
}

Test(slurm_observe,
     array_tasks_are_numbered_by_rank_and_the_rest_that_was_cancelled_is_released,
     .init = setup,
     .fini = teardown)
{
    round_run("9|8_1|RUNNING|1796058251|1796058252|0|cpu=1|1|None|5:00|a" ROW_END H "|\n"
              "8|8_[3,5,7%1]|PENDING|1796058251|N/A|0|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("bind start:0.0");
    records_text =
        "9|8_1|COMPLETED|1796058251|1796058252|1796058254|2|00:00:00|cpu=1|5|a|u|p|q|n1|" H "\n"
        "10|8_3|RUNNING|1796058251|1796058254|Unknown|2|00:00:00|cpu=1|6|a|u|p|q|n1|\n"
        "8|8_[5,7]|CANCELLED by 5|1796058251|None|1796058255|0|00:00:00||7|a|u|p|q|None assigned|" H
        "\n";
    round_run("9|8_1|COMPLETED|1796058251|1796058252|0|cpu=1|1|None|5:00|a" ROW_END H "|\n"
              "10|8_3|RUNNING|1796058251|1796058254|0|cpu=1|1|None|5:00|a" ROW_END H "|\n"
              "8|8_[5,7%1]|CANCELLED|1796058251|1796058255|0|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("release:2 release:3 settle:0.0 start:1.0");
}

Test(slurm_observe,
     a_runaway_that_was_mended_to_end_at_its_start_is_not_settled,
     .init = setup,
     .fini = teardown)
{
    round_run(RUNNING);
    said("bind start:0.0");
    observer.now_s += 3600;
    round_run(RUNNING);
    records_text =
        "7|7|COMPLETED|1796058251|1796058252|1796058252|0|00:00:00|cpu=1|5|a|u|p|q|n1|" H "\n";
    for (int i = 0; i < 4; i++) {
        round_run("");
    }
    said("");
    cr_assert_eq(observer.roll.count, 1U);
}

/* Slurm's second record shows the first start again: 22.05 in the lab. */
Test(slurm_observe,
     a_job_that_was_resized_long_before_its_end_is_charged_for_each_size_once,
     .init = setup,
     .fini = teardown)
{
    round_run(RUNNING);
    said("bind start:0.0");
    observer.now_s += 3600;
    round_run(RUNNING);
    records_text =
        "7|7|RESIZING|1796058251|1796058252|1796058262|10|00:00:00|cpu=2|5|a|u|p|q|n1|" H "\n"
        "7|7|COMPLETED|1796058262|1796058252|1796061852|3600|00:00:00|cpu=1|6|a|u|p|q|n1|" H "\n";
    round_run("");
    json_t *lines = outbox_peek(observer.outbox, 100);
    const json_t *op = json_object_get(json_array_get(lines, 1), "op");
    cr_assert_str_eq(json_string_value(json_object_get(op, "started_at")), "2026-11-30T17:04:22Z");
    json_decref(lines);
    said("requeue:0.0 settle:0.1");
}

Test(slurm_observe,
     a_finished_job_that_is_requeued_by_hand_runs_again,
     .init = setup,
     .fini = teardown)
{
    static const char done[] =
        "7|7|COMPLETED|1796058251|1796058252|1796058254|2|00:00:00|cpu=1|5|a|u|p|q|n1|" H "\n";
    round_run(RUNNING);
    records_text = done;
    round_run("7|7|COMPLETED|1796058251|1796058252|0|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("bind start:0.0 settle:0.0");
    round_run("7|7|PENDING|1796058259|N/A|1|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("requeue:0.0");
    round_run("7|7|RUNNING|1796058259|1796058262|1|cpu=1|1|None|5:00|a" ROW_END H "|\n");
    said("start:0.1");
}

Test(slurm_observe,
     a_job_that_was_let_through_is_frozen_late_while_its_file_lies_there,
     .init = setup,
     .fini = teardown)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/lab-1.json", folder);
    FILE *file = fopen(path, "we");
    (void)fputs("{\"id\": \"lab-1\", \"cluster\": \"lab\", \"at\": \"2026-11-30T17:04:11Z\"}",
                file);
    (void)fclose(file);
    round_run("7|7|RUNNING|1796058251|1796058252|0|cpu=1|1|None|5:00|a" ROW_END
              "corehour:open:lab-1|\n");
    said("freeze bind start:0.0");
}

Test(slurm_observe, heartbeats_are_of_what_runs, .init = setup, .fini = teardown)
{
    size_t runs;
    round_run(PENDING);
    cr_assert(observe_heartbeat(&observer, "lab", 0, 10, &runs) == NULL);
    round_run(RUNNING);
    json_t *body = observe_heartbeat(&observer, "lab", 0, 10, &runs);
    cr_assert_eq(runs, 1U);
    json_decref(body);
    cr_assert(observe_heartbeat(&observer, "lab", 1, 10, &runs) == NULL);
}

Test(slurm_observe,
     a_genuine_queue_and_its_records_give_each_fate_its_verb,
     .init = setup,
     .fini = teardown)
{
    char path[512];
    char *texts[2] = {NULL, NULL};
    static const char *const names[] = {"squeue_mid.psv", "sacct_end.psv"};
    for (int i = 0; i < 2; i++) {
        size_t room = 0;
        (void)snprintf(path, sizeof path, "%s/%s", FIXTURES, names[i]);
        FILE *file = fopen(path, "re");
        cr_assert(getdelim(&texts[i], &room, '\0', file) > 0);
        (void)fclose(file);
    }
    round_run(texts[0]);
    records_text = texts[1];
    for (int i = 0; i < 8; i++) {
        round_run("");
    }
    int settles = 0;
    int requeues = 0;
    int releases = 0;
    json_t *lines = outbox_peek(observer.outbox, 1000);
    for (size_t i = 0; i < json_array_size(lines); i++) {
        const char *op = json_string_value(
            json_object_get(json_object_get(json_array_get(lines, i), "op"), "op"));
        settles += strcmp(op, "settle") == 0;
        requeues += strcmp(op, "requeue") == 0;
        releases += strcmp(op, "release") == 0;
    }
    json_decref(lines);
    cr_assert_eq(requeues, 2, "%d", requeues); /* requeued, node_fail_requeue */
    cr_assert_eq(releases, 8, "%d",
                 releases); /* cancelled_pending, pending_resources, pending_held, 5 tasks */
    cr_assert_eq(settles, 17, "%d", settles);
    free(texts[0]);
    free(texts[1]);
}
