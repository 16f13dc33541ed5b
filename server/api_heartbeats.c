/* POST /v1/heartbeats: one body, a command for each of its runs, one result for each. */
#include "server/api_heartbeats.h"

#include <stdlib.h>
#include <string.h>

#include "server/api.h"
#include "server/bulk.h"
#include "server/decode_commands.h"
#include "server/encode.h"

struct heartbeat_source {
    struct bulk_source bulk; /* first */
    json_t *top;             /* owned; parsed and freed on the bulk thread */
    const json_t *body;      /* within it */
    bool is_event;           /* the body is the event's data */
    bool is_read;
    size_t index;
    struct command common; /* cluster and at, for every run */
};

/* Heartbeats are a sign of life of the agent, whatever becomes of the runs (SPEC 5.3); those that a
 * person sends are not. */
static void touch_agent(struct request *request, const char *cluster)
{
    struct command command;
    if (request->principal.role != ROLE_SCHEDULER) {
        return;
    }
    command_reset(&command, COMMAND_TOUCH_AGENT);
    command.role = request->principal.role;
    command.place_no = request->principal.place_no;
    memcpy(command.cluster, cluster, sizeof(command.cluster));
    api_send_quietly(request->service, &command);
}

/* What stands around the runs. A failure is that of the whole request. */
static bool read_body(struct heartbeat_source *source)
{
    struct request *request = source->bulk.request;
    struct error *failure = &source->bulk.failure;
    source->is_read = true;
    if (request_parse_body(request, &source->top, failure) != ERR_OK) {
        return false;
    }
    source->body = source->is_event ? json_object_get(source->top, "data") : source->top;
    command_reset(&source->common, COMMAND_HEARTBEAT);
    if (decode_heartbeats(source->body, &source->common, failure) != ERR_OK) {
        return false;
    }
    touch_agent(request, source->common.cluster);
    return true;
}

static bool next_run(struct bulk_source *bulk_source, struct bulk *bulk, struct bulk_line *line)
{
    struct heartbeat_source *source = (struct heartbeat_source *)(void *)bulk_source;
    if ((!source->is_read && !read_body(source)) || bulk_source->failure.code != ERR_OK) {
        return false;
    }
    const json_t *runs = json_object_get(source->body, "runs");
    if (source->index >= json_array_size(runs)) {
        return false;
    }
    const size_t index = source->index++;
    struct command *command =
        bulk_command(bulk, bulk_source, line, route_of_command(COMMAND_HEARTBEAT));
    memcpy(command->cluster, source->common.cluster, sizeof(command->cluster));
    command->run.at_s = source->common.run.at_s;
    line->number = (int64_t)index + 1;
    /* A refused run is told by its error. */
    return decode_heartbeat_run(json_array_get(runs, index), index, command, &line->error) ==
               ERR_OK ||
           line->error.code != ERR_OK;
}

/* Failures that are not about one run: the whole request is refused, and may be sent again. */
static bool is_about_all(enum error_code code)
{
    static const enum error_code codes[] = {
        ERR_INVALID_FIELD, ERR_UNKNOWN_CLUSTER, ERR_TIME_IN_FUTURE, ERR_NOT_ALLOWED,
        ERR_NOT_FOUND,     ERR_UNAVAILABLE,     ERR_OVERLOADED,     ERR_INTERNAL,
    };
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        if (codes[i] == code) {
            return true;
        }
    }
    return false;
}

static void write_run(struct bulk_source *source,
                      struct json_out *out,
                      const struct bulk_line *line)
{
    const struct error *error = line->result != NULL ? &line->result->error : &line->error;
    if (is_about_all(error->code)) {
        if (source->failure.code == ERR_OK) {
            source->failure = *error;
        }
        return;
    }
    json_out_object_open(out, NULL);
    json_out_text(out, "hold", line->command->hold);
    json_out_integer(out, "task", line->command->task);
    json_out_integer(out, "attempt", line->command->attempt);
    json_out_text(out, "result", encode_heartbeat_result(line->result));
    json_out_object_close(out);
}

static void heartbeat_fini(struct bulk_source *bulk_source)
{
    struct heartbeat_source *source = (struct heartbeat_source *)(void *)bulk_source;
    json_decref(source->top);
    free(source);
}

static enum error_code submit_heartbeats(struct request *request, bool is_event, struct error *err)
{
    struct heartbeat_source *source = calloc(1, sizeof(*source));
    if (source == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    source->is_event = is_event;
    source->bulk = (struct bulk_source){
        .next = next_run,
        .write = write_run,
        .begin = bulk_results_begin,
        .end = bulk_results_end,
        .fini = heartbeat_fini,
        .request = request,
        .content_type = "application/json",
    };
    const enum error_code code = bulk_submit(request->service->bulk, &source->bulk, err);
    if (code != ERR_OK) {
        heartbeat_fini(&source->bulk);
    }
    return code;
}

void api_heartbeats_submit(struct request *request, bool is_event)
{
    struct error err;
    request->is_pending = true;
    if (submit_heartbeats(request, is_event, &err) != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}

void api_heartbeats(struct request *request)
{
    api_heartbeats_submit(request, false);
}
