/* The controller's parts and threads: see controller.h. */
#include "clients/kubernetes/controller.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clients/clock.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/controller_parts.h"
#include "clients/kubernetes/counters.h"
#include "clients/kubernetes/spool.h"

enum {
    API_TIMEOUT_MS = 5000,
    NODE_TIMEOUT_MS = 1000,
    LEDGER_DEADLINE_MS = 15000,
    FEED_DEADLINE_MS = 10000
};

static bool clients_create(struct controller *controller, struct agent_error *ret_error)
{
    const struct ledger_pool *ledger = controller->parts->ledger;
    if (!api_caller_init(&controller->caller, controller->server, API_TIMEOUT_MS) ||
        !api_caller_init(&controller->feed_caller, controller->server, API_TIMEOUT_MS) ||
        !api_caller_init(&controller->intake_caller, controller->server, NODE_TIMEOUT_MS)) {
        return agent_error_set(ret_error, "out of memory");
    }
    return ledger_pool_client(ledger, LEDGER_DEADLINE_MS, &controller->client, ret_error) &&
           ledger_pool_client(ledger, FEED_DEADLINE_MS, &controller->feed_client, ret_error);
}

bool controller_create(const struct admission *parts,
                       const struct api_server *server,
                       struct controller **ret_controller,
                       struct agent_error *ret_error)
{
    struct controller *controller = calloc(1, sizeof *controller);
    if (controller == NULL) {
        return agent_error_set(ret_error, "out of memory");
    }
    controller->parts = parts;
    controller->config = parts->config;
    controller->server = server;
    controller->heartbeat_ms = client_clock_mono_ms() + controller->config->heartbeat_s * 1000;
    pthread_mutex_init(&controller->lock, NULL);
    controller->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    controller->nodes = calloc(NODES_MAX, sizeof *controller->nodes);
    controller->told = calloc(TOLD_MAX, sizeof *controller->told);
    bool ok = pod_store_init(&controller->store) && controller->nodes != NULL &&
              controller->told != NULL && controller->wake_fd >= 0;
    if (!ok) {
        (void)agent_error_set(ret_error, "out of memory");
    }
    ok = ok && spool_open(controller->config->spool_dir.text, ret_error) &&
         clients_create(controller, ret_error);
    if (!ok) {
        controller_destroy(controller);
        return false;
    }
    *ret_controller = controller;
    return true;
}

void controller_destroy(struct controller *controller)
{
    if (controller == NULL) {
        return;
    }
    for (size_t i = 0; controller->nodes != NULL && i < NODES_MAX; i++) {
        json_decref(controller->nodes[i].object);
    }
    free(controller->nodes);
    free(controller->told);
    pod_store_fini(&controller->store);
    api_caller_fini(&controller->caller);
    api_caller_fini(&controller->intake_caller);
    api_caller_fini(&controller->feed_caller);
    corehour_client_destroy(controller->client);
    corehour_client_destroy(controller->feed_client);
    if (controller->wake_fd >= 0) {
        (void)close(controller->wake_fd);
    }
    pthread_mutex_destroy(&controller->lock);
    free(controller);
}

bool controller_start(struct controller *controller,
                      struct watch_loop *loop,
                      struct agent_error *ret_error)
{
    struct watch_events events = controller_pod_events;
    events.context = controller;
    controller->watch = watch_add(loop, "/api/v1/pods", &events);
    if (controller->watch == NULL) {
        return agent_error_set(ret_error, "out of memory");
    }
    controller->worker_runs =
        pthread_create(&controller->worker, NULL, controller_work, controller) == 0;
    controller->feed_runs =
        pthread_create(&controller->feed, NULL, controller_follow_feed, controller) == 0;
    return (controller->worker_runs && controller->feed_runs) ||
           agent_error_set(ret_error, "no thread can be started");
}

void controller_wake(const struct controller *controller)
{
    const uint64_t one = 1;
    const ssize_t written = write(controller->wake_fd, &one, sizeof one);
    (void)written; /* full: the worker will wake anyway */
}

void controller_stop(struct controller *controller)
{
    if (controller == NULL) {
        return;
    }
    atomic_store(&controller->stopping, true);
    controller_wake(controller);
    if (controller->worker_runs) {
        pthread_join(controller->worker, NULL);
    }
    if (controller->feed_runs) {
        pthread_join(controller->feed, NULL);
    }
    controller->worker_runs = false;
    controller->feed_runs = false;
}

void controller_lead(struct controller *controller, bool leads)
{
    pthread_mutex_lock(&controller->lock);
    if (controller->leads != leads) {
        agent_log("info", leads ? "leads" : "follows", NULL, NULL);
        counter_set(COUNTER_LEADER, leads);
    }
    controller->leads = leads;
    pthread_mutex_unlock(&controller->lock);
}

/* Begins anew with what the disk remembers; the list brings the rest. The lock is held. */
static void store_reset(struct controller *controller, bool load)
{
    pod_store_fini(&controller->store);
    counter_set(COUNTER_SPOOLED, 0);
    controller->listed = false;
    controller->alive_s = 0;
    if (!pod_store_init(&controller->store)) {
        abort(); /* a kilobyte was free a moment ago */
    }
    if (load) {
        spool_load(controller->config->spool_dir.text, &controller->store);
    }
    counter_set(COUNTER_PODS, (int64_t)controller->store.count);
}

void controller_turn(struct controller *controller)
{
    pthread_mutex_lock(&controller->lock);
    const bool leads = controller->leads;
    const bool may_watch = leads && namespaces_are_known(controller->parts->namespaces);
    const bool begins = may_watch && !controller->watching;
    const bool ends = !leads && controller->watching;
    if (begins || ends) {
        store_reset(controller, begins);
    }
    pthread_mutex_unlock(&controller->lock);
    if (begins) {
        watch_resume(controller->watch);
    } else if (ends) {
        watch_pause(controller->watch);
    }
    controller->watching = may_watch || (controller->watching && !ends);
}
