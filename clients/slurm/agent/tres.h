/* SPDX-License-Identifier: MIT
 *
 * Slurm's lists of countable resources ("billing=40,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=8000M,node=1")
 * as the `resources` of the API. Pure.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_TRES_H
#define COREHOUR_CLIENTS_SLURM_AGENT_TRES_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

enum { TRES_MODELS_MAX = 8, TRES_MODEL_BYTES = 64 };

struct tres {
    int64_t cores;
    int64_t memory_mib; /* rounded up */
    int64_t gpus;       /* all of them, of whatever model */
    int model_count;
    struct {
        char name[TRES_MODEL_BYTES]; /* lower case */
        int64_t count;
    } models[TRES_MODELS_MAX]; /* a breakdown of `gpus`, not an addition to it */
};

/*
 * Reads a list. What is not cores, memory or GPUs is passed over. Where the total of the GPUs is missing (only
 * typed ones are counted by the site), it is the sum of the typed ones; the typed ones are never added to a
 * total that is there.
 *
 * text: an AllocTRES or tres-alloc, "" for nothing allocated. Returns false when a number in it cannot be read,
 * or more than TRES_MODELS_MAX models are named; ret_tres is set on true only.
 */
bool tres_parse(const char *text, struct tres *ret_tres);

/*
 * The same as {"cores", "memory_mib", "gpus": [{"model", "count"}]}. GPUs that no model accounts for come last,
 * without a model. A new reference, NULL when memory is out.
 */
json_t *tres_json(const struct tres *tres);

#endif
