/*
 * Quantities as Kubernetes writes them: "2", "+2", "100m", "1k", "1Ki", "0.5", "1e0", "2E3", ".5G". Exact, without floating
 * point; rounded up, once, where the caller's unit asks for it, as Kubernetes itself rounds. Pure, any thread.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_QUANTITY_H
#define COREHOUR_CLIENTS_KUBERNETES_QUANTITY_H

#include <stdint.h>

enum {
    QUANTITY_TEXT_BYTES = 64, /* longest text; a longer one is refused */
};
#define QUANTITY_FACTOR_MAX (INT64_C(1) << 50) /* largest multiplier and divisor */

enum quantity_result {
    QUANTITY_OK,
    QUANTITY_INVALID,   /* no quantity, or too long */
    QUANTITY_NEGATIVE,  /* below 0 ("-0" is 0) */
    QUANTITY_TOO_LARGE, /* above @most */
};

/*
 * The quantity times @multiplier / @divisor, rounded up to a whole number: 1/1 for what is counted, 1000/1 for thousandths of a
 * core, 1/1048576 for MiB.
 *
 * @text        NUL-terminated
 * @multiplier, @divisor  1 to QUANTITY_FACTOR_MAX
 * @most        largest value that is taken, 0 or more
 * ret_value    0 to @most; untouched on failure
 */
enum quantity_result quantity_read(const char *text,
                                   int64_t multiplier,
                                   int64_t divisor,
                                   int64_t most,
                                   int64_t *ret_value);

#endif
