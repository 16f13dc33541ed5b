/*
 * TLS: the certificate chain and the key that new connections are given (GnuTLS through libmicrohttpd).
 *
 * Reading the files again replaces them for handshakes that begin afterwards; connections that are open go on as they are.
 * One process has one of these. HTTP loop only, but for creation and the end.
 */
#ifndef SERVER_TLS_H
#define SERVER_TLS_H

#include <stdint.h>

#include "ledger/base/error.h"

struct tls;

/** Read both files (PEM; the server's certificate first, then those that lead to its issuer). ERR_INVALID_FIELD with the key
 * of the configuration that is to be mended. */
MUST_USE enum error_code tls_create(const char *cert_path,
                                    const char *key_path,
                                    struct tls **ret_tls,
                                    struct error *err);

/** Read them again; what was there stays when they are not sound. Errors of tls_create(). @mono_ms: now */
MUST_USE enum error_code tls_reload(struct tls *tls,
                                    const char *cert_path,
                                    const char *key_path,
                                    int64_t mono_ms,
                                    struct error *err);

/** For MHD_OPTION_HTTPS_CERT_CALLBACK: a gnutls_certificate_retrieve_function2. */
void *tls_callback(const struct tls *tls);

/** After the HTTP library has stopped. NULL is allowed. */
void tls_destroy(struct tls *tls);

#endif
