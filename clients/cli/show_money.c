/* Rate cards, grants and what moves them: see show_money.h. */
#include "clients/cli/show_money.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/show.h"
#include "clients/cli/table.h"
#include "clients/cli/text.h"
#include "clients/units.h"

/* "a100 16.000, h100 32.000, other 16.000" */
static char *gpu_prices_create(const json_t *row)
{
    char *text = NULL;
    size_t text_bytes;
    FILE *out = open_memstream(&text, &text_bytes);
    if (out == NULL) {
        return NULL;
    }
    char price[COREHOUR_UNITS_TEXT_BYTES];
    const char *separator = "";
    const char *model;
    json_t *gpu;
    json_object_foreach(json_object_get(row, "gpus"), model, gpu)
    {
        corehour_thousandths_format(show_integer(gpu, "mcores", 0), price);
        fprintf(out, "%s%s %s", separator, model, price);
        separator = ", ";
    }
    if (json_is_integer(json_object_get(row, "gpu_default_mcores"))) {
        corehour_thousandths_format(show_integer(row, "gpu_default_mcores", 0), price);
        fprintf(out, "%s%s %s", separator, tr("any other"), price);
    }
    fclose(out);
    return text;
}

static void rate_row(struct table *table, const json_t *row)
{
    static const char *const selectors[] = {"partition", "qos"};
    static const char *const prices[] = {"permille", "core_mcores", "gib_mcores"};
    for (size_t i = 0; i < 2; i++) {
        const char *selector = show_text(row, selectors[i]);
        table_cell(table, *selector == '\0' ? tr("any") : selector);
    }
    for (size_t i = 0; i < 3; i++) {
        char text[COREHOUR_UNITS_TEXT_BYTES];
        corehour_thousandths_format(show_integer(row, prices[i], i == 0 ? 1000 : 0), text);
        table_cell(table, text);
    }
    char *gpus = gpu_prices_create(row);
    table_cell(table, gpus);
    free(gpus);
}

void show_rates(struct cli *cli, const json_t *rates)
{
    static const struct table_title titles[] = {{"partition", false}, {"qos", false},
                                                {"times", true},      {"per core", true},
                                                {"per GiB", true},    {"per GPU", false}};
    const char *price = show_text(rates, "price_per_core_hour");
    text_print(cli->out, show_text(rates, "cluster"));
    fprintf(cli->out, tr("/%" PRId64 " from %s, %s of cores, memory and GPUs"),
            show_integer(rates, "version", 0), show_text(rates, "effective_from"),
            tr(show_text(rates, "combine")));
    if (*price != '\0') {
        fprintf(cli->out, tr(", %s %s a core-hour"), price, show_text(rates, "currency"));
    }
    fputc('\n', cli->out);
    struct table table;
    size_t i;
    json_t *row;
    table_begin(&table, titles, sizeof titles / sizeof titles[0]);
    json_array_foreach(json_object_get(rates, "rows"), i, row)
    {
        rate_row(&table, row);
    }
    table_print(&table, cli->out, 0);
    table_fini(&table);
}

/* "vision/alice" of the arguments that name what was set. */
static void names_show(struct cli *cli)
{
    size_t names = cli_fields_count(cli->command->args);
    for (size_t i = 0; i < names && i < cli->args_count; i++) {
        fputs(i == 0 ? "" : "/", cli->out);
        text_print(cli->out, cli->args[i]);
    }
}

void show_setting(struct cli *cli, const json_t *setting)
{
    static const char closed[] = "closed";
    const char *done = cli->status == 201 ? tr("made") : tr("changed");
    if (strcmp(show_text(setting, "state"), closed) == 0) {
        done = tr(closed);
    }
    fprintf(cli->out, "%.*s ", (int)strcspn(cli->command->name, " "), cli->command->name);
    names_show(cli);
    fprintf(cli->out, ": %s\n", done);
}

void show_token(struct cli *cli, const json_t *token)
{
    text_print(cli->out, show_text(token, "token"));
    fprintf(cli->out, tr("\nwrite it down, it is not shown again; its id is %s\n"),
            show_text(token, "id"));
}

static void text_show(struct cli *cli, const char *before, const char *text)
{
    if (*text == '\0') {
        return;
    }
    fputs(before, cli->out);
    text_print(cli->out, text);
}

static void id_show(struct cli *cli, const json_t *body, const char *label)
{
    fprintf(cli->out, "; %s ", label);
    text_print(cli->out, show_text(body, "id"));
    fputc('\n', cli->out);
}

void show_grant(struct cli *cli, const json_t *grant)
{
    const char *end = show_text(grant, "end");
    fprintf(cli->out, "%s ", tr("granted"));
    show_amount(cli, show_integer(grant, "granted_mcs", 0));
    fprintf(cli->out, " %s ", tr("to"));
    text_print(cli->out, show_text(grant, "node"));
    fprintf(cli->out, tr(", valid from %s to %s"), show_text(grant, "start"),
            *end == '\0' ? tr("no end") : end);
    id_show(cli, grant, tr("grant"));
}

void show_transfer(struct cli *cli, const json_t *transfer)
{
    fprintf(cli->out, "%s ", tr("transferred"));
    show_amount(cli, show_integer(transfer, "transferred_mcs", 0));
    text_show(cli, tr(" from "), show_text(transfer, "from"));
    text_show(cli, tr(" to "), show_text(transfer, "to"));
    id_show(cli, transfer, tr("transfer"));
}

void show_withdrawal(struct cli *cli, const json_t *withdrawal)
{
    fprintf(cli->out, "%s ", tr("withdrawn"));
    show_amount(cli, show_integer(withdrawal, "withdrawn_mcs", 0));
    text_show(cli, tr(" from "), show_text(withdrawal, "node"));
    id_show(cli, withdrawal, tr("withdrawal"));
}

void show_bulk_refund(struct cli *cli, const json_t *body)
{
    static const char *const columns[] = {"project", "runs", "refunded_mcs", NULL};
    fprintf(cli->out, cli->dry_run ? tr("%ld runs, would return ") : tr("%ld runs, returned "),
            (long)show_integer(body, "matched", 0));
    text_print(cli->out, show_text(body, "refunded_core_hours"));
    fprintf(cli->out, " %s\n", tr("core-hours"));
    fprintf(cli->out, tr("%ld refunds, %ld of them before, %ld with nothing left\n"),
            (long)(show_integer(body, "refunds", 0) + show_integer(body, "replayed", 0)),
            (long)show_integer(body, "replayed", 0), (long)show_integer(body, "nothing_left", 0));
    const json_t *projects = json_object_get(body, "projects");
    if (json_array_size(projects) > 0) {
        show_rows(cli, projects, columns, 0);
    }
}
