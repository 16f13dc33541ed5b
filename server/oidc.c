/*
 * See oidc.h. The library checks form and signature with the one key that we choose; we choose it by the token's kid among the
 * provider's, and only for the algorithm that belongs to its kind, so that no key is ever used for another.
 */
#include "server/oidc.h"

#include <rhonabwy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <jansson.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/text.h"
#include "server/decode.h"
#include "server/decode_shapes.h"
#include "server/oidc_keys.h"

enum { ROLES_MAX = 64, TEXT_BYTES = 1024, SKEW_S = 60, RSA_BITS_MIN = 2048 };

static const char scheme[] = "bearer ";

/* A group, and what those in it may do where. */
struct mapped_role {
    const char *group; /* within oidc.roles_text */
    enum token_role role;
    const char *place; /* "": admin; may contain {name} */
};

struct oidc {
    struct oidc_keys *keys;
    char issuer[TEXT_BYTES];
    char audience[TEXT_BYTES];
    char name_claim[TEXT_BYTES];
    char groups_claim[TEXT_BYTES];
    char roles_text[TEXT_BYTES];
    size_t role_count;
    struct mapped_role roles[ROLES_MAX];
};

static void jwt_free(jwt_t **jwt)
{
    r_jwt_free(*jwt);
}

static void jwk_free(jwk_t **jwk)
{
    r_jwk_free(*jwk);
}

static void json_free(json_t **json)
{
    json_decref(*json);
}

static enum error_code refuse(struct error *err, const char *why)
{
    return error_set(err, ERR_UNAUTHENTICATED, "the token of the identity provider %s", why);
}

/* ---- the configuration */

/* GROUP=ROLE@PLACE, cut in place. */
static enum error_code read_role(char *text, struct mapped_role *ret_role, struct error *err)
{
    char *equals = strchr(text, '=');
    char *role = equals != NULL ? equals + 1 : NULL;
    char *at = role != NULL ? strchr(role, '@') : NULL;
    if (equals == NULL || equals == text) {
        return error_set_field(err, ERR_INVALID_FIELD, "oidc_roles",
                               "\"%.60s\" is not GROUP=ROLE@PLACE", text);
    }
    *equals = '\0';
    if (at != NULL) {
        *at = '\0';
    }
    const struct decode_choice *choice = choices_role;
    while (choice->name != NULL && strcmp(choice->name, role) != 0) {
        choice++;
    }
    const bool is_admin = choice->name != NULL && choice->value == ROLE_ADMIN;
    if (choice->name == NULL || is_admin != (at == NULL)) {
        return error_set_field(err, ERR_INVALID_FIELD, "oidc_roles",
                               "%.60s: a role, and a place for all but admin", text);
    }
    *ret_role = (struct mapped_role){
        .group = text, .role = (enum token_role)choice->value, .place = at != NULL ? at + 1 : ""};
    return ERR_OK;
}

static enum error_code read_roles(struct oidc *oidc, struct error *err)
{
    char *at = oidc->roles_text;
    while (*at != '\0') {
        char *text = at + strspn(at, " ");
        const size_t bytes = strcspn(text, ";");
        at = text + bytes + (text[bytes] == ';');
        text[bytes] = '\0';
        if (bytes == 0) {
            continue;
        }
        if (oidc->role_count == ROLES_MAX) {
            return error_set_field(err, ERR_INVALID_FIELD, "oidc_roles", "more than %d groups",
                                   ROLES_MAX);
        }
        const enum error_code code = read_role(text, &oidc->roles[oidc->role_count++], err);
        if (code != ERR_OK) {
            return code;
        }
    }
    return oidc->role_count > 0 ? ERR_OK
                                : error_set_field(err, ERR_INVALID_FIELD, "oidc_roles",
                                                  "missing: which groups may do what");
}

static enum error_code take(const char *field, const char *value, char *to, struct error *err)
{
    if (value[0] == '\0' || strlen(value) >= TEXT_BYTES) {
        return error_set_field(err, ERR_INVALID_FIELD, field, "needed beside oidc_issuer");
    }
    memcpy(to, value, strlen(value) + 1);
    return ERR_OK;
}

static enum error_code read_settings(struct oidc *oidc,
                                     const struct oidc_settings *settings,
                                     struct error *err)
{
    const struct {
        const char *field;
        const char *value;
        char *to;
    } texts[] = {
        {"oidc_issuer", settings->issuer, oidc->issuer},
        {"oidc_audience", settings->audience, oidc->audience},
        {"oidc_name_claim", settings->name_claim, oidc->name_claim},
        {"oidc_groups_claim", settings->groups_claim, oidc->groups_claim},
        {"oidc_roles", settings->roles, oidc->roles_text},
    };
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        const enum error_code code = take(texts[i].field, texts[i].value, texts[i].to, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    if (settings->jwks[0] == '\0') {
        return error_set_field(err, ERR_INVALID_FIELD, "oidc_jwks", "needed beside oidc_issuer");
    }
    return read_roles(oidc, err);
}

enum error_code oidc_create(const struct oidc_settings *settings,
                            struct oidc **ret_oidc,
                            struct error *err)
{
    struct oidc *oidc = calloc(1, sizeof(*oidc));
    if (oidc == NULL || r_global_init() != RHN_OK) {
        free(oidc);
        return error_set(err, ERR_UNAVAILABLE, "no memory for the identity provider");
    }
    enum error_code code = read_settings(oidc, settings, err);
    if (code == ERR_OK) {
        code = oidc_keys_create(settings->jwks, &oidc->keys, err);
    }
    if (code != ERR_OK) {
        oidc_destroy(oidc);
        return code;
    }
    *ret_oidc = oidc;
    return ERR_OK;
}

void oidc_reload(struct oidc *oidc)
{
    (void)oidc_keys_refresh(oidc->keys);
}

void oidc_destroy(struct oidc *oidc)
{
    if (oidc != NULL) {
        oidc_keys_destroy(oidc->keys);
        r_global_close();
        free(oidc);
    }
}

/* ---- the signature */

bool oidc_is_token(const char *authorization)
{
    if (authorization == NULL || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0) {
        return false;
    }
    const char *token = authorization + sizeof(scheme) - 1;
    return strncmp(token + strspn(token, " "), "ey", 2) == 0;
}

/* Three parts of a bounded length. */
static enum error_code check_form(const char *token, struct error *err)
{
    size_t dots = 0;
    for (const char *at = token; *at != '\0'; at++) {
        dots += *at == '.';
    }
    if (strlen(token) > OIDC_TOKEN_BYTES) {
        return refuse(err, "is too long");
    }
    return dots == 2 ? ERR_OK : refuse(err, "is not signed");
}

/* The kind of key that an algorithm needs; NULL: it is not taken. */
static const char *key_type_of(jwa_alg algorithm)
{
    if (algorithm == R_JWA_ALG_RS256) {
        return "RSA";
    }
    return algorithm == R_JWA_ALG_ES256 ? "EC" : NULL;
}

static bool text_is(const json_t *object, const char *name, const char *wanted, bool or_absent)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? strcmp(text, wanted) == 0 : or_absent;
}

/* The provider's key of a kid; without one in the token the only key of its kind. NULL: none. */
static json_t *find_key(const json_t *set, const char *kid, const char *type, const char *algorithm)
{
    json_t *found = NULL;
    const json_t *keys = json_object_get(set, "keys");
    for (size_t i = 0; i < json_array_size(keys); i++) {
        json_t *key = json_array_get(keys, i);
        const bool fits = text_is(key, "kty", type, false) && text_is(key, "use", "sig", true) &&
                          text_is(key, "alg", algorithm, true);
        if (!fits || (kid != NULL && !text_is(key, "kid", kid, false))) {
            continue;
        }
        if (kid != NULL) {
            return key;
        }
        if (found != NULL) {
            return NULL;
        }
        found = key;
    }
    return found;
}

static enum error_code import_key(json_t *key, jwk_t **jwk, struct error *err)
{
    unsigned bits = 0;
    if (r_jwk_init(jwk) != RHN_OK || r_jwk_import_from_json_t(*jwk, key) != RHN_OK) {
        return refuse(err, "names a key of the provider that is not sound");
    }
    const int type = r_jwk_key_type(*jwk, &bits, R_FLAG_IGNORE_REMOTE);
    if ((type & R_KEY_TYPE_PUBLIC) == 0 || ((type & R_KEY_TYPE_RSA) != 0 && bits < RSA_BITS_MIN)) {
        return refuse(err, "names a key of the provider that is too short or not public");
    }
    return ERR_OK;
}

/* A key that is not there may have been made since: it is asked for, and the sender told to come again. */
static enum error_code refuse_key(struct oidc *oidc, struct error *err)
{
    if (oidc_keys_refresh(oidc->keys)) {
        return error_set(err, ERR_UNAVAILABLE,
                         "the keys of the identity provider are being read; try again");
    }
    return refuse(err, "is signed by a key that the provider does not have");
}

static enum error_code check_signature(struct oidc *oidc, jwt_t *jwt, struct error *err)
{
    const jwa_alg algorithm = r_jwt_get_sign_alg(jwt);
    const char *type = key_type_of(algorithm);
    CLEANUP(json_free) json_t *critical = r_jwt_get_header_json_t_value(jwt, "crit");
    if (type == NULL || critical != NULL) {
        return refuse(err, "is signed in a way that is not taken: RS256 and ES256 are");
    }
    CLEANUP(cleanup_free) char *text = oidc_keys_text_create(oidc->keys);
    if (text == NULL) {
        return refuse_key(oidc, err);
    }
    CLEANUP(json_free) json_t *set = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    CLEANUP(jwk_free) jwk_t *jwk = NULL;
    json_t *key = find_key(set, r_jwt_get_header_str_value(jwt, "kid"), type,
                           type[0] == 'R' ? "RS256" : "ES256");
    if (key == NULL) {
        return refuse_key(oidc, err);
    }
    const enum error_code code = import_key(key, &jwk, err);
    if (code != ERR_OK) {
        return code;
    }
    return r_jwt_verify_signature(jwt, jwk, R_FLAG_IGNORE_REMOTE) == RHN_OK
               ? ERR_OK
               : refuse(err, "has a signature that is not the provider's");
}

/* ---- the claims */

/* A claim by its name, or by a path with dots ("realm_access.roles"). */
static const json_t *claim_of(const json_t *claims, const char *path)
{
    const json_t *found = json_object_get(claims, path);
    while (found == NULL && claims != NULL) {
        char name[TEXT_BYTES];
        const size_t bytes = strcspn(path, ".");
        memcpy(name, path, bytes);
        name[bytes] = '\0';
        claims = json_object_get(claims, name);
        if (path[bytes] == '\0') {
            return claims;
        }
        path += bytes + 1;
    }
    return found;
}

/* A text, or a list with it. */
static bool has_text(const json_t *claim, const char *text)
{
    if (json_is_string(claim)) {
        return strcmp(json_string_value(claim), text) == 0;
    }
    for (size_t i = 0; i < json_array_size(claim); i++) {
        const char *element = json_string_value(json_array_get(claim, i));
        if (element != NULL && strcmp(element, text) == 0) {
            return true;
        }
    }
    return false;
}

static enum error_code check_times(const json_t *claims, int64_t now_s, struct error *err)
{
    const json_t *expires = json_object_get(claims, "exp");
    const json_t *begins = json_object_get(claims, "nbf");
    if (!json_is_integer(expires) || json_integer_value(expires) <= now_s - SKEW_S) {
        return refuse(err, "is over");
    }
    if (begins != NULL &&
        (!json_is_integer(begins) || json_integer_value(begins) > now_s + SKEW_S)) {
        return refuse(err, "is not valid yet");
    }
    return ERR_OK;
}

static enum error_code check_claims(const struct oidc *oidc,
                                    const json_t *claims,
                                    int64_t now_s,
                                    struct error *err)
{
    if (!text_is(claims, "iss", oidc->issuer, false)) {
        return refuse(err, "is of another issuer");
    }
    if (!has_text(json_object_get(claims, "aud"), oidc->audience)) {
        return refuse(err, "is for another audience");
    }
    return check_times(claims, now_s, err);
}

/* ---- who, with what role where */

static enum error_code fill_who(const struct oidc *oidc,
                                const json_t *claims,
                                struct principal *ret_principal,
                                struct error *err)
{
    struct ledger_actor *actor = &ret_principal->actor;
    const char *subject = json_string_value(json_object_get(claims, "sub"));
    const char *name = json_string_value(claim_of(claims, oidc->name_claim));
    const size_t bytes = subject != NULL ? strlen(subject) : 0;
    if (bytes == 0 || bytes >= sizeof(actor->who) || !text_is_printable(subject, bytes)) {
        return refuse(err, "has no subject");
    }
    memset(actor, 0, sizeof(*actor));
    memcpy(actor->who, subject, bytes + 1);
    if (name != NULL && text_is_name(name)) {
        memcpy(actor->name, name, strlen(name) + 1);
    }
    struct digest_state state;
    digest_init(&state);
    digest_update_text(&state, oidc->issuer);
    digest_update_text(&state, subject);
    ret_principal->hash = digest_finish(&state);
    ret_principal->token_no = 0;
    ret_principal->touch_is_due = false;
    return ERR_OK;
}

/* The place of a mapping, its {name} replaced. False when there is no name, or it does not fit. */
static bool fill_place(const char *pattern, const char *name, char ret_place[RECORD_PLACE_BYTES])
{
    const char *mark = strstr(pattern, "{name}");
    if (mark != NULL && (name[0] == '\0' || strchr(name, '/') != NULL)) {
        return false;
    }
    const int bytes = mark == NULL
                          ? snprintf(ret_place, RECORD_PLACE_BYTES, "%s", pattern)
                          : snprintf(ret_place, RECORD_PLACE_BYTES, "%.*s%s%s",
                                     (int)(mark - pattern), pattern, name, mark + strlen("{name}"));
    return bytes < RECORD_PLACE_BYTES;
}

/* A node: PROJECT/PERSON of members, a root of finance. */
static enum error_code find_node(struct ledger_reader *reader,
                                 const struct principal *principal,
                                 struct node *ret_node,
                                 struct error *err)
{
    char project[RECORD_PLACE_BYTES];
    const char *place = principal->place;
    const char *slash = strchr(place, '/');
    if (principal->role == ROLE_MEMBER) {
        const size_t bytes = slash != NULL ? (size_t)(slash - place) : 0;
        memcpy(project, place, bytes);
        project[bytes] = '\0';
        return ledger_read_node(reader, NODE_MEMBER, slash != NULL ? slash + 1 : "", project,
                                ret_node, err);
    }
    enum error_code code = ledger_read_node(reader, NODE_ORGANIZATION, place, "", ret_node, err);
    if (code == ERR_NOT_FOUND && principal->role != ROLE_FINANCE) {
        code = ledger_read_node(reader, NODE_PROJECT, place, "", ret_node, err);
    }
    if (code == ERR_OK && principal->role == ROLE_FINANCE && ret_node->parent_no != 0) {
        code = ERR_NOT_FOUND;
    }
    return code;
}

static enum error_code find_place(struct ledger_reader *reader,
                                  struct principal *principal,
                                  struct error *err)
{
    struct node node;
    struct cluster cluster;
    enum error_code code;
    principal->place_no = 0;
    if (principal->role == ROLE_ADMIN) {
        return ERR_OK;
    }
    if (principal->role == ROLE_SCHEDULER) {
        code = ledger_read_cluster(reader, principal->place, &cluster, err);
        principal->place_no = code == ERR_OK ? cluster.cluster_no : 0;
    } else {
        code = find_node(reader, principal, &node, err);
        principal->place_no = code == ERR_OK ? node.node_no : 0;
    }
    if (code == ERR_NOT_FOUND || code == ERR_UNKNOWN_CLUSTER) {
        return error_set(err, ERR_NOT_ALLOWED,
                         "the groups of this token lead to %.60s, which is not there",
                         principal->place);
    }
    return code;
}

/* The first group of the list that the token names. */
static enum error_code fill_role(const struct oidc *oidc,
                                 const json_t *claims,
                                 struct ledger_reader *reader,
                                 struct principal *principal,
                                 struct error *err)
{
    const json_t *groups = claim_of(claims, oidc->groups_claim);
    const struct mapped_role *role = oidc->roles;
    const struct mapped_role *end = oidc->roles + oidc->role_count;
    while (role < end && !has_text(groups, role->group)) {
        role++;
    }
    if (role == end || !fill_place(role->place, principal->actor.name, principal->place)) {
        return error_set(err, ERR_NOT_ALLOWED, "no group of this token has a role here");
    }
    principal->role = role->role;
    principal->actor.role = role->role;
    enum error_code code = ledger_reader_begin(reader, err);
    if (code == ERR_OK) {
        code = find_place(reader, principal, err);
        ledger_reader_end(reader);
    }
    return code;
}

enum error_code oidc_check(struct oidc *oidc,
                           const char *authorization,
                           struct ledger_reader *reader,
                           int64_t now_ms,
                           struct principal *ret_principal,
                           struct error *err)
{
    const char *token = authorization + sizeof(scheme) - 1;
    token += strspn(token, " ");
    CLEANUP(jwt_free) jwt_t *jwt = NULL;
    enum error_code code = check_form(token, err);
    if (code != ERR_OK) {
        return code;
    }
    if (r_jwt_init(&jwt) != RHN_OK ||
        r_jwt_advanced_parse(jwt, token, R_PARSE_NONE, R_FLAG_IGNORE_REMOTE) != RHN_OK ||
        r_jwt_get_type(jwt) != R_JWT_TYPE_SIGN) {
        return refuse(err, "is not a signed JWT");
    }
    code = check_signature(oidc, jwt, err);
    if (code != ERR_OK) {
        return code;
    }
    CLEANUP(json_free) json_t *claims = r_jwt_get_full_claims_json_t(jwt);
    code = check_claims(oidc, claims, now_ms / 1000, err);
    if (code == ERR_OK) {
        code = fill_who(oidc, claims, ret_principal, err);
    }
    return code == ERR_OK ? fill_role(oidc, claims, reader, ret_principal, err) : code;
}
