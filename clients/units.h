/*
 * Amounts, durations, sizes and times as people write and read them. No floating point anywhere: an
 * amount goes from the text of a person to the text of a request, digit by digit.
 *
 * All functions are pure (corehour_time_parse aside, which takes the present as a parameter, and so
 * is pure too), safe in any thread and never allocate.
 */
#ifndef COREHOUR_CLIENTS_UNITS_H
#define COREHOUR_CLIENTS_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "result.h"

/* One core-hour in milli-core-seconds (SPEC 1.1). */
#define COREHOUR_MCS_PER_CORE_HOUR INT64_C(3600000)

/* Room for any text that the functions below write, the terminating NUL included. */
#define COREHOUR_UNITS_TEXT_BYTES 32

/*
 * Checks that `text` is an amount of core-hours as the API takes it: digits, optionally a point and
 * 1 to 5 more digits ("1000", "0.10"), at most 15 digits in all. No sign, no exponent, no space.
 * Returns COREHOUR_OK or COREHOUR_INVALID. SPEC 1.3.
 */
COREHOUR_API enum corehour_result corehour_amount_check(const char *text);

/*
 * Writes `mcs` (any value) as core-hours with two decimals, rounded half up away from zero: 4800000
 * gives "1.33". `ret_text` has COREHOUR_UNITS_TEXT_BYTES.
 */
COREHOUR_API void corehour_amount_format(int64_t mcs, char *ret_text);

/* Writes a number of thousandths with three decimals: 16000 gives "16.000". */
COREHOUR_API void corehour_thousandths_format(int64_t thousandths, char *ret_text);

/* Writes seconds as minutes with two decimals, rounded half up: 300 gives "5.00". */
COREHOUR_API void corehour_minutes_format(int64_t seconds, char *ret_text);

/* Writes seconds in the largest units that are exact: 5400 gives "1h30m", 86400 "1d", 0 "0s". */
COREHOUR_API void corehour_duration_format(int64_t seconds, char *ret_text);

/*
 * Reads a duration: plain seconds ("300"), units ("5m", "1h30m", "2d", "1w"; each unit once, from
 * large to small), or Slurm's colons ("5:00" is minutes and seconds, "1:30:00", "2-12", "2-12:30",
 * "2-12:30:00"). A plain number is seconds, not Slurm's minutes.
 *
 * ret_seconds: 0 to 10^11. Returns COREHOUR_OK; COREHOUR_INVALID for any other text; COREHOUR_RANGE
 * when it is longer than that, or when minutes or seconds behind a colon reach 60 or hours behind a
 * day 24.
 */
COREHOUR_API enum corehour_result corehour_duration_parse(const char *text, int64_t *ret_seconds);

/*
 * Reads a size of memory: MiB as a plain number ("65536"), or with K, M, G or T, with or without
 * "i" or "iB" or "B" ("64G", "64GiB"). All are powers of 1024, as Slurm counts; kibibytes must make
 * whole MiB.
 *
 * ret_mib: 0 to 2^43. Returns COREHOUR_OK, COREHOUR_INVALID or COREHOUR_RANGE.
 */
COREHOUR_API enum corehour_result corehour_memory_parse(const char *text, int64_t *ret_mib);

/*
 * Reads a time: "now", an age or a delay ("-5m", "+1h30m"; as durations above), "@1796058251"
 * (seconds since 1970), a date ("2026-12-01", midnight UTC), or RFC 3339 with any offset
 * ("2026-12-01T10:00:00+08:00"; a fraction is cut).
 *
 * now_s: the present, in seconds since 1970. ret_s: seconds since 1970, from the year 1970 to 9999.
 * Returns COREHOUR_OK, COREHOUR_INVALID, or COREHOUR_RANGE (a 13th month, a 30th of February).
 */
COREHOUR_API enum corehour_result corehour_time_parse(const char *text,
                                                      int64_t now_s,
                                                      int64_t *ret_s);

/* Writes seconds since 1970 as RFC 3339 in UTC: "2026-12-01T00:10:00Z". Years beyond 9999 give "-".
 */
COREHOUR_API void corehour_time_format(int64_t time_s, char *ret_text);

#endif
