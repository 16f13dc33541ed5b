/* Paths into JSON: see object.h. */
#include "clients/kubernetes/object.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "clients/units.h"

enum { NAME_BYTES = 254 };

/* Backslashes stand in texts only, so no more of JSON need be understood. */
static void nuls_replace(char *bytes, size_t count)
{
    static const char nul[] = "u0000";
    char *const end = bytes + count;
    char *place = memchr(bytes, '\\', count);
    while (place != NULL) {
        char *next = place + 1;
        if ((size_t)(end - next) >= sizeof nul - 1 && memcmp(next, nul, sizeof nul - 1) == 0) {
            memcpy(next, "ufffd", sizeof nul - 1);
        }
        next += next < end; /* the escaped character, a backslash perhaps */
        place = memchr(next, '\\', (size_t)(end - next));
    }
}

json_t *object_parse(char *bytes, size_t count, size_t flags, json_error_t *ret_error)
{
    if (count > 0) {
        nuls_replace(bytes, count);
    }
    return json_loadb(bytes, count, flags, ret_error);
}

static json_t *walk(const json_t *object, va_list path)
{
    json_t *place = (json_t *)(uintptr_t)object;
    const char *name;
    while (place != NULL && (name = va_arg(path, const char *)) != NULL) {
        place = json_object_get(place, name);
    }
    return place;
}

json_t *object_get(const json_t *object, ...)
{
    va_list path;
    va_start(path, object);
    json_t *place = walk(object, path);
    va_end(path);
    return place;
}

const char *object_text(const json_t *object, ...)
{
    va_list path;
    va_start(path, object);
    const json_t *place = walk(object, path);
    va_end(path);
    const char *text = json_string_value(place);
    return text == NULL ? "" : text;
}

int64_t object_time(const json_t *object, const char *member)
{
    int64_t time_s = 0;
    const char *text = object_text(object, member, NULL);
    if (strchr(text, 'T') == NULL || corehour_time_parse(text, 0, &time_s) != COREHOUR_OK) {
        return 0;
    }
    return time_s;
}

const json_t *object_condition(const json_t *object, const char *type)
{
    const json_t *conditions = object_get(object, "status", "conditions", NULL);
    size_t index;
    json_t *condition;
    json_array_foreach(conditions, index, condition)
    {
        if (strcmp(object_text(condition, "type", NULL), type) == 0) {
            return condition;
        }
    }
    return NULL;
}

bool object_condition_is(const json_t *condition, const char *status)
{
    return strcmp(object_text(condition, "status", NULL), status) == 0;
}

bool object_is_name(const char *text)
{
    if (text == NULL || text[0] == '\0' || text[0] == '.' || strlen(text) >= NAME_BYTES) {
        return false;
    }
    for (; *text != '\0'; text++) {
        if (!isalnum((unsigned char)*text) && strchr("-._", *text) == NULL) {
            return false;
        }
    }
    return true;
}

void object_copy(char *ret_text, const char *text, size_t bytes)
{
    size_t length = strlen(text);
    if (length >= bytes) {
        length = bytes - 1;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) {
            length--;
        }
    }
    memcpy(ret_text, text, length);
    ret_text[length] = '\0';
}
