/*
 * A person's name overwritten: removal (SPEC 2.4). Numbers stand for people everywhere but in a few texts, so sums, journal
 * and digests stay as they are. Members, users of clusters and tokens are gone through, in one transaction. The audit log may
 * be long: a reader looks through it before, and what it finds is overwritten in pieces after (server/api_people.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/admin.h"
#include "ledger/audit.h"
#include "ledger/lists.h"
#include "ledger/names.h"

enum { BATCH = 64 };

/* Numbers or names of what is to be changed, a batch at a time: a callback may not use the working set. */
struct found {
    const char *person;
    size_t count;
    int64_t last_no;
    int64_t nos[BATCH];
    char names[BATCH][RECORD_NAME_BYTES];
};

/* ---- members */

static bool find_member(void *context, const void *record)
{
    struct found *found = context;
    const struct node *node = record;
    found->last_no = node->node_no;
    if (strcmp(node->name, found->person) == 0) {
        found->nos[found->count++] = node->node_no;
    }
    return found->count < BATCH;
}

static enum error_code rename_member(struct ledger *ledger,
                                     int64_t node_no,
                                     const struct command_rename *given,
                                     struct error *err)
{
    struct node *node =
        working_set_change(ledger->set, row_find(ledger->set, RECORD_NODE, node_no));
    if (names_member(ledger, node->parent_no, given->to) != NULL) {
        return error_set_field(err, ERR_INVALID_STATE, "name",
                               "a project of theirs has a member %s already", given->to);
    }
    working_set_remove(ledger->set,
                       row_find_name(ledger->set, NAMES_MEMBER, node->parent_no, given->person));
    row_add_name(ledger->set, NAMES_MEMBER, node->parent_no, given->to, node_no);
    row_text(node->name, sizeof node->name, given->to);
    node->version++;
    return ERR_OK;
}

/* A line in the log of each root that the person was in: who asks a root for its changes is to see it. */
static void tell_root(struct ledger *ledger, const struct command_rename *given, int64_t node_no)
{
    char what[RECORD_WHAT_BYTES];
    struct audit_values after;
    const struct node *node = row_get(ledger->set, RECORD_NODE, node_no);
    if (node == NULL) {
        return;
    }
    audit_begin(&after);
    audit_add_text(&after, "name", given->to);
    audit_add_text(&after, "reason", given->reason);
    (void)audit_change(ledger, &(struct audit_change){
                                   .action = AUDIT_RENAME,
                                   .root_no = node->root_no,
                                   .node_no = node_no,
                                   .what = audit_path(ledger, node, what),
                                   .after = audit_end(&after),
                               });
}

static enum error_code rename_members(struct ledger *ledger,
                                      const struct command_rename *given,
                                      int64_t *ret_count,
                                      struct error *err)
{
    struct found found = {.person = given->person};
    enum error_code code = ERR_OK;
    do {
        const struct select_args args = {.n = {0, NODE_MEMBER, found.last_no}};
        found.count = 0;
        working_set_select(ledger->set, SELECT_NODES, &args, find_member, &found);
        for (size_t i = 0; i < found.count && code == ERR_OK; i++) {
            code = rename_member(ledger, found.nos[i], given, err);
            if (code == ERR_OK) {
                tell_root(ledger, given, found.nos[i]);
            }
        }
        *ret_count += (int64_t)found.count;
    } while (found.count == BATCH && code == ERR_OK);
    return code;
}

/* ---- users of clusters */

static bool find_user(void *context, const void *record)
{
    struct found *found = context;
    const struct name *name = record;
    if (strcmp(name->target, found->person) == 0 || strcmp(name->name, found->person) == 0) {
        row_text(found->names[found->count++], RECORD_NAME_BYTES, name->name);
    }
    return found->count < BATCH;
}

/* Who is mapped to the person is mapped to the new name; a user of that very name is mapped no more. */
static int64_t rename_users(struct ledger *ledger,
                            const struct command_rename *given,
                            int64_t cluster_no)
{
    struct found found = {.person = given->person};
    int64_t count = 0;
    do {
        const struct select_args args = {.n = {NAMES_USER, cluster_no}, .s = {""}};
        found.count = 0;
        working_set_select(ledger->set, SELECT_NAMES, &args, find_user, &found);
        for (size_t i = 0; i < found.count; i++) {
            struct cell *cell = row_find_name(ledger->set, NAMES_USER, cluster_no, found.names[i]);
            if (strcmp(found.names[i], given->person) == 0) {
                working_set_remove(ledger->set, cell);
                continue;
            }
            struct name *row = working_set_change(ledger->set, cell);
            row_text(row->target, sizeof row->target, given->to);
            row->version++;
        }
        count += (int64_t)found.count;
    } while (found.count == BATCH && working_set_failure(ledger->set, NULL) == ERR_OK);
    return count;
}

static bool find_use(void *context, const void *record)
{
    struct found *found = context;
    const struct unattributed *use = record;
    if (strcmp(use->user, found->person) == 0) {
        row_text(found->names[found->count++], RECORD_NAME_BYTES, use->id);
    }
    return found->count < BATCH;
}

static int64_t rename_uses(struct ledger *ledger,
                           const struct command_rename *given,
                           int64_t cluster_no)
{
    struct found found = {.person = given->person};
    int64_t count = 0;
    do {
        const struct select_args args = {.n = {cluster_no}};
        found.count = 0;
        working_set_select(ledger->set, SELECT_UNATTRIBUTED, &args, find_use, &found);
        for (size_t i = 0; i < found.count; i++) {
            struct unattributed key = {.cluster_no = cluster_no};
            row_text(key.id, sizeof key.id, found.names[i]);
            struct unattributed *row = working_set_change(
                ledger->set, working_set_find(ledger->set, RECORD_UNATTRIBUTED, &key));
            row_text(row->user, sizeof row->user, given->to);
        }
        count += (int64_t)found.count;
    } while (found.count == BATCH && working_set_failure(ledger->set, NULL) == ERR_OK);
    return count;
}

/* ---- tokens */

struct found_tokens {
    const char *person;
    size_t count;
    struct digest hashes[BATCH];
};

/* PROJECT/PERSON */
static const char *person_of_place(const struct token *token)
{
    const char *slash = token->role == ROLE_MEMBER ? strchr(token->place, '/') : NULL;
    return slash == NULL ? "" : slash + 1;
}

static bool find_token(void *context, const void *record)
{
    struct found_tokens *found = context;
    const struct token *token = record;
    if (strcmp(person_of_place(token), found->person) == 0 ||
        strcmp(token->name, found->person) == 0) {
        found->hashes[found->count++] = token->hash;
    }
    return found->count < BATCH;
}

static void rename_token(struct token *token, const struct command_rename *given)
{
    char place[RECORD_PLACE_BYTES];
    if (strcmp(token->name, given->person) == 0) {
        row_text(token->name, sizeof token->name, given->to);
    }
    if (strcmp(person_of_place(token), given->person) == 0) {
        (void)snprintf(place, sizeof place, "%.*s/%s", (int)strcspn(token->place, "/"),
                       token->place, given->to);
        memcpy(token->place, place, sizeof place);
    }
}

static int64_t rename_tokens(struct ledger *ledger, const struct command_rename *given)
{
    struct found_tokens found = {.person = given->person};
    const struct select_args args = {0};
    int64_t count = 0;
    do {
        found.count = 0;
        working_set_select(ledger->set, SELECT_TOKENS, &args, find_token, &found);
        for (size_t i = 0; i < found.count; i++) {
            rename_token(working_set_change(ledger->set, working_set_find(ledger->set, RECORD_TOKEN,
                                                                          &found.hashes[i])),
                         given);
        }
        count += (int64_t)found.count;
    } while (found.count == BATCH && working_set_failure(ledger->set, NULL) == ERR_OK);
    return count;
}

/* ---- all of it */

static int64_t tell_service(struct ledger *ledger, const struct command_rename *given)
{
    char what[RECORD_WHAT_BYTES];
    struct audit_values after;
    audit_begin(&after);
    audit_add_text(&after, "name", given->to);
    audit_add_text(&after, "reason", given->reason);
    (void)snprintf(what, sizeof what, "people/%s", given->to);
    return audit_change(
        ledger,
        &(struct audit_change){.action = AUDIT_RENAME, .what = what, .after = audit_end(&after)});
}

enum error_code admin_rename_person(struct ledger *ledger,
                                    const struct command *command,
                                    struct ledger_result *ret_result,
                                    struct error *err)
{
    const struct command_rename *given = &command->rename;
    struct ledger_renamed renamed = {0};
    if (strcmp(given->person, given->to) == 0 || strcmp(given->person, "*") == 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "name", "another name than %s",
                               given->person);
    }
    enum error_code code = rename_members(ledger, given, &renamed.members, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct cluster_list *clusters = list_clusters(ledger);
    for (size_t i = 0; i < clusters->count; i++) {
        renamed.mappings += rename_users(ledger, given, clusters->nos[i]);
        renamed.mappings += rename_uses(ledger, given, clusters->nos[i]);
    }
    renamed.tokens = rename_tokens(ledger, given);
    renamed.by_no = tell_service(ledger, given);
    renamed.changes =
        audit_overwrite(ledger, given->person, given->to, given->looked_no, renamed.by_no);
    working_set_touch(ledger->set);
    if (renamed.members + renamed.mappings + renamed.tokens + renamed.changes + given->found == 0) {
        return error_set(err, ERR_NOT_FOUND, "nobody has the name %s", given->person);
    }
    ret_result->renamed = renamed;
    return working_set_failure(ledger->set, err);
}

enum error_code admin_overwrite(struct ledger *ledger,
                                const struct command *command,
                                struct ledger_result *ret_result,
                                struct error *err)
{
    ret_result->renamed.changes = audit_overwrite_some(ledger, &command->overwrite);
    return working_set_failure(ledger->set, err);
}
