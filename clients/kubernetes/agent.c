/* Parts and their order: see agent.h. */
#include "clients/kubernetes/agent.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "clients/kubernetes/admission.h"
#include "clients/kubernetes/agent_log.h"
#include "clients/kubernetes/api_server.h"
#include "clients/kubernetes/certificate.h"
#include "clients/kubernetes/controller.h"
#include "clients/kubernetes/counters.h"
#include "clients/kubernetes/lease.h"
#include "clients/kubernetes/watch.h"
#include "clients/kubernetes/webhook.h"
#include "clients/kubernetes/workloads.h"

enum { TURN_MS = 500 };

struct agent {
    struct agent_config config;
    struct api_server server;
    struct resource_table *table;
    struct ledger_pool *ledger;
    struct namespaces *namespaces;
    struct people *people;
    struct admission admission;
    struct webhook *webhook;
    struct watch_loop *loop;
    struct controller *controller;
    struct workloads *workloads; /* NULL without Kueue */
    struct lease *lease;
    pthread_t watch_thread;
    bool watch_runs;
    atomic_bool stopping;
};

/* ---- making it */

static bool table_read(struct agent *agent, struct agent_error *ret_error)
{
    const char *path = agent->config.resource_table.text;
    return resource_table_read(&path, path[0] == '\0' ? 0 : 1, &agent->table, ret_error->detail,
                               sizeof ret_error->detail);
}

static bool certificate_read(struct agent *agent, struct agent_error *ret_error)
{
    bool changed;
    const struct agent_config *config = &agent->config;
    return certificate_refresh(config->tls_cert_file.text, config->tls_key_file.text, &changed,
                               ret_error);
}

static const char *own_namespace(const struct agent *agent)
{
    const char *own = agent->config.namespace.text;
    return own[0] == '\0' ? agent->server.namespace : own;
}

static bool parts_create(struct agent *agent, struct agent_error *ret_error)
{
    agent->namespaces = namespaces_create(own_namespace(agent));
    agent->people = people_create(&agent->config, &agent->server);
    agent->loop = watch_loop_create(&agent->server, agent->config.relist_s);
    if (agent->namespaces == NULL || agent->people == NULL || agent->loop == NULL) {
        return agent_error_set(ret_error, "out of memory");
    }
    agent->admission = (struct admission){.config = &agent->config,
                                          .table = agent->table,
                                          .namespaces = agent->namespaces,
                                          .people = agent->people,
                                          .ledger = agent->ledger};
    return controller_create(&agent->admission, &agent->server, &agent->controller, ret_error);
}

bool agent_create(const char *config_path, struct agent **ret_agent, struct agent_error *ret_error)
{
    struct agent *agent = calloc(1, sizeof *agent);
    if (agent == NULL) {
        return agent_error_set(ret_error, "out of memory");
    }
    const bool ok = agent_config_read(config_path, &agent->config, ret_error) &&
                    table_read(agent, ret_error) && certificate_read(agent, ret_error) &&
                    ledger_pool_create(&agent->config, &agent->ledger, ret_error) &&
                    api_server_find(agent->config.kubeconfig.text, &agent->server, ret_error) &&
                    parts_create(agent, ret_error);
    if (!ok) {
        agent_destroy(agent);
        return false;
    }
    *ret_agent = agent;
    return true;
}

/* ---- the thread of the watches */

static void on_namespaces_begin(void *context)
{
    namespaces_list_begin(context);
}

static void on_namespace(void *context, const json_t *object)
{
    namespaces_put(context, object, false);
}

static void on_namespaces_end(void *context)
{
    namespaces_list_end(context);
}

static void on_namespace_change(void *context, const json_t *object, bool deleted)
{
    namespaces_put(context, object, deleted);
}

static void *watch_run(void *context)
{
    struct agent *agent = context;
    while (!atomic_load(&agent->stopping)) {
        controller_turn(agent->controller);
        workloads_turn(agent->workloads, counter_get(COUNTER_LEADER) != 0);
        watch_loop_turn(agent->loop, TURN_MS);
    }
    return NULL;
}

static bool watches_start(struct agent *agent, struct agent_error *ret_error)
{
    const struct watch_events events = {.context = agent->namespaces,
                                        .list_begin = on_namespaces_begin,
                                        .item = on_namespace,
                                        .list_end = on_namespaces_end,
                                        .change = on_namespace_change};
    struct watch *watch = watch_add(agent->loop, "/api/v1/namespaces", &events);
    if (watch == NULL) {
        return agent_error_set(ret_error, "out of memory");
    }
    watch_resume(watch);
    if (!controller_start(agent->controller, agent->loop, ret_error)) {
        return false;
    }
    if (agent->config.kueue == AGENT_KUEUE_ON &&
        !workloads_start(&agent->admission, &agent->server, agent->loop, &agent->workloads,
                         ret_error)) {
        return false;
    }
    agent->watch_runs = pthread_create(&agent->watch_thread, NULL, watch_run, agent) == 0;
    return agent->watch_runs || agent_error_set(ret_error, "no thread can be started");
}

/* ---- life */

bool agent_start(struct agent *agent, struct agent_error *ret_error)
{
    if (!watches_start(agent, ret_error) ||
        !webhook_start(&agent->admission, &agent->webhook, ret_error)) {
        return false;
    }
    if (agent->config.lease == AGENT_LEASE_OFF) {
        controller_lead(agent->controller, true);
    } else if (!lease_start(&agent->config, &agent->server, own_namespace(agent), agent->controller,
                            &agent->lease)) {
        return agent_error_set(ret_error, "no thread can be started");
    }
    char port[16];
    (void)snprintf(port, sizeof port, "%u", webhook_port(agent->webhook));
    agent_log("info", "listening", "port", port, "cluster", agent->config.cluster.text, NULL);
    return true;
}

void agent_tick(struct agent *agent)
{
    bool changed;
    struct agent_error error;
    const struct agent_config *config = &agent->config;
    if (!certificate_refresh(config->tls_cert_file.text, config->tls_key_file.text, &changed,
                             &error)) {
        agent_log("warning", "certificate_kept", "why", error.detail, NULL);
    } else if (changed) {
        agent_log("info", "certificate_loaded", "path", config->tls_cert_file.text, NULL);
    }
}

bool agent_check(struct agent *agent, FILE *out)
{
    struct corehour_answer answer;
    struct agent_error error;
    char path[128];
    (void)snprintf(path, sizeof path, "/v1/clusters/%.64s", agent->config.cluster.text);
    const struct corehour_request request = {.method = "GET", .path = path};
    const bool answered = ledger_pool_call(agent->ledger, &request, &answer, &error);
    const int ledger_status = answered ? answer.status : 0;
    if (answered) {
        corehour_answer_fini(&answer);
    }
    (void)fprintf(out, "ledger      %s: %s\n", agent->config.url.text,
                  !answered              ? error.detail
                  : ledger_status == 200 ? "ok"
                                         : "does not know this cluster (corehour cluster create)");
    struct api_caller caller;
    int api_status = 0;
    if (api_caller_init(&caller, &agent->server, 5000)) {
        const struct api_request version = {.method = "GET", .path = "/api/v1/namespaces?limit=1"};
        api_status = api_call(&caller, &version, NULL);
        api_caller_fini(&caller);
    }
    (void)fprintf(out, "API server  %s: %s (%d)\n", agent->server.url,
                  api_status == 200 ? "ok"
                  : api_status == 0 ? "no answer"
                                    : "refuses: look at the token and the ClusterRole",
                  api_status);
    return ledger_status == 200 && api_status == 200;
}

void agent_destroy(struct agent *agent)
{
    if (agent == NULL) {
        return;
    }
    webhook_stop(agent->webhook);
    lease_stop(agent->lease);
    atomic_store(&agent->stopping, true);
    if (agent->watch_runs) {
        watch_loop_wake(agent->loop);
        pthread_join(agent->watch_thread, NULL);
    }
    controller_stop(agent->controller);
    workloads_stop(agent->workloads);
    watch_loop_destroy(agent->loop);
    controller_destroy(agent->controller);
    people_destroy(agent->people);
    namespaces_destroy(agent->namespaces);
    ledger_pool_destroy(agent->ledger);
    resource_table_destroy(agent->table);
    api_server_fini(&agent->server);
    certificate_fini();
    free(agent);
}
