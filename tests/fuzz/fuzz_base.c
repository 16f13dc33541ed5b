/* Texts from outside: whatever the bytes, no parser reads beyond them, and what one accepts is written back the same. */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/amount.h"
#include "ledger/base/calendar.h"
#include "ledger/base/cleanup.h"
#include "ledger/base/digest.h"
#include "ledger/base/text.h"
#include "ledger/base/zone.h"
#include "tests/fuzz/target.h"

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_amount(const char *text)
{
    struct amount amount;
    struct amount again;
    char written[AMOUNT_TEXT_BYTES];
    if (amount_from_core_hours_text(text, &amount, NULL) != ERR_OK) {
        return;
    }
    require(amount.mcs >= 0 && amount.mcs % 36 == 0);
    (void)amount_format_core_hours(amount, 5, written);
    require(amount_from_core_hours_text(written, &again, NULL) == ERR_OK &&
            again.mcs == amount.mcs);
}

static void check_time(const char *text)
{
    int64_t time_s;
    int64_t again_s;
    char written[TEXT_TIME_BYTES];
    if (text_parse_time(text, &time_s, NULL) != ERR_OK) {
        return;
    }
    require(time_s >= 0 && time_s <= LIMIT_TIME_S);
    (void)text_format_time(time_s, written);
    require(text_parse_time(written, &again_s, NULL) == ERR_OK && again_s == time_s);
}

static void check_periods(const char *text)
{
    int32_t number;
    char month[CALENDAR_MONTH_TEXT_BYTES];
    char day[CALENDAR_DAY_TEXT_BYTES];
    if (calendar_parse_month(text, &number, NULL) == ERR_OK) {
        require(strcmp(calendar_format_month(number, month), text) == 0);
    }
    if (calendar_parse_day(text, &number, NULL) == ERR_OK) {
        require(strcmp(calendar_format_day(number, day), text) == 0);
    }
}

static void check_names(const char *text)
{
    struct error err;
    require(!text_is_node_name(text) || text_is_id(text));
    require(!text_is_id(text) || text_is_name(text));
    (void)error_set_field(&err, ERR_INVALID_FIELD, text, "not \"%s\"", text);
    require(text_is_printable(err.detail, strlen(err.detail)));
    require(text_is_printable(err.field, strlen(err.field)));
}

static void check_digest(const char *text)
{
    struct digest digest;
    char written[DIGEST_TEXT_BYTES];
    if (digest_parse(text, &digest)) {
        struct digest again;
        require(digest_parse(digest_format(&digest, written), &again) &&
                digest_equal(&digest, &again));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct calendar calendar;
    CLEANUP(cleanup_free) char *text = malloc(size + 1);
    require(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    (void)text_is_printable((const char *)data, size);
    check_amount(text);
    check_time(text);
    check_periods(text);
    check_names(text);
    check_digest(text);
    if (size <= 2 * LIMIT_ZONE_BYTES) {
        bool known = zone_load(text, 1, &calendar, NULL) == ERR_OK;
        require(IMPLIES(known, calendar.count >= 1 && calendar.steps[0].at_s == INT64_MIN));
    }
    return 0;
}
