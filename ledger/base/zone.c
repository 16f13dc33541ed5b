/*
 * Time zones through ICU's C interface.
 *
 * ICU counts milliseconds in its own type UDate, a double; whole seconds far below 2^53 are exact
 * in it. It is turned into int64 where it enters and goes no further.
 */
#include "ledger/base/zone.h"

#include <stdbool.h>
#include <string.h>

#include <unicode/ucal.h>
#include <unicode/ustring.h>

#include "ledger/base/cleanup.h"

enum {
    MS_PER_S = 1000,
};

#define FIRST_S INT64_C(0)          /* 1970-01-01 */
#define LAST_S  INT64_C(4102444800) /* 2100-01-01 */

static void close_ucal(UCalendar **ucal)
{
    if (*ucal != NULL) {
        ucal_close(*ucal);
    }
}

/* ICU takes UTF-16; zone names are ASCII. False when the text cannot be a name. */
static bool widen(const char *name, UChar ret_wide[LIMIT_ZONE_BYTES + 1])
{
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_+-";
    size_t length = strlen(name);
    if (length == 0 || length > LIMIT_ZONE_BYTES || strspn(name, allowed) != length) {
        return false;
    }
    u_charsToUChars(name, ret_wide, (int32_t)length + 1);
    return true;
}

/* Is it a zone of the IANA database? ICU would otherwise open any name as GMT. */
static bool is_iana_zone(const char *name, const UChar *wide)
{
    UChar canonical[2 * LIMIT_ZONE_BYTES];
    UBool is_system = 0;
    UErrorCode status = U_ZERO_ERROR;
    if (strchr(name, '/') == NULL || strcmp(name, "Etc/Unknown") == 0) {
        return false;
    }
    (void)ucal_getCanonicalTimeZoneID(wide, -1, canonical, (int32_t)ARRAY_LEN(canonical),
                                      &is_system, &status);
    return U_SUCCESS(status) && is_system;
}

/* The offset that holds at the instant to which the ICU calendar is set. */
static int32_t current_offset_s(UCalendar *ucal, UErrorCode *status)
{
    int32_t zone_ms = ucal_get(ucal, UCAL_ZONE_OFFSET, status);
    int32_t dst_ms = ucal_get(ucal, UCAL_DST_OFFSET, status);
    return (zone_ms + dst_ms) / MS_PER_S;
}

/* Add a step unless only the zone's abbreviation changed. False when the table is full. */
static bool add_step(struct calendar *calendar, int64_t at_s, int32_t offset_s)
{
    if (calendar->count > 0 && calendar->steps[calendar->count - 1].offset_s == offset_s) {
        return true;
    }
    if (calendar->count == CALENDAR_STEPS) {
        return false;
    }
    calendar->steps[calendar->count] = (struct calendar_step){.at_s = at_s, .offset_s = offset_s};
    calendar->count++;
    return true;
}

/* Walk over the transitions, each later than the last. False: ICU failed or the table is full. */
static bool list_steps(UCalendar *ucal, struct calendar *calendar)
{
    UErrorCode status = U_ZERO_ERROR;
    UDate at_ms = (UDate)(FIRST_S * MS_PER_S);
    ucal_setMillis(ucal, at_ms, &status);
    bool fits = add_step(calendar, INT64_MIN, current_offset_s(ucal, &status));
    while (fits && U_SUCCESS(status) &&
           ucal_getTimeZoneTransitionDate(ucal, UCAL_TZ_TRANSITION_NEXT, &at_ms, &status)) {
        int64_t at_s = (int64_t)at_ms / MS_PER_S;
        if (at_s >= LAST_S) {
            break;
        }
        ucal_setMillis(ucal, at_ms, &status);
        fits = add_step(calendar, at_s, current_offset_s(ucal, &status));
    }
    return fits && U_SUCCESS(status);
}

enum error_code zone_load(const char *name,
                          uint8_t fiscal_year_start,
                          struct calendar *ret_calendar,
                          struct error *err)
{
    UChar wide[LIMIT_ZONE_BYTES + 1];
    assert(fiscal_year_start >= 1 && fiscal_year_start <= 12);
    if (strcmp(name, "UTC") == 0) {
        calendar_init_utc(ret_calendar);
        ret_calendar->fiscal_year_start = fiscal_year_start;
        return ERR_OK;
    }
    if (!widen(name, wide) || !is_iana_zone(name, wide)) {
        return error_set_field(err, ERR_INVALID_FIELD, "timezone",
                               "\"%.64s\" is not UTC or an IANA zone such as Asia/Shanghai", name);
    }
    UErrorCode status = U_ZERO_ERROR;
    CLEANUP(close_ucal) UCalendar *ucal = ucal_open(wide, -1, "", UCAL_GREGORIAN, &status);
    CLEANUP(cleanup_free) struct calendar *calendar = calloc(1, sizeof *calendar);
    if (U_FAILURE(status) || calendar == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "cannot open time zone %s (ICU: %s)", name,
                         u_errorName(status));
    }
    if (!list_steps(ucal, calendar)) {
        return error_set(err, ERR_UNAVAILABLE, "cannot list the offsets of time zone %s", name);
    }
    calendar->fiscal_year_start = fiscal_year_start;
    *ret_calendar = *calendar;
    return ERR_OK;
}
