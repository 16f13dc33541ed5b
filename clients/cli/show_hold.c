/* Holds and what was done to them: see show_hold.h. */
#include "clients/cli/show_hold.h"

#include <inttypes.h>
#include <string.h>

#include "clients/cli/refusal.h"
#include "clients/cli/show.h"
#include "clients/cli/text.h"
#include "clients/units.h"

void show_formula(FILE *out, const json_t *body)
{
    char cores[COREHOUR_UNITS_TEXT_BYTES];
    char minutes[COREHOUR_UNITS_TEXT_BYTES];
    int64_t tasks = show_integer(body, "tasks", 1);
    corehour_thousandths_format(show_integer(body, "rate_mcores", 0), cores);
    corehour_minutes_format(show_integer(body, "seconds", 0), minutes);
    fputc('(', out);
    if (tasks > 1) {
        fprintf(out, tr("%" PRId64 " tasks x "), tasks);
    }
    fprintf(out, tr("%s cores x %s min"), cores, minutes);
    fputc(')', out);
}

/* Prints ", LABEL 1.33 core-hours" when the amount is not 0. */
static void part_show(struct cli *cli, const json_t *body, const char *field, const char *label)
{
    int64_t mcs = show_integer(body, field, 0);
    if (mcs == 0) {
        return;
    }
    fprintf(cli->out, ", %s ", label);
    show_amount(cli, mcs);
}

static void hold_name_show(struct cli *cli, const json_t *hold)
{
    fprintf(cli->out, " %s ", tr("hold"));
    text_print(cli->out, show_text(hold, "id"));
}

/* One part of what stands in brackets behind a hold; the label is left out when it is the state. */
static size_t state_part_show(struct cli *cli, const json_t *hold, const char *label, size_t before)
{
    char field[32];
    snprintf(field, sizeof field, "%s_mcs", label);
    int64_t mcs = show_integer(hold, field, 0);
    if (mcs == 0) {
        return before;
    }
    fputs(before == 0 ? " (" : ", ", cli->out);
    if (strcmp(label, show_text(hold, "state")) != 0) {
        fprintf(cli->out, "%s ", tr(label));
    }
    show_amount(cli, mcs);
    return before + 1;
}

/* "hold ID is running (frozen 1.33 core-hours, used 0.27 core-hours)" */
static void state_show(struct cli *cli, const json_t *hold)
{
    static const char *const labels[] = {"frozen", "waiting", "used"};
    size_t parts = 0;
    fprintf(cli->out, "%s ", tr("hold"));
    text_print(cli->out, show_text(hold, "id"));
    fprintf(cli->out, tr(" is %s"), tr(show_text(hold, "state")));
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        parts = state_part_show(cli, hold, labels[i], parts);
    }
    fputs(parts > 0 ? ")\n" : "\n", cli->out);
}

void show_freeze(struct cli *cli, const json_t *hold)
{
    const char *state = show_text(hold, "state");
    bool waits = strcmp(state, "waiting") == 0;
    if (!waits && strcmp(state, "frozen") != 0) { /* a freeze said again, after the job went on */
        state_show(cli, hold);
        show_warnings(cli, hold);
        return;
    }
    int64_t mcs = show_integer(hold, waits ? "waiting_mcs" : "frozen_mcs", 0);
    fprintf(cli->out, "%s ", waits ? tr("waiting for") : tr("frozen"));
    show_amount(cli, mcs);
    fputc(' ', cli->out);
    show_formula(cli->out, hold);
    hold_name_show(cli, hold);
    fputc('\n', cli->out);
    show_warnings(cli, hold);
}

void show_verb(struct cli *cli, const json_t *hold)
{
    state_show(cli, hold);
    show_warnings(cli, hold);
}

void show_settle(struct cli *cli, const json_t *hold)
{
    fprintf(cli->out, "%s ", tr("charged"));
    show_amount(cli, show_integer(hold, "charged_mcs", 0));
    fprintf(cli->out, ", %s ", tr("returned"));
    show_amount(cli, show_integer(hold, "refunded_mcs", 0));
    part_show(cli, hold, "overrun_mcs", tr("more than frozen by"));
    part_show(cli, hold, "waived_mcs", tr("waived"));
    part_show(cli, hold, "expired_mcs", tr("of it expired"));
    fputs("; ", cli->out);
    state_show(cli, hold);
    show_warnings(cli, hold);
}

void show_release(struct cli *cli, const json_t *hold)
{
    const char *left = show_text(hold, "left_tasks");
    fprintf(cli->out, "%s ", tr("returned"));
    show_amount(cli, show_integer(hold, "refunded_mcs", 0));
    part_show(cli, hold, "expired_mcs", tr("of it expired"));
    fputs("; ", cli->out);
    state_show(cli, hold);
    if (*left != '\0') {
        fprintf(cli->out, "%s ", tr("left, for they had started: tasks"));
        text_print(cli->out, left);
        fputc('\n', cli->out);
    }
    show_warnings(cli, hold);
}

void show_refund(struct cli *cli, const json_t *refund)
{
    fprintf(cli->out, "%s ", tr("refunded"));
    show_amount(cli, show_integer(refund, "refunded_mcs", 0));
    part_show(cli, refund, "charged_mcs", tr("of a charge of"));
    part_show(cli, refund, "net_mcs", tr("which leaves"));
    part_show(cli, refund, "expired_mcs", tr("of it expired"));
    fprintf(cli->out, "; %s ", tr("refund"));
    text_print(cli->out, show_text(refund, "id"));
    fputc('\n', cli->out);
    show_warnings(cli, refund);
}

void show_quote(struct cli *cli, const json_t *quote)
{
    bool passes = json_is_true(json_object_get(quote, "would_pass"));
    const char *cost = show_text(quote, "cost");
    show_amount(cli, show_integer(quote, "requested_mcs", 0));
    fputc(' ', cli->out);
    show_formula(cli->out, quote);
    if (*cost != '\0') {
        fprintf(cli->out, ", %s %s %s", tr("cost"), cost, show_text(quote, "currency"));
    }
    fprintf(cli->out, ", %s ", tr("rates"));
    text_print(cli->out, show_text(quote, "rate_card"));
    fprintf(cli->out, ": %s\n", passes ? tr("it would pass") : tr("it would be refused"));
    refusal_limits_show(cli->out, quote, cli->now_s);
    show_warnings(cli, quote);
}
