/* When the answer is no: see refusal.h. */
#include "clients/cli/refusal.h"

#include <inttypes.h>
#include <string.h>

#include "clients/cli/show.h"
#include "clients/cli/show_hold.h"
#include "clients/cli/table.h"
#include "clients/cli/text.h"
#include "clients/units.h"

#define FIGURE_BYTES 40

/* What a person can do about a code. Codes without a row speak for themselves. */
static const struct advice {
    const char *code;
    const char *next;
} advices[] = {
    {"unauthenticated",
     "set COREHOUR_TOKEN, or token in the config file, to a token that is still valid"},
    {"not_allowed", "this token's role or place does not reach that far; ask an admin for another"},
    {"not_found", "check the name; what a token may not see is not found either"},
    {"unknown_hold", "list holds with: corehour holds"},
    {"unknown_account",
     "map it with: corehour account put CLUSTER ACCOUNT --project PROJECT, or name a project"},
    {"unknown_cluster", "make it with: corehour cluster put NAME --kind slurm"},
    {"not_a_member", "add the person with: corehour member put PROJECT USER"},
    {"no_rate", "price it with: corehour rates put CLUSTER VERSION FILE"},
    {"no_time_limit", "give --time, or use --mode window"},
    {"id_reused", "an id stands for one command for ever; leave --id out to get a new one"},
    {"run_conflict",
     "the attempt was settled otherwise; better evidence goes through: corehour correct"},
    {"node_closed",
     "a closed node takes no new freezes; open it with: corehour project set NAME --state open"},
    {"not_funded_here", "grants and transfers name nodes with funding self"},
    {"precondition_failed", "it changed meanwhile; look at it and try again"},
    {"overloaded", "try again in a moment"},
    {"unavailable", "the service cannot write now; its log says why; try again later"},
};

static const struct exit_row {
    const char *code; /* "": by status */
    int status;
    enum cli_exit exit;
} exit_rows[] = {
    {"quota_insufficient", 0, CLI_QUOTA}, {"", 401, CLI_NOT_ALLOWED}, {"", 403, CLI_NOT_ALLOWED},
    {"", 429, CLI_UNREACHABLE},           {"", 502, CLI_UNREACHABLE}, {"", 503, CLI_UNREACHABLE},
    {"", 504, CLI_UNREACHABLE},
};

enum cli_exit refusal_exit(int status, const char *code)
{
    for (size_t i = 0; i < sizeof exit_rows / sizeof exit_rows[0]; i++) {
        const struct exit_row *row = &exit_rows[i];
        if (*row->code == '\0' ? row->status == status : strcmp(row->code, code) == 0) {
            return row->exit;
        }
    }
    return CLI_OTHER;
}

/* ---- limits ---- */

/* "project vision", "member alice of vision" */
static void node_write(const json_t *violation, char *ret_text, size_t size_bytes)
{
    const char *node = show_text(violation, "node");
    const char *user = show_text(violation, "user");
    if (*user != '\0' && strcmp(user, node) != 0) {
        snprintf(ret_text, size_bytes, "%s %s/%s", tr("member"), node, user);
    } else {
        snprintf(ret_text, size_bytes, "%s %s", tr(show_text(violation, "kind")), node);
    }
}

static void violation_row(struct table *table, const json_t *violation)
{
    static const char *const figures[] = {"limit",     "used",      "frozen",
                                          "available", "requested", "missing"};
    char text[512];
    const char *unit = show_text(violation, "unit");
    node_write(violation, text, sizeof text);
    table_cell(table, text);
    table_cell(table, tr(show_text(violation, "cap")));
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        char figure[FIGURE_BYTES];
        show_figure(unit, json_object_get(violation, figures[i]), figure);
        table_cell(table, figure);
    }
    table_cell(table, show_unit_word(unit));
    table_cell(table, show_text(violation, "resets_at"));
}

static void violations_show(FILE *out, const json_t *violations)
{
    static const struct table_title titles[] = {
        {"node", false},  {"cap", false},      {"limit", true},     {"used", true},
        {"frozen", true}, {"available", true}, {"requested", true}, {"missing", true},
        {"unit", false},  {"resets", false}};
    struct table table;
    size_t i;
    json_t *violation;
    table_begin(&table, titles, sizeof titles / sizeof titles[0]);
    json_array_foreach(violations, i, violation)
    {
        violation_row(&table, violation);
    }
    table_print(&table, out, 2);
    table_fini(&table);
}

static void holders_show(FILE *out, const json_t *violation)
{
    static const char *const columns[] = {"hold",  "project",   "user",  "frozen_mcs",
                                          "since", "last_seen", "stale", NULL};
    const json_t *holders = json_object_get(violation, "holders");
    if (json_array_size(holders) == 0) {
        return;
    }
    char node[512];
    node_write(violation, node, sizeof node);
    fprintf(out, tr("most is held there (%s, %s) by:\n"), node, tr(show_text(violation, "cap")));
    struct cli to = {.out = out};
    show_rows(&to, holders, columns, 2);
}

/* "at the earliest 2026-12-01T02:05:00Z (in 1h55m)" */
static void earliest_show(FILE *out, const char *earliest_at, int64_t now_s)
{
    int64_t time_s;
    if (*earliest_at == '\0' || corehour_time_parse(earliest_at, now_s, &time_s) != COREHOUR_OK) {
        return;
    }
    char wait[COREHOUR_UNITS_TEXT_BYTES];
    corehour_duration_format(time_s > now_s ? time_s - now_s : 0, wait);
    fprintf(out, tr("it would fit at the earliest at %s (in %s)\n"), earliest_at, wait);
}

void refusal_limits_show(FILE *out, const json_t *body, int64_t now_s)
{
    const json_t *violations = json_object_get(body, "violations");
    size_t i;
    json_t *violation;
    if (json_array_size(violations) > 0) {
        violations_show(out, violations);
    }
    json_array_foreach(violations, i, violation)
    {
        holders_show(out, violation);
    }
    int64_t ahead = show_integer(body, "waiting_ahead", 0);
    if (ahead > 0) {
        fprintf(out, tr("%" PRId64 " waiting ahead of it\n"), ahead);
    }
    earliest_show(out, show_text(body, "earliest_at"), now_s);
    const char *contact = show_text(body, "contact");
    if (*contact == '\0') {
        return;
    }
    fprintf(out, "%s ", tr("ask:"));
    text_print(out, contact);
    fputc('\n', out);
}

/* ---- problems ---- */

static void line_show(struct cli *cli, const char *label, const char *text)
{
    if (*text == '\0') {
        return;
    }
    fprintf(cli->err, "  %s ", label);
    text_print(cli->err, text);
    fputc('\n', cli->err);
}

static void quota_show(struct cli *cli, const json_t *problem)
{
    text_print(cli->err, show_text(problem, "title"));
    if (json_object_get(problem, "rate_mcores") != NULL &&
        json_object_get(problem, "seconds") != NULL) {
        fputc(' ', cli->err);
        show_formula(cli->err, problem);
    }
    fputc('\n', cli->err);
    refusal_limits_show(cli->err, problem, cli->now_s);
}

static void problem_show(struct cli *cli, const struct corehour_answer *answer, const char *code)
{
    const json_t *problem = answer->body;
    const char *title = show_text(problem, "title");
    const char *detail = show_text(problem, "detail");
    fprintf(cli->err, "corehour %s: ", cli->command->name);
    text_print(cli->err, *title != '\0' ? title : code);
    fprintf(cli->err, " (%d %s)\n", answer->status, code);
    if (strcmp(detail, title) != 0) {
        line_show(cli, tr("why:"), detail);
    }
    if (strstr(detail, show_text(problem, "field")) == NULL) {
        line_show(cli, tr("field:"), show_text(problem, "field"));
    }
    for (size_t i = 0; i < sizeof advices / sizeof advices[0]; i++) {
        if (strcmp(advices[i].code, code) == 0) {
            line_show(cli, tr("next:"), tr(advices[i].next));
        }
    }
    line_show(cli, tr("ask:"), show_text(problem, "contact"));
}

enum cli_exit refusal_report(struct cli *cli, const struct corehour_answer *answer)
{
    const char *code = corehour_answer_code(answer);
    enum cli_exit exit = refusal_exit(answer->status, code);
    if (cli->json && answer->body != NULL) {
        fprintf(cli->out, "%s\n", answer->text);
        return exit;
    }
    if (*code == '\0') {
        fprintf(cli->err, tr("corehour %s: %s answered %d and not as Corehour does\n"),
                cli->command->name, cli->url, answer->status);
        line_show(cli, tr("next:"),
                  tr("check the address; is there a proxy or another service at it?"));
        return exit;
    }
    if (exit == CLI_QUOTA) {
        quota_show(cli, answer->body);
    } else {
        problem_show(cli, answer, code);
    }
    return exit;
}

/* What to do about a missing answer, by result. */
static const struct silence {
    enum corehour_result result;
    enum cli_exit exit;
    const char *code;
    const char *next;
} silences[] = {
    {COREHOUR_UNREACHABLE, CLI_UNREACHABLE, "unreachable",
     "is corehourd running, and is the address right? (COREHOUR_URL, --url or the config file)"},
    {COREHOUR_NO_ANSWER, CLI_UNREACHABLE, "no_answer",
     "it may or may not have been carried out; the same command with the same --id is safe and tells"},
    {COREHOUR_GARBLED, CLI_OTHER, "garbled",
     "check the address; is there a proxy or another service at it?"},
    {COREHOUR_INVALID, CLI_USAGE, "invalid",
     "check the address and the token (COREHOUR_URL, COREHOUR_TOKEN)"},
    {COREHOUR_RANGE, CLI_USAGE, "range", "check the numbers"},
    {COREHOUR_MEMORY, CLI_OTHER, "memory", "try again with more memory"},
};

enum cli_exit refusal_no_answer(struct cli *cli, const struct corehour_error *error)
{
    const struct silence *silence = &silences[sizeof silences / sizeof silences[0] - 1];
    for (size_t i = 0; i < sizeof silences / sizeof silences[0]; i++) {
        if (silences[i].result == error->result) {
            silence = &silences[i];
        }
    }
    if (cli->json) {
        json_t *body = json_pack("{s:s, s:s}", "code", silence->code, "detail", error->detail);
        json_dumpf(body, cli->out, JSON_COMPACT);
        fputc('\n', cli->out);
        json_decref(body);
        return silence->exit;
    }
    fprintf(cli->err, "corehour: ");
    text_print(cli->err, error->detail);
    fputc('\n', cli->err);
    line_show(cli, tr("next:"), tr(silence->next));
    return silence->exit;
}
