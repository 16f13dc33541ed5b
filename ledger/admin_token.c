/* Tokens (SPEC 10.1): stored by the hash that the server made; the token itself is never seen here. */
#include <string.h>

#include "ledger/admin.h"
#include "ledger/audit_describe.h"
#include "ledger/names.h"

/* How long a token is good at most that a scheduler made. */
enum { LENT_S = 86400 };

static bool keep_hash(void *context, const void *record)
{
    *(struct digest *)context = ((const struct token *)record)->hash;
    return false;
}

/* The token of an id; NULL when there is none. */
static struct cell *token_of(struct ledger *ledger, const char *id)
{
    static const struct digest none;
    struct digest hash = none;
    const struct select_args args = {.s = {id}, .limit = 1};
    working_set_select(ledger->set, SELECT_TOKENS_OF_ID, &args, keep_hash, &hash);
    return digest_equal(&hash, &none) ? NULL : working_set_find(ledger->set, RECORD_TOKEN, &hash);
}

/* project/person */
static enum error_code find_person(struct ledger *ledger,
                                   const struct command *command,
                                   int64_t *ret_no,
                                   struct error *err)
{
    char project[RECORD_NODE_NAME_BYTES];
    const char *place = command->token.token.place;
    const char *slash = strchr(place, '/');
    if (slash == NULL || (size_t)(slash - place) >= sizeof project) {
        return error_set_field(err, ERR_INVALID_FIELD, "place", "a member's place is PROJECT/USER");
    }
    memcpy(project, place, (size_t)(slash - place));
    project[slash - place] = '\0';
    struct cell *cell;
    enum error_code code = names_seen_node(ledger, command, NODE_PROJECT, project, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    int64_t project_no = ((const struct node *)cell_record(cell))->node_no;
    struct cell *member = names_member(ledger, project_no, slash + 1);
    if (member == NULL) {
        return error_set_field(err, ERR_NOT_FOUND, "place", "no member %s", place);
    }
    *ret_no = ((const struct node *)cell_record(member))->node_no;
    return ERR_OK;
}

/* A lead's and a viewer's place is any organization or project, finance's is a root. */
static enum error_code find_node_place(struct ledger *ledger,
                                       const struct token *token,
                                       int64_t *ret_no,
                                       struct error *err)
{
    struct cell *cell;
    enum error_code code = names_node(ledger, NODE_MEMBER, token->place, &cell, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct node *node = cell_record(cell);
    if (token->role == ROLE_FINANCE && node->parent_no != 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "place",
                               "%s is not a root: finance works for a whole root", token->place);
    }
    *ret_no = node->node_no;
    return ERR_OK;
}

static enum error_code find_place(struct ledger *ledger,
                                  const struct command *command,
                                  int64_t *ret_no,
                                  struct error *err)
{
    const struct token *token = &command->token.token;
    struct cell *cell;
    enum error_code code;
    *ret_no = 0;
    switch (token->role) {
    case ROLE_ADMIN:
        return token->place[0] == '\0'
                   ? ERR_OK
                   : error_set_field(err, ERR_INVALID_FIELD, "place", "an admin's place is null");
    case ROLE_SCHEDULER:
        code = names_cluster_by_name(ledger, token->place, &cell, err);
        if (code == ERR_OK) {
            *ret_no = ((const struct cluster *)cell_record(cell))->cluster_no;
        }
        return code;
    case ROLE_LEAD:
    case ROLE_FINANCE:
    case ROLE_VIEWER:
        return find_node_place(ledger, token, ret_no, err);
    case ROLE_MEMBER:
        return find_person(ledger, command, ret_no, err);
    }
    return error_set_field(err, ERR_INVALID_FIELD, "role", "no such role");
}

/* A scheduler vouches for the people of its cluster: it makes tokens of members, for a day at most (SPEC 10.1). */
static enum error_code check_maker(struct ledger *ledger,
                                   const struct command *command,
                                   struct error *err)
{
    const struct token *given = &command->token.token;
    const int64_t last_s = admin_now_ms(ledger) / 1000 + LENT_S;
    if (command->role != ROLE_SCHEDULER) {
        return ERR_OK;
    }
    if (given->role != ROLE_MEMBER) {
        return error_set_field(err, ERR_NOT_ALLOWED, "role",
                               "a scheduler makes tokens of members only");
    }
    if (given->expires_s == 0 || given->expires_s > last_s) {
        return error_set_field(err, ERR_INVALID_FIELD, "expires_at",
                               "a token that a scheduler makes ends within a day");
    }
    return ERR_OK;
}

enum error_code admin_put_token(struct ledger *ledger,
                                const struct command *command,
                                struct ledger_result *ret_result,
                                struct error *err)
{
    const struct token *given = &command->token.token;
    int64_t place_no;
    enum error_code code = check_maker(ledger, command, err);
    code = code == ERR_OK ? find_place(ledger, command, &place_no, err) : code;
    if (code != ERR_OK) {
        return code;
    }
    struct cell *cell = working_set_find(ledger->set, RECORD_TOKEN, &given->hash);
    if (cell_exists(cell) || token_of(ledger, given->id) != NULL) {
        return error_set_field(err, ERR_ID_REUSED, "id", "there is a token %s already", given->id);
    }
    struct token *row = working_set_make(ledger->set, cell);
    *row = *given;
    row->token_no = row_take_no(ledger->set, "token");
    row->revoked = 0;
    row->place_no = place_no;
    row->used_s = 0;
    row->created_ms = admin_now_ms(ledger);
    audit_token(ledger, "token.make", NULL, row);
    ret_result->created = true;
    ret_result->token = *row;
    return ERR_OK;
}

enum error_code admin_revoke_token(struct ledger *ledger,
                                   const struct command *command,
                                   struct ledger_result *ret_result,
                                   struct error *err)
{
    struct cell *cell = token_of(ledger, command->token.token.id);
    if (cell == NULL || !cell_exists(cell)) {
        return error_set(err, ERR_NOT_FOUND, "no token %s", command->token.token.id);
    }
    if (((const struct token *)cell_record(cell))->revoked != 0) {
        ret_result->no_effect = true;
        return ERR_OK;
    }
    const int64_t now_s = admin_now_ms(ledger) / 1000;
    struct token *row = working_set_change(ledger->set, cell);
    row->revoked = 1;
    audit_token(ledger, "token.revoke", row, NULL);
    /* From now on it is over: it goes when those go that have ended by themselves. */
    row->expires_s = row->expires_s == 0 || row->expires_s > now_s ? now_s : row->expires_s;
    ret_result->token = *row;
    return ERR_OK;
}

/* The key of a token is its hash: the row moves to the new one. */
enum error_code admin_rotate_token(struct ledger *ledger,
                                   const struct command *command,
                                   struct ledger_result *ret_result,
                                   struct error *err)
{
    const struct token *given = &command->token.token;
    struct cell *cell = token_of(ledger, given->id);
    if (cell == NULL || !cell_exists(cell)) {
        return error_set(err, ERR_NOT_FOUND, "no token %s", given->id);
    }
    const struct token before = *(const struct token *)cell_record(cell);
    const int64_t now_s = admin_now_ms(ledger) / 1000;
    if (before.revoked != 0 || (before.expires_s != 0 && before.expires_s <= now_s)) {
        return error_set(err, ERR_INVALID_STATE, "token %s is revoked or over: make a new one",
                         given->id);
    }
    working_set_remove(ledger->set, cell);
    struct token *row =
        working_set_make(ledger->set, working_set_find(ledger->set, RECORD_TOKEN, &given->hash));
    *row = before;
    row->hash = given->hash;
    row->old_hash = before.hash;
    row->old_until_s = command->token.old_valid_s > 0 ? now_s + command->token.old_valid_s : 0;
    audit_token(ledger, "token.rotate", &before, row);
    ret_result->token = *row;
    return ERR_OK;
}

enum error_code admin_touch_token(struct ledger *ledger,
                                  const struct command *command,
                                  struct ledger_result *ret_result,
                                  struct error *err)
{
    struct cell *cell = working_set_find(ledger->set, RECORD_TOKEN, &command->due.token);
    int64_t minute_s = admin_now_ms(ledger) / 60000 * 60;
    (void)err;
    if (!cell_exists(cell) || ((const struct token *)cell_record(cell))->used_s >= minute_s) {
        ret_result->no_effect = true;
        return ERR_OK;
    }
    struct token *row = working_set_change(ledger->set, cell);
    row->used_s = minute_s;
    return ERR_OK;
}
