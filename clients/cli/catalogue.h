/*
 * The Chinese words of the command line. catalogue.c has what programs say and the titles of fields; the texts of a command's
 * help stand in the command's own file (commands/). Data only.
 */
#ifndef COREHOUR_CLIENTS_CLI_CATALOGUE_H
#define COREHOUR_CLIENTS_CLI_CATALOGUE_H

struct catalogue_entry {
    const char *english; /* as it stands in tr("...") or as a field's title */
    const char *chinese; /* with the same conversions in the same order */
};

/* All tables, each ending with a row without English; NULL after the last. No English text stands in two rows. */
extern const struct catalogue_entry *const catalogues[];

#endif
