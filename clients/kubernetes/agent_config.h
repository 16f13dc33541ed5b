/*
 * The agent's one configuration file: `key = value` lines, blank lines and comments that begin with '#'. Its keys are the
 * rows of agent_config.def. An unknown key, a key given twice and a value out of its range are refused with file, line and
 * name. Nothing here knows Kubernetes or HTTP.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_AGENT_CONFIG_H
#define COREHOUR_CLIENTS_KUBERNETES_AGENT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "clients/keys.h"

enum {
    AGENT_TOKEN_BYTES = 16384,
};

/* Values of CHOICE keys: the numbers of their words. */
enum agent_fail_policy { AGENT_FAIL_CLOSED, AGENT_FAIL_OPEN };
enum agent_lease { AGENT_LEASE_ON, AGENT_LEASE_OFF };
enum agent_kueue { AGENT_KUEUE_OFF, AGENT_KUEUE_ON };
enum agent_language { AGENT_LANGUAGE_EN, AGENT_LANGUAGE_ZH };

#define AGENT_CONFIG_TYPE_INTEGER int64_t
#define AGENT_CONFIG_TYPE_CHOICE  int64_t
#define AGENT_CONFIG_TYPE_TEXT    struct key_text
#define AGENT_CONFIG_ROW(name, type, default_value, min, max, choices, meaning) \
    AGENT_CONFIG_TYPE_##type name;
/* One member a key. */
struct agent_config {
#include "clients/kubernetes/agent_config.def"
};
#undef AGENT_CONFIG_ROW

/* One line of English, cut to its room. The caller owns it. */
struct agent_error {
    char detail[400];
};

/* Writes into ret_error; returns false, so that a caller can return it. */
bool agent_error_set(struct agent_error *ret_error, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * The defaults, and over them the file. `cluster` must be given; the file must exist.
 *
 * ret_config: set on success only. Returns false with ret_error filled: not readable, an unknown or repeated key, a bad
 * value, a line of more than 1023 bytes, no cluster.
 */
bool agent_config_read(const char *path,
                       struct agent_config *ret_config,
                       struct agent_error *ret_error);

/*
 * Reads the first line of a small file, such as a token, without white space around it.
 * ret_text: `bytes` of room. Returns false with ret_error filled when there is none, or a longer one.
 */
bool agent_line_read(const char *path, char *ret_text, size_t bytes, struct agent_error *ret_error);

/* Prints every key with its default and meaning. */
void agent_config_print(FILE *out);

#endif
