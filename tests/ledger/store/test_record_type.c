/*
 * Descriptors name every member of their struct; keys hash, compare and copy; lists become text and come back.
 */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/store/record_value.h"
#include "tests/ledger/store/engines.h"

/* ---- descriptors ------------------------------------------------------------------------------- */

static void cover(bool *covered, size_t offset, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        cr_assert_not(covered[offset + i], "byte %zu is described twice", offset + i);
        covered[offset + i] = true;
    }
}

static size_t field_bytes(const struct record_field *field)
{
    switch (field->kind) {
    case FIELD_I64:
        return sizeof(int64_t);
    case FIELD_I32:
        return sizeof(int32_t);
    case FIELD_TEXT:
    case FIELD_BLOB:
        return field->size;
    case FIELD_LIST:
        break;
    }
    return field->size * field->columns * sizeof(int64_t);
}

Test(record_type, every_member_of_every_record_is_described_once)
{
    for (size_t t = 0; t < RECORD__COUNT; t++) {
        const struct record_type *type = &record_types[t];
        static bool covered[sizeof(union record_any)];
        memset(covered, 0, sizeof covered);
        for (size_t f = 0; f < type->field_count; f++) {
            const struct record_field *field = &type->fields[f];
            cover(covered, field->offset, field_bytes(field));
            if (field->kind == FIELD_LIST) {
                cover(covered, field->count_offset, sizeof(int32_t));
            }
        }
        /* What is left is padding: less than the alignment of 8. */
        size_t gap = 0;
        for (size_t i = 0; i < type->bytes; i++) {
            gap = covered[i] ? 0 : gap + 1;
            cr_assert_lt(gap, 8, "%s: bytes up to %zu are in no field", type->name, i);
        }
    }
}

Test(record_type, ids_are_indexes_and_keys_are_scalars)
{
    for (int t = 0; t < RECORD__COUNT; t++) {
        const struct record_type *type = &record_types[t];
        cr_assert_eq(type->id, t);
        cr_assert(type->key_count >= 1 && type->key_count <= type->field_count);
        cr_assert_leq(type->field_count, 64);
        cr_assert_leq(type->bytes, sizeof(union record_any));
        for (size_t f = 0; f < type->key_count; f++) {
            cr_assert_neq(type->fields[f].kind, FIELD_LIST);
        }
    }
}

Test(record_type, only_the_journal_and_its_closes_are_append_only)
{
    for (int t = 0; t < RECORD__COUNT; t++) {
        bool journal = t == RECORD_ENTRY || t == RECORD_CHAIN_LINK || t == RECORD_CHAIN_NOTE ||
                       t == RECORD_CLOSE_GRANT || t == RECORD_CLOSE_PAYER;
        cr_assert_eq(record_types[t].append_only, journal, "%s", record_types[t].name);
    }
}

/* ---- keys -------------------------------------------------------------------------------------- */

Test(record_value, copies_have_the_same_key_and_hash_and_are_equal)
{
    struct test_random random;
    test_random_init(&random, "copies_have_the_same_key_and_hash_and_are_equal");
    for (int64_t i = 0; i < test_rounds(300); i++) {
        const struct record_type *type = &record_types[i % RECORD__COUNT];
        static union record_any record;
        static union record_any copy;
        random_record(&random, type, i % 2 == 0, &record);
        memset(&copy, (int)i, sizeof copy);
        record_copy(type, &record, &copy);
        cr_assert(record_equal(type, &record, &copy), "%s", type->name);
        cr_assert(record_key_equal(type, &record, &copy), "%s", type->name);
        cr_assert_eq(record_key_hash(type, &record), record_key_hash(type, &copy), "%s",
                     type->name);
    }
}

Test(record_value, keys_compare_as_numbers_and_bytes)
{
    const struct record_type *type = &record_types[RECORD_NAME];
    struct name a = {.space = -1, .scope_no = INT64_MAX, .name = "b"};
    struct name b = {.space = -1, .scope_no = INT64_MAX, .name = "ba"};
    cr_assert_lt(record_key_compare(type, &a, &b), 0);
    (void)strcpy(b.name, "\xc3\xa9"); /* bytes are unsigned */
    cr_assert_lt(record_key_compare(type, &a, &b), 0);
    b.scope_no = INT64_MIN;
    cr_assert_gt(record_key_compare(type, &a, &b), 0);
    b = a;
    b.target_no = 7; /* not of the key */
    cr_assert(record_key_equal(type, &a, &b));
    cr_assert_not(record_equal(type, &a, &b));
}

Test(record_value, hashes_of_neighbouring_keys_spread_over_all_bits)
{
    uint64_t ones = 0;
    uint64_t zeros = 0;
    int low_bits[64] = {0};
    for (int64_t i = 0; i < 4096; i++) {
        struct task task = {.hold_no = i / 4, .task = i % 4};
        uint64_t hash = record_key_hash(&record_types[RECORD_TASK], &task);
        ones |= hash;
        zeros |= ~hash;
        low_bits[hash & 63]++;
    }
    cr_assert_eq(ones, UINT64_MAX);
    cr_assert_eq(zeros, UINT64_MAX);
    for (size_t i = 0; i < 64; i++) {
        cr_assert(low_bits[i] > 24 && low_bits[i] < 120, "%d of 64 expected", low_bits[i]);
    }
}

/* ---- lists ------------------------------------------------------------------------------------- */

static const struct record_field *draws_field(void)
{
    const struct record_type *type = &record_types[RECORD_HOLD];
    size_t f = 0;
    while (strcmp(type->fields[f].name, "draws") != 0) {
        f++;
    }
    return &type->fields[f];
}

Test(record_value, lists_are_written_as_decimal_numbers)
{
    static struct hold hold = {.draw_count = 2, .draws = {{1, -2}, {INT64_MAX, INT64_MIN}}};
    char text[RECORD_LIST_TEXT_BYTES];
    size_t length = record_list_encode(draws_field(), &hold, text);
    cr_assert_str_eq(text, "1:-2,9223372036854775807:-9223372036854775808");
    cr_assert_eq(length, strlen(text));
    hold.draw_count = 0;
    cr_assert_eq(record_list_encode(draws_field(), &hold, text), 0);
    cr_assert_str_eq(text, "");
}

Test(record_value, lists_come_back_from_their_text)
{
    struct test_random random;
    test_random_init(&random, "lists_come_back_from_their_text");
    for (int64_t i = 0; i < test_rounds(200); i++) {
        const struct record_type *type = &record_types[RECORD_RUN];
        static struct run run;
        static struct run back;
        random_record(&random, type, i % 2 == 0, &run);
        record_copy(type, &run, &back);
        for (size_t f = 0; f < type->field_count; f++) {
            if (type->fields[f].kind == FIELD_LIST) {
                char text[RECORD_LIST_TEXT_BYTES];
                size_t length = record_list_encode(&type->fields[f], &run, text);
                cr_assert(record_list_decode(&type->fields[f], text, length, &back));
            }
        }
        cr_assert(record_equal(type, &run, &back));
    }
}

Test(record_value, texts_that_are_no_list_are_refused)
{
    static const char *const texts[] = {
        "1",
        "1:",
        ":1",
        "1:2,",
        ",1:2",
        "1:2,3",
        "1:2:3",
        "1,2",
        "01:2",
        "1:-0",
        "1:+2",
        "1: 2",
        " 1:2",
        "1:2 ",
        "1:a",
        "9223372036854775808:1",
        "-9223372036854775809:1",
        "1:2,,3:4",
        "-:1",
        "1:2;3:4",
    };
    static struct hold hold;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        cr_assert_not(record_list_decode(draws_field(), texts[i], strlen(texts[i]), &hold), "%s",
                      texts[i]);
    }
    cr_assert_not(record_list_decode(draws_field(), "1:2\0,3:4", 8, &hold));
}

Test(record_value, more_elements_than_there_is_room_for_are_refused)
{
    char text[RECORD_LIST_TEXT_BYTES] = "";
    static struct hold hold;
    size_t length = 0;
    for (size_t i = 0; i <= RECORD_DRAWS; i++) {
        bool fits = record_list_decode(draws_field(), text, length, &hold);
        cr_assert(fits && hold.draw_count == (int32_t)i);
        length += (size_t)snprintf(text + length, sizeof text - length, "%s1:2", i == 0 ? "" : ",");
    }
    cr_assert_not(record_list_decode(draws_field(), text, length, &hold));
}
