/*
 * Usage as FOCUS, the FinOps format of cost and usage (Cost and Usage dataset): versions 1.4 and 1.2 as
 * CSV. Columns of our own begin with x_ and come last. Costs are those of the rate card; where it has no
 * price they are 0 in the currency XXX (ISO 4217: no currency).
 */
#ifndef SERVER_FOCUS_H
#define SERVER_FOCUS_H

#include "server/request.h"

enum report_format { FORMAT_JSON, FORMAT_CSV, FORMAT_XLSX, FORMAT_FOCUS };
enum focus_version { FOCUS_1_4 = 1, FOCUS_1_2 = 2 };

/** A usage report that is asked for. */
struct usage_report {
    struct report_query query;
    struct node root;
    enum report_format format;
    enum focus_version focus_version;
};

/** Write the report as the request's answer. Without columns to group by, by all of them. */
MUST_USE enum error_code focus_write(struct request *request,
                                     struct ledger_reader *reader,
                                     const struct usage_report *report,
                                     struct error *err);

#endif
