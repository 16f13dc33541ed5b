/* Pricing: shares, multipliers, lists of partitions, rounding (SPEC 1.2, 7.1 to 7.3). */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/core/rate.h"
#include "tests/lib/random.h"

enum { A100 = 1, H100 = 2, UNKNOWN_MEMORY = 3, UNLISTED = 4 };

/* Row 0 prices qos low at half, row 1 partition "big" at double, row 2 all else. */
static struct rate_card card_make(enum rate_combine combine)
{
    struct rate_card card = {.version = {.version = 1, .combine = combine, .row_count = 3}};
    for (int i = 0; i < 3; i++) {
        card.rows[i] = (struct rate_row){
            .version = 1,
            .row = i,
            .permille = 1000,
            .core_mcores = 1000,
            .gpu_default_mcores = 8000,
            .gpu_count = 3,
            .gpus = {{A100, 16000, 81920}, {H100, 32000, 81559}, {UNKNOWN_MEMORY, 4000, 0}},
        };
    }
    card.rows[0].permille = 500;
    strcpy(card.rows[0].qos, "low");
    card.rows[1].permille = 2000;
    strcpy(card.rows[1].partition, "big");
    return card;
}

static struct resources resources_make(int64_t cores, int64_t memory_mib)
{
    return (struct resources){.cores = cores, .memory_mib = memory_mib};
}

static struct resources with_gpu(struct resources resources,
                                 int64_t model_no,
                                 int64_t count,
                                 int64_t percent,
                                 int64_t mib)
{
    resources.gpus[resources.gpu_count++] = (struct gpu_request){
        .model_no = model_no, .count = count, .cores_percent = percent, .memory_mib = mib};
    return resources;
}

static void expect_price(const struct rate_card *card,
                         const char *partition,
                         const char *qos,
                         struct resources resources,
                         int64_t rate_mcores,
                         int64_t mgpus)
{
    struct rate_price price;
    struct error err = {0};
    cr_assert_eq(rate_price(card, partition, qos, &resources, &price, &err), ERR_OK, "%s",
                 err.detail);
    cr_expect_eq(price.rate_mcores, rate_mcores, "rate %lld", (long long)price.rate_mcores);
    cr_expect_eq(price.mgpus, mgpus, "mgpus %lld", (long long)price.mgpus);
    cr_expect_eq(resources_mgpus(&resources, 0), mgpus);
}

static void expect_refused(const struct rate_card *card,
                           const char *partition,
                           const char *qos,
                           struct resources resources,
                           enum error_code code)
{
    struct rate_price price = {.rate_mcores = 42, .mgpus = 43, .partition = "same"};
    struct resources before = resources;
    struct error err = {0};
    cr_expect_eq(rate_price(card, partition, qos, &resources, &price, &err), code);
    cr_expect_eq(err.code, code);
    cr_expect_eq(price.rate_mcores, 42, "untouched on failure");
    cr_expect_eq(price.mgpus, 43);
    cr_expect_str_eq(price.partition, "same");
    cr_expect_eq(memcmp(&resources, &before, sizeof before), 0);
}

Test(rate, one_gpu_of_16_cores_is_16000_mcores_with_sum_and_with_max)
{
    struct rate_card sum = card_make(COMBINE_SUM);
    struct rate_card max = card_make(COMBINE_MAX);
    struct resources one = with_gpu(resources_make(8, 65536), A100, 1, 0, 0);
    expect_price(&sum, "gpu", "normal", one, 8000 + 16000, 1000);
    expect_price(&max, "gpu", "normal", one, 16000, 1000);
    expect_price(&max, "gpu", "normal", with_gpu(resources_make(20, 0), A100, 1, 0, 0), 20000,
                 1000);
}

Test(rate, a_shared_gpu_counts_for_the_larger_of_its_shares)
{
    struct rate_card card = card_make(COMBINE_SUM);
    static const struct {
        int64_t model_no;
        int64_t count;
        int64_t percent;
        int64_t mib;
        int64_t rate;
        int64_t mgpus;
    } cases[] = {
        {A100, 1, 30, 12288, 4800, 300},          /* cores 0.3 > memory 0.15 */
        {A100, 1, 10, 12288, 2400, 150},          /* memory 0.15 > cores 0.1 */
        {A100, 2, 10, 12288, 4800, 300},          /* of each GPU */
        {A100, 1, 50, 40960, 8000, 500},          /* equal shares */
        {A100, 1, 30, 0, 4800, 300},              /* cores alone */
        {A100, 1, 0, 12288, 2400, 150},           /* memory alone */
        {A100, 1, 100, 1, 16000, 1000},           /* all of the cores */
        {A100, 1, 1, 81920, 16000, 1000},         /* all of the memory */
        {A100, 3, 1, 163840, 48000, 3000},        /* more than there is: the whole card */
        {UNKNOWN_MEMORY, 1, 30, 100, 4000, 1000}, /* unknown memory: the whole card */
        {UNKNOWN_MEMORY, 1, 30, 0, 1200, 300},
        {UNLISTED, 1, 30, 100, 8000, 1000}, /* the default has no memory */
        {UNLISTED, 1, 30, 0, 2400, 300},
        {0, 2, 0, 0, 16000, 2000}, /* no model: the default */
        {H100, 1, 0, 1, 0, 0},     /* 32000 / 81559 = 0.39 mcores, 0.012 mgpus */
        {H100, 1, 0, 2, 1, 0},     /* 0.78 rounds up */
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct resources resources = with_gpu(resources_make(0, 0), cases[i].model_no,
                                              cases[i].count, cases[i].percent, cases[i].mib);
        expect_price(&card, "", "", resources, cases[i].rate, cases[i].mgpus);
    }
}

Test(rate, the_rate_is_rounded_once_at_the_end_half_up)
{
    struct rate_card card = card_make(COMBINE_SUM);
    card.rows[2].gib_mcores = 1;
    card.rows[2].permille = 500;
    /* At 1 mcore a GiB, halved: 512 MiB are 0.25 mcores, 1024 MiB are 0.5. */
    expect_price(&card, "", "", resources_make(0, 512), 0, 0);
    expect_price(&card, "", "", resources_make(0, 1023), 0, 0);
    expect_price(&card, "", "", resources_make(0, 1024), 1, 0);
    expect_price(&card, "", "", resources_make(0, 3071), 1, 0);
    expect_price(&card, "", "", resources_make(0, 3072), 2, 0);
    card.rows[2].core_mcores = 1;
    expect_price(&card, "", "", resources_make(1, 512), 1, 0); /* (1 + 0.5) / 2 */
    card.rows[2].gpus[0].mcores = 1;
    struct resources third = with_gpu(resources_make(0, 0), A100, 1, 33, 0);
    expect_price(&card, "", "", with_gpu(third, A100, 1, 67, 0), 1, 1000); /* (0.33 + 0.67) / 2 */
    expect_price(&card, "", "", with_gpu(third, A100, 1, 66, 0), 0, 990);
}

Test(rate, mgpus_are_rounded_half_up_for_each_entry)
{
    struct rate_card card = card_make(COMBINE_SUM);
    card.rows[2].gpus[0].memory_mib = 2000;
    struct resources resources = with_gpu(resources_make(0, 0), A100, 1, 0, 1);
    expect_price(&card, "", "", with_gpu(resources, A100, 1, 0, 1), 16, 2); /* 0.5 and 0.5 */
    card.rows[2].gpus[0].memory_mib = 2001;
    expect_price(&card, "", "", with_gpu(resources, A100, 1, 0, 1), 16, 0);
}

Test(rate, the_first_row_that_matches_partition_and_qos_wins)
{
    struct rate_card card = card_make(COMBINE_SUM);
    struct resources ten = resources_make(10, 0);
    expect_price(&card, "gpu", "normal", ten, 10000, 0);
    expect_price(&card, "gpu", "low", ten, 5000, 0);
    expect_price(&card, "big", "low", ten, 5000, 0); /* row 0 before row 1 */
    expect_price(&card, "big", "normal", ten, 20000, 0);
    expect_price(&card, "bigger", "normal", ten, 10000, 0);
    expect_price(&card, "bi", "normal", ten, 10000, 0);
    expect_price(&card, "", "lower", ten, 10000, 0);
    expect_price(&card, "", "", ten, 10000, 0);
}

Test(rate, the_dearest_of_a_list_of_partitions_counts)
{
    struct rate_card card = card_make(COMBINE_SUM);
    static const struct {
        const char *partition;
        int64_t rate;
        const char *charged;
    } cases[] = {
        {"small,big,other", 20000, "big"},
        {"big,small", 20000, "big"},
        {"small,other", 10000, "small"},
        {"small,big", 20000, "big"},
        {"big", 20000, "big"},
        {"", 10000, ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct resources ten = resources_make(10, 0);
        struct rate_price price;
        cr_assert_eq(rate_price(&card, cases[i].partition, "", &ten, &price, NULL), ERR_OK);
        cr_expect_eq(price.rate_mcores, cases[i].rate);
        cr_expect_str_eq(price.partition, cases[i].charged);
    }
}

Test(rate, what_no_row_matches_is_refused_and_never_free)
{
    struct rate_card card = card_make(COMBINE_SUM);
    strcpy(card.rows[2].partition, "gpu");
    struct resources one = resources_make(1, 0);
    expect_price(&card, "gpu", "", one, 1000, 0);
    expect_refused(&card, "cpu", "", one, ERR_NO_RATE);
    expect_refused(&card, "", "", one, ERR_NO_RATE);
    expect_refused(&card, "gpu,cpu", "", one, ERR_NO_RATE);
    expect_refused(&card, "cpu,gpu", "", one, ERR_NO_RATE);
    expect_refused(&card, "gpu,", "", one, ERR_NO_RATE);
    card.version.row_count = 0;
    expect_refused(&card, "gpu", "low", one, ERR_NO_RATE);
}

Test(rate, a_gpu_that_its_row_neither_lists_nor_defaults_is_refused)
{
    struct rate_card card = card_make(COMBINE_SUM);
    struct resources listed = with_gpu(resources_make(1, 0), A100, 1, 0, 0);
    card.rows[2].gpu_default_mcores = -1;
    expect_price(&card, "", "", listed, 17000, 1000);
    expect_refused(&card, "", "", with_gpu(listed, UNLISTED, 1, 0, 0), ERR_NO_RATE);
    expect_refused(&card, "", "", with_gpu(listed, 0, 1, 0, 0), ERR_NO_RATE);
    card.rows[2].gpu_default_mcores = 0;
    expect_price(&card, "", "", with_gpu(listed, UNLISTED, 1, 0, 0), 17000, 2000);
}

Test(rate, a_rate_beyond_the_limit_is_refused_and_the_limit_itself_is_not)
{
    struct rate_card card = card_make(COMBINE_SUM);
    card.rows[2].core_mcores = LIMIT_RATE_MCORES / 1000;
    expect_price(&card, "", "", resources_make(1000, 0), LIMIT_RATE_MCORES, 0);
    card.rows[2].core_mcores = LIMIT_RATE_MCORES;
    expect_refused(&card, "", "", resources_make(2, 0), ERR_INVALID_FIELD);
    card.rows[2].core_mcores = INT64_MAX;
    card.rows[2].gib_mcores = INT64_MAX;
    expect_refused(&card, "", "", resources_make(LIMIT_CORES, LIMIT_MEMORY_MIB), ERR_INVALID_FIELD);
    expect_refused(&card, "", "", resources_make(INT64_MAX, INT64_MAX), ERR_INVALID_FIELD);
    card.version.combine = COMBINE_MAX;
    expect_refused(&card, "", "", resources_make(INT64_MAX, INT64_MAX), ERR_INVALID_FIELD);
    card.rows[2].gib_mcores = 0;
    card.rows[2].permille = 500;
    expect_refused(&card, "", "", resources_make(INT64_C(1) << 60, 0), ERR_INVALID_FIELD);
    card.rows[2].permille = INT64_MAX;
    expect_refused(&card, "", "", resources_make(1, 0), ERR_INVALID_FIELD);
}

Test(rate, fractions_that_outgrow_128_bits_are_refused_not_wrapped)
{
    struct rate_card card = card_make(COMBINE_SUM);
    static const int64_t primes[] = {1099511627689, 1099511627563, 1099511627537, 1099511627491,
                                     1099511627477};
    struct resources resources = resources_make(0, 0);
    card.rows[2].gpu_count = (int32_t)ARRAY_LEN(primes);
    for (int i = 0; i < (int)ARRAY_LEN(primes); i++) {
        card.rows[2].gpus[i] = (struct rate_gpu){10 + i, 1000, primes[i]};
        resources = with_gpu(resources, 10 + i, 1, 0, primes[i] / 2);
    }
    expect_refused(&card, "", "", resources, ERR_INVALID_FIELD);
    card.version.combine = COMBINE_MAX;
    expect_refused(&card, "", "", resources, ERR_INVALID_FIELD);
    resources.gpus[0].count = INT64_MAX;
    resources.gpus[0].memory_mib = primes[0] - 1;
    expect_refused(&card, "", "", resources, ERR_INVALID_FIELD);
}

Test(rate, mgpus_of_a_model_are_told_apart)
{
    struct rate_card card = card_make(COMBINE_SUM);
    struct resources resources = with_gpu(resources_make(0, 0), A100, 2, 0, 0);
    resources = with_gpu(resources, H100, 1, 50, 0);
    resources = with_gpu(resources, A100, 1, 10, 0);
    struct rate_price price;
    cr_assert_eq(rate_price(&card, "", "", &resources, &price, NULL), ERR_OK);
    cr_expect_eq(resources_mgpus(&resources, A100), 2100);
    cr_expect_eq(resources_mgpus(&resources, H100), 500);
    cr_expect_eq(resources_mgpus(&resources, UNLISTED), 0);
    cr_expect_eq(resources_mgpus(&resources, 0), 2600);
}

Test(rate, an_amount_is_rate_times_seconds_within_one_command)
{
    int64_t mcs = 7;
    cr_expect_eq(rate_amount(16000, 300, &mcs, NULL), ERR_OK);
    cr_expect_eq(mcs, 4800000);
    cr_expect_eq(rate_amount(0, 300, &mcs, NULL), ERR_OK);
    cr_expect_eq(mcs, 0);
    cr_expect_eq(rate_amount(1, LIMIT_COMMAND_MCS, &mcs, NULL), ERR_OK);
    cr_expect_eq(mcs, LIMIT_COMMAND_MCS);
    mcs = 7;
    cr_expect_eq(rate_amount(1, LIMIT_COMMAND_MCS + 1, &mcs, NULL), ERR_INVALID_FIELD);
    cr_expect_eq(rate_amount(LIMIT_RATE_MCORES, LIMIT_TIME_S, &mcs, NULL), ERR_INVALID_FIELD);
    cr_expect_eq(mcs, 7, "untouched on failure");
}

/* ---- the reference: everything over one common denominator, no reduction ---- */

__extension__ typedef unsigned __int128 wide;

static wide common_denominator(const struct rate_row *row)
{
    wide denominator = 100 * 1024;
    for (int i = 0; i < row->gpu_count; i++) {
        denominator *= row->gpus[i].memory_mib == 0 ? 1 : (wide)row->gpus[i].memory_mib;
    }
    return denominator;
}

/* Share of an entry times the common denominator. */
static wide naive_share(const struct rate_row *row, const struct gpu_request *gpu, wide denominator)
{
    int64_t memory_mib = 0;
    for (int i = 0; i < row->gpu_count; i++) {
        if (row->gpus[i].model_no == gpu->model_no) {
            memory_mib = row->gpus[i].memory_mib;
        }
    }
    if (gpu->cores_percent == 0 && gpu->memory_mib == 0) {
        return denominator;
    }
    wide share = denominator / 100 * (wide)gpu->cores_percent;
    if (gpu->memory_mib > 0) {
        wide of_memory =
            memory_mib == 0 ? denominator : denominator / (wide)memory_mib * (wide)gpu->memory_mib;
        of_memory = of_memory > denominator ? denominator : of_memory;
        share = of_memory > share ? of_memory : share;
    }
    return share;
}

static int64_t naive_gpu_mcores(const struct rate_row *row, int64_t model_no)
{
    for (int i = 0; i < row->gpu_count; i++) {
        if (row->gpus[i].model_no == model_no) {
            return row->gpus[i].mcores;
        }
    }
    return row->gpu_default_mcores;
}

static int64_t naive_half_up(wide numerator, wide denominator)
{
    return (int64_t)((2 * numerator + denominator) / (2 * denominator));
}

static struct rate_price naive_price(const struct rate_row *row,
                                     enum rate_combine combine,
                                     const struct resources *resources)
{
    wide denominator = common_denominator(row);
    wide cores = denominator * (wide)(resources->cores * row->core_mcores);
    wide memory = denominator / 1024 * (wide)(resources->memory_mib * row->gib_mcores);
    wide gpus = 0;
    struct rate_price price = {0};
    for (int i = 0; i < resources->gpu_count; i++) {
        const struct gpu_request *gpu = &resources->gpus[i];
        wide taken = naive_share(row, gpu, denominator) * (wide)gpu->count;
        gpus += taken * (wide)naive_gpu_mcores(row, gpu->model_no);
        price.mgpus += naive_half_up(taken * 1000, denominator);
    }
    wide total = cores + memory + gpus;
    if (combine == COMBINE_MAX) {
        total = cores > memory ? cores : memory;
        total = total > gpus ? total : gpus;
    }
    price.rate_mcores = naive_half_up(total * (wide)row->permille, denominator * 1000);
    return price;
}

static struct rate_row random_row(struct test_random *random)
{
    struct rate_row row = {
        .permille = test_random_chance(random, 1, 2) ? 1000 : test_random_range(random, 0, 3000),
        .core_mcores = test_random_range(random, 0, 2000),
        .gib_mcores = test_random_range(random, 0, 3),
        .gpu_default_mcores = test_random_range(random, 0, 20000),
        .gpu_count = 3,
    };
    for (int i = 0; i < 3; i++) {
        row.gpus[i] = (struct rate_gpu){1 + i, test_random_range(random, 0, 40000),
                                        test_random_range(random, 0, 3000)};
    }
    return row;
}

static struct resources random_resources(struct test_random *random)
{
    struct resources resources =
        resources_make(test_random_range(random, 0, 100), test_random_range(random, 0, 100000));
    for (int64_t i = test_random_range(random, 0, LIMIT_GPU_ENTRIES); i > 0; i--) {
        int64_t percent = test_random_chance(random, 1, 2) ? 0 : test_random_range(random, 1, 100);
        int64_t mib = test_random_chance(random, 1, 2) ? 0 : test_random_range(random, 1, 4000);
        resources = with_gpu(resources, test_random_range(random, 0, 4),
                             test_random_range(random, 1, 20), percent, mib);
    }
    return resources;
}

Test(rate, any_price_is_that_of_the_naive_fraction)
{
    struct test_random random;
    test_random_init(&random, "rate/naive");
    for (int64_t round = test_rounds(20000); round > 0; round--) {
        struct rate_card card = {.version = {.row_count = 1}};
        card.version.combine = test_random_chance(&random, 1, 2) ? COMBINE_MAX : COMBINE_SUM;
        card.rows[0] = random_row(&random);
        struct resources resources = random_resources(&random);
        struct rate_price expected = naive_price(&card.rows[0], card.version.combine, &resources);
        struct rate_price price;
        cr_assert_eq(rate_price(&card, "any", "", &resources, &price, NULL), ERR_OK);
        cr_assert_eq(price.rate_mcores, expected.rate_mcores);
        cr_assert_eq(price.mgpus, expected.mgpus);
    }
}
