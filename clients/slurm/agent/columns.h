/* SPDX-License-Identifier: MIT
 *
 * Rows of columns with '|' between them, as squeue -O "Field:|" and sacct -P print them. Pure.
 */
#ifndef COREHOUR_CLIENTS_SLURM_AGENT_COLUMNS_H
#define COREHOUR_CLIENTS_SLURM_AGENT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COLUMNS_MAX = 24 };

/* How many lines a text has, the last one without an end included: at most so many rows. */
size_t columns_lines(const char *text);

/*
 * Cuts the line at `*at` into its columns, in place: each becomes a NUL-terminated text. A '|' at the line's end
 * closes the last column.
 *
 * at: moved behind the line. count: how many columns a row has, 1 to COLUMNS_MAX. ret_columns: borrowed texts.
 * Returns 1 for a row, 0 at the end of the text, -1 for a line of another number of columns (passed over).
 */
int columns_next(char **at, size_t count, char **ret_columns);

/* A whole number of 0 to 10^15; `otherwise` for any other text ("Unknown", "None", "N/A", ""). */
int64_t columns_number(const char *text, int64_t otherwise);

/*
 * Slurm's duration ("00:01:29", "2-12:30:00", "5:00", seconds behind the last colon) in seconds; a plain number is
 * minutes, as in a time limit. `otherwise` for any other text ("UNLIMITED", "INVALID", "").
 */
int64_t columns_duration(const char *text, int64_t otherwise);

/* A job's number as Slurm prints it. */
struct columns_job {
    uint32_t array_id; /* the array's, of a job that is none its own */
    bool is_array;
    const char *indexes; /* "3", or "5,7%2" of elements that are still together; "" */
};

/*
 * Reads "8_3", "8_[5,7%2]", "9+1" or "5". text: cut in place, and borrowed. raw_id: the number that the job has besides. Returns
 * false for an array without a number.
 */
bool columns_job_read(char *text, uint32_t raw_id, struct columns_job *ret_job);

/* Copies, cut to the room. */
void columns_copy(char *ret_text, size_t size_bytes, const char *text);

#endif
