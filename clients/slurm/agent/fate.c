/* SPDX-License-Identifier: MIT
 *
 * See fate.h. */
#include "clients/slurm/agent/fate.h"

#include <stddef.h>
#include <string.h>

static const struct row {
    const char *state;
    struct fate fate;
} rows[] = {
    {"PENDING", {FATE_PENDING, NULL, false}},
    {"CONFIGURING",
     {FATE_RUNNING, NULL, false}}, /* nodes are booting: allocated, and Slurm's Elapsed counts it */
    {"RUNNING", {FATE_RUNNING, NULL, false}},
    {"COMPLETING", {FATE_ENDING, NULL, true}}, /* its end stands; sacct has the true state */
    {"STAGE_OUT", {FATE_ENDING, NULL, true}},
    {"SIGNALING", {FATE_RUNNING, NULL, false}},
    {"STOPPED", {FATE_RUNNING, NULL, false}}, /* SIGSTOP: keeps its cores */
    {"SUSPENDED", {FATE_SUSPENDED, NULL, false}},
    {"REQUEUE_FED", {FATE_PENDING, NULL, false}},
    {"REQUEUE_HOLD", {FATE_PENDING, NULL, false}},
    {"SPECIAL_EXIT", {FATE_PENDING, NULL, false}},
    {"RESV_DEL_HOLD", {FATE_PENDING, NULL, false}},
    {"COMPLETED", {FATE_ENDED, "completed", false}},
    {"FAILED", {FATE_ENDED, "failed", false}},
    {"TIMEOUT", {FATE_ENDED, "timeout", false}},
    {"CANCELLED", {FATE_ENDED, "cancelled", false}},
    {"REVOKED", {FATE_ENDED, "cancelled", false}},
    {"NODE_FAIL", {FATE_ENDED, "node_fail", true}},
    {"BOOT_FAIL", {FATE_ENDED, "boot_fail", true}},
    {"LAUNCH_FAILED", {FATE_ENDED, "boot_fail", true}},
    {"RECONFIG_FAIL", {FATE_ENDED, "boot_fail", true}},
    {"PREEMPTED", {FATE_ENDED, "preempted", true}},
    {"OUT_OF_MEMORY", {FATE_ENDED, "oom", false}},
    {"DEADLINE", {FATE_ENDED, "deadline", false}},
    {"REQUEUED", {FATE_ENDED, "other", true}},
    {"RESIZING", {FATE_ENDED, "other", true}},
};

struct fate fate_of(const char *state)
{
    const size_t bytes = strcspn(state, " +");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strlen(rows[i].state) == bytes && memcmp(rows[i].state, state, bytes) == 0) {
            return rows[i].fate;
        }
    }
    return (struct fate){FATE_UNKNOWN, NULL, false};
}
