/* The user's side of an agent's door, against a door of the test and MUNGE without its daemon (fake_munge.c). */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "clients/credential.h"
#include "clients/door.h"

/* Of fake_munge.c: what is loaded already is what dlopen() finds. */
const char *munge_strerror(int error);

static char folder[] = "/tmp/corehour-door-XXXXXX";
static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void folder_make(void)
{
    cr_assert_str_eq(munge_strerror(0), "success");
    cr_assert_neq(mkdtemp(folder), NULL);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/door", folder);
}

static void folder_remove(void)
{
    unlink(address.sun_path);
    rmdir(folder);
}

TestSuite(door, .init = folder_make, .fini = folder_remove, .timeout = 60);

/* A door that takes one caller: reads a line when it has an answer, says it, closes. */
struct fake_door {
    int listener;
    const char *answer; /* behind the greeting, as a credential; NULL: closes at once */
    pthread_t thread;
};

static void *fake_door_run(void *arg)
{
    struct fake_door *door = arg;
    char line[4096];
    char *credential = NULL;
    char detail[CREDENTIAL_DETAIL_BYTES];
    int fd = accept(door->listener, NULL, NULL);
    if (fd >= 0 && door->answer != NULL && recv(fd, line, sizeof line, 0) > 0 &&
        credential_create("", door->answer, (uid_t)-1, &credential, detail)) {
        dprintf(fd, "corehour-door 1 %s\n", credential);
        free(credential);
    }
    if (fd >= 0)
        close(fd);
    return NULL;
}

/* family: AF_UNIX at `address`, AF_INET or AF_INET6 at a port of the kernel's choice. Returns the port. */
static int fake_door_start(struct fake_door *door, int family, const char *answer)
{
    struct sockaddr_in6 ip6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_in ip4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr *at = (struct sockaddr *)&address;
    socklen_t size = sizeof address;
    if (family != AF_UNIX) {
        at = family == AF_INET ? (struct sockaddr *)&ip4 : (struct sockaddr *)&ip6;
        size = family == AF_INET ? sizeof ip4 : sizeof ip6;
    }
    *door = (struct fake_door){.listener = socket(family, SOCK_STREAM, 0), .answer = answer};
    if (door->listener < 0 || bind(door->listener, at, size) != 0)
        return -1;
    cr_assert_eq(listen(door->listener, 4), 0);
    cr_assert_eq(getsockname(door->listener, at, &size), 0);
    cr_assert_eq(pthread_create(&door->thread, NULL, fake_door_run, door), 0);
    return ntohs(family == AF_INET ? ip4.sin_port : ip6.sin6_port);
}

static void fake_door_stop(struct fake_door *door)
{
    pthread_join(door->thread, NULL);
    close(door->listener);
}

static const char good[] = "http://one:1\nch_token\nalpha\nvision\nalice\n";

Test(door, a_token_comes_with_where_and_whose_it_is)
{
    struct fake_door fake;
    struct door_answer answer;
    char detail[DOOR_DETAIL_BYTES] = "";
    fake_door_start(&fake, AF_UNIX, good);
    cr_assert(door_ask(address.sun_path, "", "", &answer, detail), "%s", detail);
    cr_expect_str_eq(answer.url, "http://one:1");
    cr_expect_str_eq(answer.token, "ch_token");
    cr_expect_str_eq(answer.user, "alice");
    fake_door_stop(&fake);
}

Test(door, an_answer_that_lacks_a_line_is_not_taken)
{
    struct fake_door fake;
    struct door_answer answer;
    char detail[DOOR_DETAIL_BYTES] = "";
    fake_door_start(&fake, AF_UNIX, "http://one:1\nch_token\nalpha\n");
    cr_expect_not(door_ask(address.sun_path, "", "", &answer, detail));
    cr_expect_str_eq(detail, "the door's answer is not understood");
    fake_door_stop(&fake);
}

/* The first write after the other side's close may still go; a long one does not, and must not end the program. */
Test(door, one_that_closes_at_once_is_no_more_than_a_missing_answer)
{
    static char wanted[1 << 20];
    struct fake_door fake;
    struct door_answer answer;
    char detail[DOOR_DETAIL_BYTES] = "";
    memset(wanted, 'x', sizeof wanted - 1);
    fake_door_start(&fake, AF_UNIX, NULL);
    cr_expect_not(door_ask(address.sun_path, wanted, "", &answer, detail));
    cr_expect_neq(strstr(detail, "does not answer"), NULL, "%s", detail);
    fake_door_stop(&fake);
}

Test(door, an_address_of_version_6_stands_in_brackets)
{
    struct fake_door fake;
    struct door_answer answer;
    char detail[DOOR_DETAIL_BYTES] = "";
    char place[64];
    int port = fake_door_start(&fake, AF_INET6, good);
    if (port < 0)
        cr_skip("this machine has no IPv6");
    snprintf(place, sizeof place, "[::1]:%d", port);
    cr_assert(door_ask(place, "", "", &answer, detail), "%s", detail);
    fake_door_stop(&fake);
}

Test(door, a_place_that_cannot_be_looked_up_says_why)
{
    struct door_answer answer;
    char detail[DOOR_DETAIL_BYTES] = "";
    cr_expect_not(door_ask("127.0.0.1:none", "", "", &answer, detail));
    cr_expect_neq(strstr(detail, "ervname"), NULL, "%s", detail);
    cr_expect_not(door_ask("nowhere", "", "", &answer, detail));
    cr_expect_neq(strstr(detail, "HOST:PORT"), NULL, "%s", detail);
}

/* Nobody accepts, and the queue of those who wait is full. */
Test(door, one_that_hangs_is_given_up_after_some_seconds)
{
    struct door_answer answer;
    char detail[DOOR_DETAIL_BYTES] = "";
    int waiting[3];
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    cr_assert_eq(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    cr_assert_eq(listen(listener, 0), 0);
    for (size_t i = 0; i < 3; i++) {
        waiting[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(waiting[i], (struct sockaddr *)&address, sizeof address);
    }
    cr_expect_not(door_ask(address.sun_path, "", "", &answer, detail));
    cr_expect_neq(strstr(detail, "temporarily unavailable"), NULL, "%s", detail);
    for (size_t i = 0; i < 3; i++)
        close(waiting[i]);
    close(listener);
}
