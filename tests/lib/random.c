/*
 * splitmix64: short, good enough for tests, the same everywhere.
 */
#include "tests/lib/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "ledger/base/check.h"

void test_random_init_seed(struct test_random *random, uint64_t seed)
{
    random->state = seed;
}

void test_random_init(struct test_random *random, const char *name)
{
    const char *given = getenv("COREHOUR_SEED");
    uint64_t seed = 0;
    if (given != NULL) {
        seed = strtoull(given, NULL, 10);
    } else {
        ssize_t got = getrandom(&seed, sizeof seed, 0);
        assert(got == (ssize_t)sizeof seed);
    }
    (void)fprintf(stderr, "%s: COREHOUR_SEED=%" PRIu64 "\n", name, seed);
    test_random_init_seed(random, seed);
}

uint64_t test_random_next(struct test_random *random)
{
    random->state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t mixed = random->state;
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ (mixed >> 31);
}

int64_t test_random_range(struct test_random *random, int64_t low, int64_t high)
{
    assert(low <= high);
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    uint64_t offset = span == 0 ? test_random_next(random) : test_random_next(random) % span;
    return (int64_t)((uint64_t)low + offset);
}

bool test_random_chance(struct test_random *random, int64_t numerator, int64_t denominator)
{
    return test_random_range(random, 1, denominator) <= numerator;
}

int64_t test_rounds(int64_t normal)
{
#ifdef TEST_SLOW
    return normal * 100;
#else
    return normal;
#endif
}
