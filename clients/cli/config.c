/* Where the daemon is and who asks: see config.h. */
#include "clients/cli/config.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "clients/keys.h"

static const struct setting {
    const char *name;
    const char *variable;
    size_t offset;
    size_t size_bytes;
} settings[] = {
    {"url", "COREHOUR_URL", offsetof(struct config, url), sizeof((struct config *)0)->url},
    {"token", "COREHOUR_TOKEN", offsetof(struct config, token), sizeof((struct config *)0)->token},
    {"language", NULL, offsetof(struct config, language), sizeof((struct config *)0)->language},
    {"ca_file", "COREHOUR_CA_FILE", offsetof(struct config, ca_file),
     sizeof((struct config *)0)->ca_file},
    {"door", "COREHOUR_DOOR", offsetof(struct config, door), sizeof((struct config *)0)->door},
    {"munge_socket", "COREHOUR_MUNGE_SOCKET", offsetof(struct config, munge_socket),
     sizeof((struct config *)0)->munge_socket},
};

static const char site_path[] = "/etc/corehour/client.conf";
#define SETTINGS (sizeof settings / sizeof settings[0])

static char *setting_room(struct config *config, const struct setting *setting)
{
    return (char *)config + setting->offset;
}

static bool setting_set(struct config *config, const struct setting *setting, const char *value)
{
    size_t length = strlen(value);
    if (length >= setting->size_bytes) {
        return false;
    }
    memcpy(setting_room(config, setting), value, length + 1);
    return true;
}

/* Takes one line. Returns NULL, or what is wrong with it. */
static const char *line_take(char *line, struct config *config)
{
    char *text = key_trim(line);
    if (*text == '\0' || *text == '#') {
        return NULL;
    }
    char *equals = strchr(text, '=');
    if (equals == NULL) {
        return "is not \"key = value\"";
    }
    *equals = '\0';
    const char *name = key_trim(text);
    for (size_t i = 0; i < SETTINGS; i++) {
        if (strcmp(settings[i].name, name) == 0) {
            return setting_set(config, &settings[i], key_trim(equals + 1))
                       ? NULL
                       : "holds a value that is too long";
        }
    }
    return "has an unknown key; known are url, token, language, ca_file, door and munge_socket";
}

static bool lines_take(FILE *file,
                       const char *path,
                       struct config *config,
                       struct config_error *ret_error)
{
    char line[1024];
    for (unsigned number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        const char *wrong =
            strchr(line, '\n') == NULL && !feof(file) ? "is too long" : line_take(line, config);
        if (wrong == NULL) {
            continue;
        }
        snprintf(ret_error->detail, sizeof ret_error->detail, "%s: line %u %s", path, number,
                 wrong);
        return false;
    }
    return true;
}

/* Takes an open file's lines, and notes it when it holds a token and others may read it. */
static bool file_take(FILE *file,
                      const char *path,
                      struct config *config,
                      struct config_error *ret_error)
{
    struct stat status;
    char token[sizeof config->token]; /* of a file before this one */
    memcpy(token, config->token, sizeof token);
    config->token[0] = '\0';
    if (!lines_take(file, path, config, ret_error)) {
        return false;
    }
    if (ferror(file) != 0) {
        snprintf(ret_error->detail, sizeof ret_error->detail, "%s cannot be read: %s", path,
                 strerror(errno));
        return false;
    }
    if (config->token[0] == '\0') {
        memcpy(config->token, token, sizeof token);
    } else if (fstat(fileno(file), &status) == 0) {
        config->open_path = (status.st_mode & 077) != 0 ? path : NULL;
    }
    return true;
}

bool config_file_read(const char *path, struct config *config, struct config_error *ret_error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL && errno == ENOENT) {
        return true;
    }
    if (file == NULL) {
        snprintf(ret_error->detail, sizeof ret_error->detail, "%s cannot be read: %s", path,
                 strerror(errno));
        return false;
    }
    const bool ok = file_take(file, path, config, ret_error);
    fclose(file);
    return ok;
}

/* Writes the file's path; "" when there is neither XDG_CONFIG_HOME nor HOME. */
static void path_find(struct config *config)
{
    const char *base = getenv("XDG_CONFIG_HOME");
    const char *below = "/corehour/config";
    if (base == NULL || *base == '\0') {
        base = getenv("HOME");
        below = "/.config/corehour/config";
    }
    if (base == NULL || *base == '\0' || strlen(base) + strlen(below) >= sizeof config->path) {
        return;
    }
    snprintf(config->path, sizeof config->path, "%.480s%s", base, below);
}

bool config_load(struct config *ret_config, struct config_error *ret_error)
{
    *ret_config = (struct config){0};
    path_find(ret_config);
    if (!config_file_read(site_path, ret_config, ret_error)) {
        return false;
    }
    if (ret_config->path[0] != '\0' && !config_file_read(ret_config->path, ret_config, ret_error)) {
        return false;
    }
    for (size_t i = 0; i < SETTINGS; i++) {
        const char *value = settings[i].variable == NULL ? NULL : getenv(settings[i].variable);
        if (value == NULL || *value == '\0') {
            continue;
        }
        if (setting_set(ret_config, &settings[i], value)) {
            continue;
        }
        snprintf(ret_error->detail, sizeof ret_error->detail, "%s is longer than %zu bytes",
                 settings[i].variable, settings[i].size_bytes - 1);
        return false;
    }
    return true;
}
