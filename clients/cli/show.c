/* Answers for people, by the names of their fields: see show.h. */
#include "clients/cli/show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/table.h"
#include "clients/cli/text.h"
#include "clients/units.h"

#define TITLE_BYTES  64
#define FIGURE_BYTES 40

static void mcs_format(int64_t value, char *ret_text)
{
    corehour_amount_format(value, ret_text);
}

static void plain_format(int64_t value, char *ret_text)
{
    snprintf(ret_text, COREHOUR_UNITS_TEXT_BYTES, "%" PRId64, value);
}

/* Thousandths without zeros at their end: 2000 gives "2", 300 gives "0.3". */
static void share_format(int64_t thousandths, char *ret_text)
{
    corehour_thousandths_format(thousandths, ret_text);
    size_t length = strlen(ret_text);
    while (ret_text[length - 1] == '0') {
        ret_text[--length] = '\0';
    }
    if (ret_text[length - 1] == '.') {
        ret_text[length - 1] = '\0';
    }
}

/* How integers are written, by the end of their field's name or by the unit of a cap. */
static const struct measure {
    const char *suffix;
    const char *unit;
    void (*format)(int64_t value, char *ret_text);
    const char *behind; /* a word behind it, when asked for */
} measures[] = {
    {"_mcs", "mcs", mcs_format, "core-hours"},
    {"mgs", "mgs", mcs_format, NULL}, /* as many to a GPU-hour as mcs to a core-hour */
    {"_mcores", "mcores", corehour_thousandths_format, "cores"},
    {"_mgpus", "mgpus", share_format, "GPUs"},
    {"_mib", "", plain_format, "MiB"},
    {"_s", "s", corehour_duration_format, NULL},
    {"seconds", "", corehour_duration_format, NULL},
};
#define MEASURES (sizeof measures / sizeof measures[0])

/* Ends of names that a title leaves out, beyond the measures'. */
static const char *const title_suffixes[] = {"_core_hours", "_at"};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);
    size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

static const struct measure *measure_find(const char *field)
{
    for (size_t i = 0; i < MEASURES; i++) {
        if (ends_with(field, measures[i].suffix)) {
            return &measures[i];
        }
    }
    return NULL;
}

void show_title(const char *name, char *ret_title)
{
    char title[TITLE_BYTES];
    const char *field = strcmp(name, "mgs") == 0 ? "gpu_hours" : name;
    snprintf(title, sizeof title, "%s", field);
    const struct measure *measure = measure_find(field);
    const char *suffix = measure != NULL && measure->suffix[0] == '_' ? measure->suffix : NULL;
    for (size_t i = 0; i < sizeof title_suffixes / sizeof title_suffixes[0]; i++) {
        if (ends_with(field, title_suffixes[i])) {
            suffix = title_suffixes[i];
        }
    }
    if (suffix != NULL && strlen(field) < sizeof title) {
        title[strlen(title) - strlen(suffix)] = '\0';
    }
    for (char *c = title; *c != '\0'; c++) {
        if (*c == '_') {
            *c = ' ';
        }
    }
    snprintf(ret_title, TITLE_BYTES, "%s", tr(title));
}

/* Reads an integer, also from decimal text (?amounts=string). */
static bool integer_read(const json_t *value, int64_t *ret_value)
{
    if (json_is_integer(value)) {
        *ret_value = json_integer_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    if (text == NULL || *text == '\0') {
        return false;
    }
    char *end;
    long long number = strtoll(text, &end, 10);
    if (*end != '\0') {
        return false;
    }
    *ret_value = number;
    return true;
}

int64_t show_integer(const json_t *object, const char *field, int64_t otherwise)
{
    int64_t value = otherwise;
    return integer_read(json_object_get(object, field), &value) ? value : otherwise;
}

const char *show_text(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));
    return text == NULL ? "" : text;
}

void show_figure(const char *unit, const json_t *value, char *ret_text)
{
    int64_t number;
    if (!integer_read(value, &number)) {
        snprintf(ret_text, FIGURE_BYTES, "%s", json_is_null(value) ? tr("unlimited") : "-");
        return;
    }
    for (size_t i = 0; i < MEASURES; i++) {
        if (strcmp(measures[i].unit, unit) == 0) {
            measures[i].format(number, ret_text);
            return;
        }
    }
    plain_format(number, ret_text);
}

const char *show_unit_word(const char *unit)
{
    static const struct {
        const char *unit;
        const char *word;
    } words[] = {{"mcs", "core-hours"},
                 {"mcores", "cores"},
                 {"mgpus", "GPUs"},
                 {"jobs", "jobs"},
                 {"s", "time"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].unit, unit) == 0) {
            return tr(words[i].word);
        }
    }
    return unit;
}

/* ---- values ---- */

/* "x_core_hours" says again what "x_mcs" says, and "gpu_hours" what "mgs" says. */
static bool is_twin(const json_t *object, const char *field)
{
    char other[TITLE_BYTES];
    static const char suffix[] = "_core_hours";
    if (strcmp(field, "gpu_hours") == 0) {
        return json_object_get(object, "mgs") != NULL;
    }
    if (!ends_with(field, suffix) || strlen(field) >= sizeof other) {
        return false;
    }
    snprintf(other, sizeof other, "%.*s_mcs", (int)(strlen(field) - strlen(suffix)), field);
    return json_object_get(object, other) != NULL;
}

static void value_write(FILE *out, const char *field, const json_t *value, bool unit);

/* "8 cores, 65536 MiB, a100 x1 (30% cores)" */
static void resources_write(FILE *out, const json_t *resources)
{
    const char *separator = "";
    int64_t cores = show_integer(resources, "cores", 0);
    int64_t mib = show_integer(resources, "memory_mib", 0);
    if (cores > 0) {
        fprintf(out, tr("%" PRId64 " cores"), cores);
        separator = ", ";
    }
    if (mib > 0) {
        fprintf(out, "%s%" PRId64 " %s", separator, mib % 1024 == 0 ? mib / 1024 : mib,
                mib % 1024 == 0 ? "GiB" : "MiB");
        separator = ", ";
    }
    size_t i;
    json_t *gpu;
    json_array_foreach(json_object_get(resources, "gpus"), i, gpu)
    {
        const char *model = show_text(gpu, "model");
        fprintf(out, "%s%s x%" PRId64, separator, *model == '\0' ? "GPU" : model,
                show_integer(gpu, "count", 0));
        if (json_object_get(gpu, "cores_percent") != NULL) {
            fprintf(out, tr(" (%" PRId64 "%% of its cores)"),
                    show_integer(gpu, "cores_percent", 0));
        }
        if (json_object_get(gpu, "memory_mib") != NULL) {
            fprintf(out, " (%" PRId64 " MiB)", show_integer(gpu, "memory_mib", 0));
        }
        separator = ", ";
    }
}

/* A limit is written in the unit that stands beside it: a cap in the log of changes. */
static void limit_or_value_write(FILE *out,
                                 const json_t *object,
                                 const char *key,
                                 const json_t *value)
{
    const char *unit = show_text(object, "unit");
    if (*unit == '\0' || strcmp(key, "limit") != 0) {
        value_write(out, key, value, true);
        return;
    }
    char figure[FIGURE_BYTES];
    show_figure(unit, value, figure);
    fprintf(out, "%s %s", figure, show_unit_word(unit));
}

static void object_write(FILE *out, const char *field, const json_t *object)
{
    if (strcmp(field, "resources") == 0 || strcmp(field, "allocated") == 0) {
        resources_write(out, object);
        return;
    }
    const char *separator = "";
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        if (strcmp(key, "unit") == 0 || is_twin(object, key)) {
            continue;
        }
        char title[TITLE_BYTES];
        show_title(key, title);
        fprintf(out, "%s%s ", separator, title);
        limit_or_value_write(out, object, key, value);
        separator = ", ";
    }
}

static void array_write(FILE *out, const char *field, const json_t *array)
{
    size_t i;
    json_t *value;
    if (json_array_size(array) == 0) {
        fputs("-", out);
    }
    json_array_foreach(array, i, value)
    {
        if (i > 0) {
            fputs(strcmp(field, "path") == 0 ? " > " : ", ", out);
        }
        value_write(out, "", value, false);
    }
}

static void value_write(FILE *out, const char *field, const json_t *value, bool unit)
{
    char text[COREHOUR_UNITS_TEXT_BYTES];
    int64_t number;
    const struct measure *measure = measure_find(field);
    if (measure != NULL && integer_read(value, &number)) {
        measure->format(number, text);
        fprintf(out, "%s%s%s", text, unit && measure->behind != NULL ? " " : "",
                unit && measure->behind != NULL ? tr(measure->behind) : "");
        return;
    }
    switch (json_typeof(value)) {
    case JSON_STRING:
        fputs(strcmp(field, "state") == 0 ? tr(json_string_value(value)) : json_string_value(value),
              out);
        break;
    case JSON_INTEGER:
        fprintf(out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        fprintf(out, "%g", json_real_value(value));
        break;
    case JSON_TRUE:
        fputs(tr("yes"), out);
        break;
    case JSON_FALSE:
        fputs(tr("no"), out);
        break;
    case JSON_NULL:
        fputs("-", out);
        break;
    case JSON_OBJECT:
        object_write(out, field, value);
        break;
    case JSON_ARRAY:
        array_write(out, field, value);
        break;
    }
}

char *show_value_create(const char *field, const json_t *value, bool unit)
{
    char *text = NULL;
    size_t text_bytes;
    FILE *out = open_memstream(&text, &text_bytes);
    if (out == NULL) {
        return NULL;
    }
    if (value != NULL) {
        value_write(out, field, value, unit);
    }
    if (fclose(out) == 0) {
        return text;
    }
    free(text);
    return NULL;
}

/* ---- tables and objects ---- */

static bool is_rows(const json_t *value)
{
    return json_is_array(value) && json_is_object(json_array_get(value, 0));
}

static bool is_in_any(const json_t *rows, const char *field)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        json_t *value = json_object_get(row, field);
        if (value != NULL && !json_is_null(value)) {
            return true;
        }
    }
    return false;
}

/* Whether a column holds numbers, by its first value that is there. */
static bool is_number(const json_t *rows, const char *field)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        json_t *value = json_object_get(row, field);
        if (value != NULL && !json_is_null(value)) {
            return json_is_integer(value) || ends_with(field, "_mcs") ||
                   ends_with(field, "_core_hours") || ends_with(field, "_hours") ||
                   strcmp(field, "cost") == 0;
        }
    }
    return false;
}

static void rows_fill(struct table *table,
                      const json_t *rows,
                      const char *const fields[TABLE_COLUMNS_MAX],
                      size_t count)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        for (size_t column = 0; column < count; column++) {
            char *text =
                show_value_create(fields[column], json_object_get(row, fields[column]), false);
            table_cell(table, text);
            free(text);
        }
    }
}

/* Of the wanted columns those that some row has. Returns how many. */
static size_t columns_choose(const json_t *rows,
                             const char *const *columns,
                             const char *ret_fields[TABLE_COLUMNS_MAX])
{
    size_t count = 0;
    for (; columns != NULL && *columns != NULL && count < TABLE_COLUMNS_MAX; columns++) {
        if (is_in_any(rows, *columns)) {
            ret_fields[count++] = *columns;
        }
    }
    return count;
}

/* The fields of the first row that some row has, each amount once. Returns how many. */
static size_t columns_find(const json_t *rows, const char *ret_fields[TABLE_COLUMNS_MAX])
{
    json_t *first = json_array_get(rows, 0);
    size_t count = 0;
    for (void *at = json_object_iter(first); at != NULL; at = json_object_iter_next(first, at)) {
        const char *key = json_object_iter_key(at);
        bool shown = is_in_any(rows, key) && !is_twin(first, key);
        if (shown && count < TABLE_COLUMNS_MAX) {
            ret_fields[count++] = key;
        }
    }
    return count;
}

void show_rows(struct cli *cli, const json_t *rows, const char *const *columns, unsigned indent)
{
    const char *fields[TABLE_COLUMNS_MAX];
    size_t count =
        columns == NULL ? columns_find(rows, fields) : columns_choose(rows, columns, fields);
    struct table table;
    table_init(&table);
    for (size_t i = 0; i < count; i++) {
        char title[TITLE_BYTES];
        show_title(fields[i], title);
        table_column(&table, title, is_number(rows, fields[i]));
    }
    rows_fill(&table, rows, fields, count);
    table_print(&table, cli->out, indent);
    table_fini(&table);
}

/* Lists of which only some columns fit on a screen. */
static const char *const run_columns[] = {
    "task",        "attempt",      "state",       "outcome",    "started_at",  "ended_at",
    "charged_mcs", "refunded_mcs", "overrun_mcs", "waived_mcs", "suspended_s", NULL};
static const struct list_columns {
    const char *field;
    const char *const *columns;
} list_columns[] = {{"runs", run_columns}};

static const char *const *columns_of(const char *field)
{
    for (size_t i = 0; i < sizeof list_columns / sizeof list_columns[0]; i++) {
        if (strcmp(list_columns[i].field, field) == 0) {
            return list_columns[i].columns;
        }
    }
    return NULL;
}

static void lists_show(struct cli *cli, const json_t *body)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)body, key, value)
    {
        if (!is_rows(value) || strcmp(key, "warnings") == 0) {
            continue;
        }
        char title[TITLE_BYTES];
        show_title(key, title);
        fprintf(cli->out, "\n%s:\n", title);
        show_rows(cli, value, columns_of(key), 2);
    }
}

static bool is_nothing(const json_t *value)
{
    return json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

/* An object's fields one a line, titles in a column. */
static void fields_show(struct cli *cli, const json_t *body)
{
    struct table table;
    table_begin_pairs(&table);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)body, key, value)
    {
        if (is_rows(value) || is_twin(body, key) || is_nothing(value)) {
            continue;
        }
        char title[TITLE_BYTES];
        char *text = show_value_create(key, value, true);
        show_title(key, title);
        table_cell(&table, title);
        table_cell(&table, text);
        free(text);
    }
    table_rows_print(&table, cli->out, 0);
    table_fini(&table);
}

void show_object(struct cli *cli, const json_t *body)
{
    fields_show(cli, body);
    lists_show(cli, body);
    show_warnings(cli, body);
}

void show_amount(struct cli *cli, int64_t mcs)
{
    char text[COREHOUR_UNITS_TEXT_BYTES];
    corehour_amount_format(mcs, text);
    fprintf(cli->out, tr("%s core-hours"), text);
}

void show_warnings(struct cli *cli, const json_t *body)
{
    size_t i;
    json_t *warning;
    json_array_foreach(json_object_get(body, "warnings"), i, warning)
    {
        const char *detail = show_text(warning, "detail");
        fprintf(cli->out, "%s ", tr("warning:"));
        text_print(cli->out, show_text(warning, "code"));
        if (*detail != '\0') {
            fputs(": ", cli->out);
            text_print(cli->out, detail);
        }
        fputc('\n', cli->out);
    }
}
