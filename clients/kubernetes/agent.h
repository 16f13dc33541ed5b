/* The agent as a whole: its parts, how they start, how they end. */
#ifndef COREHOUR_CLIENTS_KUBERNETES_AGENT_H
#define COREHOUR_CLIENTS_KUBERNETES_AGENT_H

#include <stdbool.h>
#include <stdio.h>

#include "clients/kubernetes/agent_config.h"

struct agent;

/* Reads the configuration, the token, the table and the certificate. Returns false with ret_error filled. */
bool agent_create(const char *config_path, struct agent **ret_agent, struct agent_error *ret_error);

/* Ends everything that runs, within seconds. NULL is legal. */
void agent_destroy(struct agent *agent);

/* Asks the ledger and the API server once and tells in words what it found. Whether all is well. */
bool agent_check(struct agent *agent, FILE *out);

/* Starts webhook and threads. Returns false with ret_error filled. */
bool agent_start(struct agent *agent, struct agent_error *ret_error);

/* To be called every second. */
void agent_tick(struct agent *agent);

#endif
