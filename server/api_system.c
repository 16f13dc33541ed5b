/* About the service itself: alive, ready, figures, contract. Answered on the HTTP loop. */
#include <string.h>

#include "schema/openapi.h"
#include "server/api.h"
#include "server/feed.h"

static void answer_health(struct request *request, bool is_ok)
{
    struct json_out out;
    request_answer_begin(request, is_ok ? 200 : 503, &out);
    json_out_object_open(&out, NULL);
    json_out_text(&out, "status", is_ok ? "ok" : "unavailable");
    json_out_text(&out, "version", COREHOUR_VERSION);
    json_out_object_close(&out);
    request_answer_end(request);
}

/* The process answers. */
void api_health(struct request *request)
{
    answer_health(request, true);
}

/* The ledger can commit: its last transaction did. A ledger that could not is tried again each second. */
void api_readiness(struct request *request)
{
    if (batcher_is_healthy(request->service->batcher)) {
        answer_health(request, true);
        return;
    }
    struct error err;
    (void)error_set(&err, ERR_UNAVAILABLE, "the last transaction could not be committed");
    request_refuse(request, &err);
}

void api_metrics(struct request *request)
{
    struct json_out out;
    struct service *service = request->service;
    metrics_set(service->metrics, METRIC_COMMANDS_QUEUED, batcher_queued(service->batcher));
    metrics_set(service->metrics, METRIC_FEED_WAITERS, feed_waiting(service->feed));
    metrics_set(service->metrics, METRIC_LEDGER_HEALTHY, batcher_is_healthy(service->batcher));
    request_answer_begin(request, 200, &out);
    request->answer.content_type = "text/plain; version=0.0.4; charset=utf-8";
    metrics_write(service->metrics, &request->answer.body);
    request_answer_end(request);
}

void api_openapi(struct request *request)
{
    struct answer *answer = &request->answer;
    answer->status = 200;
    answer->content_type = "application/json";
    answer->static_body = openapi_text;
    answer->static_bytes = openapi_bytes;
    answer->is_ready = true;
}
