/* SPDX-License-Identifier: MIT
 *
 * See agent.h. */
#include "clients/slurm/agent/agent.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "clients/clock.h"
#include "clients/slurm/agent/deliver.h"
#include "clients/slurm/agent/door.h"
#include "clients/slurm/agent/feed.h"
#include "clients/slurm/agent/logs.h"
#include "clients/slurm/agent/observe.h"
#include "clients/slurm/agent/program.h"
#include "clients/slurm/agent/reconcile.h"
#include "clients/slurm/agent/steer.h"
#include "clients/url.h"

enum {
    HEARTBEAT_RUNS = 2000, /* a call; the API takes 5000 */
    AWAY_FIRST_MS = 500,   /* pause after the daemon did not answer, doubling */
    AWAY_LAST_MS = 5000,
    DELIVER_ROUNDS = 40, /* batches in a row before the queue is looked at again */
    COMPARED_BACK_S = 86400,
};

struct agent {
    const struct slurm_config *config;
    struct corehour_client *client;
    struct outbox *outbox;
    struct feed *feed;
    struct door *door;
    struct observer observer;
    struct steer steer;
    struct deliver deliver;
    struct queue queue;
    bool has_queue; /* `queue` is of this round */
    int signal_fd;
    char squeue[AGENT_PATH_BYTES];
    char sacct[AGENT_PATH_BYTES];
    int64_t lost_s;       /* slurmctld does not answer since then; 0: it does */
    int64_t away_ms;      /* pause after the daemon did not answer; 0: it does */
    int64_t deliver_ms;   /* not before */
    int64_t heartbeat_ms; /* the next */
    int64_t sweep_ms;
    int64_t compare_ms;
    int64_t grace_ms; /* when the cluster's settings are read again */
    int64_t feed_done;
    bool records_failed;
};

void agent_command_path(const struct slurm_config *config, const char *name, char *ret_path)
{
    const char *folder = config->slurm_bin_dir.text;
    (void)snprintf(ret_path, AGENT_PATH_BYTES, "%s%s%s", folder, *folder == '\0' ? "" : "/", name);
}

/* ---- outages of the controller ---- */

static void outages_path(const struct slurm_config *config, char *path, size_t size_bytes)
{
    (void)snprintf(path, size_bytes, "%s/outages.ndjson", config->state_dir.text);
}

json_t *agent_outages_read(const struct slurm_config *config)
{
    char path[AGENT_PATH_BYTES];
    char line[256];
    json_t *outages = json_array();
    outages_path(config, path, sizeof path);
    FILE *file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        (void)json_array_append_new(outages, json_loads(line, 0, NULL));
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return outages;
}

static void outage_note(const struct agent *agent, int64_t to_s)
{
    char path[AGENT_PATH_BYTES];
    outages_path(agent->config, path, sizeof path);
    FILE *file = fopen(path, "ae");
    if (file != NULL) {
        (void)fprintf(file, "{\"from\": %" PRId64 ", \"to\": %" PRId64 "}\n", agent->lost_s, to_s);
        (void)fclose(file);
    }
    logs_say(4,
             "slurmctld answers again after %" PRId64
             " s: jobs that ended meanwhile may show its return as their end",
             to_s - agent->lost_s);
}

/* ---- Slurm ---- */

static bool records_read(void *context,
                         const uint32_t *ids,
                         size_t count,
                         struct records *ret_records,
                         char *ret_detail)
{
    const struct agent *agent = context;
    return records_read_ids(agent->sacct, ids, count, ret_records, ret_detail);
}

static bool slurm_run(void *context, const char *const argv[])
{
    const struct agent *agent = context;
    char path[AGENT_PATH_BYTES];
    const char *words[8] = {path};
    struct program_output output;
    agent_command_path(agent->config, argv[0], path);
    for (size_t i = 1; i < sizeof words / sizeof words[0] - 1 && argv[i] != NULL; i++) {
        words[i] = argv[i];
    }
    const bool good = program_run(words, 15000, &output);
    if (!good) {
        logs_say(4, "%s %s: %s", argv[0], argv[1], output.detail);
    }
    program_output_fini(&output);
    return good;
}

static void job_hold(void *context, uint32_t raw_id)
{
    struct agent *agent = context;
    steer_hold(&agent->steer, raw_id);
}

static void queue_look(struct agent *agent)
{
    char detail[PROGRAM_DETAIL_BYTES];
    struct queue fresh;
    agent->has_queue = queue_read(agent->squeue, &fresh, detail);
    if (!agent->has_queue) {
        if (agent->lost_s == 0) {
            agent->lost_s = client_clock_wall_ms() / 1000;
            logs_say(3, "slurmctld does not answer: %s", detail);
        }
        return;
    }
    if (agent->lost_s != 0) {
        outage_note(agent, client_clock_wall_ms() / 1000);
        agent->lost_s = 0;
    }
    if (fresh.strange > 0) {
        logs_say(4, "%zu rows of squeue could not be read", fresh.strange);
    }
    queue_fini(&agent->queue);
    agent->queue = fresh;
}

static void look(struct agent *agent)
{
    queue_look(agent);
    if (!agent->has_queue) {
        return;
    }
    agent->observer.now_ms = client_clock_mono_ms();
    agent->observer.now_s = client_clock_wall_ms() / 1000;
    if (!observe_round(&agent->observer, &agent->queue)) {
        logs_say(3, "what jobs do cannot be written down in %s: said again in the next round",
                 agent->config->state_dir.text);
    }
    if (agent->observer.records_failed != agent->records_failed) {
        agent->records_failed = agent->observer.records_failed;
        logs_say(agent->records_failed ? 3 : 6,
                 agent->records_failed ? "sacct fails, ends wait: %s" : "sacct answers again%s",
                 agent->records_failed ? agent->observer.detail : "");
    }
}

/* ---- the ledger ---- */

static void away(struct agent *agent, const char *detail)
{
    if (agent->away_ms == 0) {
        logs_say(3, "the daemon is away, events wait in %s: %s", agent->config->state_dir.text,
                 detail);
    }
    agent->away_ms = agent->away_ms == 0 ? AWAY_FIRST_MS : agent->away_ms * 2;
    agent->away_ms = agent->away_ms < AWAY_LAST_MS ? agent->away_ms : AWAY_LAST_MS;
    agent->deliver_ms = client_clock_mono_ms() + agent->away_ms;
}

static void back(struct agent *agent)
{
    if (agent->away_ms != 0) {
        logs_say(6, "the daemon is back, %zu events wait", outbox_waiting(agent->outbox));
    }
    agent->away_ms = 0;
}

static void deliver(struct agent *agent)
{
    if (client_clock_mono_ms() < agent->deliver_ms) {
        return;
    }
    for (int i = 0; i < DELIVER_ROUNDS; i++) {
        const enum deliver_result result = deliver_some(&agent->deliver);
        if (result == DELIVER_AWAY) {
            away(agent, agent->deliver.detail);
            return;
        }
        if (result == DELIVER_EMPTY) {
            break;
        }
    }
    back(agent);
}

static bool heartbeat_send(struct agent *agent, json_t *body)
{
    struct corehour_answer answer;
    struct corehour_error error;
    const struct corehour_request request = {
        .method = "POST", .path = "/v1/heartbeats", .body = body};
    const bool sent = corehour_call(agent->client, &request, &answer, &error) == COREHOUR_OK;
    const bool good = sent && answer.status == 200;
    if (sent) {
        corehour_answer_fini(&answer);
    }
    json_decref(body);
    return good;
}

static void heartbeat(struct agent *agent)
{
    const int64_t now_ms = client_clock_mono_ms();
    if (now_ms < agent->heartbeat_ms || agent->away_ms != 0 || !agent->has_queue) {
        return;
    }
    agent->heartbeat_ms = now_ms + agent->config->heartbeat_s * 1000;
    size_t runs = 0;
    for (size_t skip = 0;; skip += runs) {
        json_t *body = observe_heartbeat(&agent->observer, agent->config->cluster.text, skip,
                                         HEARTBEAT_RUNS, &runs);
        if (body == NULL || !heartbeat_send(agent, body)) {
            return;
        }
    }
}

/* The grace before a job is ended, from the cluster's settings. */
static void grace_read(struct agent *agent)
{
    char path[COREHOUR_URL_BYTES] = "/v1/clusters";
    char detail[LINK_DETAIL_BYTES];
    int status;
    const int64_t now_ms = client_clock_mono_ms();
    if (now_ms < agent->grace_ms || agent->away_ms != 0 ||
        corehour_url_segment(path, sizeof path, agent->config->cluster.text) != COREHOUR_OK) {
        return;
    }
    json_t *cluster = link_get(agent->client, path, &status, detail);
    const json_t *grace = json_object_get(cluster, "stop_grace_s");
    if (json_is_integer(grace)) {
        agent->steer.grace_s = json_integer_value(grace);
    }
    agent->grace_ms = now_ms + (cluster == NULL ? 5000 : 60000);
    json_decref(cluster);
}

static void steer(struct agent *agent)
{
    json_t *events = feed_take(agent->feed);
    if (json_array_size(events) > 0) {
        agent->grace_ms = 0; /* one of them may be a stop */
        grace_read(agent);
    }
    steer_take(&agent->steer, events);
    json_decref(events);
    if (agent->has_queue) {
        steer_round(&agent->steer, &agent->queue, client_clock_wall_ms() / 1000);
    }
    const int64_t done = steer_done(&agent->steer);
    if (done != agent->feed_done && outbox_number_write(agent->outbox, "feed.seq", done)) {
        agent->feed_done = done;
    }
}

/* ---- comparing ---- */

static bool is_followed(void *context, const char *hold)
{
    struct agent *agent = context;
    return roll_find(&agent->observer.roll, hold) != NULL || outbox_mentions(agent->outbox, hold);
}

/* Open holds that no job carries any more; with `back_s` also what has ended within that time. */
static void compare(struct agent *agent, int64_t back_s)
{
    json_t *outages = agent_outages_read(agent->config);
    struct reconcile reconcile = {
        .client = agent->client,
        .cluster = agent->config->cluster.text,
        .sacct = agent->sacct,
        .queue = &agent->queue,
        .now_s = client_clock_wall_ms() / 1000,
        .orphan_s = agent->config->orphan_s,
        .is_quiet = true,
        .skip = is_followed,
        .context = agent,
        .outages = outages,
    };
    reconcile.since_s = back_s == 0 ? 0 : reconcile.now_s - back_s;
    if (!reconcile_run(&reconcile)) {
        logs_say(4, "reconcile: %s", reconcile.detail);
    } else if (reconcile.repaired + reconcile.listed > 0) {
        logs_say(4, "reconcile: %zu holds compared, %zu differences repaired, %zu listed",
                 reconcile.compared, reconcile.repaired, reconcile.listed);
    }
    json_decref(outages);
}

static void compare_due(struct agent *agent)
{
    const int64_t now_ms = client_clock_mono_ms();
    if (!agent->has_queue || agent->away_ms != 0 || outbox_waiting(agent->outbox) > 0) {
        return;
    }
    if (now_ms >= agent->compare_ms) {
        compare(agent, COMPARED_BACK_S);
        agent->compare_ms = now_ms + agent->config->reconcile_s * 1000;
        agent->sweep_ms = now_ms + agent->config->orphan_s * 500;
    } else if (now_ms >= agent->sweep_ms) {
        compare(agent, 0);
        agent->sweep_ms = now_ms + agent->config->orphan_s * 500;
    }
}

/* ---- the loop ---- */

/* Until the next round is due or an event comes. Returns false on a signal to end. */
static bool rest(struct agent *agent, int64_t round_ms)
{
    struct pollfd fds[2] = {{agent->signal_fd, POLLIN, 0}, {feed_fd(agent->feed), POLLIN, 0}};
    int64_t wait_ms = round_ms + agent->config->poll_s * 1000 - client_clock_mono_ms();
    wait_ms = wait_ms < 0 ? 0 : wait_ms;
    (void)poll(fds, 2, (int)wait_ms);
    return fds[0].revents == 0;
}

static void rounds_run(struct agent *agent)
{
    int64_t round_ms;
    agent->compare_ms =
        client_clock_mono_ms() + agent->config->poll_s * 2000; /* soon after the start */
    do {
        round_ms = client_clock_mono_ms();
        look(agent);
        deliver(agent);
        grace_read(agent);
        steer(agent);
        deliver(agent);
        heartbeat(agent);
        compare_due(agent);
    } while (rest(agent, round_ms));
    logs_say(6, "ends; %zu events wait for the daemon", outbox_waiting(agent->outbox));
}

static int signals_open(void)
{
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

static bool agent_open(struct agent *agent)
{
    char detail[OUTBOX_DETAIL_BYTES];
    agent_command_path(agent->config, "squeue", agent->squeue);
    agent_command_path(agent->config, "sacct", agent->sacct);
    if (!outbox_open(agent->config->state_dir.text, &agent->outbox, detail) ||
        !link_open(agent->config, 0, &agent->client, detail)) {
        logs_say(3, "%s", detail);
        return false;
    }
    agent->signal_fd = signals_open();
    agent->feed_done = outbox_number_read(agent->outbox, "feed.seq");
    agent->steer = (struct steer){.last = agent->feed_done,
                                  .grace_s = 120,
                                  .roll = &agent->observer.roll,
                                  .run = slurm_run,
                                  .context = agent};
    agent->observer.outbox = agent->outbox;
    agent->observer.records_read = records_read;
    agent->observer.context = agent;
    agent->observer.spool_dir = agent->config->spool_dir.text;
    agent->deliver = (struct deliver){.client = agent->client,
                                      .outbox = agent->outbox,
                                      .cluster = agent->config->cluster.text,
                                      .spool_dir = agent->config->spool_dir.text,
                                      .hold_job = job_hold,
                                      .context = agent};
    agent->feed = feed_start(agent->config, agent->feed_done);
    agent->door = door_start(agent->config);
    if (agent->feed == NULL || agent->signal_fd < 0) {
        logs_say(3, "no thread for the feed");
        return false;
    }
    return true;
}

int agent_run(const struct slurm_config *config)
{
    struct agent agent = {.config = config, .signal_fd = -1};
    const bool good = agent_open(&agent);
    if (good) {
        logs_say(6, "cluster %s, daemon %s, %zu events wait from before", config->cluster.text,
                 config->url.text, outbox_waiting(agent.outbox));
        rounds_run(&agent);
    }
    door_stop(agent.door);
    feed_stop(agent.feed);
    steer_fini(&agent.steer);
    roll_fini(&agent.observer.roll);
    queue_fini(&agent.queue);
    corehour_client_destroy(agent.client);
    outbox_close(agent.outbox);
    if (agent.signal_fd >= 0) {
        (void)close(agent.signal_fd);
    }
    return good ? 0 : 1;
}
