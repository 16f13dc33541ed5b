/* The field tables of rate cards: a version, its rows, the GPUs of a row. */
#include "server/decode_rates.h"

#include <string.h>

#include "ledger/base/text.h"
#include "ledger/core/command.h"
#include "server/decode_shapes.h"

enum { PERMILLE_ONE = 1000 }; /* of a row that multiplies by nothing */

#define PRICE(member) DECODE_AT(struct rate_gpu, member)

static const struct decode_field gpu_price_fields[] = {
    {.name = "mcores",
     .kind = DECODE_INTEGER,
     PRICE(mcores),
     .max = LIMIT_RATE_MCORES,
     .required = true},
    {.name = "memory_mib",
     .kind = DECODE_INTEGER,
     PRICE(memory_mib),
     .min = 1,
     .max = LIMIT_MEMORY_MIB,
     .null_is_absent = true},
};

static const struct decode_table gpu_price_table = {DECODE_ROWS(gpu_price_fields)};

/* One model and its price into the next place of the row. */
static enum error_code decode_gpu_price(const char *model,
                                        const json_t *value,
                                        struct command_rate_row *row,
                                        const struct decode_path *gpus,
                                        struct error *err)
{
    const struct decode_path path = {.outer = gpus, .name = model};
    if (!text_is_name(model) || row->row.gpu_count >= RECORD_RATE_MODELS) {
        return decode_refuse(err, ERR_INVALID_FIELD, &path, "not one of at most %d models",
                             RECORD_RATE_MODELS);
    }
    const int32_t at = row->row.gpu_count++;
    memcpy(row->models[at], model, strlen(model) + 1);
    decode_lower_case(row->models[at]);
    for (int32_t i = 0; i < at; i++) {
        if (strcmp(row->models[i], row->models[at]) == 0) {
            return decode_refuse(err, ERR_INVALID_FIELD, &path,
                                 "given twice, in upper and lower case");
        }
    }
    return decode_object(value, &gpu_price_table, &row->row.gpus[at], &path, err);
}

static enum error_code decode_gpu_prices(const json_t *value,
                                         void *place,
                                         const struct decode_path *path,
                                         struct error *err)
{
    struct command_rate_row *row = place; /* the row's offset is 0 */
    if (!json_is_object(value)) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not an object of prices by model");
    }
    json_t *models = (json_t *)(uintptr_t)value; /* iterators change nothing */
    for (void *at = json_object_iter(models); at != NULL; at = json_object_iter_next(models, at)) {
        const enum error_code code =
            decode_gpu_price(json_object_iter_key(at), json_object_iter_value(at), row, path, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    return ERR_OK;
}

#define RATE(member) DECODE_AT(struct command_rate_row, row.member)

static const struct decode_field rate_row_fields[] = {
    {.name = "partition", .kind = DECODE_NAME, RATE(partition), .null_is_absent = true},
    {.name = "qos", .kind = DECODE_NAME, RATE(qos), .null_is_absent = true},
    {.name = "permille", .kind = DECODE_INTEGER, RATE(permille), .max = LIMIT_PERMILLE},
    {.name = "core_mcores", .kind = DECODE_INTEGER, RATE(core_mcores), .max = LIMIT_RATE_MCORES},
    {.name = "gib_mcores", .kind = DECODE_INTEGER, RATE(gib_mcores), .max = LIMIT_RATE_MCORES},
    {.name = "gpus", .kind = DECODE_OTHER, .other = decode_gpu_prices},
    {.name = "gpu_default_mcores",
     .kind = DECODE_INTEGER,
     RATE(gpu_default_mcores),
     .max = LIMIT_RATE_MCORES,
     .null_is_absent = true},
};

static const struct decode_table rate_row_table = {DECODE_ROWS(rate_row_fields)};

static enum error_code decode_rate_rows(const json_t *value,
                                        void *place,
                                        const struct decode_path *path,
                                        struct error *err)
{
    struct command_with_rates *command = place; /* the row's offset is 0 */
    struct command_rates *rates = &command->rates;
    const size_t count = json_is_array(value) ? json_array_size(value) : 0;
    if (count < 1 || count > RECORD_RATE_ROWS) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not an array of 1 to %d rows",
                             RECORD_RATE_ROWS);
    }
    for (size_t i = 0; i < count; i++) {
        const struct decode_path entry = {.outer = path, .index = i};
        struct command_rate_row *row = &rates->rows[i];
        row->row.row = (int64_t)i;
        row->row.permille = PERMILLE_ONE;
        row->row.gpu_default_mcores = -1;
        const enum error_code code =
            decode_object(json_array_get(value, i), &rate_row_table, row, &entry, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    rates->version.row_count = (int32_t)count;
    return ERR_OK;
}

/* "0.12" -> 120000: digits, optionally a point and 1 to 6 digits. False for another form. */
static bool parse_micro(const char *text, int64_t *ret_micro)
{
    int64_t micro = 0;
    int decimals = -1; /* before the point */
    int digits = 0;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '.' && decimals < 0 && digits > 0) {
            decimals = 0;
            continue;
        }
        if (*at < '0' || *at > '9' || ++digits > 15 || decimals >= 6) {
            return false;
        }
        micro = micro * 10 + (*at - '0');
        decimals += decimals >= 0;
    }
    if (digits == 0 || decimals == 0) {
        return false;
    }
    for (int i = decimals < 0 ? 0 : decimals; i < 6; i++) {
        micro *= 10;
    }
    *ret_micro = micro;
    return micro <= INT64_C(1000000000) * 1000000;
}

static enum error_code decode_price(const json_t *value,
                                    void *place,
                                    const struct decode_path *path,
                                    struct error *err)
{
    const char *text = NULL;
    const enum error_code code = decode_text(value, path, &text, err);
    if (code != ERR_OK) {
        return code;
    }
    if (!parse_micro(text, place)) {
        return decode_refuse(err, ERR_INVALID_FIELD, path,
                             "not a decimal text of at most 6 decimals such as \"0.12\"");
    }
    return ERR_OK;
}

static enum error_code decode_currency(const json_t *value,
                                       void *place,
                                       const struct decode_path *path,
                                       struct error *err)
{
    const char *text = NULL;
    const enum error_code code = decode_text(value, path, &text, err);
    if (code != ERR_OK) {
        return code;
    }
    if (strlen(text) != LIMIT_CURRENCY_BYTES ||
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != LIMIT_CURRENCY_BYTES) {
        return decode_refuse(err, ERR_INVALID_FIELD, path, "not three capital letters");
    }
    memcpy(place, text, LIMIT_CURRENCY_BYTES + 1);
    return ERR_OK;
}

#define VERSION(member) DECODE_AT(struct command_with_rates, rates.version.member)

static const struct decode_field rates_fields[] = {
    {.name = "effective_from", .kind = DECODE_TIME, VERSION(effective_from_s), .required = true},
    {.name = "combine", .kind = DECODE_CHOICE, VERSION(combine), .choices = choices_combine},
    {.name = "price_per_core_hour",
     .kind = DECODE_OTHER,
     VERSION(price_micro),
     .other = decode_price,
     .null_is_absent = true},
    {.name = "currency",
     .kind = DECODE_OTHER,
     VERSION(currency),
     .other = decode_currency,
     .null_is_absent = true},
    {.name = "rows", .kind = DECODE_OTHER, .required = true, .other = decode_rate_rows},
};

static const struct decode_table rates_table = {DECODE_ROWS(rates_fields)};

enum error_code decode_rates(const json_t *body, struct command *command, struct error *err)
{
    struct command_with_rates *with_rates = (struct command_with_rates *)(void *)command;
    struct rate_version *version = &with_rates->rates.version;
    version->price_micro = -1;
    const enum error_code code = decode_object(body, &rates_table, with_rates, NULL, err);
    if (code != ERR_OK) {
        return code;
    }
    if (version->price_micro >= 0 && version->currency[0] == '\0') {
        return error_set_field(err, ERR_INVALID_FIELD, "currency", "required with a price");
    }
    return ERR_OK;
}
