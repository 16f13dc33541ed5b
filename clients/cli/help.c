/* The help, made from the table of commands: see help.h. */
#include "clients/cli/help.h"

#include <string.h>

#include "clients/cli/args.h"
#include "clients/cli/commands.h"
#include "clients/cli/fields.h"
#include "clients/cli/kinds.h"
#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/table.h"
#include "clients/cli/text.h"

static const size_t text_columns = 80;

static void usage_write(FILE *out, const struct cli_command *command)
{
    fputs(command->name, out);
    size_t count = cli_fields_count(command->args);
    for (size_t i = 0; i < count; i++) {
        bool optional = i >= command->args_min;
        const char *more = command->args_repeat && i + 1 == count ? "..." : "";
        fprintf(out, optional ? " [%s]%s" : " %s%s", command->args[i].name, more);
    }
}

/* Prints prose in lines of at most text_columns. */
static void prose_print(FILE *out, const char *prose)
{
    size_t column = 0;
    while (*prose != '\0') {
        size_t length = strcspn(prose, " ");
        if (column > 0 && column + 1 + length > text_columns) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%.*s", column == 0 ? "" : " ", (int)length, prose);
        column += length + (column == 0 ? 0 : 1);
        prose += length + (prose[length] == ' ');
    }
    fputc('\n', out);
}

static void lines_print(FILE *out, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        fprintf(out, "  %.*s\n", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static void options_add(struct table *table, const struct cli_field *field)
{
    for (; field != NULL && field->name != NULL; field++) {
        char name[96];
        const char *metavar = field->metavar != NULL ? field->metavar : kind_metavar(field->kind);
        snprintf(name, sizeof name, "--%s%s%s", field->name, metavar == NULL ? "" : " ",
                 metavar == NULL ? "" : metavar);
        table_cell(table, name);
        table_cell(table, tr(field->help));
    }
}

/* Says what a field's kind looks like, once for each kind that needs words. */
static void kind_print(FILE *out, const struct cli_field *field, bool seen[CLI_KINDS])
{
    if (!seen[field->kind]) {
        fprintf(out, "  %s: %s\n", kind_metavar(field->kind), tr(kind_expects(field->kind)));
    }
    seen[field->kind] = true;
}

static void kinds_print(FILE *out, const struct cli_command *command)
{
    bool seen[CLI_KINDS] = {[CLI_TEXT] = true,
                            [CLI_FLAG] = true,
                            [CLI_YES_NO] = true,
                            [CLI_COUNT] = true,
                            [CLI_LIST] = true};
    const struct cli_field *field = command->args;
    for (; field != NULL && field->name != NULL; field++) {
        kind_print(out, field, seen);
    }
    for (size_t i = 0; (field = cli_option_at(command, i)) != NULL; i++) {
        kind_print(out, field, seen);
    }
}

void help_command(FILE *out, const struct cli_command *command)
{
    fprintf(out, "corehour %s: %s\n\n", command->name, tr(command->summary));
    fprintf(out, "%s corehour ", tr("usage:"));
    usage_write(out, command);
    fprintf(out, command->options[0] == NULL ? "\n" : " [--OPTIONS]\n");
    if (command->help != NULL) {
        fputc('\n', out);
        prose_print(out, tr(command->help));
    }
    struct table table;
    table_begin_pairs(&table);
    for (size_t i = 0; i < CLI_GROUPS_MAX; i++) {
        options_add(&table, command->options[i]);
    }
    if (command->options[0] != NULL) {
        fprintf(out, "\n%s\n", tr("options:"));
    }
    table_rows_print(&table, out, 2);
    table_fini(&table);
    kinds_print(out, command);
    fprintf(out, "\n%s\n", tr("example:"));
    lines_print(out, command->example);
    fprintf(out, "\n%s\n", tr("Options of every command: corehour help"));
}

static void area_print(FILE *out, const struct command_area *area)
{
    struct table table;
    table_begin_pairs(&table);
    for (const struct cli_command *command = area->commands; command->name != NULL; command++) {
        char usage[128] = "";
        FILE *text = fmemopen(usage, sizeof usage, "w");
        if (text != NULL) {
            usage_write(text, command);
            fclose(text);
        }
        table_cell(&table, usage);
        table_cell(&table, tr(command->summary));
    }
    fprintf(out, "\n%s\n", tr(area->title));
    table_rows_print(&table, out, 2);
    table_fini(&table);
}

void help_all(FILE *out)
{
    fprintf(out, "%s corehour COMMAND [ARGUMENTS] [--OPTIONS]\n", tr("usage:"));
    fprintf(out, "%s\n",
            tr("The daemon's address and the token: COREHOUR_URL and COREHOUR_TOKEN, or "
               "~/.config/corehour/config."));
    for (const struct command_area *area = command_areas; area->title != NULL; area++) {
        area_print(out, area);
    }
    struct table table;
    table_begin_pairs(&table);
    options_add(&table, fields_globals);
    fprintf(out, "\n%s\n", tr("options of every command"));
    table_rows_print(&table, out, 2);
    table_fini(&table);
    fprintf(
        out, "\n%s\n",
        tr("Exit codes: 0 done, 1 refused for quota, 2 usage, 3 not reachable, 4 not allowed, 5 other."));
    fprintf(out, "%s\n", tr("One command with its options and an example: corehour help COMMAND"));
}

/* " --name", and "=a|b" behind it when those are its only values. */
static void option_print(FILE *out, const struct cli_field *field)
{
    bool choice = field->metavar != NULL && strchr(field->metavar, '|') != NULL;
    fprintf(out, " --%s%s%s", field->name, choice ? "=" : "", choice ? field->metavar : "");
}

void help_list(FILE *out)
{
    const struct cli_command *command;
    const struct cli_field *field;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        fprintf(out, "%s\t", command->name);
        for (size_t n = 0; (field = cli_option_at(command, n)) != NULL; n++) {
            option_print(out, field);
        }
        fputc('\n', out);
    }
    fputc('\t', out);
    for (field = fields_globals; field->name != NULL; field++) {
        option_print(out, field);
    }
    fputc('\n', out);
}

/* Prints every command whose first word is that one. False when there is none. */
static bool help_family(FILE *out, const char *first)
{
    size_t length = strlen(first);
    bool any = false;
    const struct cli_command *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (strncmp(command->name, first, length) != 0 || command->name[length] != ' ') {
            continue;
        }
        fprintf(out, "corehour ");
        usage_write(out, command);
        fprintf(out, "\n    %s\n", tr(command->summary));
        any = true;
    }
    return any;
}

enum cli_exit run_help(struct cli *cli)
{
    if (cli_value(cli, "list") != NULL) {
        help_list(cli->out);
        return CLI_DONE;
    }
    if (cli->args_count == 0) {
        help_all(cli->out);
        return CLI_DONE;
    }
    const char *second = cli->args_count > 1 ? cli->args[1] : NULL;
    const struct cli_command *command = args_command_find(cli->args[0], second);
    if (command != NULL) {
        help_command(cli->out, command);
        return CLI_DONE;
    }
    if (second == NULL && help_family(cli->out, cli->args[0])) {
        return CLI_DONE;
    }
    return request_fail(cli, CLI_USAGE,
                        tr("there is no command \"%s%s%s\"; all of them: corehour help"),
                        cli->args[0], second == NULL ? "" : " ", second == NULL ? "" : second);
}
