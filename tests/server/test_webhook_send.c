/* Which addresses a webhook may reach. */
#include <arpa/inet.h>
#include <string.h>

#include <criterion/criterion.h>

#include "server/webhook_send.h"

static bool may(const char *text, enum webhook_reach reach)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        return webhook_may_reach((const struct sockaddr *)(const void *)&v4, reach);
    }
    cr_assert_eq(inet_pton(AF_INET6, text, &v6.sin6_addr), 1, "%s", text);
    return webhook_may_reach((const struct sockaddr *)(const void *)&v6, reach);
}

/* From which reach on each address may be reached; 3: never. */
static const struct {
    const char *address;
    int from;
} addresses[] = {
    {"93.184.216.34", 0},
    {"2606:2800:220:1::1", 0},
    {"64:ff9b::5db8:d822", 0},
    {"10.1.2.3", 1},
    {"172.16.0.1", 1},
    {"172.32.0.1", 0},
    {"192.168.1.1", 1},
    {"100.64.0.1", 1},
    {"100.128.0.1", 0},
    {"fd12::1", 1},
    {"::ffff:10.0.0.1", 1},
    {"64:ff9b::a00:1", 1},
    {"127.0.0.1", 2},
    {"127.255.0.9", 2},
    {"::1", 2},
    {"::ffff:127.0.0.1", 2},
    {"169.254.169.254", 3},
    {"::ffff:169.254.169.254", 3},
    {"fe80::1", 3},
    {"febf::1", 3},
    {"fd00:ec2::254", 3},
    {"0.0.0.0", 3},
    {"::", 3},
    {"224.0.0.1", 3},
    {"255.255.255.255", 3},
    {"ff02::1", 3},
    {"64:ff9b::a9fe:a9fe", 3},
};

Test(webhook_send, each_address_may_be_reached_from_its_reach_on)
{
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        for (int reach = 0; reach < 3; reach++) {
            cr_assert_eq(may(addresses[i].address, (enum webhook_reach)reach),
                         reach >= addresses[i].from, "%s at %d", addresses[i].address, reach);
        }
    }
}

Test(webhook_send, an_address_of_another_family_may_not_be_reached)
{
    const struct sockaddr other = {.sa_family = AF_UNIX};
    cr_assert_not(webhook_may_reach(&other, WEBHOOK_REACH_ANY));
}
