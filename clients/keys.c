/* SPDX-License-Identifier: MIT
 *
 * See keys.h. */
#include "clients/keys.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool key_fault_set(struct key_fault *fault, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* It writes, which cppcheck takes for reading. */
    // cppcheck-suppress ctuuninitvar
    (void)vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- values */

bool key_integer_read(const char *text, int64_t min, int64_t max, int64_t *ret_value)
{
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || value < min || value > max) {
        return false;
    }
    *ret_value = value;
    return true;
}

static bool set_integer(const struct key *key,
                        const char *value,
                        void *place,
                        struct key_fault *fault)
{
    return key_integer_read(value, key->min, key->max, place) ||
           key_fault_set(fault, "%.40s is not an integer from %lld to %lld", value,
                         (long long)key->min, (long long)key->max);
}

static bool set_choice(const struct key *key,
                       const char *value,
                       void *place,
                       struct key_fault *fault)
{
    const size_t length = strlen(value);
    int64_t number = 0;
    for (const char *word = key->choices; length > 0 && *word != '\0'; number++) {
        const size_t bytes = strcspn(word, " ");
        if (bytes == length && memcmp(word, value, length) == 0) {
            *(int64_t *)place = number;
            return true;
        }
        word += bytes + strspn(word + bytes, " ");
    }
    return key_fault_set(fault, "\"%.40s\" is none of: %.100s", value, key->choices);
}

static bool set_text(const struct key *key, const char *value, void *place, struct key_fault *fault)
{
    const size_t bytes = strlen(value);
    bool fits = (int64_t)bytes >= key->min && (int64_t)bytes <= key->max;
    for (size_t i = 0; i < bytes; i++) {
        fits = fits && (unsigned char)value[i] >= 0x20 && value[i] != 0x7f;
    }
    if (!fits) {
        return key_fault_set(fault, "not a text of %lld to %lld bytes without control characters",
                             (long long)key->min, (long long)key->max);
    }
    memcpy(place, value, bytes + 1);
    return true;
}

static bool key_set(const struct key_table *table,
                    const struct key *key,
                    const char *value,
                    void *config,
                    struct key_fault *fault)
{
    void *place = (char *)config + key->offset;
    switch (key->type) {
    case KEY_INTEGER:
        return set_integer(key, value, place, fault);
    case KEY_CHOICE:
        return set_choice(key, value, place, fault);
    case KEY_TEXT:
        return set_text(key, value, place, fault);
    case KEY_OTHER:
        return table->set_other(key, value, place, fault);
    }
    return false;
}

/* ---- lines */

static void set_defaults(const struct key_table *table, void *config)
{
    memset(config, 0, table->bytes);
    for (size_t i = 0; i < table->count; i++) {
        const struct key *key = &table->keys[i];
        struct key_fault fault;
        const bool fits =
            key->default_text[0] == '\0' || key_set(table, key, key->default_text, config, &fault);
        assert(fits);
        (void)fits;
    }
}

static const struct key *find(const struct key_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->keys[i].name, name) == 0) {
            return &table->keys[i];
        }
    }
    return NULL;
}

char *key_trim(char *text)
{
    while (isspace((unsigned char)*text)) {
        text++;
    }
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1])) {
        text[--length] = '\0';
    }
    return text;
}

/* Takes one line; `given` marks the keys that were seen. */
static bool take_line(const struct key_table *table,
                      char *line,
                      void *config,
                      bool *given,
                      struct key_fault *fault)
{
    char *name = key_trim(line);
    if (*name == '\0' || *name == '#') {
        return true;
    }
    char *equals = strchr(name, '=');
    if (equals == NULL) {
        return key_fault_set(fault, "not \"key = value\"");
    }
    *equals = '\0';
    name = key_trim(name);
    const struct key *key = find(table, name);
    if (key == NULL || given[key - table->keys]) {
        return key_fault_set(fault, "%.40s: %s", name, key == NULL ? "unknown key" : "given twice");
    }
    given[key - table->keys] = true;
    struct key_fault why = {{0}};
    return key_set(table, key, key_trim(equals + 1), config, &why) ||
           key_fault_set(fault, "%s: %.150s", key->name, why.text);
}

/* Takes all lines; *ret_number is that of the line that `fault` is about. */
static bool take_lines(const struct key_table *table,
                       FILE *file,
                       void *config,
                       unsigned *ret_number,
                       struct key_fault *fault)
{
    bool given[KEYS_MAX] = {false};
    char line[1024];
    for (*ret_number = 1; fgets(line, sizeof line, file) != NULL; ++*ret_number) {
        if (strchr(line, '\n') == NULL && !feof(file)) {
            return key_fault_set(fault, "longer than %zu bytes", sizeof line - 1);
        }
        if (!take_line(table, line, config, given, fault)) {
            return false;
        }
    }
    return true;
}

bool keys_read(const struct key_table *table,
               const char *path,
               void *ret_config,
               char *ret_detail,
               size_t bytes)
{
    assert(table->count <= KEYS_MAX);
    set_defaults(table, ret_config);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        (void)snprintf(ret_detail, bytes, "%.200s cannot be read: %m", path);
        return false;
    }
    unsigned number;
    struct key_fault fault = {{0}};
    const bool ok = take_lines(table, file, ret_config, &number, &fault);
    const bool whole = ferror(file) == 0; /* else what came is not what is in it */
    if (!ok) {
        (void)snprintf(ret_detail, bytes, "%.100s:%u: %s", path, number, fault.text);
    } else if (!whole) {
        (void)snprintf(ret_detail, bytes, "%.200s cannot be read: %m", path);
    }
    (void)fclose(file);
    return ok && whole;
}
