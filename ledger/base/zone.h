/*
 * Fills a calendar for an IANA time zone from ICU's data. TZ of the process plays no part.
 *
 * The ledger calls this when a root is made and when it opens periods ahead; boundaries once stored
 * are not moved by later data (SPEC 1.4).
 */
#ifndef LEDGER_BASE_ZONE_H
#define LEDGER_BASE_ZONE_H

#include <stdint.h>

#include "ledger/base/calendar.h"
#include "ledger/base/check.h"
#include "ledger/base/error.h"

/**
 * Look up a zone and list its offsets from 1970 to 2100; before and after, the first and last
 * offset hold.
 *
 * @name               "UTC" or an IANA name with a slash, such as "Asia/Shanghai", in its exact
 *                     spelling; borrowed. Short names are refused: "IST" means three zones.
 * @fiscal_year_start  month, 1 to 12, already checked
 * @ret_calendar       untouched on failure
 *
 * Returns ERR_OK, ERR_INVALID_FIELD (field "timezone") for an unknown zone, ERR_UNAVAILABLE when
 * ICU or its data fails. Any thread.
 */
MUST_USE enum error_code zone_load(const char *name,
                                   uint8_t fiscal_year_start,
                                   struct calendar *ret_calendar,
                                   struct error *err);

#endif
