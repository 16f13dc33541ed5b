/*
 * What a function of libcorehour returns. One enum for the whole library, so that a caller needs
 * one switch. An answer of the daemon is never an error here, whatever its HTTP status: a refusal
 * is an answer.
 */
#ifndef COREHOUR_CLIENTS_RESULT_H
#define COREHOUR_CLIENTS_RESULT_H

#if defined(__GNUC__)
#    define COREHOUR_API __attribute__((visibility("default")))
#else
#    define COREHOUR_API
#endif

enum corehour_result {
    COREHOUR_OK = 0,      /* done; for a call: a whole answer came, of any HTTP status */
    COREHOUR_INVALID,     /* an argument is wrong: nothing was sent */
    COREHOUR_RANGE,       /* an argument or a result is outside its range: nothing was sent */
    COREHOUR_MEMORY,      /* out of memory */
    COREHOUR_UNREACHABLE, /* no connection within the tries or the deadline: nothing was carried out
                           */
    COREHOUR_NO_ANSWER, /* sent, and no whole answer came: it may or may not have been carried out;
                           the same call again, with the same id, is safe and tells */
    COREHOUR_GARBLED,   /* an answer came that is not Corehour's: bad JSON, too large, not HTTP */
};

/*
 * An error with its explanation. The caller owns it; filling it never allocates. `detail` is one
 * line of English: what happened, to what, and never a token.
 */
struct corehour_error {
    enum corehour_result result;
    char detail[320];
};

#endif
