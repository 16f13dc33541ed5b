/*
 * A month as it stands: its usage in canonical form, and its row (SPEC 8.2). For readers; see ledger.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/base/buffer.h"
#include "ledger/core/rate.h"
#include "ledger/map.h"
#include "ledger/reader.h"

enum { PART_BYTES = 64 * 1024, LINE_BYTES = 4096 };

#define HEADER                                                                        \
    "day,dims,project,member,cluster,card,partition,qos,gpu_model,path,kind,outcome," \
    "period,used_mcs,mgs,waived_mcs,runs,unfrozen_mcs,cost_micro,currency\r\n"

/* What a dims_no stands for, as it is written. */
struct dims_columns {
    int64_t price_micro; /* -1: none */
    char currency[8];
    char text[]; /* dims to path */
};

struct canonical {
    struct ledger_reader *reader;
    ledger_bytes_fn bytes;
    void *context;
    struct period sums;
    struct digest_state state;
    struct buffer part;
    struct map dims; /* dims_no -> struct dims_columns */
    enum error_code code;
    struct error *err;
};

static bool fail(struct canonical *canonical, enum error_code code)
{
    canonical->code = code;
    return false;
}

/* Hand on what is written. False when no more is wanted, or after a failure. */
static bool flush(struct canonical *canonical)
{
    struct buffer *part = &canonical->part;
    if (buffer_failure(part) != ERR_OK) {
        return fail(canonical, error_set(canonical->err, ERR_UNAVAILABLE, "out of memory"));
    }
    digest_update(&canonical->state, part->bytes, part->length_bytes);
    bool wanted = canonical->bytes == NULL ||
                  canonical->bytes(canonical->context, part->bytes, part->length_bytes);
    buffer_reset(part);
    return wanted;
}

static void write_dims(struct buffer *to, const struct dims *dims)
{
    (void)buffer_printf(to, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
                        dims->dims_no, dims->project_no, dims->member_no, dims->cluster_no,
                        dims->card_version);
    (void)buffer_append_csv(to, dims->partition);
    (void)buffer_append_byte(to, ',');
    (void)buffer_append_csv(to, dims->qos);
    (void)buffer_append_byte(to, ',');
    (void)buffer_append_csv(to, dims->gpu_model);
    (void)buffer_append_byte(to, ',');
    for (int32_t i = 0; i < dims->path_count; i++) {
        (void)buffer_printf(to, "%s%" PRId64, i > 0 ? ">" : "", dims->path[i].node_no);
    }
}

/* The version that the dimensions were priced by; without one there is no price. */
static bool look_up_price(struct canonical *canonical,
                          const struct dims *dims,
                          struct rate_version *version)
{
    bool found = false;
    *version = (struct rate_version){.cluster_no = dims->cluster_no, .version = dims->card_version};
    enum error_code code =
        reader_look(canonical->reader, RECORD_RATE_VERSION, version, &found, canonical->err);
    version->price_micro = found ? version->price_micro : -1;
    return code == ERR_OK || fail(canonical, code);
}

static struct dims_columns *make_columns(struct canonical *canonical, int64_t dims_no)
{
    struct dims dims = {.dims_no = dims_no};
    struct rate_version version;
    struct buffer text;
    enum error_code code =
        reader_get(canonical->reader, RECORD_DIMS, &dims, "such dimensions", canonical->err);
    if (code != ERR_OK || !look_up_price(canonical, &dims, &version)) {
        canonical->code = code != ERR_OK ? code : canonical->code;
        return NULL;
    }
    buffer_init(&text, LINE_BYTES);
    write_dims(&text, &dims);
    struct dims_columns *columns = calloc(1, sizeof *columns + text.length_bytes + 1);
    if (columns != NULL && buffer_failure(&text) == ERR_OK) {
        memcpy(columns->text, buffer_text(&text), text.length_bytes + 1);
        columns->price_micro = version.price_micro;
        row_text(columns->currency, sizeof columns->currency,
                 version.price_micro >= 0 ? version.currency : "");
    }
    bool kept = columns != NULL && buffer_failure(&text) == ERR_OK &&
                map_add(&canonical->dims, dims_no, columns);
    buffer_fini(&text);
    if (!kept) {
        free(columns);
        (void)fail(canonical, error_set(canonical->err, ERR_UNAVAILABLE, "out of memory"));
        return NULL;
    }
    return columns;
}

static bool add_sums(struct canonical *canonical, const struct usage *usage)
{
    struct period *sums = &canonical->sums;
    sums->row_count++;
    bool fits = i64_add(sums->used_mcs, usage->used_mcs, &sums->used_mcs) &&
                i64_add(sums->mgs, usage->mgs, &sums->mgs) &&
                i64_add(sums->waived_mcs, usage->waived_mcs, &sums->waived_mcs) &&
                i64_add(sums->runs, usage->runs, &sums->runs);
    return fits || fail(canonical, error_set(canonical->err, ERR_INTERNAL,
                                             "the sums of the month leave what can be counted"));
}

static bool add_row(void *context, const void *record)
{
    struct canonical *canonical = context;
    const struct usage *usage = record;
    const struct dims_columns *columns = map_get(&canonical->dims, usage->dims_no);
    if (columns == NULL) {
        columns = make_columns(canonical, usage->dims_no);
    }
    if (columns == NULL || !add_sums(canonical, usage)) {
        return false;
    }
    char day[CALENDAR_DAY_TEXT_BYTES];
    char period[CALENDAR_MONTH_TEXT_BYTES];
    struct buffer *part = &canonical->part;
    (void)buffer_printf(part,
                        "%s,%s,%" PRId64 ",%" PRId64 ",%s,%" PRId64 ",%" PRId64 ",%" PRId64
                        ",%" PRId64 ",%" PRId64 ",",
                        calendar_format_day((int32_t)usage->day, day), columns->text, usage->kind,
                        usage->outcome, calendar_format_month((int32_t)usage->period, period),
                        usage->used_mcs, usage->mgs, usage->waived_mcs, usage->runs,
                        usage->unfrozen_mcs);
    if (columns->price_micro >= 0) {
        (void)buffer_printf(part, "%" PRId64,
                            rate_cost_micro(usage->used_mcs, columns->price_micro));
    }
    (void)buffer_printf(part, ",%s\r\n", columns->currency);
    return part->length_bytes < PART_BYTES || flush(canonical);
}

enum error_code ledger_period_rows(struct ledger_reader *reader,
                                   struct period *period,
                                   ledger_bytes_fn bytes,
                                   void *context,
                                   struct error *err)
{
    struct canonical canonical = {.reader = reader, .bytes = bytes, .context = context, .err = err};
    const struct select_args args = {.n = {period->root_no, period->month, period->month}};
    digest_init(&canonical.state);
    buffer_init(&canonical.part, PART_BYTES + LINE_BYTES);
    map_init(&canonical.dims, free);
    (void)buffer_append_text(&canonical.part, HEADER);
    enum error_code code =
        store_select(reader->store, SELECT_USAGE, &args, add_row, &canonical, err);
    if (code == ERR_OK && canonical.code == ERR_OK) {
        (void)flush(&canonical);
    }
    code = code == ERR_OK ? canonical.code : code;
    buffer_fini(&canonical.part);
    map_fini(&canonical.dims);
    if (code == ERR_OK) {
        period->row_count = canonical.sums.row_count;
        period->used_mcs = canonical.sums.used_mcs;
        period->mgs = canonical.sums.mgs;
        period->waived_mcs = canonical.sums.waived_mcs;
        period->runs = canonical.sums.runs;
        period->digest = digest_finish(&canonical.state);
    }
    return code;
}

enum error_code ledger_read_period(struct ledger_reader *reader,
                                   int64_t root_no,
                                   int64_t month,
                                   struct period *ret_period,
                                   struct error *err)
{
    struct period period = {.root_no = root_no, .month = month};
    enum error_code code = reader_get(reader, RECORD_PERIOD, &period, "such closed month", err);
    if (code == ERR_OK) {
        *ret_period = period;
    }
    return code;
}
