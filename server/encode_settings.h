/* Settings and balances as JSON: members of an object that the caller opens and closes. */
#ifndef SERVER_ENCODE_SETTINGS_H
#define SERVER_ENCODE_SETTINGS_H

#include "ledger/ledger.h"
#include "server/json_out.h"

/** An organization, a project or a member. */
void encode_node(struct json_out *out, const struct ledger_node *shown);

void encode_cluster(struct json_out *out, const struct ledger_cluster *shown);

/** A cap of a node. @node_name is a person's for a member, `*` for the defaults of @project. */
void encode_cap(struct json_out *out,
                enum node_kind node_kind,
                const char *project,
                const char *node_name,
                const struct cap *cap,
                const char *model);

/** An account's project or a user's person on a cluster. */
void encode_mapping(struct json_out *out,
                    const char *cluster,
                    bool is_user,
                    const char *name,
                    const char *target);

/** A version of a rate card. @models[row][gpu] are the names of its GPU prices. */
struct encode_rates {
    const char *cluster;
    const struct rate_version *version;
    const struct rate_row *rows; /* version->row_count of them, `row_bytes` apart */
    size_t row_bytes;
    /* The name of GPU price `gpu` of row `row`; borrowed. */
    const char *(*model)(const void *context, int32_t row, int32_t gpu);
    const void *context;
};
void encode_rates(struct json_out *out, const struct encode_rates *rates);

/** A token without its secret. */
void encode_token(struct json_out *out, const struct token *token);

void encode_balance(struct json_out *out, const struct ledger_balance *balance);

/** Who found room by a change of caps: how many holds, and the first of them. */
void encode_started(struct json_out *out, const struct ledger_cap_effect *effect);

/* Answers of commands, as in encode.h. */
void encode_node_answer(struct json_out *out,
                        const struct command *command,
                        const struct ledger_result *result);
void encode_cluster_answer(struct json_out *out,
                           const struct command *command,
                           const struct ledger_result *result);
void encode_cap_answer(struct json_out *out,
                       const struct command *command,
                       const struct ledger_result *result);
void encode_mapping_answer(struct json_out *out,
                           const struct command *command,
                           const struct ledger_result *result);
void encode_rates_answer(struct json_out *out,
                         const struct command *command,
                         const struct ledger_result *result);
void encode_rename_answer(struct json_out *out,
                          const struct command *command,
                          const struct ledger_result *result);
void encode_token_answer(struct json_out *out,
                         const struct command *command,
                         const struct ledger_result *result);

#endif
