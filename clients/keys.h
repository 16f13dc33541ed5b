/* SPDX-License-Identifier: MIT
 *
 * Configuration files of the programs beside the daemon: `key = value` lines, blank lines and comments that begin with '#'.
 * The keys are rows of a table. An unknown key, a key given twice and a value out of its range are refused with file, line
 * and name.
 */
#ifndef COREHOUR_CLIENTS_KEYS_H
#define COREHOUR_CLIENTS_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    KEYS_MAX = 64,         /* rows of a table */
    KEY_TEXT_BYTES = 512,  /* of a text, its NUL included */
    KEY_FAULT_BYTES = 200, /* of what is wrong with one value or line */
};

/* An integer and a choice are int64_t in the configuration, a text is struct key_text; other types are the table's. */
enum key_type { KEY_INTEGER, KEY_CHOICE, KEY_TEXT, KEY_OTHER };

struct key_text {
    char text[KEY_TEXT_BYTES];
};

/** What is wrong with one value or line: one line of English. */
struct key_fault {
    char text[KEY_FAULT_BYTES];
};

struct key {
    const char *name;
    enum key_type type;
    size_t offset;            /* in the configuration */
    const char *default_text; /* "": 0, or the empty text */
    int64_t min;              /* of an integer, of the bytes of a text */
    int64_t max;
    const char *choices; /* words by blanks; the value is the number of the word, from 0 */
    const char *meaning;
};

struct key_table {
    const struct key *keys;
    size_t count; /* at most KEYS_MAX */
    size_t bytes; /* of the configuration */
    /* Sets a KEY_OTHER at @place, or says what is wrong; NULL: there are none. */
    bool (*set_other)(const struct key *key,
                      const char *value,
                      void *place,
                      struct key_fault *fault);
};

/** Writes into fault; returns false, so that a caller can return it. */
bool key_fault_set(struct key_fault *fault, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * The defaults, and over them the file, which must exist.
 *
 * @ret_config  table->bytes of room; what is in it after a failure means nothing
 * @ret_detail  `bytes` of room for what is wrong: not readable, an unknown or repeated key, a bad value, a line of more than
 *              1023 bytes
 */
bool keys_read(const struct key_table *table,
               const char *path,
               void *ret_config,
               char *ret_detail,
               size_t bytes);

/** Reads an integer from min to max, and nothing behind it. */
bool key_integer_read(const char *text, int64_t min, int64_t max, int64_t *ret_value);

/** Cuts white space at both ends off, in place. */
char *key_trim(char *text);

#endif
