/*
 * Calendars of roots, from the zone steps that were stored when the root was made (SPEC 1.4).
 */
#ifndef LEDGER_ZONES_H
#define LEDGER_ZONES_H

#include "ledger/shell.h"

/**
 * A root's calendar with the windows that contain now_s. Borrowed until zones_forget(). A failure
 * sticks to the working set, and then UTC is given.
 */
const struct root_time *zones_at(struct ledger *ledger, const struct node *root, int64_t now_s);

/** Windows of a calendar at a time; shared with the readers. */
void root_time_set(struct root_time *time, int64_t now_s);

/** Store the steps of a zone for a root, in place of those there are. */
void zones_store(struct ledger *ledger, int64_t root_no, const struct calendar *calendar);

/** Forget all calendars: one has changed, or the change was undone. */
void zones_forget(struct ledger *ledger);

/** Append a stored step to a calendar in the making; count 0 at first. False when it has no room. */
bool zone_step_append(struct calendar *calendar, const struct zone_step *step);

#endif
