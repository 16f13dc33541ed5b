/* Which limits a request breaks, and what a hold has in flight (SPEC 4, 5.13, 6.3). */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/caps.h"
#include "ledger/core/plan.h"
#include "tests/lib/random.h"

enum { MEMBER, PROJECT, ROOT, PATH, A100 = 1, H100 = 2 };

static struct view view;
static struct plan plan;

/* alice in vision in acme; acme pays and has 1000 mcs. */
static void setup(void)
{
    static const char *const names[] = {"alice", "vision", "acme"};
    static const enum node_kind kinds[] = {NODE_MEMBER, NODE_PROJECT, NODE_ORGANIZATION};
    memset(&view, 0, sizeof view);
    plan_reset(&plan);
    view.now_s = 500;
    view.node_count = PATH;
    for (int i = 0; i < PATH; i++) {
        view.nodes[i].node.node_no = 10 + i;
        view.nodes[i].node.kind = kinds[i];
        strcpy(view.nodes[i].node.name, names[i]);
        for (int window = 0; window < 3; window++) {
            view.nodes[i].window_end_s[window] = 10000 + window;
        }
        view.nodes[i].window_end_s[CAP_TOTAL] = INT64_MAX;
    }
    view.grant_count = 2;
    view.grants[0] = (struct grant){.grant_no = 1,
                                    .node_no = 12,
                                    .end_s = 9000,
                                    .granted_mcs = 1500,
                                    .available_mcs = 1000,
                                    .frozen_mcs = 300,
                                    .used_mcs = 200};
    view.grants[1] =
        (struct grant){.grant_no = 2, .node_no = 12, .kind = GRANT_OVERDRAFT, .end_s = INT64_MAX};
}

static struct view_node *cap_set(int node, enum cap_kind kind, int64_t limit)
{
    struct view_node *at = &view.nodes[node];
    at->node.caps[at->node.cap_count++] = (struct cap){.kind = kind, .limit = limit};
    return at;
}

static struct caps_request mcs_request(int64_t mcs)
{
    return (struct caps_request){.mcs = mcs};
}

static int32_t check(struct caps_request request)
{
    plan.violation_count = 0;
    return caps_check(&view, &request, &plan);
}

Test(caps, a_window_cap_holds_up_to_its_limit_exactly)
{
    static const enum cap_kind windows[] = {CAP_MONTH, CAP_QUARTER, CAP_YEAR, CAP_TOTAL};
    for (size_t i = 0; i < ARRAY_LEN(windows); i++) {
        setup();
        struct view_node *at = cap_set(PROJECT, windows[i], 100);
        at->window_used_mcs[i] = 50;
        at->counter.frozen_mcs = 30;
        cr_expect_eq(check(mcs_request(20)), 0);
        cr_expect_eq(plan.violation_count, 0);
        cr_expect_eq(check(mcs_request(21)), 1);
        cr_assert_eq(plan.violation_count, 1);
        const struct violation *violation = &plan.violations[0];
        cr_expect_eq(violation->node_no, 11);
        cr_expect_eq(violation->node_kind, NODE_PROJECT);
        cr_expect_str_eq(violation->node, "vision");
        cr_expect_eq(violation->kind, windows[i]);
        cr_expect_eq(violation->limit, 100);
        cr_expect_eq(violation->used, 50);
        cr_expect_eq(violation->frozen, 30);
        cr_expect_eq(violation->requested, 21);
        cr_expect_eq(violation->available, 20);
        cr_expect_eq(violation->missing, 1);
        cr_expect_eq(violation->resets_at_s, windows[i] == CAP_TOTAL ? 0 : 10000 + (int64_t)i);
        cr_expect_not(violation->beyond);
        cr_expect_not(violation->soft);
    }
}

Test(caps, all_limits_that_fail_are_listed_from_the_member_to_the_root_and_funds_last)
{
    setup();
    cap_set(ROOT, CAP_YEAR, 10);
    cap_set(MEMBER, CAP_MONTH, 20);
    cap_set(MEMBER, CAP_TOTAL, 5000);
    cap_set(PROJECT, CAP_TOTAL, 1001);
    cr_expect_eq(check(mcs_request(1001)), 3);
    cr_assert_eq(plan.violation_count, 3);
    cr_expect_str_eq(plan.violations[0].node, "alice");
    cr_expect(plan.violations[0].beyond);
    cr_expect_str_eq(plan.violations[1].node, "acme");
    cr_expect_eq(plan.violations[2].kind, CAP_FUNDS);
}

Test(caps, funds_are_a_limit_with_the_payers_figures)
{
    setup();
    view.nodes[ROOT].node.overdraft_mcs = 7;
    cr_expect_eq(check(mcs_request(1007)), 0);
    cr_expect_eq(check(mcs_request(2000)), 1);
    const struct violation *violation = &plan.violations[0];
    cr_expect_eq(violation->kind, CAP_FUNDS);
    cr_expect_eq(violation->node_no, 12);
    cr_expect_eq(violation->node_kind, NODE_ORGANIZATION);
    cr_expect_str_eq(violation->node, "acme");
    cr_expect_eq(violation->used, 200);
    cr_expect_eq(violation->frozen, 300);
    cr_expect_eq(violation->available, 1007);
    cr_expect_eq(violation->limit, 1507);
    cr_expect_eq(violation->requested, 2000);
    cr_expect_eq(violation->missing, 993);
    cr_expect_not(violation->beyond, "a grant may come");
    view.node_count = 1; /* the payer is not on the path any more */
    cr_expect_eq(check(mcs_request(1001)), 1);
    cr_expect_eq(plan.violations[0].node_no, 12);
    view.grant_count = 0;
    cr_expect_eq(check(mcs_request(1)), 1, "without any row there is nothing to draw on");
}

Test(caps, figures_of_an_absurd_payer_stop_at_the_end_of_int64)
{
    setup();
    view.grants[0].available_mcs = 0;
    view.grants[0].used_mcs = INT64_MAX - 1;
    view.grants[0].frozen_mcs = INT64_MAX - 1;
    view.grants[1].used_mcs = 100;
    cr_expect_eq(check(mcs_request(1)), 1);
    cr_expect_eq(plan.violations[0].limit, INT64_MAX);
    view.grants[1].available_mcs = INT64_MIN + 5;
    cr_expect_eq(check(mcs_request(INT64_MAX)), 1);
    cr_expect_eq(plan.violations[0].missing, INT64_MAX);
    cap_set(ROOT, CAP_MONTH, 0)->window_used_mcs[0] = INT64_MAX;
    view.nodes[ROOT].counter.frozen_mcs = INT64_MAX;
    cr_expect_eq(check(mcs_request(INT64_MAX)), 2);
    cr_expect_eq(plan.violations[0].available, INT64_MIN);
}

Test(caps, an_endless_grant_never_refuses)
{
    setup();
    view.grants[0].kind = GRANT_ENDLESS;
    view.grants[0].available_mcs = -5000;
    cr_expect_eq(check(mcs_request(LIMIT_COMMAND_MCS)), 0);
}

Test(caps, null_is_no_limit_and_0_is_none)
{
    setup();
    cap_set(MEMBER, CAP_MONTH, RECORD_UNLIMITED);
    cr_expect_eq(check(mcs_request(10)), 0);
    cap_set(PROJECT, CAP_MONTH, 0);
    cr_expect_eq(check(mcs_request(1)), 1);
    cr_expect_eq(check(mcs_request(0)), 0, "what costs nothing adds nothing");
}

Test(caps, only_a_request_larger_than_the_cap_itself_is_beyond_it)
{
    setup();
    cap_set(PROJECT, CAP_MONTH, 100)->counter.frozen_mcs = 1;
    cr_expect_eq(check(mcs_request(100)), 1);
    cr_expect_not(plan.violations[0].beyond);
    cr_expect_eq(check(mcs_request(101)), 1);
    cr_expect(plan.violations[0].beyond);
}

Test(caps, a_soft_cap_warns_and_never_refuses)
{
    setup();
    cap_set(PROJECT, CAP_MONTH, 5)->node.caps[0].soft = 1;
    cr_expect_eq(check(mcs_request(6)), 0);
    cr_assert_eq(plan.violation_count, 1);
    cr_expect(plan.violations[0].soft);
    cr_expect_eq(plan.violations[0].missing, 1);
}

Test(caps, a_lowered_cap_refuses_what_is_new_and_shows_what_is_over)
{
    setup();
    cap_set(PROJECT, CAP_MONTH, 5)->counter.frozen_mcs = 50;
    cr_expect_eq(check(mcs_request(1)), 1);
    cr_expect_eq(plan.violations[0].available, -45);
    cr_expect_eq(plan.violations[0].missing, 46);
    cr_expect_eq(check(mcs_request(-10)), 0, "giving back is always allowed");
}

Test(caps, in_flight_caps_count_what_is_there_and_what_comes)
{
    static const struct {
        enum cap_kind kind;
        int64_t model_no;
        int64_t now;
        int64_t more;
    } cases[] = {
        {CAP_GPUS, 0, 3000, 2000},    {CAP_GPUS, A100, 1000, 1500}, {CAP_GPUS, H100, 0, 500},
        {CAP_CORES, 0, 64000, 16000}, {CAP_JOBS, 0, 9, 4},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        setup();
        struct caps_request request = {.in_flight = {.jobs = 4,
                                                     .mcores = 16000,
                                                     .mgpus = 2000,
                                                     .model_count = 2,
                                                     .models = {{H100, 500}, {A100, 1500}}}};
        struct view_node *at = cap_set(PROJECT, cases[i].kind, cases[i].now + cases[i].more);
        at->node.caps[0].model_no = cases[i].model_no;
        at->counter.jobs = 9;
        at->counter.mcores = 64000;
        at->counter.mgpus = 3000;
        at->counter.model_count = 1;
        at->counter.models[0] = (struct counter_model){A100, 1000};
        cr_expect_eq(check(request), 0, "case %zu", i);
        at->node.caps[0].limit--;
        cr_expect_eq(check(request), 1, "case %zu", i);
        cr_expect_eq(plan.violations[0].frozen, cases[i].now);
        cr_expect_eq(plan.violations[0].requested, cases[i].more);
        cr_expect_eq(plan.violations[0].model_no, cases[i].model_no);
        cr_expect_eq(plan.violations[0].resets_at_s, 0);
        cr_expect_eq(plan.violations[0].beyond, cases[i].now == 0);
    }
}

Test(caps, a_job_without_gpus_passes_a_node_that_is_over_its_gpus)
{
    setup();
    cap_set(PROJECT, CAP_GPUS, 1000)->counter.mgpus = 8000;
    struct caps_request request = {.mcs = 5, .in_flight = {.jobs = 1, .mcores = 1000}};
    cr_expect_eq(check(request), 0);
}

Test(caps, per_job_caps_look_at_the_job_alone)
{
    setup();
    cap_set(PROJECT, CAP_JOB_CORE_HOURS, 100);
    cap_set(PROJECT, CAP_JOB_GPUS, 2000);
    cap_set(PROJECT, CAP_JOB_DURATION, 3600);
    struct caps_request request = {
        .per_job = true, .job_mcs = 100, .job_mgpus = 2000, .job_s = 3600};
    cr_expect_eq(check(request), 0);
    request =
        (struct caps_request){.per_job = true, .job_mcs = 101, .job_mgpus = 2001, .job_s = 3601};
    cr_expect_eq(check(request), 3);
    for (int i = 0; i < 3; i++) {
        cr_expect(plan.violations[i].beyond);
        cr_expect_eq(plan.violations[i].missing, 1);
    }
    request.per_job = false;
    cr_expect_eq(check(request), 0, "renewals are not looked at again");
    request = (struct caps_request){.per_job = true, .job_s = 0};
    cr_expect_eq(check(request), 1, "a job without a time limit breaks any");
    cr_expect_eq(plan.violations[0].kind, CAP_JOB_DURATION);
    cr_expect(plan.violations[0].beyond);
}

Test(caps, who_waits_at_a_limit_goes_before_a_new_freeze)
{
    setup();
    cap_set(PROJECT, CAP_MONTH, 100);
    cap_set(PROJECT, CAP_GPUS, 5000)->waiting_caps = 1U << 1;
    struct caps_request request = {.mcs = 5, .behind_waiting = true};
    cr_expect_eq(check(request), 0, "it adds nothing to the limit at which others wait");
    request.in_flight.mgpus = 1000;
    cr_expect_eq(check(request), 1);
    cr_expect_eq(plan.violations[0].kind, CAP_GPUS);
    cr_expect_eq(plan.violations[0].missing, 0);
    cr_expect_not(plan.violations[0].beyond);
    request.behind_waiting = false;
    cr_expect_eq(check(request), 0, "renewals are never held back");
    request.behind_waiting = true;
    view.nodes[PROJECT].node.caps[1].soft = 1;
    cr_expect_eq(check(request), 0, "nor does a soft cap hold back");
    view.funds_waiting = true;
    cr_expect_eq(check(request), 1);
    cr_expect_eq(plan.violations[0].kind, CAP_FUNDS);
    cr_expect_eq(plan.violations[0].missing, 0);
    request.behind_waiting = false;
    cr_expect_eq(check(request), 0);
}

Test(caps, a_whole_path_of_caps_can_fail_at_once)
{
    setup();
    view.node_count = RECORD_PATH_NODES;
    for (int i = 0; i < RECORD_PATH_NODES; i++) {
        for (int j = 0; j < LIMIT_CAPS_PER_NODE; j++) {
            view.nodes[i].node.caps[j] = (struct cap){.kind = CAP_TOTAL, .limit = 0};
        }
        view.nodes[i].node.cap_count = LIMIT_CAPS_PER_NODE;
    }
    cr_expect_eq(check(mcs_request(5000)), LIMIT_PATH_CAPS + 1);
}

/* ---- against the rule, said plainly ---- */

static void random_path(struct test_random *random)
{
    for (int i = 0; i < PATH; i++) {
        struct view_node *at = &view.nodes[i];
        at->waiting_caps =
            test_random_chance(random, 1, 4) ? (uint32_t)test_random_next(random) : 0;
        at->counter.frozen_mcs = test_random_range(random, 0, 50);
        at->counter.jobs = test_random_range(random, 0, 50);
        for (int window = 0; window < 4; window++) {
            at->window_used_mcs[window] = test_random_range(random, 0, 50);
        }
        for (int64_t j = test_random_range(random, 0, 3); j > 0; j--) {
            static const enum cap_kind kinds[] = {CAP_MONTH, CAP_TOTAL, CAP_JOBS};
            cap_set(i, kinds[test_random_range(random, 0, 2)], test_random_range(random, -1, 150));
            at->node.caps[at->node.cap_count - 1].soft = test_random_chance(random, 1, 4);
        }
    }
}

static bool naive_passes(const struct caps_request *request)
{
    for (int i = 0; i < PATH; i++) {
        const struct view_node *at = &view.nodes[i];
        for (int j = 0; j < at->node.cap_count; j++) {
            const struct cap *cap = &at->node.caps[j];
            bool is_jobs = cap->kind == CAP_JOBS;
            int64_t more = is_jobs ? request->in_flight.jobs : request->mcs;
            int64_t now = is_jobs ? at->counter.jobs
                                  : at->counter.frozen_mcs + at->window_used_mcs[cap->kind];
            bool waits = request->behind_waiting && (at->waiting_caps >> j & 1) != 0;
            if (more > 0 && cap->limit >= 0 && !cap->soft && (waits || now + more > cap->limit)) {
                return false;
            }
        }
    }
    return request->mcs <= 1000;
}

Test(caps, a_request_passes_only_if_every_limit_holds)
{
    struct test_random random;
    test_random_init(&random, "caps/naive");
    for (int64_t round = test_rounds(20000); round > 0; round--) {
        setup();
        random_path(&random);
        struct caps_request request = {
            .mcs = test_random_chance(&random, 1, 20) ? 1001 : test_random_range(&random, 0, 60),
            .in_flight = {.jobs = test_random_range(&random, 0, 60)},
            .behind_waiting = test_random_chance(&random, 1, 2)};
        int32_t hard = check(request);
        cr_assert_eq(hard == 0, naive_passes(&request));
        int32_t soft = 0;
        for (int32_t i = 0; i < plan.violation_count; i++) {
            const struct violation *violation = &plan.violations[i];
            soft += violation->soft ? 1 : 0;
            cr_assert_eq(violation->available,
                         violation->limit - violation->used - violation->frozen);
        }
        cr_assert_eq(hard + soft, plan.violation_count);
    }
}

/* ---- in flight ---- */

static struct hold hold_make(int64_t open, int64_t max_running)
{
    struct hold hold = {.rate_mcores = 16000, .max_running = max_running};
    hold.counts[TASK_FROZEN] = open;
    hold.resources.gpu_count = 3;
    hold.resources.gpus[0] = (struct gpu_request){.model_no = A100, .count = 2, .mgpus = 2000};
    hold.resources.gpus[1] = (struct gpu_request){.model_no = 0, .count = 1, .mgpus = 300};
    hold.resources.gpus[2] = (struct gpu_request){.model_no = H100, .count = 1, .mgpus = 1};
    return hold;
}

Test(caps, an_array_of_1000_with_4_at_a_time_counts_4)
{
    struct hold hold = hold_make(1000, 4);
    struct counter_delta delta = {0};
    in_flight_difference(NULL, &hold, &delta);
    cr_expect_eq(delta.jobs, 4);
    cr_expect_eq(delta.mcores, 64000);
    cr_expect_eq(delta.mgpus, 9204);
    cr_assert_eq(delta.model_count, 2, "a GPU without a model is no model's");
    cr_expect_eq(delta.models[0].model_no, A100);
    cr_expect_eq(delta.models[0].mgpus, 8000);
    cr_expect_eq(delta.models[1].model_no, H100);
    cr_expect_eq(delta.models[1].mgpus, 4);
    struct hold later = hold;
    later.counts[TASK_FROZEN] = 3;
    later.counts[TASK_RUNNING] = 10;
    in_flight_difference(&hold, &later, &delta);
    cr_expect_eq(delta.jobs, 4, "13 open, still 4");
    later.counts[TASK_RUNNING] = 0;
    in_flight_difference(&hold, &later, &delta);
    cr_expect_eq(delta.jobs, 3);
    in_flight_difference(&later, NULL, &delta);
    cr_expect_eq(delta.jobs, 0);
    cr_expect_eq(delta.mcores, 0);
    cr_expect_eq(delta.mgpus, 0);
    cr_expect_eq(delta.model_count, 0);
}

Test(caps, tasks_with_resources_of_their_own_count_fully_and_come_off_max_running)
{
    static const struct {
        int64_t open;
        int64_t own;
        int64_t max_running;
        int64_t jobs;
        int64_t pool;
    } cases[] = {
        {10, 0, 0, 10, 10}, {10, 3, 0, 10, 7}, {10, 3, 4, 4, 1}, {10, 4, 4, 4, 0},
        {10, 6, 4, 6, 0},   {2, 1, 4, 2, 1},   {0, 0, 4, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct hold hold = hold_make(cases[i].open, cases[i].max_running);
        hold.own_open = cases[i].own;
        struct counter_delta delta = {0};
        in_flight_difference(NULL, &hold, &delta);
        cr_expect_eq(delta.jobs, cases[i].jobs, "case %zu", i);
        cr_expect_eq(delta.mcores, cases[i].pool * 16000, "case %zu", i);
    }
}

Test(caps, a_hold_whose_resources_change_swaps_them)
{
    struct hold before = hold_make(2, 0);
    struct hold after = before;
    after.rate_mcores = 8000;
    after.resources.gpus[0].model_no = H100;
    after.resources.gpus[0].mgpus = 1000;
    struct counter_delta delta = {0};
    in_flight_difference(&before, &after, &delta);
    cr_expect_eq(delta.jobs, 0);
    cr_expect_eq(delta.mcores, -16000);
    cr_expect_eq(delta.mgpus, -2000);
    cr_assert_eq(delta.model_count, 2);
    cr_expect_eq(delta.models[0].model_no, A100);
    cr_expect_eq(delta.models[0].mgpus, -4000);
    cr_expect_eq(delta.models[1].model_no, H100);
    cr_expect_eq(delta.models[1].mgpus, 2000);
}

Test(caps, a_run_with_resources_of_its_own_counts_while_it_is_open)
{
    struct run run = {.state = TASK_RUNNING,
                      .own_resources = 1,
                      .segment_count = 2,
                      .segments = {{100, 16000, 0}, {200, 5000, 0}}};
    run.resources.gpu_count = 1;
    run.resources.gpus[0] = (struct gpu_request){.model_no = A100, .count = 1, .mgpus = 700};
    struct counter_delta delta = {0};
    in_flight_own(NULL, &run, &delta);
    cr_expect_eq(delta.jobs, 0);
    cr_expect_eq(delta.mcores, 5000);
    cr_expect_eq(delta.mgpus, 700);
    cr_expect_eq(delta.models[0].mgpus, 700);
    struct run settled = run;
    settled.state = TASK_SETTLED;
    in_flight_own(&run, &settled, &delta);
    cr_expect_eq(delta.mcores, 0);
    cr_expect_eq(delta.mgpus, 0);
    cr_expect_eq(delta.model_count, 0);
    run.own_resources = 0;
    in_flight_own(NULL, &run, &delta);
    cr_expect_eq(delta.mcores, 0);
}

static struct hold random_hold(struct test_random *random)
{
    struct hold hold = hold_make(0, test_random_range(random, 0, 6));
    for (int state = 0; state < TASK__COUNT; state++) {
        hold.counts[state] = test_random_range(random, 0, 4);
    }
    int64_t open =
        hold.counts[TASK_FROZEN] + hold.counts[TASK_RUNNING] + hold.counts[TASK_SUSPENDED];
    hold.own_open = test_random_range(random, 0, open);
    hold.rate_mcores = test_random_range(random, 1, 2) * 1000;
    hold.resources.gpu_count = (int32_t)test_random_range(random, 0, LIMIT_GPU_ENTRIES);
    for (int i = 0; i < hold.resources.gpu_count; i++) {
        hold.resources.gpus[i] = (struct gpu_request){.model_no = test_random_range(random, 0, 9),
                                                      .mgpus = test_random_range(random, 0, 3)};
    }
    return hold;
}

Test(caps, any_sequence_of_differences_is_what_the_last_hold_has_in_flight)
{
    struct test_random random;
    test_random_init(&random, "caps/in_flight");
    for (int64_t round = test_rounds(3000); round > 0; round--) {
        struct counter_delta many = {0};
        struct counter_delta once = {0};
        struct hold hold = random_hold(&random);
        in_flight_difference(NULL, &hold, &many);
        for (int i = 0; i < 5; i++) {
            struct hold next = random_hold(&random);
            in_flight_difference(&hold, &next, &many);
            hold = next;
        }
        in_flight_difference(NULL, &hold, &once);
        cr_assert_eq(many.jobs, once.jobs);
        cr_assert_eq(many.mcores, once.mcores);
        cr_assert_eq(many.mgpus, once.mgpus);
        cr_assert_eq(many.model_count, once.model_count);
        for (int32_t i = 0; i < once.model_count; i++) {
            int64_t mgpus = 0;
            for (int32_t j = 0; j < many.model_count; j++) {
                mgpus +=
                    many.models[j].model_no == once.models[i].model_no ? many.models[j].mgpus : 0;
            }
            cr_assert_eq(mgpus, once.models[i].mgpus);
        }
    }
}
