/* SPDX-License-Identifier: MIT
 *
 * The one configuration file of the Slurm side: `key = value` lines, blank lines and comments that begin with '#'. Its keys
 * are the rows of slurm_config.def. An unknown key, a key given twice and a value out of its range are refused with file,
 * line and name. Nothing here knows Slurm or HTTP.
 */
#ifndef COREHOUR_CLIENTS_SLURM_SLURM_CONFIG_H
#define COREHOUR_CLIENTS_SLURM_SLURM_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clients/keys.h"

enum {
    SLURM_CONFIG_TEXT_BYTES = KEY_TEXT_BYTES,
    SLURM_CONFIG_UIDS_MAX = 32,
    SLURM_CONFIG_TOKEN_BYTES = 256,
};

/* Values of CHOICE keys: the numbers of their words. */
enum slurm_mode { SLURM_MODE_ENFORCE, SLURM_MODE_OBSERVE };
enum slurm_fail_policy { SLURM_FAIL_CLOSED, SLURM_FAIL_OPEN };
enum slurm_language { SLURM_LANGUAGE_EN, SLURM_LANGUAGE_ZH };

struct slurm_config_uids {
    unsigned count;
    struct {
        uint32_t first;
        uint32_t last;
    } ranges[SLURM_CONFIG_UIDS_MAX];
};

#define SLURM_CONFIG_TYPE_INTEGER int64_t
#define SLURM_CONFIG_TYPE_CHOICE  int64_t
#define SLURM_CONFIG_TYPE_TEXT    struct key_text
#define SLURM_CONFIG_TYPE_UIDS    struct slurm_config_uids
#define SLURM_CONFIG_ROW(name, type, default_value, min, max, choices, meaning) \
    SLURM_CONFIG_TYPE_##type name;
/* One member a key. */
struct slurm_config {
#include "clients/slurm/slurm_config.def"
};
#undef SLURM_CONFIG_ROW

/* One line of English, cut to its room. The caller owns it. */
struct slurm_config_error {
    char detail[320];
};

/* The file's path: COREHOUR_SLURM_CONF when set and not empty, else /etc/corehour/slurm.conf. Reads the environment: call it
 * before there are threads. */
const char *slurm_config_path(void);

/*
 * The defaults, and over them the file. `cluster` must be given; the file must exist.
 *
 * ret_config: set on success only. Returns false with ret_error filled: not readable, an unknown or repeated key, a bad value,
 * a line of more than 1023 bytes, no cluster.
 */
bool slurm_config_read(const char *path,
                       struct slurm_config *ret_config,
                       struct slurm_config_error *ret_error);

/*
 * Reads the token: the first line of config->token_file without white space around it.
 * ret_token: SLURM_CONFIG_TOKEN_BYTES. Returns false with ret_error filled when there is none.
 */
bool slurm_config_token_read(const struct slurm_config *config,
                             char *ret_token,
                             struct slurm_config_error *ret_error);

/* Whether a user is named by admin_uids. root and SlurmUser are the caller's to know. */
bool slurm_config_is_admin(const struct slurm_config *config, uint32_t uid);

#endif
