/*
 * What freeze and charge have in common: both make a hold (SPEC 5.2, 5.9). Pure, any thread.
 */
#ifndef LEDGER_CORE_NEW_HOLD_H
#define LEDGER_CORE_NEW_HOLD_H

#include "ledger/core/view.h"

/* At least one resource is above 0: ERR_OK or ERR_INVALID_FIELD naming @field. */
MUST_USE enum error_code new_hold_check_resources(const struct resources *resources,
                                                  const char *field,
                                                  struct error *err);

/* Id and job of the hold, as given. */
void new_hold_name(struct view *view, const char *id, const struct command_job *job);

/* The first closed node of the path, from the member up, or NULL. */
const struct node *view_closed_node(const struct view *view);

/* The cluster and every node of the path are open: ERR_OK or ERR_NODE_CLOSED (SPEC 2.4). */
MUST_USE enum error_code new_hold_check_open(const struct view *view, struct error *err);

/* Whether the user is no member of a project that lists its members (SPEC 2.3). */
bool new_hold_is_guest(const struct view *view);

/* Rate, GPUs, card and charged partition by view->card: ERR_OK, ERR_NO_RATE or ERR_INVALID_FIELD. */
MUST_USE enum error_code new_hold_price(struct view *view, struct plan *plan, struct error *err);

/* Whom to ask about a node of the path: the contact of the nearest at or above it that has one, else
 * "" (SPEC 2.1). Borrowed from the view. */
const char *view_contact(const struct view *view, int64_t node_no);

#endif
