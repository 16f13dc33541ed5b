/* Ids of holds, charges, grants and the like, made by the client so that a retry is the same
 * command. */
#ifndef COREHOUR_CLIENTS_IDS_H
#define COREHOUR_CLIENTS_IDS_H

#include "result.h"

/* Room for an id: 64 characters (SPEC 1.6) and the terminating NUL. */
#define COREHOUR_ID_BYTES 65

/*
 * Makes an id `<prefix>-<UUIDv7>` (RFC 9562): ordered in time, which keeps the ledger's index warm,
 * with 74 random bits.
 *
 * prefix: 1 to 27 characters of [A-Za-z0-9._:-], the first a letter or digit; a cluster's name, or
 * a word such as "grant". A longer one is cut to 27. ret_id: COREHOUR_ID_BYTES. Returns
 * COREHOUR_OK; COREHOUR_INVALID for another prefix; COREHOUR_MEMORY when the kernel has no random
 * numbers. Safe in any thread; never allocates.
 */
COREHOUR_API enum corehour_result corehour_id_create(const char *prefix, char *ret_id);

#endif
