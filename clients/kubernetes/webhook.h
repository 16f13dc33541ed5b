/*
 * The webhook: HTTPS that answers reviews. Each open connection has a thread, because an admission waits for the ledger and
 * must make no other wait; their number and the memory of all bodies are bounded.
 *
 * POST /enforce, /gate, /stamp    AdmissionReview v1
 * GET /healthz, /readyz, /metrics
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_WEBHOOK_H
#define COREHOUR_CLIENTS_KUBERNETES_WEBHOOK_H

#include <stdint.h>

#include "clients/kubernetes/admission.h"

enum {
    /* One review; 413 above. The API server takes 3 MiB, which are six times that when every character is an escape. */
    WEBHOOK_BODY_BYTES = 20 << 20,
    WEBHOOK_BODIES_BYTES = 64 << 20, /* all that are being read at once; 503 above */
};

struct webhook;

/*
 * Begins to serve. The certificate is loaded already (certificate.h). admission: borrowed for the webhook's life.
 * Returns false with ret_error filled: the address cannot be used.
 */
bool webhook_start(const struct admission *admission,
                   struct webhook **ret_webhook,
                   struct agent_error *ret_error);

/* The port it listens on. */
uint16_t webhook_port(const struct webhook *webhook);

/* Ends when the reviews in hand are answered. NULL is legal. */
void webhook_stop(struct webhook *webhook);

#endif
