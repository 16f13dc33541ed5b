/*
 * The table of decisions, in the order of api.md.
 */
#include "ledger/core/decide.h"

#include <stddef.h>

#include "ledger/base/check.h"

static const struct decision DECISIONS[] = {
    {COMMAND_FREEZE, "freeze", DECIDE_NEW, decide_freeze},
    {COMMAND_QUOTE, "quote", DECIDE_NEW, decide_freeze},
    {COMMAND_BIND, "bind", DECIDE_HOLD, decide_bind},
    {COMMAND_START, "start", DECIDE_RUN, decide_start},
    {COMMAND_SUSPEND, "suspend", DECIDE_TASK, decide_suspend},
    {COMMAND_RESUME, "resume", DECIDE_TASK, decide_resume},
    {COMMAND_RESIZE, "resize", DECIDE_TASKS, decide_resize},
    {COMMAND_REQUEUE, "requeue", DECIDE_RUN, decide_requeue},
    {COMMAND_SETTLE, "settle", DECIDE_RUN, decide_settle},
    {COMMAND_RELEASE, "release", DECIDE_TASKS, decide_release},
    {COMMAND_CORRECT, "correct", DECIDE_RUN, decide_correct},
    {COMMAND_HEARTBEAT, "heartbeat", DECIDE_RUN, decide_heartbeat},
    {COMMAND_CHARGE, "charge", DECIDE_NEW, decide_charge},
    {COMMAND_ASSIGN, "assign", DECIDE_NEW, decide_charge},
    {COMMAND_REFUND, "refund", DECIDE_RUN, decide_refund},
    {COMMAND_EXPIRE_HOLD, "expire_hold", DECIDE_TASKS, decide_expire_hold},
    {COMMAND_TURN_RUN, "turn_run", DECIDE_RUN, decide_turn_run},
};

const struct decision *decision_of(enum command_kind kind)
{
    for (size_t i = 0; i < ARRAY_LEN(DECISIONS); i++) {
        if (DECISIONS[i].kind == kind) {
            return &DECISIONS[i];
        }
    }
    return NULL;
}
