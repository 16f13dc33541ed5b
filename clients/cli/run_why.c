/* Why a job of a scheduler stands where it stands: its hold, and where it waits the limits that fail for it. */
#include <string.h>

#include "clients/cli/refusal.h"
#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/show.h"
#include "clients/cli/text.h"
#include "clients/units.h"

struct meaning {
    const char *words;
    bool is_used; /* the amount behind it is what was charged, else what is or would be frozen */
};

/* What a state means to the person at the prompt. */
static const struct {
    const char *state;
    struct meaning meaning;
} meanings[] = {
    {"waiting", {"it waits for core-hours", false}},
    {"frozen", {"its core-hours are frozen: quota does not hold it, squeue says what does", false}},
    {"running", {"it runs; frozen for it", false}},
    {"suspended", {"it is suspended and costs nothing meanwhile; frozen for it", false}},
    {"settled", {"it has ended; charged", true}},
    {"released", {"it never started, what was frozen came back; charged", true}},
    {"expired", {"nobody claimed its hold in time, what was frozen came back; charged", true}},
};

static void meaning_show(struct cli *cli, const json_t *hold)
{
    char amount[COREHOUR_UNITS_TEXT_BYTES];
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        const struct meaning *meaning = &meanings[i].meaning;
        if (strcmp(meanings[i].state, show_text(hold, "state")) == 0) {
            corehour_amount_format(meaning->is_used ? show_integer(hold, "used_mcs", 0)
                                                    : show_integer(hold, "frozen_mcs", 0) +
                                                          show_integer(hold, "waiting_mcs", 0),
                                   amount);
            fprintf(cli->out, "%s: %s %s\n", tr(meaning->words), amount, tr("core-hours"));
        }
    }
}

/* The same job as a quote: what it waits for would be judged by the same limits. */
static json_t *quote_create(const json_t *hold)
{
    static const char *const copied[] = {"cluster", "user", "resources",  "time_limit_s",
                                         "mode",    "job",  "max_running"};
    json_t *body = json_object();
    const int64_t waiting = show_integer(json_object_get(hold, "task_states"), "waiting", 0);
    for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++) {
        json_t *value = json_object_get(hold, copied[i]);
        if (value != NULL && !json_is_null(value)) {
            (void)json_object_set(body, copied[i], value);
        }
    }
    (void)json_object_set(body, "account", json_object_get(hold, "project"));
    (void)json_object_set_new(body, "tasks", json_integer(waiting > 0 ? waiting : 1));
    return body;
}

/* Which limits fail, who holds most there, how many wait. */
static enum cli_exit limits_show(struct cli *cli, const json_t *hold)
{
    struct corehour_answer answer;
    json_t *body = quote_create(hold);
    const enum cli_exit exit = request_call(cli, "POST", "/v1/quotes", body, &answer);
    json_decref(body);
    if (exit != CLI_DONE) {
        return exit;
    }
    enum cli_exit told = CLI_DONE;
    if (answer.status != 200) {
        told = request_report(cli, &answer, NULL);
    } else if (json_is_true(json_object_get(answer.body, "would_pass"))) {
        fprintf(cli->out, "%s\n", tr("it would fit now: it is started in a moment"));
    } else {
        refusal_limits_show(cli->out, answer.body, cli->now_s);
    }
    corehour_answer_fini(&answer);
    return told;
}

static void hold_show(struct cli *cli, const json_t *hold)
{
    fprintf(cli->out, "%s %s: %s ", tr("job"), cli->args[0], tr(show_text(hold, "state")));
    text_print(cli->out, show_text(hold, "project"));
    fputc('/', cli->out);
    text_print(cli->out, show_text(hold, "user"));
    fprintf(cli->out, ", %s %s\n", tr("hold"), show_text(hold, "id"));
    meaning_show(cli, hold);
}

/* The job's number: of an array task the array's. */
static enum cli_exit path_write(struct cli *cli, char *path)
{
    char job[64];
    (void)snprintf(job, sizeof job, "%.*s", (int)strcspn(cli->args[0], "_"), cli->args[0]);
    (void)snprintf(path, COREHOUR_URL_BYTES, "/v1/holds");
    const bool is_own = cli->door != NULL && cli_value(cli, "cluster") == NULL;
    const bool good = corehour_url_query(path, COREHOUR_URL_BYTES, "job_id", job) == COREHOUR_OK &&
                      (!is_own || corehour_url_query(path, COREHOUR_URL_BYTES, "cluster",
                                                     cli->door->cluster) == COREHOUR_OK);
    return good ? request_query_append(cli, path)
                : request_fail(cli, CLI_USAGE, "%s", tr("the request is too long"));
}

enum cli_exit run_why(struct cli *cli)
{
    char path[COREHOUR_URL_BYTES];
    struct corehour_answer answer;
    enum cli_exit exit = path_write(cli, path);
    exit = exit == CLI_DONE ? request_call(cli, "GET", path, NULL, &answer) : exit;
    if (exit != CLI_DONE) {
        return exit;
    }
    const json_t *hold = json_array_get(json_object_get(answer.body, "items"), 0);
    if (answer.status != 200 || cli->json) {
        exit = request_report(cli, &answer, NULL);
    } else if (hold == NULL) {
        exit = request_fail(cli, CLI_OTHER, tr("no hold of yours belongs to job %s"), cli->args[0]);
    } else {
        hold_show(cli, hold);
        exit = strcmp(show_text(hold, "state"), "waiting") == 0 ? limits_show(cli, hold) : CLI_DONE;
    }
    corehour_answer_fini(&answer);
    return exit;
}
