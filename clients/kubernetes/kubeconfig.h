/* Reading a kubeconfig with one cluster and one user: see api_server.h. Pure but for the file. */
#ifndef COREHOUR_CLIENTS_KUBERNETES_KUBECONFIG_H
#define COREHOUR_CLIENTS_KUBERNETES_KUBECONFIG_H

#include <stdbool.h>

#include "clients/kubernetes/api_server.h"

/*
 * Reads the file into ret_server (zeroed by the caller, for api_server_fini also on failure).
 * Returns false with ret_error filled: not readable, more than one cluster or user, no server, a plugin.
 */
bool kubeconfig_read(const char *path,
                     struct api_server *ret_server,
                     struct agent_error *ret_error);

#endif
