/*
 * Owners that clean up after themselves when they leave scope.
 *
 *     CLEANUP(cleanup_free) char *text = strdup(name);
 *     return TAKE(text);      // hands the memory over: text is NULL at the end of the scope
 *
 * A type with a `void x_fini(struct x *)` needs no helper: CLEANUP(x_fini) struct x x;
 */
#ifndef LEDGER_BASE_CLEANUP_H
#define LEDGER_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Call @function with the address of the variable when it leaves scope. */
#define CLEANUP(function) __attribute__((cleanup(function)))

/** The value of an owning pointer of any type; the pointer is NULL afterwards. */
#define TAKE(pointer)                           \
    __extension__({                             \
        __typeof__(pointer) taken_ = (pointer); \
        (pointer) = NULL;                       \
        taken_;                                 \
    })

/** For `CLEANUP(cleanup_free) T *x`: frees x. The address of any pointer is passed as void *. */
static inline void cleanup_free(void *address)
{
    free(*(void **)address);
}

/** For `CLEANUP(cleanup_close) int fd`: closes fd unless it is negative. */
static inline void cleanup_close(const int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}

/** For `CLEANUP(cleanup_fclose) FILE *file`: closes file unless it is NULL. Writers check fclose()
 * themselves first. */
static inline void cleanup_fclose(FILE **file)
{
    if (*file != NULL) {
        (void)fclose(*file);
    }
}

#endif
