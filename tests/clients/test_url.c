/* Paths and queries with every outside text encoded. */
#include <string.h>

#include <criterion/criterion.h>

#include "clients/url.h"

TestSuite(url);

Test(url, a_name_cannot_reach_another_route)
{
    char url[COREHOUR_URL_BYTES] = "/v1/projects/vision/members";
    cr_assert_eq(corehour_url_segment(url, sizeof url, "../../x?y=1#z%20"), COREHOUR_OK);
    cr_expect_str_eq(url, "/v1/projects/vision/members/..%2F..%2Fx%3Fy%3D1%23z%2520");
}

Test(url, a_name_beyond_ascii_is_encoded_byte_by_byte)
{
    char url[COREHOUR_URL_BYTES] = "/v1/members";
    cr_assert_eq(corehour_url_segment(url, sizeof url, "爱"), COREHOUR_OK);
    cr_expect_str_eq(url, "/v1/members/%E7%88%B1");
}

Test(url, dots_and_nothing_are_no_segment)
{
    char url[COREHOUR_URL_BYTES] = "/v1/holds";
    cr_expect_eq(corehour_url_segment(url, sizeof url, ""), COREHOUR_INVALID);
    cr_expect_eq(corehour_url_segment(url, sizeof url, "."), COREHOUR_INVALID);
    cr_expect_eq(corehour_url_segment(url, sizeof url, ".."), COREHOUR_INVALID);
    cr_expect_str_eq(url, "/v1/holds");
}

Test(url, a_query_begins_with_a_question_mark_and_goes_on_with_an_ampersand)
{
    char url[COREHOUR_URL_BYTES] = "/v1/holds";
    cr_assert_eq(corehour_url_query(url, sizeof url, "state", "running"), COREHOUR_OK);
    cr_assert_eq(corehour_url_query(url, sizeof url, "user", "a&b=c d"), COREHOUR_OK);
    cr_expect_str_eq(url, "/v1/holds?state=running&user=a%26b%3Dc%20d");
}

Test(url, what_does_not_fit_leaves_the_path_as_it_was)
{
    char url[16] = "/v1";
    cr_expect_eq(corehour_url_append(url, sizeof url, "/0123456789abcdef"), COREHOUR_RANGE);
    cr_expect_eq(corehour_url_segment(url, sizeof url, "0123456789abcdef"), COREHOUR_RANGE);
    cr_expect_eq(corehour_url_segment(url, sizeof url, "ääääää"), COREHOUR_RANGE);
    cr_expect_eq(corehour_url_query(url, sizeof url, "key", "0123456789"), COREHOUR_RANGE);
    cr_expect_eq(corehour_url_query(url, sizeof url, "a_very_long_key", "0"), COREHOUR_RANGE);
    cr_expect_str_eq(url, "/v1");
    cr_expect_eq(corehour_url_segment(url, sizeof url, "0123456789a"), COREHOUR_OK);
    cr_expect_str_eq(url, "/v1/0123456789a");
}
