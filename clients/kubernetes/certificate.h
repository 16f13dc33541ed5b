/*
 * The webhook's certificate and key, read again when their files change (a Secret's volume swaps them). The newest pair that
 * could be read whole is given to each new connection. One for the process, because the callback of GnuTLS has no context.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_CERTIFICATE_H
#define COREHOUR_CLIENTS_KUBERNETES_CERTIFICATE_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>

#include "clients/kubernetes/agent_config.h"

/*
 * Loads the pair when it is new or has changed since the last call. From one thread only.
 * ret_changed: whether a pair was loaded. Returns false with ret_error filled when the files cannot be used; the pair before stays.
 */
bool certificate_refresh(const char *cert_path,
                         const char *key_path,
                         bool *ret_changed,
                         struct agent_error *ret_error);

/* Frees everything, when no connection is open any more. */
void certificate_fini(void);

/* gnutls_certificate_retrieve_function3 */
int certificate_retrieve(gnutls_session_t session,
                         const struct gnutls_cert_retr_st *info,
                         gnutls_pcert_st **certs,
                         unsigned int *certs_length,
                         gnutls_ocsp_data_st **ocsp,
                         unsigned int *ocsp_length,
                         gnutls_privkey_t *privkey,
                         unsigned int *flags);

#endif
