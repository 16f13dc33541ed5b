/*
 * What resources cost a second: one fraction over all of them, rounded once (SPEC 1.2, 7.1 to 7.3).
 * Pure, any thread.
 */
#ifndef LEDGER_CORE_RATE_H
#define LEDGER_CORE_RATE_H

#include "ledger/base/error.h"
#include "ledger/core/record.h"

struct rate_price {
    int64_t rate_mcores; /* half up */
    int64_t mgpus;       /* all entries: count x share, in thousandths, half up per entry */
    char partition[RECORD_NAME_BYTES]; /* of a list, the one that was the dearest */
};

/*
 * Price resources by a card.
 *
 * @card       borrowed
 * @partition  as given: "", one name, or a list joined by ","; the dearest of a list counts (the
 * first of equals), and each must have a row
 * @qos        "" or a name
 * @resources  in: counts and shares; out: gpus[].mgpus set on success
 * @ret_price  untouched on failure
 *
 * A GPU entry's share is the larger of its share of cores and of memory; a share that is not given
 * does not count, and one without either is whole GPUs. A memory share of a model of unknown memory,
 * or of more than the model has, is the whole card.
 *
 * Returns ERR_OK; ERR_NO_RATE when no row matches, or a GPU that the row neither lists nor
 * defaults; ERR_INVALID_FIELD when the rate does not fit.
 */
MUST_USE enum error_code rate_price(const struct rate_card *card,
                                    const char *partition,
                                    const char *qos,
                                    struct resources *resources,
                                    struct rate_price *ret_price,
                                    struct error *err);

/* mGPUs of one model (model_no 0: of all) in priced resources. */
int64_t resources_mgpus(const struct resources *resources, int64_t model_no);

/* mcs x price / 3 600 000 in 1e-6 of the currency, rounded half up (SPEC 7.5). */
int64_t rate_cost_micro(int64_t mcs, int64_t price_micro);

/* rate x seconds, both 0 or more: ERR_INVALID_FIELD when it leaves one command's range
 * (LIMIT_COMMAND_MCS). */
MUST_USE enum error_code rate_amount(int64_t rate_mcores,
                                     int64_t seconds,
                                     int64_t *ret_mcs,
                                     struct error *err);

#endif
