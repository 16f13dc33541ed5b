/* SPDX-License-Identifier: MIT
 *
 * See columns.h. */
#include "clients/slurm/agent/columns.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

size_t columns_lines(const char *text)
{
    size_t lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    return lines;
}

int columns_next(char **at, size_t count, char **ret_columns)
{
    char *line = *at;
    if (*line == '\0') {
        return 0;
    }
    char *end = line + strcspn(line, "\n");
    *at = *end == '\0' ? end : end + 1;
    *end = '\0';
    size_t found = 0;
    while (line != NULL && found <= count) {
        char *bar = strchr(line, '|');
        if (bar != NULL) {
            *bar = '\0';
        }
        if (found < count) {
            ret_columns[found] = line;
        } else if (*line == '\0' && bar == NULL) {
            return 1; /* the bar that closes the row */
        }
        found++;
        line = bar == NULL ? NULL : bar + 1;
    }
    return found == count && line == NULL ? 1 : -1;
}

int64_t columns_number(const char *text, int64_t otherwise)
{
    int64_t value = 0;
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 15 || text[digits] != '\0') {
        return otherwise;
    }
    for (size_t i = 0; i < digits; i++) {
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

int64_t columns_duration(const char *text, int64_t otherwise)
{
    int64_t days = 0;
    int64_t parts[3] = {0};
    int count = 0;
    const char *dash = strchr(text, '-');
    const char *at = text;
    if (dash != NULL) {
        char first[20];
        (void)snprintf(first, sizeof first, "%.*s", (int)(dash - text), text);
        days = columns_number(first, -1);
        at = dash + 1;
    }
    for (; count < 3 && isdigit((unsigned char)*at); count++) {
        int64_t value = 0;
        for (; isdigit((unsigned char)*at) && value < 10000000; at++) {
            value = value * 10 + (*at - '0');
        }
        parts[count] = value;
        if (*at != ':') {
            count++;
            break;
        }
        at++;
    }
    if (count == 0 || *at != '\0' || days < 0 || days > 10000000) {
        return otherwise;
    }
    if (dash != NULL) {
        return days * 86400 + parts[0] * 3600 + parts[1] * 60 + parts[2];
    }
    return count == 3 ? parts[0] * 3600 + parts[1] * 60 + parts[2] : parts[0] * 60 + parts[1];
}

bool columns_job_read(char *text, uint32_t raw_id, struct columns_job *ret_job)
{
    char *under = strchr(text, '_');
    if (under == NULL) {
        *ret_job = (struct columns_job){.array_id = raw_id, .indexes = text + strlen(text)};
        return true;
    }
    *under = '\0';
    char *indexes = under + 1;
    if (*indexes == '[') {
        indexes++;
        indexes[strcspn(indexes, "]")] = '\0';
    }
    const int64_t array = columns_number(text, -1);
    *ret_job =
        (struct columns_job){.array_id = (uint32_t)array, .is_array = true, .indexes = indexes};
    return array > 0 && array < UINT32_MAX;
}

void columns_copy(char *ret_text, size_t size_bytes, const char *text)
{
    const size_t bytes = strnlen(text, size_bytes - 1);
    memcpy(ret_text, text, bytes);
    ret_text[bytes] = '\0';
}
