/* From the text of a command line to the value of a request: see kinds.h. */
#include "clients/cli/kinds.h"

#include <string.h>

#include "clients/units.h"

#define ITEM_BYTES 256

static enum corehour_result give(json_t *value, json_t **ret_value)
{
    if (value == NULL) {
        return COREHOUR_MEMORY;
    }
    *ret_value = value;
    return COREHOUR_OK;
}

static enum corehour_result text_convert(const char *text, int64_t now_s, json_t **ret_value)
{
    (void)now_s;
    json_t *value = json_string(text); /* fails on broken UTF-8 too */
    if (value == NULL) {
        return COREHOUR_INVALID;
    }
    return give(value, ret_value);
}

static enum corehour_result flag_convert(const char *text, int64_t now_s, json_t **ret_value)
{
    (void)text;
    (void)now_s;
    return give(json_true(), ret_value);
}

static enum corehour_result yes_no_convert(const char *text, int64_t now_s, json_t **ret_value)
{
    (void)now_s;
    if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0) {
        return COREHOUR_INVALID;
    }
    return give(json_boolean(*text == 'y'), ret_value);
}

static enum corehour_result count_convert(const char *text, int64_t now_s, json_t **ret_value)
{
    (void)now_s;
    size_t length = strspn(text, "0123456789");
    if (length == 0 || text[length] != '\0') {
        return COREHOUR_INVALID;
    }
    if (length > 15) {
        return COREHOUR_RANGE;
    }
    json_int_t count = 0;
    for (const char *c = text; *c != '\0'; c++) {
        count = count * 10 + (*c - '0');
    }
    return give(json_integer(count), ret_value);
}

static enum corehour_result duration_convert(const char *text, int64_t now_s, json_t **ret_value)
{
    (void)now_s;
    int64_t seconds;
    enum corehour_result result = corehour_duration_parse(text, &seconds);
    return result != COREHOUR_OK ? result : give(json_integer(seconds), ret_value);
}

static enum corehour_result amount_convert(const char *text, int64_t now_s, json_t **ret_value)
{
    (void)now_s;
    enum corehour_result result = corehour_amount_check(text);
    return result != COREHOUR_OK ? result : give(json_string(text), ret_value);
}

static enum corehour_result time_convert(const char *text, int64_t now_s, json_t **ret_value)
{
    int64_t time_s;
    char written[COREHOUR_UNITS_TEXT_BYTES];
    enum corehour_result result = corehour_time_parse(text, now_s, &time_s);
    if (result != COREHOUR_OK) {
        return result;
    }
    corehour_time_format(time_s, written);
    return give(json_string(written), ret_value);
}

static enum corehour_result memory_convert(const char *text, int64_t now_s, json_t **ret_value)
{
    (void)now_s;
    int64_t mib;
    enum corehour_result result = corehour_memory_parse(text, &mib);
    return result != COREHOUR_OK ? result : give(json_integer(mib), ret_value);
}

/* Cuts the next item before `separator` out of *cursor. False at the end; too long counts as broken. */
static bool item_next(const char **cursor, char separator, char ret_item[ITEM_BYTES], bool *broken)
{
    if (*cursor == NULL) {
        return false;
    }
    const char *end = strchr(*cursor, separator);
    size_t length = end == NULL ? strlen(*cursor) : (size_t)(end - *cursor);
    *broken = length == 0 || length >= ITEM_BYTES;
    if (!*broken) {
        memcpy(ret_item, *cursor, length);
        ret_item[length] = '\0';
    }
    *cursor = end == NULL ? NULL : end + 1;
    return true;
}

static enum corehour_result list_convert(const char *text, int64_t now_s, json_t **ret_value)
{
    (void)now_s;
    if (strcmp(text, "all") == 0) {
        return give(json_null(), ret_value);
    }
    json_t *list = json_array();
    char item[ITEM_BYTES];
    bool broken = list == NULL;
    for (const char *cursor = text; !broken && item_next(&cursor, ',', item, &broken);) {
        broken = broken || json_array_append_new(list, json_string(item)) != 0;
    }
    if (!broken) {
        return give(list, ret_value);
    }
    json_decref(list);
    return COREHOUR_INVALID;
}

/* "cores=30%" and "memory=12G" of one GPU's share. */
static enum corehour_result gpu_share_take(const char *part, json_t *gpu)
{
    char number[ITEM_BYTES];
    json_t *value = NULL;
    enum corehour_result result = COREHOUR_INVALID;
    const char *field = "memory_mib";
    if (strncmp(part, "memory=", 7) == 0) {
        result = memory_convert(part + 7, 0, &value);
    } else if (strncmp(part, "cores=", 6) == 0) {
        field = "cores_percent";
        size_t length = strcspn(part + 6, "%");
        if (part[6 + length] != '\0' && part[6 + length + 1] != '\0') {
            return COREHOUR_INVALID;
        }
        memcpy(number, part + 6, length);
        number[length] = '\0';
        result = count_convert(number, 0, &value);
    }
    if (result != COREHOUR_OK) {
        return result;
    }
    return json_object_set_new(gpu, field, value) == 0 ? COREHOUR_OK : COREHOUR_MEMORY;
}

/* "[MODEL:]COUNT[:cores=30%][:memory=12G]" into an object. */
static enum corehour_result gpu_take(const char *text, json_t *gpu)
{
    char part[ITEM_BYTES];
    bool broken = false;
    const char *cursor = text;
    if (text[strspn(text, "0123456789")] != '\0' && text[strspn(text, "0123456789")] != ':') {
        if (!item_next(&cursor, ':', part, &broken) || broken ||
            json_object_set_new(gpu, "model", json_string(part)) != 0) {
            return COREHOUR_INVALID;
        }
    }
    json_t *count = NULL;
    if (!item_next(&cursor, ':', part, &broken) || broken ||
        count_convert(part, 0, &count) != COREHOUR_OK ||
        json_object_set_new(gpu, "count", count) != 0) {
        return COREHOUR_INVALID;
    }
    enum corehour_result result = COREHOUR_OK;
    while (result == COREHOUR_OK && item_next(&cursor, ':', part, &broken)) {
        result = broken ? COREHOUR_INVALID : gpu_share_take(part, gpu);
    }
    return result;
}

static enum corehour_result gpus_convert(const char *text, int64_t now_s, json_t **ret_value)
{
    (void)now_s;
    json_t *list = json_array();
    char item[ITEM_BYTES];
    bool broken = list == NULL;
    for (const char *cursor = text; !broken && item_next(&cursor, ',', item, &broken);) {
        json_t *gpu = json_object();
        broken = broken || gpu == NULL || gpu_take(item, gpu) != COREHOUR_OK ||
                 json_array_append(list, gpu) != 0;
        json_decref(gpu);
    }
    if (!broken) {
        return give(list, ret_value);
    }
    json_decref(list);
    return COREHOUR_INVALID;
}

static const struct kind {
    enum corehour_result (*convert)(const char *text, int64_t now_s, json_t **ret_value);
    const char *metavar;
    const char *expects;
} kinds[CLI_KINDS] = {
    [CLI_TEXT] = {text_convert, "TEXT", "UTF-8 text"},
    [CLI_FLAG] = {flag_convert, NULL, "no value"},
    [CLI_YES_NO] = {yes_no_convert, "yes|no", "yes or no"},
    [CLI_COUNT] = {count_convert, "N", "a whole number of at most 15 digits, 0 or more"},
    [CLI_DURATION] = {duration_convert, "DURATION",
                      "a duration: seconds (300), 5m, 1h30m, or Slurm's 1:30:00 and 2-12:00:00"},
    [CLI_AMOUNT] = {amount_convert, "CORE_HOURS",
                    "core-hours: digits with at most 5 decimals, such as 500 or 0.10"},
    [CLI_TIME] = {time_convert, "TIME",
                  "a time: now, -5m, 2026-12-01, 2026-12-01T10:00:00+08:00 or @1796058251"},
    [CLI_MEMORY] = {memory_convert, "SIZE", "memory: MiB (65536) or 512M, 64G, 1T"},
    [CLI_GPUS] =
        {gpus_convert, "GPUS",
         "GPUs: [MODEL:]COUNT, such as a100:1 or 2, a share as a100:1:cores=30%:memory=12G, "
         "several with commas"},
    [CLI_LIST] = {list_convert, "LIST", "names with commas between them, or \"all\""},
};

enum corehour_result kind_convert(enum cli_kind kind,
                                  const char *text,
                                  int64_t now_s,
                                  json_t **ret_value)
{
    return kinds[kind].convert(text, now_s, ret_value);
}

const char *kind_expects(enum cli_kind kind)
{
    return kinds[kind].expects;
}

const char *kind_metavar(enum cli_kind kind)
{
    return kinds[kind].metavar;
}
