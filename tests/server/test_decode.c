/* Field tables: what a body says ends up in the command, and nothing else does (SPEC 1.3 to 1.6, 6.2). */
#include <string.h>

#include <criterion/criterion.h>

#include "server/decode_caps.h"
#include "server/decode_commands.h"
#include "server/decode_rates.h"
#include "server/decode_settings.h"
#include "server/json_in.h"

static struct command_with_rates room;
static struct command *const command = &room.command;
static struct error err;

typedef enum error_code (*decode_fn)(const json_t *body, struct command *into, struct error *why);

static enum error_code by_place(const json_t *body, struct command *into, struct error *why)
{
    return decode_command(body, true, into, why);
}

static enum error_code by_route(const json_t *body, struct command *into, struct error *why)
{
    return decode_command(body, false, into, why);
}

static enum error_code decode(enum command_kind kind, decode_fn function, const char *text)
{
    json_t *body = NULL;
    memset(&err, 0, sizeof(err));
    if (json_in_parse(text, strlen(text), &body, &err) != ERR_OK) {
        return err.code;
    }
    const enum error_code code = function(body, command, &err);
    cr_assert_eq(command->kind, kind);
    json_decref(body);
    return code;
}

static enum error_code decode_new(enum command_kind kind, decode_fn function, const char *text)
{
    memset(&room, 0, sizeof(room));
    command_reset(command, kind);
    return decode(kind, function, text);
}

Test(decode, a_freeze_arrives_field_by_field)
{
    cr_assert_eq(
        decode_new(
            COMMAND_FREEZE, by_route,
            "{\"id\":\"alpha-1\",\"cluster\":\"alpha\",\"account\":\"vision\",\"user\":\"\xe7\x88\xb1\","
            "\"job\":{\"name\":\"train\",\"partition\":\"gpu,cpu\",\"qos\":\"low\"},"
            "\"resources\":{\"cores\":8,\"memory_mib\":65536,\"gpus\":[{\"model\":\"A100\",\"count\":2,"
            "\"cores_percent\":30,\"memory_mib\":12288},{\"count\":1}]},"
            "\"tasks\":10,\"max_running\":4,\"time_limit_s\":300,\"mode\":\"window\","
            "\"on_insufficient\":\"wait\",\"ttl_s\":60}"),
        ERR_OK, "%s %s", err.field, err.detail);
    const struct command_freeze *freeze = &command->freeze;
    cr_assert_str_eq(freeze->id, "alpha-1");
    cr_assert_str_eq(command->cluster, "alpha");
    cr_assert_str_eq(freeze->account, "vision");
    cr_assert_str_eq(freeze->user, "\xe7\x88\xb1");
    cr_assert(freeze->job.given);
    cr_assert_str_eq(freeze->job.partition, "gpu,cpu");
    cr_assert(freeze->resources.given);
    cr_assert_eq(freeze->resources.cores, 8);
    cr_assert_eq(freeze->resources.gpu_count, 2);
    cr_assert_str_eq(freeze->resources.gpus[0].model, "a100");
    cr_assert_eq(freeze->resources.gpus[0].cores_percent, 30);
    cr_assert_str_eq(freeze->resources.gpus[1].model, "");
    cr_assert_eq(freeze->tasks, 10);
    cr_assert_eq(freeze->max_running, 4);
    cr_assert_eq(freeze->ttl_s, 60);
    cr_assert_eq(freeze->mode, MODE_WINDOW);
    cr_assert_eq(freeze->on_insufficient, INSUFFICIENT_WAIT);
}

Test(decode, what_is_not_given_stays_zero)
{
    const char body[] =
        "{\"id\":\"a\",\"cluster\":\"c\",\"account\":\"v\",\"user\":\"u\",\"resources\":{\"cores\":1},"
        "\"max_running\":null,\"time_limit_s\":null}";
    cr_assert_eq(decode_new(COMMAND_FREEZE, by_route, body), ERR_OK);
    cr_assert_not(command->freeze.job.given);
    cr_assert_eq(command->freeze.tasks, 0);
    cr_assert_eq(command->freeze.max_running, 0);
    cr_assert_eq(command->freeze.time_limit_s, 0);
    cr_assert_eq(command->freeze.mode, MODE_UNSET);
}

Test(decode, a_reset_command_keeps_nothing_of_the_one_before)
{
    memset(&room, 0xff, sizeof(room));
    command_reset(command, COMMAND_FREEZE);
    const char body[] =
        "{\"id\":\"a\",\"cluster\":\"c\",\"account\":\"v\",\"user\":\"u\",\"resources\":{\"cores\":1}}";
    cr_assert_eq(decode(COMMAND_FREEZE, by_route, body), ERR_OK);
    struct command clean;
    memset(&clean, 0, sizeof(clean));
    cr_assert_eq(
        memcmp(command->freeze.job.name, clean.freeze.job.name, sizeof(clean.freeze.job.name)), 0);
    cr_assert_eq(command->freeze.ttl_s, 0);
    cr_assert_eq(command->place_no, 0);
}

Test(decode, suspended_of_zero_is_given_and_absent_is_not)
{
    const char with[] =
        "{\"ended_at\":\"2026-12-01T08:01:20.9+08:00\",\"suspended_s\":0,\"outcome\":\"node_fail\"}";
    cr_assert_eq(decode_new(COMMAND_SETTLE, by_route, with), ERR_OK);
    cr_assert(command->run.suspended_given);
    cr_assert_eq(command->run.ended_at_s, 1796083280);
    cr_assert_eq(command->run.outcome, OUTCOME_NODE_FAIL);
    const char without[] = "{\"ended_at\":\"2026-12-01T00:01:20Z\"}";
    cr_assert_eq(decode_new(COMMAND_SETTLE, by_route, without), ERR_OK);
    cr_assert_not(command->run.suspended_given);
    cr_assert_eq(command->run.outcome, OUTCOME_RUNNING);
}

Test(decode, a_release_and_a_resize_without_tasks_mean_all)
{
    cr_assert_eq(decode_new(COMMAND_RELEASE, by_route, "{}"), ERR_OK);
    cr_assert(command->all_tasks);
    cr_assert_eq(decode_new(COMMAND_RELEASE, by_route, "{\"tasks\":\"3-9,12\"}"), ERR_OK);
    cr_assert_not(command->all_tasks);
    cr_assert_str_eq(command->tasks, "3-9,12");
    cr_assert_eq(decode_new(COMMAND_RESIZE, by_route, "{\"time_limit_s\":600}"), ERR_OK);
    cr_assert(command->all_tasks);
    cr_assert_eq(decode_new(COMMAND_RESIZE, by_route, "{\"task\":0,\"time_limit_s\":600}"), ERR_OK);
    cr_assert_not(command->all_tasks);
}

Test(decode, task_sets_are_ascending_numbers_and_ranges)
{
    static const struct {
        const char *tasks;
        bool is_taken;
    } cases[] = {
        {"0", true},       {"0,1", true},  {"3-9,12", true}, {"99999", true}, {"", false},
        {"100000", false}, {"1,1", false}, {"2,1", false},   {"9-3", false},  {"3-3", false},
        {"3-", false},     {"-3", false},  {"1,", false},    {",1", false},   {"1-2-3", false},
        {"1 ", false},     {"a", false},   {"1-5,4", false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char body[64];
        (void)snprintf(body, sizeof(body), "{\"tasks\":\"%s\"}", cases[i].tasks);
        const enum error_code code = decode_new(COMMAND_RELEASE, by_route, body);
        cr_assert_eq(code == ERR_OK, cases[i].is_taken, "%s", cases[i].tasks);
    }
}

Test(decode, amounts_are_exact_in_either_unit)
{
    static const struct {
        const char *amount;
        int64_t mcs; /* -1: refused */
    } cases[] = {
        {"\"core_hours\":\"1.33333\"", 4799988},
        {"\"core_hours\":1000", INT64_C(3600000000)},
        {"\"core_hours\":\"0.00001\"", 36},
        {"\"mcs\":1", 1},
        {"\"mcs\":9007199254740991", LIMIT_COMMAND_MCS},
        {"\"mcs\":9007199254740992", -1},
        {"\"mcs\":-1", -1},
        {"\"mcs\":\"1\"", -1},
        {"\"mcs\":1.0", -1},
        {"\"core_hours\":1.5", -1},
        {"\"core_hours\":-1", -1},
        {"\"core_hours\":\"1.000001\"", -1},
        {"\"core_hours\":\"1e3\"", -1},
        {"\"core_hours\":9223372036854775807", -1},
        {"\"core_hours\":1,\"mcs\":3600000", -1},
        {"\"note\":\"no amount\"", -1},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char body[160];
        (void)snprintf(body, sizeof(body), "{\"id\":\"g\",\"node\":\"acme\",%s}", cases[i].amount);
        const enum error_code code = decode_new(COMMAND_GRANT, by_route, body);
        cr_assert_eq(code, cases[i].mcs < 0 ? ERR_INVALID_FIELD : ERR_OK, "%s", cases[i].amount);
        if (code == ERR_OK) {
            cr_assert_eq(command->movement.amount_mcs, cases[i].mcs);
        }
    }
}

Test(decode, a_refund_without_an_amount_is_of_all_that_is_left)
{
    cr_assert_eq(
        decode_new(COMMAND_REFUND, by_route, "{\"id\":\"r\",\"hold\":\"h\",\"reason\":\"slow\"}"),
        ERR_OK);
    cr_assert(command->refund.all);
    cr_assert_eq(decode_new(COMMAND_REFUND, by_route,
                            "{\"id\":\"r\",\"hold\":\"h\",\"reason\":\"slow\",\"mcs\":1}"),
                 ERR_OK);
    cr_assert_not(command->refund.all);
}

Test(decode, lines_say_which_hold_and_bodies_of_routes_do_not)
{
    const char by_hold[] =
        "{\"op\":\"settle\",\"hold\":\"h-1\",\"ended_at\":\"2026-12-01T00:00:00Z\"}";
    cr_assert_eq(decode_new(COMMAND_SETTLE, by_place, by_hold), ERR_OK);
    cr_assert_str_eq(command->hold, "h-1");
    cr_assert_eq(decode_new(COMMAND_SETTLE, by_route, by_hold), ERR_INVALID_FIELD);
    const char by_job[] =
        "{\"op\":\"settle\",\"cluster\":\"alpha\",\"job_id\":\"7\",\"ended_at\":\"2026-12-01T00:00:00Z\"}";
    cr_assert_eq(decode_new(COMMAND_SETTLE, by_place, by_job), ERR_OK);
    cr_assert_str_eq(command->job_id, "7");
    const char nowhere[] = "{\"op\":\"settle\",\"ended_at\":\"2026-12-01T00:00:00Z\"}";
    cr_assert_eq(decode_new(COMMAND_SETTLE, by_place, nowhere), ERR_INVALID_FIELD);
    cr_assert_str_eq(err.field, "hold");
    const char which[] =
        "{\"op\":\"settle\",\"job_id\":\"7\",\"ended_at\":\"2026-12-01T00:00:00Z\"}";
    cr_assert_eq(decode_new(COMMAND_SETTLE, by_place, which), ERR_INVALID_FIELD);
    cr_assert_str_eq(err.field, "cluster");
    /* The job_id of a bind is what it binds to. */
    const char bind[] = "{\"op\":\"bind\",\"hold\":\"h\",\"job_id\":\"7\"}";
    cr_assert_eq(decode_new(COMMAND_BIND, by_place, bind), ERR_OK);
    cr_assert_str_eq(command->bind.job_id, "7");
    cr_assert_str_eq(command->job_id, "");
    /* A freeze makes its hold: it names none. */
    const char freeze[] =
        "{\"op\":\"freeze\",\"hold\":\"h\",\"id\":\"a\",\"cluster\":\"c\",\"account\":\"v\",\"user\":\"u\",\"resources\":{\"cores\":1}}";
    cr_assert_eq(decode_new(COMMAND_FREEZE, by_place, freeze), ERR_INVALID_FIELD);
    cr_assert_str_eq(err.field, "hold");
}

Test(decode, every_op_of_a_batch_is_known_by_its_name)
{
    static const struct {
        const char *op;
        enum command_kind kind;
    } ops[] = {
        {"freeze", COMMAND_FREEZE},     {"quote", COMMAND_QUOTE},
        {"bind", COMMAND_BIND},         {"start", COMMAND_START},
        {"suspend", COMMAND_SUSPEND},   {"resume", COMMAND_RESUME},
        {"resize", COMMAND_RESIZE},     {"requeue", COMMAND_REQUEUE},
        {"settle", COMMAND_SETTLE},     {"release", COMMAND_RELEASE},
        {"correct", COMMAND_CORRECT},   {"heartbeat", COMMAND_HEARTBEAT},
        {"charge", COMMAND_CHARGE},     {"refund", COMMAND_REFUND},
        {"grant", COMMAND_GRANT},       {"transfer", COMMAND_TRANSFER},
        {"withdraw", COMMAND_WITHDRAW},
    };
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        cr_assert_eq(command_kind_of_op(ops[i].op), ops[i].kind, "%s", ops[i].op);
    }
    cr_assert_eq(command_kind_of_op("put_node"), COMMAND__COUNT);
    cr_assert_eq(command_kind_of_op(""), COMMAND__COUNT);
}

Test(decode, hosts_are_joined_and_bounded)
{
    cr_assert_eq(decode_new(COMMAND_START, by_route,
                            "{\"started_at\":\"2026-12-01T00:00:00Z\",\"hosts\":[\"n1\",\"n2\"]}"),
                 ERR_OK);
    cr_assert_str_eq(command->run.hosts, "n1,n2");
    cr_assert_eq(decode_new(COMMAND_START, by_route,
                            "{\"started_at\":\"2026-12-01T00:00:00Z\",\"hosts\":[\"n1\",\"a,b\"]}"),
                 ERR_INVALID_FIELD);
    cr_assert_str_eq(err.field, "hosts.1");
    static char body[8192] = "{\"started_at\":\"2026-12-01T00:00:00Z\",\"hosts\":[\"x\"";
    for (int i = 0; i < 60; i++) {
        char host[96];
        (void)snprintf(host, sizeof(host), ",\"%080d\"", i);
        memcpy(body + strlen(body), host, strlen(host) + 1);
    }
    memcpy(body + strlen(body), "]}", 3);
    cr_assert_eq(decode_new(COMMAND_START, by_route, body), ERR_INVALID_FIELD);
}

/* ---- settings */

static enum error_code decode_cap_of(const char *name, const char *body)
{
    memset(&room, 0, sizeof(room));
    command_reset(command, COMMAND_PUT_CAP);
    cr_assert(decode_cap_name(name, &command->cap), "%s", name);
    return decode(COMMAND_PUT_CAP, decode_cap, body);
}

Test(decode_settings, caps_are_given_in_their_own_unit)
{
    static const struct {
        const char *name;
        const char *body;
        int64_t limit; /* -2: refused */
    } cases[] = {
        {"month", "{\"core_hours\":\"500\"}", INT64_C(1800000000)},
        {"month", "{\"mcs\":7}", 7},
        {"month", "{\"core_hours\":0}", 0},
        {"month", "{\"core_hours\":null}", RECORD_UNLIMITED},
        {"month", "{\"limit\":5}", -2},
        {"month", "{}", -2},
        {"gpus", "{\"limit\":8}", 8000},
        {"gpus:A100", "{\"limit\":8}", 8000},
        {"cores", "{\"limit\":null}", RECORD_UNLIMITED},
        {"jobs", "{\"limit\":3}", 3},
        {"job_gpus", "{\"limit\":1}", 1000},
        {"job_duration", "{\"limit_s\":86400}", 86400},
        {"job_duration", "{\"limit\":86400}", -2},
        {"job_core_hours", "{\"core_hours\":\"1.5\"}", 5400000},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const enum error_code code = decode_cap_of(cases[i].name, cases[i].body);
        cr_assert_eq(code, cases[i].limit == -2 ? ERR_INVALID_FIELD : ERR_OK, "%s %s",
                     cases[i].name, cases[i].body);
        if (code == ERR_OK) {
            cr_assert_eq(command->cap.cap.limit, cases[i].limit, "%s %s", cases[i].name,
                         cases[i].body);
        }
    }
    cr_assert_eq(decode_cap_of("month", "{\"core_hours\":1,\"soft\":true}"), ERR_OK);
    cr_assert_eq(command->cap.cap.soft, 1);
}

Test(decode_settings, names_of_caps_are_a_closed_list)
{
    struct command_cap cap = {0};
    cr_assert(decode_cap_name("gpus:A100-MIG", &cap));
    cr_assert_str_eq(cap.model, "a100-mig");
    cr_assert_not(decode_cap_name("funds", &cap));
    cr_assert_not(decode_cap_name("gpus:", &cap));
    cr_assert_not(decode_cap_name("", &cap));
    cr_assert_not(decode_cap_name("Month", &cap));
}

static enum error_code decode_node_of(enum command_kind kind, enum node_kind node, const char *body)
{
    memset(&room, 0, sizeof(room));
    command_reset(command, kind);
    command->node.kind = node;
    return decode(kind, decode_node, body);
}

Test(decode_settings, a_patch_changes_what_it_names_and_null_takes_away)
{
    cr_assert_eq(
        decode_node_of(COMMAND_PATCH_NODE, NODE_PROJECT, "{\"state\":\"closed\",\"ttl_s\":null}"),
        ERR_OK);
    cr_assert_eq(command->node.given, 1U << NODE_FIELD_STATE | 1U << NODE_FIELD_TTL);
    cr_assert_eq(command->node.set.state, NODE_CLOSED);
    cr_assert_eq(command->node.set.ttl_s, 0);
    cr_assert_eq(decode_node_of(COMMAND_PUT_NODE, NODE_PROJECT, "{\"state\":\"closed\"}"),
                 ERR_INVALID_FIELD);
    cr_assert_str_eq(err.field, "state");
    cr_assert_eq(decode_node_of(COMMAND_PUT_NODE, NODE_PROJECT, "{}"), ERR_INVALID_FIELD);
    cr_assert_str_eq(err.field, "organization");
    cr_assert_eq(decode_node_of(COMMAND_PUT_NODE, NODE_PROJECT,
                                "{\"organization\":\"a\",\"funding\":\"unlimited\"}"),
                 ERR_INVALID_FIELD);
    cr_assert_eq(
        decode_node_of(
            COMMAND_PUT_NODE, NODE_ORGANIZATION,
            "{\"funding\":\"unlimited\",\"waived_outcomes\":[\"oom\"],\"overdraft_core_hours\":\"2\",\"names_visible\":true}"),
        ERR_OK);
    cr_assert_eq(command->node.set.waived_outcomes, INT64_C(1) << OUTCOME_OOM);
    cr_assert_eq(command->node.set.overdraft_mcs, 7200000);
    cr_assert_eq(command->node.set.names_visible, 1);
    cr_assert_eq(decode_node_of(COMMAND_PUT_NODE, NODE_MEMBER, "{\"funding\":\"self\"}"),
                 ERR_INVALID_FIELD);
}

Test(decode_settings, rates_arrive_row_by_row)
{
    const char body[] =
        "{\"effective_from\":\"2026-01-01T00:00:00Z\",\"combine\":\"max\",\"price_per_core_hour\":\"0.12\",\"currency\":\"CNY\","
        "\"rows\":[{\"qos\":\"low\",\"permille\":500,\"core_mcores\":1000,\"gpus\":{\"A100\":{\"mcores\":16000,\"memory_mib\":81920}}},"
        "{\"core_mcores\":1000,\"gpu_default_mcores\":0}]}";
    cr_assert_eq(decode_new(COMMAND_PUT_RATES, decode_rates, body), ERR_OK, "%s %s", err.field,
                 err.detail);
    const struct command_rates *rates = &room.rates;
    cr_assert_eq(rates->version.price_micro, 120000);
    cr_assert_eq(rates->version.row_count, 2);
    cr_assert_eq(rates->rows[0].row.permille, 500);
    cr_assert_str_eq(rates->rows[0].models[0], "a100");
    cr_assert_eq(rates->rows[0].row.gpus[0].memory_mib, 81920);
    cr_assert_eq(rates->rows[0].row.gpu_default_mcores, -1);
    cr_assert_eq(rates->rows[1].row.permille, 1000);
    cr_assert_eq(rates->rows[1].row.gpu_default_mcores, 0);
}

Test(decode_settings, bad_rates_are_refused_by_name)
{
    static const struct {
        const char *body;
        const char *field;
    } cases[] = {
        {"{\"effective_from\":\"2026-01-01T00:00:00Z\",\"rows\":[]}", "rows"},
        {"{\"effective_from\":\"2026-01-01T00:00:00Z\",\"rows\":[{\"core\":1}]}", "rows.0.core"},
        {"{\"effective_from\":\"2026-01-01T00:00:00Z\",\"price_per_core_hour\":\"0.12\",\"rows\":[{}]}",
         "currency"},
        {"{\"effective_from\":\"2026-01-01T00:00:00Z\",\"price_per_core_hour\":\"1.\",\"currency\":\"CNY\",\"rows\":[{}]}",
         "price_per_core_hour"},
        {"{\"effective_from\":\"2026-01-01T00:00:00Z\",\"price_per_core_hour\":0.12,\"currency\":\"CNY\",\"rows\":[{}]}",
         "price_per_core_hour"},
        {"{\"effective_from\":\"2026-01-01T00:00:00Z\",\"currency\":\"cny\",\"rows\":[{}]}",
         "currency"},
        {"{\"effective_from\":\"2026-01-01T00:00:00Z\",\"rows\":[{\"gpus\":{\"a\":{\"mcores\":1},\"A\":{\"mcores\":2}}}]}",
         "rows.0.gpus.A"},
        {"{\"effective_from\":\"2026-01-01T00:00:00Z\",\"rows\":[{\"gpus\":{\"a\":{}}}]}",
         "rows.0.gpus.a.mcores"},
        {"{\"rows\":[{}]}", "effective_from"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        cr_assert_eq(decode_new(COMMAND_PUT_RATES, decode_rates, cases[i].body), ERR_INVALID_FIELD,
                     "%s", cases[i].body);
        cr_assert_str_eq(err.field, cases[i].field, "%s", cases[i].body);
    }
}
