/* Names of users by number. */
#include <pwd.h>

#include <criterion/criterion.h>

#include "clients/clock.h"
#include "clients/slurm/user_names.h"

Test(user_names, a_user_has_a_name_and_keeps_it)
{
    char name[USER_NAME_BYTES];
    for (int i = 0; i < 3; i++) {
        cr_assert(user_names_find(0, client_clock_mono_ms() + 10000, name));
        cr_assert_str_eq(name, "root");
    }
}

Test(user_names, nobody_is_a_number)
{
    char name[USER_NAME_BYTES];
    cr_assert(user_names_find(3999999999U, client_clock_mono_ms() + 10000, name));
    cr_assert_str_eq(name, "3999999999");
}

Test(user_names, users_of_one_place_take_turns)
{
    char name[USER_NAME_BYTES];
    for (int i = 0; i < 3; i++) {
        cr_assert(user_names_find(0, client_clock_mono_ms() + 10000, name));
        cr_assert_str_eq(name, "root");
        cr_assert(user_names_find(512U * 7000000U, client_clock_mono_ms() + 10000, name));
        cr_assert_str_eq(name, "3584000000");
    }
}

Test(user_names, no_time_is_no_answer_until_the_name_is_known)
{
    char name[USER_NAME_BYTES] = "unchanged";
    if (!user_names_find(0, 0, name)) {
        cr_assert_str_eq(name, "unchanged");
    }
    const int64_t end_ms = client_clock_mono_ms() + 10000;
    while (!user_names_find(0, 0, name) && client_clock_mono_ms() < end_ms) {
        client_clock_sleep_ms(1);
    }
    cr_assert_str_eq(name, "root", "the look-up went on behind our back");
}
