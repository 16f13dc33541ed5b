/* Lists of devices: order, sums, maxima; then random lists against devices laid out one by one. */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "clients/kubernetes/device_list.h"
#include "tests/lib/random.h"

enum { ROUNDS = 20000, DEVICES = 64 };

static struct device_list list_of(const struct device_run *runs, unsigned count)
{
    struct device_list list = {0};
    for (unsigned i = 0; i < count; i++) {
        cr_assert(device_list_add(&list, runs[i]));
    }
    return list;
}

static void assert_runs(const struct device_list *list, const struct device_run *runs, unsigned n)
{
    cr_assert_eq(list->run_count, n);
    for (unsigned i = 0; i < n; i++) {
        cr_assert_eq(list->runs[i].count, runs[i].count, "run %u", i);
        cr_assert_eq(list->runs[i].cores_percent, runs[i].cores_percent, "run %u", i);
        cr_assert_eq(list->runs[i].memory_mib, runs[i].memory_mib, "run %u", i);
    }
}

Test(device_list, keeps_the_largest_first_and_like_ones_together)
{
    const struct device_list list = list_of(
        (struct device_run[]){{1, 30, 0}, {2, 0, 0}, {1, 30, 4000}, {3, 30, 0}, {1, 100, 500}}, 5);
    assert_runs(&list, (struct device_run[]){{3, 0, 0}, {1, 30, 4000}, {4, 30, 0}}, 3);
}

Test(device_list, takes_the_larger_of_each_place)
{
    struct device_list init = list_of((struct device_run[]){{4, 0, 0}}, 1);
    const struct device_list main = list_of((struct device_run[]){{3, 0, 0}}, 1);
    cr_assert(device_list_max(&init, &main));
    assert_runs(&init, (struct device_run[]){{4, 0, 0}}, 1);

    struct device_list share = list_of((struct device_run[]){{2, 30, 0}}, 1);
    const struct device_list whole = list_of((struct device_run[]){{1, 0, 0}}, 1);
    cr_assert(device_list_max(&share, &whole));
    assert_runs(&share, (struct device_run[]){{1, 0, 0}, {1, 30, 0}}, 2);

    struct device_list cores = list_of((struct device_run[]){{1, 60, 1000}}, 1);
    const struct device_list memory = list_of((struct device_run[]){{1, 20, 9000}}, 1);
    cr_assert(device_list_max(&cores, &memory));
    assert_runs(&cores, (struct device_run[]){{1, 60, 9000}}, 1);
}

Test(device_list, refuses_a_ninth_kind_and_counts_beyond_its_range)
{
    struct device_list list = {0};
    for (int64_t i = 1; i <= DEVICE_RUNS_MAX; i++) {
        cr_assert(device_list_add(&list, (struct device_run){1, i, 0}));
    }
    cr_assert_not(device_list_add(&list, (struct device_run){1, 50, 0}));
    cr_assert(device_list_add(&list, (struct device_run){1, 3, 0}));
    struct device_list many = list_of((struct device_run[]){{INT64_MAX, 0, 0}}, 1);
    cr_assert_not(device_list_add(&many, (struct device_run){1, 0, 0}));
}

/* A list laid out device by device, largest first. */
static unsigned lay_out(const struct device_list *list, struct device_run *devices)
{
    unsigned count = 0;
    for (unsigned i = 0; i < list->run_count; i++) {
        for (int64_t k = 0; k < list->runs[i].count; k++) {
            devices[count] = list->runs[i];
            devices[count++].count = 1;
        }
    }
    return count;
}

static struct device_list random_list(struct test_random *random)
{
    struct device_list list = {0};
    const int64_t runs = test_random_range(random, 0, 3);
    for (int64_t i = 0; i < runs; i++) {
        const struct device_run run = {test_random_range(random, 1, 9),
                                       test_random_range(random, 0, 2) * 50,
                                       test_random_range(random, 0, 2) * 1000};
        cr_assert(device_list_add(&list, run));
    }
    return list;
}

Test(device_list, agrees_with_devices_laid_out_one_by_one, .timeout = 600)
{
    struct test_random random;
    test_random_init(&random, "device_list");
    const int64_t rounds = test_rounds(ROUNDS);
    for (int64_t round = 0; round < rounds; round++) {
        struct device_list max = random_list(&random);
        const struct device_list other = random_list(&random);
        struct device_run mine[DEVICES];
        struct device_run theirs[DEVICES];
        const unsigned my_count = lay_out(&max, mine);
        const unsigned their_count = lay_out(&other, theirs);
        struct device_list expected = {0};
        for (unsigned i = 0; i < my_count || i < their_count; i++) {
            struct device_run run = i < my_count ? mine[i] : theirs[i];
            if (i < my_count && i < their_count) {
                const bool whole = (mine[i].cores_percent == 0 && mine[i].memory_mib == 0) ||
                                   (theirs[i].cores_percent == 0 && theirs[i].memory_mib == 0);
                run.cores_percent = mine[i].cores_percent > theirs[i].cores_percent
                                        ? mine[i].cores_percent
                                        : theirs[i].cores_percent;
                run.memory_mib = mine[i].memory_mib > theirs[i].memory_mib ? mine[i].memory_mib
                                                                           : theirs[i].memory_mib;
                run = whole ? (struct device_run){1, 0, 0} : run;
            }
            cr_assert(device_list_add(&expected, run));
        }
        cr_assert(device_list_max(&max, &other));
        assert_runs(&max, expected.runs, expected.run_count);
    }
}
