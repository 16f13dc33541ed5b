/* The pair for TLS: see certificate.h. */
#include "clients/kubernetes/certificate.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHAIN_MAX = 8, PAIRS_MAX = 8 };

struct pair {
    gnutls_pcert_st certs[CHAIN_MAX];
    unsigned certs_count;
    gnutls_privkey_t key;
};

/* What files looked like when they were read. */
struct look {
    struct timespec cert_time;
    struct timespec key_time;
    ino_t cert_inode;
    ino_t key_inode;
};

/*
 * A connection may still shake hands with the pair before; one that is PAIRS_MAX refreshes old is used by nobody: handshakes
 * take seconds, refreshes come with months between them.
 */
static struct {
    struct pair *pairs[PAIRS_MAX];
    unsigned count; /* ever loaded */
    struct look look;
} loaded;
static struct pair *_Atomic current;

static void pair_destroy(struct pair *pair)
{
    if (pair == NULL) {
        return;
    }
    for (unsigned i = 0; i < pair->certs_count; i++) {
        gnutls_pcert_deinit(&pair->certs[i]);
    }
    if (pair->key != NULL) {
        gnutls_privkey_deinit(pair->key);
    }
    free(pair);
}

static bool certs_read(struct pair *pair, const char *path, struct agent_error *ret_error)
{
    gnutls_datum_t pem;
    int code = gnutls_load_file(path, &pem);
    if (code >= 0) {
        pair->certs_count = CHAIN_MAX;
        code = gnutls_pcert_list_import_x509_raw(pair->certs, &pair->certs_count, &pem,
                                                 GNUTLS_X509_FMT_PEM, 0);
        gnutls_free(pem.data);
    }
    if (code < 0) {
        pair->certs_count = 0;
        return agent_error_set(ret_error, "tls_cert_file %.200s: %s", path, gnutls_strerror(code));
    }
    return true;
}

static bool key_read(struct pair *pair, const char *path, struct agent_error *ret_error)
{
    gnutls_datum_t pem;
    int code = gnutls_load_file(path, &pem);
    if (code >= 0) {
        code = gnutls_privkey_init(&pair->key);
        if (code >= 0) {
            code = gnutls_privkey_import_x509_raw(pair->key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
        }
        gnutls_memset(pem.data, 0, pem.size);
        gnutls_free(pem.data);
    }
    return code >= 0 ||
           agent_error_set(ret_error, "tls_key_file %.200s: %s", path, gnutls_strerror(code));
}

/* Whether the key is the certificate's: the files of a Secret may be seen between two writes. */
static bool belongs(const struct pair *pair, struct agent_error *ret_error)
{
    gnutls_pubkey_t of_key;
    unsigned char ids[2][64];
    size_t bytes[2] = {sizeof ids[0], sizeof ids[1]};
    if (gnutls_pubkey_init(&of_key) < 0) {
        return agent_error_set(ret_error, "out of memory");
    }
    const bool same = gnutls_pubkey_import_privkey(of_key, pair->key, 0, 0) >= 0 &&
                      gnutls_pubkey_get_key_id(of_key, 0, ids[0], &bytes[0]) >= 0 &&
                      gnutls_pubkey_get_key_id(pair->certs[0].pubkey, 0, ids[1], &bytes[1]) >= 0 &&
                      bytes[0] == bytes[1] && memcmp(ids[0], ids[1], bytes[0]) == 0;
    gnutls_pubkey_deinit(of_key);
    return same || agent_error_set(ret_error, "the TLS key does not belong to the certificate");
}

static bool look_at(const char *cert_path, const char *key_path, struct look *ret_look)
{
    struct stat cert;
    struct stat key;
    if (stat(cert_path, &cert) != 0 || stat(key_path, &key) != 0) {
        return false;
    }
    memset(ret_look, 0, sizeof *ret_look);
    ret_look->cert_time = cert.st_mtim;
    ret_look->key_time = key.st_mtim;
    ret_look->cert_inode = cert.st_ino;
    ret_look->key_inode = key.st_ino;
    return true;
}

bool certificate_refresh(const char *cert_path,
                         const char *key_path,
                         bool *ret_changed,
                         struct agent_error *ret_error)
{
    *ret_changed = false;
    struct look look;
    if (!look_at(cert_path, key_path, &look)) {
        return agent_error_set(ret_error, "%.180s or %.180s cannot be read: %m", cert_path,
                               key_path);
    }
    if (loaded.count > 0 && memcmp(&look, &loaded.look, sizeof look) == 0) {
        return true;
    }
    struct pair *pair = calloc(1, sizeof *pair);
    if (pair == NULL) {
        return agent_error_set(ret_error, "out of memory");
    }
    if (!certs_read(pair, cert_path, ret_error) || !key_read(pair, key_path, ret_error) ||
        !belongs(pair, ret_error)) {
        pair_destroy(pair);
        return false;
    }
    struct pair **place = &loaded.pairs[loaded.count++ % PAIRS_MAX];
    pair_destroy(*place);
    *place = pair;
    loaded.look = look;
    atomic_store(&current, pair);
    *ret_changed = true;
    return true;
}

void certificate_fini(void)
{
    atomic_store(&current, NULL);
    for (unsigned i = 0; i < PAIRS_MAX; i++) {
        pair_destroy(loaded.pairs[i]);
        loaded.pairs[i] = NULL;
    }
    loaded.count = 0;
}

/* The signature is GnuTLS's. NOLINTNEXTLINE(readability-function-size) */
int certificate_retrieve(gnutls_session_t session,
                         const struct gnutls_cert_retr_st *info,
                         gnutls_pcert_st **certs,
                         unsigned int *certs_length,
                         gnutls_ocsp_data_st **ocsp,
                         unsigned int *ocsp_length,
                         gnutls_privkey_t *privkey,
                         unsigned int *flags)
{
    (void)session, (void)info;
    struct pair *pair = atomic_load(&current);
    if (pair == NULL) {
        return -1;
    }
    *certs = pair->certs;
    *certs_length = pair->certs_count;
    *ocsp = NULL;
    *ocsp_length = 0;
    *privkey = pair->key;
    *flags = 0;
    return 0;
}
