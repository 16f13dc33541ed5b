/* See focus.h. The rules of the columns are those of the FOCUS specification; tests/server/focus.py checks them. */
#include "server/focus.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/text.h"
#include "server/api.h"
#include "server/decode_shapes.h"
#include "server/export.h"

enum { FOCUS_COLUMNS = 64, TAGS_BYTES = 4096, TEXT_BYTES = 512 };

#define BOTH (FOCUS_1_4 | FOCUS_1_2)
#define UNIT "Core-Hours"

/* Columns that tell rows apart where none are asked for: all there are. */
#define FINEST                                                                                \
    (REPORT_ORGANIZATION | REPORT_PROJECT | REPORT_USER | REPORT_CLUSTER | REPORT_PARTITION | \
     REPORT_QOS | REPORT_GPU_MODEL | REPORT_OUTCOME | REPORT_DAY)

/* A row on its way, and the texts that are made for it. */
struct focus_row {
    const struct report_row *row;
    uint32_t by;
    const char *root;
    char billing_start[TEXT_TIME_BYTES];
    char billing_end[TEXT_TIME_BYTES];
    char charge_start[TEXT_TIME_BYTES];
    char charge_end[TEXT_TIME_BYTES];
    char month[CALENDAR_MONTH_TEXT_BYTES];
    char period[CALENDAR_MONTH_TEXT_BYTES];
    char description[TEXT_BYTES];
    char sku[TEXT_BYTES / 2 + 64];
    char sku_price[TEXT_BYTES];
    char tags[TAGS_BYTES];
};

struct focus {
    const struct usage_report *report;
    uint32_t by;
    struct calendar calendar;
    struct export *export;
    size_t chosen[FOCUS_COLUMNS];
    size_t count;
    struct export_column columns[FOCUS_COLUMNS];
    struct focus_row row;
    enum error_code code;
    struct error *err;
};

/* ---- values; a NULL text is no value */

static struct export_value text(const char *value)
{
    return (struct export_value){.text = value};
}

static struct export_value none(void)
{
    return (struct export_value){.is_null = true};
}

static struct export_value grouped(const struct focus_row *row, uint32_t bit, const char *value)
{
    return (row->by & bit) != 0 ? text(value) : none();
}

static struct export_value cost(const struct focus_row *row)
{
    return (struct export_value){.number = row->row->cost_known ? row->row->cost_micro : 0};
}

static struct export_value quantity(const struct focus_row *row)
{
    return (struct export_value){.number = row->row->used_mcs};
}

static bool has_price(const struct focus_row *row)
{
    return row->row->price_micro >= 0 && row->sku[0] != '\0';
}

static struct export_value price(const struct focus_row *row)
{
    return has_price(row) ? (struct export_value){.number = row->row->price_micro} : none();
}

#define VALUE(name, expression)                                  \
    static struct export_value name(const struct focus_row *row) \
    {                                                            \
        (void)row;                                               \
        return expression;                                       \
    }

VALUE(root_name, text(row->root))
VALUE(currency, text(row->row->cost_known ? row->row->currency : "XXX"))
VALUE(organization_type, text("Organization"))
VALUE(project_type, (row->by & REPORT_PROJECT) != 0 ? text("Project") : none())
VALUE(cluster_type, (row->by & REPORT_CLUSTER) != 0 ? text("Cluster") : none())
VALUE(billing_start, text(row->billing_start))
VALUE(billing_end, text(row->billing_end))
VALUE(charge_start, text(row->charge_start))
VALUE(charge_end, text(row->charge_end))
VALUE(category, text("Usage"))
VALUE(charge_class, row->row->period < row->row->month ? text("Correction") : none())
VALUE(description, text(row->description))
VALUE(frequency, text("Usage-Based"))
VALUE(unit, text(UNIT))
VALUE(host, (row->by & REPORT_CLUSTER) != 0 ? text(row->row->cluster) : text(row->root))
VALUE(pricing_category, text("Standard"))
VALUE(cluster, grouped(row, REPORT_CLUSTER, row->row->cluster))
VALUE(service_category, text("Compute"))
VALUE(service_name, text("Corehour"))
VALUE(service_subcategory, text("Other (Compute)"))
VALUE(sku, row->sku[0] != '\0' ? text(row->sku) : none())
VALUE(sku_meter, row->sku[0] != '\0' ? text("Core Time") : none())
VALUE(sku_price, row->sku_price[0] != '\0' ? text(row->sku_price) : none())
VALUE(project, grouped(row, REPORT_PROJECT, row->row->project))
VALUE(tags, text(row->tags))
VALUE(booked_month, text(row->month))
VALUE(ran_month, text(row->period))
VALUE(kind, text(decode_choice_name(choices_usage_kind, (int)row->row->kind)))
VALUE(used, ((struct export_value){.number = row->row->used_mcs}))
VALUE(waived, ((struct export_value){.number = row->row->waived_mcs}))
VALUE(unfrozen, ((struct export_value){.number = row->row->unfrozen_mcs}))
VALUE(gpu_time, ((struct export_value){.number = row->row->mgs}))
VALUE(runs, ((struct export_value){.number = row->row->runs}))
VALUE(organization, grouped(row, REPORT_ORGANIZATION, row->row->organization))
VALUE(user, grouped(row, REPORT_USER, row->row->user))
VALUE(partition, grouped(row, REPORT_PARTITION, row->row->partition))
VALUE(qos, grouped(row, REPORT_QOS, row->row->qos))
VALUE(gpu_model, grouped(row, REPORT_GPU_MODEL, row->row->gpu_model))
VALUE(outcome, grouped(row, REPORT_OUTCOME, api_outcome_name(row->row->outcome)))

/* ---- the columns, by name; ours behind them */

static const struct focus_column {
    const char *name;
    enum export_kind kind;
    int versions;
    struct export_value (*value)(const struct focus_row *row);
} focus_columns[] = {
    {"BilledCost", EXPORT_MONEY, BOTH, cost},
    {"BillingAccountId", EXPORT_TEXT, BOTH, root_name},
    {"BillingAccountName", EXPORT_TEXT, BOTH, root_name},
    {"BillingAccountType", EXPORT_TEXT, BOTH, organization_type},
    {"BillingCurrency", EXPORT_TEXT, BOTH, currency},
    {"BillingPeriodEnd", EXPORT_TEXT, BOTH, billing_end},
    {"BillingPeriodStart", EXPORT_TEXT, BOTH, billing_start},
    {"ChargeCategory", EXPORT_TEXT, BOTH, category},
    {"ChargeClass", EXPORT_TEXT, BOTH, charge_class},
    {"ChargeDescription", EXPORT_TEXT, BOTH, description},
    {"ChargeFrequency", EXPORT_TEXT, BOTH, frequency},
    {"ChargePeriodEnd", EXPORT_TEXT, BOTH, charge_end},
    {"ChargePeriodStart", EXPORT_TEXT, BOTH, charge_start},
    {"ConsumedQuantity", EXPORT_QUANTITY, BOTH, quantity},
    {"ConsumedUnit", EXPORT_TEXT, BOTH, unit},
    {"ContractedCost", EXPORT_MONEY, BOTH, cost},
    {"ContractedUnitPrice", EXPORT_MONEY, BOTH, price},
    {"EffectiveCost", EXPORT_MONEY, BOTH, cost},
    {"HostProviderName", EXPORT_TEXT, FOCUS_1_4, host},
    {"InvoiceIssuerName", EXPORT_TEXT, BOTH, root_name},
    {"ListCost", EXPORT_MONEY, BOTH, cost},
    {"ListUnitPrice", EXPORT_MONEY, BOTH, price},
    {"PricingCategory", EXPORT_TEXT, BOTH, pricing_category},
    {"PricingQuantity", EXPORT_QUANTITY, BOTH, quantity},
    {"PricingUnit", EXPORT_TEXT, BOTH, unit},
    {"ProviderName", EXPORT_TEXT, FOCUS_1_2, root_name},
    {"PublisherName", EXPORT_TEXT, FOCUS_1_2, root_name},
    {"ResourceId", EXPORT_TEXT, BOTH, cluster},
    {"ResourceName", EXPORT_TEXT, BOTH, cluster},
    {"ResourceType", EXPORT_TEXT, BOTH, cluster_type},
    {"ServiceCategory", EXPORT_TEXT, BOTH, service_category},
    {"ServiceName", EXPORT_TEXT, BOTH, service_name},
    {"ServiceProviderName", EXPORT_TEXT, FOCUS_1_4, root_name},
    {"ServiceSubcategory", EXPORT_TEXT, BOTH, service_subcategory},
    {"SkuId", EXPORT_TEXT, BOTH, sku},
    {"SkuMeter", EXPORT_TEXT, BOTH, sku_meter},
    {"SkuPriceId", EXPORT_TEXT, BOTH, sku_price},
    {"SubAccountId", EXPORT_TEXT, BOTH, project},
    {"SubAccountName", EXPORT_TEXT, BOTH, project},
    {"SubAccountType", EXPORT_TEXT, BOTH, project_type},
    {"Tags", EXPORT_TEXT, BOTH, tags},
    {"x_BookedMonth", EXPORT_TEXT, BOTH, booked_month},
    {"x_Period", EXPORT_TEXT, BOTH, ran_month},
    {"x_Kind", EXPORT_TEXT, BOTH, kind},
    {"x_CoreMilliseconds", EXPORT_INTEGER, BOTH, used},
    {"x_WaivedCoreMilliseconds", EXPORT_INTEGER, BOTH, waived},
    {"x_UnfrozenCoreMilliseconds", EXPORT_INTEGER, BOTH, unfrozen},
    {"x_GpuMilliseconds", EXPORT_INTEGER, BOTH, gpu_time},
    {"x_GpuHours", EXPORT_HOURS, BOTH, gpu_time},
    {"x_Runs", EXPORT_INTEGER, BOTH, runs},
    {"x_Organization", EXPORT_TEXT, BOTH, organization},
    {"x_User", EXPORT_TEXT, BOTH, user},
    {"x_Partition", EXPORT_TEXT, BOTH, partition},
    {"x_Qos", EXPORT_TEXT, BOTH, qos},
    {"x_GpuModel", EXPORT_TEXT, BOTH, gpu_model},
    {"x_Outcome", EXPORT_TEXT, BOTH, outcome},
};

/* ---- texts of a row */

static void format_month(const struct calendar *calendar, int64_t month, char *start, char *end)
{
    (void)text_format_time(calendar_month_start(calendar, (int32_t)month), start);
    (void)text_format_time(calendar_month_start(calendar, (int32_t)month + 1), end);
}

static void format_periods(const struct focus *focus, struct focus_row *row)
{
    const struct calendar *calendar = &focus->calendar;
    format_month(calendar, row->row->month, row->billing_start, row->billing_end);
    format_month(calendar, row->row->period, row->charge_start, row->charge_end);
    if ((row->by & REPORT_DAY) != 0) {
        const int32_t day = (int32_t)row->row->day;
        (void)text_format_time(calendar_day_start(calendar, day), row->charge_start);
        (void)text_format_time(calendar_day_start(calendar, day + 1), row->charge_end);
    }
    (void)calendar_format_month((int32_t)row->row->month, row->month);
    (void)calendar_format_month((int32_t)row->row->period, row->period);
}

/* What is priced: the GPU model, or cores, of a cluster; its price is a version of the cluster's card. */
static void format_sku(struct focus_row *row)
{
    const uint32_t needed = REPORT_CLUSTER | REPORT_GPU_MODEL;
    const char *model = row->row->gpu_model[0] != '\0' ? row->row->gpu_model : "cpu";
    row->sku[0] = '\0';
    row->sku_price[0] = '\0';
    if ((row->by & needed) == needed) {
        (void)snprintf(row->sku, sizeof(row->sku), "%s/%s", row->row->cluster, model);
        (void)snprintf(row->sku_price, sizeof(row->sku_price), "%s/%s/%" PRId64, row->row->cluster,
                       model, row->row->card_version);
    }
    (void)snprintf(row->description, sizeof(row->description), "%s of core time%s%s",
                   decode_choice_name(choices_usage_kind, (int)row->row->kind),
                   row->sku[0] != '\0' ? " on " : "", row->sku);
}

/* Keys that a provider gives carry its name before a slash. */
static void format_tags(struct focus_row *row)
{
    const struct tag {
        uint32_t bit;
        const char *name;
        const char *value;
    } all[] = {
        {REPORT_USER, "corehour/user", row->row->user},
        {REPORT_PARTITION, "corehour/partition", row->row->partition},
        {REPORT_QOS, "corehour/qos", row->row->qos},
    };
    struct buffer buffer;
    struct json_out out;
    buffer_init(&buffer, sizeof(row->tags) - 1);
    json_out_init(&out, &buffer, false);
    json_out_object_open(&out, NULL);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if ((row->by & all[i].bit) != 0 && all[i].value[0] != '\0') {
            json_out_text(&out, all[i].name, all[i].value);
        }
    }
    json_out_object_close(&out);
    (void)snprintf(row->tags, sizeof(row->tags), "%s",
                   buffer_failure(&buffer) == ERR_OK ? buffer_text(&buffer) : "{}");
    buffer_fini(&buffer);
}

static bool write_row(void *context, const struct report_row *row)
{
    struct focus *focus = context;
    struct focus_row *shown = &focus->row;
    struct export_value values[FOCUS_COLUMNS];
    shown->row = row;
    format_periods(focus, shown);
    format_sku(shown);
    format_tags(shown);
    for (size_t i = 0; i < focus->count; i++) {
        values[i] = focus_columns[focus->chosen[i]].value(shown);
        /* A text that is empty is no value. */
        values[i].is_null =
            values[i].is_null || (values[i].text != NULL && values[i].text[0] == '\0');
    }
    focus->code = export_row(focus->export, values, focus->err);
    return focus->code == ERR_OK;
}

static void choose_columns(struct focus *focus)
{
    for (size_t i = 0; i < ARRAY_LEN(focus_columns); i++) {
        const struct focus_column *column = &focus_columns[i];
        if ((column->versions & (int)focus->report->focus_version) != 0) {
            focus->chosen[focus->count] = i;
            focus->columns[focus->count++] =
                (struct export_column){.name = column->name, .kind = column->kind};
        }
    }
}

enum error_code focus_write(struct request *request,
                            struct ledger_reader *reader,
                            const struct usage_report *report,
                            struct error *err)
{
    static_assert(ARRAY_LEN(focus_columns) <= FOCUS_COLUMNS, "room for all columns");
    struct focus focus = {.report = report, .err = err};
    struct report_query query = report->query;
    query.group_by = (query.group_by & FINEST) == 0 ? FINEST : query.group_by;
    query.group_by |= REPORT_CARD;
    focus.row.by = query.group_by;
    focus.row.root = report->root.name;
    choose_columns(&focus);
    enum error_code code = ledger_read_calendar(reader, &report->root, &focus.calendar, err);
    if (code == ERR_OK) {
        const struct export_sheet sheet = {focus.columns, focus.count, -1};
        code = export_begin(request, EXPORT_CSV, &sheet, &focus.export, err);
    }
    if (code != ERR_OK) {
        return code;
    }
    code = ledger_report_usage(reader, &query, write_row, &focus, err);
    code = code == ERR_OK ? focus.code : code;
    if (code != ERR_OK) {
        export_destroy(focus.export);
        return code;
    }
    return export_end(focus.export, err);
}
