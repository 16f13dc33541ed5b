/*
 * See tls.h. GnuTLS's callback has no argument of ours, so what is served stands in `current`. A handshake may still use
 * what it was given when that is replaced: it is kept for an hour, far longer than a handshake may take.
 */
#include "server/tls.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"

enum { CHAIN_MAX = 8, KEEP_MS = 3600000, KEY_ID_BYTES = 64 };

struct identity {
    struct identity *next; /* replaced before this one */
    int64_t replaced_ms;
    unsigned count;
    gnutls_pcert_st chain[CHAIN_MAX];
    gnutls_privkey_t key;
};

struct tls {
    struct identity *identities; /* the first is served */
};

static const struct identity *current;

static void identity_destroy(struct identity *identity)
{
    for (unsigned i = 0; i < identity->count; i++) {
        gnutls_pcert_deinit(&identity->chain[i]);
    }
    if (identity->key != NULL) {
        gnutls_privkey_deinit(identity->key);
    }
    free(identity);
}

/* NOLINTNEXTLINE(readability-function-size): the signature is GnuTLS's */
static int retrieve(gnutls_session_t session,
                    const gnutls_datum_t *issuers,
                    int issuer_count,
                    const gnutls_pk_algorithm_t *algorithms,
                    int algorithm_count,
                    gnutls_pcert_st **ret_chain,
                    unsigned int *ret_count,
                    gnutls_privkey_t *ret_key)
{
    (void)session, (void)issuers, (void)issuer_count, (void)algorithms, (void)algorithm_count;
    /* GnuTLS only reads what it is given here. */
    *ret_chain = (gnutls_pcert_st *)(uintptr_t)current->chain;
    *ret_count = current->count;
    *ret_key = current->key;
    return 0;
}

void *tls_callback(const struct tls *tls)
{
    (void)tls;
    return (void *)(uintptr_t)retrieve;
}

/* ---- reading */

static enum error_code refuse(const char *field, const char *path, int result, struct error *err)
{
    return error_set_field(err, ERR_INVALID_FIELD, field, "%.100s: %s", path,
                           gnutls_strerror(result));
}

static enum error_code read_chain(struct identity *identity, const char *path, struct error *err)
{
    gnutls_datum_t file = {0};
    int result = gnutls_load_file(path, &file);
    unsigned count = CHAIN_MAX;
    if (result == 0) {
        result = gnutls_pcert_list_import_x509_raw(identity->chain, &count, &file,
                                                   GNUTLS_X509_FMT_PEM, 0);
    }
    gnutls_free(file.data);
    if (result < 0) {
        return refuse("tls_cert", path, result, err);
    }
    identity->count = count;
    return ERR_OK;
}

static enum error_code read_key(struct identity *identity, const char *path, struct error *err)
{
    gnutls_datum_t file = {0};
    int result = gnutls_load_file(path, &file);
    if (result == 0) {
        result = gnutls_privkey_init(&identity->key);
    }
    if (result == 0) {
        result = gnutls_privkey_import_x509_raw(identity->key, &file, GNUTLS_X509_FMT_PEM, NULL, 0);
    }
    if (file.data != NULL) {
        explicit_bzero(file.data, file.size);
        gnutls_free(file.data);
    }
    return result == 0 ? ERR_OK : refuse("tls_key", path, result, err);
}

/* Are the key and the first certificate of one pair? */
static enum error_code check_pair(const struct identity *identity, struct error *err)
{
    unsigned char ids[2][KEY_ID_BYTES] = {0};
    size_t bytes[2] = {KEY_ID_BYTES, KEY_ID_BYTES};
    gnutls_pubkey_t public = NULL;
    int result = gnutls_pubkey_init(&public);
    if (result == 0) {
        result = gnutls_pubkey_import_privkey(public, identity->key, 0, 0);
    }
    if (result == 0) {
        result = gnutls_pubkey_get_key_id(public, 0, ids[0], &bytes[0]);
    }
    if (result == 0) {
        result = gnutls_pubkey_get_key_id(identity->chain[0].pubkey, 0, ids[1], &bytes[1]);
    }
    if (public != NULL) {
        gnutls_pubkey_deinit(public);
    }
    if (result == 0 && bytes[0] == bytes[1] && memcmp(ids[0], ids[1], bytes[0]) == 0) {
        return ERR_OK;
    }
    return error_set_field(err, ERR_INVALID_FIELD, "tls_key",
                           "not the key of the first certificate in tls_cert");
}

static enum error_code identity_create(const char *cert_path,
                                       const char *key_path,
                                       struct identity **ret_identity,
                                       struct error *err)
{
    struct identity *identity = calloc(1, sizeof(*identity));
    if (identity == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "no memory for a certificate");
    }
    enum error_code code = read_chain(identity, cert_path, err);
    if (code == ERR_OK) {
        code = read_key(identity, key_path, err);
    }
    if (code == ERR_OK) {
        code = check_pair(identity, err);
    }
    if (code != ERR_OK) {
        identity_destroy(identity);
        return code;
    }
    *ret_identity = identity;
    return ERR_OK;
}

/* ---- life */

/* What was replaced long ago, nobody uses. */
static void drop_old(struct tls *tls, int64_t mono_ms)
{
    struct identity **place = &tls->identities->next;
    while (*place != NULL) {
        struct identity *old = *place;
        if (mono_ms - old->replaced_ms < KEEP_MS) {
            place = &old->next;
            continue;
        }
        *place = old->next;
        identity_destroy(old);
    }
}

enum error_code tls_reload(struct tls *tls,
                           const char *cert_path,
                           const char *key_path,
                           int64_t mono_ms,
                           struct error *err)
{
    struct identity *fresh = NULL;
    const enum error_code code = identity_create(cert_path, key_path, &fresh, err);
    if (code != ERR_OK) {
        return code;
    }
    fresh->next = tls->identities;
    if (fresh->next != NULL) {
        fresh->next->replaced_ms = mono_ms;
    }
    tls->identities = fresh;
    current = fresh;
    drop_old(tls, mono_ms);
    return ERR_OK;
}

enum error_code tls_create(const char *cert_path,
                           const char *key_path,
                           struct tls **ret_tls,
                           struct error *err)
{
    if (cert_path[0] == '\0' || key_path[0] == '\0') {
        return error_set_field(err, ERR_INVALID_FIELD,
                               cert_path[0] == '\0' ? "tls_cert" : "tls_key",
                               "tls_cert and tls_key go together");
    }
    struct tls *tls = calloc(1, sizeof(*tls));
    if (tls == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "no memory for TLS");
    }
    const enum error_code code = tls_reload(tls, cert_path, key_path, 0, err);
    if (code != ERR_OK) {
        free(tls);
        return code;
    }
    *ret_tls = tls;
    return ERR_OK;
}

void tls_destroy(struct tls *tls)
{
    if (tls == NULL) {
        return;
    }
    current = NULL;
    while (tls->identities != NULL) {
        struct identity *next = tls->identities->next;
        identity_destroy(tls->identities);
        tls->identities = next;
    }
    free(tls);
}
