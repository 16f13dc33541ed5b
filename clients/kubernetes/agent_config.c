/* Keys by table, made from agent_config.def: see agent_config.h. */
#include "clients/kubernetes/agent_config.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct key keys[] = {
#define AGENT_CONFIG_ROW(name, type, default_value, min, max, choices, meaning)         \
    {#name,   KEY_##type, offsetof(struct agent_config, name), default_value, min, max, \
     choices, meaning},
#include "clients/kubernetes/agent_config.def"
#undef AGENT_CONFIG_ROW
};

static const struct key_table table = {
    .keys = keys,
    .count = sizeof keys / sizeof keys[0],
    .bytes = sizeof(struct agent_config),
};

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

bool agent_config_read(const char *path,
                       struct agent_config *ret_config,
                       struct agent_error *ret_error)
{
    struct agent_config config;
    if (!keys_read(&table, path, &config, ret_error->detail, sizeof ret_error->detail)) {
        return false;
    }
    if (config.cluster.text[0] == '\0') {
        return agent_error_set(ret_error, "%.200s: cluster: must be given", path);
    }
    *ret_config = config;
    return true;
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
    const char *text = got < 0 ? "" : key_trim(line);
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
    for (size_t i = 0; i < table.count; i++) {
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
