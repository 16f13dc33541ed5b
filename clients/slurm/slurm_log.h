/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Lines into slurmctld's log, through the logger that it exports.
 */
#ifndef COREHOUR_CLIENTS_SLURM_SLURM_LOG_H
#define COREHOUR_CLIENTS_SLURM_SLURM_LOG_H

extern void slurm_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern int slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define slurm_log_info(format, ...)  slurm_info("job_submit/corehour: " format, __VA_ARGS__)
#define slurm_log_error(format, ...) slurm_error("job_submit/corehour: " format, __VA_ARGS__)

#endif
