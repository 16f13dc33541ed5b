/* How the text of an argument or option becomes a value of a request. Pure: the present is a parameter. */
#ifndef COREHOUR_CLIENTS_CLI_KINDS_H
#define COREHOUR_CLIENTS_CLI_KINDS_H

#include "clients/cli/cli.h"

/*
 * Converts. now_s: the present, for relative times. ret_value: a new JSON value, the caller's.
 * Returns COREHOUR_OK; COREHOUR_INVALID or COREHOUR_RANGE for a text that is not of the kind (then
 * kind_expects says what is); COREHOUR_MEMORY.
 */
enum corehour_result kind_convert(enum cli_kind kind,
                                  const char *text,
                                  int64_t now_s,
                                  json_t **ret_value);

/* What a text of that kind looks like, for messages: "a duration such as 300, 5m or 1-12:00:00". */
const char *kind_expects(enum cli_kind kind);

/* The placeholder of a value of that kind in help: "DURATION". NULL for a flag. */
const char *kind_metavar(enum cli_kind kind);

#endif
