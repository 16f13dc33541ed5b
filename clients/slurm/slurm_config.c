/* SPDX-License-Identifier: MIT
 *
 * Keys by table, made from slurm_config.def: see slurm_config.h. */
#include "clients/slurm/slurm_config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_UIDS KEY_OTHER
static const struct key keys[] = {
#define SLURM_CONFIG_ROW(name, type, default_value, min, max, choices, meaning)         \
    {#name,   KEY_##type, offsetof(struct slurm_config, name), default_value, min, max, \
     choices, meaning},
#include "clients/slurm/slurm_config.def"
#undef SLURM_CONFIG_ROW
};

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
        !key_integer_read(item, 0, UINT32_MAX - 2, &first) ||
        !key_integer_read(dash == NULL ? item : dash + 1, first, UINT32_MAX - 2, &last)) {
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

static bool uids_set(const struct key *key, const char *value, void *place, struct key_fault *fault)
{
    struct slurm_config_uids uids = {0};
    const char *cursor = value;
    while (*cursor != '\0') {
        const size_t bytes = strcspn(cursor, ",");
        if (!uid_item_read(cursor, bytes, &uids)) {
            return key_fault_set(
                fault,
                "\"%.60s\" is not a list of at most %lld user ids or ranges, such as 995,1000-1010",
                value, (long long)key->max);
        }
        cursor += bytes + (cursor[bytes] == ',');
    }
    memcpy(place, &uids, sizeof uids);
    return true;
}

static const struct key_table table = {
    .keys = keys,
    .count = sizeof keys / sizeof keys[0],
    .bytes = sizeof(struct slurm_config),
    .set_other = uids_set,
};

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
    if (!keys_read(&table, path, &config, ret_error->detail, sizeof ret_error->detail)) {
        return false;
    }
    if (config.cluster.text[0] == '\0') {
        snprintf(ret_error->detail, sizeof ret_error->detail, "%.200s: cluster: must be given",
                 path);
        return false;
    }
    *ret_config = config;
    return true;
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
    const char *token = fgets(line, sizeof line, file) == NULL ? "" : key_trim(line);
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
