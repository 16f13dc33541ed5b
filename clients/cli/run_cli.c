/* The whole program but for main(): parse, configure, connect, run. */
#include "clients/cli/run_cli.h"

#include <string.h>
#include <unistd.h>

#include "clients/cli/args.h"
#include "clients/cli/config.h"
#include "clients/cli/help.h"
#include "clients/cli/refusal.h"
#include "clients/cli/run.h"
#include "clients/cli/text.h"
#include "clients/clock.h"

#ifndef COREHOUR_VERSION
#    define COREHOUR_VERSION "0"
#endif

/* Says what is missing before anything can be sent. */
static enum cli_exit config_fail(const struct cli *cli, const char *what)
{
    fprintf(cli->err, "corehour: ");
    text_print(cli->err, what);
    fputc('\n', cli->err);
    return CLI_USAGE;
}

static enum cli_exit client_open(struct cli *cli, const struct config *config)
{
    struct corehour_error error;
    struct corehour_options options = {
        .url = cli->url,
        .token = config->token[0] == '\0' ? NULL : config->token,
        .language = text_language_name(),
        .ca_file = config->ca_file[0] == '\0' ? NULL : config->ca_file,
        .agent = "corehour/" COREHOUR_VERSION,
    };
    if (corehour_client_create(&options, &cli->client, &error) == COREHOUR_OK) {
        return CLI_DONE;
    }
    return refusal_no_answer(cli, &error);
}

/* What the command's token is to be for: the project of a job, one that is named, or the person's own. */
static void wanted_write(const struct cli *cli, char *ret_wanted, size_t size_bytes)
{
    const bool has_arg = cli->args_count > 0;
    if (has_arg && strcmp(cli->command->name, "why") == 0) {
        snprintf(ret_wanted, size_bytes, "job=%.60s", cli->args[0]);
    } else if (has_arg && strcmp(cli->command->name, "balance") == 0) {
        snprintf(ret_wanted, size_bytes, "project=%.*s", (int)strcspn(cli->args[0], "/"),
                 cli->args[0]);
    } else {
        ret_wanted[0] = '\0';
    }
}

/* Without a token: the agent of a Slurm cluster gives one to whom MUNGE vouches for. */
static void door_use(struct cli *cli, struct config *config, struct door_answer *door)
{
    char wanted[200];
    char detail[DOOR_DETAIL_BYTES];
    const bool named = config->door[0] != '\0';
    const char *place = named ? config->door : DOOR_PATH;
    if (config->token[0] != '\0' || strcmp(cli->command->path, "/readyz") == 0 ||
        (!named && access(DOOR_PATH, W_OK) != 0)) {
        return;
    }
    wanted_write(cli, wanted, sizeof wanted);
    if (!door_ask(place, wanted, config->munge_socket, door, detail)) {
        fprintf(cli->err, tr("corehour: no token from %s: "), place);
        text_print(cli->err, detail);
        fputc('\n', cli->err);
        return;
    }
    snprintf(config->token, sizeof config->token, "%.250s", door->token);
    cli->door = door;
    if (*cli->url == '\0') {
        cli->url = door->url;
    }
}

/* Connects and runs the command. @door: room for what the agent's door may answer, as long as cli. */
static enum cli_exit command_run(struct cli *cli, struct config *config, struct door_answer *door)
{
    if (cli->url == NULL) {
        cli->url = config->url;
    }
    door_use(cli, config, door);
    if (config->open_path != NULL) {
        fprintf(cli->err, tr("corehour: others can read the token in %s: chmod 600 it\n"),
                config->open_path);
    }
    if (*cli->url == '\0') {
        config_fail(cli, tr("no daemon is named"));
        fprintf(
            cli->err,
            tr("  next: export COREHOUR_URL=http://HOST:PORT, or write \"url = ...\" into %s\n"),
            config->path[0] == '\0' ? "~/.config/corehour/config" : config->path);
        return CLI_USAGE;
    }
    enum cli_exit exit = client_open(cli, config);
    if (exit == CLI_DONE) {
        exit = cli->command->run(cli);
    }
    corehour_client_destroy(cli->client);
    if (fflush(cli->out) == 0 && ferror(cli->out) == 0) {
        return exit;
    }
    return exit != CLI_DONE
               ? exit
               : config_fail(cli, tr("the output cannot be written")) + CLI_OTHER - CLI_USAGE;
}

enum cli_exit cli_run(int argc, char **argv, FILE *in, FILE *out, FILE *err, bool ascii)
{
    struct args_early early;
    struct config config;
    struct config_error config_error;
    struct door_answer door;
    struct cli cli = {
        .in = in, .out = out, .err = err, .ascii = ascii, .now_s = client_clock_wall_ms() / 1000};
    args_early_scan(argc, argv, &early);
    text_language_set(text_language_choose(early.language));
    if (early.version) {
        fprintf(out, "corehour %s\n", COREHOUR_VERSION);
        return CLI_DONE;
    }
    if (!args_parse(argc, argv, &cli)) {
        return CLI_USAGE;
    }
    if (cli.command == NULL) {
        help_all(cli.help ? out : err);
        return cli.help ? CLI_DONE : CLI_USAGE;
    }
    if (cli.help) {
        help_command(out, cli.command);
        return CLI_DONE;
    }
    if (cli.command->run == run_help) {
        return run_help(&cli);
    }
    if (!config_load(&config, &config_error)) {
        return config_fail(&cli, config_error.detail);
    }
    if (early.language == NULL && config.language[0] != '\0') {
        text_language_set(text_language_choose(config.language));
    }
    return command_run(&cli, &config, &door);
}
