/*
 * How a run went, as told. Pure.
 */
#include "ledger/core/run_facts.h"

#include <inttypes.h>
#include <string.h>

#include "ledger/base/text.h"
#include "ledger/core/attempt.h"
#include "ledger/core/charge.h"
#include "ledger/core/new_hold.h"
#include "ledger/core/rate.h"

static enum error_code price_allocated(struct view *view,
                                       const struct command_run *given,
                                       struct run_facts *facts,
                                       struct error *err)
{
    if (!given->resources.given) {
        return ERR_OK;
    }
    struct rate_price price;
    enum error_code code = new_hold_check_resources(&view->resources, "allocated", err);
    if (code != ERR_OK) {
        return code;
    }
    code = rate_price(&view->card, view->hold.partition, view->hold.qos, &view->resources, &price,
                      err);
    if (code != ERR_OK) {
        return code;
    }
    facts->allocated = true;
    facts->rate_mcores = price.rate_mcores;
    facts->mgpus = price.mgpus;
    return ERR_OK;
}

enum error_code run_facts_read(struct view *view,
                               const struct command_run *given,
                               enum outcome otherwise,
                               struct run_facts *ret_facts,
                               struct error *err)
{
    struct run_facts facts = {
        .started_s = given->started_at_s,
        .ended_s = given->ended_at_s,
        .suspended_given = given->suspended_given,
        .suspended_s = given->suspended_given ? given->suspended_s : 0,
        .outcome = given->outcome != OUTCOME_RUNNING ? given->outcome : otherwise,
    };
    enum error_code code = time_check(view, "started_at", facts.started_s, err);
    if (code == ERR_OK) {
        code = time_check(view, "ended_at", facts.ended_s, err);
    }
    if (code == ERR_OK) {
        code = price_allocated(view, given, &facts, err);
    }
    if (code == ERR_OK) {
        *ret_facts = facts;
    }
    return code;
}

static enum error_code check_order(int64_t started_s,
                                   int64_t ended_s,
                                   const struct run_facts *facts,
                                   struct error *err)
{
    char start[TEXT_TIME_BYTES];
    char end[TEXT_TIME_BYTES];
    if (started_s == 0) {
        return error_set_field(err, ERR_INVALID_FIELD, "started_at",
                               "missing: no start of this run is known, so say when it began");
    }
    if (ended_s < started_s) {
        return error_set_field(err, ERR_INVALID_FIELD, "ended_at",
                               "%s lies before the start %s: at the start or later",
                               text_format_time(ended_s, end), text_format_time(started_s, start));
    }
    if (facts->suspended_given &&
        (facts->suspended_s < 0 || facts->suspended_s > ended_s - started_s)) {
        return error_set_field(err, ERR_INVALID_FIELD, "suspended_s",
                               "%" PRId64 " s suspended, but the run lasted %" PRId64
                               " s: 0 to that",
                               facts->suspended_s, ended_s - started_s);
    }
    return ERR_OK;
}

enum error_code run_facts_apply(struct view *view,
                                const struct run_facts *facts,
                                const struct calendar *calendar,
                                struct error *err)
{
    struct run *run = &view->run;
    const struct node *root = &view->nodes[view->node_count - 1].node;
    int64_t started_s = facts->started_s > 0 ? facts->started_s : run->started_s;
    int64_t ended_s = facts->ended_s > 0 ? facts->ended_s : run->ended_s;
    enum error_code code = check_order(started_s, ended_s, facts, err);
    if (code != ERR_OK) {
        return code;
    }
    run_start_move(run, started_s);
    run_end(run, ended_s);
    if (facts->allocated) {
        struct segment *last = &run->segments[run->segment_count - 1];
        last->rate_mcores = facts->rate_mcores;
        last->mgpus = facts->mgpus;
    }
    if (facts->suspended_given) {
        run_suspended_set(run, facts->suspended_s, calendar);
    }
    run->outcome = facts->outcome;
    run->waived = (root->waived_outcomes >> facts->outcome & 1) != 0;
    return ERR_OK;
}

bool run_facts_agree(const struct run *run, const struct run_facts *facts)
{
    const struct segment *last = &run->segments[run->segment_count - 1];
    return (facts->started_s == 0 || facts->started_s == run->started_s) &&
           (facts->ended_s == 0 || facts->ended_s == run->ended_s) &&
           facts->outcome == run->outcome &&
           (!facts->unpriced || (run->flags & FLAG_UNPRICED) != 0) &&
           (!facts->suspended_given || facts->suspended_s == run_suspended_s(run, run->ended_s)) &&
           (!facts->allocated ||
            (facts->rate_mcores == last->rate_mcores && facts->mgpus == last->mgpus));
}

struct digest16 run_facts_digest(const struct run_facts *facts)
{
    struct digest_state state;
    digest_init(&state);
    digest_update_i64(&state, facts->started_s);
    digest_update_i64(&state, facts->ended_s);
    digest_update_i64(&state, facts->suspended_given ? facts->suspended_s : -1);
    digest_update_i64(&state, facts->outcome);
    int64_t no_rate = facts->unpriced ? -2 : -1;
    digest_update_i64(&state, facts->allocated ? facts->rate_mcores : no_rate);
    digest_update_i64(&state, facts->allocated ? facts->mgpus : -1);
    struct digest digest = digest_finish(&state);
    struct digest16 half;
    memcpy(half.bytes, digest.bytes, sizeof half.bytes);
    return half;
}

void run_totals_answer(const struct run *run, struct plan *plan)
{
    plan->run_charged_mcs = run->charged_mcs;
    plan->run_refunded_mcs = run->returned_mcs;
    plan->run_overrun_mcs = run->overrun_mcs;
    plan->run_waived_mcs = run->waived_mcs;
    plan->run_expired_mcs = run->expired_mcs;
}

void run_totals_set(struct run *run)
{
    int64_t over_mcs = run->charged_mcs - run->settled_frozen_mcs;
    run->overrun_mcs = over_mcs > 0 ? over_mcs : 0;
    run->returned_mcs = run->overrun_mcs - over_mcs;
    run->waived_mcs = run->waived != 0 ? charge_gross(run) : 0;
}
