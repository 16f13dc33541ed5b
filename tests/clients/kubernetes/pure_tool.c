/*
 * The pure part of the Kubernetes side as a program, for tests in other languages: a question as JSON on each line of standard input, its
 * answer on a line of standard output.
 *
 *   {"do": "asked", "pod": {}}                     -> resources, or {"problem": "..."}
 *   {"do": "given", "pod": {}, "node": {}}         -> the same
 *   {"do": "commands", "workload": {}, "checks": [], "deleted": false, "now_s": 0, "account": "", "user": "", "cluster": ""}
 *                                                  -> {"step": 0, "commands": []}, or {"problem": "..."}
 *   {"do": "runs", as above}                       -> []
 *   {"do": "patch", as above, "status": 200, "answers": []}  -> {"state": 0, "patch": []}
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/kubernetes/kueue.h"
#include "clients/kubernetes/pod_allocated.h"

static struct resource_table *table;

static const char *text_of(const json_t *question, const char *member)
{
    const char *text = json_string_value(json_object_get(question, member));
    return text == NULL ? "" : text;
}

static int64_t number_of(const json_t *question, const char *member)
{
    return json_integer_value(json_object_get(question, member));
}

static json_t *problem_json(const char *problem)
{
    return json_pack("{s:s}", "problem", problem);
}

static json_t *pod_answer(const json_t *question)
{
    const json_t *pod = json_object_get(question, "pod");
    const json_t *node = json_object_get(question, "node");
    struct pod_request request;
    char problem[RESOURCE_PROBLEM_BYTES];
    const enum pod_result result =
        strcmp(text_of(question, "do"), "given") == 0
            ? pod_allocated(pod, node, table, &request, problem, sizeof problem)
            : pod_cost(pod, table, &request, problem, sizeof problem);
    return result == POD_OK ? pod_request_json(&request) : problem_json(problem);
}

static json_t *commands_answer(const json_t *question, const struct kueue_workload *workload)
{
    const struct kueue_context context = {
        .cluster = text_of(question, "cluster"),
        .account = text_of(question, "account"),
        .user = text_of(question, "user"),
        .table = table,
    };
    char problem[KUEUE_MESSAGE_BYTES];
    json_t *commands = kueue_commands(workload, &context, number_of(question, "now_s"), problem);
    return commands == NULL
               ? problem_json(problem)
               : json_pack("{s:i, s:o}", "step", (int)workload->step, "commands", commands);
}

static json_t *patch_answer(const json_t *question, const struct kueue_workload *workload)
{
    struct kueue_verdict verdict;
    kueue_verdict_read((int)number_of(question, "status"), json_object_get(question, "answers"),
                       number_of(question, "now_s"), &verdict);
    return json_pack("{s:i, s:o}", "state", (int)verdict.state, "patch",
                     kueue_patch(json_object_get(question, "workload"), workload, &verdict,
                                 number_of(question, "now_s")));
}

static json_t *runs_answer(const struct kueue_workload *workload)
{
    json_t *runs = json_array();
    if (!kueue_runs_append(workload, table, runs)) {
        json_decref(runs);
        return NULL;
    }
    return runs;
}

static json_t *answer(const json_t *question)
{
    const char *what = text_of(question, "do");
    struct kueue_workload workload;
    char problem[KUEUE_MESSAGE_BYTES];
    if (strcmp(what, "asked") == 0 || strcmp(what, "given") == 0) {
        return pod_answer(question);
    }
    if (!kueue_read(json_object_get(question, "workload"), json_object_get(question, "checks"),
                    json_is_true(json_object_get(question, "deleted")),
                    number_of(question, "now_s"), &workload, problem)) {
        return problem_json(problem);
    }
    if (strcmp(what, "commands") == 0) {
        return commands_answer(question, &workload);
    }
    return strcmp(what, "runs") == 0 ? runs_answer(&workload) : patch_answer(question, &workload);
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    char problem[RESOURCE_PROBLEM_BYTES];
    if (!resource_table_read(NULL, 0, &table, problem, sizeof problem)) {
        fprintf(stderr, "%s\n", problem);
        return 1;
    }
    while (getline(&line, &room, stdin) > 0) {
        json_t *question = json_loads(line, 0, NULL);
        json_t *said = answer(question);
        if (said == NULL || json_dumpf(said, stdout, JSON_COMPACT) != 0 || putchar('\n') == EOF ||
            fflush(stdout) != 0) {
            return 1;
        }
        json_decref(said);
        json_decref(question);
    }
    free(line);
    resource_table_destroy(table);
    return 0;
}
