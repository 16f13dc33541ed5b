/* The outbox over crashes: what was synced is there, in order, once (SPEC 11.2). */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "clients/slurm/agent/outbox.h"

static char folder[64];

static void folder_make(void)
{
    (void)snprintf(folder, sizeof folder, "/tmp/corehour-outbox-XXXXXX");
    cr_assert(mkdtemp(folder) != NULL);
}

static void folder_remove(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

static struct outbox *open_it(void)
{
    char detail[OUTBOX_DETAIL_BYTES];
    struct outbox *outbox = NULL;
    cr_assert(outbox_open(folder, &outbox, detail), "%s", detail);
    return outbox;
}

static void append(struct outbox *outbox, const char *hold)
{
    json_t *op = json_pack("{s:s, s:s}", "op", "start", "hold", hold);
    cr_assert(outbox_append(outbox, op, NULL));
    json_decref(op);
}

static const char *hold_at(const json_t *lines, size_t i)
{
    return json_string_value(
        json_object_get(json_object_get(json_array_get(lines, i), "op"), "hold"));
}

Test(slurm_outbox,
     lines_stay_in_order_over_a_restart_until_they_are_answered,
     .init = folder_make,
     .fini = folder_remove)
{
    struct outbox *outbox = open_it();
    append(outbox, "a");
    append(outbox, "b");
    append(outbox, "c");
    cr_assert(outbox_sync(outbox));
    cr_assert(outbox_advance(outbox, 1));
    outbox_close(outbox);
    outbox = open_it();
    cr_assert_eq(outbox_waiting(outbox), 2U);
    append(outbox, "d");
    json_t *lines = outbox_peek(outbox, 10);
    cr_assert_str_eq(hold_at(lines, 0), "b");
    cr_assert_str_eq(hold_at(lines, 2), "d");
    json_decref(lines);
    cr_assert(outbox_mentions(outbox, "c"));
    cr_assert(!outbox_mentions(outbox, "a"));
    outbox_close(outbox);
}

Test(slurm_outbox,
     a_half_line_of_a_crash_is_dropped_and_what_follows_is_whole,
     .init = folder_make,
     .fini = folder_remove)
{
    char path[96];
    struct outbox *outbox = open_it();
    append(outbox, "a");
    outbox_close(outbox);
    (void)snprintf(path, sizeof path, "%s/outbox.ndjson", folder);
    const int fd = open(path, O_WRONLY | O_APPEND);
    cr_assert_eq(write(fd, "{\"n\":2,\"op\":{\"ho", 16), 16);
    (void)close(fd);
    outbox = open_it();
    cr_assert_eq(outbox_waiting(outbox), 1U);
    append(outbox, "b");
    outbox_close(outbox);
    outbox = open_it();
    json_t *lines = outbox_peek(outbox, 10);
    cr_assert_eq(json_array_size(lines), 2U);
    cr_assert_str_eq(hold_at(lines, 1), "b");
    json_decref(lines);
    outbox_close(outbox);
}

Test(slurm_outbox,
     a_line_that_does_not_fit_on_the_disk_leaves_nothing_of_itself,
     .init = folder_make,
     .fini = folder_remove)
{
    struct outbox *outbox = open_it();
    append(outbox, "a");
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    const struct rlimit small = {.rlim_cur = 60, .rlim_max = limit.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    json_t *op = json_pack("{s:s, s:s}", "op", "start", "hold", "a-name-that-is-long-enough");
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    cr_expect_not(outbox_append(outbox, op, NULL));
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    json_decref(op);
    append(outbox, "b");
    outbox_close(outbox);
    outbox = open_it();
    json_t *lines = outbox_peek(outbox, 10);
    cr_assert_eq(json_array_size(lines), 2U);
    cr_assert_str_eq(hold_at(lines, 1), "b");
    json_decref(lines);
    outbox_close(outbox);
}

Test(slurm_outbox, a_second_agent_is_kept_out, .init = folder_make, .fini = folder_remove)
{
    char detail[OUTBOX_DETAIL_BYTES];
    struct outbox *second = NULL;
    struct outbox *outbox = open_it();
    cr_assert(!outbox_open(folder, &second, detail));
    cr_assert(strstr(detail, "another agent") != NULL);
    outbox_close(outbox);
}

Test(slurm_outbox, numbers_are_kept, .init = folder_make, .fini = folder_remove)
{
    struct outbox *outbox = open_it();
    cr_assert_eq(outbox_number_read(outbox, "feed.seq"), 0);
    cr_assert(outbox_number_write(outbox, "feed.seq", 4711));
    outbox_close(outbox);
    outbox = open_it();
    cr_assert_eq(outbox_number_read(outbox, "feed.seq"), 4711);
    outbox_close(outbox);
}
