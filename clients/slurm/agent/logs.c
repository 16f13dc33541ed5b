/* SPDX-License-Identifier: MIT
 *
 * See logs.h. */
#include "clients/slurm/agent/logs.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void logs_say(int level, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe) */
    if (isatty(STDERR_FILENO) == 1) {
        (void)fprintf(stderr, "corehour-slurm: %s\n", line);
    } else {
        (void)fprintf(stderr, "<%d>%s\n", level, line);
    }
}
