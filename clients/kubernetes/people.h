/*
 * Which human a pod belongs to. The first rule that gives a name wins:
 *
 *   1. who asked for the pod, if that is a human (a user name that does not begin with "system:");
 *   2. the annotation corehour.io/created-by of the pod, or of the nearest owner that has it. The webhook /stamp writes it when
 *      a human makes an object, and takes away what anybody else writes there, so it cannot be forged;
 *   3. the annotation corehour.io/user of the pod: platforms that make pods for people set it;
 *   4. the pod's service account, unless it is "default": "serviceaccount:<namespace>:<name>";
 *   5. default_user of the configuration.
 *
 * Thread-safe. Owners are asked from the API server and remembered by uid.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_PEOPLE_H
#define COREHOUR_CLIENTS_KUBERNETES_PEOPLE_H

#include <stdbool.h>

#include <jansson.h>

#include "clients/kubernetes/agent_config.h"
#include "clients/kubernetes/api_server.h"

enum { PEOPLE_NAME_BYTES = 129 };

struct people;

struct people *people_create(const struct agent_config *config, const struct api_server *server);
void people_destroy(struct people *people);

/* Whether a user name of the API server is a human's. */
bool people_is_human(const char *username);

/*
 * Finds the human.
 *
 * pod, namespace: the pod and where it is (an object under admission may not say it itself).
 * requester: who asked for it, or "" when the pod was not seen being made.
 * ret_user: PEOPLE_NAME_BYTES. Always set; when the API server does not answer, rule 2 is passed over.
 */
void people_find(struct people *people,
                 const json_t *pod,
                 const char *namespace,
                 const char *requester,
                 char *ret_user);

/* An object of the API server that says something of owners, such as how many pods they have. NULL when there is no answer. */
json_t *people_get(struct people *people, const char *path);

#endif
