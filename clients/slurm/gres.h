/* SPDX-License-Identifier: MIT
 *
 * Slurm's texts for countable things: GPUs of --gres and --gpus in every form, and the indices of a job array. Pure, safe in
 * any thread, nothing of Slurm's headers.
 */
#ifndef COREHOUR_CLIENTS_SLURM_GRES_H
#define COREHOUR_CLIENTS_SLURM_GRES_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GRES_MODEL_BYTES = 64,
    GRES_MODELS_MAX = 8,       /* GPU entries of a hold (SPEC 1.6) */
    GRES_COUNT_MAX = 1000000,  /* GPUs of one model */
    ARRAY_INDEX_MAX = 4000000, /* Slurm's largest MaxArraySize */
};

/* GPUs by model; a model of "" is a GPU of any model. Each model occurs once. */
struct gres_gpus {
    unsigned count;
    struct gres_gpu {
        char model[GRES_MODEL_BYTES];
        int64_t count;
    } items[GRES_MODELS_MAX];
};

/*
 * Adds the GPUs that a text names, `times` each: "gres:gpu:a100:2,gres:gpu:1", "gres/gpu=2", "gpu:a100:4(S:0-1)", "a100:2" and
 * "2" (what follows --gpus=). Items are parted by commas or semicolons; a count not given is 1 and may end in k or m
 * (1024); what is no GPU (licenses, shards, "none") is passed over.
 *
 * text: NULL is nothing. bare: an item without "gpu" in front is GPUs too, as in --gpus. times: 0 or more.
 * Returns false when the text cannot be read, is longer than 64 KiB (an item: 1 KiB), names more than GRES_MODELS_MAX models or
 * too many GPUs; `gpus` is undefined then.
 */
bool gres_gpus_add(const char *text, bool bare, int64_t times, struct gres_gpus *gpus);

/* GPUs of all models together. */
int64_t gres_gpus_total(const struct gres_gpus *gpus);

/*
 * Counts the tasks of a job array: "0-15:4,20%2". An index that is named twice counts once.
 *
 * text: NULL or "" is one task. ret_tasks: 1 or more. ret_max_running: what follows the %, or 0 without.
 * Returns false when the text is no list of indices from 0 to ARRAY_INDEX_MAX, is longer than 64 KiB, is out of order with more
 * than 200 000 indices, or when memory is out. Takes a few milliseconds at most.
 */
bool gres_array_count(const char *text, int64_t *ret_tasks, int64_t *ret_max_running);

#endif
