/*
 * How to reach the Kubernetes API server, and single requests to it. Long streams are watch.h's.
 *
 * In a pod: the service account's token, CA and namespace. Elsewhere: a kubeconfig with one cluster and one user, as
 * `kubectl config view --minify --flatten --raw` writes it (YAML or JSON): server, certificate-authority(-data), token or
 * tokenFile, client-certificate(-data) and client-key(-data). Plugins (exec, auth-provider) are refused.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_API_SERVER_H
#define COREHOUR_CLIENTS_KUBERNETES_API_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include <curl/curl.h>
#include <jansson.h>

#include "clients/kubernetes/agent_config.h"

/* PEM either by path or as bytes; both empty: not given. */
struct api_pem {
    char path[512];
    char *bytes; /* owned; NUL-terminated */
};

struct api_server {
    char url[512]; /* without a slash at the end */
    char token_file[512];
    char *token; /* owned; used when there is no token_file */
    struct api_pem ca;
    struct api_pem cert;
    struct api_pem key;
    char namespace[64]; /* the service account's; "default" outside a cluster */
};

/*
 * Finds the API server. path: a kubeconfig, or "" for the service account of the pod.
 * ret_server: for api_server_fini, which takes a zeroed one too. Returns false with ret_error filled.
 */
bool api_server_find(const char *path,
                     struct api_server *ret_server,
                     struct agent_error *ret_error);
void api_server_fini(struct api_server *server);

/* Sets address, CA and client certificate on a handle of libcurl. path: from /api on. Returns false when memory is out. */
bool api_server_aim(const struct api_server *server, CURL *easy, const char *path);

/*
 * The headers of a request: Accept, the bearer token (its file is read anew: tokens rotate) and a content type unless NULL.
 * Returns a list for curl_slist_free_all, NULL when memory is out.
 */
struct curl_slist *api_server_headers(const struct api_server *server, const char *content_type);

/* One request at a time over a kept connection. Belongs to one thread. */
struct api_caller {
    const struct api_server *server;
    CURL *easy;
    long timeout_ms;
};

bool api_caller_init(struct api_caller *caller, const struct api_server *server, long timeout_ms);
void api_caller_fini(struct api_caller *caller);

struct api_request {
    const char *method;
    const char *path;         /* from /api on, encoded, with its query */
    const char *content_type; /* NULL: application/json */
    const json_t *body;       /* or NULL */
};

/*
 * Sends one request and waits.
 *
 * ret_body: the answer's JSON (for json_decref) or NULL when it has none; may be NULL.
 * Returns the HTTP status, 0 when no whole answer came within the time.
 */
int api_call(struct api_caller *caller, const struct api_request *request, json_t **ret_body);

#endif
