/* What goes on until it ends or somebody ends it: a live view, a cluster's feed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/cli/node.h"
#include "clients/cli/run.h"
#include "clients/cli/show.h"
#include "clients/cli/show_balance.h"
#include "clients/cli/show_hold.h"
#include "clients/cli/text.h"
#include "clients/clock.h"
#include "clients/units.h"

/* What was seen last, so that only changes are printed where the screen cannot be redrawn. */
struct watch {
    struct cli *cli;
    bool redraws; /* out is a terminal */
    char *seen;   /* the last answer's bytes */
    int64_t every_s;
};

/* Whether the answer differs from the last one; keeps it. */
static bool is_new(struct watch *watch, const struct corehour_answer *answer)
{
    if (watch->seen != NULL && strcmp(watch->seen, answer->text) == 0) {
        return false;
    }
    free(watch->seen);
    watch->seen = strdup(answer->text);
    return true;
}

static void screen_clear(const struct watch *watch)
{
    char now[COREHOUR_UNITS_TEXT_BYTES];
    corehour_time_format(client_clock_wall_ms() / 1000, now);
    if (watch->redraws && !watch->cli->json) {
        fputs("\033[H\033[2J", watch->cli->out);
    }
    if (!watch->cli->json) {
        fprintf(watch->cli->out, "%s  ", now);
    }
}

static bool is_over(const json_t *hold)
{
    static const char *const ends[] = {"settled", "released", "expired"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (strcmp(show_text(hold, "state"), ends[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* One look at the hold. ret_over: it has ended. A 404 is CLI_OTHER without a word when `quiet`. */
static enum cli_exit hold_look(struct watch *watch, bool quiet, bool *ret_over)
{
    struct cli *cli = watch->cli;
    char path[COREHOUR_URL_BYTES] = "/v1/holds";
    struct corehour_answer answer;
    if (corehour_url_segment(path, sizeof path, cli->args[0]) != COREHOUR_OK) {
        return request_fail(cli, CLI_USAGE, tr("\"%s\" cannot be the id of a hold"), cli->args[0]);
    }
    enum cli_exit exit = request_call(cli, "GET", path, NULL, &answer);
    if (exit != CLI_DONE) {
        return exit;
    }
    bool silent = quiet && answer.status == 404;
    if (silent) {
        exit = CLI_OTHER;
    } else if (answer.status != 200 || is_new(watch, &answer)) {
        if (answer.status == 200) {
            screen_clear(watch);
        }
        exit = request_report(cli, &answer, watch->redraws ? show_object : show_verb);
    }
    *ret_over = is_over(answer.body);
    fflush(cli->out);
    corehour_answer_fini(&answer);
    return exit;
}

static enum cli_exit node_look(struct watch *watch, bool quiet)
{
    struct cli *cli = watch->cli;
    char path[COREHOUR_URL_BYTES];
    struct corehour_answer answer;
    struct corehour_request request = {.method = "GET"};
    enum cli_exit exit = node_call(cli, cli->args[0], "/balance", &request, path, &answer);
    if (exit != CLI_DONE) {
        return exit;
    }
    if (quiet && answer.status == 404) {
        exit = CLI_OTHER;
    } else if (answer.status != 200 || is_new(watch, &answer)) {
        if (answer.status == 200) {
            screen_clear(watch);
        }
        exit = request_report(cli, &answer, show_balance);
    }
    fflush(cli->out);
    corehour_answer_fini(&answer);
    return exit;
}

/* An end that is only for now: the daemon restarts, the network comes back. */
static bool is_passing(enum cli_exit exit)
{
    return exit == CLI_UNREACHABLE;
}

static enum cli_exit hold_watch(struct watch *watch)
{
    bool over = false;
    enum cli_exit exit = hold_look(watch, false, &over);
    while ((exit == CLI_DONE && !over) || is_passing(exit)) {
        client_clock_sleep_ms(watch->every_s * 1000);
        exit = hold_look(watch, false, &over);
    }
    return exit;
}

static enum cli_exit node_watch(struct watch *watch)
{
    enum cli_exit exit = CLI_DONE;
    while (exit == CLI_DONE || is_passing(exit)) {
        client_clock_sleep_ms(watch->every_s * 1000);
        exit = node_look(watch, false);
    }
    return exit;
}

/* Reads a duration option of at least a second; `otherwise` when it was not given. */
static enum cli_exit seconds_read(struct cli *cli,
                                  const char *option,
                                  int64_t otherwise,
                                  int64_t *ret_seconds)
{
    const char *text = cli_value(cli, option);
    *ret_seconds = otherwise;
    if (text == NULL) {
        return CLI_DONE;
    }
    if (corehour_duration_parse(text, ret_seconds) == COREHOUR_OK && *ret_seconds >= 1) {
        return CLI_DONE;
    }
    return request_fail(cli, CLI_USAGE, tr("--%s \"%s\": give a duration of 1s or more"), option,
                        text);
}

enum cli_exit run_watch(struct cli *cli)
{
    struct watch watch = {.cli = cli, .redraws = isatty(fileno(cli->out)) == 1};
    enum cli_exit exit = seconds_read(cli, "every", 2, &watch.every_s);
    if (exit != CLI_DONE) {
        return exit;
    }
    exit = node_look(&watch, true);
    if (exit == CLI_OTHER) { /* no node of that name: then it is a hold */
        exit = hold_watch(&watch);
    } else if (exit == CLI_DONE && cli_value(cli, "once") == NULL) {
        exit = node_watch(&watch);
    }
    free(watch.seen);
    return exit;
}

/* ---- the feed ---- */

static void feed_show(struct cli *cli, const json_t *body)
{
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(body, "events"), i, event)
    {
        fprintf(cli->out, "%" PRId64 "  %s  ", show_integer(event, "seq", 0),
                tr(show_text(event, "type")));
        text_print(cli->out, show_text(event, "hold"));
        fprintf(cli->out, tr("  tasks %s  "), show_text(event, "tasks"));
        text_print(cli->out, show_text(event, "message"));
        fputc('\n', cli->out);
    }
}

static enum cli_exit feed_poll(struct cli *cli, int64_t wait_s, int64_t *after)
{
    char path[COREHOUR_URL_BYTES];
    char number[32];
    struct corehour_answer answer;
    enum cli_exit exit = request_path_write(cli, cli->command->path, path);
    if (exit != CLI_DONE) {
        return exit;
    }
    snprintf(number, sizeof number, "%" PRId64, *after);
    corehour_url_query(path, sizeof path, "after", number);
    snprintf(number, sizeof number, "%" PRId64, wait_s);
    corehour_url_query(path, sizeof path, "wait_s", number);
    struct corehour_request request = {.method = "GET",
                                       .path = path,
                                       .try_ms = (wait_s + 10) * 1000,
                                       .deadline_ms = (wait_s + 20) * 1000};
    exit = request_send(cli, &request, &answer);
    if (exit != CLI_DONE) {
        return exit;
    }
    *after = show_integer(answer.body, "next_after", *after);
    exit = request_report(cli, &answer, feed_show);
    fflush(cli->out);
    corehour_answer_fini(&answer);
    return exit;
}

enum cli_exit run_feed(struct cli *cli)
{
    int64_t wait_s;
    int64_t after = 0;
    const char *text = cli_value(cli, "after");
    if (text != NULL &&
        (text[strspn(text, "0123456789")] != '\0' || *text == '\0' || strlen(text) > 18)) {
        return request_fail(cli, CLI_USAGE, tr("--after \"%s\": give the number of an event"),
                            text);
    }
    if (text != NULL) {
        after = strtoll(text, NULL, 10);
    }
    enum cli_exit exit = seconds_read(cli, "wait", 30, &wait_s);
    if (exit != CLI_DONE) {
        return exit;
    }
    bool once = cli_value(cli, "once") != NULL;
    do {
        exit = feed_poll(cli, wait_s, &after);
        if (is_passing(exit)) {
            client_clock_sleep_ms(2000);
        }
    } while (!once && (exit == CLI_DONE || is_passing(exit)));
    return exit;
}
