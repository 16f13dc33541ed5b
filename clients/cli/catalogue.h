/* The Chinese words of the command line: two tables, data only. */
#ifndef COREHOUR_CLIENTS_CLI_CATALOGUE_H
#define COREHOUR_CLIENTS_CLI_CATALOGUE_H

#include <stddef.h>

struct catalogue_entry {
    const char *english; /* as it stands in tr("...") or as a field's title */
    const char *chinese; /* with the same conversions in the same order */
};

extern const struct catalogue_entry catalogue_zh[];
extern const size_t catalogue_zh_count;

/* The same for the help of commands and options. */
extern const struct catalogue_entry catalogue_help_zh[];
extern const size_t catalogue_help_zh_count;

#endif
