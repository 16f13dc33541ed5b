/*
 * The one function of a fuzz target. libFuzzer calls it when built with -Dfuzz=true; replay.c otherwise.
 */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

/** Take any bytes; abort() when a property does not hold. The name is libFuzzer's. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
