/* SHA-256 against published vectors, and the canonical form of fields. */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/base/digest.h"

struct digest_case {
    const char *text;
    const char *hex;
};

Test(digest, published_vectors_agree)
{
    static const struct digest_case cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[DIGEST_TEXT_BYTES];
        struct digest digest = digest_of(cases[i].text, strlen(cases[i].text));
        cr_expect_str_eq(digest_format(&digest, text), cases[i].hex);
    }
}

Test(digest, pieces_give_the_digest_of_the_whole_and_the_state_starts_anew)
{
    struct digest_state state;
    struct digest whole = digest_of("hello world", 11);
    digest_init(&state);
    for (int round = 0; round < 2; round++) {
        digest_update(&state, "hello", 5);
        digest_update(&state, "", 0);
        digest_update(&state, " world", 6);
        struct digest pieces = digest_finish(&state);
        cr_expect(digest_equal(&pieces, &whole));
    }
}

Test(digest, integers_are_hashed_as_8_bytes_most_significant_first)
{
    struct digest_state state;
    digest_init(&state);
    digest_update_i64(&state, -2);
    digest_update_i64(&state, 258);
    struct digest found = digest_finish(&state);
    struct digest expected = digest_of("\xff\xff\xff\xff\xff\xff\xff\xfe\0\0\0\0\0\0\1\2", 16);
    cr_expect(digest_equal(&found, &expected));
}

static struct digest digest_of_two(const char *a, const char *b)
{
    struct digest_state state;
    digest_init(&state);
    digest_update_text(&state, a);
    digest_update_text(&state, b);
    return digest_finish(&state);
}

Test(digest, moving_a_letter_between_two_texts_changes_the_digest)
{
    struct digest left = digest_of_two("ab", "c");
    struct digest right = digest_of_two("a", "bc");
    struct digest same = digest_of_two("ab", "c");
    cr_expect(!digest_equal(&left, &right));
    cr_expect(digest_equal(&left, &same));
}

Test(digest, hex_is_read_back_in_either_case)
{
    char text[DIGEST_TEXT_BYTES];
    struct digest digest = digest_of("x", 1);
    struct digest again = {{0}};
    (void)digest_format(&digest, text);
    cr_expect(digest_parse(text, &again));
    cr_expect(digest_equal(&digest, &again));
    for (size_t i = 0; i < sizeof text - 1; i++) {
        text[i] = text[i] >= 'a' ? (char)(text[i] - 'a' + 'A') : text[i];
    }
    again = (struct digest){{0}};
    cr_expect(digest_parse(text, &again));
    cr_expect(digest_equal(&digest, &again));
}

Test(digest, what_is_not_64_hex_digits_is_refused)
{
    struct digest digest = {{7}};
    static const char *const refused[] = {
        "",
        "e3b0",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b8555",
        "g3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b85 ",
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        cr_expect(!digest_parse(refused[i], &digest), "%s", refused[i]);
    }
    cr_expect_eq(digest.bytes[0], 7);
}
