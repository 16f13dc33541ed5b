/*
 * Pricing: sums of exact fractions, rounded half up once at the end. Pure.
 *
 * All numbers are 0 or more. A numerator or denominator stays below 2^126: what would leave that
 * range is refused, never wrapped.
 */
#include "ledger/core/rate.h"

#include <string.h>

#include "ledger/base/check.h"

__extension__ typedef unsigned __int128 wide;

struct fraction {
    wide numerator;
    wide denominator; /* 1 or more */
};

enum {
    WIDE_BITS = 126,
    PERCENT = 100,
    MIB_PER_GIB = 1024,
    THOUSAND = 1000,
    NAME_SEPARATOR = ',',
};

static wide wide_of(int64_t value)
{
    assert(value >= 0);
    return (wide)value;
}

static int bit_length(wide value)
{
    uint64_t high = (uint64_t)(value >> 64);
    uint64_t low = (uint64_t)value;
    if (high != 0) {
        return 128 - __builtin_clzll(high);
    }
    return low == 0 ? 0 : 64 - __builtin_clzll(low);
}

/* a x b; false when the product may reach 2^126. */
static bool wide_mul(wide a, wide b, wide *ret_product)
{
    if (bit_length(a) + bit_length(b) > WIDE_BITS) {
        return false;
    }
    *ret_product = a * b;
    return true;
}

static wide wide_gcd(wide a, wide b)
{
    while (b != 0) {
        wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* sum += part. */
static bool fraction_add(struct fraction *sum, struct fraction part)
{
    if (part.denominator == sum->denominator) {
        sum->numerator += part.numerator;
        return bit_length(sum->numerator) <= WIDE_BITS;
    }
    wide common = wide_gcd(sum->denominator, part.denominator);
    wide mine;
    wide theirs;
    struct fraction total;
    if (!wide_mul(sum->numerator, part.denominator / common, &mine) ||
        !wide_mul(part.numerator, sum->denominator / common, &theirs) ||
        !wide_mul(sum->denominator, part.denominator / common, &total.denominator)) {
        return false;
    }
    total.numerator = mine + theirs;
    *sum = total;
    return bit_length(total.numerator) <= WIDE_BITS;
}

/* x = the larger of x and other. */
static bool fraction_max(struct fraction *x, struct fraction other)
{
    wide mine;
    wide theirs;
    if (!wide_mul(x->numerator, other.denominator, &mine) ||
        !wide_mul(other.numerator, x->denominator, &theirs)) {
        return false;
    }
    if (theirs > mine) {
        *x = other;
    }
    return true;
}

/* x numerator / denominator, whole and non-negative. */
static bool fraction_scale(struct fraction *x, int64_t numerator, int64_t denominator)
{
    return wide_mul(x->numerator, wide_of(numerator), &x->numerator) &&
           wide_mul(x->denominator, wide_of(denominator), &x->denominator);
}

static bool fraction_round_half_up(struct fraction x, int64_t most, int64_t *ret_value)
{
    wide whole = x.numerator;
    if (x.denominator != 1) {
        wide rest = x.numerator % x.denominator;
        whole = x.numerator / x.denominator + (rest >= x.denominator - rest ? 1 : 0);
    }
    if (whole > (wide)most) {
        return false;
    }
    *ret_value = (int64_t)whole;
    return true;
}

/* a / b in lowest terms, 0 <= a, 1 <= b. */
static struct fraction fraction_of(int64_t a, int64_t b)
{
    wide common = wide_gcd(wide_of(a), wide_of(b));
    return (struct fraction){wide_of(a) / common, wide_of(b) / common};
}

/* Length of the first name of a list. */
static size_t name_bytes(const char *list)
{
    size_t bytes = 0;
    while (list[bytes] != '\0' && list[bytes] != NAME_SEPARATOR) {
        bytes++;
    }
    return bytes;
}

static bool name_matches(const char *selector, const char *name, size_t bytes)
{
    return selector[0] == '\0' || (strncmp(selector, name, bytes) == 0 && selector[bytes] == '\0');
}

static const struct rate_row *row_find(const struct rate_card *card,
                                       const char *partition,
                                       size_t partition_bytes,
                                       const char *qos)
{
    size_t qos_bytes = strlen(qos);
    for (int32_t i = 0; i < card->version.row_count; i++) {
        const struct rate_row *row = &card->rows[i];
        if (name_matches(row->partition, partition, partition_bytes) &&
            name_matches(row->qos, qos, qos_bytes)) {
            return row;
        }
    }
    return NULL;
}

static const struct rate_gpu *row_gpu(const struct rate_row *row, int64_t model_no)
{
    for (int32_t i = 0; model_no != 0 && i < row->gpu_count; i++) {
        if (row->gpus[i].model_no == model_no) {
            return &row->gpus[i];
        }
    }
    return NULL;
}

/* The part of one GPU that an entry takes: the larger of its shares (SPEC 7.3). */
static struct fraction share_of(const struct gpu_request *gpu, const struct rate_gpu *model)
{
    static const struct fraction WHOLE = {1, 1};
    bool shares_memory = gpu->memory_mib > 0;
    if (gpu->cores_percent == 0 && !shares_memory) {
        return WHOLE;
    }
    int64_t card_mib = model == NULL ? 0 : model->memory_mib;
    if (gpu->cores_percent >= PERCENT || (shares_memory && gpu->memory_mib >= card_mib)) {
        return WHOLE;
    }
    struct fraction share = fraction_of(gpu->cores_percent, PERCENT);
    if (shares_memory) {
        (void)fraction_max(&share, fraction_of(gpu->memory_mib, card_mib));
    }
    return share;
}

/* A price in the making. */
struct pricing {
    const struct rate_row *row;
    const struct resources *resources;
    enum rate_combine combine;
    int64_t rate_mcores;
    int64_t mgpus[LIMIT_GPU_ENTRIES];
};

static enum error_code too_dear(struct error *err)
{
    return error_set_field(err, ERR_INVALID_FIELD, "resources",
                           "the rate of one task exceeds %lld mcores",
                           (long long)LIMIT_RATE_MCORES);
}

/* Add one GPU entry to the sum of GPUs and set its mgpus. */
static enum error_code price_gpu(struct pricing *pricing,
                                 int32_t entry,
                                 struct fraction *gpus,
                                 struct error *err)
{
    const struct gpu_request *gpu = &pricing->resources->gpus[entry];
    const struct rate_gpu *model = row_gpu(pricing->row, gpu->model_no);
    int64_t gpu_mcores = model == NULL ? pricing->row->gpu_default_mcores : model->mcores;
    if (gpu_mcores < 0) {
        return error_set(err, ERR_NO_RATE,
                         "version %lld of the rate card prices neither the model of GPU entry %d "
                         "nor GPUs by default",
                         (long long)pricing->row->version, (int)entry);
    }
    struct fraction count = share_of(gpu, model); /* below 2^41 both */
    count.numerator *= wide_of(gpu->count);
    struct fraction mgpus = count;
    struct fraction mcores = count;
    if (!fraction_scale(&mgpus, THOUSAND, 1) ||
        !fraction_round_half_up(mgpus, INT64_MAX / LIMIT_GPU_ENTRIES, &pricing->mgpus[entry]) ||
        !fraction_scale(&mcores, gpu_mcores, 1) || !fraction_add(gpus, mcores)) {
        return too_dear(err);
    }
    return ERR_OK;
}

/* Sum, or the largest, of the three kinds of resources, times the row's multiplier. */
static bool combine(struct pricing *pricing, struct fraction gpus)
{
    const struct rate_row *row = pricing->row;
    struct fraction total = {wide_of(pricing->resources->cores) * wide_of(row->core_mcores), 1};
    struct fraction memory = {wide_of(pricing->resources->memory_mib) * wide_of(row->gib_mcores),
                              row->gib_mcores > 0 ? MIB_PER_GIB : 1};
    bool (*const join)(struct fraction *, struct fraction) =
        pricing->combine == COMBINE_MAX ? fraction_max : fraction_add;
    if (!join(&total, memory) || !join(&total, gpus)) {
        return false;
    }
    if (row->permille != THOUSAND && !fraction_scale(&total, row->permille, THOUSAND)) {
        return false;
    }
    return fraction_round_half_up(total, LIMIT_RATE_MCORES, &pricing->rate_mcores);
}

static enum error_code price_by_row(struct pricing *pricing, struct error *err)
{
    struct fraction gpus = {0, 1};
    for (int32_t i = 0; i < pricing->resources->gpu_count; i++) {
        enum error_code code = price_gpu(pricing, i, &gpus, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    return combine(pricing, gpus) ? ERR_OK : too_dear(err);
}

static enum error_code no_row(const struct rate_card *card,
                              const char *partition,
                              size_t partition_bytes,
                              const char *qos,
                              struct error *err)
{
    return error_set(err, ERR_NO_RATE,
                     "version %lld of the rate card has no row for partition \"%.*s\", qos \"%s\"",
                     (long long)card->version.version, (int)partition_bytes, partition, qos);
}

static void price_take(const struct pricing *pricing,
                       const char *partition,
                       size_t partition_bytes,
                       struct resources *resources,
                       struct rate_price *ret_price)
{
    ret_price->rate_mcores = pricing->rate_mcores;
    ret_price->mgpus = 0;
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        resources->gpus[i].mgpus = pricing->mgpus[i];
        ret_price->mgpus += pricing->mgpus[i];
    }
    memcpy(ret_price->partition, partition, partition_bytes);
    ret_price->partition[partition_bytes] = '\0';
}

enum error_code rate_price(const struct rate_card *card,
                           const char *partition,
                           const char *qos,
                           struct resources *resources,
                           struct rate_price *ret_price,
                           struct error *err)
{
    assert(resources->gpu_count >= 0 && resources->gpu_count <= LIMIT_GPU_ENTRIES);
    assert(strlen(partition) < sizeof(ret_price->partition));
    struct pricing best = {.rate_mcores = -1};
    const char *best_name = partition;
    size_t best_bytes = 0;
    for (const char *name = partition;; name++) {
        size_t bytes = name_bytes(name);
        struct pricing pricing = {.row = row_find(card, name, bytes, qos),
                                  .resources = resources,
                                  .combine = card->version.combine};
        if (pricing.row == NULL) {
            return no_row(card, name, bytes, qos, err);
        }
        enum error_code code = price_by_row(&pricing, err);
        if (code != ERR_OK) {
            return code;
        }
        if (pricing.rate_mcores > best.rate_mcores) {
            best = pricing;
            best_name = name;
            best_bytes = bytes;
        }
        name += bytes;
        if (*name == '\0') {
            break;
        }
    }
    price_take(&best, best_name, best_bytes, resources, ret_price);
    return ERR_OK;
}

int64_t resources_mgpus(const struct resources *resources, int64_t model_no)
{
    int64_t mgpus = 0;
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        if (model_no == 0 || resources->gpus[i].model_no == model_no) {
            mgpus += resources->gpus[i].mgpus;
        }
    }
    return mgpus;
}

int64_t rate_cost_micro(int64_t mcs, int64_t price_micro)
{
    const __int128 hour = 3600000;
    __int128 twice = (__int128)mcs * price_micro * 2 + hour;
    __int128 cost = twice / (2 * hour);
    return (int64_t)(twice % (2 * hour) < 0 ? cost - 1 : cost);
}

enum error_code rate_amount(int64_t rate_mcores,
                            int64_t seconds,
                            int64_t *ret_mcs,
                            struct error *err)
{
    assert(rate_mcores >= 0 && seconds >= 0);
    int64_t mcs;
    if (__builtin_mul_overflow(rate_mcores, seconds, &mcs) || mcs > LIMIT_COMMAND_MCS) {
        return error_set(err, ERR_INVALID_FIELD,
                         "%lld mcores x %lld s exceeds the %lld mcs of one command",
                         (long long)rate_mcores, (long long)seconds, (long long)LIMIT_COMMAND_MCS);
    }
    *ret_mcs = mcs;
    return ERR_OK;
}
