/*
 * Alerts: what someone who asked for it is told (SPEC 4.6): a cap or the grants of a payer filling up, an overdraft in
 * use, a grant that ends soon, holds nobody has heard of, an adapter that is silent.
 *
 * An alert and its deliveries, one for each webhook that covers it, are written in the transaction of their cause.
 * Thresholds are compared where counters change, on figures that are in memory already: without a webhook of the
 * root nothing is looked at, and nothing is read or written unless a threshold is passed.
 */
#ifndef LEDGER_ALERTS_H
#define LEDGER_ALERTS_H

#include "ledger/shell.h"

/** The plan has been applied: compare the caps of the path and the payer's grants before and after. */
void alerts_look(struct ledger *ledger);

/** The same after a grant, transfer, withdrawal or a grant's end, which have no path: the grants alone. */
void alerts_look_at_money(struct ledger *ledger);

/** The same, for nothing where no webhook exists: the one that the fast path calls. */
static inline void alerts_after_plan(struct ledger *ledger)
{
    if (!ledger->alerts.loaded || ledger->alerts.count > 0) {
        alerts_look(ledger);
    }
}

/** A cap was set: judge it as it stands. @effect: what it holds back, in its unit. */
void alerts_cap_set(struct ledger *ledger,
                    const struct node *node,
                    const struct cap *cap,
                    const struct ledger_cap_effect *effect);

/** Write an alert with a delivery for each webhook that covers it. Returns how many; only @webhook_no when it is not 0.
 * @alert: but for alert_no and at_ms. */
size_t alerts_emit(struct ledger *ledger, const struct alert *alert, int64_t webhook_no);

/** Read the webhooks there are, where they are not in memory. */
void alerts_load(struct ledger *ledger);

/** Forget the webhooks in memory: one has changed, or the change was undone. */
void alerts_changed(struct ledger *ledger);
void alerts_forget(struct ledger *ledger);
void alerts_fini(struct ledger *ledger);

/** The highest of 50, 80, 90 and 100 that @committed has reached of @limit (both mcs, limit above 0), else 0. */
int64_t alerts_level(int64_t committed_mcs, int64_t limit_mcs);

/** The same less the hysteresis: what stays told until the figure falls ALERT_HYSTERESIS points below it. */
int64_t alerts_kept_level(int64_t committed_mcs, int64_t limit_mcs);

enum { ALERT_HYSTERESIS = 5, ALERT_AGAIN_S = 3600 };

/** Why a delivery was given up before it was tried. */
#define ALERT_NO_PLACE "too many messages wait for this webhook already"

#endif
