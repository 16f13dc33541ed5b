/* Shapes that several commands share: resources, job, hosts, and the closed lists of names, both ways. */
#ifndef SERVER_DECODE_SHAPES_H
#define SERVER_DECODE_SHAPES_H

#include "server/decode.h"

/* Closed lists: decoding and encoding use the same rows. */
extern const struct decode_choice choices_mode[];
extern const struct decode_choice choices_on_insufficient[];
extern const struct decode_choice choices_outcome[];
extern const struct decode_choice choices_funding[];
extern const struct decode_choice choices_membership[];
extern const struct decode_choice choices_node_state[];
extern const struct decode_choice choices_cluster_kind[];
extern const struct decode_choice choices_on_exhausted[];
extern const struct decode_choice choices_fail_policy[];
extern const struct decode_choice choices_combine[];
extern const struct decode_choice choices_role[];
extern const struct decode_choice choices_cap[];
extern const struct decode_choice choices_task_state[];
extern const struct decode_choice choices_node_kind[];
extern const struct decode_choice choices_flag[];

/** Rows of a job, relative to struct command_job. */
extern const struct decode_table decode_table_job;

/** Resources of one task -> struct command_resources; at least one of them above 0 (SPEC 5.2). */
enum error_code decode_resources(const json_t *value,
                                 void *place,
                                 const struct decode_path *path,
                                 struct error *err);

/** An array of host names -> char[LIMIT_HOSTS_BYTES + 1], joined by commas. */
enum error_code decode_hosts(const json_t *value,
                             void *place,
                             const struct decode_path *path,
                             struct error *err);

/** "3-9,12", ascending, each below LIMIT_TASKS -> char[RECORD_TASKS_TEXT_BYTES]. */
enum error_code decode_task_set(const json_t *value,
                                void *place,
                                const struct decode_path *path,
                                struct error *err);

/** A GPU model as the ledger knows it: ASCII letters in lower case. In place. */
void decode_lower_case(char *text);

#endif
