/* From argv to a struct cli: see args.h. */
#include "clients/cli/args.h"

#include <assert.h>
#include <string.h>

#include "clients/cli/commands.h"
#include "clients/cli/fields.h"
#include "clients/cli/text.h"
#include "clients/units.h"

size_t cli_fields_count(const struct cli_field *fields)
{
    size_t count = 0;
    while (fields != NULL && fields[count].name != NULL) {
        count++;
    }
    return count;
}

const struct cli_field *cli_option_at(const struct cli_command *command, size_t n)
{
    for (size_t group = 0; group < CLI_GROUPS_MAX; group++) {
        size_t count = cli_fields_count(command->options[group]);
        if (n < count) {
            return &command->options[group][n];
        }
        n -= count;
    }
    return NULL;
}

/* The option `name` (of `length` characters) of a command and its place in values. */
static const struct cli_field *option_find(const struct cli_command *command,
                                           const char *name,
                                           size_t length,
                                           size_t *ret_index)
{
    const struct cli_field *field;
    for (size_t i = 0; (field = cli_option_at(command, i)) != NULL; i++) {
        if (strlen(field->name) == length && strncmp(field->name, name, length) == 0) {
            *ret_index = i;
            return field;
        }
    }
    return NULL;
}

const char *cli_value(const struct cli *cli, const char *name)
{
    size_t index;
    const struct cli_field *field = option_find(cli->command, name, strlen(name), &index);
    assert(field != NULL && index < CLI_OPTIONS_MAX);
    return cli->values[index];
}

const struct cli_command *args_command_find(const char *first, const char *second)
{
    char name[64];
    snprintf(name, sizeof name, second == NULL ? "%.30s%.0s" : "%.30s %.30s", first,
             second == NULL ? "" : second);
    const struct cli_command *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}

/* One row of the table of edit distances, from the row above: `row` is both. */
static void distance_row(size_t *row, char letter, const char *b)
{
    size_t diagonal = row[0]++;
    for (size_t j = 1; b[j - 1] != '\0'; j++) {
        size_t best = diagonal + (letter != b[j - 1]);
        best = row[j] + 1 < best ? row[j] + 1 : best;
        best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
        diagonal = row[j];
        row[j] = best;
    }
}

/* Letters to change, add or leave out to get from one word to the other; 9 for long words. */
static size_t distance(const char *a, const char *b)
{
    size_t row[32];
    size_t length = strlen(b);
    if (strlen(a) >= 32 || length >= 32) {
        return 9;
    }
    for (size_t j = 0; j <= length; j++) {
        row[j] = j;
    }
    for (; *a != '\0'; a++) {
        distance_row(row, *a, b);
    }
    return row[length];
}

/* Makes *nearest the name when it is nearer than *best. */
static void nearer_take(const char *word, const char *name, const char **nearest, size_t *best)
{
    size_t far = distance(word, name);
    if (far < *best) {
        *best = far;
        *nearest = name;
    }
}

static bool command_unknown(const struct cli *cli, const char *first, const char *second)
{
    const char *nearest = NULL;
    size_t best = 3;
    size_t same = 0;
    fprintf(cli->err, tr("corehour: there is no command \"%s\""), first);
    const struct cli_command *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        const char *name = command->name;
        size_t length = strlen(first);
        if (strncmp(name, first, length) == 0 && name[length] == ' ') {
            fprintf(cli->err, "%s %s", same++ == 0 ? tr(" alone; there are:") : ",", name);
        }
        nearer_take(first, name, &nearest, &best);
    }
    if (same == 0 && nearest != NULL) {
        fprintf(cli->err, tr("; did you mean \"%s\"?"), nearest);
    }
    fprintf(cli->err, "\n");
    if (second == NULL || same == 0) {
        fprintf(cli->err, tr("  all commands: corehour help\n"));
    }
    return false;
}

static bool option_unknown(const struct cli *cli, const char *name)
{
    const char *nearest = NULL;
    size_t best = 3;
    const struct cli_field *field = fields_globals;
    for (; field->name != NULL; field++) {
        nearer_take(name, field->name, &nearest, &best);
    }
    for (size_t i = 0; (field = cli_option_at(cli->command, i)) != NULL; i++) {
        nearer_take(name, field->name, &nearest, &best);
    }
    fprintf(cli->err, tr("corehour %s: there is no option --%s"), cli->command->name, name);
    if (nearest != NULL) {
        fprintf(cli->err, tr("; did you mean --%s?"), nearest);
    }
    fprintf(cli->err, tr("\n  its options: corehour help %s\n"), cli->command->name);
    return false;
}

/* Sets a global. Returns false after a message. */
static bool global_set(struct cli *cli, const char *name, const char *value)
{
    int64_t seconds;
    if (strcmp(name, "json") == 0) {
        cli->json = true;
    } else if (strcmp(name, "dry-run") == 0) {
        cli->dry_run = true;
    } else if (strcmp(name, "trace") == 0) {
        cli->trace = true;
    } else if (strcmp(name, "help") == 0) {
        cli->help = true;
    } else if (strcmp(name, "body") == 0) {
        cli->body_file = value;
    } else if (strcmp(name, "url") == 0) {
        cli->url = value;
    }
    if (strcmp(name, "deadline") != 0) {
        return true;
    }
    if (corehour_duration_parse(value, &seconds) != COREHOUR_OK || seconds < 1 || seconds > 3600) {
        fprintf(cli->err, tr("corehour: --deadline %s: give 1s to 1h\n"), value);
        return false;
    }
    cli->deadline_ms = seconds * 1000;
    return true;
}

static const struct cli_field *global_find(const char *name, size_t length)
{
    for (const struct cli_field *field = fields_globals; field->name != NULL; field++) {
        if (strlen(field->name) == length && strncmp(field->name, name, length) == 0) {
            return field;
        }
    }
    return NULL;
}

/* Where the parser stands. */
struct cursor {
    int argc;
    char **argv;
    int at;
};

/* Takes one "--name", "--name value" or "--name=value". */
static bool option_take(struct cli *cli, struct cursor *cursor)
{
    const char *name = cursor->argv[cursor->at] + 2;
    size_t length = strcspn(name, "=");
    size_t index = 0;
    const struct cli_field *global = global_find(name, length);
    const struct cli_field *field = global;
    if (field == NULL && cli->command != NULL) {
        field = option_find(cli->command, name, length, &index);
    }
    if (field == NULL && cli->command != NULL) {
        return option_unknown(cli, name);
    }
    if (field == NULL) {
        fprintf(cli->err, tr("corehour: --%s stands before any command; put it behind\n"), name);
        return false;
    }
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    if (field->kind == CLI_FLAG && value != NULL) {
        fprintf(cli->err, tr("corehour: --%s takes no value\n"), field->name);
        return false;
    }
    if (field->kind == CLI_FLAG) {
        value = "";
    } else if (value == NULL && cursor->at + 1 < cursor->argc) {
        value = cursor->argv[++cursor->at];
    }
    if (value == NULL) {
        fprintf(cli->err, tr("corehour: --%s needs a value\n"), field->name);
        return false;
    }
    if (global != NULL) {
        return global_set(cli, global->name, value);
    }
    cli->values[index] = value;
    return true;
}

static bool word_take(struct cli *cli, struct cursor *cursor)
{
    const char *word = cursor->argv[cursor->at];
    if (cli->command != NULL) {
        size_t most =
            cli->command->args_repeat ? CLI_ARGS_MAX : cli_fields_count(cli->command->args);
        if (cli->args_count == most) {
            fprintf(cli->err, tr("corehour %s: \"%s\" is one argument too many\n"),
                    cli->command->name, word);
            fprintf(cli->err, tr("  how to call it: corehour help %s\n"), cli->command->name);
            return false;
        }
        cli->args[cli->args_count++] = word;
        return true;
    }
    const char *next = cursor->at + 1 < cursor->argc ? cursor->argv[cursor->at + 1] : NULL;
    if (next != NULL && *next != '-') {
        cli->command = args_command_find(word, next);
    }
    if (cli->command != NULL) {
        cursor->at++;
        return true;
    }
    cli->command = args_command_find(word, NULL);
    return cli->command != NULL || command_unknown(cli, word, next);
}

void args_early_scan(int argc, char **argv, struct args_early *ret_early)
{
    *ret_early = (struct args_early){0};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--lang") == 0 && i + 1 < argc) {
            ret_early->language = argv[i + 1];
        } else if (strncmp(argv[i], "--lang=", 7) == 0) {
            ret_early->language = argv[i] + 7;
        } else if (strcmp(argv[i], "--version") == 0) {
            ret_early->version = true;
        }
    }
}

static bool args_complete(const struct cli *cli)
{
    if (cli->command == NULL || cli->help || cli->args_count >= cli->command->args_min) {
        return true;
    }
    fprintf(cli->err, tr("corehour %s: %s is missing\n"), cli->command->name,
            cli->command->args[cli->args_count].name);
    fprintf(cli->err, tr("  how to call it: corehour help %s\n"), cli->command->name);
    return false;
}

/* Whether a word that looks like an option is an argument: what is no global, for commands that take another program's. */
static bool is_raw(const struct cli *cli, const char *word)
{
    if (cli->command == NULL || !cli->command->args_raw || strcmp(word, "--") == 0) {
        return false;
    }
    return word[1] != '-' || global_find(word + 2, strcspn(word + 2, "=")) == NULL;
}

bool args_parse(int argc, char **argv, struct cli *cli)
{
    struct cursor cursor = {.argc = argc, .argv = argv, .at = 1};
    bool only_words = false;
    for (; cursor.at < argc; cursor.at++) {
        const char *word = argv[cursor.at];
        bool ok = true;
        if (only_words || strcmp(word, "-") == 0 || *word != '-' || is_raw(cli, word)) {
            ok = word_take(cli, &cursor);
        } else if (strcmp(word, "--") == 0) {
            only_words = true;
        } else if (strcmp(word, "-h") == 0) {
            cli->help = true;
        } else if (word[1] == '-') {
            ok = option_take(cli, &cursor);
        } else {
            fprintf(cli->err,
                    tr("corehour: %s: options begin with two dashes; behind -- all are words\n"),
                    word);
            ok = false;
        }
        if (!ok) {
            return false;
        }
    }
    return args_complete(cli);
}
