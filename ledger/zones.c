/* See zones.h. */
#include "ledger/zones.h"

#include <stdlib.h>

bool zone_step_append(struct calendar *calendar, const struct zone_step *step)
{
    if (calendar->count >= CALENDAR_STEPS) {
        return false;
    }
    calendar->steps[calendar->count++] = (struct calendar_step){
        .at_s = step->at_s,
        .offset_s = (int32_t)step->offset_s,
    };
    return true;
}

static bool collect_step(void *context, const void *record)
{
    return zone_step_append(context, record);
}

static void load(struct ledger *ledger, const struct node *root, struct root_time *time)
{
    time->calendar.count = 0;
    struct select_args args = {.n = {root->node_no}};
    working_set_select(ledger->set, SELECT_ZONE, &args, collect_step, &time->calendar);
    if (time->calendar.count == 0) {
        calendar_init_utc(&time->calendar);
    }
    time->calendar.fiscal_year_start = (uint8_t)root->fiscal_year_start;
}

void root_time_set(struct root_time *time, int64_t now_s)
{
    const struct calendar *calendar = &time->calendar;
    int32_t month = calendar_month(calendar, now_s);
    int32_t quarter = calendar_quarter_first_month(calendar, month);
    int32_t year = calendar_year_first_month(calendar, month);
    time->at_s = now_s;
    time->month = month;
    time->quarter_first = quarter;
    time->year_first = year;
    time->window_end_s[CAP_MONTH] = calendar_month_start(calendar, month + 1);
    time->window_end_s[CAP_QUARTER] = calendar_month_start(calendar, quarter + 3);
    time->window_end_s[CAP_YEAR] = calendar_month_start(calendar, year + 12);
    time->window_end_s[CAP_TOTAL] = INT64_MAX;
}

/* UTC, when there is no memory: the transaction has failed then. */
static struct root_time *make(struct ledger *ledger, const struct node *root)
{
    struct root_time *time = malloc(sizeof *time);
    if (time == NULL || !map_add(&ledger->times, root->node_no, time)) {
        free(time);
        working_set_fail_memory(ledger->set, "a calendar");
        calendar_init_utc(&ledger->utc.calendar);
        return &ledger->utc;
    }
    load(ledger, root, time);
    return time;
}

const struct root_time *zones_at(struct ledger *ledger, const struct node *root, int64_t now_s)
{
    struct root_time *time = map_get(&ledger->times, root->node_no);
    if (time != NULL && time->at_s == now_s) {
        return time;
    }
    if (time == NULL) {
        time = make(ledger, root);
    }
    root_time_set(time, now_s);
    return time;
}

void zones_store(struct ledger *ledger, int64_t root_no, const struct calendar *calendar)
{
    for (int64_t step = 0;; step++) {
        struct cell *cell = row_find2(ledger->set, RECORD_ZONE_STEP, root_no, step);
        if (step < calendar->count) {
            struct zone_step *row = working_set_put(ledger->set, cell);
            row->at_s = calendar->steps[step].at_s;
            row->offset_s = calendar->steps[step].offset_s;
        } else if (cell_exists(cell)) {
            working_set_remove(ledger->set, cell);
        } else {
            break;
        }
    }
    zones_forget(ledger);
}

void zones_forget(struct ledger *ledger)
{
    map_clear(&ledger->times);
}
