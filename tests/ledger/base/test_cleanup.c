/* Owners clean up when they leave scope, once, and not what was handed over. */
#include <fcntl.h>

#include <criterion/criterion.h>

#include "ledger/base/cleanup.h"

static char *make_text(void)
{
    CLEANUP(cleanup_free) char *text = malloc(10);
    cr_assert_not_null(text);
    text[0] = '\0';
    return TAKE(text);
}

Test(cleanup, a_taken_pointer_outlives_its_scope)
{
    char *text = make_text();
    cr_expect_str_eq(text, "");
    free(text);
}

Test(cleanup, a_descriptor_is_closed_at_the_end_of_its_scope)
{
    int copy = -1;
    {
        CLEANUP(cleanup_close) int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        cr_assert_geq(fd, 0);
        copy = fd;
        cr_expect_neq(fcntl(copy, F_GETFD), -1);
    }
    cr_expect_eq(fcntl(copy, F_GETFD), -1);
}

Test(cleanup, nothing_is_closed_when_there_is_nothing)
{
    CLEANUP(cleanup_close) int fd = -1;
    CLEANUP(cleanup_fclose) FILE *file = NULL;
    CLEANUP(cleanup_free) char *text = NULL;
    cr_expect(fd == -1 && file == NULL && text == NULL);
}
