/* Leading by Lease: see lease.h. */
#include "clients/kubernetes/lease.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clients/clock.h"
#include "clients/ids.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/names.h"
#include "clients/kubernetes/object.h"
#include "clients/units.h"

struct lease {
    const struct agent_config *config;
    struct controller *controller;
    struct api_caller caller;
    char path[256]; /* of all Leases of the namespace */
    char namespace[64];
    char identity[COREHOUR_ID_BYTES];
    char version[64];      /* of the Lease as it was last seen to change */
    int64_t changed_ms;    /* when that was */
    int64_t held_until_ms; /* monotonic: leads until then unless renewed */
    pthread_t thread;
    atomic_bool stopping;
};

static json_t *lease_object(const struct lease *lease, const json_t *found, const char *holder)
{
    char seconds[COREHOUR_UNITS_TEXT_BYTES];
    char now[48];
    corehour_time_format(client_clock_wall_ms() / 1000, seconds);
    /* MicroTime: "2026-12-01T00:00:00.000000Z" */
    (void)snprintf(now, sizeof now, "%.19s.000000Z", seconds);
    json_t *object = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:i, s:s, s:s}}", "apiVersion",
                               "coordination.k8s.io/v1", "kind", "Lease", "metadata", "name",
                               NAME_COMPONENT, "namespace", lease->namespace, "spec",
                               "holderIdentity", holder, "leaseDurationSeconds",
                               (int)lease->config->lease_s, "renewTime", now, "acquireTime", now);
    const char *version = object_text(found, "metadata", "resourceVersion", NULL);
    if (object != NULL && version[0] != '\0') {
        json_object_set_new(json_object_get(object, "metadata"), "resourceVersion",
                            json_string(version));
    }
    return object;
}

/* Makes or replaces the Lease, only if it is as it was found. Whether it is ours now. */
static bool lease_write(struct lease *lease, const json_t *found, const char *holder)
{
    char path[384];
    (void)snprintf(path, sizeof path, "%s%s", lease->path, found == NULL ? "" : "/" NAME_COMPONENT);
    json_t *object = lease_object(lease, found, holder);
    const struct api_request request = {
        .method = found == NULL ? "POST" : "PUT", .path = path, .body = object};
    const int status = object == NULL ? 0 : api_call(&lease->caller, &request, NULL);
    json_decref(object);
    return status == 200 || status == 201;
}

/* Whether somebody else holds the Lease and has renewed it lately. */
static bool is_held(struct lease *lease, const json_t *found)
{
    const char *holder = object_text(found, "spec", "holderIdentity", NULL);
    const char *version = object_text(found, "metadata", "resourceVersion", NULL);
    const int64_t now_ms = client_clock_mono_ms();
    if (strcmp(version, lease->version) != 0) {
        object_copy(lease->version, version, sizeof lease->version);
        lease->changed_ms = now_ms;
    }
    const json_t *duration = object_get(found, "spec", "leaseDurationSeconds", NULL);
    const int64_t duration_ms =
        json_is_integer(duration) ? json_integer_value(duration) * 1000 : 15000;
    return holder[0] != '\0' && strcmp(holder, lease->identity) != 0 &&
           now_ms - lease->changed_ms < duration_ms;
}

static void lease_try(struct lease *lease)
{
    char path[384];
    (void)snprintf(path, sizeof path, "%s/" NAME_COMPONENT, lease->path);
    const struct api_request request = {.method = "GET", .path = path};
    json_t *found = NULL;
    const int64_t now_ms = client_clock_mono_ms();
    const int status = api_call(&lease->caller, &request, &found);
    const bool may_take = status == 404 || (status == 200 && !is_held(lease, found));
    if (may_take && lease_write(lease, status == 200 ? found : NULL, lease->identity)) {
        lease->held_until_ms = now_ms + lease->config->lease_s * 1000;
    } else if (status == 200 && !may_take) {
        lease->held_until_ms = 0;
    }
    json_decref(found);
    controller_lead(lease->controller, client_clock_mono_ms() < lease->held_until_ms);
}

static void lease_give_back(struct lease *lease)
{
    char path[384];
    (void)snprintf(path, sizeof path, "%s/" NAME_COMPONENT, lease->path);
    const struct api_request request = {.method = "GET", .path = path};
    json_t *found = NULL;
    if (api_call(&lease->caller, &request, &found) == 200 &&
        strcmp(object_text(found, "spec", "holderIdentity", NULL), lease->identity) == 0) {
        (void)lease_write(lease, found, "");
    }
    json_decref(found);
}

static void *lease_run(void *context)
{
    struct lease *lease = context;
    const int64_t pause_ms = lease->config->lease_s * 1000 / 5;
    while (!atomic_load(&lease->stopping)) {
        lease_try(lease);
        for (int64_t slept_ms = 0; slept_ms < pause_ms && !atomic_load(&lease->stopping);
             slept_ms += 100) {
            client_clock_sleep_ms(100);
        }
    }
    lease_give_back(lease);
    return NULL;
}

static void identity_make(char *ret_identity)
{
    char host[28] = "agent";
    (void)gethostname(host, sizeof host - 1);
    if (corehour_id_create(host, ret_identity) != COREHOUR_OK) {
        (void)corehour_id_create("agent", ret_identity);
    }
}

bool lease_start(const struct agent_config *config,
                 const struct api_server *server,
                 const char *namespace,
                 struct controller *controller,
                 struct lease **ret_lease)
{
    struct lease *lease = calloc(1, sizeof *lease);
    if (lease == NULL) {
        return false;
    }
    lease->config = config;
    lease->controller = controller;
    identity_make(lease->identity);
    object_copy(lease->namespace, namespace, sizeof lease->namespace);
    (void)snprintf(lease->path, sizeof lease->path,
                   "/apis/coordination.k8s.io/v1/namespaces/%s/leases", namespace);
    if (!api_caller_init(&lease->caller, server, (long)config->lease_s * 1000 / 3) ||
        pthread_create(&lease->thread, NULL, lease_run, lease) != 0) {
        api_caller_fini(&lease->caller);
        free(lease);
        return false;
    }
    *ret_lease = lease;
    return true;
}

void lease_stop(struct lease *lease)
{
    if (lease != NULL) {
        atomic_store(&lease->stopping, true);
        pthread_join(lease->thread, NULL);
        api_caller_fini(&lease->caller);
        free(lease);
    }
}
