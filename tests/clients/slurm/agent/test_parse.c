/* Slurm's outputs, genuine ones of 22.05 among them, as the agent reads them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "clients/slurm/agent/columns.h"
#include "clients/slurm/agent/fate.h"
#include "clients/slurm/agent/indexes.h"
#include "clients/slurm/agent/queue.h"
#include "clients/slurm/agent/records.h"
#include "clients/slurm/agent/token.h"
#include "clients/slurm/agent/tres.h"

static char *fixture_read(const char *name)
{
    char path[512];
    char *text = NULL;
    size_t room = 0;
    (void)snprintf(path, sizeof path, "%s/%s", FIXTURES, name);
    FILE *file = fopen(path, "re");
    cr_assert(file != NULL, "%s", path);
    cr_assert(getdelim(&text, &room, '\0', file) > 0);
    (void)fclose(file);
    return text;
}

/* ---- resources ---- */

static void check_tres(const char *text, const char *expected)
{
    struct tres tres;
    cr_assert(tres_parse(text, &tres), "%s", text);
    json_t *shown = tres_json(&tres);
    char *json = json_dumps(shown, JSON_COMPACT | JSON_SORT_KEYS);
    cr_assert_str_eq(json, expected);
    free(json);
    json_decref(shown);
}

Test(slurm_tres, the_typed_gpus_are_a_breakdown_of_the_total_and_never_added_to_it)
{
    check_tres("billing=40,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=8000M,node=1",
               "{\"cores\":8,\"gpus\":[{\"count\":2,\"model\":\"a100\"}],\"memory_mib\":8000}");
}

Test(slurm_tres, typed_gpus_alone_make_the_total)
{
    check_tres("cpu=1,gres/gpu:H100=3",
               "{\"cores\":1,\"gpus\":[{\"count\":3,\"model\":\"h100\"}],\"memory_mib\":0}");
}

Test(slurm_tres, gpus_that_no_model_accounts_for_come_without_a_model)
{
    check_tres(
        "cpu=1,gres/gpu=3,gres/gpu:a100=1",
        "{\"cores\":1,\"gpus\":[{\"count\":1,\"model\":\"a100\"},{\"count\":2}],\"memory_mib\":0}");
}

Test(slurm_tres, memory_comes_in_every_unit_and_is_rounded_up)
{
    static const struct {
        const char *text;
        int64_t mib;
    } rows[] = {{"mem=1", 1},     {"mem=2000M", 2000}, {"mem=2.50G", 2560}, {"mem=1T", 1048576},
                {"mem=1023K", 1}, {"mem=1025K", 2},    {"mem=0.5M", 1},     {"mem=0", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tres tres;
        cr_assert(tres_parse(rows[i].text, &tres), "%s", rows[i].text);
        cr_assert_eq(tres.memory_mib, rows[i].mib, "%s: %ld", rows[i].text, (long)tres.memory_mib);
    }
}

Test(slurm_tres, what_is_no_number_is_refused_and_other_resources_are_passed_over)
{
    static const char *const wrong[] = {
        "cpu=x", "cpu=", "mem=5Q", "gres/gpu=-1", "cpu=99999999999999999999", "mem=1MM", "cpu"};
    struct tres tres;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_assert(!tres_parse(wrong[i], &tres), "%s", wrong[i]);
    }
    cr_assert(tres_parse("license/matlab=1,fs/disk=5,energy=x,cpu=2,gres/nic=1", &tres));
    cr_assert_eq(tres.cores, 2);
    cr_assert_eq(tres.gpus, 0);
}

/* ---- arrays ---- */

Test(slurm_indexes, ranks_follow_the_indexes_and_the_limit_is_no_index)
{
    struct indexes indexes = {0};
    cr_assert(indexes_add(&indexes, "9-21:4,3%2", 10));
    cr_assert_eq(indexes.count, 5U);
    cr_assert_eq(indexes_rank(&indexes, 3), 0);
    cr_assert_eq(indexes_rank(&indexes, 9), 1);
    cr_assert_eq(indexes_rank(&indexes, 21), 4);
    cr_assert_eq(indexes_rank(&indexes, 2), -1);
    cr_assert(indexes_add(&indexes, "3-4", 3));
    cr_assert_eq(indexes.count, 6U);
    indexes_fini(&indexes);
}

Test(slurm_indexes, what_is_no_expression_adds_nothing)
{
    static const char *const wrong[] = {"",    "x",        "1-",         "5-1", "1-9:0", "1,,2",
                                        "1;2", "0-100000", "4294967295", "%4",  "1-2-3"};
    struct indexes indexes = {0};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_assert(!indexes_add(&indexes, wrong[i], strlen(wrong[i])), "%s", wrong[i]);
        cr_assert_eq(indexes.count, 0U, "%s", wrong[i]);
    }
    cr_assert(indexes_add(&indexes, "0-99999", 7));
    cr_assert_eq(indexes.count, 100000U);
    indexes_fini(&indexes);
}

/* ---- small things ---- */

Test(slurm_columns, durations_read_as_slurm_means_them)
{
    static const struct {
        const char *text;
        int64_t seconds;
    } rows[] = {{"00:01:29", 89}, {"5:00", 300},     {"2-12:30:00", 217800},
                {"1-00", 86400},  {"UNLIMITED", -1}, {"", -1},
                {"x", -1},        {"1:2:3:4", -1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(columns_duration(rows[i].text, -1), rows[i].seconds, "%s: %ld", rows[i].text,
                     (long)columns_duration(rows[i].text, -1));
    }
}

Test(slurm_columns, a_row_of_another_number_of_columns_is_passed_over)
{
    char text[] = "a|b\na|b|\na\na|b|c\n|\n";
    char *at = text;
    char *columns[2];
    cr_assert_eq(columns_next(&at, 2, columns), 1);
    cr_assert_str_eq(columns[1], "b");
    cr_assert_eq(columns_next(&at, 2, columns), 1);
    cr_assert_eq(columns_next(&at, 2, columns), -1);
    cr_assert_eq(columns_next(&at, 2, columns), -1);
    cr_assert_eq(columns_next(&at, 2, columns), 1);
    cr_assert_str_eq(columns[0], "");
    cr_assert_eq(columns_next(&at, 2, columns), 0);
}

Test(slurm_token, only_what_the_plugin_wrote_is_ours)
{
    struct token token;
    cr_assert(token_parse("corehour:lab-0193c5e2", &token));
    cr_assert_str_eq(token.hold, "lab-0193c5e2");
    cr_assert(!token.is_open);
    cr_assert(token_parse("corehour:open:lab-1 note", &token));
    cr_assert_str_eq(token.hold, "lab-1");
    cr_assert(token.is_open);
    static const char *const others[] = {"",
                                         "(null)",
                                         "corehour:",
                                         "corehour:observe",
                                         "corehour:open:",
                                         "note corehour:lab-1",
                                         "corehour:lab/1",
                                         "corehour:-x"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        cr_assert(!token_parse(others[i], &token), "%s", others[i]);
    }
}

Test(slurm_fate, every_state_has_its_outcome_by_its_first_word)
{
    static const struct {
        const char *state;
        enum fate_kind kind;
        const char *outcome;
    } rows[] = {
        {"COMPLETED", FATE_ENDED, "completed"},  {"CANCELLED by 1002", FATE_ENDED, "cancelled"},
        {"CANCELLED+", FATE_ENDED, "cancelled"}, {"TIMEOUT", FATE_ENDED, "timeout"},
        {"NODE_FAIL", FATE_ENDED, "node_fail"},  {"OUT_OF_MEMORY", FATE_ENDED, "oom"},
        {"PREEMPTED", FATE_ENDED, "preempted"},  {"DEADLINE", FATE_ENDED, "deadline"},
        {"BOOT_FAIL", FATE_ENDED, "boot_fail"},  {"REQUEUED", FATE_ENDED, "other"},
        {"FAILED", FATE_ENDED, "failed"},        {"RUNNING", FATE_RUNNING, NULL},
        {"SUSPENDED", FATE_SUSPENDED, NULL},     {"PENDING", FATE_PENDING, NULL},
        {"COMPLETING", FATE_ENDING, NULL},       {"REQUEUE_HOLD", FATE_PENDING, NULL},
        {"SOMETHING_NEW", FATE_UNKNOWN, NULL},   {"", FATE_UNKNOWN, NULL}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct fate fate = fate_of(rows[i].state);
        cr_assert_eq((int)fate.kind, (int)rows[i].kind, "%s", rows[i].state);
        cr_assert((fate.outcome == NULL) == (rows[i].outcome == NULL), "%s", rows[i].state);
        cr_assert(fate.outcome == NULL || strcmp(fate.outcome, rows[i].outcome) == 0, "%s",
                  rows[i].state);
    }
}

/* ---- whole outputs ---- */

static const struct queue_job *row_of(const struct queue *queue, uint32_t raw_id)
{
    for (size_t i = 0; i < queue->count; i++) {
        if (queue->jobs[i].raw_id == raw_id) {
            return &queue->jobs[i];
        }
    }
    return NULL;
}

Test(slurm_queue, a_genuine_queue_is_read_whole)
{
    struct queue queue;
    cr_assert(queue_parse(fixture_read("squeue_mid.psv"), &queue));
    cr_assert_eq(queue.count, 22U);
    cr_assert_eq(queue.strange, 0U);
    const struct queue_job *rest = row_of(&queue, 18);
    cr_assert(rest->is_array);
    cr_assert_str_eq(rest->indexes, "1,3,5,7,9");
    cr_assert_eq(rest->priority, 0);
    const struct queue_job *task = row_of(&queue, 22);
    cr_assert_eq(task->array_id, 8U);
    cr_assert_str_eq(task->indexes, "2");
    const struct queue_job *requeued = row_of(&queue, 11);
    cr_assert_eq(requeued->restarts, 1);
    cr_assert_eq((int)requeued->fate.kind, (int)FATE_PENDING);
    const struct queue_job *part = row_of(&queue, 10); /* 9+1 */
    cr_assert(!part->is_array);
    cr_assert_eq(part->array_id, 10U);
    queue_fini(&queue);
}

static const struct record *record_of(const struct records *records, uint64_t db_index)
{
    for (size_t i = 0; i < records->count; i++) {
        if (records->rows[i].db_index == db_index) {
            return &records->rows[i];
        }
    }
    return NULL;
}

Test(slurm_records, genuine_records_are_read_and_the_attempts_of_a_job_follow_each_other)
{
    struct records records;
    cr_assert(records_parse(fixture_read("sacct_end.psv"), &records));
    cr_assert_eq(records.count, 23U);
    cr_assert_eq(records.strange, 0U);
    const struct record *first = record_of(&records, 13);
    cr_assert_eq(first[1].db_index, 41U);
    cr_assert(record_has_ended(first) && record_has_run(first));
    cr_assert_eq(record_of(&records, 15)->suspended_s, 3);
    cr_assert_eq(record_of(&records, 15)->elapsed_s, 2);
    const struct record *never = record_of(&records, 23);
    cr_assert(record_has_ended(never) && !record_has_run(never));
    cr_assert_str_eq(record_of(&records, 36)->indexes, "1,3,5,7,9");
    cr_assert_eq(record_of(&records, 7)->end_s - record_of(&records, 7)->start_s, 89);
    records_fini(&records);
}

Test(slurm_records, an_unknown_end_is_open_whatever_the_state_says)
{
    struct records records;
    cr_assert(records_parse(
        strdup("7|7|COMPLETED|100|101|Unknown|12|00:00:00|cpu=1|5|a|u|p|q|n1|corehour:x-1\n"),
        &records));
    cr_assert_eq(records.count, 1U);
    cr_assert(!record_has_ended(&records.rows[0]));
    records_fini(&records);
}

Test(slurm_records, strange_rows_are_counted_and_passed_over)
{
    struct records records;
    cr_assert(
        records_parse(strdup("x|7|COMPLETED|1|1|1|1|0|cpu=1|5|a|u|p|q|n1|\nhello\n"), &records));
    cr_assert_eq(records.count, 0U);
    cr_assert_eq(records.strange, 2U);
    records_fini(&records);
}
