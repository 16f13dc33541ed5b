/* SPDX-License-Identifier: MIT
 *
 * See tres.h. */
#include "clients/slurm/agent/tres.h"

#include <ctype.h>
#include <string.h>

/* Digits at the front; -1 without, or beyond 10^15. */
static int64_t digits_read(const char **at, const char *end)
{
    int64_t value = 0;
    int digits = 0;
    while (*at < end && isdigit((unsigned char)**at) && digits < 16) {
        value = value * 10 + (**at - '0');
        (*at)++;
        digits++;
    }
    return digits == 0 || digits > 15 ? -1 : value;
}

static bool count_read(const char *at, const char *end, int64_t *ret_count)
{
    const int64_t value = digits_read(&at, end);
    if (value < 0 || at != end) {
        return false;
    }
    *ret_count = value;
    return true;
}

/* "8000M", "2.50G", "1T"; without a letter MiB. Rounded up to whole MiB. */
static bool memory_read(const char *at, const char *end, int64_t *ret_mib)
{
    static const char letters[] = "KMGTP";
    int64_t hundredths = digits_read(&at, end);
    if (hundredths < 0 || hundredths > INT64_C(1000000000)) {
        return false;
    }
    hundredths *= 100;
    if (at < end && *at == '.') {
        at++;
        for (int64_t place = 10; at < end && isdigit((unsigned char)*at); at++, place /= 10) {
            hundredths += place * (*at - '0');
        }
    }
    const char *letter = at < end ? strchr(letters, *at) : letters + 1;
    if (letter == NULL || end - at > 1) {
        return false;
    }
    int64_t power = letter - letters;
    if (power == 0) {
        *ret_mib = (hundredths + 102399) / 102400;
        return true;
    }
    for (; power > 1; power--) {
        hundredths *= 1024;
    }
    *ret_mib = (hundredths + 99) / 100;
    return hundredths >= 0;
}

static char lower(char c)
{
    return (char)tolower((unsigned char)c);
}

static bool model_add(struct tres *tres, const char *name, const char *end, int64_t count)
{
    const size_t bytes = (size_t)(end - name);
    if (bytes == 0 || bytes >= TRES_MODEL_BYTES || tres->model_count == TRES_MODELS_MAX) {
        return false;
    }
    for (size_t i = 0; i < bytes; i++) {
        tres->models[tres->model_count].name[i] = lower(name[i]);
    }
    tres->models[tres->model_count++].count = count;
    return true;
}

static bool starts_with(const char *text, const char *end, const char *word)
{
    const size_t bytes = strlen(word);
    return (size_t)(end - text) >= bytes && memcmp(text, word, bytes) == 0;
}

static bool item_read(const char *item, const char *end, struct tres *tres)
{
    static const char typed[] = "gres/gpu:";
    const char *equals = memchr(item, '=', (size_t)(end - item));
    if (equals == NULL) {
        return item == end;
    }
    if (starts_with(item, end, "cpu=")) {
        return count_read(equals + 1, end, &tres->cores);
    }
    if (starts_with(item, end, "mem=")) {
        return memory_read(equals + 1, end, &tres->memory_mib);
    }
    if (starts_with(item, end, "gres/gpu=")) {
        return count_read(equals + 1, end, &tres->gpus);
    }
    if (!starts_with(item, end, typed)) {
        return true;
    }
    int64_t count;
    return count_read(equals + 1, end, &count) &&
           model_add(tres, item + sizeof typed - 1, equals, count);
}

bool tres_parse(const char *text, struct tres *ret_tres)
{
    struct tres tres = {0};
    const char *at = text;
    while (*at != '\0') {
        const char *end = at + strcspn(at, ",");
        if (!item_read(at, end, &tres)) {
            return false;
        }
        at = *end == ',' ? end + 1 : end;
    }
    int64_t typed = 0;
    for (int i = 0; i < tres.model_count; i++) {
        typed += tres.models[i].count;
    }
    tres.gpus = tres.gpus > typed ? tres.gpus : typed;
    *ret_tres = tres;
    return true;
}

json_t *tres_json(const struct tres *tres)
{
    json_t *gpus = json_array();
    int64_t rest = tres->gpus;
    int failed = 0;
    for (int i = 0; i < tres->model_count; i++) {
        if (tres->models[i].count > 0) {
            failed |=
                json_array_append_new(gpus, json_pack("{s:s, s:I}", "model", tres->models[i].name,
                                                      "count", (json_int_t)tres->models[i].count));
            rest -= tres->models[i].count;
        }
    }
    if (rest > 0) {
        failed |= json_array_append_new(gpus, json_pack("{s:I}", "count", (json_int_t)rest));
    }
    if (failed != 0) {
        json_decref(gpus);
        return NULL;
    }
    return json_pack("{s:I, s:I, s:o}", "cores", (json_int_t)tres->cores, "memory_mib",
                     (json_int_t)tres->memory_mib, "gpus", gpus);
}
