/*
 * Commands about many tasks of a hold (DECIDE_TASKS): release, resize, expiry.
 */
#ifndef LEDGER_TASKS_H
#define LEDGER_TASKS_H

#include "ledger/core/decide.h"
#include "ledger/shell.h"

/**
 * Decide and apply for each task in scope. The caller has set a mark: after a refusal, and after a
 * dry run, it rolls back.
 *
 * ERR_INVALID_FIELD (tasks) for a list that is malformed or names tasks that the hold does not have.
 */
MUST_USE enum error_code tasks_run(struct ledger *ledger,
                                   const struct decision *decision,
                                   const struct command *command,
                                   const struct hold *hold,
                                   struct ledger_result *result,
                                   struct error *err);

/** A list of tasks in ascending order, disjoint. */
struct task_range {
    int64_t first;
    int64_t last;
};
enum { TASK_RANGES = RECORD_TASKS_TEXT_BYTES / 2 };

/**
 * Parse "3-9,12".
 *
 * @tasks       how many the hold has: each named must be below it
 * @ret_ranges  TASK_RANGES; ascending, disjoint and not adjacent
 *
 * Returns ERR_OK, or ERR_INVALID_FIELD (tasks).
 */
MUST_USE enum error_code tasks_parse(const char *text,
                                     int64_t tasks,
                                     struct task_range *ret_ranges,
                                     size_t *ret_count,
                                     struct error *err);

#endif
