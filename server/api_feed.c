/* GET /v1/clusters/{c}/feed: what an adapter must learn about its holds, by long poll (SPEC 5.13). */
#include "server/api_feed.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"
#include "ledger/base/clock.h"
#include "server/api.h"
#include "server/decode_commands.h"
#include "server/decode_shapes.h"
#include "server/feed.h"
#include "server/rights.h"

static const struct decode_choice feed_types[] = {
    {"frozen", FEED_FROZEN},     {"stop", FEED_STOP}, {"exhausted", FEED_EXHAUSTED},
    {"released", FEED_RELEASED}, {NULL, 0},
};

struct events_room {
    struct feed_event events[LIMIT_FEED_EVENTS];
    size_t count;
};

static bool gather_event(void *context, const void *record)
{
    struct events_room *room = context;
    room->events[room->count++] = *(const struct feed_event *)record;
    return room->count < LIMIT_FEED_EVENTS;
}

static void write_event(struct json_out *out,
                        struct ledger_reader *reader,
                        const struct feed_event *event)
{
    struct ledger_hold hold;
    const bool is_known = ledger_read_hold_no(reader, event->hold_no, &hold, NULL) == ERR_OK;
    json_out_object_open(out, NULL);
    json_out_integer(out, "seq", event->seq);
    json_out_text(out, "type", decode_choice_name(feed_types, (int)event->type));
    json_out_text(out, "hold", is_known ? hold.hold.id : "");
    json_out_text_or_null(out, "job_id", is_known ? hold.hold.job_id : "");
    json_out_text(out, "tasks", event->tasks);
    json_out_text(out, "message", event->message);
    json_out_time_ms(out, "at", event->at_ms);
    json_out_object_close(out);
}

static void write_events(struct request *request,
                         struct ledger_reader *reader,
                         const struct events_room *room)
{
    struct json_out out;
    request_answer_begin(request, 200, &out);
    json_out_object_open(&out, NULL);
    json_out_array_open(&out, "events");
    int64_t next_after = request->feed.after;
    for (size_t i = 0; i < room->count; i++) {
        write_event(&out, reader, &room->events[i]);
        next_after = room->events[i].seq;
    }
    json_out_array_close(&out);
    json_out_integer(&out, "next_after", next_after);
    json_out_object_close(&out);
    request_answer_end(request);
}

/* Which cluster, at the first reading. */
static enum error_code find_cluster(struct request *request,
                                    struct ledger_reader *reader,
                                    struct error *err)
{
    struct rights rights;
    struct cluster cluster;
    const char *name = request->path_values[0];
    enum error_code code = rights_begin(&request->principal, reader, &rights, err);
    code = code == ERR_OK ? ledger_read_cluster(reader, name, &cluster, err) : code;
    if (code == ERR_UNKNOWN_CLUSTER) {
        code = error_set(err, ERR_NOT_FOUND, "no cluster %s", name);
    }
    code = code == ERR_OK ? rights_see_cluster(&rights, &cluster, name, err) : code;
    if (code == ERR_OK) {
        request->feed.cluster_no = cluster.cluster_no;
        request->feed.generation = feed_generation(request->service->feed, cluster.cluster_no);
    }
    return code;
}

static enum error_code read_events(struct request *request,
                                   struct ledger_reader *reader,
                                   struct error *err)
{
    CLEANUP(cleanup_free) struct events_room *room = malloc(sizeof(*room));
    if (room == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "out of memory");
    }
    room->count = 0;
    const struct select_args args = {
        .n = {request->feed.cluster_no, request->feed.after},
        .limit = LIMIT_FEED_EVENTS,
    };
    const enum error_code code =
        ledger_read_list(reader, SELECT_FEED, &args, gather_event, room, err);
    if (code == ERR_OK && (room->count > 0 || request->feed.deadline_ms <= clock_mono_ms())) {
        write_events(request, reader, room);
    }
    return code;
}

/* On a reader thread; leaves no answer when there is nothing yet. */
static void read_feed(struct request *request, struct ledger_reader *reader)
{
    struct error err;
    enum error_code code = ERR_OK;
    if (request->feed.cluster_no == 0) {
        /* In a snapshot of its own: the generation is to be taken before the events are looked at. */
        code = ledger_reader_begin(reader, &err);
        if (code == ERR_OK) {
            code = find_cluster(request, reader, &err);
            ledger_reader_end(reader);
        }
    } else {
        request->feed.generation =
            feed_generation(request->service->feed, request->feed.cluster_no);
    }
    code = code == ERR_OK ? ledger_reader_begin(reader, &err) : code;
    if (code == ERR_OK) {
        code = read_events(request, reader, &err);
        ledger_reader_end(reader);
    }
    if (code != ERR_OK) {
        request_refuse(request, &err);
    }
}

static void answer_nothing(struct request *request)
{
    struct json_out out;
    request_answer_begin(request, 200, &out);
    json_out_object_open(&out, NULL);
    json_out_array_open(&out, "events");
    json_out_array_close(&out);
    json_out_integer(&out, "next_after", request->feed.after);
    json_out_object_close(&out);
    request_answer_end(request);
}

/* On the HTTP loop, after reading: answered, or it waits. */
static bool finish_feed(struct request *request)
{
    if (request->answer.is_ready) {
        return true;
    }
    if (!http_is_stopping(request->http) && feed_wait(request->service->feed, request)) {
        return false;
    }
    answer_nothing(request);
    return true;
}

void api_feed_again(struct request *request, bool has_news)
{
    struct error err;
    if (has_news && request_read(request, read_feed, &err) == ERR_OK) {
        return;
    }
    answer_nothing(request);
    http_resume(request->http, request);
}

/* A poll is the agent's sign of life (SPEC 5.3); a person who looks at the feed is no agent. */
static void touch_agent(struct request *request)
{
    struct command command;
    struct error err;
    if (request->principal.role != ROLE_SCHEDULER) {
        return;
    }
    command_reset(&command, COMMAND_TOUCH_AGENT);
    command.role = request->principal.role;
    command.place_no = request->principal.place_no;
    if (api_place_cluster(request, &command, &err) == ERR_OK) {
        api_send_quietly(request->service, &command);
    }
}

void api_feed(struct request *request)
{
    struct error err;
    int64_t wait_s;
    enum error_code code = request_query_integer(
        request, &(struct query_integer){QUERY_AFTER, 0, INT64_MAX, 0}, &request->feed.after, &err);
    if (code == ERR_OK) {
        code = request_query_integer(
            request, &(struct query_integer){QUERY_WAIT_S, 0, LIMIT_FEED_WAIT_S, 0}, &wait_s, &err);
    }
    if (code == ERR_OK) {
        request->feed.deadline_ms = clock_mono_ms() + wait_s * 1000;
        request->finish = finish_feed;
        request->is_pending = true;
        touch_agent(request);
        code = request_read(request, read_feed, &err);
    }
    if (code != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}
