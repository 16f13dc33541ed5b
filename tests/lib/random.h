/*
 * Seeded randomness for property tests. A run prints its seed; COREHOUR_SEED repeats it.
 */
#ifndef TESTS_LIB_RANDOM_H
#define TESTS_LIB_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct test_random {
    uint64_t state;
};

/**
 * Begin with the seed in COREHOUR_SEED, or a new one; either is printed to standard error with @name, the test's.
 * The same seed gives the same numbers on every machine.
 */
void test_random_init(struct test_random *random, const char *name);

/** Begin with a given seed, silently. */
void test_random_init_seed(struct test_random *random, uint64_t seed);

/** 64 random bits. */
uint64_t test_random_next(struct test_random *random);

/** A number from @low to @high, both included. */
int64_t test_random_range(struct test_random *random, int64_t low, int64_t high);

/** True with a chance of @numerator in @denominator. */
bool test_random_chance(struct test_random *random, int64_t numerator, int64_t denominator);

/** Rounds for a property: @normal, or 100 times as many when built with -Dslow_tests=true. */
int64_t test_rounds(int64_t normal);

#endif
