/* Clients for many threads: see ledger_pool.h. */
#include "clients/kubernetes/ledger_pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "clients/clock.h"

enum { IDLE_MAX = 64 };

struct ledger_pool {
    const struct agent_config *config;
    char token[AGENT_TOKEN_BYTES];
    pthread_mutex_t lock;
    struct corehour_client *idle[IDLE_MAX];
    unsigned idle_count;
    _Atomic int64_t closed_until_ms; /* monotonic: nothing is asked before */
};

bool ledger_pool_create(const struct agent_config *config,
                        struct ledger_pool **ret_pool,
                        struct agent_error *ret_error)
{
    struct ledger_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return agent_error_set(ret_error, "out of memory");
    }
    pool->config = config;
    pthread_mutex_init(&pool->lock, NULL);
    struct corehour_client *client = NULL;
    const bool ok =
        agent_line_read(config->token_file.text, pool->token, sizeof pool->token, ret_error) &&
        ledger_pool_client(pool, config->deadline_ms, &client, ret_error);
    if (!ok) {
        ledger_pool_destroy(pool);
        return false;
    }
    pool->idle[pool->idle_count++] = client;
    *ret_pool = pool;
    return true;
}

void ledger_pool_destroy(struct ledger_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    for (unsigned i = 0; i < pool->idle_count; i++) {
        corehour_client_destroy(pool->idle[i]);
    }
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

bool ledger_pool_client(const struct ledger_pool *pool,
                        int64_t deadline_ms,
                        struct corehour_client **ret_client,
                        struct agent_error *ret_error)
{
    const struct agent_config *config = pool->config;
    const struct corehour_options options = {
        .url = config->url.text,
        .token = pool->token,
        .language = config->language == AGENT_LANGUAGE_ZH ? "zh" : "en",
        .ca_file = config->ca_file.text[0] == '\0' ? NULL : config->ca_file.text,
        .agent = "corehour-kubernetes",
        .deadline_ms = deadline_ms,
        .try_ms = deadline_ms,
    };
    struct corehour_error error;
    if (corehour_client_create(&options, ret_client, &error) != COREHOUR_OK) {
        return agent_error_set(ret_error, "%.300s", error.detail);
    }
    return true;
}

static struct corehour_client *take(struct ledger_pool *pool, struct agent_error *ret_why)
{
    struct corehour_client *client = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->idle_count > 0) {
        client = pool->idle[--pool->idle_count];
    }
    pthread_mutex_unlock(&pool->lock);
    if (client == NULL && !ledger_pool_client(pool, pool->config->deadline_ms, &client, ret_why)) {
        return NULL;
    }
    return client;
}

static void give_back(struct ledger_pool *pool, struct corehour_client *client)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->idle_count < IDLE_MAX) {
        pool->idle[pool->idle_count++] = client;
        client = NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    corehour_client_destroy(client);
}

bool ledger_answer_decides(const struct corehour_answer *answer)
{
    return answer->status < 500 && answer->status != 401 && answer->status != 403 &&
           answer->status != 429;
}

bool ledger_pool_call(struct ledger_pool *pool,
                      const struct corehour_request *request,
                      struct corehour_answer *ret_answer,
                      struct agent_error *ret_why)
{
    if (client_clock_mono_ms() < atomic_load(&pool->closed_until_ms)) {
        return agent_error_set(ret_why, "no answer a moment ago");
    }
    struct corehour_client *client = take(pool, ret_why);
    if (client == NULL) {
        return false;
    }
    struct corehour_error error;
    const enum corehour_result result = corehour_call(client, request, ret_answer, &error);
    give_back(pool, client);
    if (result != COREHOUR_OK) {
        atomic_store(&pool->closed_until_ms,
                     client_clock_mono_ms() + pool->config->breaker_s * 1000);
        return agent_error_set(ret_why, "%.300s", error.detail);
    }
    if (!ledger_answer_decides(ret_answer)) {
        (void)agent_error_set(ret_why, "the ledger answers %d %.64s", ret_answer->status,
                              corehour_answer_code(ret_answer));
        corehour_answer_fini(ret_answer);
        return false;
    }
    return true;
}
