/* The whole program against a scripted daemon: what is sent, what is printed, how it ends. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "clients/cli/args.h"
#include "clients/cli/commands.h"
#include "clients/cli/run.h"
#include "clients/cli/run_cli.h"
#include "clients/cli/show_balance.h"
#include "clients/cli/text.h"
#include "tests/clients/fake_server.h"

#define WORDS_MAX 32

static void environment_clean(void)
{
    text_locale_init();
    setenv("HOME", "/nonexistent", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("COREHOUR_URL");
    setenv("COREHOUR_TOKEN", "ch_test", 1);
}

TestSuite(cli, .init = environment_clean, .timeout = 30);

/* One run of the program. */
struct run {
    enum cli_exit exit;
    char *out;
    char *err;
};

/* Runs "corehour LINE": words cut at spaces; "\x1f" stands for a space in a word. */
static struct run run_line(const char *line, const char *input)
{
    static char words[4096];
    static char name[] = "corehour";
    static char nothing[] = "\n";
    char *argv[WORDS_MAX] = {name};
    int argc = 1;
    size_t bytes;
    struct run run = {0};
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        for (char *c = word; *c != '\0'; c++)
            if (*c == '\x1f')
                *c = ' ';
        argv[argc++] = word;
    }
    char *typed = input == NULL ? nothing : strdup(input);
    FILE *in = fmemopen(typed, strlen(typed), "r");
    FILE *out = open_memstream(&run.out, &bytes);
    FILE *err = open_memstream(&run.err, &bytes);
    run.exit = cli_run(argc, argv, in, out, err, true);
    fclose(in);
    fclose(out);
    fclose(err);
    if (typed != nothing)
        free(typed);
    return run;
}

static void run_fini(struct run *run)
{
    free(run->out);
    free(run->err);
}

static struct fake_server *serve(const struct fake_step *steps, size_t count)
{
    struct fake_server *server = fake_server_start(steps, count);
    setenv("COREHOUR_URL", fake_server_url(server), 1);
    return server;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

#define HOLD(state, more)                                                                   \
    "{\"id\":\"alpha-1\",\"state\":\"" state "\",\"project\":\"vision\",\"mode\":\"full\"," \
    "\"rate_mcores\":16000,\"seconds\":300,\"tasks\":1,\"frozen_mcs\":4800000,"             \
    "\"frozen_core_hours\":\"1.33333\",\"used_mcs\":0,\"rate_card\":\"alpha/1\","           \
    "\"expires_at\":null,\"warnings\":[]" more "}"

Test(cli, a_freeze_prints_the_amount_the_formula_and_the_hold)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(201, HOLD("frozen", ""))}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line(
        "freeze --cluster alpha --account vision --user alice --gpus a100:1 --cores 8 --memory 64G --time 5m",
        NULL);
    cr_expect_eq(run.exit, CLI_DONE, "%s", run.err);
    cr_expect_str_eq(run.out, "frozen 1.33 core-hours (16.000 cores x 5.00 min) hold alpha-1\n");
    json_t *body = json_loads(fake_server_body(server, 0), 0, NULL);
    cr_assert_neq(body, NULL);
    const char *id = json_string_value(json_object_get(body, "id"));
    cr_expect(id != NULL && starts(id, "alpha-"), "%s", id);
    json_object_del(body, "id");
    json_t *expected = json_loads(
        "{\"cluster\":\"alpha\",\"account\":\"vision\",\"user\":\"alice\",\"resources\":{\"cores\":8,\"memory_mib\":65536,"
        "\"gpus\":[{\"model\":\"a100\",\"count\":1}]},\"time_limit_s\":300}",
        0, NULL);
    cr_expect(json_equal(body, expected), "%s", fake_server_body(server, 0));
    cr_expect(starts(fake_server_request(server, 0), "POST /v1/holds HTTP/1.1\r\n"));
    cr_expect_neq(strstr(fake_server_request(server, 0), "Authorization: Bearer ch_test\r\n"),
                  NULL);
    cr_expect_neq(strstr(fake_server_request(server, 0), "Accept-Language: en\r\n"), NULL);
    json_decref(body);
    json_decref(expected);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_freeze_that_waits_or_has_many_tasks_says_so)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_json(
             202,
             "{\"id\":\"a-1\",\"state\":\"waiting\",\"rate_mcores\":16000,\"seconds\":300,\"tasks\":10,\"frozen_mcs\":0,\"waiting_mcs\":48000000,\"used_mcs\":0,\"warnings\":[{\"code\":\"soft_cap\",\"detail\":\"over a soft cap\"}]}")}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line(
        "freeze --cluster a --account v --user u --gpus 1 --tasks 10 --id a-1 --on-insufficient wait",
        NULL);
    cr_expect_eq(run.exit, CLI_DONE);
    cr_expect_str_eq(
        run.out,
        "waiting for 13.33 core-hours (10 tasks x 16.000 cores x 5.00 min) hold a-1\nwarning: soft_cap: over a soft cap\n");
    run_fini(&run);
    fake_server_stop(server);
}

static const char refusal[] =
    "{\"type\":\"t\",\"code\":\"quota_insufficient\",\"status\":409,\"title\":\"quota insufficient to pre-freeze 1.33 core-hours\","
    "\"detail\":\"quota insufficient to pre-freeze 1.33 core-hours (16.000 cores x 5.00 min): project vision month cap 500.00\","
    "\"requested_mcs\":4800000,\"rate_mcores\":16000,\"seconds\":300,\"tasks\":1,\"earliest_at\":\"2030-12-01T02:05:00Z\",\"waiting_ahead\":2,\"contact\":\"hpc@acme.example\","
    "\"violations\":[{\"node\":\"vision\",\"kind\":\"project\",\"cap\":\"month\",\"unit\":\"mcs\",\"limit\":1800000000,\"used\":1728360000,\"frozen\":70200000,"
    "\"requested\":4800000,\"available\":1440000,\"missing\":3360000,\"resets_at\":\"2030-12-31T16:00:00Z\",\"holders\":[{\"hold\":\"alpha-7\",\"project\":\"vision\",\"user\":\"bob\",\"frozen_mcs\":70200000,\"frozen_core_hours\":\"19.50000\",\"since\":\"2030-12-01T00:00:00Z\",\"last_seen\":null,\"stale\":true}]},"
    "{\"node\":\"vision\",\"user\":\"alice\",\"kind\":\"member\",\"cap\":\"gpus:a100\",\"unit\":\"mgpus\",\"limit\":2000,\"used\":0,\"frozen\":1500,\"requested\":1000,\"available\":500,\"missing\":500,\"resets_at\":null,\"holders\":null}]}";

Test(cli, a_refusal_shows_every_limit_its_holders_and_whom_to_ask)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(409, refusal)}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line(
        "freeze --cluster alpha --account vision --user alice --gpus a100:1 --time 5m", NULL);
    cr_expect_eq(run.exit, CLI_QUOTA);
    cr_expect_str_eq(run.out, "");
    cr_expect(
        starts(
            run.err,
            "quota insufficient to pre-freeze 1.33 core-hours (16.000 cores x 5.00 min)\n"
            "  node                 cap         limit    used  frozen  available  requested  missing  unit        resets\n"
            "  project vision       month      500.00  480.10   19.50       0.40       1.33     0.93  core-hours  2030-12-31T16:00:00Z\n"
            "  member vision/alice  gpus:a100       2       0     1.5        0.5          1      0.5  GPUs\n"
            "most is held there (project vision, month) by:\n"
            "  hold     project  user  frozen  since                 stale\n"
            "  alpha-7  vision   bob    19.50  2030-12-01T00:00:00Z  yes\n"
            "2 waiting ahead of it\n"
            "it would fit at the earliest at 2030-12-01T02:05:00Z (in "),
        "\n%s", run.err);
    cr_expect_neq(strstr(run.err, "\nask: hpc@acme.example\n"), NULL, "%s", run.err);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, in_chinese_the_help_is_chinese)
{
    struct run run = run_line("help freeze --lang zh", NULL);
    cr_expect_eq(run.exit, CLI_DONE);
    cr_expect_neq(strstr(run.out, "corehour freeze: 为一次提交预冻结核时"), NULL, "%s", run.out);
    cr_expect_neq(strstr(run.out, "从成员到根的每个上限都须满足"), NULL, "%s", run.out);
    cr_expect_neq(strstr(run.out, "作业所在集群"), NULL, "%s", run.out);
    run_fini(&run);
}

Test(cli, in_chinese_the_daemon_is_asked_for_chinese_and_labels_are_chinese)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(409, refusal)}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line(
        "freeze --cluster alpha --account vision --user alice --gpus a100:1 --time 5m --lang zh",
        NULL);
    cr_expect_eq(run.exit, CLI_QUOTA);
    cr_expect_neq(strstr(fake_server_request(server, 0), "Accept-Language: zh\r\n"), NULL);
    cr_expect_neq(strstr(run.err, "  项目 vision        月         500.00  480.10   19.50"), NULL,
                  "\n%s", run.err);
    cr_expect_neq(strstr(run.err, "请联系： hpc@acme.example"), NULL, "\n%s", run.err);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, with_json_the_answer_comes_as_it_is_and_the_exit_code_stays)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(409, refusal)},
                                      {FAKE_ANSWER, fake_json(201, HOLD("frozen", ""))}};
    struct fake_server *server = serve(steps, 2);
    struct run run = run_line("freeze --json --cluster alpha --id alpha-1", NULL);
    cr_expect_eq(run.exit, CLI_QUOTA);
    cr_expect(starts(run.out, refusal) && run.out[strlen(refusal)] == '\n');
    cr_expect_str_eq(run.err, "");
    run_fini(&run);
    run = run_line("freeze --json --cluster alpha --id alpha-1", NULL);
    cr_expect_eq(run.exit, CLI_DONE);
    cr_expect_str_eq(run.out, HOLD("frozen", "") "\n");
    run_fini(&run);
    fake_server_stop(server);
}

struct exit_case {
    int status;
    const char *body;
    enum cli_exit exit;
    const char *said;
};

Test(cli, every_refusal_has_its_exit_code_and_says_what_next)
{
    static const struct exit_case cases[] = {
        {401, "{\"code\":\"unauthenticated\",\"title\":\"no token\"}", CLI_NOT_ALLOWED,
         "COREHOUR_TOKEN"},
        {403, "{\"code\":\"not_allowed\",\"title\":\"not allowed\"}", CLI_NOT_ALLOWED,
         "ask an admin"},
        {404, "{\"code\":\"not_found\",\"title\":\"not found\"}", CLI_OTHER, "check the name"},
        {422,
         "{\"code\":\"unknown_account\",\"title\":\"unknown account\",\"detail\":\"account x\",\"field\":\"account\"}",
         CLI_OTHER, "corehour account put"},
        {422, "{\"code\":\"invalid_field\",\"title\":\"invalid\",\"field\":\"name\"}", CLI_OTHER,
         "field: name"},
        {409, "{\"code\":\"id_reused\",\"title\":\"reused\"}", CLI_OTHER, "leave --id out"},
        {502, "{}", CLI_UNREACHABLE, "not as Corehour does"},
        {404, "{}", CLI_OTHER, "not as Corehour does"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *answer = fake_json(cases[i].status, cases[i].body);
        const struct fake_step steps[] = {{FAKE_ANSWER, answer},
                                          {FAKE_ANSWER, answer},
                                          {FAKE_ANSWER, answer},
                                          {FAKE_ANSWER, answer}};
        struct fake_server *server = serve(steps, 4);
        struct run run = run_line("hold show alpha-1", NULL);
        cr_expect_eq(run.exit, cases[i].exit, "%s gave %d", cases[i].body, run.exit);
        cr_expect_neq(strstr(run.err, cases[i].said), NULL, "%s", run.err);
        cr_expect_str_eq(run.out, "");
        run_fini(&run);
        fake_server_stop(server);
    }
}

Test(cli, a_daemon_that_is_away_ends_with_3)
{
    struct fake_server *server = serve(NULL, 0);
    fake_server_stop(server);
    struct run run = run_line("status --deadline 1", NULL);
    cr_expect_eq(run.exit, CLI_UNREACHABLE);
    cr_expect_neq(strstr(run.err, "cannot be reached"), NULL, "%s", run.err);
    cr_expect_neq(strstr(run.err, "is corehourd running"), NULL, "%s", run.err);
    run_fini(&run);
    run = run_line("status --deadline 1 --json", NULL);
    cr_expect_eq(run.exit, CLI_UNREACHABLE);
    cr_expect(starts(run.out, "{\"code\":\"unreachable\",\"detail\":\""), "%s", run.out);
    run_fini(&run);
}

Test(cli, a_wrong_command_line_ends_with_2_and_sends_nothing)
{
    static const struct {
        const char *line;
        const char *said;
    } cases[] = {
        {"", "usage: corehour COMMAND"},
        {"frieze", "did you mean \"freeze\""},
        {"cap", "cap set, cap list, cap import, cap history, cap remove"},
        {"cap sett vision month 5", "cap set, cap list, cap import, cap history, cap remove"},
        {"zzzzzz", "corehour help"},
        {"freeze --acount x", "did you mean --account"},
        {"freeze --account", "--account needs a value"},
        {"freeze --json=1", "--json takes no value"},
        {"freeze -x", "two dashes"},
        {"--cluster alpha freeze", "put it behind"},
        {"freeze alpha", "one argument too many"},
        {"bind alpha-1", "JOB_ID is missing"},
        {"freeze --cluster alpha --time soon", "time \"soon\": give a duration"},
        {"freeze --cluster alpha --cores 1.5", "give a whole number"},
        {"freeze --account vision", "--cluster is missing"},
        {"freeze --cluster a/b", "cannot be the name of a cluster"},
        {"grant acme 1e6", "give core-hours"},
        {"cap set vision weekly 5", "there is no cap \"weekly\""},
        {"cap set vision month 1h", "give core-hours"},
        {"cap set vision gpus 1.5", "give a whole number"},
        {"cap set vision job_duration x", "give a duration"},
        {"org set acme", "nothing to change"},
        {"hold show ..", "cannot be a name"},
        {"heartbeat --cluster a alpha-1/x", "HOLD/TASK"},
        {"status --deadline 2h", "give 1s to 1h"},
        {"batch /nonexistent/file", "cannot be read"},
        {"rates put alpha 1 /nonexistent/file", "cannot be read"},
        {"feed alpha --after x", "number of an event"},
        {"watch vision --every 0", "1s or more"},
        {"help nothing", "there is no command \"nothing\""},
        {"status --url ftp://x", "not an http"},
    };
    struct fake_server *server = serve(NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run run = run_line(cases[i].line, NULL);
        cr_expect_eq(run.exit, CLI_USAGE, "\"%s\" gave %d: %s", cases[i].line, run.exit, run.err);
        cr_expect_neq(strstr(run.err, cases[i].said), NULL, "\"%s\" said: %s", cases[i].line,
                      run.err);
        run_fini(&run);
    }
    cr_expect_eq(fake_server_requests(server), 0u);
    fake_server_stop(server);
}

Test(cli, without_an_address_it_says_how_to_give_one)
{
    struct run run = run_line("status", NULL);
    cr_expect_eq(run.exit, CLI_USAGE);
    cr_expect_neq(strstr(run.err, "export COREHOUR_URL="), NULL, "%s", run.err);
    run_fini(&run);
}

Test(cli, every_command_explains_itself_with_an_example_that_parses)
{
    const struct cli_command *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        char line[64];
        snprintf(line, sizeof line, "help %s", command->name);
        struct run run = run_line(line, NULL);
        cr_expect_eq(run.exit, CLI_DONE);
        cr_expect_neq(strstr(run.out, command->summary), NULL, "%s", run.out);
        cr_expect_neq(strstr(run.out, "example:"), NULL, "%s", run.out);
        run_fini(&run);
        char prefix[64];
        snprintf(prefix, sizeof prefix, "corehour %s", command->name);
        cr_expect_neq(strstr(command->example, prefix), NULL, "%s", command->name);
        cr_expect_neq(command->run, NULL);
        size_t options = 0;
        for (size_t group = 0; group < CLI_GROUPS_MAX; group++)
            options += cli_fields_count(command->options[group]);
        cr_expect_leq(options, CLI_OPTIONS_MAX, "%s", command->name);
    }
}

Test(cli, the_help_has_each_heading_once_and_each_command_below_one)
{
    struct run run = run_line("help", NULL);
    cr_expect_eq(run.exit, CLI_DONE);
    for (const struct command_area *area = command_areas; area->title != NULL; area++) {
        char heading[64];
        snprintf(heading, sizeof heading, "\n\n%s\n", area->title);
        const char *first = strstr(run.out, heading);
        cr_assert_neq(first, NULL, "%s", heading);
        cr_expect_eq(strstr(first + 1, heading), NULL, "twice: %s", heading);
    }
    const struct cli_command *command;
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        const char *first = strstr(run.out, command->summary);
        cr_assert_neq(first, NULL, "%s", command->name);
    }
    run_fini(&run);
}

Test(cli, a_group_of_commands_is_explained_by_its_first_word)
{
    struct run run = run_line("help cap", NULL);
    cr_expect_eq(run.exit, CLI_DONE);
    cr_expect_neq(strstr(run.out, "cap set NODE CAP LIMIT"), NULL, "%s", run.out);
    cr_expect_neq(strstr(run.out, "cap remove NODE CAP"), NULL, "%s", run.out);
    run_fini(&run);
}

Test(cli, a_settle_says_what_was_charged_and_what_came_back)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_json(
             200,
             "{\"id\":\"alpha-1\",\"state\":\"settled\",\"frozen_mcs\":0,\"used_mcs\":960000,\"charged_mcs\":960000,\"refunded_mcs\":3840000,\"overrun_mcs\":0,\"waived_mcs\":0,\"expired_mcs\":0,\"warnings\":[]}")},
        {FAKE_ANSWER,
         fake_json(
             200,
             "{\"id\":\"alpha-1\",\"state\":\"settled\",\"frozen_mcs\":0,\"used_mcs\":0,\"charged_mcs\":0,\"refunded_mcs\":3840000,\"overrun_mcs\":0,\"waived_mcs\":960000,\"expired_mcs\":3600000,\"warnings\":[]}")}};
    struct fake_server *server = serve(steps, 2);
    struct run run =
        run_line("settle alpha-1 --ended-at 2026-12-01T00:01:00Z --outcome completed", NULL);
    cr_expect_str_eq(
        run.out,
        "charged 0.27 core-hours, returned 1.07 core-hours; hold alpha-1 is settled (used 0.27 core-hours)\n");
    cr_expect_str_eq(fake_server_body(server, 0),
                     "{\"ended_at\":\"2026-12-01T00:01:00Z\",\"outcome\":\"completed\"}");
    cr_expect(starts(fake_server_request(server, 0), "POST /v1/holds/alpha-1/settle HTTP"));
    run_fini(&run);
    run = run_line("settle alpha/1234 --ended-at @0", NULL);
    cr_expect_str_eq(
        run.out,
        "charged 0.00 core-hours, returned 1.07 core-hours, waived 0.27 core-hours, of it expired 1.00 core-hours; hold alpha-1 is settled\n");
    cr_expect(
        starts(fake_server_request(server, 1), "POST /v1/clusters/alpha/jobs/1234/settle HTTP"));
    run_fini(&run);
    fake_server_stop(server);
}

struct sent_case {
    const char *line;
    const char *request; /* its first line without the version */
    const char *body;    /* NULL: not looked at */
};

Test(cli, each_command_sends_its_request)
{
    static const struct sent_case cases[] = {
        {"org put acme --funding self --timezone Asia/Shanghai", "PUT /v1/organizations/acme",
         "{\"funding\":\"self\",\"timezone\":\"Asia/Shanghai\"}"},
        {"org show acme", "GET /v1/organizations/acme", ""},
        {"project put vision --organization acme-ai", "PUT /v1/projects/vision",
         "{\"organization\":\"acme-ai\"}"},
        {"member put vision 爱丽丝", "PUT /v1/projects/vision/members/%E7%88%B1%E4%B8%BD%E4%B8%9D",
         "{}"},
        {"cluster put alpha --kind slurm --roots acme,other --window 5m", "PUT /v1/clusters/alpha",
         "{\"kind\":\"slurm\",\"roots\":[\"acme\",\"other\"],\"window_s\":300}"},
        {"account put alpha vis --project vision", "PUT /v1/clusters/alpha/accounts/vis",
         "{\"project\":\"vision\"}"},
        {"user put alpha a.chen --person alice", "PUT /v1/clusters/alpha/users/a.chen",
         "{\"person\":\"alice\"}"},
        {"rates show alpha 1", "GET /v1/clusters/alpha/rates/1", ""},
        {"grant acme 1000 --id g1 --start @0 --end 2027-01-01", "POST /v1/grants",
         "{\"node\":\"acme\",\"core_hours\":\"1000\",\"start\":\"1970-01-01T00:00:00Z\",\"end\":\"2027-01-01T00:00:00Z\",\"id\":\"g1\"}"},
        {"grants acme --page-size 5", "GET /v1/grants?node=acme&page_size=5", ""},
        {"transfer acme acme-ai 50 --id t1", "POST /v1/transfers",
         "{\"from\":\"acme\",\"to\":\"acme-ai\",\"core_hours\":\"50\",\"id\":\"t1\"}"},
        {"withdraw acme-ai 20 --id w1 --reason over", "POST /v1/withdrawals",
         "{\"node\":\"acme-ai\",\"core_hours\":\"20\",\"reason\":\"over\",\"id\":\"w1\"}"},
        {"cap set vision month 500", "PUT /v1/projects/vision/caps/month",
         "{\"core_hours\":\"500\"}"},
        {"cap set vision/alice gpus:a100 4 --soft",
         "PUT /v1/projects/vision/members/alice/caps/gpus%3Aa100", "{\"limit\":4,\"soft\":true}"},
        {"cap set vision/* job_duration 1-00:00:00",
         "PUT /v1/projects/vision/members/%2A/caps/job_duration", "{\"limit_s\":86400}"},
        {"balance vision/alice", "GET /v1/projects/vision/members/alice/balance", ""},
        {"cap list vision", "GET /v1/projects/vision/balance", ""},
        {"bind alpha-1 1234 1234@1796058251", "POST /v1/holds/alpha-1/bind",
         "{\"job_id\":\"1234\",\"job_key\":\"1234@1796058251\"}"},
        {"start alpha-1 --started-at @0 --task 3 --hosts n1,n2", "POST /v1/holds/alpha-1/start",
         "{\"task\":3,\"started_at\":\"1970-01-01T00:00:00Z\",\"hosts\":[\"n1\",\"n2\"]}"},
        {"suspend alpha-1 --at @60", "POST /v1/holds/alpha-1/suspend",
         "{\"at\":\"1970-01-01T00:01:00Z\"}"},
        {"resume alpha-1 --at @60", "POST /v1/holds/alpha-1/resume",
         "{\"at\":\"1970-01-01T00:01:00Z\"}"},
        {"resize alpha-1 --time 10m --gpus a100:2 --qos low", "POST /v1/holds/alpha-1/resize",
         "{\"time_limit_s\":600,\"resources\":{\"gpus\":[{\"model\":\"a100\",\"count\":2}]},\"job\":{\"qos\":\"low\"}}"},
        {"requeue alpha-1 --ended-at @60", "POST /v1/holds/alpha-1/requeue",
         "{\"ended_at\":\"1970-01-01T00:01:00Z\"}"},
        {"release alpha-1 --tasks 3-9,12", "POST /v1/holds/alpha-1/release",
         "{\"tasks\":\"3-9,12\"}"},
        {"correct alpha-1 --ended-at @60 --reason late", "POST /v1/holds/alpha-1/correct",
         "{\"ended_at\":\"1970-01-01T00:01:00Z\",\"source\":\"cli\",\"reason\":\"late\"}"},
        {"refund alpha-1 0.10 --id r1 --reason slow", "POST /v1/refunds",
         "{\"hold\":\"alpha-1\",\"core_hours\":\"0.10\",\"reason\":\"slow\",\"id\":\"r1\"}"},
        {"charge --cluster alpha --account vision --user alice --cores 1 --started-at @0 --ended-at @60 --id c1",
         "POST /v1/charges", NULL},
        {"heartbeat --cluster alpha --at @60 alpha-1 alpha-2/3.1", "POST /v1/heartbeats",
         "{\"cluster\":\"alpha\",\"at\":\"1970-01-01T00:01:00Z\",\"runs\":[{\"hold\":\"alpha-1\",\"task\":0,\"attempt\":0},{\"hold\":\"alpha-2\",\"task\":3,\"attempt\":1}]}"},
        {"holds --state running --user a&b --stale",
         "GET /v1/holds?state=running&user=a%26b&stale=true", ""},
        {"usage acme --month 2026-12 --by project,user",
         "GET /v1/reports/usage?root=acme&month=2026-12&group_by=project%2Cuser", ""},
        {"journal acme --after 7", "GET /v1/journal?root=acme&after=7", ""},
        {"feed alpha --once --after 9 --wait 1", "GET /v1/clusters/alpha/feed?after=9&wait_s=1",
         ""},
        {"token list", "GET /v1/tokens", ""},
        {"token revoke t1", "DELETE /v1/tokens/t1", ""},
        {"token make adapter --role scheduler --place alpha", "POST /v1/tokens",
         "{\"name\":\"adapter\",\"role\":\"scheduler\",\"place\":\"alpha\"}"},
        {"release alpha-1 --dry-run", "POST /v1/holds/alpha-1/release?dry_run=true", "{}"},
        {"openapi", "GET /v1/openapi.json", ""},
        {"status", "GET /readyz", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct fake_step steps[] = {
            {FAKE_ANSWER,
             "HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"}};
        struct fake_server *server = serve(steps, 1);
        struct run run = run_line(cases[i].line, NULL);
        char first[256];
        snprintf(first, sizeof first, "%s HTTP/1.1\r\n", cases[i].request);
        cr_expect(starts(fake_server_request(server, 0), first), "\"%s\" sent %.200s",
                  cases[i].line, fake_server_request(server, 0));
        if (cases[i].body != NULL)
            cr_expect_str_eq(fake_server_body(server, 0), cases[i].body, "\"%s\" sent %s",
                             cases[i].line, fake_server_body(server, 0));
        cr_expect_eq(run.exit, CLI_DONE, "\"%s\" ended with %d: %s", cases[i].line, run.exit,
                     run.err);
        run_fini(&run);
        fake_server_stop(server);
    }
}

Test(cli, a_cap_of_an_organization_is_found_behind_the_project_of_no_such_name)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(404, "{\"code\":\"not_found\",\"title\":\"not found\"}")},
        {FAKE_ANSWER,
         fake_json(
             201,
             "{\"node\":\"acme\",\"kind\":\"organization\",\"cap\":\"month\",\"unit\":\"mcs\",\"limit\":1800000000,\"soft\":false}")}};
    struct fake_server *server = serve(steps, 2);
    struct run run = run_line("cap set acme month 500", NULL);
    cr_expect_eq(run.exit, CLI_DONE, "%s", run.err);
    cr_expect_str_eq(run.out, "acme  month  500.00 core-hours\n");
    cr_expect(starts(fake_server_request(server, 1), "PUT /v1/organizations/acme/caps/month HTTP"));
    cr_expect_eq(fake_server_connections(server), 1u);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, what_exists_is_changed_on_the_etag_that_it_has)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(428, "{\"code\":\"precondition_required\",\"title\":\"x\"}")},
        {FAKE_ANSWER, fake_answer(200, "application/json", "ETag: \"7\"\r\n", "{}")},
        {FAKE_ANSWER,
         fake_json(
             200,
             "{\"node\":\"vision\",\"kind\":\"project\",\"cap\":\"gpus\",\"unit\":\"mgpus\",\"limit\":8000,\"soft\":true,\"over_cap\":true}")}};
    struct fake_server *server = serve(steps, 3);
    struct run run = run_line("cap set vision gpus 8 --soft", NULL);
    cr_expect_eq(run.exit, CLI_DONE, "%s", run.err);
    cr_expect_str_eq(run.out, "vision  gpus  8 GPUs  OVER CAP\n");
    cr_expect_eq(strstr(fake_server_request(server, 0), "If-Match"), NULL);
    cr_expect_neq(strstr(fake_server_request(server, 2), "If-Match: \"7\"\r\n"), NULL);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, closing_sends_the_state_on_the_etag)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_answer(200, "application/json", "ETag: \"3\"\r\n", "{}")},
        {FAKE_ANSWER, fake_json(200, "{\"name\":\"vision\",\"state\":\"closed\"}")}};
    struct fake_server *server = serve(steps, 2);
    struct run run = run_line("project close vision", NULL);
    cr_expect_eq(run.exit, CLI_DONE, "%s", run.err);
    cr_expect(starts(fake_server_request(server, 1), "PATCH /v1/projects/vision HTTP"));
    cr_expect_neq(strstr(fake_server_request(server, 1), "If-Match: \"3\"\r\n"), NULL);
    cr_expect_str_eq(fake_server_body(server, 1), "{\"state\":\"closed\"}");
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_rate_card_comes_from_a_file_or_stdin)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_json(
             201,
             "{\"cluster\":\"alpha\",\"version\":1,\"effective_from\":\"2026-01-01T00:00:00Z\",\"combine\":\"max\",\"price_per_core_hour\":\"0.12\",\"currency\":\"CNY\","
             "\"rows\":[{\"qos\":\"low\",\"permille\":500,\"core_mcores\":1000,\"gpus\":{\"a100\":{\"mcores\":16000,\"memory_mib\":81920}}},{\"core_mcores\":1000,\"gpu_default_mcores\":16000}]}")}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line("rates put alpha 1 -",
                              "{\"effective_from\": \"2026-01-01T00:00:00Z\", \"rows\": []}");
    cr_expect_eq(run.exit, CLI_DONE, "%s", run.err);
    cr_expect_str_eq(fake_server_body(server, 0),
                     "{\"effective_from\":\"2026-01-01T00:00:00Z\",\"rows\":[]}");
    cr_expect_str_eq(
        run.out,
        "alpha/1 from 2026-01-01T00:00:00Z, max of cores, memory and GPUs, 0.12 CNY a core-hour\n"
        "partition  qos  times  per core  per GiB  per GPU\n"
        "any        low  0.500     1.000    0.000  a100 16.000\n"
        "any        any  1.000     1.000    0.000  any other 16.000\n",
        "\n%s", run.out);
    run_fini(&run);
    fake_server_stop(server);
}

static const char balance[] =
    "{\"node\":\"vision\",\"kind\":\"project\",\"path\":[\"acme\",\"acme-ai\",\"vision\"],\"funding_node\":\"acme\",\"used_mcs\":960000,\"used_core_hours\":\"0.26667\","
    "\"frozen_mcs\":4800000,\"frozen_core_hours\":\"1.33333\",\"waiting_mcs\":0,\"granted_mcs\":3600000000,\"available_mcs\":3594240000,\"overdrawn\":false,"
    "\"caps\":[{\"node\":\"vision\",\"kind\":\"project\",\"cap\":\"month\",\"unit\":\"mcs\",\"limit\":9600000,\"used\":960000,\"frozen\":4800000,\"available\":3840000,\"resets_at\":\"2030-12-31T16:00:00Z\",\"soft\":false,\"over_cap\":false},"
    "{\"node\":\"acme\",\"kind\":\"organization\",\"cap\":\"gpus\",\"unit\":\"mgpus\",\"limit\":2000,\"used\":0,\"frozen\":3000,\"available\":-1000,\"resets_at\":null,\"soft\":true,\"over_cap\":true}]}";

Test(cli, a_balance_shows_amounts_and_every_cap_with_a_bar)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(200, balance)}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line("balance vision", NULL);
    cr_expect_eq(run.exit, CLI_DONE, "%s", run.err);
    cr_expect_str_eq(
        run.out,
        "vision  project  acme > acme-ai > vision  paid by acme\n\n"
        "granted    1000.00  core-hours\n"
        "used          0.27  core-hours\n"
        "frozen        1.33  core-hours\n"
        "waiting       0.00  core-hours\n"
        "available   998.40  core-hours\n\n"
        "node    cap    used  frozen  available  limit                               resets\n"
        "vision  month  0.27    1.33       1.07   2.67  [##==========........]  60%  2030-12-31T16:00:00Z\n"
        "acme    gpus      0       3         -1      2  [====================] 150%                        OVER CAP\n",
        "\n%s", run.out);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_bar_never_overflows_whatever_the_numbers)
{
    static const int64_t numbers[] = {
        0, 1, 19, 20, 21, 99, INT64_C(1) << 53, INT64_MAX / 100, INT64_MAX - 1, INT64_MAX};
    size_t count = sizeof numbers / sizeof numbers[0];
    for (size_t i = 0; i < count * count * count; i++) {
        char bar[SHOW_BAR_BYTES];
        int64_t used = numbers[i % count];
        int64_t frozen = numbers[i / count % count];
        int64_t limit = numbers[i / count / count];
        show_bar(used, frozen, limit, true, bar);
        cr_assert_eq(bar[0], '[');
        cr_assert_eq(bar[SHOW_BAR_CELLS + 1], ']', "%s", bar);
    }
    char bar[SHOW_BAR_BYTES] = "x";
    show_bar(1, 1, -1, true, bar);
    cr_expect_str_eq(bar, "");
    show_bar(50, 25, 100, false, bar);
    cr_expect_str_eq(bar, "[██████████▒▒▒▒▒·····]  75%");
}

Test(cli, a_quote_that_would_not_pass_ends_with_1)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_json(
             200,
             "{\"rate_mcores\":16000,\"seconds\":300,\"tasks\":1,\"requested_mcs\":4800000,\"rate_card\":\"alpha/1\",\"would_pass\":true,\"violations\":[],\"cost\":\"0.160000\",\"currency\":\"CNY\",\"earliest_at\":null}")},
        {FAKE_ANSWER,
         fake_json(
             200,
             "{\"rate_mcores\":16000,\"seconds\":300,\"tasks\":1,\"requested_mcs\":4800000,\"rate_card\":\"alpha/1\",\"would_pass\":false,\"violations\":[{\"node\":\"acme\",\"kind\":\"organization\",\"cap\":\"funds\",\"unit\":\"mcs\",\"limit\":null,\"used\":0,\"frozen\":0,\"requested\":4800000,\"available\":0,\"missing\":4800000}]}")}};
    struct fake_server *server = serve(steps, 2);
    struct run run = run_line(
        "quote --cluster alpha --account vision --user alice --gpus a100:1 --time 5m", NULL);
    cr_expect_eq(run.exit, CLI_DONE);
    cr_expect_str_eq(
        run.out,
        "1.33 core-hours (16.000 cores x 5.00 min), cost 0.160000 CNY, rates alpha/1: it would pass\n");
    run_fini(&run);
    run = run_line("quote --cluster alpha --account vision --user alice --gpus a100:1 --time 5m",
                   NULL);
    cr_expect_eq(run.exit, CLI_QUOTA);
    cr_expect_neq(strstr(run.out, "it would be refused\n"), NULL);
    cr_expect_neq(strstr(run.out, "organization acme  funds  unlimited"), NULL, "%s", run.out);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_cost_is_a_quote_from_the_options_of_sbatch)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_json(
             200,
             "{\"rate_mcores\":16000,\"seconds\":300,\"tasks\":4,\"requested_mcs\":19200000,\"rate_card\":\"alpha/1\",\"would_pass\":false,\"violations\":[]}")}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line(
        "cost -M alpha -A vision -u alice -n2 --gres=gpu:a100:1 -t 5 --array=0-3%2 -p gpu -o out",
        NULL);
    cr_expect_eq(run.exit, CLI_QUOTA, "%s", run.err);
    cr_expect_neq(strstr(run.out, "5.33 core-hours"), NULL, "%s", run.out);
    json_t *sent = json_loads(fake_server_body(server, 0), 0, NULL);
    json_t *want = json_pack("{s:s, s:s, s:s, s:{s:s}, s:{s:i, s:[{s:s, s:i}]}, s:i, s:i, s:i}",
                             "cluster", "alpha", "account", "vision", "user", "alice", "job",
                             "partition", "gpu", "resources", "cores", 2, "gpus", "model", "a100",
                             "count", 1, "tasks", 4, "max_running", 2, "time_limit_s", 300);
    cr_expect(json_equal(sent, want), "%s", fake_server_body(server, 0));
    json_decref(sent);
    json_decref(want);
    run_fini(&run);
    run = run_line("cost -M alpha -A vision --gres=gpu:x:y:z", NULL);
    cr_expect_eq(run.exit, CLI_USAGE);
    cr_expect_neq(strstr(run.err, "--gres \"gpu:x:y:z\" cannot be read"), NULL, "%s", run.err);
    run_fini(&run);
    run = run_line("cost -A vision --nonsense", NULL);
    cr_expect_eq(run.exit, CLI_USAGE);
    cr_expect_neq(strstr(run.err, "--nonsense is no option of sbatch"), NULL, "%s", run.err);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_list_names_the_next_page_or_follows_all)
{
    const char *first = fake_json(
        200,
        "{\"items\":[{\"id\":\"a-1\",\"state\":\"running\",\"frozen_mcs\":4800000,\"frozen_core_hours\":\"1.33333\"}],\"next_page_token\":\"p2\"}");
    const char *last = fake_json(
        200,
        "{\"items\":[{\"id\":\"a-2\",\"state\":\"frozen\",\"frozen_mcs\":0}],\"next_page_token\":null}");
    const struct fake_step steps[] = {
        {FAKE_ANSWER, first},
        {FAKE_ANSWER, first},
        {FAKE_ANSWER, last},
        {FAKE_ANSWER, fake_json(200, "{\"items\":[],\"next_page_token\":null}")}};
    struct fake_server *server = serve(steps, 4);
    struct run run = run_line("holds", NULL);
    cr_expect_str_eq(run.out, "id   state    frozen\na-1  running    1.33\n");
    cr_expect_str_eq(run.err, "there are more: --all, or --page-token p2\n");
    run_fini(&run);
    run = run_line("holds --all --project vision", NULL);
    cr_expect_neq(strstr(run.out, "a-2"), NULL);
    cr_expect_str_eq(run.err, "");
    cr_expect(
        starts(fake_server_request(server, 2), "GET /v1/holds?project=vision&page_token=p2 HTTP"));
    run_fini(&run);
    run = run_line("holds", NULL);
    cr_expect_str_eq(run.out, "none\n");
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_batch_counts_its_lines_and_ends_as_the_worst)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_answer(
             200, "application/x-ndjson", "",
             "{\"status\":201,\"id\":\"a-1\",\"state\":\"frozen\"}\n{\"status\":409,\"code\":\"quota_insufficient\",\"title\":\"no\",\"detail\":\"no room\"}\n{\"status\":201,\"id\":\"a-3\"}\n")}};
    struct fake_server *server = serve(steps, 1);
    struct run run =
        run_line("batch -", "{\"op\":\"freeze\"}\n\n{\"op\":\"freeze\"}\n{\"op\":\"freeze\"}");
    cr_expect_eq(run.exit, CLI_QUOTA);
    cr_expect_str_eq(
        run.out,
        "line 2: 409 quota_insufficient no room\n3 lines: 2 done, 1 refused for quota, 0 failed\n");
    cr_expect_neq(strstr(fake_server_request(server, 0), "Content-Type: application/x-ndjson\r\n"),
                  NULL);
    cr_expect_str_eq(fake_server_body(server, 0),
                     "{\"op\":\"freeze\"}\n{\"op\":\"freeze\"}\n{\"op\":\"freeze\"}\n");
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_batch_that_gets_too_few_answers_has_failed)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_answer(200, "application/x-ndjson", "", "{\"status\":201}\n")}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line("batch --atomic", "{\"op\":\"freeze\"}\n{\"op\":\"freeze\"}\n");
    cr_expect_eq(run.exit, CLI_OTHER);
    cr_expect_neq(strstr(run.err, "2 lines were sent and 1 answered"), NULL, "%s", run.err);
    cr_expect(starts(fake_server_request(server, 0), "POST /v1/batch?atomic=true HTTP"));
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_journal_is_shown_entry_by_entry)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_answer(
             200, "application/x-ndjson", "",
             "{\"seq\":2,\"at\":\"2026-12-01T00:00:00.120Z\",\"kind\":\"freeze\",\"from\":\"available\",\"to\":\"frozen\",\"amount_mcs\":4800000,\"amount_core_hours\":\"1.33333\",\"hold\":\"a-1\"}\n")}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line("journal acme", NULL);
    cr_expect_str_eq(run.out,
                     "seq  at                        kind    from       to      amount  hold\n"
                     "  2  2026-12-01T00:00:00.120Z  freeze  available  frozen    1.33  a-1\n",
                     "\n%s", run.out);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, watching_a_hold_ends_when_the_hold_does)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(404, "{\"code\":\"not_found\",\"title\":\"x\"}")},
        {FAKE_ANSWER, fake_json(404, "{\"code\":\"not_found\",\"title\":\"x\"}")},
        {FAKE_ANSWER, fake_json(200, HOLD("running", ""))},
        {FAKE_ANSWER, fake_json(200, HOLD("running", ""))},
        {FAKE_ANSWER,
         fake_json(
             200,
             "{\"id\":\"alpha-1\",\"state\":\"settled\",\"frozen_mcs\":0,\"used_mcs\":960000}")}};
    struct fake_server *server = serve(steps, 5);
    struct run run = run_line("watch alpha-1 --every 1", NULL);
    cr_expect_eq(run.exit, CLI_DONE, "%s", run.err);
    cr_expect_neq(strstr(run.out, "hold alpha-1 is running (frozen 1.33 core-hours)\n"), NULL, "%s",
                  run.out);
    cr_expect_neq(strstr(run.out, "hold alpha-1 is settled (used 0.27 core-hours)\n"), NULL, "%s",
                  run.out);
    size_t lines = 0;
    for (const char *c = run.out; *c != '\0'; c++)
        lines += *c == '\n';
    cr_expect_eq(lines, 2u, "only changes are printed:\n%s", run.out);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, an_answer_of_a_newer_daemon_shows_its_new_fields)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_json(
             200,
             "{\"name\":\"acme\",\"overdraft_mcs\":3600000,\"overdraft_core_hours\":\"1.00000\",\"window_s\":300,\"names_visible\":false,\"brand_new\":\"x\\u001b[2J\",\"contact\":null,\"resources\":{\"cores\":8,\"memory_mib\":65536,\"gpus\":[{\"model\":\"a100\",\"count\":1,\"cores_percent\":30}]}}")}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line("org show acme", NULL);
    cr_expect_str_eq(run.out,
                     "name           acme\n"
                     "overdraft      1.00 core-hours\n"
                     "window         5m\n"
                     "names visible  no\n"
                     "brand new      x?[2J\n"
                     "resources      8 cores, 64 GiB, a100 x1 (30% of its cores)\n",
                     "\n%s", run.out);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_body_file_is_the_ground_and_options_go_over_it)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(201, HOLD("frozen", ""))}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line("freeze --body - --user bob",
                              "{\"id\":\"x-1\",\"cluster\":\"alpha\",\"user\":\"alice\"}");
    cr_expect_eq(run.exit, CLI_DONE, "%s", run.err);
    cr_expect_str_eq(fake_server_body(server, 0),
                     "{\"id\":\"x-1\",\"cluster\":\"alpha\",\"user\":\"bob\"}");
    run_fini(&run);
    run = run_line("freeze --body -", "[1]");
    cr_expect_eq(run.exit, CLI_USAGE);
    run_fini(&run);
    run = run_line("freeze --body -", "{\"a\":1,\"a\":2}");
    cr_expect_eq(run.exit, CLI_USAGE);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, the_trace_shows_request_and_answer_and_no_token)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(200, "{}")}};
    struct fake_server *server = serve(steps, 1);
    struct run run = run_line("bind alpha-1 7 --trace", NULL);
    cr_expect_neq(strstr(run.err, "> POST /v1/holds/alpha-1/bind\n> {\"job_id\":\"7\"}\n< 200 ("),
                  NULL, "%s", run.err);
    cr_expect_eq(strstr(run.err, "ch_test"), NULL);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_value_that_does_not_fit_into_a_request_is_named)
{
    struct fake_server *server = serve(NULL, 0);
    static char line[4096];
    int bytes = snprintf(line, sizeof line, "usage acme --by ");
    memset(line + bytes, ',', 1500); /* three bytes each in a query */
    line[bytes + 1500] = '\0';
    struct run run = run_line(line, NULL);
    cr_expect_eq(run.exit, CLI_USAGE);
    cr_expect_str_eq(run.err, "corehour usage: by: the value is too long\n");
    run_fini(&run);
    bytes = snprintf(line, sizeof line, "hold show ");
    memset(line + bytes, '@', 1500);
    line[bytes + 1500] = '\0';
    run = run_line(line, NULL);
    cr_expect_eq(run.exit, CLI_USAGE);
    cr_expect(starts(run.err, "corehour hold show: \"@@"), "%s", run.err);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, all_pages_behind_a_page_are_asked_for_with_one_token_each)
{
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(200, "{\"items\":[],\"next_page_token\":\"T2\"}")},
        {FAKE_ANSWER, fake_json(200, "{\"items\":[],\"next_page_token\":null}")}};
    struct fake_server *server = serve(steps, 2);
    struct run run = run_line("holds --all --page-token T1", NULL);
    cr_expect_eq(run.exit, CLI_DONE, "%s", run.err);
    cr_expect_neq(strstr(fake_server_request(server, 0), "?page_token=T1 "), NULL);
    cr_expect_neq(strstr(fake_server_request(server, 1), "?page_token=T2 "), NULL, "%s",
                  fake_server_request(server, 1));
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, every_list_says_that_there_is_nothing)
{
    const struct cli_command *command;
    const struct fake_step steps[] = {
        {FAKE_ANSWER, fake_json(200, "{\"items\":[],\"rows\":[],\"next_page_token\":null}")}};
    for (size_t i = 0; (command = command_at(i)) != NULL; i++) {
        if (command->run != run_list)
            continue;
        struct fake_server *server = serve(steps, 1);
        char line[128];
        snprintf(line, sizeof line, "%s%s", command->name, command->args_min > 0 ? " x" : "");
        struct run run = run_line(line, NULL);
        cr_expect_eq(run.exit, CLI_DONE, "%s: %s", line, run.err);
        cr_expect_str_eq(run.out, "none\n", "%s: %s", line, run.out);
        run_fini(&run);
        fake_server_stop(server);
    }
}

Test(cli, the_history_of_a_cap_asks_for_its_node_only_and_for_every_page)
{
    static const char entry[] =
        "{\"items\":[{\"at\":\"2026-12-01T00:00:00Z\",\"name\":\"finance\",\"action\":\"cap.put\","
        "\"what\":\"projects/vision/members/alice/caps/gpus\",\"before\":null,\"after\":{\"limit\":%d}}],"
        "\"next_page_token\":%s}";
    char first[512];
    char second[512];
    snprintf(first, sizeof first, entry, 4, "\"T2\"");
    snprintf(second, sizeof second, entry, 8, "null");
    const struct fake_step steps[] = {
        {FAKE_ANSWER,
         fake_json(200, "{\"node\":\"vision/alice\",\"kind\":\"member\",\"project\":\"vision\","
                        "\"user\":\"alice\",\"path\":[\"acme\",\"vision\",\"alice\"]}")},
        {FAKE_ANSWER, fake_json(200, first)},
        {FAKE_ANSWER, fake_json(200, second)}};
    struct fake_server *server = serve(steps, 3);
    struct run run = run_line("cap history vision/alice gpus", NULL);
    cr_expect_eq(run.exit, CLI_DONE, "%s", run.err);
    cr_expect(starts(fake_server_request(server, 1),
                     "GET /v1/audit?root=acme&node=vision&page_size=1000 "),
              "%s", fake_server_request(server, 1));
    cr_expect(starts(fake_server_request(server, 2),
                     "GET /v1/audit?root=acme&node=vision&page_size=1000&page_token=T2 "),
              "%s", fake_server_request(server, 2));
    cr_expect_neq(strstr(run.out, "limit 4"), NULL, "%s", run.out);
    cr_expect_neq(strstr(run.out, "limit 8"), NULL, "%s", run.out);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, a_deadline_is_kept_by_the_journal_too)
{
    const struct fake_step steps[] = {{FAKE_HANG, ""}, {FAKE_HANG, ""}, {FAKE_HANG, ""}};
    struct fake_server *server = serve(steps, 3);
    struct run run = run_line("journal acme --deadline 1s", NULL);
    cr_expect_eq(run.exit, CLI_UNREACHABLE);
    cr_expect_eq(fake_server_requests(server), 1u);
    run_fini(&run);
    fake_server_stop(server);
}

Test(cli, why_asks_for_one_cluster_the_one_that_was_named)
{
    const struct fake_step steps[] = {{FAKE_ANSWER, fake_json(200, "{\"items\":[]}")}};
    struct fake_server *server = serve(steps, 1);
    const struct door_answer door = {.cluster = "alpha"};
    struct corehour_options options = {.url = fake_server_url(server)};
    struct corehour_error error;
    struct cli cli = {.in = stdin,
                      .out = stdout,
                      .err = stderr,
                      .command = args_command_find("why", NULL),
                      .args = {"17"},
                      .args_count = 1,
                      .values = {"beta"},
                      .door = &door};
    cr_assert_eq(corehour_client_create(&options, &cli.client, &error), COREHOUR_OK);
    cr_expect_eq(run_why(&cli), CLI_OTHER);
    cr_expect_neq(strstr(fake_server_request(server, 0), "?job_id=17&cluster=beta "), NULL, "%s",
                  fake_server_request(server, 0));
    corehour_client_destroy(cli.client);
    fake_server_stop(server);
}
