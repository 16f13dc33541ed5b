/*
 * Compares lists of migrations. Applying them is the engine's part.
 */
#include "ledger/store/migrate.h"

#include <string.h>

const struct migration_text *migrate_list(const char *engine, size_t *ret_count)
{
    size_t first = 0;
    while (first < MIGRATION_COUNT && strcmp(migration_texts[first].engine, engine) != 0) {
        first++;
    }
    size_t end = first;
    while (end < MIGRATION_COUNT && strcmp(migration_texts[end].engine, engine) == 0) {
        end++;
    }
    *ret_count = end - first;
    return &migration_texts[first];
}

void migrate_checksum(const struct migration_text *migration, char ret_text[DIGEST_TEXT_BYTES])
{
    struct digest digest = digest_of(migration->text, migration->bytes);
    (void)digest_format(&digest, ret_text);
}

/* How many of the first applied ones are numbered 1, 2, ... */
static size_t unbroken(const struct migrate_applied *applied, size_t applied_count)
{
    size_t i = 0;
    while (i < applied_count && applied[i].number == (int64_t)i + 1) {
        i++;
    }
    return i;
}

/* How many of the first applied ones are the same files as those built in. */
static size_t unaltered(const struct migration_text *migrations,
                        const struct migrate_applied *applied,
                        size_t applied_count)
{
    size_t i = 0;
    char checksum[DIGEST_TEXT_BYTES];
    for (; i < applied_count; i++) {
        migrate_checksum(&migrations[i], checksum);
        if (strcmp(checksum, applied[i].checksum) != 0) {
            break;
        }
    }
    return i;
}

enum error_code migrate_plan(const struct migration_text *migrations,
                             size_t count,
                             const struct migrate_applied *applied,
                             size_t applied_count,
                             size_t *ret_first,
                             struct error *err)
{
    size_t numbered = unbroken(applied, applied_count);
    if (numbered < applied_count) {
        return error_set(err, ERR_UNAVAILABLE,
                         "the ledger lacks migration %zu: it is damaged, restore a backup",
                         numbered + 1);
    }
    if (applied_count > count) {
        return error_set(err, ERR_UNAVAILABLE,
                         "the ledger's schema is at %zu, this program knows %zu: use the newer "
                         "program that made it",
                         applied_count, count);
    }
    size_t same = unaltered(migrations, applied, applied_count);
    if (same < applied_count) {
        return error_set(err, ERR_UNAVAILABLE,
                         "the ledger went through another migration than this program's %s: use "
                         "the program that made it",
                         migrations[same].name);
    }
    *ret_first = applied_count;
    return ERR_OK;
}
