/* Balances and caps: see show_balance.h. */
#include "clients/cli/show_balance.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/show.h"
#include "clients/cli/table.h"
#include "clients/cli/text.h"

#define FIGURE_BYTES 40

/* part of whole, in cells, rounded down, but a cell for anything that is there; no overflow near 2^63 */
static int cells_of(int64_t part, int64_t whole)
{
    if (part <= 0) {
        return 0;
    }
    if (part >= whole) {
        return SHOW_BAR_CELLS;
    }
    int64_t step = whole / SHOW_BAR_CELLS;
    int64_t cells = step == 0 ? part * SHOW_BAR_CELLS / whole : part / step;
    if (cells >= SHOW_BAR_CELLS) {
        cells = SHOW_BAR_CELLS - 1;
    }
    return cells == 0 ? 1 : (int)cells;
}

static int64_t percent_of(int64_t part, int64_t whole)
{
    if (part <= 0 || whole <= 0) {
        return part > 0 ? 100 : 0;
    }
    return part > INT64_MAX / 100 ? part / (whole / 100 == 0 ? 1 : whole / 100)
                                  : part * 100 / whole;
}

void show_bar(int64_t used, int64_t frozen, int64_t limit, bool ascii, char *ret_text)
{
    ret_text[0] = '\0';
    if (limit < 0) {
        return;
    }
    int64_t committed = used > INT64_MAX - frozen ? INT64_MAX : used + frozen;
    int used_cells = limit == 0 ? 0 : cells_of(used, limit);
    int all_cells = limit == 0 ? SHOW_BAR_CELLS : cells_of(committed, limit);
    const char *marks[3] = {ascii ? "#" : "█", ascii ? "=" : "▒", ascii ? "." : "·"};
    size_t at = 1;
    ret_text[0] = '[';
    for (int i = 0; i < SHOW_BAR_CELLS; i++) {
        const char *mark = i < used_cells ? marks[0] : i < all_cells ? marks[1] : marks[2];
        size_t length = strlen(mark);
        memcpy(ret_text + at, mark, length);
        at += length;
    }
    snprintf(ret_text + at, SHOW_BAR_BYTES - at, "] %3" PRId64 "%%",
             limit == 0 ? 100 : percent_of(committed, limit) % 10000000);
}

/* "vision/alice" of a member when the answer says both, else the node. */
static void place_write(const json_t *cap, char *ret_text, size_t size_bytes)
{
    const char *user = show_text(cap, "user");
    const char *project = show_text(cap, "project");
    if (*user != '\0' && *project != '\0') {
        snprintf(ret_text, size_bytes, "%s/%s", project, user);
    } else {
        snprintf(ret_text, size_bytes, "%s", show_text(cap, "node"));
    }
}

static const char *cap_remark(const json_t *cap)
{
    if (json_is_true(json_object_get(cap, "over_cap"))) {
        return tr("OVER CAP");
    }
    return json_is_true(json_object_get(cap, "soft")) ? tr("soft") : "";
}

static void cap_row(struct table *table, const json_t *cap, bool ascii)
{
    static const char *const figures[] = {"used", "frozen", "available", "limit"};
    char text[512];
    const char *unit = show_text(cap, "unit");
    place_write(cap, text, sizeof text);
    table_cell(table, text);
    table_cell(table, tr(show_text(cap, "cap")));
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        char figure[FIGURE_BYTES];
        show_figure(unit, json_object_get(cap, figures[i]), figure);
        table_cell(table, figure);
    }
    char bar[SHOW_BAR_BYTES];
    show_bar(show_integer(cap, "used", 0), show_integer(cap, "frozen", 0),
             show_integer(cap, "limit", -1), ascii, bar);
    table_cell(table, json_is_integer(json_object_get(cap, "used")) ? bar : "");
    table_cell(table, show_text(cap, "resets_at"));
    table_cell(table, cap_remark(cap));
}

void show_caps(struct cli *cli, const json_t *balance)
{
    static const struct table_title titles[] = {
        {"node", false}, {"cap", false}, {"used", true},    {"frozen", true}, {"available", true},
        {"limit", true}, {"", false},    {"resets", false}, {"", false}};
    const json_t *caps = json_object_get(balance, "caps");
    if (json_array_size(caps) == 0) {
        fprintf(cli->out, "%s\n", tr("no caps on its path"));
        return;
    }
    struct table table;
    size_t i;
    json_t *cap;
    table_begin(&table, titles, sizeof titles / sizeof titles[0]);
    json_array_foreach(caps, i, cap)
    {
        cap_row(&table, cap, cli->ascii);
    }
    table_print(&table, cli->out, 0);
    table_fini(&table);
}

static void head_show(struct cli *cli, const json_t *balance)
{
    char place[512];
    place_write(balance, place, sizeof place);
    char *path = show_value_create("path", json_object_get(balance, "path"), false);
    text_print(cli->out, place);
    fprintf(cli->out, "  %s  ", tr(show_text(balance, "kind")));
    text_print(cli->out, path == NULL ? "" : path);
    fprintf(cli->out, "  %s ", tr("paid by"));
    text_print(cli->out, show_text(balance, "funding_node"));
    if (json_is_true(json_object_get(balance, "overdrawn"))) {
        fprintf(cli->out, "  %s", tr("OVERDRAWN"));
    }
    fputs("\n\n", cli->out);
    free(path);
}

void show_balance(struct cli *cli, const json_t *balance)
{
    static const char *const fields[] = {"granted_mcs", "used_mcs", "frozen_mcs", "waiting_mcs",
                                         "available_mcs"};
    struct table table;
    head_show(cli, balance);
    table_init(&table);
    table_column(&table, "", false);
    table_column(&table, "", true);
    table_column(&table, "", false);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        char title[64];
        char figure[FIGURE_BYTES];
        const json_t *value = json_object_get(balance, fields[i]);
        show_title(fields[i], title);
        show_figure("mcs", value, figure);
        table_cell(&table, title);
        table_cell(&table, figure);
        table_cell(&table, json_is_null(value) ? "" : tr("core-hours"));
    }
    table_rows_print(&table, cli->out, 0);
    table_fini(&table);
    fputc('\n', cli->out);
    show_caps(cli, balance);
}

void show_cap(struct cli *cli, const json_t *cap)
{
    char figure[FIGURE_BYTES];
    const char *unit = show_text(cap, "unit");
    show_figure(unit, json_object_get(cap, "limit"), figure);
    text_print(cli->out,
               cli->args[0]); /* the node as it was written, the member's project included */
    fprintf(cli->out, "  %s  %s %s", tr(show_text(cap, "cap")), figure, show_unit_word(unit));
    fprintf(cli->out, "%s%s\n", *cap_remark(cap) == '\0' ? "" : "  ", cap_remark(cap));
    const json_t *started = json_object_get(cap, "started");
    if (json_is_integer(json_object_get(cap, "used"))) {
        char bar[SHOW_BAR_BYTES];
        show_bar(show_integer(cap, "used", 0), show_integer(cap, "frozen", 0),
                 show_integer(cap, "limit", -1), cli->ascii, bar);
        fprintf(cli->out, "%s\n", bar);
    }
    if (show_integer(started, "holds", 0) > 0) {
        fprintf(cli->out,
                cli->dry_run ? tr("%ld waiting holds would start\n")
                             : tr("%ld waiting holds start\n"),
                (long)show_integer(started, "holds", 0));
    }
}
