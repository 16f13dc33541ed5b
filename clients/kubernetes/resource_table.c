/* The table of accelerator names: see resource_table.h. Files are read line by line into one array of families and one of
 * rules; looking up is a walk, which for some 50 families costs less than the JSON it stands beside. */
#include "clients/kubernetes/resource_table.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/kubernetes/resources.h"

enum { LINE_BYTES = 512 };

struct rule {
    char pattern[RESOURCE_MODEL_BYTES];
    char model[RESOURCE_MODEL_BYTES];
};

/* Where a family was read, for files that add to it. */
struct origin {
    size_t last_file;     /* the last that had a section of it */
    uint32_t keys;        /* a bit for each key that is set */
    uint32_t keys_before; /* as it was when that section began */
};

struct resource_table {
    size_t family_count;
    size_t rule_count;
    struct resource_family families[RESOURCE_FAMILIES_MAX];
    struct origin origins[RESOURCE_FAMILIES_MAX]; /* of the families */
    struct rule rules[RESOURCE_RULES_MAX];
};

/* Where the reader is, and what it found wrong. */
struct reader {
    struct resource_table *table;
    const char *path;
    unsigned line;
    size_t file; /* from 1 */
    bool in_models;
    struct resource_family *family; /* the section's, NULL before the first */
    struct origin *origin;          /* the family's */
    char *problem;
    size_t problem_bytes;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct reader *reader,
                                                         const char *format,
                                                         ...)
{
    char what[RESOURCE_PROBLEM_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(reader->problem, reader->problem_bytes, "%.200s:%u: %.250s", reader->path,
             reader->line, what);
    return false;
}

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c - 'A' + 'a');
    }
    return c;
}

/* ---- values */

static bool is_name(const char *text, size_t bytes)
{
    if (bytes == 0 || bytes >= RESOURCE_NAME_BYTES) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        if (!isalnum((unsigned char)text[i]) && strchr("-._/*", text[i]) == NULL) {
            return false;
        }
    }
    return true;
}

static bool name_set(struct reader *reader, const char *value, void *place)
{
    const size_t bytes = strlen(value);
    if (!is_name(value, bytes) || strchr(value, '*') != NULL) {
        return refuse(reader, "\"%.80s\" is not a name", value);
    }
    memcpy(place, value, bytes + 1);
    return true;
}

/* Also with '*'. */
static bool model_set(struct reader *reader, const char *value, void *place)
{
    const size_t bytes = strlen(value);
    if (!is_name(value, bytes)) {
        return refuse(reader, "\"%.80s\" is not a model", value);
    }
    for (size_t i = 0; i <= bytes; i++) {
        ((char *)place)[i] = lower(value[i]);
    }
    return true;
}

/* "A" or "A/B"; what stands behind it is left in @text. */
static bool unit_read(const char **text, struct resource_unit *ret_unit)
{
    struct resource_unit unit = {.divisor = 1};
    char *end;
    errno = 0;
    unit.multiplier = isdigit((unsigned char)**text) ? strtoll(*text, &end, 10) : 0;
    if (unit.multiplier < 1) {
        return false;
    }
    if (*end == '/') {
        const char *below = end + 1;
        unit.divisor = isdigit((unsigned char)*below) ? strtoll(below, &end, 10) : 0;
    }
    if (errno != 0 || unit.divisor < 1 || unit.multiplier > RESOURCE_FACTOR_MAX ||
        unit.divisor > RESOURCE_FACTOR_MAX) {
        return false;
    }
    *text = end;
    *ret_unit = unit;
    return true;
}

static bool unit_set(struct reader *reader, const char *value, void *place)
{
    const char *end = value;
    if (!unit_read(&end, place) || *end != '\0') {
        return refuse(reader, "\"%.80s\" is not a unit of A or A/B, each 1 to %d", value,
                      RESOURCE_FACTOR_MAX);
    }
    return true;
}

/* "NAME [* A[/B]] [or bytes]" */
static bool part_set(struct reader *reader, const char *value, void *place)
{
    struct resource_name name = {.unit = {1, 1}};
    const size_t bytes = strcspn(value, " ");
    const char *rest = value + bytes;
    const char *star = memchr(value, '*', bytes);
    if (!is_name(value, bytes) || (star != NULL && star != value + bytes - 1)) {
        return refuse(reader, "\"%.80s\" does not begin with a resource name", value);
    }
    memcpy(name.name, value, bytes);
    if (strncmp(rest, " * ", 3) == 0) {
        rest += 3;
        if (!unit_read(&rest, &name.unit)) {
            return refuse(reader, "\"%.80s\" has no unit of A or A/B, each 1 to %d", value,
                          RESOURCE_FACTOR_MAX);
        }
    }
    name.or_bytes = strcmp(rest, " or bytes") == 0;
    if (*rest != '\0' && !name.or_bytes) {
        return refuse(reader, "\"%.80s\" is not: NAME [* A[/B]] [or bytes]", value);
    }
    memcpy(place, &name, sizeof name);
    return true;
}

static bool shares_set(struct reader *reader, const char *value, void *place)
{
    static const char *const words[] = {"each", "all", "single"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(value, words[i]) == 0) {
            *(enum resource_shares *)place = (enum resource_shares)i;
            return true;
        }
    }
    return refuse(reader, "\"%.80s\" is none of: each all single", value);
}

static bool whole_set(struct reader *reader, const char *value, void *place)
{
    if (strcmp(value, "whole") != 0 && strcmp(value, "none") != 0) {
        return refuse(reader, "\"%.80s\" is none of: none whole", value);
    }
    *(bool *)place = *value == 'w';
    return true;
}

/* ---- lines */

#define FAMILY_KEY(name, member, set)                       \
    {                                                       \
        name, offsetof(struct resource_family, member), set \
    }

static const struct key {
    const char *name;
    size_t offset;
    bool (*set)(struct reader *reader, const char *value, void *place);
} keys[] = {
    FAMILY_KEY("count", parts[RESOURCE_COUNT], part_set),
    FAMILY_KEY("memory", parts[RESOURCE_MEMORY], part_set),
    FAMILY_KEY("memory_percent", parts[RESOURCE_MEMORY_PERCENT], part_set),
    FAMILY_KEY("cores", parts[RESOURCE_CORES], part_set),
    FAMILY_KEY("shares", shares, shares_set),
    FAMILY_KEY("without_cores", without_cores_whole, whole_set),
    FAMILY_KEY("without_memory", without_memory_whole, whole_set),
    FAMILY_KEY("model", model, model_set),
    FAMILY_KEY("model_annotation", model_annotation, name_set),
    FAMILY_KEY("model_label", model_label, name_set),
    FAMILY_KEY("replicas_label", replicas_label, name_set),
    FAMILY_KEY("allocated_annotation", allocated_annotation, name_set),
    FAMILY_KEY("allocated_cores", allocated_cores, unit_set),
    FAMILY_KEY("register_annotation", register_annotation, name_set),
};

/* What an earlier file says stays; it is checked all the same. */
static bool known_key_read(struct reader *reader, size_t at, const char *value)
{
    struct resource_family unused;
    const uint32_t bit = UINT32_C(1) << at;
    struct origin *origin = reader->origin;
    if ((origin->keys & bit) != 0 && (origin->keys_before & bit) == 0) {
        return refuse(reader, "%s twice in [%s]", keys[at].name, reader->family->family);
    }
    const bool stays = (origin->keys & bit) != 0;
    origin->keys |= bit;
    return keys[at].set(reader, value,
                        (char *)(stays ? &unused : reader->family) + keys[at].offset);
}

static bool key_read(struct reader *reader, const char *key, const char *value)
{
    if (reader->family == NULL) {
        return refuse(reader, "a key before the first [section]");
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(key, keys[i].name) == 0) {
            return known_key_read(reader, i, value);
        }
    }
    return refuse(reader, "\"%.80s\" is no key of a family", key);
}

static bool rule_read(struct reader *reader, const char *pattern, const char *model)
{
    struct resource_table *table = reader->table;
    if (table->rule_count == RESOURCE_RULES_MAX) {
        return refuse(reader, "more than %d patterns of models", RESOURCE_RULES_MAX);
    }
    struct rule *rule = &table->rules[table->rule_count];
    if (strchr(model, '*') != NULL) {
        return refuse(reader, "\"%.80s\" is not a model", model);
    }
    if (!model_set(reader, pattern, rule->pattern) || !model_set(reader, model, rule->model)) {
        return false;
    }
    table->rule_count++;
    return true;
}

static bool section_read(struct reader *reader, const char *name, size_t bytes)
{
    struct resource_table *table = reader->table;
    reader->in_models = bytes == strlen("models") && memcmp(name, "models", bytes) == 0;
    if (reader->in_models) {
        return true;
    }
    if (!is_name(name, bytes)) {
        return refuse(reader, "not a section's name");
    }
    size_t at = 0;
    while (at < table->family_count && (strncmp(table->families[at].family, name, bytes) != 0 ||
                                        table->families[at].family[bytes] != '\0')) {
        at++;
    }
    if (at == RESOURCE_FAMILIES_MAX) {
        return refuse(reader, "more than %d families", RESOURCE_FAMILIES_MAX);
    }
    reader->family = &table->families[at];
    reader->origin = &table->origins[at];
    if (reader->origin->last_file == reader->file) {
        return refuse(reader, "[%.*s] twice", (int)bytes, name);
    }
    reader->origin->last_file = reader->file;
    reader->origin->keys_before = reader->origin->keys;
    if (at == table->family_count) {
        table->family_count++;
        memcpy(reader->family->family, name, bytes);
        reader->family->allocated_cores = (struct resource_unit){1, 1};
    }
    return true;
}

/* White space at both ends off. */
static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t bytes = strlen(text);
    while (bytes > 0 && strchr(" \t\r", text[bytes - 1]) != NULL) {
        text[--bytes] = '\0';
    }
    return text;
}

static bool line_read(struct reader *reader, char *text)
{
    text[strcspn(text, "#")] = '\0';
    char *line = trim(text);
    const size_t bytes = strlen(line);
    if (bytes == 0) {
        return true;
    }
    if (line[0] == '[' && line[bytes - 1] == ']') {
        return section_read(reader, line + 1, bytes - 2);
    }
    char *equals = strchr(line, '=');
    if (equals == NULL) {
        return refuse(reader, "neither [section] nor key = value");
    }
    *equals = '\0';
    const char *key = trim(line);
    const char *value = trim(equals + 1);
    return reader->in_models ? rule_read(reader, key, value) : key_read(reader, key, value);
}

/* ---- files */

/* @text is NUL-terminated; a NUL within it ends it. */
static bool text_read(struct reader *reader, const char *text)
{
    char line[LINE_BYTES];
    reader->file++;
    reader->family = NULL;
    reader->in_models = false;
    for (reader->line = 1; *text != '\0'; reader->line++) {
        const size_t bytes = strcspn(text, "\n");
        if (bytes >= sizeof line) {
            return refuse(reader, "a line of more than %d bytes", LINE_BYTES - 1);
        }
        memcpy(line, text, bytes);
        line[bytes] = '\0';
        if (!line_read(reader, line)) {
            return false;
        }
        text += bytes + (text[bytes] == '\n' ? 1 : 0);
    }
    return true;
}

static bool file_read(struct reader *reader)
{
    FILE *file = fopen(reader->path, "re");
    if (file == NULL) {
        snprintf(reader->problem, reader->problem_bytes, "%.200s: cannot be read (error %d)",
                 reader->path, errno);
        return false;
    }
    char *text = malloc(RESOURCE_FILE_BYTES + 2);
    const size_t bytes = text == NULL ? 0 : fread(text, 1, RESOURCE_FILE_BYTES + 1, file);
    const bool whole = text != NULL && ferror(file) == 0 && bytes <= RESOURCE_FILE_BYTES;
    (void)fclose(file);
    bool good = false;
    if (whole) {
        text[bytes] = '\0';
        good = strlen(text) == bytes ? text_read(reader, text)
                                     : refuse(reader, "a NUL byte in the file");
    } else {
        snprintf(reader->problem, reader->problem_bytes,
                 "%.200s: cannot be read, or has more than %d bytes", reader->path,
                 RESOURCE_FILE_BYTES);
    }
    free(text);
    return good;
}

bool resource_table_read(const char *const *paths,
                         size_t count,
                         struct resource_table **ret_table,
                         char *ret_problem,
                         size_t bytes)
{
    struct resource_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        snprintf(ret_problem, bytes, "out of memory");
        return false;
    }
    struct reader reader = {.table = table, .problem = ret_problem, .problem_bytes = bytes};
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        reader.path = paths[i];
        reader.line = 0;
        good = file_read(&reader);
    }
    reader.path = "built-in table";
    if (!good || !text_read(&reader, resources_text)) {
        free(table);
        return false;
    }
    *ret_table = table;
    return true;
}

void resource_table_destroy(struct resource_table *table)
{
    free(table);
}

/* ---- looking up */

size_t resource_table_count(const struct resource_table *table)
{
    return table->family_count;
}

const struct resource_family *resource_table_family(const struct resource_table *table, size_t at)
{
    assert(at < table->family_count);
    return &table->families[at];
}

/* Whether a table's name, with '*' at its end or not, covers a pod's. */
static bool name_covers(const char *pattern, const char *name, const char **ret_rest)
{
    const size_t bytes = strlen(pattern);
    if (bytes == 0) {
        return false;
    }
    if (pattern[bytes - 1] != '*') {
        *ret_rest = "";
        return strcmp(pattern, name) == 0;
    }
    *ret_rest = name + bytes - 1;
    return strncmp(pattern, name, bytes - 1) == 0 && name[bytes - 1] != '\0';
}

bool resource_table_find(const struct resource_table *table,
                         const char *name,
                         size_t *ret_at,
                         enum resource_part *ret_part,
                         const char **ret_rest)
{
    const char *rest = "";
    if (strchr(name, '/') == NULL) {
        return false; /* cpu, memory and what else belongs to Kubernetes itself */
    }
    for (size_t i = 0; i < table->family_count; i++) {
        for (size_t part = 0; part < RESOURCE_PARTS; part++) {
            if (name_covers(table->families[i].parts[part].name, name, &rest)) {
                *ret_at = i;
                *ret_part = (enum resource_part)part;
                *ret_rest = rest;
                return true;
            }
        }
    }
    return false;
}

/* ---- models */

/* Whether @pattern with any number of '*' is the whole of @text. */
static bool pattern_matches(const char *pattern, const char *text)
{
    const char *star = NULL;
    const char *again = text;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            again = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++again;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == '\0';
}

static void prefix_cut(char *text, const char *prefix)
{
    const size_t bytes = strlen(prefix);
    if (strncmp(text, prefix, bytes) == 0 && text[bytes] != '\0') {
        memmove(text, text + bytes, strlen(text + bytes) + 1);
    }
}

static void suffix_cut(char *text, const char *suffix)
{
    const size_t bytes = strlen(text);
    const size_t cut = strlen(suffix);
    if (bytes > cut && strcmp(text + bytes - cut, suffix) == 0) {
        text[bytes - cut] = '\0';
    }
}

/* Lower case, '-' for blanks, no vendor in front, no "-shared" behind; false for what is no name. */
static bool model_normalize(const char *text, char *ret_model)
{
    /* The first twice: HAMi writes "NVIDIA-NVIDIA A100-..." */
    static const char *const vendors[] = {"nvidia-", "nvidia-", "amd-", "huawei-"};
    const size_t bytes = strlen(text);
    if (bytes == 0 || bytes >= RESOURCE_MODEL_BYTES) {
        return false;
    }
    for (size_t i = 0; i <= bytes; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (i < bytes && (c < ' ' || c == 0x7f)) {
            return false;
        }
        ret_model[i] = '-';
        if (c != ' ') {
            ret_model[i] = lower(text[i]);
        }
    }
    for (size_t i = 0; i < sizeof vendors / sizeof vendors[0]; i++) {
        prefix_cut(ret_model, vendors[i]);
    }
    suffix_cut(ret_model, "-shared");
    return true;
}

void resource_table_model(const struct resource_table *table, const char *text, char *ret_model)
{
    static const char mig[] = "-mig-";
    char model[RESOURCE_MODEL_BYTES];
    ret_model[0] = '\0';
    if (!model_normalize(text, model)) {
        return;
    }
    const char *profile = strstr(model, mig);
    const char *name = profile == NULL ? model : profile + 1; /* "mig-1g.5gb" */
    const char *found = name;
    for (size_t i = 0; found == name && i < table->rule_count; i++) {
        if (pattern_matches(table->rules[i].pattern, name)) {
            found = table->rules[i].model;
        }
    }
    memcpy(ret_model, found, strlen(found) + 1);
}
