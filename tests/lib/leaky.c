/* A test that passes and leaks: run-criterion.sh must turn it red. Built with sanitizers only. */
#include <stdlib.h>

#include <criterion/criterion.h>

Test(leaky, a_leak_is_seen_though_the_test_passes)
{
    char *volatile lost = malloc(10);
    cr_assert_not_null(lost);
    lost = NULL;
}
