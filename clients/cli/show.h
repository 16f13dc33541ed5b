/*
 * Answers for people. A field's name says its unit (SPEC 1.3), so one function writes any value: amounts as
 * core-hours with two decimals, milli-cores as cores, seconds as durations. New fields of newer daemons
 * show up by themselves.
 */
#ifndef COREHOUR_CLIENTS_CLI_SHOW_H
#define COREHOUR_CLIENTS_CLI_SHOW_H

#include "clients/cli/cli.h"

/* Prints an object: a line per field, then each list of objects in it as a table. */
void show_object(struct cli *cli, const json_t *body);

/*
 * Prints a list of objects as a table. columns: field names, NULL at the end; those that no row has are
 * left out. NULL: all fields of the first row.
 */
void show_rows(struct cli *cli, const json_t *rows, const char *const *columns, unsigned indent);

/* The text of a field's value: the caller's to free; NULL without memory. `unit`: with its unit behind. */
char *show_value_create(const char *field, const json_t *value, bool unit);

/* A field's title in the language set: "frozen_mcs" gives "frozen". ret_title: 64 bytes. */
void show_title(const char *name, char *ret_title);

/* A figure of a cap or violation in its unit ("mcs" as core-hours, ...). null: "unlimited". 40 bytes. */
void show_figure(const char *unit, const json_t *value, char *ret_text);

/* What a cap's figures count, in the language set: "core-hours", "GPUs". */
const char *show_unit_word(const char *unit);

/* The value of an integer field, also when it came as a string; `otherwise` for anything else. */
int64_t show_integer(const json_t *object, const char *field, int64_t otherwise);

/* The value of a text field; "" for anything else. */
const char *show_text(const json_t *object, const char *field);

/* Prints `amount` of a field in mcs as "1.33 core-hours". */
void show_amount(struct cli *cli, int64_t mcs);

/* Prints each of an answer's warnings on a line of its own. */
void show_warnings(struct cli *cli, const json_t *body);

#endif
