/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Partitions through Slurm's API: see site.h. */
#include "clients/slurm/site.h"

#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>

static int64_t number_of(uint32_t value)
{
    return value == NO_VAL ? SLURM_UNSET : value == INFINITE ? SLURM_UNLIMITED : (int64_t)value;
}

/* DefMemPerCPU and DefMemPerNode are one number with a flag; 0 is neither. */
static void memory_split(uint64_t value, int64_t *ret_per_cpu, int64_t *ret_per_node)
{
    *ret_per_cpu = *ret_per_node = SLURM_UNSET;
    if (value == NO_VAL64 || value == INFINITE64 || value == 0) {
        return;
    }
    if ((value & MEM_PER_CPU) != 0) {
        *ret_per_cpu = (int64_t)(value & ~MEM_PER_CPU);
    } else {
        *ret_per_node = (int64_t)value;
    }
}

static void node_take(const node_info_t *node, struct slurm_partition *partition)
{
    struct gres_gpus gpus = {0};
    if (node->name == NULL) {
        return; /* a gap in the table */
    }
    if (node->cpus > partition->node_cores) {
        partition->node_cores = node->cpus;
    }
    if ((int64_t)node->real_memory > partition->node_memory_mib) {
        partition->node_memory_mib = (int64_t)node->real_memory;
    }
    if (gres_gpus_add(node->gres, false, 1, &gpus) &&
        gres_gpus_total(&gpus) > gres_gpus_total(&partition->node_gpus)) {
        partition->node_gpus = gpus;
    }
}

static void nodes_take(const partition_info_t *info,
                       const node_info_msg_t *nodes,
                       struct slurm_partition *partition)
{
    for (const int32_t *pair = info->node_inx; pair != NULL && *pair >= 0; pair += 2) {
        for (int32_t i = pair[0]; i <= pair[1] && (uint32_t)i < nodes->record_count; i++) {
            node_take(&nodes->node_array[i], partition);
        }
    }
}

static void partition_take(const partition_info_t *info,
                           const node_info_msg_t *nodes,
                           struct slurm_partition *partition)
{
    *partition = (struct slurm_partition){
        .is_default = (info->flags & PART_FLAG_DEFAULT) != 0,
        .is_exclusive = info->max_share == 0,
        .default_minutes = number_of(info->default_time),
        .max_minutes = info->max_time == NO_VAL ? SLURM_UNLIMITED : number_of(info->max_time),
        .nodes = info->total_nodes,
        .nodes_max = info->max_nodes == NO_VAL ? SLURM_UNLIMITED : number_of(info->max_nodes),
    };
    snprintf(partition->name, sizeof partition->name, "%s", info->name == NULL ? "" : info->name);
    memory_split(info->def_mem_per_cpu, &partition->memory_per_cpu_mib,
                 &partition->memory_per_node_mib);
    nodes_take(info, nodes, partition);
}

static void cluster_take(struct slurm_site *site)
{
    slurm_conf_t *conf = NULL;
    site->memory_per_cpu_mib = site->memory_per_node_mib = SLURM_UNSET;
    if (slurm_load_ctl_conf(0, &conf) == SLURM_SUCCESS) {
        memory_split(conf->def_mem_per_cpu, &site->memory_per_cpu_mib, &site->memory_per_node_mib);
        slurm_free_ctl_conf(conf);
    }
}

bool site_load(struct slurm_site *ret_site)
{
    partition_info_msg_t *partitions = NULL;
    node_info_msg_t *nodes = NULL;
    struct slurm_site site = {0};
    bool ok = slurm_load_partitions(0, &partitions, SHOW_ALL | SHOW_LOCAL) == SLURM_SUCCESS &&
              slurm_load_node(0, &nodes, SHOW_ALL | SHOW_LOCAL) == SLURM_SUCCESS;
    struct slurm_partition *list = ok ? calloc(partitions->record_count + 1U, sizeof *list) : NULL;
    for (uint32_t i = 0; list != NULL && i < partitions->record_count; i++) {
        partition_take(&partitions->partition_array[i], nodes, &list[i]);
        site.partitions_count++;
    }
    site.partitions = list;
    if (list != NULL) {
        cluster_take(&site);
        *ret_site = site;
    }
    if (partitions != NULL) {
        slurm_free_partition_info_msg(partitions);
    }
    if (nodes != NULL) {
        slurm_free_node_info_msg(nodes);
    }
    return list != NULL;
}

void site_free(struct slurm_site *site)
{
    free((struct slurm_partition *)(uintptr_t)site->partitions);
    *site = (struct slurm_site){0};
}
