/* Keys by table, made from agent_config.def: see agent_config.h. */
#include "clients/kubernetes/agent_config.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum key_type { KEY_INTEGER, KEY_CHOICE, KEY_TEXT };

static const struct key {
    const char *name;
    enum key_type type;
    size_t offset;
    const char *default_text;
    int64_t min;
    int64_t max;
    const char *choices;
    const char *meaning;
} keys[] = {
#define AGENT_CONFIG_ROW(name, type, default_value, min, max, choices, meaning)         \
    {#name,   KEY_##type, offsetof(struct agent_config, name), default_value, min, max, \
     choices, meaning},
#include "clients/kubernetes/agent_config.def"
#undef AGENT_CONFIG_ROW
};
#define KEYS (sizeof keys / sizeof keys[0])

bool agent_error_set(struct agent_error *ret_error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    /* It writes, which cppcheck takes for reading. */
    // cppcheck-suppress ctuuninitvar
    (void)vsnprintf(ret_error->detail, sizeof ret_error->detail, format, arguments);
    va_end(arguments);
    return false;
}

static bool integer_set(const struct key *key,
                        const char *value,
                        void *place,
                        struct agent_error *error)
{
    char *end;
    errno = 0;
    const long long number = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || number < key->min || number > key->max) {
        return agent_error_set(error, "%.40s is not an integer from %lld to %lld", value,
                               (long long)key->min, (long long)key->max);
    }
    *(int64_t *)place = number;
    return true;
}

static bool choice_set(const struct key *key,
                       const char *value,
                       void *place,
                       struct agent_error *error)
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
    return agent_error_set(error, "\"%.40s\" is none of: %.100s", value, key->choices);
}

static bool text_set(const struct key *key,
                     const char *value,
                     void *place,
                     struct agent_error *error)
{
    const size_t bytes = strlen(value);
    bool fits = (int64_t)bytes >= key->min && (int64_t)bytes <= key->max;
    for (size_t i = 0; i < bytes; i++) {
        fits = fits && (unsigned char)value[i] >= 0x20 && value[i] != 0x7f;
    }
    if (!fits) {
        return agent_error_set(error, "not a text of %lld to %lld bytes without control characters",
                               (long long)key->min, (long long)key->max);
    }
    memcpy(place, value, bytes + 1);
    return true;
}

static bool key_set(const struct key *key,
                    const char *value,
                    struct agent_config *config,
                    struct agent_error *error)
{
    void *place = (char *)config + key->offset;
    switch (key->type) {
    case KEY_INTEGER:
        return integer_set(key, value, place, error);
    case KEY_CHOICE:
        return choice_set(key, value, place, error);
    case KEY_TEXT:
        return text_set(key, value, place, error);
    }
    return false;
}

static void defaults_set(struct agent_config *config)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < KEYS; i++) {
        struct agent_error error;
        const bool fits = keys[i].default_text[0] == '\0' ||
                          key_set(&keys[i], keys[i].default_text, config, &error);
        assert(fits);
        (void)fits;
    }
}

static const struct key *key_find(const char *name)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

static char *trim(char *text)
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
static bool line_take(char *line,
                      struct agent_config *config,
                      bool *given,
                      struct agent_error *error)
{
    char *name = trim(line);
    if (*name == '\0' || *name == '#') {
        return true;
    }
    char *equals = strchr(name, '=');
    if (equals == NULL) {
        return agent_error_set(error, "not \"key = value\"");
    }
    *equals = '\0';
    name = trim(name);
    const struct key *key = key_find(name);
    if (key == NULL || given[key - keys]) {
        return agent_error_set(error, "%.40s: %s", name,
                               key == NULL ? "unknown key" : "given twice");
    }
    given[key - keys] = true;
    struct agent_error why;
    if (!key_set(key, trim(equals + 1), config, &why)) {
        return agent_error_set(error, "%s: %.150s", key->name, why.detail);
    }
    return true;
}

static bool lines_take(FILE *file,
                       const char *path,
                       struct agent_config *config,
                       struct agent_error *ret_error)
{
    bool given[KEYS] = {false};
    char line[1024];
    for (unsigned number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        struct agent_error why;
        if (strchr(line, '\n') == NULL && !feof(file)) {
            (void)agent_error_set(&why, "longer than %zu bytes", sizeof line - 1);
        } else if (line_take(line, config, given, &why)) {
            continue;
        }
        return agent_error_set(ret_error, "%.100s:%u: %.200s", path, number, why.detail);
    }
    return true;
}

bool agent_config_read(const char *path,
                       struct agent_config *ret_config,
                       struct agent_error *ret_error)
{
    struct agent_config config;
    defaults_set(&config);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return agent_error_set(ret_error, "%.200s cannot be read: %m", path);
    }
    const bool ok = lines_take(file, path, &config, ret_error);
    (void)fclose(file);
    if (ok && config.cluster.text[0] == '\0') {
        return agent_error_set(ret_error, "%.200s: cluster: must be given", path);
    }
    if (ok) {
        *ret_config = config;
    }
    return ok;
}

bool agent_line_read(const char *path, char *ret_text, size_t bytes, struct agent_error *ret_error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return agent_error_set(ret_error, "%.200s cannot be read: %m", path);
    }
    char *line = NULL;
    size_t room = 0;
    const ssize_t got = getline(&line, &room, file);
    (void)fclose(file);
    const char *text = got < 0 ? "" : trim(line);
    const size_t length = strlen(text);
    const bool fits = length > 0 && length < bytes;
    if (fits) {
        memcpy(ret_text, text, length + 1);
    }
    free(line);
    return fits || agent_error_set(ret_error, "%.200s holds nothing, or too long a line", path);
}

void agent_config_print(FILE *out)
{
    for (size_t i = 0; i < KEYS; i++) {
        const struct key *key = &keys[i];
        (void)fprintf(out, "  %-16s %s", key->name, key->meaning);
        if (key->choices[0] != '\0') {
            (void)fprintf(out, " (%s)", key->choices);
        }
        if (key->default_text[0] != '\0') {
            (void)fprintf(out, ". Default %s", key->default_text);
        }
        (void)fputc('\n', out);
    }
}
