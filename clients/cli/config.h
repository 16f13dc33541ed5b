/*
 * Where the daemon is and who asks: COREHOUR_URL and COREHOUR_TOKEN, or ~/.config/corehour/config (below
 * XDG_CONFIG_HOME where that is set), and for what neither gives /etc/corehour/client.conf, the site's. A file has lines
 * `key = value`; "#" begins a comment line. Keys: url, token, language, ca_file, door, munge_socket. The environment wins
 * over the person's file, which wins over the site's.
 */
#ifndef COREHOUR_CLIENTS_CLI_CONFIG_H
#define COREHOUR_CLIENTS_CLI_CONFIG_H

#include <stdbool.h>

struct config {
    char url[512];
    char token[256];
    char language[32];
    char ca_file[512];
    char door[512];         /* where a token is to be had without one (clients/door.h) */
    char munge_socket[512]; /* "": MUNGE's default */
    char path[512];         /* of the file, whether it is there or not */
    const char *open_path;  /* borrowed: a file that holds a token and others may read; or NULL */
};

/* One line about a configuration that cannot be used. */
struct config_error {
    char detail[700];
};

/*
 * Reads file and environment. What is given nowhere is "". A missing file is fine. Returns false, with
 * ret_error set, on a line that is no `key = value`, an unknown key, a value that is too long, or a file
 * that is there and cannot be read.
 */
bool config_load(struct config *ret_config, struct config_error *ret_error);

/* As config_load, with the file at `path` and no look at the environment. */
bool config_file_read(const char *path, struct config *config, struct config_error *ret_error);

#endif
