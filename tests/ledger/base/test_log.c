/* Log lines: one write a line, values that cannot forge another. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "ledger/base/log.h"

/* What an action writes to the log, without the time in front. */
struct capture {
    int fds[2];
    char bytes[2 * LOG_LINE_BYTES];
};

static void capture_begin(struct capture *capture)
{
    cr_assert_eq(pipe(capture->fds), 0);
    log_set_fd(capture->fds[1]);
}

static const char *capture_end(struct capture *capture)
{
    (void)close(capture->fds[1]);
    ssize_t length = read(capture->fds[0], capture->bytes, sizeof capture->bytes - 1);
    (void)close(capture->fds[0]);
    cr_assert_geq(length, 0);
    capture->bytes[length] = '\0';
    const char *rest = strchr(capture->bytes, ' ');
    return rest == NULL ? capture->bytes : rest + 1;
}

Test(log, an_event_is_one_line_of_keys_and_values)
{
    struct capture capture;
    capture_begin(&capture);
    log_event(LOG_INFO, "refused", log_text("request", "0193c5e2"), log_int("status", 409));
    cr_expect_str_eq(capture_end(&capture),
                     "level=info event=refused request=0193c5e2 status=409\n");
    cr_expect_eq(strncmp(capture.bytes, "ts=20", 5), 0);
    cr_expect_eq(strcspn(capture.bytes, " "), strlen("ts=2026-11-30T18:51:00.123Z"));
}

struct value_case {
    const char *value;
    const char *written;
};

Test(log, values_from_outside_are_quoted_and_escaped)
{
    static const struct value_case cases[] = {
        {"plain", "plain"},
        {"", "\"\""},
        {NULL, "-"},
        {"two words", "\"two words\""},
        {"a=b", "\"a=b\""},
        {"x\nlevel=error", "\"x\\x0alevel=error\""},
        {"quo\"te\\", "\"quo\\\"te\\\\\""},
        {"\xe6\xa0\xb8", "\"\xe6\xa0\xb8\""},
        {"\xff", "\"\\xff\""},
        {"\x1b[0m\x7f", "\"\\x1b[0m\\x7f\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct capture capture;
        char expected[200];
        (void)snprintf(expected, sizeof expected, "level=error event=e v=%s\n", cases[i].written);
        capture_begin(&capture);
        log_event(LOG_ERROR, "e", log_text("v", cases[i].value));
        cr_expect_str_eq(capture_end(&capture), expected);
    }
}

Test(log, events_below_the_level_are_not_written)
{
    struct capture capture;
    capture_begin(&capture);
    log_event(LOG_DEBUG, "quiet", log_int("n", 1));
    log_set_level(LOG_ERROR);
    log_event(LOG_WARNING, "quiet", log_int("n", 2));
    log_event(LOG_ERROR, "loud", log_int("n", INT64_MIN));
    cr_expect_str_eq(capture_end(&capture), "level=error event=loud n=-9223372036854775808\n");
    cr_expect(!log_enabled(LOG_INFO));
    cr_expect(log_enabled(LOG_ERROR));
}

Test(log, a_long_line_is_cut_and_still_ends)
{
    static char value[2 * LOG_LINE_BYTES];
    struct capture capture;
    memset(value, 'x', sizeof value - 1);
    capture_begin(&capture);
    log_event(LOG_INFO, "long", log_text("v", value), log_int("n", 1));
    (void)capture_end(&capture);
    cr_expect_eq(strlen(capture.bytes), LOG_LINE_BYTES);
    cr_expect_eq(capture.bytes[LOG_LINE_BYTES - 1], '\n');
}

Test(log, levels_are_known_by_name)
{
    enum log_level level = LOG_ERROR;
    cr_expect(log_level_parse("debug", &level));
    cr_expect_eq(level, LOG_DEBUG);
    cr_expect(!log_level_parse("verbose", &level));
    cr_expect_eq(level, LOG_DEBUG);
}
