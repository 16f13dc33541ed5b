/* Languages, widths and safe printing of texts. The language is set once, at the start. */
#ifndef COREHOUR_CLIENTS_CLI_TEXT_H
#define COREHOUR_CLIENTS_CLI_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum text_language { TEXT_ENGLISH, TEXT_CHINESE };

/*
 * The language asked for: `option` (--lang; NULL without), else the first of LC_ALL, LC_MESSAGES and LANG
 * that is set and not empty. Anything that begins with "zh" is Chinese, all else English.
 */
enum text_language text_language_choose(const char *option);

/* Sets the language of tr() for the process. */
void text_language_set(enum text_language language);

/* The language of tr(): "en" or "zh", as Accept-Language takes it. */
const char *text_language_name(void);

/* A label or format in the language set; the English itself where the catalogue has none. */
const char *tr(const char *english) __attribute__((format_arg(1), returns_nonnull));

/*
 * Makes mbrtowc and wcwidth work on UTF-8, with the environment's locale if that is UTF-8, else with
 * C.UTF-8. Returns whether the environment's own is UTF-8, so that drawings may leave ASCII.
 */
bool text_locale_init(void);

/* Columns that a text takes on a terminal; CJK characters take two, what cannot be printed one. */
size_t text_width(const char *text);

/*
 * Prints a text from outside: control characters and broken UTF-8 come out as "?", so that no name or
 * note can steer the terminal.
 */
void text_print(FILE *out, const char *text);

/* Prints as many spaces as a text of `width` columns lacks to `columns`. */
void text_pad(FILE *out, size_t width, size_t columns);

#endif
