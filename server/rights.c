/* Rights of reads. Roles beside admin and scheduler see nothing yet: no token of theirs can be made. */
#include "server/rights.h"

enum error_code rights_begin(const struct principal *principal,
                             struct ledger_reader *reader,
                             struct rights *ret_rights,
                             struct error *err)
{
    ret_rights->principal = principal;
    ret_rights->sees_all = principal->role == ROLE_ADMIN;
    if (principal->role != ROLE_SCHEDULER) {
        return ERR_OK;
    }
    return ledger_read_cluster(reader, principal->place, &ret_rights->cluster, err);
}

static bool serves_root(const struct cluster *cluster, int64_t root_no)
{
    for (int32_t i = 0; i < cluster->root_count; i++) {
        if (cluster->roots[i].root_no == root_no) {
            return true;
        }
    }
    return cluster->root_count == 0;
}

enum error_code rights_see_root(const struct rights *rights,
                                int64_t root_no,
                                const char *name,
                                struct error *err)
{
    const bool is_scheduler = rights->principal->role == ROLE_SCHEDULER;
    if (rights->sees_all || (is_scheduler && serves_root(&rights->cluster, root_no))) {
        return ERR_OK;
    }
    return error_set(err, ERR_NOT_FOUND, "%s", name);
}

enum error_code rights_see_cluster(const struct rights *rights,
                                   int64_t cluster_no,
                                   const char *name,
                                   struct error *err)
{
    const bool is_scheduler = rights->principal->role == ROLE_SCHEDULER;
    if (rights->sees_all || (is_scheduler && rights->cluster.cluster_no == cluster_no)) {
        return ERR_OK;
    }
    return error_set(err, ERR_NOT_FOUND, "%s", name);
}

bool rights_see_hold(const struct rights *rights, const struct hold *hold)
{
    const bool is_scheduler = rights->principal->role == ROLE_SCHEDULER;
    return rights->sees_all || (is_scheduler && rights->cluster.cluster_no == hold->cluster_no);
}
