/* See alerts.h. */
#include "ledger/alerts.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/apply.h"
#include "ledger/core/funds.h"
#include "ledger/names.h"

/* ---- the webhooks there are */

static bool collect_hook(void *context, const void *record)
{
    struct ledger *ledger = context;
    struct alert_hooks *hooks = &ledger->alerts;
    const struct webhook *row = record;
    if (row->disabled != 0) {
        return true;
    }
    if (hooks->count == hooks->capacity) {
        const size_t capacity = hooks->capacity == 0 ? 8 : hooks->capacity * 2;
        struct alert_hook *grown = realloc(hooks->hooks, capacity * sizeof grown[0]);
        if (grown == NULL) {
            working_set_fail_memory(ledger->set, "webhooks");
            return false;
        }
        hooks->hooks = grown;
        hooks->capacity = capacity;
    }
    hooks->hooks[hooks->count++] = (struct alert_hook){
        .webhook_no = row->webhook_no,
        .root_no = row->root_no,
        .node_no = row->node_no,
        .types = row->types,
    };
    return true;
}

void alerts_load(struct ledger *ledger)
{
    const struct select_args args = {.limit = 0};
    if (ledger->alerts.loaded) {
        return;
    }
    ledger->alerts.count = 0;
    working_set_select(ledger->set, SELECT_WEBHOOKS, &args, collect_hook, ledger);
    ledger->alerts.loaded = working_set_failure(ledger->set, NULL) == ERR_OK;
    ledger->alerts.epoch = row_next_no(ledger->set, "alert_epoch");
}

void alerts_changed(struct ledger *ledger)
{
    ledger->alerts.loaded = false;
    ledger->alerts.dirty = true;
}

void alerts_forget(struct ledger *ledger)
{
    ledger->alerts.loaded = ledger->alerts.loaded && !ledger->alerts.dirty;
}

void alerts_fini(struct ledger *ledger)
{
    free(ledger->alerts.hooks);
}

static bool hears_root(const struct ledger *ledger, int64_t root_no, int64_t types)
{
    for (size_t i = 0; i < ledger->alerts.count; i++) {
        const struct alert_hook *hook = &ledger->alerts.hooks[i];
        if (hook->root_no == root_no && (hook->types & types) != 0) {
            return true;
        }
    }
    return false;
}

/* ---- levels */

static bool reaches(int64_t committed_mcs, int64_t limit_mcs, int64_t percent)
{
    return (__int128)committed_mcs * 100 >= (__int128)limit_mcs * percent;
}

static const int64_t thresholds[] = {100, 90, 80, 50};

static int64_t level_of(int64_t committed_mcs, int64_t limit_mcs, int64_t less)
{
    for (size_t i = 0; i < ARRAY_LEN(thresholds); i++) {
        if (reaches(committed_mcs, limit_mcs, thresholds[i] - less)) {
            return thresholds[i];
        }
    }
    return 0;
}

int64_t alerts_level(int64_t committed_mcs, int64_t limit_mcs)
{
    return level_of(committed_mcs, limit_mcs, 0);
}

int64_t alerts_kept_level(int64_t committed_mcs, int64_t limit_mcs)
{
    return level_of(committed_mcs, limit_mcs, ALERT_HYSTERESIS);
}

/* ---- writing */

static bool is_at_or_below(struct ledger *ledger, int64_t node_no, int64_t top_no)
{
    while (node_no != 0 && node_no != top_no) {
        const struct node *node = row_get(ledger->set, RECORD_NODE, node_no);
        node_no = node == NULL ? 0 : node->parent_no;
    }
    return node_no == top_no;
}

/* Does a webhook hear of this? A cluster is heard of by those whose root it serves. */
static bool covers(struct ledger *ledger, const struct alert_hook *hook, const struct alert *alert)
{
    if ((hook->types & INT64_C(1) << alert->type) == 0) {
        return false;
    }
    if (alert->type != ALERT_SILENT) {
        return hook->root_no == alert->root_no &&
               is_at_or_below(ledger, alert->node_no, hook->node_no);
    }
    const struct cluster *cluster = row_get(ledger->set, RECORD_CLUSTER, alert->other_no);
    return cluster != NULL && cluster_serves(cluster, hook->root_no);
}

/* A receiver that is down for days has so many waiting and no more: those beyond are dead, and say why. */
static bool find_place(struct ledger *ledger, int64_t webhook_no)
{
    struct cell *cell = row_find(ledger->set, RECORD_WEBHOOK, webhook_no);
    if (!cell_exists(cell) ||
        ((const struct webhook *)cell_record(cell))->pending >= LIMIT_WEBHOOK_PENDING) {
        return false;
    }
    ((struct webhook *)working_set_change(ledger->set, cell))->pending++;
    return true;
}

static void add_delivery(struct ledger *ledger, int64_t webhook_no, int64_t alert_no)
{
    const bool has_place = find_place(ledger, webhook_no);
    struct delivery *row = working_set_append(ledger->set, RECORD_DELIVERY);
    row->delivery_no = row_take_no(ledger->set, "delivery");
    row->webhook_no = webhook_no;
    row->alert_no = alert_no;
    row->state = has_place ? DELIVERY_PENDING : DELIVERY_DEAD;
    row->at_ms = ledger->clock_ms;
    row->next_ms = ledger->clock_ms;
    if (!has_place) {
        row->done_ms = ledger->clock_ms;
        row_text(row->error, sizeof row->error, ALERT_NO_PLACE);
    }
    ledger->alerts.made = true;
}

static bool is_wanted(struct ledger *ledger,
                      const struct alert_hook *hook,
                      const struct alert *alert,
                      int64_t webhook_no)
{
    return webhook_no == 0 ? covers(ledger, hook, alert) : hook->webhook_no == webhook_no;
}

size_t alerts_emit(struct ledger *ledger, const struct alert *alert, int64_t webhook_no)
{
    size_t count = 0;
    for (size_t i = 0; i < ledger->alerts.count; i++) {
        count += is_wanted(ledger, &ledger->alerts.hooks[i], alert, webhook_no);
    }
    if (count == 0) {
        return 0;
    }
    const int64_t alert_no = row_take_no(ledger->set, "alert");
    struct alert *row = working_set_append(ledger->set, RECORD_ALERT);
    *row = *alert;
    row->alert_no = alert_no;
    row->at_ms = ledger->clock_ms;
    row->deliveries = (int64_t)count;
    for (size_t i = 0; i < ledger->alerts.count; i++) {
        const struct alert_hook *hook = &ledger->alerts.hooks[i];
        if (is_wanted(ledger, hook, alert, webhook_no)) {
            add_delivery(ledger, hook->webhook_no, alert_no);
        }
    }
    return count;
}

/* ---- judging one figure */

/* A figure that has passed a threshold, one way or the other. */
struct judged {
    struct alert alert; /* what would be told; its figures are those of now */
    int64_t committed_mcs;
    int64_t window_s; /* the window's end: told again in the next one; 0: no window */
};

static struct cell *state_cell(struct ledger *ledger,
                               int64_t type,
                               int64_t subject_no,
                               int64_t detail)
{
    return row_find3(ledger->set, RECORD_ALERT_STATE, type, subject_no, detail);
}

/* Tell the highest threshold reached that has not been told in this window, and take back what is no longer so. */
static void judge(struct ledger *ledger, const struct judged *judged)
{
    const struct alert *alert = &judged->alert;
    struct cell *cell = state_cell(ledger, alert->type, alert->node_no, alert->cap_kind);
    const struct alert_state *state = cell_exists(cell) ? cell_record(cell) : NULL;
    const bool current = state != NULL && state->epoch == ledger->alerts.epoch &&
                         state->window_s == judged->window_s;
    const int64_t told = current ? state->level : 0;
    const int64_t reached = alerts_level(judged->committed_mcs, alert->limit_mcs);
    const int64_t kept = alerts_kept_level(judged->committed_mcs, alert->limit_mcs);
    int64_t level = told < kept ? told : kept;
    if (reached > level) {
        struct alert made = *alert;
        made.percent = level = reached;
        (void)alerts_emit(ledger, &made, 0);
    }
    if (level != told || (level > 0 && !current)) {
        struct alert_state *row = working_set_put(ledger->set, cell);
        row->epoch = ledger->alerts.epoch;
        row->window_s = judged->window_s;
        row->level = level;
    }
}

static bool passes(int64_t before_mcs, int64_t after_mcs, int64_t limit_mcs)
{
    return alerts_level(after_mcs, limit_mcs) > alerts_level(before_mcs, limit_mcs) ||
           alerts_kept_level(after_mcs, limit_mcs) < alerts_kept_level(before_mcs, limit_mcs);
}

/* ---- caps of the path */

/* What the plan used in the window of a cap that contains now. */
static int64_t used_in_window(const struct ledger *ledger, int64_t kind)
{
    const struct plan *plan = &ledger->plan;
    const struct root_time *time = ledger->subject.time;
    const int64_t firsts[] = {time->month, time->quarter_first, time->year_first, INT64_MIN};
    const int64_t lengths[] = {1, 3, 12, 0};
    int64_t sum_mcs = 0;
    for (int32_t i = 0; i < plan->usage_count; i++) {
        const int64_t period = plan->usage[i].period;
        if (kind == CAP_TOTAL ||
            (period >= firsts[kind] && period < firsts[kind] + lengths[kind])) {
            sum_mcs += plan->usage[i].used_mcs;
        }
    }
    return sum_mcs;
}

static void look_at_cap(struct ledger *ledger, const struct view_node *at, const struct cap *cap)
{
    const int64_t used_mcs = at->window_used_mcs[cap->kind];
    const int64_t frozen_mcs = at->counter.frozen_mcs;
    const int64_t more_used = used_in_window(ledger, cap->kind);
    const int64_t more_frozen = ledger->plan.delta.frozen_mcs;
    const int64_t before_mcs = used_mcs + frozen_mcs;
    const int64_t after_mcs = before_mcs + more_used + more_frozen;
    if (cap->limit <= 0 || !passes(before_mcs, after_mcs, cap->limit)) {
        return;
    }
    const int64_t end_s = at->window_end_s[cap->kind];
    const struct judged judged = {
        .alert = {.type = ALERT_CAP,
                  .root_no = at->node.root_no,
                  .node_no = at->node.node_no,
                  .cap_kind = cap->kind,
                  .limit_mcs = cap->limit,
                  .used_mcs = used_mcs + more_used,
                  .frozen_mcs = frozen_mcs + more_frozen,
                  .until_s = end_s == INT64_MAX ? 0 : end_s},
        .committed_mcs = after_mcs,
        .window_s = end_s == INT64_MAX ? 0 : end_s,
    };
    judge(ledger, &judged);
}

static void look_at_caps(struct ledger *ledger)
{
    const struct view *view = &ledger->view;
    for (int32_t i = 0; i < view->node_count; i++) {
        const struct view_node *at = &view->nodes[i];
        for (int32_t j = 0; j < at->node.cap_count && at->node.caps[j].kind <= CAP_TOTAL; j++) {
            look_at_cap(ledger, at, &at->node.caps[j]);
        }
    }
}

void alerts_cap_set(struct ledger *ledger,
                    const struct node *node,
                    const struct cap *cap,
                    const struct ledger_cap_effect *effect)
{
    alerts_load(ledger);
    if (!effect->measured || cap->kind > CAP_TOTAL || cap->limit <= 0 ||
        !hears_root(ledger, node->root_no, INT64_C(1) << ALERT_CAP)) {
        return;
    }
    const struct judged judged = {
        .alert = {.type = ALERT_CAP,
                  .root_no = node->root_no,
                  .node_no = node->node_no,
                  .cap_kind = cap->kind,
                  .limit_mcs = cap->limit,
                  .used_mcs = effect->used,
                  .frozen_mcs = effect->frozen,
                  .until_s = effect->resets_at_s},
        .committed_mcs = effect->used + effect->frozen,
        .window_s = effect->resets_at_s,
    };
    judge(ledger, &judged);
}

/* ---- the payer's grants */

/* What one payer of the view has, in its valid rows, now and before the plan. */
struct purse {
    bool endless;
    int64_t granted_mcs;
    int64_t frozen_mcs;
    int64_t available_mcs;
    int64_t change_mcs; /* of available, by the plan */
    int64_t overdraft_mcs;
    int64_t overdraft_change_mcs;
};

static int64_t change_of(const struct plan *plan, int64_t grant_no)
{
    int64_t change_mcs = 0;
    for (int32_t i = 0; i < plan->entry_count; i++) {
        const struct entry *entry = &plan->entries[i];
        if (entry->to_part == PART_AVAILABLE && entry->to_grant_no == grant_no) {
            change_mcs += entry->amount_mcs;
        }
        if (entry->from_part == PART_AVAILABLE && entry->from_grant_no == grant_no) {
            change_mcs -= entry->amount_mcs;
        }
    }
    return change_mcs;
}

static void add_to_purse(struct purse *purse, const struct plan *plan, const struct grant *grant)
{
    const int64_t change_mcs = change_of(plan, grant->grant_no);
    purse->endless = purse->endless || grant->kind == GRANT_ENDLESS;
    purse->granted_mcs +=
        grant->granted_mcs + grant->in_mcs - grant->out_mcs - grant->withdrawn_mcs;
    purse->frozen_mcs += grant->frozen_mcs;
    purse->available_mcs += grant->available_mcs;
    purse->change_mcs += change_mcs;
    if (grant->kind == GRANT_OVERDRAFT) {
        purse->overdraft_mcs += grant->available_mcs;
        purse->overdraft_change_mcs += change_mcs;
    }
}

static void look_at_overdraft(struct ledger *ledger,
                              const struct purse *purse,
                              const struct node *payer)
{
    const bool is = purse->overdraft_mcs < 0;
    const bool was = purse->overdraft_mcs - purse->overdraft_change_mcs < 0;
    if (!is || was) {
        return;
    }
    struct cell *cell = state_cell(ledger, ALERT_OVERDRAWN, payer->node_no, 0);
    const struct alert_state *state = cell_exists(cell) ? cell_record(cell) : NULL;
    const int64_t now_s = ledger->view.now_s;
    if (state != NULL && state->epoch == ledger->alerts.epoch &&
        now_s - state->window_s < ALERT_AGAIN_S) {
        return;
    }
    const struct alert alert = {.type = ALERT_OVERDRAWN,
                                .root_no = payer->root_no,
                                .node_no = payer->node_no,
                                .limit_mcs = purse->granted_mcs,
                                .used_mcs = purse->overdraft_mcs,
                                .frozen_mcs = purse->frozen_mcs};
    (void)alerts_emit(ledger, &alert, 0);
    struct alert_state *row = working_set_put(ledger->set, cell);
    row->epoch = ledger->alerts.epoch;
    row->window_s = now_s;
    row->level = 1;
}

static void look_at_purse(struct ledger *ledger, int64_t payer_no)
{
    const struct view *view = &ledger->view;
    struct purse purse = {.endless = false};
    for (int32_t i = 0; i < view->grant_count; i++) {
        const struct grant *grant = &view->grants[i];
        if (grant->node_no == payer_no && funds_row_is_valid(grant, view->now_s)) {
            add_to_purse(&purse, &ledger->plan, grant);
        }
    }
    const struct node *payer = row_get(ledger->set, RECORD_NODE, payer_no);
    if (payer == NULL || purse.endless) {
        return;
    }
    look_at_overdraft(ledger, &purse, payer);
    const int64_t after_mcs = purse.granted_mcs - purse.available_mcs;
    if (purse.granted_mcs <= 0 ||
        !passes(after_mcs + purse.change_mcs, after_mcs, purse.granted_mcs)) {
        return;
    }
    const struct judged judged = {
        .alert = {.type = ALERT_GRANT,
                  .root_no = payer->root_no,
                  .node_no = payer->node_no,
                  .limit_mcs = purse.granted_mcs,
                  .used_mcs = after_mcs - purse.frozen_mcs,
                  .frozen_mcs = purse.frozen_mcs},
        .committed_mcs = after_mcs,
    };
    judge(ledger, &judged);
}

/* A transfer has two payers in the view, and so may a refund after the funding has changed. */
static void look_at_grants(struct ledger *ledger)
{
    const struct view *view = &ledger->view;
    if (ledger->plan.entry_count == 0) {
        return;
    }
    for (int32_t i = 0; i < view->grant_count; i++) {
        bool is_seen = false;
        for (int32_t j = 0; j < i; j++) {
            is_seen = is_seen || view->grants[j].node_no == view->grants[i].node_no;
        }
        if (!is_seen) {
            look_at_purse(ledger, view->grants[i].node_no);
        }
    }
}

void alerts_look_at_money(struct ledger *ledger)
{
    alerts_load(ledger);
    if (hears_root(ledger, ledger->subject.root_no,
                   INT64_C(1) << ALERT_GRANT | INT64_C(1) << ALERT_OVERDRAWN)) {
        look_at_grants(ledger);
    }
}

void alerts_look(struct ledger *ledger)
{
    alerts_load(ledger);
    const int64_t root_no = ledger->subject.root_no;
    if (hears_root(ledger, root_no, INT64_C(1) << ALERT_CAP)) {
        look_at_caps(ledger);
    }
    alerts_look_at_money(ledger);
}
