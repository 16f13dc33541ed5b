/*
 * Which migrations a ledger needs: numbered, forward only, checksummed.
 *
 * A ledger remembers number, name and SHA-256 of every migration it has gone through. It is opened
 * only when these are the first ones of those built in: one that a newer program made is refused,
 * and so is one that went through other files of the same numbers.
 */
#ifndef LEDGER_STORE_MIGRATE_H
#define LEDGER_STORE_MIGRATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/base/digest.h"
#include "ledger/base/error.h"
#include "schema/sql.h"

enum { MIGRATE_NAME_BYTES = 128 };

/* A migration that a ledger has gone through. */
struct migrate_applied {
    int64_t number;
    char checksum[DIGEST_TEXT_BYTES];
};

/* The built-in migrations of an engine, ascending from number 1. */
const struct migration_text *migrate_list(const char *engine, size_t *ret_count);

/* SHA-256 of a migration's bytes, in hex. */
void migrate_checksum(const struct migration_text *migration, char ret_text[DIGEST_TEXT_BYTES]);

/*
 * Compare what a ledger went through with what is built in.
 *
 * @applied    ascending by number; borrowed
 * @ret_first  index into @migrations of the first that is still to be applied; count when none is
 *
 * Errors: ERR_UNAVAILABLE, saying what to do, when the ledger is newer than this program, or its
 * migrations have gaps or other contents.
 */
MUST_USE enum error_code migrate_plan(const struct migration_text *migrations,
                                      size_t count,
                                      const struct migrate_applied *applied,
                                      size_t applied_count,
                                      size_t *ret_first,
                                      struct error *err);

#endif
