/* The API server's address, and single requests: see api_server.h. */
#include "clients/kubernetes/api_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/kubernetes/kubeconfig.h"
#include "clients/kubernetes/object.h"

enum { ANSWER_BYTES_MAX = 16 << 20 };

void api_server_fini(struct api_server *server)
{
    free(server->token);
    free(server->ca.bytes);
    free(server->cert.bytes);
    free(server->key.bytes);
    *server = (struct api_server){.url = ""};
}

/* ---- handles */

static bool pem_set(CURL *easy, const struct api_pem *pem, CURLoption by_path, CURLoption by_bytes)
{
    if (pem->bytes != NULL) {
        struct curl_blob blob = {
            .data = pem->bytes, .len = strlen(pem->bytes), .flags = CURL_BLOB_NOCOPY};
        return curl_easy_setopt(easy, by_bytes, &blob) == CURLE_OK;
    }
    return pem->path[0] == '\0' || curl_easy_setopt(easy, by_path, pem->path) == CURLE_OK;
}

bool api_server_aim(const struct api_server *server, CURL *easy, const char *path)
{
    char *url = NULL;
    if (asprintf(&url, "%s%s", server->url, path) < 0) {
        return false;
    }
    const bool ok = curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
                    pem_set(easy, &server->ca, CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB) &&
                    pem_set(easy, &server->cert, CURLOPT_SSLCERT, CURLOPT_SSLCERT_BLOB) &&
                    pem_set(easy, &server->key, CURLOPT_SSLKEY, CURLOPT_SSLKEY_BLOB);
    free(url);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 5000L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "corehour-kubernetes");
    return ok;
}

static bool header_add(struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = curl_slist_append(*list, text);
    if (longer == NULL) {
        return false;
    }
    *list = longer;
    return true;
}

static bool token_add(const struct api_server *server, struct curl_slist **list)
{
    char token[AGENT_TOKEN_BYTES];
    struct agent_error error;
    const char *value = server->token;
    if (server->token_file[0] != '\0') {
        value = agent_line_read(server->token_file, token, sizeof token, &error) ? token : NULL;
    }
    if (value == NULL) {
        return true;
    }
    char *line = NULL;
    if (asprintf(&line, "Authorization: Bearer %s", value) < 0) {
        return false;
    }
    const bool ok = header_add(list, line);
    free(line);
    return ok;
}

struct curl_slist *api_server_headers(const struct api_server *server, const char *content_type)
{
    struct curl_slist *list = NULL;
    char line[128];
    bool ok = header_add(&list, "Accept: application/json") && token_add(server, &list);
    if (ok && content_type != NULL) {
        (void)snprintf(line, sizeof line, "Content-Type: %.100s", content_type);
        ok = header_add(&list, line);
    }
    if (!ok) {
        curl_slist_free_all(list);
        return NULL;
    }
    return list;
}

/* ---- single requests */

bool api_caller_init(struct api_caller *caller, const struct api_server *server, long timeout_ms)
{
    *caller =
        (struct api_caller){.server = server, .easy = curl_easy_init(), .timeout_ms = timeout_ms};
    return caller->easy != NULL;
}

void api_caller_fini(struct api_caller *caller)
{
    curl_easy_cleanup(caller->easy);
    *caller = (struct api_caller){.server = NULL};
}

struct collected {
    char *bytes;
    size_t count;
};

static size_t collect(char *bytes, size_t size, size_t count, void *place)
{
    struct collected *collected = place;
    const size_t more = size * count;
    if (collected->count + more > ANSWER_BYTES_MAX) {
        return 0;
    }
    char *longer = realloc(collected->bytes, collected->count + more + 1);
    if (longer == NULL) {
        return 0;
    }
    memcpy(longer + collected->count, bytes, more);
    collected->bytes = longer;
    collected->count += more;
    return more;
}

static int call_perform(struct api_caller *caller,
                        const struct api_request *request,
                        const char *body,
                        struct collected *collected)
{
    CURL *easy = caller->easy;
    curl_easy_reset(easy);
    const char *type = request->content_type == NULL ? "application/json" : request->content_type;
    struct curl_slist *headers = api_server_headers(caller->server, body == NULL ? NULL : type);
    if (headers == NULL || !api_server_aim(caller->server, easy, request->path)) {
        curl_slist_free_all(headers);
        return 0;
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, caller->timeout_ms);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, collected);
    if (body != NULL) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method);
    long status = 0;
    if (curl_easy_perform(easy) == CURLE_OK) {
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    }
    curl_slist_free_all(headers);
    return (int)status;
}

int api_call(struct api_caller *caller, const struct api_request *request, json_t **ret_body)
{
    char *body = NULL;
    if (request->body != NULL) {
        body = json_dumps(request->body, JSON_COMPACT);
        if (body == NULL) {
            return 0;
        }
    }
    struct collected collected = {.bytes = NULL};
    const int status = call_perform(caller, request, body, &collected);
    free(body);
    if (ret_body != NULL) {
        *ret_body = status == 0 || collected.count == 0
                        ? NULL
                        : object_parse(collected.bytes, collected.count, 0, NULL);
    }
    free(collected.bytes);
    return status;
}

/* ---- finding it */

#define ACCOUNT_FOLDER "/var/run/secrets/kubernetes.io/serviceaccount/"

static bool account_read(struct api_server *server, struct agent_error *ret_error)
{
    /* Read once, before there are threads. */
    const char *host = getenv("KUBERNETES_SERVICE_HOST"); /* NOLINT(concurrency-mt-unsafe) */
    const char *port = getenv("KUBERNETES_SERVICE_PORT"); /* NOLINT(concurrency-mt-unsafe) */
    if (host == NULL || port == NULL) {
        return agent_error_set(ret_error,
                               "not in a pod (KUBERNETES_SERVICE_HOST is not set): set kubeconfig");
    }
    const bool is_v6 = strchr(host, ':') != NULL;
    (void)snprintf(server->url, sizeof server->url, "https://%s%.200s%s:%.16s", is_v6 ? "[" : "",
                   host, is_v6 ? "]" : "", port);
    (void)snprintf(server->token_file, sizeof server->token_file, ACCOUNT_FOLDER "token");
    (void)snprintf(server->ca.path, sizeof server->ca.path, ACCOUNT_FOLDER "ca.crt");
    return agent_line_read(ACCOUNT_FOLDER "namespace", server->namespace, sizeof server->namespace,
                           ret_error);
}

bool api_server_find(const char *path, struct api_server *ret_server, struct agent_error *ret_error)
{
    struct api_server server = {.url = "", .namespace = "default"};
    const bool ok = path[0] == '\0' ? account_read(&server, ret_error)
                                    : kubeconfig_read(path, &server, ret_error);
    if (!ok) {
        api_server_fini(&server);
        return false;
    }
    const size_t bytes = strlen(server.url);
    if (bytes > 0 && server.url[bytes - 1] == '/') {
        server.url[bytes - 1] = '\0';
    }
    *ret_server = server;
    return true;
}
