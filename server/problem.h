/*
 * Refusals and failures as RFC 9457 problem documents, in English and Chinese (SPEC 6.2 to 6.4).
 *
 * Status, code and meaning come from ledger/base/errors.def. A quota refusal says the line, the formula, all
 * limits that failed, who holds most there, and when it would fit.
 */
#ifndef SERVER_PROBLEM_H
#define SERVER_PROBLEM_H

#include <stdbool.h>

#include "ledger/base/error.h"
#include "ledger/ledger.h"
#include "server/json_out.h"

struct problem {
    const struct error *error;
    const struct ledger_refusal *refusal; /* of ERR_QUOTA_INSUFFICIENT; NULL: figures unknown */
    bool is_chinese;
    const char *request_id; /* NULL: no instance */
    int64_t line;           /* of a batch, from 1; 0: none */
};

/** Write the members of a problem into an object that the caller opens and closes. */
void problem_write(struct json_out *out, const struct problem *problem);

/** The array `violations` of a refusal (also of a quote); @key may be NULL. */
void problem_write_violations(struct json_out *out,
                              const char *key,
                              const struct ledger_refusal *refusal);

/** One limit, in an object. @limit may have no holders. */
void problem_write_violation(struct json_out *out,
                             const char *key,
                             const struct violation *violation,
                             const char *model);

/** mcs, mgpus, mcores, jobs or s. */
const char *problem_unit(enum cap_kind kind);

/** "month", "gpus:a100", "funds". Returns ret_text. */
const char *problem_cap_name(enum cap_kind kind, const char *model, char *ret_text, size_t bytes);

/** Does an Accept-Language header prefer Chinese to English? NULL: no. */
bool problem_prefers_chinese(const char *accept_language);

#endif
