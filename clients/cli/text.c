/* Languages, widths, safe printing: see text.h. */
#include "clients/cli/text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "clients/cli/catalogue.h"

static enum text_language current = TEXT_ENGLISH;

enum text_language text_language_choose(const char *option)
{
    static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    const char *chosen = option;
    for (size_t i = 0; chosen == NULL && i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && *value != '\0') {
            chosen = value;
        }
    }
    return chosen != NULL && strncmp(chosen, "zh", 2) == 0 ? TEXT_CHINESE : TEXT_ENGLISH;
}

void text_language_set(enum text_language language)
{
    current = language;
}

const char *text_language_name(void)
{
    return current == TEXT_CHINESE ? "zh" : "en";
}

static const char *chinese_find(const char *english)
{
    for (const struct catalogue_entry *const *table = catalogues; *table != NULL; table++) {
        for (const struct catalogue_entry *entry = *table; entry->english != NULL; entry++) {
            if (strcmp(entry->english, english) == 0) {
                return entry->chinese;
            }
        }
    }
    return NULL;
}

const char *tr(const char *english)
{
    const char *chinese = current == TEXT_CHINESE ? chinese_find(english) : NULL;
    return chinese != NULL ? chinese : english;
}

bool text_locale_init(void)
{
    if (setlocale(LC_CTYPE, "") != NULL && strcmp(nl_langinfo(CODESET), "UTF-8") == 0) {
        return true;
    }
    setlocale(LC_CTYPE, "C.UTF-8");
    return false;
}

/*
 * Takes one character from *cursor. ret_width: its columns. Returns its length in bytes when it may be
 * printed, 0 when it may not; *cursor moves behind it either way.
 */
static size_t character_take(const char **cursor, size_t *ret_width)
{
    wchar_t wide;
    mbstate_t state = {0};
    size_t length = mbrtowc(&wide, *cursor, strlen(*cursor), &state);
    int width = length > 0 && length < (size_t)-2 ? wcwidth(wide) : -1;
    *ret_width = width < 0 ? 1 : (size_t)width;
    *cursor += length > 0 && length < (size_t)-2 ? length : 1;
    return width < 0 ? 0 : length;
}

size_t text_width(const char *text)
{
    size_t columns = 0;
    while (*text != '\0') {
        size_t width;
        character_take(&text, &width);
        columns += width;
    }
    return columns;
}

void text_print(FILE *out, const char *text)
{
    while (*text != '\0') {
        const char *start = text;
        size_t width;
        size_t length = character_take(&text, &width);
        if (length == 0) {
            fputc('?', out);
        } else {
            fwrite(start, 1, length, out);
        }
    }
}

void text_pad(FILE *out, size_t width, size_t columns)
{
    for (; width < columns; width++) {
        fputc(' ', out);
    }
}
