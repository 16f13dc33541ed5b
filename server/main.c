/*
 * corehourd: init, serve, check, backup, routes. This file reads the command line; the work is elsewhere.
 *
 * Exit codes: 0 done (check: nothing differs), 1 failed or differences found, 2 usage.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ledger/base/calendar.h"
#include "ledger/base/clock.h"
#include "ledger/base/log.h"
#include "ledger/base/uuid.h"
#include "ledger/ledger.h"
#include "server/decode_commands.h"
#include "server/decode_shapes.h"
#include "server/route.h"
#include "server/service.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* What the command line says; NULL: not given. */
struct arguments {
    const char *data;
    const char *engine;
    const char *listen;
    const char *config;
    const char *since;
    const char *to;
};

static int fail(const struct error *err)
{
    const char *colon = err->field[0] != '\0' ? ": " : "";
    (void)fprintf(stderr, "corehourd: %s%s%s\n", err->field, colon,
                  err->detail[0] != '\0' ? err->detail : error_meaning(err->code));
    return EXIT_FAILED;
}

/* The engine's URL: --engine, the configuration's, or SQLite in the data directory. False when it is too long. */
static bool engine_url(const struct arguments *arguments,
                       const char *configured,
                       char ret_url[SERVICE_URL_BYTES])
{
    const char *url = arguments->engine != NULL ? arguments->engine : configured;
    const int bytes =
        url != NULL && url[0] != '\0'
            ? snprintf(ret_url, SERVICE_URL_BYTES, "%s", url)
            : snprintf(ret_url, SERVICE_URL_BYTES, "sqlite:%s/ledger.db", arguments->data);
    return bytes < SERVICE_URL_BYTES;
}

static bool read_url(const struct arguments *arguments,
                     char ret_url[SERVICE_URL_BYTES],
                     struct error *err)
{
    if (!engine_url(arguments, NULL, ret_url)) {
        (void)error_set(err, ERR_INVALID_FIELD, "the engine's URL is too long");
        return false;
    }
    return true;
}

/* ---- init */

/* The first token. Its secret is printed once and never stored. */
static enum error_code make_admin(struct ledger *ledger,
                                  char ret_token[AUTH_TOKEN_BYTES],
                                  struct error *err)
{
    const int64_t now_ms = clock_wall_ms();
    static struct command command;
    static struct ledger_result result;
    command_reset(&command, COMMAND_PUT_TOKEN);
    command.role = ROLE_ADMIN;
    struct token *token = &command.token.token;
    char uuid[UUID_TEXT_BYTES];
    enum error_code code = uuid_v7_create(now_ms, uuid, err);
    if (code == ERR_OK) {
        code = auth_token_create(ret_token, &token->hash, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    (void)snprintf(token->id, sizeof(token->id), "t-%s", uuid);
    (void)snprintf(token->name, sizeof(token->name), "init");
    token->role = ROLE_ADMIN;
    token->created_ms = now_ms;
    const struct command *commands[] = {&command};
    static const struct ledger_actor actor = {
        .role = ROLE_ADMIN, .who = "init", .name = "corehourd"};
    struct ledger_work work = {
        .commands = commands, .results = &result, .count = 1, .actor = &actor};
    code = ledger_execute(ledger, &work, 1, now_ms, err);
    if (code == ERR_OK && result.error.code != ERR_OK) {
        *err = result.error;
        code = err->code;
    }
    return code;
}

static int run_init(const struct arguments *arguments)
{
    struct error err = {0};
    char url[SERVICE_URL_BYTES];
    char token[AUTH_TOKEN_BYTES];
    if (mkdir(arguments->data, 0700) != 0 && errno != EEXIST) {
        (void)error_set(&err, ERR_UNAVAILABLE, "%.150s: %m", arguments->data);
        return fail(&err);
    }
    const struct ledger_options options = {.create = true};
    struct ledger *ledger = NULL;
    if (!read_url(arguments, url, &err) || ledger_open(url, &options, &ledger, &err) != ERR_OK) {
        return fail(&err);
    }
    const enum error_code code = make_admin(ledger, token, &err);
    ledger_close(ledger);
    if (code != ERR_OK) {
        return fail(&err);
    }
    return puts(token) < 0 || fflush(stdout) != 0 ? EXIT_FAILED : EXIT_DONE;
}

/* ---- serve */

static enum error_code read_config(const struct arguments *arguments,
                                   struct service *service,
                                   struct error *err)
{
    config_init(&service->config);
    enum error_code code = ERR_OK;
    if (arguments->config != NULL) {
        service->config_path = arguments->config;
        code = config_read(arguments->config, &service->config, err);
    }
    if (code == ERR_OK && arguments->listen != NULL) {
        code = config_set(&service->config, "listen", arguments->listen, err);
    }
    if (code == ERR_OK && !engine_url(arguments, service->config.engine.text, service->url)) {
        code = error_set(err, ERR_INVALID_FIELD, "the engine's URL is too long");
    }
    return code;
}

/* Memory that comes and goes with each request stays with the process: giving it back costs page faults. */
static void keep_memory(void)
{
    /* NOLINTBEGIN(concurrency-mt-unsafe): no thread has been started */
    (void)mallopt(M_TRIM_THRESHOLD, 64 * 1024 * 1024);
    (void)mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
    /* NOLINTEND(concurrency-mt-unsafe) */
}

static int run_serve(const struct arguments *arguments)
{
    keep_memory();
    static struct service service;
    struct error err = {0};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGXFSZ, &ignore,
                    NULL); /* a file at its limit is a write that fails, as on a full disk */
    enum error_code code = read_config(arguments, &service, &err);
    if (code == ERR_OK) {
        code = service_start(&service, &err);
    }
    if (code != ERR_OK) {
        service_fini(&service);
        return fail(&err);
    }
    if (!service_run(&service)) {
        /* Someone still holds requests: joining that thread could take for ever. What is committed is on disk. */
        _Exit(EXIT_FAILED);
    }
    service_fini(&service);
    log_event(LOG_INFO, "stopped", log_text("reason", "asked to"));
    return EXIT_DONE;
}

/* ---- check */

static void print_difference(void *context, const char *line)
{
    (void)context;
    (void)printf("%s\n", line);
}

static int run_check(const struct arguments *arguments)
{
    struct error err = {0};
    char url[SERVICE_URL_BYTES];
    struct ledger_reader *reader = NULL;
    int64_t differences = 0;
    int32_t since = 0;
    if (arguments->since != NULL &&
        calendar_parse_month(arguments->since, &since, &err) != ERR_OK) {
        return fail(&err);
    }
    if (!read_url(arguments, url, &err) || ledger_reader_open(url, &reader, &err) != ERR_OK) {
        return fail(&err);
    }
    const enum error_code code =
        ledger_check(reader, since, print_difference, NULL, &differences, &err);
    ledger_reader_close(reader);
    if (code != ERR_OK) {
        return fail(&err);
    }
    (void)fprintf(stderr, "corehourd: %" PRId64 " differences\n", differences);
    return differences == 0 ? EXIT_DONE : EXIT_FAILED;
}

/* ---- backup, routes */

static int run_backup(const struct arguments *arguments)
{
    struct error err = {0};
    char url[SERVICE_URL_BYTES];
    struct ledger_reader *reader = NULL;
    if (!read_url(arguments, url, &err) || ledger_reader_open(url, &reader, &err) != ERR_OK) {
        return fail(&err);
    }
    const enum error_code code = ledger_reader_backup(reader, arguments->to, &err);
    ledger_reader_close(reader);
    return code == ERR_OK ? EXIT_DONE : fail(&err);
}

/* One line a route: method, path, roles, body limit. For the comparison with the OpenAPI document. */
static int run_routes(const struct arguments *arguments)
{
    (void)arguments;
    for (size_t i = 0; i < routes_count; i++) {
        const struct route *route = &routes[i];
        (void)printf("%s %s ", method_name(route->method), route->pattern);
        const char *comma = "";
        for (const struct decode_choice *role = choices_role; role->name != NULL; role++) {
            if ((route->roles & (unsigned)role->value) != 0) {
                (void)printf("%s%s", comma, role->name);
                comma = ",";
            }
        }
        (void)printf("%s %" PRIu32, route->roles == ROUTE_PUBLIC ? "public" : "",
                     route->body_bytes);
        for (int param = 0; param < QUERY__COUNT; param++) {
            if ((route->query & QUERY_BIT(param)) != 0) {
                (void)printf(" %s", query_param_name((enum query_param)param));
            }
        }
        (void)printf("\n");
    }
    return fflush(stdout) != 0 ? EXIT_FAILED : EXIT_DONE;
}

/* ---- the command line */

enum option_id {
    OPTION_DATA = 1,
    OPTION_ENGINE,
    OPTION_LISTEN,
    OPTION_CONFIG,
    OPTION_SINCE,
    OPTION_TO,
    OPTION_HELP
};

#define TAKES(option) (1U << (option))

static const struct subcommand {
    const char *name;
    unsigned takes;
    unsigned needs;
    int (*run)(const struct arguments *arguments);
    const char *usage;
} subcommands[] = {
    {"init", TAKES(OPTION_DATA) | TAKES(OPTION_ENGINE), TAKES(OPTION_DATA), run_init,
     "init   --data DIR [--engine URL]\n"
     "         create the ledger; prints one admin token"},
    {"serve",
     TAKES(OPTION_DATA) | TAKES(OPTION_ENGINE) | TAKES(OPTION_LISTEN) | TAKES(OPTION_CONFIG),
     TAKES(OPTION_DATA), run_serve,
     "serve  --data DIR [--listen HOST:PORT] [--config FILE] [--engine URL]\n"
     "         serve until SIGTERM"},
    {"check", TAKES(OPTION_DATA) | TAKES(OPTION_ENGINE) | TAKES(OPTION_SINCE), TAKES(OPTION_DATA),
     run_check,
     "check  --data DIR [--since MONTH] [--engine URL]\n"
     "         recompute everything and print what differs; also beside a live daemon. --since: read the journal from\n"
     "         the close of that month on"},
    {"backup", TAKES(OPTION_DATA) | TAKES(OPTION_ENGINE) | TAKES(OPTION_TO),
     TAKES(OPTION_DATA) | TAKES(OPTION_TO), run_backup,
     "backup --data DIR --to FILE [--engine URL]\n"
     "         consistent copy, also while serving"},
    {"routes", 0, 0, run_routes,
     "routes\n"
     "         print every route with its roles, body limit and parameters"},
};

static int print_usage(FILE *file, int code)
{
    (void)fprintf(file, "usage: corehourd COMMAND [OPTIONS]\n\n");
    for (size_t i = 0; i < ARRAY_LEN(subcommands); i++) {
        (void)fprintf(file, "  %s\n", subcommands[i].usage);
    }
    return code;
}

static const char **argument_place(struct arguments *arguments, int option)
{
    switch ((enum option_id)option) {
    case OPTION_DATA:
        return &arguments->data;
    case OPTION_ENGINE:
        return &arguments->engine;
    case OPTION_LISTEN:
        return &arguments->listen;
    case OPTION_CONFIG:
        return &arguments->config;
    case OPTION_SINCE:
        return &arguments->since;
    case OPTION_TO:
        return &arguments->to;
    case OPTION_HELP:
        return NULL;
    }
    return NULL;
}

static int run_subcommand(const struct subcommand *subcommand, int argc, char **argv)
{
    static const struct option options[] = {
        {"data", required_argument, NULL, OPTION_DATA},
        {"engine", required_argument, NULL, OPTION_ENGINE},
        {"listen", required_argument, NULL, OPTION_LISTEN},
        {"config", required_argument, NULL, OPTION_CONFIG},
        {"since", required_argument, NULL, OPTION_SINCE},
        {"to", required_argument, NULL, OPTION_TO},
        {"help", no_argument, NULL, OPTION_HELP},
        {NULL, 0, NULL, 0},
    };
    struct arguments arguments = {0};
    unsigned given = 0;
    int option;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): no thread has been started */
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == OPTION_HELP) {
            return print_usage(stdout, EXIT_DONE);
        }
        if (option == '?' || (subcommand->takes & TAKES(option)) == 0) {
            return print_usage(stderr, EXIT_USAGE);
        }
        *argument_place(&arguments, option) = optarg;
        given |= TAKES(option);
    }
    for (const struct option *row = options; row->name != NULL; row++) {
        if ((subcommand->needs & TAKES(row->val) & ~given) != 0) {
            (void)fprintf(stderr, "corehourd %s: --%s is missing\n", subcommand->name, row->name);
        }
    }
    if (optind < argc || (given & subcommand->needs) != subcommand->needs) {
        return print_usage(stderr, EXIT_USAGE);
    }
    return subcommand->run(&arguments);
}

int main(int argc, char **argv)
{
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)) {
        return print_usage(stdout, EXIT_DONE);
    }
    if (argc >= 2 && strcmp(argv[1], "--version") == 0) {
        (void)printf("corehourd %s\n", COREHOUR_VERSION);
        return EXIT_DONE;
    }
    for (size_t i = 0; argc >= 2 && i < ARRAY_LEN(subcommands); i++) {
        if (strcmp(subcommands[i].name, argv[1]) == 0) {
            return run_subcommand(&subcommands[i], argc - 1, argv + 1);
        }
    }
    return print_usage(stderr, EXIT_USAGE);
}
