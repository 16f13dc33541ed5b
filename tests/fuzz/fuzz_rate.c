/*
 * Pricing any resources by any card: the price is in range, or refused and nothing touched; the order of GPU entries does not matter,
 * and the dearest kind never costs more than all kinds together.
 */
#include "ledger/core/rate.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/target.h"

static struct rate_row take_row(struct bytes *bytes, int32_t number)
{
    struct rate_row row = {
        .row = number,
        .permille = bytes_range(bytes, 0, LIMIT_PERMILLE),
        .core_mcores = bytes_range(bytes, 0, LIMIT_RATE_MCORES),
        .gib_mcores = bytes_range(bytes, 0, LIMIT_RATE_MCORES),
        .gpu_default_mcores = bytes_range(bytes, -1, LIMIT_RATE_MCORES),
        .gpu_count = (int32_t)bytes_range(bytes, 0, 5),
    };
    row.partition[0] = bytes_take(bytes) % 4 == 0 ? 'p' : '\0';
    row.qos[0] = bytes_take(bytes) % 4 == 0 ? 'q' : '\0';
    for (int32_t i = 0; i < row.gpu_count; i++) {
        row.gpus[i] = (struct rate_gpu){i + 1, bytes_range(bytes, 0, LIMIT_RATE_MCORES),
                                        bytes_range(bytes, 0, LIMIT_MEMORY_MIB)};
    }
    return row;
}

static struct rate_card take_card(struct bytes *bytes)
{
    struct rate_card card = {.version = {.version = 1, .combine = COMBINE_SUM}};
    card.version.row_count = (int32_t)bytes_range(bytes, 0, 3);
    for (int32_t i = 0; i < card.version.row_count; i++) {
        card.rows[i] = take_row(bytes, i);
    }
    return card;
}

static struct resources take_resources(struct bytes *bytes)
{
    struct resources resources = {
        .cores = bytes_range(bytes, 0, LIMIT_CORES),
        .memory_mib = bytes_range(bytes, 0, LIMIT_MEMORY_MIB),
        .gpu_count = (int32_t)bytes_range(bytes, 0, LIMIT_GPU_ENTRIES),
    };
    for (int32_t i = 0; i < resources.gpu_count; i++) {
        resources.gpus[i] = (struct gpu_request){
            .model_no = bytes_range(bytes, 0, 6),
            .count = bytes_range(bytes, 1, LIMIT_GPU_COUNT),
            .cores_percent = bytes_range(bytes, 0, 100),
            .memory_mib = bytes_range(bytes, 0, LIMIT_MEMORY_MIB),
        };
    }
    return resources;
}

static struct resources reversed(const struct resources *resources)
{
    struct resources result = *resources;
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        result.gpus[i] = resources->gpus[resources->gpu_count - 1 - i];
    }
    return result;
}

static void check_price(const struct resources *resources, const struct rate_price *price)
{
    int64_t mgpus = 0;
    require(price->rate_mcores >= 0 && price->rate_mcores <= LIMIT_RATE_MCORES);
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        const struct gpu_request *gpu = &resources->gpus[i];
        require(gpu->mgpus >= 0 && gpu->mgpus <= gpu->count * 1000);
        mgpus += gpu->mgpus;
    }
    require(mgpus == price->mgpus && mgpus == resources_mgpus(resources, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const partitions[] = {"", "p", "other", "other,p", "p,p", ","};
    struct bytes bytes = {data, size};
    struct rate_card card = take_card(&bytes);
    struct resources resources = take_resources(&bytes);
    const struct resources before = resources;
    const char *partition = partitions[bytes_range(&bytes, 0, 5)];
    const char *qos = bytes_take(&bytes) % 2 == 0 ? "" : "q";
    struct rate_price price = {.rate_mcores = -7};
    enum error_code code = rate_price(&card, partition, qos, &resources, &price, NULL);
    if (code != ERR_OK) {
        require(code == ERR_NO_RATE || code == ERR_INVALID_FIELD);
        require(price.rate_mcores == -7 && resources_mgpus(&resources, 0) == 0);
        return 0;
    }
    check_price(&resources, &price);
    struct resources turned = reversed(&before);
    struct rate_price same;
    if (rate_price(&card, partition, qos, &turned, &same, NULL) == ERR_OK) {
        require(same.rate_mcores == price.rate_mcores && same.mgpus == price.mgpus);
    }
    card.version.combine = COMBINE_MAX;
    resources = before;
    if (rate_price(&card, partition, qos, &resources, &same, NULL) == ERR_OK) {
        check_price(&resources, &same);
        require(same.rate_mcores <= price.rate_mcores);
    }
    return 0;
}
