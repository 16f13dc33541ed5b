/* SPDX-License-Identifier: MIT
 *
 * Keys by table, made from slurm_config.def: see slurm_config.h. */
#include "clients/slurm/slurm_config.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum key_type { KEY_INTEGER, KEY_CHOICE, KEY_TEXT, KEY_UIDS };

static const struct key {
    const char *name;
    enum key_type type;
    size_t offset;
    const char *default_text;
    int64_t min;
    int64_t max;
    const char *choices;
} keys[] = {
#define SLURM_CONFIG_ROW(name, type, default_value, min, max, choices, meaning) \
    {#name, KEY_##type, offsetof(struct slurm_config, name), default_value, min, max, choices},
#include "clients/slurm/slurm_config.def"
#undef SLURM_CONFIG_ROW
};
#define KEYS (sizeof keys / sizeof keys[0])

/* What is wrong with one value; "" for nothing. */
struct fault {
    char text[200];
};

static bool integer_read(const char *text, int64_t min, int64_t max, int64_t *ret_value)
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

static bool integer_set(const struct key *key, const char *value, void *place, struct fault *fault)
{
    if (integer_read(value, key->min, key->max, place)) {
        return true;
    }
    snprintf(fault->text, sizeof fault->text, "%.40s is not an integer from %lld to %lld", value,
             (long long)key->min, (long long)key->max);
    return false;
}

static bool choice_set(const struct key *key, const char *value, void *place, struct fault *fault)
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
    snprintf(fault->text, sizeof fault->text, "\"%.40s\" is none of: %.100s", value, key->choices);
    return false;
}

static bool text_set(const struct key *key, const char *value, void *place, struct fault *fault)
{
    const size_t bytes = strlen(value);
    bool fits = (int64_t)bytes >= key->min && (int64_t)bytes <= key->max;
    for (size_t i = 0; i < bytes; i++) {
        fits = fits && (unsigned char)value[i] >= 0x20 && value[i] != 0x7f;
    }
    if (!fits) {
        snprintf(fault->text, sizeof fault->text,
                 "not a text of %lld to %lld bytes without control characters", (long long)key->min,
                 (long long)key->max);
        return false;
    }
    memcpy(place, value, bytes + 1);
    return true;
}

/* "995" or "1000-1010" into one range. */
static bool range_read(char *item, struct slurm_config_uids *uids)
{
    int64_t first;
    int64_t last;
    char *dash = strchr(item, '-');
    if (dash != NULL) {
        *dash = '\0';
    }
    if (uids->count == SLURM_CONFIG_UIDS_MAX || !isdigit((unsigned char)*item) ||
        !integer_read(item, 0, UINT32_MAX - 2, &first) ||
        !integer_read(dash == NULL ? item : dash + 1, first, UINT32_MAX - 2, &last)) {
        return false;
    }
    uids->ranges[uids->count].first = (uint32_t)first;
    uids->ranges[uids->count].last = (uint32_t)last;
    uids->count++;
    return true;
}

/* One item of the list, with white space around it. */
static bool uid_item_read(const char *text, size_t bytes, struct slurm_config_uids *uids)
{
    char item[40];
    while (bytes > 0 && isspace((unsigned char)*text)) {
        text++;
        bytes--;
    }
    while (bytes > 0 && isspace((unsigned char)text[bytes - 1])) {
        bytes--;
    }
    if (bytes == 0 || bytes >= sizeof item) {
        return false;
    }
    memcpy(item, text, bytes);
    item[bytes] = '\0';
    return range_read(item, uids);
}

static bool uids_set(const struct key *key, const char *value, void *place, struct fault *fault)
{
    struct slurm_config_uids uids = {0};
    const char *cursor = value;
    while (*cursor != '\0') {
        const size_t bytes = strcspn(cursor, ",");
        if (!uid_item_read(cursor, bytes, &uids)) {
            snprintf(
                fault->text, sizeof fault->text,
                "\"%.60s\" is not a list of at most %lld user ids or ranges, such as 995,1000-1010",
                value, (long long)key->max);
            return false;
        }
        cursor += bytes + (cursor[bytes] == ',');
    }
    memcpy(place, &uids, sizeof uids);
    return true;
}

static bool key_set(const struct key *key,
                    const char *value,
                    struct slurm_config *config,
                    struct fault *fault)
{
    void *place = (char *)config + key->offset;
    switch (key->type) {
    case KEY_INTEGER:
        return integer_set(key, value, place, fault);
    case KEY_CHOICE:
        return choice_set(key, value, place, fault);
    case KEY_TEXT:
        return text_set(key, value, place, fault);
    case KEY_UIDS:
        return uids_set(key, value, place, fault);
    }
    return false;
}

static void defaults_set(struct slurm_config *config)
{
    memset(config, 0, sizeof *config);
    for (size_t i = 0; i < KEYS; i++) {
        struct fault fault;
        const bool fits = key_set(&keys[i], keys[i].default_text, config, &fault);
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
static bool line_take(char *line, struct slurm_config *config, bool *given, struct fault *fault)
{
    char *name = trim(line);
    if (*name == '\0' || *name == '#') {
        return true;
    }
    char *equals = strchr(name, '=');
    if (equals == NULL) {
        snprintf(fault->text, sizeof fault->text, "not \"key = value\"");
        return false;
    }
    *equals = '\0';
    name = trim(name);
    const struct key *key = key_find(name);
    if (key == NULL || given[key - keys]) {
        snprintf(fault->text, sizeof fault->text, "%.40s: %s", name,
                 key == NULL ? "unknown key" : "given twice");
        return false;
    }
    given[key - keys] = true;
    struct fault why = {{0}};
    if (!key_set(key, trim(equals + 1), config, &why)) {
        snprintf(fault->text, sizeof fault->text, "%s: %.150s", key->name, why.text);
        return false;
    }
    return true;
}

static bool lines_take(FILE *file,
                       const char *path,
                       struct slurm_config *config,
                       struct slurm_config_error *ret_error)
{
    bool given[KEYS] = {false};
    char line[1024];
    for (unsigned number = 1; fgets(line, sizeof line, file) != NULL; number++) {
        struct fault fault = {{0}};
        if (strchr(line, '\n') == NULL && !feof(file)) {
            snprintf(fault.text, sizeof fault.text, "longer than %zu bytes", sizeof line - 1);
        } else if (line_take(line, config, given, &fault)) {
            continue;
        }
        snprintf(ret_error->detail, sizeof ret_error->detail, "%.100s:%u: %s", path, number,
                 fault.text);
        return false;
    }
    return true;
}

const char *slurm_config_path(void)
{
    /* Read once, at the start. NOLINTNEXTLINE(concurrency-mt-unsafe) */
    const char *path = getenv("COREHOUR_SLURM_CONF");
    return path == NULL || *path == '\0' ? "/etc/corehour/slurm.conf" : path;
}

bool slurm_config_read(const char *path,
                       struct slurm_config *ret_config,
                       struct slurm_config_error *ret_error)
{
    struct slurm_config config;
    defaults_set(&config);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        snprintf(ret_error->detail, sizeof ret_error->detail, "%.200s cannot be read: %m", path);
        return false;
    }
    const bool ok = lines_take(file, path, &config, ret_error);
    fclose(file);
    if (ok && config.cluster.text[0] == '\0') {
        snprintf(ret_error->detail, sizeof ret_error->detail, "%.200s: cluster: must be given",
                 path);
        return false;
    }
    if (ok) {
        *ret_config = config;
    }
    return ok;
}

bool slurm_config_token_read(const struct slurm_config *config,
                             char *ret_token,
                             struct slurm_config_error *ret_error)
{
    const char *path = config->token_file.text;
    char line[SLURM_CONFIG_TOKEN_BYTES];
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        snprintf(ret_error->detail, sizeof ret_error->detail,
                 "token_file %.200s cannot be read: %m", path);
        return false;
    }
    const char *token = fgets(line, sizeof line, file) == NULL ? "" : trim(line);
    fclose(file);
    const size_t bytes = strlen(token);
    if (bytes == 0 || bytes >= sizeof line - 2) {
        snprintf(ret_error->detail, sizeof ret_error->detail, "token_file %.200s holds no token",
                 path);
        return false;
    }
    memcpy(ret_token, token, bytes + 1);
    return true;
}

bool slurm_config_is_admin(const struct slurm_config *config, uint32_t uid)
{
    for (unsigned i = 0; i < config->admin_uids.count; i++) {
        if (uid >= config->admin_uids.ranges[i].first && uid <= config->admin_uids.ranges[i].last) {
            return true;
        }
    }
    return false;
}
