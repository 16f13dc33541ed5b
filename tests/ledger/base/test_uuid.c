/* UUIDv7: the published layout, order in time, no repeats. */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/base/text.h"
#include "ledger/base/uuid.h"
#include "tests/lib/random.h"

Test(uuid, the_example_of_rfc_9562_is_reproduced)
{
    /* RFC 9562, A.6: 2022-02-22T19:22:22Z, rand_a CC3, rand_b 18C4DC0C0C07398F. */
    static const uint8_t random[UUID_RANDOM_BYTES] = {0x0C, 0xC3, 0x18, 0xC4, 0xDC,
                                                      0x0C, 0x0C, 0x07, 0x39, 0x8F};
    char text[UUID_TEXT_BYTES];
    uuid_v7_format(1645557742000, random, text);
    cr_expect_str_eq(text, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
}

Test(uuid, version_and_variant_are_set_whatever_the_random_bytes)
{
    static const uint8_t ones[UUID_RANDOM_BYTES] = {255, 255, 255, 255, 255,
                                                    255, 255, 255, 255, 255};
    static const uint8_t zeros[UUID_RANDOM_BYTES] = {0};
    char text[UUID_TEXT_BYTES];
    uuid_v7_format(0, ones, text);
    cr_expect_str_eq(text, "00000000-0000-7fff-bfff-ffffffffffff");
    uuid_v7_format((INT64_C(1) << 48) - 1, zeros, text);
    cr_expect_str_eq(text, "ffffffff-ffff-7000-8000-000000000000");
}

Test(uuid, later_ids_sort_after_earlier_ones)
{
    struct test_random random;
    test_random_init(&random, "uuid order");
    char before[UUID_TEXT_BYTES] = "";
    int64_t time_ms = 0;
    for (int64_t round = test_rounds(1000); round > 0; round--) {
        char text[UUID_TEXT_BYTES];
        time_ms += test_random_range(&random, 1, 1000000);
        cr_assert_eq(uuid_v7_create(time_ms, text, NULL), ERR_OK);
        cr_assert(strcmp(before, text) < 0, "%s, %s", before, text);
        cr_assert(text_is_id(text));
        memcpy(before, text, sizeof before);
    }
}

Test(uuid, two_ids_of_one_millisecond_differ)
{
    char a[UUID_TEXT_BYTES];
    char b[UUID_TEXT_BYTES];
    cr_assert_eq(uuid_v7_create(1796064660000, a, NULL), ERR_OK);
    cr_assert_eq(uuid_v7_create(1796064660000, b, NULL), ERR_OK);
    cr_expect_str_neq(a, b);
}
