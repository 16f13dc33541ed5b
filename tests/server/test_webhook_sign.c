/* Signatures of messages: the vector of the Standard Webhooks specification, and what it does not say. */
#include <string.h>

#include <criterion/criterion.h>

#include "server/webhook_sign.h"

static struct error err;

Test(webhook_sign, the_vector_of_the_specification_comes_out)
{
    static const char body[] = "{\"test\": 2432232314}";
    const struct webhook_message message = {
        .id = "msg_p5jXN8AQM9LWM0D4loKWxJek",
        .timestamp_s = 1614265330,
        .body = body,
        .body_bytes = sizeof body - 1,
    };
    char signature[WEBHOOK_SIGNATURE_BYTES];
    cr_assert_eq(
        webhook_sign(&message, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "", signature, &err),
        ERR_OK);
    cr_assert_str_eq(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

Test(webhook_sign, an_old_secret_signs_behind_the_new_one)
{
    const struct webhook_message message = {
        .id = "msg_1", .timestamp_s = 1, .body = "{}", .body_bytes = 2};
    char fresh[WEBHOOK_SECRET_BYTES];
    char old[WEBHOOK_SECRET_BYTES];
    char alone[WEBHOOK_SIGNATURE_BYTES];
    char both[WEBHOOK_SIGNATURE_BYTES];
    cr_assert_eq(webhook_secret_create(fresh, &err), ERR_OK);
    cr_assert_eq(webhook_secret_create(old, &err), ERR_OK);
    cr_assert_str_neq(fresh, old);
    cr_assert_eq(webhook_sign(&message, fresh, "", alone, &err), ERR_OK);
    cr_assert_eq(webhook_sign(&message, fresh, old, both, &err), ERR_OK);
    cr_assert_eq(strncmp(both, alone, strlen(alone)), 0);
    cr_assert_eq(both[strlen(alone)], ' ');
    cr_assert_eq(webhook_sign(&message, old, "", alone, &err), ERR_OK);
    cr_assert_str_eq(strchr(both, ' ') + 1, alone);
}

Test(webhook_sign, a_secret_of_another_form_is_refused)
{
    static const char *const wrong[] = {"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                                        "whsec_MfKQ9r8G", "whsec_MfKQ9r8GKYqrTwj*PD8ILPZIo2LaLaSw"};
    const struct webhook_message message = {.id = "msg_1", .body = "", .body_bytes = 0};
    char signature[WEBHOOK_SIGNATURE_BYTES];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        cr_assert_eq(webhook_sign(&message, wrong[i], "", signature, &err), ERR_INTERNAL, "%s",
                     wrong[i]);
    }
}
