/* Months that are closed, or would be: see show_period.h. */
#include "clients/cli/show_period.h"

#include <inttypes.h>
#include <stdlib.h>

#include "clients/cli/show.h"
#include "clients/cli/table.h"
#include "clients/cli/text.h"
#include "clients/units.h"

/* What is counted as open; amounts stand behind their count. */
static const struct open_line {
    const char *field;
    const char *amount;
    const char *text;
    const char *next;
} open_lines[] = {
    {"runs", NULL, "runs that began before its end and go on", NULL},
    {"stale_runs", NULL, "of them not heard of lately", "corehour holds --stale --all"},
    {"unbound_holds", NULL, "holds that no job has claimed", "corehour holds --state frozen"},
    {"unattributed_charges", "unattributed_mcs", "charges that no project has",
     "corehour unattributed list CLUSTER"},
};
#define OPEN_LINES (sizeof open_lines / sizeof open_lines[0])

static void open_line_show(struct table *table, const json_t *open, const struct open_line *line)
{
    char figure[COREHOUR_UNITS_TEXT_BYTES];
    int64_t count = show_integer(open, line->field, 0);
    bool is_amount = line->amount != NULL && count > 0;
    snprintf(figure, sizeof figure, "%" PRId64, count);
    table_cell(table, figure);
    table_cell(table, tr(line->text));
    char *amount = is_amount
                       ? show_value_create(line->amount, json_object_get(open, line->amount), true)
                       : NULL;
    table_cell(table, amount);
    free(amount);
    table_cell(table, count > 0 && line->next != NULL ? line->next : "");
}

static void open_show(struct cli *cli, const json_t *open)
{
    static const char *const columns[] = {"hold",       "project",   "user",  "task", "attempt",
                                          "started_at", "last_seen", "stale", NULL};
    struct table table;
    table_init(&table);
    table_column(&table, "", true);
    table_column(&table, "", false);
    table_column(&table, "", true);
    table_column(&table, "", false);
    for (size_t i = 0; i < OPEN_LINES; i++) {
        open_line_show(&table, open, &open_lines[i]);
    }
    fprintf(cli->out, "\n%s:\n", tr("still open"));
    table_rows_print(&table, cli->out, 2);
    table_fini(&table);
    const json_t *examples = json_object_get(open, "examples");
    if (json_array_size(examples) > 0) {
        fputc('\n', cli->out);
        show_rows(cli, examples, columns, 2);
    }
}

static void line_show(struct cli *cli, struct table *table, const json_t *period, const char *field)
{
    const json_t *value = json_object_get(period, field);
    if (value == NULL || json_is_null(value) || (cli->dry_run && *field == 'c')) {
        return; /* a preview is not closed at any time */
    }
    char title[64];
    char *text = show_value_create(field, value, true);
    show_title(field, title);
    table_cell(table, title);
    table_cell(table, text);
    free(text);
}

void show_period(struct cli *cli, const json_t *period)
{
    static const char *const fields[] = {"used_mcs",  "waived_mcs",  "mgs",    "runs", "rows",
                                         "closed_at", "closed_with", "digest", NULL};
    const json_t *open = json_object_get(period, "still_open");
    struct table table;
    table_init(&table);
    table_column(&table, "", false);
    table_column(&table, "", false);
    text_print(cli->out, show_text(period, "root"));
    fprintf(cli->out, ", %s%s\n", show_text(period, "month"), open == NULL ? tr(" (closed)") : "");
    for (size_t i = 0; fields[i] != NULL; i++) {
        line_show(cli, &table, period, fields[i]);
    }
    table_rows_print(&table, cli->out, 0);
    table_fini(&table);
    if (open != NULL) {
        open_show(cli, open);
    }
}
