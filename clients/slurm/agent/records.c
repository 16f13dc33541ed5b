/* SPDX-License-Identifier: MIT
 *
 * See records.h. */
#include "clients/slurm/agent/records.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/slurm/agent/columns.h"
#include "clients/slurm/agent/program.h"

enum {
    AT_RAW,
    AT_JOB,
    AT_STATE,
    AT_SUBMIT,
    AT_START,
    AT_END,
    AT_ELAPSED,
    AT_SUSPENDED,
    AT_TRES,
    AT_DB_INDEX,
    AT_ACCOUNT,
    AT_USER,
    AT_PARTITION,
    AT_QOS,
    AT_NODES,
    AT_ADMIN_COMMENT,
    AT__COUNT
};

const char records_columns[] =
    "JobIDRaw,JobID,State,Submit,Start,End,ElapsedRaw,Suspended,AllocTRES,DBIndex,"
    "Account,User,Partition,QOS,NodeList,AdminComment";

/* How many ids one call of sacct asks for. */
enum { IDS_PER_CALL = 500 };

/*
 * The record of a job that was resized while it ran shows the job's first start once more; it is its own from the time at
 * which it was submitted, which is when the one before ends. Else the same seconds would be charged twice.
 */
static void start_correct(struct record *record)
{
    if (record->start_s <= 0 || record->start_s >= record->submit_s) {
        return;
    }
    const int64_t length_s =
        record->end_s > record->submit_s ? record->end_s - record->submit_s : 0;
    record->start_s = record->submit_s;
    record->end_s = record->end_s > 0 ? record->submit_s + length_s : record->end_s;
    record->suspended_s = record->suspended_s < length_s ? record->suspended_s : length_s;
}

static bool row_read(char **columns, struct record *record)
{
    struct columns_job id;
    const int64_t raw = columns_number(columns[AT_RAW], -1);
    const int64_t db_index = columns_number(columns[AT_DB_INDEX], -1);
    if (raw <= 0 || raw >= UINT32_MAX || db_index < 0) {
        return false;
    }
    record->raw_id = (uint32_t)raw;
    record->db_index = (uint64_t)db_index;
    if (!columns_job_read(columns[AT_JOB], record->raw_id, &id)) {
        return false;
    }
    record->array_id = id.array_id;
    record->is_array = id.is_array;
    record->indexes = id.indexes;
    record->state = columns[AT_STATE];
    record->fate = fate_of(record->state);
    record->submit_s = columns_number(columns[AT_SUBMIT], 0);
    record->start_s = columns_number(columns[AT_START], 0);
    record->end_s = columns_number(columns[AT_END], 0);
    record->elapsed_s = columns_number(columns[AT_ELAPSED], 0);
    record->suspended_s = columns_duration(columns[AT_SUSPENDED], 0);
    start_correct(record);
    record->tres = columns[AT_TRES];
    record->nodes = columns[AT_NODES];
    columns_copy(record->account, sizeof record->account, columns[AT_ACCOUNT]);
    columns_copy(record->user, sizeof record->user, columns[AT_USER]);
    columns_copy(record->partition, sizeof record->partition, columns[AT_PARTITION]);
    columns_copy(record->qos, sizeof record->qos, columns[AT_QOS]);
    record->has_comment = columns[AT_ADMIN_COMMENT][0] != '\0';
    record->is_ours = token_parse(columns[AT_ADMIN_COMMENT], &record->token);
    return true;
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int rows_compare(const void *a, const void *b)
{
    const struct record *x = a;
    const struct record *y = b;
    int by = order(x->raw_id, y->raw_id);
    by = by != 0 ? by : order((uint64_t)x->submit_s, (uint64_t)y->submit_s);
    return by != 0 ? by : order(x->db_index, y->db_index);
}

bool records_parse(char *text, struct records *ret_records)
{
    struct records records = {.text = text,
                              .rows = calloc(columns_lines(text), sizeof(struct record))};
    char *columns[AT__COUNT];
    char *at = text;
    if (records.rows == NULL) {
        free(text);
        return false;
    }
    for (int found; (found = columns_next(&at, AT__COUNT, columns)) != 0;) {
        struct record *record = &records.rows[records.count];
        *record = (struct record){0};
        if (found > 0 && row_read(columns, record)) {
            records.count++;
        } else {
            records.strange++;
        }
    }
    qsort(records.rows, records.count, sizeof records.rows[0], rows_compare);
    *ret_records = records;
    return true;
}

static bool sacct_run(const char *const argv[], char **ret_text, char *ret_detail)
{
    struct program_output output;
    if (program_run(argv, 120000, &output)) {
        *ret_text = output.text;
        return true;
    }
    (void)snprintf(ret_detail, PROGRAM_DETAIL_BYTES, "%s", output.detail);
    program_output_fini(&output);
    return false;
}

/* One call's output, appended to *text. */
static bool ids_append(const char *command, const char *ids, char **text, char *ret_detail)
{
    const char *const argv[] = {command,         "-n", "-X", "-P", "-D", "-a", "-j", ids, "-o",
                                records_columns, NULL};
    char *more = NULL;
    if (!sacct_run(argv, &more, ret_detail)) {
        return false;
    }
    if (*text == NULL) {
        *text = more;
        return true;
    }
    char *both = NULL;
    const int made = asprintf(&both, "%s%s", *text, more);
    free(more);
    if (made < 0) {
        (void)snprintf(ret_detail, PROGRAM_DETAIL_BYTES, "out of memory");
        return false;
    }
    free(*text);
    *text = both;
    return true;
}

bool records_read_ids(const char *command,
                      const uint32_t *ids,
                      size_t count,
                      struct records *ret_records,
                      char *ret_detail)
{
    char *text = NULL;
    for (size_t from = 0; from < count; from += IDS_PER_CALL) {
        char list[IDS_PER_CALL * 11 + 1];
        size_t bytes = 0;
        for (size_t i = from; i < count && i < from + IDS_PER_CALL; i++) {
            bytes += (size_t)snprintf(list + bytes, sizeof list - bytes, "%s%" PRIu32,
                                      i == from ? "" : ",", ids[i]);
        }
        if (!ids_append(command, list, &text, ret_detail)) {
            free(text);
            return false;
        }
    }
    return text != NULL && records_parse(text, ret_records);
}

bool records_read_since(const char *command,
                        int64_t since_s,
                        struct records *ret_records,
                        char *ret_detail)
{
    char since[32];
    char *text = NULL;
    (void)snprintf(since, sizeof since, "uts%" PRId64, since_s);
    const char *const argv[] = {command, "-n",  "-X", "-P",  "-D", "-a",
                                "-S",    since, "-E", "now", "-o", records_columns,
                                NULL};
    return sacct_run(argv, &text, ret_detail) && records_parse(text, ret_records);
}

void records_fini(struct records *records)
{
    free(records->rows);
    free(records->text);
    *records = (struct records){0};
}

bool record_has_ended(const struct record *record)
{
    return record->fate.kind == FATE_ENDED && record->end_s > 0;
}

bool record_has_run(const struct record *record)
{
    return record->tres[0] != '\0' && record->start_s > 0;
}
