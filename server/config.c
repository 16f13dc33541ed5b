/* Keys by table, made from schema/config.def. */
#include "server/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"

enum key_type { KEY_INTEGER, KEY_SWITCH, KEY_LEVEL, KEY_TEXT };

struct key {
    const char *name;
    enum key_type type;
    size_t offset;
    size_t size;
    const char *default_text;
    int64_t min;
    int64_t max;
    bool reloadable;
};

/* A default is a number or a text: both as text. */
#define DEFAULT_INTEGER(value) #value
#define DEFAULT_SWITCH(value)  #value
#define DEFAULT_LEVEL(value)   value
#define DEFAULT_TEXT(value)    value
#define CONFIG_ROW(name, type, default_value, min, max, reloadable, meaning) \
    {#name,                                                                  \
     KEY_##type,                                                             \
     offsetof(struct config, name),                                          \
     sizeof(CONFIG_TYPE_##type),                                             \
     DEFAULT_##type(default_value),                                          \
     min,                                                                    \
     max,                                                                    \
     (reloadable) != 0},

static const struct key keys[] = {
#include "schema/config.def"
};
#undef CONFIG_ROW

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (strcmp(keys[i].name, name) == 0) {
            return &keys[i];
        }
    }
    return NULL;
}

static enum error_code set_integer(const struct key *key,
                                   const char *value,
                                   void *place,
                                   struct error *err)
{
    char *end;
    errno = 0;
    const long long number = strtoll(value, &end, 10);
    if (errno != 0 || end == value || *end != '\0' || number < key->min || number > key->max) {
        return error_set_field(err, ERR_INVALID_FIELD, key->name,
                               "%.40s is not an integer from %lld to %lld", value,
                               (long long)key->min, (long long)key->max);
    }
    *(int64_t *)place = number;
    return ERR_OK;
}

static enum error_code set_text(const struct key *key,
                                const char *value,
                                void *place,
                                struct error *err)
{
    const size_t bytes = strlen(value);
    if ((int64_t)bytes < key->min || (int64_t)bytes > key->max ||
        !text_is_printable(value, bytes)) {
        return error_set_field(err, ERR_INVALID_FIELD, key->name,
                               "not a text of %lld to %lld bytes without control characters",
                               (long long)key->min, (long long)key->max);
    }
    memcpy(place, value, bytes + 1);
    return ERR_OK;
}

static enum error_code set_level(const struct key *key,
                                 const char *value,
                                 void *place,
                                 struct error *err)
{
    if (!log_level_parse(value, place)) {
        return error_set_field(err, ERR_INVALID_FIELD, key->name,
                               "%.40s is none of error, warning, info, debug", value);
    }
    return ERR_OK;
}

static enum error_code set_key(const struct key *key,
                               const char *value,
                               struct config *config,
                               struct error *err)
{
    void *place = (char *)config + key->offset;
    switch (key->type) {
    case KEY_INTEGER:
    case KEY_SWITCH:
        return set_integer(key, value, place, err);
    case KEY_LEVEL:
        return set_level(key, value, place, err);
    case KEY_TEXT:
        return set_text(key, value, place, err);
    }
    return ERR_INTERNAL;
}

void config_init(struct config *config)
{
    memset(config, 0, sizeof(*config));
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct error err;
        const enum error_code code = set_key(&keys[i], keys[i].default_text, config, &err);
        assert(code == ERR_OK);
        (void)code;
    }
}

enum error_code config_set(struct config *config,
                           const char *name,
                           const char *value,
                           struct error *err)
{
    const struct key *key = find_key(name);
    if (key == NULL) {
        return error_set_field(err, ERR_INVALID_FIELD, name, "unknown key");
    }
    return set_key(key, value, config, err);
}

/* ---- files */

static char *trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t bytes = strlen(text);
    while (bytes > 0 && strchr(" \t\r\n", text[bytes - 1]) != NULL) {
        text[--bytes] = '\0';
    }
    return text;
}

/* One line; @seen marks the keys that were given. */
static enum error_code read_line(char *line, struct config *config, bool *seen, struct error *err)
{
    char *name = trim(line);
    if (name[0] == '\0' || name[0] == '#') {
        return ERR_OK;
    }
    char *equals = strchr(name, '=');
    if (equals == NULL) {
        return error_set(err, ERR_INVALID_FIELD, "not name = value");
    }
    *equals = '\0';
    name = trim(name);
    const struct key *key = find_key(name);
    if (key == NULL) {
        return error_set_field(err, ERR_INVALID_FIELD, name, "unknown key");
    }
    if (seen[key - keys]) {
        return error_set_field(err, ERR_INVALID_FIELD, name, "given twice");
    }
    seen[key - keys] = true;
    return set_key(key, trim(equals + 1), config, err);
}

static enum error_code refuse_line(const char *path,
                                   int number,
                                   const struct error *why,
                                   struct error *err)
{
    const char *colon = why->field[0] != '\0' ? ": " : "";
    return error_set(err, ERR_INVALID_FIELD, "%.80s:%d: %.40s%s%.100s", path, number, why->field,
                     colon, why->detail);
}

enum error_code config_read(const char *path, struct config *config, struct error *err)
{
    CLEANUP(cleanup_fclose) FILE *file = fopen(path, "re");
    if (file == NULL) {
        return error_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_UNAVAILABLE, "%.120s: %m",
                         path);
    }
    bool seen[ARRAY_LEN(keys)] = {false};
    char line[CONFIG_TEXT_BYTES + 64];
    size_t total = 0;
    for (int number = 1; fgets(line, sizeof(line), file) != NULL; number++) {
        const size_t bytes = strlen(line);
        total += bytes;
        if (total > LIMIT_CONFIG_BYTES || (line[bytes - 1] != '\n' && bytes == sizeof(line) - 1)) {
            return error_set(err, ERR_TOO_LARGE, "%.120s:%d: too long", path, number);
        }
        struct error why = {0};
        if (read_line(line, config, seen, &why) != ERR_OK) {
            return refuse_line(path, number, &why, err);
        }
    }
    return ERR_OK;
}

void config_reload(struct config *config, const struct config *fresh)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        char *place = (char *)config + keys[i].offset;
        const char *from = (const char *)fresh + keys[i].offset;
        if (memcmp(place, from, keys[i].size) == 0) {
            continue;
        }
        if (keys[i].reloadable) {
            memcpy(place, from, keys[i].size);
        } else {
            log_event(LOG_WARNING, "config_waits_for_restart", log_text("key", keys[i].name));
        }
    }
}
