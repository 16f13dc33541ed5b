/*
 * What the owner of a token may see among what a reader found (SPEC 10.2). Which routes a role may call stands in the
 * route table; what names in a command lead to is bounded by the ledger (ledger/names.h). This is for reads.
 *
 *   admin                  everything
 *   scheduler              its cluster and the holds of it; the nodes of the roots that the cluster serves
 *   lead, finance, viewer  the node that is their place, what lies below it, the holds there; the clusters that serve its root
 *   member                 his own node in one project, his own holds; the clusters that serve its root
 *
 * A list is filtered: rights_see_...() for each row. One thing that may not be seen is ERR_NOT_FOUND, as if it were not there.
 */
#ifndef SERVER_RIGHTS_H
#define SERVER_RIGHTS_H

#include "ledger/ledger.h"
#include "server/auth.h"

enum { RIGHTS_REMEMBERED = 64 };

/** The place of a principal, looked up once per request in its snapshot; good until the snapshot ends. */
struct rights {
    const struct principal *principal;
    struct ledger_reader *reader; /* borrowed */
    bool sees_all;
    struct cluster cluster; /* of a scheduler */
    struct node place;      /* of all but admin and scheduler */
    struct rights_verdict { /* what was found out about nodes, by number */
        int64_t node_no;
        bool is_seen;
    } verdicts[RIGHTS_REMEMBERED];
};

MUST_USE enum error_code rights_begin(const struct principal *principal,
                                      struct ledger_reader *reader,
                                      struct rights *ret_rights,
                                      struct error *err);

/* ERR_OK, or ERR_NOT_FOUND: what one may not see does not exist. @name is for the message. */

/** An organization, a project, a member, with all that is told of it. */
enum error_code rights_see_node(struct rights *rights,
                                const struct node *node,
                                const char *name,
                                struct error *err);

/** A whole root: its journal, its months. */
enum error_code rights_see_root(struct rights *rights,
                                int64_t root_no,
                                const char *name,
                                struct error *err);
enum error_code rights_see_cluster(struct rights *rights,
                                   const struct cluster *cluster,
                                   const char *name,
                                   struct error *err);

/**
 * The root that a report is about, of which only a part may be seen: @ret_below_no is the node to whose rows the report is
 * to be narrowed, 0 for all of the root. ERR_NOT_FOUND for a root that the place does not belong to.
 */
enum error_code rights_narrow(struct rights *rights,
                              const struct node *root,
                              int64_t *ret_below_no,
                              struct error *err);

/**
 * The root to look for a hold in: @asked (NULL: none), or else the root of the place, "" where there is none. ERR_NOT_FOUND
 * when another root is asked for than the place's.
 */
MUST_USE enum error_code rights_root_name(const struct rights *rights,
                                          const char *asked,
                                          char ret_name[RECORD_NAME_BYTES],
                                          struct error *err);

/** The same questions by number, for rows of lists. A node that cannot be read is not seen. */
bool rights_see_node_no(struct rights *rights, int64_t node_no);
bool rights_see_hold(struct rights *rights, const struct hold *hold);

/** A project as a filter of a list: one that is seen, or a member's own. */
enum error_code rights_see_project(struct rights *rights,
                                   const struct node *project,
                                   struct error *err);

#endif
