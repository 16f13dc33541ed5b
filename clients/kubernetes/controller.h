/*
 * The controller: follows every pod with accelerators in the namespaces that take part, from the watch, and tells the ledger
 * what happens to it. What it knows is made anew from the API server at any time; only what the API server has forgotten is
 * kept on disk (spool.h). It acts while it leads (lease.h).
 *
 * Threads: the watch's thread takes pods in (controller_intake.c), a worker tells the ledger and the API server
 * (controller_work.c), a third follows the ledger's feed (controller_feed.c). One lock guards the store.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_CONTROLLER_H
#define COREHOUR_CLIENTS_KUBERNETES_CONTROLLER_H

#include <stdbool.h>

#include "clients/kubernetes/admission.h"
#include "clients/kubernetes/watch.h"

struct controller;

/* parts, server: borrowed for the controller's life. Returns false with ret_error filled. */
bool controller_create(const struct admission *parts,
                       const struct api_server *server,
                       struct controller **ret_controller,
                       struct agent_error *ret_error);
void controller_destroy(struct controller *controller);

/* Adds its watch to the loop and starts its threads. Call once, before the loop runs. */
bool controller_start(struct controller *controller,
                      struct watch_loop *loop,
                      struct agent_error *ret_error);

/* Ends the threads. Within seconds; before controller_destroy. */
void controller_stop(struct controller *controller);

/* Begins or ceases to act. Any thread. */
void controller_lead(struct controller *controller, bool leads);

/* To be called in the loop's thread between turns: the watch of pods begins when it leads and the namespaces are known. */
void controller_turn(struct controller *controller);

#endif
