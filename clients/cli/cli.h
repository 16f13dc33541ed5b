/*
 * The command line's own types: a command is a row of a table (commands/), an invocation is one struct
 * cli. A row says what goes where in the request; a few rows bring a function of their own. Nothing here
 * knows a rule about core-hours: the daemon decides, this shows.
 */
#ifndef COREHOUR_CLIENTS_CLI_CLI_H
#define COREHOUR_CLIENTS_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "clients/client.h"
#include "clients/door.h"

#define CLI_ARGS_MAX    64
#define CLI_OPTIONS_MAX 40
#define CLI_GROUPS_MAX  3

/* Exit codes of the program: fixed, scripts rely on them. */
enum cli_exit {
    CLI_DONE = 0,
    CLI_QUOTA = 1,       /* refused for quota */
    CLI_USAGE = 2,       /* the command line or the configuration is wrong: nothing was sent */
    CLI_UNREACHABLE = 3, /* no answer, or the service says that it cannot answer now */
    CLI_NOT_ALLOWED = 4, /* no token, a bad one, or one without the right */
    CLI_OTHER = 5,       /* any other refusal or failure */
};

/* How the text of an argument or option becomes a value of a request (kinds.c). */
enum cli_kind {
    CLI_TEXT,     /* a JSON string as it is */
    CLI_FLAG,     /* no value; true */
    CLI_YES_NO,   /* true or false */
    CLI_COUNT,    /* a whole number, 0 or more */
    CLI_DURATION, /* seconds */
    CLI_AMOUNT,   /* core-hours: decimal text, kept as text */
    CLI_TIME,     /* RFC 3339 in UTC */
    CLI_MEMORY,   /* MiB */
    CLI_GPUS,     /* a list of GPU objects */
    CLI_LIST,     /* comma separated: a list of strings; "all": null */
    CLI_KINDS
};

/*
 * One positional argument or one option. A list of them ends with a row without a name.
 *
 * `field` says where its value goes: a member of the body ("job.name" reaches into objects), in a GET a key
 * of the query. NULL: an argument goes into the path, an option to the command's own function.
 */
struct cli_field {
    const char *name;      /* "HOLD" of an argument, "time" of --time */
    enum cli_kind kind;    /* what its text is */
    const char *field;     /* see above */
    const char *metavar;   /* of an option's value; NULL: the kind's */
    const char *help;      /* of an option: one line */
    const char *otherwise; /* the text taken when an option is not given; NULL: it is left out */
};

struct cli;

/*
 * One command. `id_prefix` makes it a creation: its body gets an "id" with that prefix when none is given
 * ("cluster": with the cluster's name), so that a retry is the same command.
 */
struct cli_command {
    const char *name;    /* one or two words */
    const char *summary; /* one line, lower case, no full stop */
    const char *help;    /* a few sentences: what it does and when to use it; may be NULL */
    const char *example; /* lines to type, and what comes back */
    const char *method;
    const char *path;      /* each {} takes the next argument without a field */
    const char *id_prefix; /* see above; NULL for none */
    const struct cli_field *args;
    size_t args_min;  /* how many must be there */
    bool args_repeat; /* the last one may be repeated */
    bool
        args_raw; /* all words but the globals are arguments, options of another program among them */
    const struct cli_field *options[CLI_GROUPS_MAX];
    bool once; /* see struct corehour_request */
    enum cli_exit (*run)(struct cli *cli);
    void (*show)(struct cli *cli,
                 const json_t *body); /* a good answer, for people; NULL: show_object */
};

/* One invocation. Texts are borrowed from argv and the environment. */
struct cli {
    FILE *in;
    FILE *out;
    FILE *err;
    const struct cli_command *command;
    const char *args[CLI_ARGS_MAX];
    size_t args_count;
    const char *values[CLI_OPTIONS_MAX]; /* of the options, in the order of the command's groups */
    struct corehour_client *client;
    const char *url;                /* the daemon's */
    const struct door_answer *door; /* the token came from there; NULL: from the configuration */
    const char *body_file;          /* --body */
    int64_t deadline_ms;            /* --deadline; 0: the default */
    int64_t now_s;                  /* the present, read once */
    int status;                     /* of the answer that is being shown */
    bool json;                      /* print the daemon's answer as it is */
    bool dry_run;
    bool trace; /* print each request and answer to err */
    bool ascii; /* no characters beyond ASCII in drawings */
    bool help;  /* --help was given */
};

/* The value of an option, by name; NULL when it was not given. The command must have that option. */
const char *cli_value(const struct cli *cli, const char *name);

/* The n-th option of a command over all its groups, as `values` counts them; NULL beyond the last. */
const struct cli_field *cli_option_at(const struct cli_command *command, size_t n);

/* The number of fields in a list that ends with a nameless row; 0 for NULL. */
size_t cli_fields_count(const struct cli_field *fields);

#endif
