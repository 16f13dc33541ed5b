/* SPDX-License-Identifier: MIT
 *
 * Refusals as lines: see explain.h. */
#include "clients/slurm/explain.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "clients/units.h"

enum { LINE_BYTES = 1024, FIGURE_BYTES = 40 };

/* ---- words ---- */

enum word {
    WORD_ORGANIZATION,
    WORD_PROJECT,
    WORD_MEMBER,
    WORD_LIMIT,
    WORD_USED,
    WORD_FROZEN,
    WORD_AVAILABLE,
    WORD_REQUESTED,
    WORD_MISSING,
    WORD_CORE_HOURS,
    WORD_CORES,
    WORD_GPUS,
    WORD_JOBS,
    WORD_RESETS,
    WORD_HELD_BY,
    WORD_SINCE,
    WORD_STALE,
    WORD_AHEAD,
    WORD_EARLIEST,
    WORD_ASK,
    WORD_UNLIMITED,
    WORDS,
};

static const char *const words[WORDS][2] = {
    [WORD_ORGANIZATION] = {"organization", "组织"},
    [WORD_PROJECT] = {"project", "项目"},
    [WORD_MEMBER] = {"member", "成员"},
    [WORD_LIMIT] = {"limit", "上限"},
    [WORD_USED] = {"used", "已用"},
    [WORD_FROZEN] = {"frozen", "冻结"},
    [WORD_AVAILABLE] = {"available", "可用"},
    [WORD_REQUESTED] = {"requested", "申请"},
    [WORD_MISSING] = {"missing", "缺少"},
    [WORD_CORE_HOURS] = {"core-hours", "核时"},
    [WORD_CORES] = {"cores", "核"},
    [WORD_GPUS] = {"GPUs", "GPU"},
    [WORD_JOBS] = {"jobs", "作业"},
    [WORD_RESETS] = {"resets", "重置于"},
    [WORD_HELD_BY] = {"held by", "占用者"},
    [WORD_SINCE] = {"since", "自"},
    [WORD_STALE] = {"not heard of lately", "近期无消息"},
    [WORD_AHEAD] = {"waiting ahead", "在前面等待"},
    [WORD_EARLIEST] = {"it would fit at the earliest at", "最早可满足于"},
    [WORD_ASK] = {"ask", "请联系"},
    [WORD_UNLIMITED] = {"unlimited", "不限"},
};

/* The figures of a violation, in the order of a line. */
static const struct {
    const char *member;
    enum word word;
} figures[] = {
    {"limit", WORD_LIMIT},         {"used", WORD_USED},           {"frozen", WORD_FROZEN},
    {"available", WORD_AVAILABLE}, {"requested", WORD_REQUESTED}, {"missing", WORD_MISSING},
};

static const struct unit {
    const char *name;
    void (*format)(int64_t value, char *ret_text);
    enum word word; /* WORDS: none */
} units[] = {
    {"mcs", corehour_amount_format, WORD_CORE_HOURS},
    {"mcores", corehour_thousandths_format, WORD_CORES},
    {"mgpus", corehour_thousandths_format, WORD_GPUS},
    {"s", corehour_duration_format, WORDS},
    {"jobs", NULL, WORD_JOBS},
};

/* ---- writing ---- */

struct lines {
    char *text; /* EXPLAIN_BYTES */
    size_t bytes;
    int language; /* 0 en, 1 zh */
    bool full;
};

static const char *word_of(const struct lines *lines, enum word word)
{
    return words[word][lines->language];
}

/* Texts of the daemon go to a terminal: nothing in them may steer it. */
static void controls_blank(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            *text = ' ';
        }
    }
}

/* Adds a line, or nothing from here on when it does not fit. */
__attribute__((format(printf, 2, 3))) static void line_add(struct lines *lines,
                                                           const char *format,
                                                           ...)
{
    char line[LINE_BYTES];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    const size_t newline = lines->bytes > 0 ? 1 : 0;
    if (length < 0 || (size_t)length >= sizeof line ||
        lines->bytes + newline + (size_t)length >= EXPLAIN_BYTES) {
        lines->full = true;
    }
    if (lines->full) {
        return;
    }
    controls_blank(line);
    snprintf(lines->text + lines->bytes, EXPLAIN_BYTES - lines->bytes, "%s%s",
             newline != 0 ? "\n" : "", line);
    lines->bytes += newline + (size_t)length;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

static const struct unit *unit_find(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(units[i].name, name) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

static void figure_write(const struct lines *lines,
                         const struct unit *unit,
                         const json_t *value,
                         char *ret_text)
{
    const int64_t number = (int64_t)json_integer_value(value);
    if (!json_is_integer(value)) {
        snprintf(ret_text, FIGURE_BYTES, "%s", word_of(lines, WORD_UNLIMITED));
    } else if (unit == NULL || unit->format == NULL) {
        snprintf(ret_text, FIGURE_BYTES, "%" PRId64, number);
    } else {
        unit->format(number, ret_text);
    }
}

/* ---- limits ---- */

static const char *kind_word(const struct lines *lines, const char *kind)
{
    static const enum word kinds[] = {WORD_ORGANIZATION, WORD_PROJECT, WORD_MEMBER};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kind, words[kinds[i]][0]) == 0) {
            return word_of(lines, kinds[i]);
        }
    }
    return kind;
}

/* "project vision, month: limit 2.00, used 0.00, ... core-hours; resets 2026-12-31T16:00:00Z" */
static void violation_add(struct lines *lines, const json_t *violation)
{
    char line[LINE_BYTES];
    size_t at = 0;
    const struct unit *unit = unit_find(text_of(violation, "unit"));
    const char *user = text_of(violation, "user");
    const char *node = text_of(violation, "node");
    const bool is_member = *user != '\0' && strcmp(user, node) != 0;
    at += (size_t)snprintf(line, sizeof line, "%.20s %.128s%s%.128s, %.80s: ",
                           kind_word(lines, text_of(violation, "kind")), node, is_member ? "/" : "",
                           is_member ? user : "", text_of(violation, "cap"));
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        char figure[FIGURE_BYTES];
        figure_write(lines, unit, json_object_get(violation, figures[i].member), figure);
        at += (size_t)snprintf(line + at, sizeof line - at, "%s%s %s", i > 0 ? ", " : "",
                               word_of(lines, figures[i].word), figure);
    }
    const char *resets = text_of(violation, "resets_at");
    const bool has_word = unit != NULL && unit->word != WORDS;
    line_add(lines, "  %s%s%s%s%s%s%.40s", line, has_word ? " " : "",
             has_word ? word_of(lines, unit->word) : "", *resets != '\0' ? "; " : "",
             *resets != '\0' ? word_of(lines, WORD_RESETS) : "", *resets != '\0' ? " " : "",
             resets);
}

/* "held by alice 1.33 (alpha-1, since 2026-11-30T22:36:54Z)"; outside one's project: the project only. */
static void holder_add(struct lines *lines, const json_t *holder)
{
    char amount[COREHOUR_UNITS_TEXT_BYTES];
    const char *user = text_of(holder, "user");
    const char *hold = text_of(holder, "hold");
    const char *since = text_of(holder, "since");
    const json_t *frozen = json_object_get(holder, "frozen_mcs");
    corehour_amount_format((int64_t)json_integer_value(frozen), amount);
    line_add(lines, "    %s %.128s%s%.128s: %s %s%s%.64s%s%s%s%.40s%s%s",
             word_of(lines, WORD_HELD_BY), text_of(holder, "project"), *user != '\0' ? "/" : "",
             user, amount, word_of(lines, WORD_CORE_HOURS), *hold != '\0' ? ", " : "", hold,
             *since != '\0' ? ", " : "", *since != '\0' ? word_of(lines, WORD_SINCE) : "",
             *since != '\0' ? " " : "", since,
             json_is_true(json_object_get(holder, "stale")) ? ", " : "",
             json_is_true(json_object_get(holder, "stale")) ? word_of(lines, WORD_STALE) : "");
}

static void violations_add(struct lines *lines, const json_t *violations)
{
    size_t i;
    size_t j;
    json_t *violation;
    json_t *holder;
    json_array_foreach(violations, i, violation)
    {
        if (json_is_true(json_object_get(violation, "soft"))) {
            continue; /* such a cap never refuses */
        }
        violation_add(lines, violation);
        if (strncmp(text_of(violation, "cap"), "job_", 4) == 0) {
            continue; /* a limit of one job is held by nobody */
        }
        json_array_foreach(json_object_get(violation, "holders"), j, holder)
        {
            holder_add(lines, holder);
        }
    }
}

/* ---- the whole ---- */

/* How far the detail is the first line: the title with the formula in parentheses. */
static int first_line_bytes(const char *detail, const char *title)
{
    static const char *const ends[] = {"): ", "）："};
    static const size_t keeps[] = {1, sizeof "）" - 1};
    const size_t title_bytes = strlen(title);
    if (title_bytes == 0 || strncmp(detail, title, title_bytes) != 0) {
        return -1;
    }
    for (int i = 0; i < 2; i++) {
        const char *end = strstr(detail + title_bytes, ends[i]);
        if (end != NULL) {
            return (int)(end - detail) + (int)keeps[i];
        }
    }
    return -1;
}

static void quota_add(struct lines *lines, const json_t *problem)
{
    const char *title = text_of(problem, "title");
    const char *detail = text_of(problem, "detail");
    const int bytes = first_line_bytes(detail, title);
    line_add(lines, "%.*s", bytes < 0 ? 500 : bytes,
             bytes < 0 ? (*title == '\0' ? text_of(problem, "code") : title) : detail);
    violations_add(lines, json_object_get(problem, "violations"));
    const json_int_t ahead = json_integer_value(json_object_get(problem, "waiting_ahead"));
    if (ahead > 0) {
        line_add(lines, "  %" JSON_INTEGER_FORMAT " %s", ahead, word_of(lines, WORD_AHEAD));
    }
    const char *earliest = text_of(problem, "earliest_at");
    if (*earliest != '\0') {
        line_add(lines, "  %s %.40s", word_of(lines, WORD_EARLIEST), earliest);
    }
}

void explain_problem(const json_t *problem, bool zh, char *ret_text)
{
    struct lines lines = {.text = ret_text, .language = zh ? 1 : 0};
    const char *code = text_of(problem, "code");
    const char *title = text_of(problem, "title");
    const char *detail = text_of(problem, "detail");
    *ret_text = '\0';
    if (*code == '\0') {
        return;
    }
    if (strcmp(code, "quota_insufficient") == 0) {
        quota_add(&lines, problem);
    } else {
        line_add(&lines, "%.500s", *title == '\0' ? code : title);
        if (*detail != '\0' && strcmp(detail, title) != 0) {
            line_add(&lines, "  %.900s", detail);
        }
    }
    const char *contact = text_of(problem, "contact");
    if (*contact != '\0') {
        line_add(&lines, "  %s: %.300s", word_of(&lines, WORD_ASK), contact);
    }
}
