/* Parsing with jansson. What jansson cannot say, the name of the member at fault, is found by a second, lenient scan. */
#include "server/json_in.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ledger/base/text.h"

void json_in_decref(json_t **top)
{
    json_decref(*top);
}

/* Past a string that opens at @at; the position after its closing quote, or the end. */
static size_t skip_string(const char *bytes, size_t length, size_t at)
{
    for (at++; at < length; at++) {
        if (bytes[at] == '\\') {
            at++;
        } else if (bytes[at] == '"') {
            return at + 1;
        }
    }
    return length;
}

/* Deeper than LIMIT_JSON_DEPTH? Counts first: most bodies have few brackets at all. */
static bool is_too_deep(const char *bytes, size_t length)
{
    size_t brackets = 0;
    for (size_t i = 0; i < length; i++) {
        brackets += bytes[i] == '{' || bytes[i] == '[';
    }
    if (brackets <= LIMIT_JSON_DEPTH) {
        return false;
    }
    size_t depth = 0;
    for (size_t at = 0; at < length;) {
        const char c = bytes[at];
        depth += c == '{' || c == '[';
        depth -= (c == '}' || c == ']') && depth > 0;
        if (depth > LIMIT_JSON_DEPTH) {
            return true;
        }
        at = c == '"' ? skip_string(bytes, length, at) : at + 1;
    }
    return false;
}

/* One level of nesting while the name of a member is looked for. */
struct path_level {
    bool is_array;
    bool has_key;
    size_t index;
    size_t key_at;
    size_t key_bytes;
};

static void append_level(const char *bytes, const struct path_level *level, char *path)
{
    char part[LIMIT_ERROR_FIELD_BYTES + 1] = "";
    if (level->is_array) {
        (void)snprintf(part, sizeof(part), "%zu", level->index);
    } else if (level->has_key && text_is_printable(bytes + level->key_at, level->key_bytes)) {
        (void)snprintf(part, sizeof(part), "%.*s", (int)level->key_bytes, bytes + level->key_at);
    }
    const size_t used = strlen(path);
    const size_t dot = used > 0;
    const size_t part_bytes = strlen(part);
    if (part_bytes > 0 && used + dot + part_bytes <= LIMIT_ERROR_FIELD_BYTES) {
        path[used] = '.';
        memcpy(path + used + dot, part, part_bytes + 1);
    }
}

/* A string in an object is a key when a colon follows, or when nothing does: parsing stopped in it. */
static bool is_key(const char *bytes, size_t length, size_t after)
{
    while (after < length && isspace((unsigned char)bytes[after])) {
        after++;
    }
    return after >= length || bytes[after] == ':';
}

static void note_string(const char *bytes,
                        size_t length,
                        size_t at,
                        size_t after,
                        struct path_level *level)
{
    if (!level->is_array && is_key(bytes, length, after)) {
        const bool closed = after - at >= 2 && bytes[after - 1] == '"';
        level->has_key = true;
        level->key_at = at + 1;
        level->key_bytes = after - at - (closed ? 2 : 1);
    }
}

const char *json_in_path_at(const char *bytes,
                            size_t length_bytes,
                            size_t position,
                            char ret_path[LIMIT_ERROR_FIELD_BYTES + 1])
{
    struct path_level levels[LIMIT_JSON_DEPTH + 1];
    size_t depth = 0;
    ret_path[0] = '\0';
    const size_t end = position < length_bytes ? position : length_bytes;
    for (size_t at = 0; at < end;) {
        const char c = bytes[at];
        size_t after = at + 1;
        if (c == '"') {
            after = skip_string(bytes, length_bytes, at);
            if (depth > 0) {
                note_string(bytes, length_bytes, at, after, &levels[depth - 1]);
            }
        } else if ((c == '{' || c == '[') && depth <= LIMIT_JSON_DEPTH) {
            levels[depth++] = (struct path_level){.is_array = c == '['};
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        } else if (c == ',' && depth > 0) {
            levels[depth - 1].index++;
        }
        at = after;
    }
    for (size_t i = 0; i < depth; i++) {
        append_level(bytes, &levels[i], ret_path);
    }
    return ret_path;
}

static enum error_code code_of(enum json_error_code code)
{
    switch ((int)code) {
    case json_error_numeric_overflow:
        return ERR_INVALID_FIELD;
    case json_error_out_of_memory:
        return ERR_UNAVAILABLE;
    default:
        return ERR_MALFORMED;
    }
}

static enum error_code describe(const char *bytes,
                                size_t length,
                                const json_error_t *json_error,
                                struct error *err)
{
    char field[LIMIT_ERROR_FIELD_BYTES + 1];
    const size_t position = json_error->position > 0 ? (size_t)json_error->position : 0;
    (void)json_in_path_at(bytes, length, position, field);
    /* jansson quotes what it stumbled over: not for the answer where that cannot be printed. */
    const char *text = json_error->text;
    if (!text_is_printable(text, strlen(text))) {
        const bool is_utf8 = json_error_code(json_error) != json_error_invalid_utf8;
        text = is_utf8 ? "not valid JSON" : "not valid UTF-8";
    }
    return error_set_field(err, code_of(json_error_code(json_error)), field,
                           "line %d, column %d: %s", json_error->line, json_error->column, text);
}

enum error_code json_in_parse(const char *bytes,
                              size_t length_bytes,
                              json_t **ret_top,
                              struct error *err)
{
    if (length_bytes == 0) {
        return error_set(err, ERR_MALFORMED, "the body is empty where a JSON document is expected");
    }
    if (is_too_deep(bytes, length_bytes)) {
        return error_set(err, ERR_MALFORMED, "nested deeper than %d levels", LIMIT_JSON_DEPTH);
    }
    json_error_t json_error;
    json_t *top = json_loadb(bytes, length_bytes, JSON_REJECT_DUPLICATES, &json_error);
    if (top == NULL) {
        return describe(bytes, length_bytes, &json_error, err);
    }
    *ret_top = top;
    return ERR_OK;
}
