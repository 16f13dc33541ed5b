/*
 * Runs a fuzz target over stored inputs as a regression test, without libFuzzer, and over seeded random changes of them.
 *
 * usage: replay CORPUS_DIRECTORY
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger/base/cleanup.h"
#include "tests/fuzz/target.h"
#include "tests/lib/random.h"

enum {
    INPUT_BYTES = 1 << 20,
    CHANGES = 200,
};

struct input {
    uint8_t *bytes; /* INPUT_BYTES */
    size_t length;
};

/* Read one file; false when it is none or too large. */
static bool read_input(const char *directory, const char *name, struct input *input)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", directory, name);
    CLEANUP(cleanup_fclose) FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    input->length = fread(input->bytes, 1, INPUT_BYTES, file);
    return feof(file) != 0;
}

/* Run the target on a copy of exact size, so that ASan sees a read beyond the end. */
static void run_target(const uint8_t *bytes, size_t length)
{
    CLEANUP(cleanup_free) uint8_t *copy = malloc(length > 0 ? length : 1);
    if (copy == NULL) {
        abort();
    }
    memcpy(copy, bytes, length);
    (void)LLVMFuzzerTestOneInput(copy, length);
}

/* Change some bytes and perhaps the length. */
static void change(struct test_random *random, struct input *input)
{
    for (int64_t i = test_random_range(random, 1, 4); i > 0 && input->length > 0; i--) {
        size_t at = (size_t)test_random_range(random, 0, (int64_t)input->length - 1);
        input->bytes[at] = (uint8_t)test_random_range(random, 0, 255);
    }
    if (test_random_chance(random, 1, 4)) {
        input->length = (size_t)test_random_range(random, 0, (int64_t)input->length);
    }
}

static void run_file(const char *directory,
                     const char *name,
                     struct input *input,
                     struct test_random *random)
{
    if (!read_input(directory, name, input)) {
        return;
    }
    run_target(input->bytes, input->length);
    for (int64_t round = test_rounds(CHANGES); round > 0; round--) {
        if (!read_input(directory, name, input)) {
            return;
        }
        change(random, input);
        run_target(input->bytes, input->length);
    }
}

int main(int argc, char **argv)
{
    struct test_random random;
    struct input input = {.bytes = malloc(INPUT_BYTES)};
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    if (directory == NULL || input.bytes == NULL) {
        (void)fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
        return EXIT_FAILURE;
    }
    test_random_init(&random, argv[1]);
    int files = 0;
    for (const struct dirent *entry = readdir(directory); entry != NULL;
         entry = readdir(directory)) {
        if (entry->d_name[0] != '.') {
            run_file(argv[1], entry->d_name, &input, &random);
            files++;
        }
    }
    (void)closedir(directory);
    free(input.bytes);
    (void)printf("%d inputs replayed\n", files);
    return files > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
