/*
 * The configuration of corehourd: a file of `name = value` lines, the keys of schema/config.def.
 *
 * Command line options win over the file. An unknown key, a key given twice and a value out of range are refused
 * with file and line.
 */
#ifndef SERVER_CONFIG_H
#define SERVER_CONFIG_H

#include <stdint.h>

#include "ledger/base/error.h"
#include "ledger/base/log.h"

enum { CONFIG_TEXT_BYTES = 1024 };

struct config_text {
    char text[CONFIG_TEXT_BYTES];
};

#define CONFIG_TYPE_INTEGER int64_t
#define CONFIG_TYPE_SWITCH  int64_t
#define CONFIG_TYPE_LEVEL   enum log_level
#define CONFIG_TYPE_TEXT    struct config_text
#define CONFIG_ROW(name, type, default_value, min, max, reloadable, meaning) \
    CONFIG_TYPE_##type name;
/** One member a key. */
struct config {
#include "schema/config.def"
};
#undef CONFIG_ROW

/** The defaults of all keys. */
void config_init(struct config *config);

/**
 * Read a file over what @config holds.
 *
 * Returns ERR_OK; ERR_NOT_FOUND when there is no such file; ERR_INVALID_FIELD with "FILE:LINE: ..." for a line that
 * is wrong; ERR_TOO_LARGE beyond LIMIT_CONFIG_BYTES. @config is undefined after a failure.
 */
MUST_USE enum error_code config_read(const char *path, struct config *config, struct error *err);

/** Set one key from its text. ERR_INVALID_FIELD with the key's name. */
MUST_USE enum error_code config_set(struct config *config,
                                    const char *name,
                                    const char *value,
                                    struct error *err);

/** Take over the reloadable keys of @fresh; logs others that differ: they wait for a restart. */
void config_reload(struct config *config, const struct config *fresh);

#endif
