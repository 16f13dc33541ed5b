/*
 * Any moves between any grants, one after the other: no balance leaves its range, each is what its entries say, and draws add up.
 */
#include <string.h>

#include "ledger/core/funds.h"
#include "ledger/core/plan.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"

enum { STEPS = 100, PAYER = 7 };

static struct view view;
static struct plan plan;
static const struct funds_context CONTEXT = {.hold_no = 1, .kind = ENTRY_FREEZE};

static void take_rows(struct bytes *bytes)
{
    memset(&view, 0, sizeof view);
    view.now_s = 1000;
    view.node_count = 1;
    view.nodes[0].node.node_no = PAYER;
    view.nodes[0].node.overdraft_mcs = bytes_number(bytes) / 16;
    view.grant_count = 1 + (int32_t)bytes_range(bytes, 0, VIEW_GRANTS - 1);
    int64_t end_s = 990;
    for (int32_t i = 0; i < view.grant_count; i++) {
        end_s += bytes_take(bytes) % 8;
        view.grants[i] = (struct grant){.grant_no = i + 1,
                                        .node_no = PAYER,
                                        .start_s = 990 + bytes_take(bytes) % 32,
                                        .end_s = end_s};
    }
    if (view.grant_count > 1 && bytes_take(bytes) % 4 == 0) {
        view.grants[view.grant_count - 2].kind = GRANT_ENDLESS;
        view.grants[view.grant_count - 2].end_s = INT64_MAX;
    }
    struct grant *overdraft = &view.grants[view.grant_count - 1];
    overdraft->kind = GRANT_OVERDRAFT;
    overdraft->start_s = 0;
    overdraft->end_s = INT64_MAX;
}

static void person_move(struct bytes *bytes)
{
    int32_t row = (int32_t)bytes_range(bytes, 0, view.grant_count - 1);
    struct grant *grant = &view.grants[row];
    view.now_s += bytes_take(bytes) % 4;
    if (grant->kind != GRANT_TIMED || grant->ended != 0) {
        (void)!funds_withdraw(&view, &plan, bytes_number(bytes), NULL);
    } else if (grant->end_s <= view.now_s) {
        funds_expire(&view, &plan, row);
    } else {
        (void)!funds_issue(&view, &plan, row, bytes_range(bytes, 1, LIMIT_COMMAND_MCS), NULL);
        funds_repay(&view, &plan);
    }
}

static void hold_move(struct bytes *bytes)
{
    int64_t expired;
    int64_t frozen = bytes_range(bytes, 0, view.hold.frozen_mcs);
    int64_t used = bytes_range(bytes, 0, view.hold.used_mcs);
    int64_t fresh = bytes_range(bytes, 0, LIMIT_COMMAND_MCS);
    switch (bytes_take(bytes) % 7) {
    case 0:
        (void)!funds_freeze(&view, &plan, &CONTEXT, fresh, false, NULL);
        break;
    case 1:
        (void)!funds_freeze(&view, &plan, &CONTEXT, fresh, true, NULL);
        break;
    case 2:
        (void)!funds_use_over(&view, &plan, &CONTEXT, fresh, NULL);
        break;
    case 3:
        funds_use_frozen(&view, &plan, &CONTEXT, frozen);
        break;
    case 4:
        funds_refreeze(&view, &plan, &CONTEXT, used);
        break;
    case 5:
        funds_unfreeze(&view, &plan, &CONTEXT, frozen, &expired);
        break;
    default:
        funds_return_used(&view, &plan, &CONTEXT, used, &expired);
        break;
    }
}

static void check_row(const struct grant *grant)
{
    require(grant->frozen_mcs >= 0 && grant->used_mcs >= 0 && grant->expired_mcs >= 0);
    require(grant->kind != GRANT_TIMED || grant->available_mcs >= 0);
    require(grant->kind != GRANT_OVERDRAFT || grant->available_mcs <= 0);
    require(grant->available_mcs == grant->granted_mcs + grant->in_mcs - grant->out_mcs -
                                        grant->withdrawn_mcs + grant->moved_mcs - grant->used_mcs -
                                        grant->frozen_mcs - grant->expired_mcs);
}

static int64_t draws_sum(const struct draw *draws, int32_t count)
{
    int64_t sum = 0;
    require(count >= 0 && count <= RECORD_DRAWS);
    for (int32_t i = 0; i < count; i++) {
        require(draws[i].mcs > 0);
        sum += draws[i].mcs;
    }
    return sum;
}

static void check_all(int64_t frozen_before_mcs)
{
    int64_t frozen = 0;
    int64_t used = 0;
    for (int32_t i = 0; i < view.grant_count; i++) {
        check_row(&view.grants[i]);
        frozen += view.grants[i].frozen_mcs;
        used += view.grants[i].used_mcs;
    }
    require(plan_is_balanced(&plan));
    require(plan.delta.frozen_mcs == view.hold.frozen_mcs - frozen_before_mcs);
    require(frozen == view.hold.frozen_mcs && used == view.hold.used_mcs);
    require(draws_sum(view.hold.draws, view.hold.draw_count) == frozen);
    require(draws_sum(view.run.draws, view.run.draw_count) == used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes bytes = {data, size};
    take_rows(&bytes);
    for (int step = 0; step < STEPS && bytes.left > 0; step++) {
        int64_t frozen_before_mcs = view.hold.frozen_mcs;
        plan_reset(&plan);
        if (bytes_take(&bytes) % 3 == 0) {
            person_move(&bytes);
        } else {
            hold_move(&bytes);
        }
        check_all(frozen_before_mcs);
    }
    return 0;
}
