/*
 * The charge of a run. One cursor walks the run's time in pieces of one rate; totals, days, months
 * and the reach of an amount are sums over its pieces. Pure.
 */
#include "ledger/core/charge.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "ledger/base/check.h"
#include "ledger/base/civil.h"

__extension__ typedef __int128 wide;

/* ---- the walk ---- */

/* Where a walk stands; at_s only grows. */
struct cursor {
    const struct run *run;
    int32_t segment;
    int32_t suspension;
    int64_t at_s;
};

/* A stretch of time that is charged at one rate. */
struct piece {
    int64_t from_s;
    int64_t to_s;
    const struct segment *segment;
};

struct sums {
    wide mcs;
    wide mgs;
};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct cursor cursor_at(const struct run *run, int64_t at_s)
{
    return (struct cursor){.run = run, .at_s = later(at_s, run->started_s)};
}

static int64_t segment_end(const struct run *run, int32_t segment)
{
    return segment + 1 < run->segment_count ? run->segments[segment + 1].from_s : INT64_MAX;
}

/* The next charged piece before until_s; false when there is none, and then the cursor is there. */
static bool cursor_next(struct cursor *cursor, int64_t until_s, struct piece *ret_piece)
{
    const struct run *run = cursor->run;
    while (cursor->at_s < until_s) {
        while (segment_end(run, cursor->segment) <= cursor->at_s) {
            cursor->segment++;
        }
        while (cursor->suspension < run->suspension_count &&
               run->suspensions[cursor->suspension].to_s <= cursor->at_s) {
            cursor->suspension++;
        }
        const struct interval *pause = cursor->suspension < run->suspension_count
                                           ? &run->suspensions[cursor->suspension]
                                           : NULL;
        if (pause != NULL && pause->from_s <= cursor->at_s) {
            cursor->at_s = earlier(until_s, pause->to_s);
            continue;
        }
        int64_t end_s = earlier(until_s, segment_end(run, cursor->segment));
        end_s = pause != NULL ? earlier(end_s, pause->from_s) : end_s;
        *ret_piece = (struct piece){cursor->at_s, end_s, &run->segments[cursor->segment]};
        cursor->at_s = end_s;
        return true;
    }
    return false;
}

/* Sum of the pieces from the cursor to until_s. */
static struct sums cursor_sum(struct cursor *cursor, int64_t until_s)
{
    struct sums sums = {0, 0};
    struct piece piece;
    while (cursor_next(cursor, until_s, &piece)) {
        wide seconds = piece.to_s - piece.from_s;
        sums.mcs += seconds * piece.segment->rate_mcores;
        sums.mgs += seconds * piece.segment->mgpus;
    }
    return sums;
}

static int64_t narrow(wide value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* ---- totals ---- */

int64_t charge_gross(const struct run *run)
{
    struct cursor cursor = cursor_at(run, run->started_s);
    return narrow(cursor_sum(&cursor, run->booked_until_s).mcs);
}

int64_t charge_total(const struct run *run)
{
    return run->waived != 0 ? 0 : charge_gross(run);
}

void charge_between(const struct run *run,
                    int64_t from_s,
                    int64_t to_s,
                    int64_t *ret_mcs,
                    int64_t *ret_mgs)
{
    struct cursor cursor = cursor_at(run, from_s);
    struct sums sums = cursor_sum(&cursor, earlier(to_s, run->booked_until_s));
    *ret_mcs = narrow(sums.mcs);
    *ret_mgs = narrow(sums.mgs);
}

int64_t charge_reach(const struct run *run, int64_t mcs, int64_t until_s)
{
    struct cursor cursor = cursor_at(run, run->started_s);
    struct piece piece;
    wide left = later(mcs, 0);
    while (cursor_next(&cursor, until_s, &piece)) {
        wide rate = piece.segment->rate_mcores;
        wide cost = rate * (piece.to_s - piece.from_s);
        if (cost > left) {
            return piece.from_s + (int64_t)(left / rate);
        }
        left -= cost;
    }
    return later(until_s, run->started_s);
}

int32_t charge_months(const struct run *run,
                      const struct calendar *calendar,
                      struct month_amount *months,
                      int32_t most)
{
    if (run->waived != 0 || run->started_s >= run->booked_until_s) {
        return 0;
    }
    struct cursor cursor = cursor_at(run, run->started_s);
    int32_t count = 0;
    int32_t month = calendar_month(calendar, run->started_s);
    for (; cursor.at_s < run->booked_until_s; month++) {
        int64_t end_s = calendar_month_start(calendar, month + 1);
        int64_t mcs = narrow(cursor_sum(&cursor, earlier(end_s, run->booked_until_s)).mcs);
        if (mcs > 0) {
            assert(count < most);
            months[count++] = (struct month_amount){.month = month, .mcs = mcs};
        }
    }
    return count;
}

/* ---- the difference of two states of a run, by day ---- */

/* One of the two states. finish_s: nothing of it is booked from there on. */
struct side {
    const struct run *run;
    int64_t finish_s;
    int64_t last_s; /* its last second, when it has ended; else -1 */
    struct cursor cursor;
};

/* What a side has on one day. */
struct day_use {
    int64_t mcs;
    int64_t mgs;
    int64_t runs;
};

/* Days are booked one after the other. */
struct booking {
    const struct charge_context *context;
    struct plan *plan;
    int32_t day;
};

static int64_t last_second(const struct run *run)
{
    return run->ended_s == 0 ? -1 : later(run->started_s, run->ended_s - 1);
}

static struct side side_of(const struct run *run, int64_t from_s)
{
    if (run == NULL || run->started_s == 0) {
        return (struct side){.finish_s = INT64_MIN, .last_s = -1};
    }
    int64_t last_s = last_second(run);
    return (struct side){
        .run = run,
        .finish_s = later(run->booked_until_s, last_s + 1),
        .last_s = last_s,
        .cursor = cursor_at(run, from_s),
    };
}

static struct day_use side_use(struct side *side, int64_t from_s, int64_t to_s)
{
    if (side->run == NULL) {
        return (struct day_use){0, 0, 0};
    }
    struct sums sums = cursor_sum(&side->cursor, earlier(to_s, side->run->booked_until_s));
    return (struct day_use){
        .mcs = narrow(sums.mcs),
        .mgs = narrow(sums.mgs),
        .runs = side->last_s >= from_s && side->last_s < to_s ? 1 : 0,
    };
}

/* Where the pieces of two lists of facts first differ, at most `at_s`. */
static int64_t segments_differ_at(const struct run *a, const struct run *b, int64_t at_s)
{
    for (int32_t i = 0; i < a->segment_count || i < b->segment_count; i++) {
        int64_t a_s = i < a->segment_count ? a->segments[i].from_s : INT64_MAX;
        int64_t b_s = i < b->segment_count ? b->segments[i].from_s : INT64_MAX;
        if (a_s != b_s || a->segments[i].rate_mcores != b->segments[i].rate_mcores ||
            a->segments[i].mgpus != b->segments[i].mgpus) {
            return earlier(at_s, earlier(a_s, b_s));
        }
    }
    return at_s;
}

static int64_t suspensions_differ_at(const struct run *a, const struct run *b, int64_t at_s)
{
    static const struct interval NEVER = {INT64_MAX, INT64_MAX};
    for (int32_t i = 0; i < a->suspension_count || i < b->suspension_count; i++) {
        const struct interval *mine = i < a->suspension_count ? &a->suspensions[i] : &NEVER;
        const struct interval *theirs = i < b->suspension_count ? &b->suspensions[i] : &NEVER;
        if (mine->from_s != theirs->from_s) {
            return earlier(at_s, earlier(mine->from_s, theirs->from_s));
        }
        if (mine->to_s != theirs->to_s) {
            return earlier(at_s, earlier(mine->to_s, theirs->to_s));
        }
    }
    return at_s;
}

static bool same_rows(const struct run *before, const struct run *after)
{
    return before->outcome == after->outcome && before->waived == after->waived;
}

/* Up to this time the two states are booked alike, so that a heartbeat of a run of months costs no
 * more than one of a run of minutes. */
static int64_t agree_until(const struct run *before, const struct run *after)
{
    if (before == NULL || before->started_s != after->started_s || !same_rows(before, after)) {
        return INT64_MIN;
    }
    int64_t at_s = earlier(before->booked_until_s, after->booked_until_s);
    at_s = segments_differ_at(before, after, at_s);
    at_s = suspensions_differ_at(before, after, at_s);
    if (before->ended_s != after->ended_s) {
        at_s = before->ended_s != 0 ? earlier(at_s, last_second(before)) : at_s;
        at_s = after->ended_s != 0 ? earlier(at_s, last_second(after)) : at_s;
    }
    return at_s;
}

static void book_row(const struct booking *booking,
                     const struct run *run,
                     struct day_use use,
                     int64_t sign)
{
    if (use.mcs == 0 && use.mgs == 0 && use.runs == 0) {
        return;
    }
    struct plan *plan = booking->plan;
    int64_t period = calendar_day_month(booking->day);
    int64_t oldest = booking->context->oldest_open_month;
    enum usage_kind kind = period < oldest ? USAGE_CORRECTION : booking->context->kind;
    assert(plan->usage_count < PLAN_USAGE);
    plan->usage[plan->usage_count++] = (struct usage_delta){
        .month = later(period, oldest),
        .day = booking->day,
        .period = period,
        .kind = run->waived != 0 ? USAGE_WAIVED : kind,
        .outcome = run->outcome,
        .used_mcs = run->waived != 0 ? 0 : sign * use.mcs,
        .mgs = sign * use.mgs,
        .waived_mcs = run->waived != 0 ? sign * use.mcs : 0,
        .runs = sign * use.runs,
    };
}

/* The same row for both: one difference; other rows: the old taken back, the new added. */
static void book_day(const struct booking *booking,
                     const struct side *before,
                     const struct side *after,
                     struct day_use old,
                     struct day_use new)
{
    if (before->run == NULL || !same_rows(before->run, after->run)) {
        if (before->run != NULL) {
            book_row(booking, before->run, old, -1);
        }
        book_row(booking, after->run, new, 1);
        return;
    }
    struct day_use difference = {new.mcs - old.mcs, new.mgs - old.mgs, new.runs - old.runs};
    book_row(booking, after->run, difference, 1);
}

static_assert(LIMIT_TIME_LIMIT_S == LIMIT_RUN_DAYS * CIVIL_DAY_S,
              "what a time limit allows can be booked");

static enum error_code check_bounds(const struct run *run, struct error *err)
{
    if (run->booked_until_s - run->started_s > LIMIT_RUN_DAYS * CIVIL_DAY_S) {
        return error_set_field(
            err, ERR_INVALID_FIELD, "ended_at",
            "the run lasts %lld s, at most %d days can be booked: send started_at "
            "and ended_at as they were",
            (long long)(run->booked_until_s - run->started_s), LIMIT_RUN_DAYS);
    }
    if (charge_gross(run) > LIMIT_COMMAND_MCS) {
        return error_set_field(err, ERR_INVALID_FIELD, "ended_at",
                               "the run comes to more than the %lld mcs of one command: send its "
                               "times and what was allocated as they were",
                               (long long)LIMIT_COMMAND_MCS);
    }
    return ERR_OK;
}

/* The first time from at_s on at which a side has something; INT64_MAX: none any more. */
static int64_t next_use(const struct side *before, const struct side *after, int64_t at_s)
{
    int64_t next_s = INT64_MAX;
    if (at_s < before->finish_s) {
        next_s = later(at_s, before->run->started_s);
    }
    if (at_s < after->finish_s) {
        next_s = earlier(next_s, later(at_s, after->run->started_s));
    }
    return next_s;
}

enum error_code charge_difference(const struct run *before,
                                  const struct run *after,
                                  const struct charge_context *context,
                                  struct plan *plan,
                                  struct error *err)
{
    if (after->started_s == 0) {
        assert(before == NULL || before->started_s == 0);
        return ERR_OK;
    }
    enum error_code code = check_bounds(after, err);
    if (code != ERR_OK) {
        return code;
    }
    int64_t at_s = agree_until(before, after);
    struct side old = side_of(before, at_s);
    struct side new = side_of(after, at_s);
    struct booking booking = {.context = context, .plan = plan};
    for (at_s = next_use(&old, &new, at_s); at_s != INT64_MAX; at_s = next_use(&old, &new, at_s)) {
        booking.day = calendar_day(context->calendar, at_s);
        int64_t end_s = calendar_day_start(context->calendar, booking.day + 1);
        struct day_use old_use = side_use(&old, at_s, end_s);
        struct day_use new_use = side_use(&new, at_s, end_s);
        book_day(&booking, &old, &new, old_use, new_use);
        at_s = end_s;
    }
    return ERR_OK;
}

/* ---- facts ---- */

static bool is_suspended(const struct run *run)
{
    return run->suspension_count > 0 &&
           run->suspensions[run->suspension_count - 1].to_s == INT64_MAX;
}

static bool one_rate(const struct run *run, int64_t from_s, int64_t to_s)
{
    for (int32_t i = 0; i < run->segment_count; i++) {
        if (run->segments[i].from_s > from_s && run->segments[i].from_s < to_s) {
            return false;
        }
    }
    return true;
}

/* How much it matters that two neighbours stay apart: 0 nothing is lost by joining them, 1 seconds
 * change their day, 2 the charge may change. */
static int join_harm(const struct run *run, int32_t first, const struct calendar *calendar)
{
    int64_t from_s = run->suspensions[first].from_s;
    int64_t to_s = run->suspensions[first + 1].to_s;
    if (!one_rate(run, from_s, to_s)) {
        return 2;
    }
    return calendar_day(calendar, from_s) == calendar_day(calendar, to_s - 1) ? 0 : 1;
}

static void suspension_remove(struct run *run, int32_t at)
{
    run->suspension_count--;
    memmove(&run->suspensions[at], &run->suspensions[at + 1],
            (size_t)(run->suspension_count - at) * sizeof(run->suspensions[0]));
}

/* Join the two neighbours that lose least by it, the closest of equals, and keep their total. */
static void join_closest(struct run *run, const struct calendar *calendar)
{
    int32_t best = 0;
    int best_harm = INT32_MAX;
    int64_t best_gap_s = INT64_MAX;
    for (int32_t i = 0; i + 1 < run->suspension_count; i++) {
        int harm = join_harm(run, i, calendar);
        int64_t gap_s = run->suspensions[i + 1].from_s - run->suspensions[i].to_s;
        if (harm < best_harm || (harm == best_harm && gap_s < best_gap_s)) {
            best = i;
            best_harm = harm;
            best_gap_s = gap_s;
        }
    }
    const struct interval *second = &run->suspensions[best + 1];
    run->suspensions[best].to_s += second->to_s - second->from_s;
    suspension_remove(run, best + 1);
}

static void suspension_append(struct run *run,
                              struct interval pause,
                              const struct calendar *calendar)
{
    if (run->suspension_count == RECORD_SUSPENSIONS) {
        join_closest(run, calendar);
    }
    run->suspensions[run->suspension_count++] = pause;
}

void run_suspend(struct run *run, int64_t at_s, const struct calendar *calendar)
{
    if (is_suspended(run)) {
        return;
    }
    int64_t from_s = later(at_s, run->started_s);
    if (run->suspension_count > 0) {
        from_s = later(from_s, run->suspensions[run->suspension_count - 1].to_s);
    }
    suspension_append(run, (struct interval){from_s, INT64_MAX}, calendar);
}

void run_resume(struct run *run, int64_t at_s)
{
    if (!is_suspended(run)) {
        return;
    }
    struct interval *open = &run->suspensions[run->suspension_count - 1];
    if (at_s <= open->from_s) {
        run->suspension_count--;
        return;
    }
    open->to_s = at_s;
}

void run_end(struct run *run, int64_t ended_s)
{
    assert(ended_s >= run->started_s);
    while (run->suspension_count > 0 &&
           run->suspensions[run->suspension_count - 1].from_s >= ended_s) {
        run->suspension_count--;
    }
    if (run->suspension_count > 0) {
        struct interval *last = &run->suspensions[run->suspension_count - 1];
        last->to_s = earlier(last->to_s, ended_s);
    }
    while (run->segment_count > 1 && run->segments[run->segment_count - 1].from_s >= ended_s) {
        run->segment_count--;
    }
    run->ended_s = ended_s;
    run->booked_until_s = ended_s;
}

int64_t run_suspended_s(const struct run *run, int64_t until_s)
{
    int64_t total_s = 0;
    for (int32_t i = 0; i < run->suspension_count; i++) {
        int64_t from_s = later(run->suspensions[i].from_s, run->started_s);
        int64_t to_s = earlier(run->suspensions[i].to_s, until_s);
        total_s += later(to_s - from_s, 0);
    }
    return total_s;
}

/* Suspend the last more_s unsuspended seconds as well. */
static void suspend_from_end(struct run *run, int64_t more_s, const struct calendar *calendar)
{
    struct interval tail = {run->ended_s, run->ended_s};
    while (more_s > 0) {
        int32_t last = run->suspension_count - 1;
        int64_t gap_from_s = last >= 0 ? run->suspensions[last].to_s : run->started_s;
        int64_t take_s = earlier(more_s, tail.from_s - gap_from_s);
        tail.from_s -= take_s;
        more_s -= take_s;
        if (last >= 0 && tail.from_s == gap_from_s) {
            tail.from_s = run->suspensions[last].from_s;
            run->suspension_count--;
        }
    }
    suspension_append(run, tail, calendar);
}

/* The last less_s suspended seconds were not. */
static void unsuspend_from_end(struct run *run, int64_t less_s)
{
    while (less_s > 0) {
        struct interval *last = &run->suspensions[run->suspension_count - 1];
        int64_t take_s = earlier(less_s, last->to_s - last->from_s);
        last->to_s -= take_s;
        less_s -= take_s;
        if (last->to_s == last->from_s) {
            run->suspension_count--;
        }
    }
}

void run_suspended_set(struct run *run, int64_t total_s, const struct calendar *calendar)
{
    assert(run->ended_s >= run->started_s && total_s >= 0);
    int64_t known_s = run_suspended_s(run, run->ended_s);
    total_s = earlier(total_s, run->ended_s - run->started_s);
    if (total_s > known_s) {
        suspend_from_end(run, total_s - known_s, calendar);
    } else {
        unsuspend_from_end(run, known_s - total_s);
    }
}

static bool segment_has(const struct segment *segment, int64_t rate_mcores, int64_t mgpus)
{
    return segment->rate_mcores == rate_mcores && segment->mgpus == mgpus;
}

enum error_code run_resize(struct run *run,
                           int64_t at_s,
                           int64_t rate_mcores,
                           int64_t mgpus,
                           struct error *err)
{
    assert(run->segment_count > 0);
    int64_t from_s = run->started_s == 0 ? 0 : later(at_s, run->started_s);
    int32_t at = run->segment_count - 1;
    while (at > 0 && run->segments[at].from_s > from_s) {
        at--;
    }
    struct segment fresh = {.from_s = from_s, .rate_mcores = rate_mcores, .mgpus = mgpus};
    if (run->started_s == 0 || run->segments[at].from_s == from_s) {
        run->segments[at] = fresh;
        return ERR_OK;
    }
    if (segment_has(&run->segments[at], rate_mcores, mgpus)) {
        return ERR_OK;
    }
    if (run->segment_count == RECORD_SEGMENTS) {
        return error_set(err, ERR_INVALID_FIELD, "the run has been resized %d times already",
                         RECORD_SEGMENTS - 1);
    }
    memmove(&run->segments[at + 2], &run->segments[at + 1],
            (size_t)(run->segment_count - at - 1) * sizeof(run->segments[0]));
    run->segments[at + 1] = fresh;
    run->segment_count++;
    return ERR_OK;
}

static void cut_segments_before(struct run *run, int64_t started_s)
{
    int32_t first = 0;
    while (first + 1 < run->segment_count && run->segments[first + 1].from_s <= started_s) {
        first++;
    }
    run->segment_count -= first;
    memmove(&run->segments[0], &run->segments[first],
            (size_t)run->segment_count * sizeof(run->segments[0]));
    run->segments[0].from_s = started_s;
}

static void cut_suspensions_before(struct run *run, int64_t started_s)
{
    while (run->suspension_count > 0 && run->suspensions[0].to_s <= started_s) {
        suspension_remove(run, 0);
    }
    if (run->suspension_count > 0) {
        run->suspensions[0].from_s = later(run->suspensions[0].from_s, started_s);
    }
}

void run_start_move(struct run *run, int64_t started_s)
{
    assert(run->segment_count > 0 && started_s > 0);
    cut_segments_before(run, started_s);
    cut_suspensions_before(run, started_s);
    run->started_s = started_s;
    run->booked_until_s = later(run->booked_until_s, started_s);
}

enum error_code run_freeze_amount(const struct run *run,
                                  int64_t at_s,
                                  int64_t limit_s,
                                  int64_t *ret_mcs,
                                  struct error *err)
{
    assert(run->segment_count > 0 && limit_s >= 0);
    wide total = 0;
    int64_t elapsed_s = 0;
    if (run->started_s != 0 && at_s > run->started_s) {
        struct cursor cursor = cursor_at(run, run->started_s);
        total = cursor_sum(&cursor, at_s).mcs;
        elapsed_s = at_s - run->started_s - run_suspended_s(run, at_s);
    }
    wide rest_s = later(limit_s - elapsed_s, 0);
    total += rest_s * run->segments[run->segment_count - 1].rate_mcores;
    if (total > LIMIT_COMMAND_MCS) {
        return error_set(err, ERR_INVALID_FIELD,
                         "%lld s at this rate exceed the %lld mcs of one command",
                         (long long)limit_s, (long long)LIMIT_COMMAND_MCS);
    }
    *ret_mcs = (int64_t)total;
    return ERR_OK;
}
