/* From a struct cli to a request, to its answer, to an exit code: what all commands share. */
#ifndef COREHOUR_CLIENTS_CLI_REQUEST_H
#define COREHOUR_CLIENTS_CLI_REQUEST_H

#include "clients/cli/cli.h"
#include "clients/url.h"

/*
 * Runs a command whose row says everything: path from the arguments, query (GET) or body from arguments
 * and options, the call, its showing.
 */
enum cli_exit request_run(struct cli *cli);

/*
 * Writes the body that the row asks for: --body's file, then arguments and options with a field, then an
 * id when the row makes one. ret_body: the caller's. Returns CLI_DONE, or another after a message.
 */
enum cli_exit request_body_create(struct cli *cli, json_t **ret_body);

/* Adds the options with a field to the query of `path` (COREHOUR_URL_BYTES). */
enum cli_exit request_query_append(struct cli *cli, char *path);

/* Fills the braces of a template with encoded arguments that have no field. path: COREHOUR_URL_BYTES. */
enum cli_exit request_path_write(struct cli *cli, const char *template, char *path);

/*
 * Calls, with --deadline, --dry-run (on anything but GET) and --trace. The answer is the caller's. Returns
 * CLI_DONE with an answer of any status, or another after a message.
 */
enum cli_exit request_call(struct cli *cli,
                           const char *method,
                           const char *path,
                           const json_t *body,
                           struct corehour_answer *ret_answer);

/* As request_call, with everything about the request given. */
enum cli_exit request_send(struct cli *cli,
                           struct corehour_request *request,
                           struct corehour_answer *ret_answer);

/*
 * Prints an answer and says how the program ends: a problem by refusal.h, a good one as JSON or by `show`
 * (NULL: by the generic one). Frees nothing.
 */
enum cli_exit request_report(struct cli *cli,
                             const struct corehour_answer *answer,
                             void (*show)(struct cli *cli, const json_t *body));

/* Sends, reports by `show` and frees: for commands that need nothing else of the answer. */
enum cli_exit request_send_report(struct cli *cli,
                                  struct corehour_request *request,
                                  void (*show)(struct cli *cli, const json_t *body));

/* As request_send_report, of a request that request_call would make. */
enum cli_exit request_call_report(struct cli *cli,
                                  const char *method,
                                  const char *path,
                                  const json_t *body,
                                  void (*show)(struct cli *cli, const json_t *body));

/* Asks for a quote and reports it. CLI_QUOTA when it would be refused. */
enum cli_exit request_quote(struct cli *cli, const json_t *body);

/*
 * For answers that are only a step: CLI_DONE for a 200, which stays the caller's. Any other is reported and freed; returns how
 * the program ends then, never CLI_DONE.
 */
enum cli_exit request_need_ok(struct cli *cli, struct corehour_answer *answer);

/* Sets "a.b.c" in an object, making the objects in between. Takes over `value`. */
enum corehour_result request_field_set(json_t *object, const char *field, json_t *value);

/* Converts a text by its field's kind and sets it in the body. Returns CLI_DONE, or another after a message. */
enum cli_exit request_field_put(struct cli *cli,
                                const struct cli_field *field,
                                const char *text,
                                json_t *body);

/* One message on err: "corehour COMMAND: ...". Returns `exit`. */
__attribute__((format(printf, 3, 4))) enum cli_exit request_fail(const struct cli *cli,
                                                                 enum cli_exit exit,
                                                                 const char *format,
                                                                 ...);

#endif
