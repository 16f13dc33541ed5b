/* Overwriting a person's name in the texts of the audit log (SPEC 2.4). See audit.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/audit.h"
#include "ledger/reader.h"

enum { BATCH = 16, LOOKED_AT_ONCE = 4096 };

/* A name as it stands in paths, and as it stands within the quotes of JSON. */
struct overwriting {
    const char *plain;
    char quoted[2 * RECORD_NAME_BYTES];
    const char *to;
};

static void quote(const char *from, char *to)
{
    for (; *from != '\0'; from++) {
        if (*from == '"' || *from == '\\') {
            *to++ = '\\';
        }
        *to++ = *from;
    }
    *to = '\0';
}

/* Part of a longer name? Bytes of UTF-8 beyond ASCII count as letters. */
static bool is_word(char c)
{
    const unsigned char byte = (unsigned char)c;
    return isalnum(byte) || byte >= 0x80 || c == '.' || c == '_' || c == '-' || c == '@' ||
           c == '+';
}

/* Within the quotes of a value of the JSON object at `begin`? Numbers and the names of members are no names of people. */
static bool is_in_value(const char *begin, const char *at)
{
    bool is_quoted = false;
    for (const char *byte = begin; byte < at; byte++) {
        is_quoted = (*byte == '"') != is_quoted;
        byte += *byte == '\\';
    }
    const char *end = at;
    while (*end != '\0' && *end != '"') {
        end += *end == '\\' && end[1] != '\0' ? 2 : 1;
    }
    return is_quoted && *end == '"' && end[1] != ':';
}

/* The next whole word `from` in a field that begins at `begin`. */
static const char *find_word(const char *text, const char *from, const char *begin, bool is_json)
{
    const size_t bytes = strlen(from);
    for (const char *at = strstr(text, from); at != NULL; at = strstr(at + 1, from)) {
        const bool begins = at == begin || !is_word(at[-1]);
        if (begins && !is_word(at[bytes]) && (!is_json || is_in_value(begin, at))) {
            return at;
        }
    }
    return NULL;
}

/* Overwrite in one field. What grows out of its field is dropped as a whole. */
static bool overwrite_field(char *field, size_t size, const char *from, const char *to)
{
    const bool is_json = *field == '{';
    char made[RECORD_AUDIT_BYTES * 2];
    size_t bytes = 0;
    const char *rest = field;
    const char *at = find_word(rest, from, field, is_json);
    if (at == NULL) {
        return false;
    }
    for (; at != NULL; at = find_word(rest, from, field, is_json)) {
        bytes += (size_t)snprintf(made + bytes, sizeof made - bytes, "%.*s%s", (int)(at - rest),
                                  rest, to);
        rest = at + strlen(from);
        if (bytes >= size) {
            break;
        }
    }
    if (bytes < size) {
        bytes += (size_t)snprintf(made + bytes, sizeof made - bytes, "%s", rest);
    }
    const char *kept = bytes < size ? made : "{}";
    memcpy(field, kept, strlen(kept) + 1);
    return true;
}

static bool overwrite_row(struct audit *row, const struct overwriting *how)
{
    bool found = overwrite_field(row->who, sizeof row->who, how->plain, how->to);
    found = overwrite_field(row->name, sizeof row->name, how->plain, how->to) || found;
    found = overwrite_field(row->what, sizeof row->what, how->plain, how->to) || found;
    found = overwrite_field(row->before, sizeof row->before, how->quoted, how->to) || found;
    return overwrite_field(row->after, sizeof row->after, how->quoted, how->to) || found;
}

/* Numbers of the changes that name the person, a batch at a time. */
struct found {
    const struct overwriting *how;
    int64_t last_no;
    size_t count;
    int64_t nos[BATCH];
};

static bool look(void *context, const void *record)
{
    struct found *found = context;
    struct audit row = *(const struct audit *)record;
    found->last_no = row.audit_no;
    if (overwrite_row(&row, found->how)) {
        found->nos[found->count++] = row.audit_no;
    }
    return found->count < BATCH;
}

static bool overwrite_change(struct ledger *ledger,
                             int64_t audit_no,
                             const struct overwriting *how,
                             int64_t by_no)
{
    struct cell *cell = row_find(ledger->set, RECORD_AUDIT, audit_no);
    if (!cell_exists(cell)) {
        return false;
    }
    struct audit *row = working_set_change(ledger->set, cell);
    const bool found = overwrite_row(row, how);
    row->renamed_no = found ? by_no : row->renamed_no;
    return found;
}

int64_t audit_overwrite(struct ledger *ledger,
                        const char *from,
                        const char *to,
                        int64_t after_no,
                        int64_t by_no)
{
    struct overwriting how = {.plain = from, .to = to};
    struct found found = {.how = &how, .last_no = after_no};
    int64_t count = 0;
    if (by_no == 0) {
        return 0; /* nothing says that it was done: the check would call it damage */
    }
    quote(from, how.quoted);
    do {
        const struct select_args args = {.n = {found.last_no, 0, INT64_MAX}};
        found.count = 0;
        working_set_select(ledger->set, SELECT_AUDIT, &args, look, &found);
        for (size_t i = 0; i < found.count; i++) {
            count += overwrite_change(ledger, found.nos[i], &how, by_no);
        }
    } while (found.count == BATCH && working_set_failure(ledger->set, NULL) == ERR_OK);
    return count;
}

int64_t audit_overwrite_some(struct ledger *ledger, const struct command_overwrite *given)
{
    struct overwriting how = {.plain = given->person, .to = given->to};
    int64_t count = 0;
    quote(given->person, how.quoted);
    for (int64_t i = 0; i < given->count && given->by_no != 0; i++) {
        count += overwrite_change(ledger, given->nos[i], &how, given->by_no);
    }
    return count;
}

/* ---- looking, on a reader */

struct looking {
    const struct overwriting *how;
    struct ledger_named *named;
    int64_t looked;
};

static bool note_change(void *context, const void *record)
{
    struct looking *looking = context;
    struct ledger_named *named = looking->named;
    struct audit row = *(const struct audit *)record;
    named->last_no = row.audit_no;
    looking->looked++;
    if (overwrite_row(&row, looking->how)) {
        named->nos[named->count++] = row.audit_no;
    }
    return named->count < ARRAY_LEN(named->nos);
}

enum error_code ledger_find_name(struct ledger_reader *reader,
                                 const char *person,
                                 int64_t after_no,
                                 struct ledger_named *ret_named,
                                 struct error *err)
{
    struct overwriting how = {.plain = person, .to = ""};
    struct looking looking = {.how = &how, .named = ret_named};
    const struct select_args args = {.n = {after_no, 0, INT64_MAX}, .limit = LOOKED_AT_ONCE};
    quote(person, how.quoted);
    ret_named->count = 0;
    ret_named->last_no = after_no;
    const enum error_code code =
        store_select(reader->store, SELECT_AUDIT, &args, note_change, &looking, err);
    ret_named->has_more =
        looking.looked == LOOKED_AT_ONCE || ret_named->count == ARRAY_LEN(ret_named->nos);
    return code;
}
