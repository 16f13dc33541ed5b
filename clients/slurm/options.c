/* SPDX-License-Identifier: MIT
 *
 * Options of sbatch by table: see options.h. */
#include "clients/slurm/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/units.h"

enum option_kind {
    KIND_TEXT,       /* a member of the request, as it is */
    KIND_COUNT,      /* a number */
    KIND_GPUS,       /* "a100:2": --gpus and its like */
    KIND_GRES,       /* "gpu:a100:2" */
    KIND_NODES,      /* "2" or "2-4" */
    KIND_TIME,       /* "5" is minutes */
    KIND_MEMORY,     /* a size */
    KIND_EXCLUSIVE,  /* with or without a value */
    KIND_OVERCOMMIT, /* a flag */
    KIND_CLUSTER,
    KIND_IGNORED,      /* takes a value, says nothing about resources */
    KIND_IGNORED_FLAG, /* takes none */
};

#define AT(member) offsetof(struct slurm_request, member)

static const struct option {
    const char *name;
    char letter;
    enum option_kind kind;
    size_t offset;
} option_rows[] = {
    {"account", 'A', KIND_TEXT, AT(account)},
    {"array", 'a', KIND_TEXT, AT(array)},
    {"cluster", '\0', KIND_CLUSTER, 0},
    {"clusters", 'M', KIND_CLUSTER, 0},
    {"cpus-per-gpu", '\0', KIND_GPUS, AT(cpus_per_tres)},
    {"cpus-per-task", 'c', KIND_COUNT, AT(cpus_per_task)},
    {"exclusive", '\0', KIND_EXCLUSIVE, 0},
    {"gpus", 'G', KIND_GPUS, AT(tres_per_job)},
    {"gpus-per-node", '\0', KIND_GPUS, AT(tres_per_node)},
    {"gpus-per-socket", '\0', KIND_GPUS, AT(tres_per_socket)},
    {"gpus-per-task", '\0', KIND_GPUS, AT(tres_per_task)},
    {"gres", '\0', KIND_GRES, AT(tres_per_node)},
    {"job-name", 'J', KIND_TEXT, AT(name)},
    {"mem", '\0', KIND_MEMORY, AT(memory_per_node_mib)},
    {"mem-per-cpu", '\0', KIND_MEMORY, AT(memory_per_cpu_mib)},
    {"mincpus", '\0', KIND_COUNT, AT(cpus_per_node_min)},
    {"nodes", 'N', KIND_NODES, 0},
    {"ntasks", 'n', KIND_COUNT, AT(tasks)},
    {"ntasks-per-gpu", '\0', KIND_COUNT, AT(tasks_per_gpu)},
    {"ntasks-per-node", '\0', KIND_COUNT, AT(tasks_per_node)},
    {"overcommit", 'O', KIND_OVERCOMMIT, 0},
    {"partition", 'p', KIND_TEXT, AT(partition)},
    {"qos", 'q', KIND_TEXT, AT(qos)},
    {"sockets-per-node", '\0', KIND_COUNT, AT(sockets_per_node)},
    {"time", 't', KIND_TIME, 0},
    {"user", 'u', KIND_TEXT, AT(user)},

    {"begin", 'b', KIND_IGNORED, 0},
    {"chdir", 'D', KIND_IGNORED, 0},
    {"comment", '\0', KIND_IGNORED, 0},
    {"constraint", 'C', KIND_IGNORED, 0},
    {"dependency", 'd', KIND_IGNORED, 0},
    {"error", 'e', KIND_IGNORED, 0},
    {"exclude", 'x', KIND_IGNORED, 0},
    {"export", '\0', KIND_IGNORED, 0},
    {"hint", '\0', KIND_IGNORED, 0},
    {"hold", 'H', KIND_IGNORED_FLAG, 0},
    {"input", 'i', KIND_IGNORED, 0},
    {"licenses", 'L', KIND_IGNORED, 0},
    {"mail-type", '\0', KIND_IGNORED, 0},
    {"mail-user", '\0', KIND_IGNORED, 0},
    {"nice", '\0', KIND_IGNORED_FLAG, 0},
    {"no-requeue", '\0', KIND_IGNORED_FLAG, 0},
    {"nodelist", 'w', KIND_IGNORED, 0},
    {"open-mode", '\0', KIND_IGNORED, 0},
    {"output", 'o', KIND_IGNORED, 0},
    {"parsable", '\0', KIND_IGNORED_FLAG, 0},
    {"pty", '\0', KIND_IGNORED_FLAG, 0},
    {"requeue", '\0', KIND_IGNORED_FLAG, 0},
    {"reservation", '\0', KIND_IGNORED, 0},
    {"signal", '\0', KIND_IGNORED, 0},
    {"test-only", '\0', KIND_IGNORED_FLAG, 0},
    {"verbose", 'v', KIND_IGNORED_FLAG, 0},
    {"wait", 'W', KIND_IGNORED_FLAG, 0},
    {"wrap", '\0', KIND_IGNORED, 0},
};
#define OPTION_ROWS (sizeof option_rows / sizeof option_rows[0])

void slurm_options_init(struct slurm_options *options)
{
    memset(options, 0, sizeof *options);
    slurm_request_init(&options->request);
}

/* ---- values ---- */

static bool count_read(const char *text, int64_t *ret_count)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9 || text[digits] != '\0') {
        return false;
    }
    *ret_count = strtoll(text, NULL, 10);
    return true;
}

/* "2" or "2-4" */
static bool nodes_read(const char *text, struct slurm_request *request)
{
    char first[16];
    const size_t bytes = strcspn(text, "-");
    if (bytes >= sizeof first) {
        return false;
    }
    memcpy(first, text, bytes);
    first[bytes] = '\0';
    const char *last = text[bytes] == '\0' ? first : text + bytes + 1;
    int64_t least;
    int64_t most;
    if (!count_read(first, &least) || !count_read(last, &most) || least > most) {
        return false;
    }
    request->nodes_min = least;
    request->nodes_max = most;
    return true;
}

/* Slurm's minutes, or its colons and dashes; seconds count as a minute. */
static bool time_read(const char *text, int64_t *ret_minutes)
{
    int64_t seconds;
    if (count_read(text, ret_minutes)) {
        return true;
    }
    if (corehour_duration_parse(text, &seconds) != COREHOUR_OK) {
        return false;
    }
    *ret_minutes = (seconds + 59) / 60;
    return true;
}

/* "a100:2,v100" as "gres:gpu:a100:2,gres:gpu:v100", in the room that this row has. */
static bool gpus_write(const char *text, const char *prefix, char *ret_text)
{
    size_t at = 0;
    for (const char *item = text; *item != '\0';) {
        const size_t bytes = strcspn(item, ",");
        const size_t room = SLURM_OPTIONS_TEXT_BYTES - at;
        const int written =
            snprintf(ret_text + at, room, "%s%s%.*s", at > 0 ? "," : "", prefix, (int)bytes, item);
        if (written < 0 || (size_t)written >= room) {
            return false;
        }
        at += (size_t)written;
        item += bytes + (item[bytes] == ',');
    }
    struct gres_gpus gpus = {0};
    return at > 0 && gres_gpus_add(ret_text, false, 1, &gpus);
}

static char *room_of(struct slurm_options *options, size_t offset)
{
    static const size_t offsets[] = {AT(tres_per_job), AT(tres_per_node), AT(tres_per_socket),
                                     AT(tres_per_task), AT(cpus_per_tres)};
    size_t i = 0;
    while (offsets[i] != offset) {
        i++;
    }
    return options->texts[i];
}

static bool gpus_set(struct slurm_options *options,
                     const struct option *row,
                     const char *value,
                     const char **member)
{
    char *room = room_of(options, row->offset);
    if (!gpus_write(value, row->kind == KIND_GPUS ? "gres:gpu:" : "gres:", room)) {
        return false;
    }
    *member = room;
    return true;
}

static bool value_set(struct slurm_options *options, const struct option *row, const char *value)
{
    struct slurm_request *request = &options->request;
    void *member = (char *)request + row->offset;
    switch (row->kind) {
    case KIND_TEXT:
        *(const char **)member = value;
        return *value != '\0';
    case KIND_COUNT:
        return count_read(value, member);
    case KIND_GPUS:
    case KIND_GRES:
        return gpus_set(options, row, value, member);
    case KIND_NODES:
        return nodes_read(value, request);
    case KIND_TIME:
        return time_read(value, &request->minutes);
    case KIND_MEMORY:
        return corehour_memory_parse(value, member) == COREHOUR_OK;
    case KIND_CLUSTER:
        options->cluster = value;
        return *value != '\0';
    case KIND_EXCLUSIVE:
        request->is_exclusive = *value == '\0';
        return true;
    case KIND_OVERCOMMIT:
        request->is_overcommitted = true;
        return true;
    case KIND_IGNORED:
    case KIND_IGNORED_FLAG:
        return true;
    }
    return false;
}

/* ---- words ---- */

static bool takes_value(enum option_kind kind)
{
    return kind != KIND_EXCLUSIVE && kind != KIND_OVERCOMMIT && kind != KIND_IGNORED_FLAG;
}

/* The row of "--name", "--name=value" or "-n4"; ret_value: what is in the same word, or NULL. */
static const struct option *row_find(const char *word, const char **ret_value)
{
    const bool is_long = word[1] == '-';
    const size_t bytes = strcspn(word, "=");
    for (size_t i = 0; i < OPTION_ROWS; i++) {
        const struct option *row = &option_rows[i];
        if (is_long && strlen(row->name) == bytes - 2 &&
            memcmp(row->name, word + 2, bytes - 2) == 0) {
            *ret_value = word[bytes] == '=' ? word + bytes + 1 : NULL;
            return row;
        }
        if (!is_long && row->letter != '\0' && row->letter == word[1]) {
            *ret_value = word[2] == '\0' ? NULL : word[2] == '=' ? word + 3 : word + 2;
            return row;
        }
    }
    return NULL;
}

bool slurm_options_take(struct slurm_options *options,
                        const char *const *words,
                        size_t words_count,
                        size_t *ret_used,
                        char *ret_why,
                        size_t why_bytes)
{
    size_t at = 0;
    while (at < words_count && words[at][0] == '-' && words[at][1] != '\0') {
        const char *word = words[at++];
        const char *value = NULL;
        const struct option *row = row_find(word, &value);
        if (row == NULL) {
            snprintf(ret_why, why_bytes, "%.80s is no option of sbatch that this knows", word);
            return false;
        }
        if (value == NULL && takes_value(row->kind)) {
            value = at < words_count ? words[at++] : NULL;
        } else if (value == NULL) {
            value = "";
        }
        if (value == NULL || !value_set(options, row, value)) {
            snprintf(ret_why, why_bytes, "--%s \"%.80s\" cannot be read", row->name,
                     value == NULL ? "" : value);
            return false;
        }
    }
    *ret_used = at;
    return true;
}

/* Takes the quotes out of the word at the start of `line` and ends it. Returns what follows; NULL at the end of the line. */
static char *word_cut(char *line)
{
    char *to = line;
    char quote = '\0';
    for (; *line != '\0' && (quote != '\0' || strchr(" \t\r", *line) == NULL); line++) {
        const bool opens = quote == '\0' && (*line == '"' || *line == '\'');
        if (opens) {
            quote = *line;
        } else if (*line == quote) {
            quote = '\0';
        } else {
            *to++ = *line;
        }
    }
    char *rest = *line == '\0' ? NULL : line + 1;
    *to = '\0';
    return rest;
}

/* Cuts a line into words at white space, up to a comment; quotes hold words together. Returns how many. */
static size_t line_cut(char *line, const char **words)
{
    size_t count = 0;
    while (line != NULL && count < SLURM_OPTIONS_WORDS_MAX) {
        line += strspn(line, " \t\r");
        if (*line == '\0' || *line == '#') {
            break;
        }
        words[count++] = line;
        line = word_cut(line);
    }
    return count;
}

static bool line_take(struct slurm_options *options, char *line, char *ret_why, size_t why_bytes)
{
    const char *words[SLURM_OPTIONS_WORDS_MAX];
    size_t used = 0;
    const size_t count = line_cut(line, words);
    return slurm_options_take(options, words, count, &used, ret_why, why_bytes);
}

bool slurm_options_take_script(struct slurm_options *options,
                               char *text,
                               char *ret_why,
                               size_t why_bytes)
{
    while (text != NULL && *text != '\0') {
        char *line = text;
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        text = end == NULL ? NULL : end + 1;
        if (strncmp(line, "#SBATCH", 7) == 0 && isspace((unsigned char)line[7])) {
            if (!line_take(options, line + 7, ret_why, why_bytes)) {
                return false;
            }
        } else if (*line != '#' && line[strspn(line, " \t\r")] != '\0') {
            return true; /* the first command */
        }
    }
    return true;
}
