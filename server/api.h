/*
 * The handlers of the route table. Each decodes, hands on and encodes; none holds a rule about core-hours.
 *
 * A handler runs on the HTTP loop when the body is there. It leaves an answer, or gives the request to the ledger
 * thread, a reader thread or the bulk thread and leaves is_pending set.
 */
#ifndef SERVER_API_H
#define SERVER_API_H

#include "server/decode_shapes.h"
#include "server/request.h"
#include "server/service.h"

/* Any request, before its body is read: route, token, role, query. Leaves an answer when it is refused. */
void api_begin(struct request *request);

/* The body is there: who asks is known, or found out now; then the route's handler. */
void api_handle(struct request *request);

/* api_commands.c: everything that changes the ledger one command at a time. */
void api_command(struct request *request);

enum error_code api_place_none(struct request *request, struct command *command, struct error *err);
enum error_code api_place_hold(struct request *request, struct command *command, struct error *err);
enum error_code api_place_job(struct request *request, struct command *command, struct error *err);
enum error_code api_place_node(struct request *request, struct command *command, struct error *err);
enum error_code api_place_cap(struct request *request, struct command *command, struct error *err);
enum error_code api_place_cluster(struct request *request,
                                  struct command *command,
                                  struct error *err);
enum error_code api_place_account(struct request *request,
                                  struct command *command,
                                  struct error *err);
enum error_code api_place_user(struct request *request, struct command *command, struct error *err);
enum error_code api_place_rates(struct request *request,
                                struct command *command,
                                struct error *err);
enum error_code api_place_new_token(struct request *request,
                                    struct command *command,
                                    struct error *err);
enum error_code api_place_unattributed(struct request *request,
                                       struct command *command,
                                       struct error *err);
enum error_code api_place_rotated_token(struct request *request,
                                        struct command *command,
                                        struct error *err);
enum error_code api_place_person(struct request *request,
                                 struct command *command,
                                 struct error *err);
enum error_code api_place_token(struct request *request,
                                struct command *command,
                                struct error *err);

enum error_code api_decode_body(const json_t *body, struct command *command, struct error *err);

/* The same in two steps, for a request whose command is not that of its route (events). The first makes the
 * request's slot and fills in who asks; the caller decodes; the second queues it and answers. */
MUST_USE enum error_code api_command_begin(struct request *request,
                                           const struct route_command *row,
                                           struct command **ret_command,
                                           struct error *err);
void api_command_submit(struct request *request);

/* Instead of the second: carry the command out on the thread of long reads, by api_read_rename(). */
void api_rename_person(struct request *request);
void api_read_rename(struct request *request, struct ledger_reader *reader);

/** If-Match -> the command's if_match; ERR_MALFORMED. */
MUST_USE enum error_code api_read_if_match(const struct request *request,
                                           struct command *command,
                                           struct error *err);

/* What an accepted command's answer says, also as a line of a batch. */
uint16_t api_status_of(const struct route_command *row, const struct ledger_result *result);
bool api_is_answer(const struct command *command, const struct ledger_result *result);
void api_count_result(struct metrics *metrics, const struct ledger_result *result);

/* Send a command whose answer nobody waits for: last use of a token, an agent that polls. May be dropped. */
void api_send_quietly(struct service *service, const struct command *command);

/* api_queries.c: one thing, by name. */
void api_get_hold(struct request *request);
void api_get_node(struct request *request);
void api_get_cap(struct request *request);
void api_get_cluster(struct request *request);
void api_get_account(struct request *request);
void api_get_user(struct request *request);
void api_get_rates(struct request *request);
void api_get_balance(struct request *request);

/* api_lists.c: pages, the report, the journal. */
void api_list_holds(struct request *request);
void api_list_grants(struct request *request);
void api_list_tokens(struct request *request);
void api_list_unattributed(struct request *request);
void api_report_usage(struct request *request);
void api_read_journal(struct request *request);
void api_report_statement(struct request *request);

/* api_periods.c: closed months. */
void api_list_periods(struct request *request);
void api_get_period(struct request *request);
void api_period_rows(struct request *request);
enum error_code api_place_period(struct request *request,
                                 struct command *command,
                                 struct error *err);
void api_read_closed(struct request *request, struct ledger_reader *reader);

/* What files and answers call kinds of usage and outcomes. */
extern const struct decode_choice choices_usage_kind[];
const char *api_outcome_name(enum outcome outcome);

/* api_audit.c: changes by people. */
void api_list_audit(struct request *request);

/* api_batch.c, api_caps.c, api_heartbeats.c, api_events.c: many commands in one request. */
void api_batch(struct request *request);
void api_put_caps(struct request *request);

/* api_refunds.c: the refunds of an incident. */
void api_refund_many(struct request *request);

/* api_webhooks.c */
void api_get_webhook(struct request *request);
void api_list_webhooks(struct request *request);
void api_list_deliveries(struct request *request);
enum error_code api_place_webhook(struct request *request,
                                  struct command *command,
                                  struct error *err);
enum error_code decode_webhook(const json_t *body, struct command *command, struct error *err);
void encode_webhook_answer(struct json_out *out,
                           const struct command *command,
                           const struct ledger_result *result);
void encode_test_answer(struct json_out *out,
                        const struct command *command,
                        const struct ledger_result *result);

void api_heartbeats(struct request *request);
void api_events(struct request *request);

/* api_feed.c: the long poll. */
void api_feed(struct request *request);

/* api_system.c: about the service itself. */
void api_health(struct request *request);
void api_readiness(struct request *request);
void api_metrics(struct request *request);
void api_openapi(struct request *request);

#endif
