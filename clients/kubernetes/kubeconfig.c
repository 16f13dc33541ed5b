/*
 * A kubeconfig, line by line: see kubeconfig.h. YAML and indented JSON both have one `key: value` a line there, and the keys
 * that count occur once, so no more of YAML is understood, and whatever is not is refused rather than guessed.
 */
#include "clients/kubernetes/kubeconfig.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum entry_kind { ENTRY_URL, ENTRY_PATH, ENTRY_DATA, ENTRY_TEXT, ENTRY_REFUSED };

static const struct entry {
    const char *key;
    enum entry_kind kind;
    size_t offset;
} entries[] = {
    {"server", ENTRY_URL, offsetof(struct api_server, url)},
    {"certificate-authority", ENTRY_PATH, offsetof(struct api_server, ca.path)},
    {"certificate-authority-data", ENTRY_DATA, offsetof(struct api_server, ca.bytes)},
    {"client-certificate", ENTRY_PATH, offsetof(struct api_server, cert.path)},
    {"client-certificate-data", ENTRY_DATA, offsetof(struct api_server, cert.bytes)},
    {"client-key", ENTRY_PATH, offsetof(struct api_server, key.path)},
    {"client-key-data", ENTRY_DATA, offsetof(struct api_server, key.bytes)},
    {"tokenFile", ENTRY_PATH, offsetof(struct api_server, token_file)},
    {"token", ENTRY_TEXT, offsetof(struct api_server, token)},
    {"exec", ENTRY_REFUSED, 0},
    {"auth-provider", ENTRY_REFUSED, 0},
    {"insecure-skip-tls-verify", ENTRY_REFUSED, 0},
};
#define ENTRIES (sizeof entries / sizeof entries[0])

static int digit_of(char byte)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *place = byte == '\0' ? NULL : strchr(digits, byte);
    return place == NULL ? -1 : (int)(place - digits);
}

/* Base64 to bytes with a NUL; NULL for what is none. */
static char *base64_decode(const char *text)
{
    char *bytes = malloc(strlen(text) / 4 * 3 + 4);
    size_t count = 0;
    uint32_t window = 0;
    int bits = 0;
    for (; bytes != NULL && *text != '\0' && *text != '='; text++) {
        const int digit = digit_of(*text);
        if (digit < 0) {
            free(bytes);
            return NULL;
        }
        window = (window << 6 | (uint32_t)digit) & 0xffffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes[count++] = (char)(window >> bits & 0xff);
        }
    }
    if (bytes != NULL) {
        bytes[count] = '\0';
    }
    return bytes;
}

/* `  - "key": "value",` into key and value, in place. Returns false for a line that is none. */
static bool line_split(char *line, char **ret_key, char **ret_value)
{
    line += strspn(line, " \t-\"");
    char *colon = strchr(line, ':');
    if (colon == NULL || *line == '#') {
        return false;
    }
    char *value = colon + 1;
    while (colon > line && (colon[-1] == '"' || isspace((unsigned char)colon[-1]))) {
        colon--;
    }
    *colon = '\0';
    value += strspn(value, " \t\"'");
    size_t bytes = strlen(value);
    while (bytes > 0 && strchr(" \t\r\n\"',", value[bytes - 1]) != NULL) {
        value[--bytes] = '\0';
    }
    *ret_key = line;
    *ret_value = value;
    return true;
}

static bool path_set(const char *folder_of, const char *value, char *ret_path)
{
    const char *slash = strrchr(folder_of, '/');
    const int folder_bytes = value[0] == '/' || slash == NULL ? 0 : (int)(slash + 1 - folder_of);
    return snprintf(ret_path, 512, "%.*s%s", folder_bytes, folder_of, value) < 512;
}

static bool entry_take(const struct entry *entry,
                       const char *path,
                       const char *value,
                       struct api_server *server,
                       struct agent_error *ret_error)
{
    void *place = (char *)server + entry->offset;
    bool ok = true;
    if (entry->kind == ENTRY_REFUSED) {
        return strcmp(value, "false") == 0 ||
               agent_error_set(ret_error, "%.200s: %s is not supported", path, entry->key);
    }
    if (entry->kind == ENTRY_URL || entry->kind == ENTRY_PATH) {
        if (*(char *)place != '\0') {
            return agent_error_set(ret_error,
                                   "%.200s: %s is there twice; write one cluster and one user with "
                                   "kubectl config view --minify --flatten --raw",
                                   path, entry->key);
        }
        ok = entry->kind == ENTRY_URL ? snprintf(place, 512, "%s", value) < 512
                                      : path_set(path, value, place);
    } else {
        free(*(char **)place);
        *(char **)place = entry->kind == ENTRY_DATA ? base64_decode(value) : strdup(value);
        ok = *(char **)place != NULL;
    }
    return ok || agent_error_set(ret_error, "%.200s: %s cannot be read", path, entry->key);
}

static bool line_take(char *line,
                      const char *path,
                      struct api_server *server,
                      struct agent_error *ret_error)
{
    char *key;
    char *value;
    if (!line_split(line, &key, &value)) {
        return true;
    }
    for (size_t i = 0; i < ENTRIES; i++) {
        if (strcmp(entries[i].key, key) == 0) {
            return entry_take(&entries[i], path, value, server, ret_error);
        }
    }
    return true;
}

bool kubeconfig_read(const char *path, struct api_server *ret_server, struct agent_error *ret_error)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return agent_error_set(ret_error, "kubeconfig %.200s cannot be read: %m", path);
    }
    char *line = NULL;
    size_t room = 0;
    bool ok = true;
    while (ok && getline(&line, &room, file) >= 0) {
        ok = line_take(line, path, ret_server, ret_error);
    }
    free(line);
    (void)fclose(file);
    if (ok && ret_server->url[0] == '\0') {
        return agent_error_set(ret_error, "kubeconfig %.200s names no server", path);
    }
    return ok;
}
