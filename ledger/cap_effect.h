/*
 * What a change of a cap does at once (SPEC 4.5, 5.13): how full the cap is now, and which of those who
 * waited have found room. The same for a change that is only tried.
 */
#ifndef LEDGER_CAP_EFFECT_H
#define LEDGER_CAP_EFFECT_H

#include "ledger/shell.h"

/** How full a node's cap is now; nothing for member `*`, whose caps are measured at each member. */
void cap_effect_measure(struct ledger *ledger,
                        const struct node *node,
                        const struct cap *cap,
                        struct ledger_cap_effect *effect);

/** Let what waits at the node look for room now (at every node below for member `*`), and tell @effect
 * who found it. */
void cap_effect_start(struct ledger *ledger,
                      const struct node *node,
                      struct ledger_cap_effect *effect);

/** The hold in the view has been promoted by the plan: told to ledger->started, which must be set. */
void cap_effect_note_started(struct ledger *ledger);

#endif
