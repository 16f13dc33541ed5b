/*
 * What the owner of a token may see among what a reader found (SPEC 10.2). Which routes a role may call stands in the
 * route table; what names in a command lead to is bounded by the ledger. This is for reads.
 */
#ifndef SERVER_RIGHTS_H
#define SERVER_RIGHTS_H

#include "ledger/ledger.h"
#include "server/auth.h"

/** The place of a principal, looked up once per request in its snapshot. */
struct rights {
    const struct principal *principal;
    bool sees_all;
    struct cluster cluster; /* of a scheduler */
};

MUST_USE enum error_code rights_begin(const struct principal *principal,
                                      struct ledger_reader *reader,
                                      struct rights *ret_rights,
                                      struct error *err);

/* ERR_OK, or ERR_NOT_FOUND: what one may not see does not exist. @name is for the message. */
enum error_code rights_see_root(const struct rights *rights,
                                int64_t root_no,
                                const char *name,
                                struct error *err);
enum error_code rights_see_cluster(const struct rights *rights,
                                   int64_t cluster_no,
                                   const char *name,
                                   struct error *err);

/** A hold: of a scheduler's own cluster. */
bool rights_see_hold(const struct rights *rights, const struct hold *hold);

#endif
