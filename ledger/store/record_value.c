/*
 * What can be done with a record by its descriptor alone. Nothing here allocates or keeps state.
 */
#include "ledger/store/record_value.h"

#include <string.h>

/* ---- fields of a record ------------------------------------------------------------------- */

static const char *at(const void *record, size_t offset)
{
    return (const char *)record + offset;
}

/* The number of an integer field, or the count of a list. */
static int64_t integer_of(const struct record_field *field, const void *record)
{
    int64_t wide;
    int32_t narrow;
    if (field->kind == FIELD_I64) {
        memcpy(&wide, at(record, field->offset), sizeof wide);
        return wide;
    }
    memcpy(&narrow, at(record, field->kind == FIELD_LIST ? field->count_offset : field->offset),
           sizeof narrow);
    return narrow;
}

/* Bytes of a field that count: all of a blob, a text up to its NUL, a list up to its count. */
static size_t used_bytes(const struct record_field *field, const void *record)
{
    switch (field->kind) {
    case FIELD_I64:
        return sizeof(int64_t);
    case FIELD_I32:
        return sizeof(int32_t);
    case FIELD_TEXT:
        return strnlen(at(record, field->offset), field->size - 1);
    case FIELD_BLOB:
        return field->size;
    case FIELD_LIST:
        break;
    }
    int64_t count = integer_of(field, record);
    assert(count >= 0 && (size_t)count <= field->size);
    return (size_t)count * field->columns * sizeof(int64_t);
}

static int compare_integers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Shorter bytes sort before longer ones that begin with them. */
static int compare_bytes(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
    return order != 0 ? order : compare_integers((int64_t)a_bytes, (int64_t)b_bytes);
}

static int compare_field(const struct record_field *field, const void *a, const void *b)
{
    if (field->kind == FIELD_I64 || field->kind == FIELD_I32) {
        return compare_integers(integer_of(field, a), integer_of(field, b));
    }
    return compare_bytes(at(a, field->offset), used_bytes(field, a), at(b, field->offset),
                         used_bytes(field, b));
}

int record_key_compare(const struct record_type *type, const void *a, const void *b)
{
    int order = 0;
    for (size_t i = 0; i < type->key_count && order == 0; i++) {
        order = compare_field(&type->fields[i], a, b);
    }
    return order;
}

bool record_key_equal(const struct record_type *type, const void *a, const void *b)
{
    return record_key_compare(type, a, b) == 0;
}

bool record_equal(const struct record_type *type, const void *a, const void *b)
{
    for (size_t i = 0; i < type->field_count; i++) {
        if (compare_field(&type->fields[i], a, b) != 0) {
            return false;
        }
    }
    return true;
}

void record_copy(const struct record_type *type, const void *record, void *ret_copy)
{
    for (size_t i = 0; i < type->field_count; i++) {
        const struct record_field *field = &type->fields[i];
        char *to = (char *)ret_copy + field->offset;
        size_t bytes = used_bytes(field, record);
        memcpy(to, at(record, field->offset), bytes);
        if (field->kind == FIELD_TEXT) {
            to[bytes] = '\0';
        } else if (field->kind == FIELD_LIST) {
            memcpy((char *)ret_copy + field->count_offset, at(record, field->count_offset),
                   sizeof(int32_t));
        }
    }
}

/* ---- hashing ------------------------------------------------------------------------------ */

/* One round of multiply and fold (wyhash): every bit of the input reaches every bit of the result. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    __extension__ typedef unsigned __int128 wide;
    wide product =
        (wide)(hash ^ UINT64_C(0xa0761d6478bd642f)) * (wide)(word ^ UINT64_C(0xe7037ed1a0b428db));
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t mix_bytes(uint64_t hash, const char *bytes, size_t length_bytes)
{
    uint64_t word;
    size_t done = 0;
    for (; length_bytes - done >= sizeof word; done += sizeof word) {
        memcpy(&word, bytes + done, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, bytes + done, length_bytes - done);
    return mix(mix(hash, word), length_bytes);
}

uint64_t record_key_hash(const struct record_type *type, const void *record)
{
    uint64_t hash = mix(UINT64_C(0x8ebc6af09c88c6e3), (uint64_t)type->id + 1);
    for (size_t i = 0; i < type->key_count; i++) {
        const struct record_field *field = &type->fields[i];
        if (field->kind == FIELD_I64 || field->kind == FIELD_I32) {
            hash = mix(hash, (uint64_t)integer_of(field, record));
        } else {
            hash = mix_bytes(hash, at(record, field->offset), used_bytes(field, record));
        }
    }
    return hash;
}

/* ---- lists as text ------------------------------------------------------------------------ */

enum { DIGITS_MAX = 20 }; /* of an int64, its sign included */

static char *put_integer(char *text, int64_t value)
{
    char digits[DIGITS_MAX];
    size_t count = 0;
    uint64_t rest = value < 0 ? ~(uint64_t)value + 1 : (uint64_t)value;
    do {
        digits[count++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0) {
        *text++ = '-';
    }
    while (count > 0) {
        *text++ = digits[--count];
    }
    return text;
}

size_t record_list_encode(const struct record_field *field,
                          const void *record,
                          char ret_text[RECORD_LIST_TEXT_BYTES])
{
    assert(field->kind == FIELD_LIST);
    assert(field->size * field->columns * (DIGITS_MAX + 1) < RECORD_LIST_TEXT_BYTES);
    size_t numbers = used_bytes(field, record) / sizeof(int64_t);
    char *end = ret_text;
    for (size_t i = 0; i < numbers; i++) {
        int64_t value;
        memcpy(&value, at(record, field->offset + i * sizeof value), sizeof value);
        if (i > 0) {
            *end++ = i % field->columns == 0 ? ',' : ':';
        }
        end = put_integer(end, value);
    }
    *end = '\0';
    return (size_t)(end - ret_text);
}

/* Read one canonical number from *text on; moves *text behind it. */
static bool take_integer(const char **text, const char *end, int64_t *ret_value)
{
    const char *from = *text;
    bool negative = from < end && *from == '-';
    from += negative;
    const char *digits = from;
    int64_t value = 0;
    for (; from < end && *from >= '0' && *from <= '9'; from++) {
        int digit = negative ? '0' - *from : *from - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
    }
    bool leading_zero = from > digits && *digits == '0' && (from - digits > 1 || negative);
    if (from == digits || leading_zero) {
        return false;
    }
    *text = from;
    *ret_value = value;
    return true;
}

bool record_list_decode(const struct record_field *field,
                        const char *text,
                        size_t length_bytes,
                        void *ret_record)
{
    assert(field->kind == FIELD_LIST);
    const char *end = text + length_bytes;
    size_t numbers = 0;
    while (text < end) {
        int64_t value;
        if (numbers == field->size * field->columns || !take_integer(&text, end, &value)) {
            return false;
        }
        memcpy((char *)ret_record + field->offset + numbers * sizeof value, &value, sizeof value);
        numbers++;
        char separator = numbers % field->columns == 0 ? ',' : ':';
        if (text < end && (*text++ != separator || text == end)) {
            return false;
        }
    }
    if (numbers % field->columns != 0) {
        return false;
    }
    int32_t count = (int32_t)(numbers / field->columns);
    memcpy((char *)ret_record + field->count_offset, &count, sizeof count);
    return true;
}
