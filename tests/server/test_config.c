/* The configuration file: known keys once, in their range, or the line is named. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "server/config.h"

static enum error_code read_text(const char *text, struct config *config, struct error *err)
{
    char path[] = "/tmp/corehour-config-XXXXXX";
    const int fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, text, strlen(text)), (long)strlen(text));
    (void)close(fd);
    config_init(config);
    const enum error_code code = config_read(path, config, err);
    (void)unlink(path);
    return code;
}

Test(config, an_empty_file_leaves_the_defaults)
{
    struct config config;
    struct error err;
    cr_assert_eq(read_text("", &config, &err), ERR_OK);
    cr_assert_str_eq(config.listen.text, "127.0.0.1:8480");
    cr_assert_eq(config.queue_max, 4096);
    cr_assert_eq(config.log_level, LOG_INFO);
    cr_assert_eq(config.metrics_public, 0);
}

Test(config, values_comments_and_blanks_are_read)
{
    struct config config;
    struct error err;
    const char text[] =
        "# a comment\n\n  queue_max=7\nlisten =\t[::1]:80  \nlog_level = debug\r\nmetrics_public = 1";
    cr_assert_eq(read_text(text, &config, &err), ERR_OK, "%s", err.detail);
    cr_assert_eq(config.queue_max, 7);
    cr_assert_str_eq(config.listen.text, "[::1]:80");
    cr_assert_eq(config.log_level, LOG_DEBUG);
    cr_assert_eq(config.metrics_public, 1);
}

Test(config, a_wrong_line_is_named)
{
    static const struct {
        const char *text;
        const char *line;
    } cases[] = {
        {"\ncolour = red\n", ":2: colour: unknown key"},
        {"queue_max = 7\nqueue_max = 7\n", ":2: queue_max: given twice"},
        {"queue_max = 0\n", ":1: queue_max: 0 is not an integer from 1 to 1000000"},
        {"queue_max = 7x\n", ":1: queue_max"},
        {"queue_max =\n", ":1: queue_max"},
        {"queue_max = 99999999999999999999\n", ":1: queue_max"},
        {"queue_max\n", ":1: not name = value"},
        {"log_level = loud\n", ":1: log_level: loud is none of"},
        {"listen =\n", ":1: listen"},
        {"metrics_public = 2\n", ":1: metrics_public"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct config config;
        struct error err;
        cr_assert_eq(read_text(cases[i].text, &config, &err), ERR_INVALID_FIELD, "%s",
                     cases[i].text);
        cr_assert(strstr(err.detail, cases[i].line) != NULL, "%s: %s", cases[i].text, err.detail);
    }
}

Test(config, a_file_that_is_not_there_is_not_found)
{
    struct config config;
    struct error err;
    config_init(&config);
    cr_assert_eq(config_read("/nonexistent/corehourd.conf", &config, &err), ERR_NOT_FOUND);
}

Test(config, a_reload_takes_what_may_change_and_leaves_the_rest)
{
    struct config config;
    struct config fresh;
    config_init(&config);
    config_init(&fresh);
    fresh.queue_max = 9;
    fresh.reader_threads = 9;
    log_set_fd(-1);
    config_reload(&config, &fresh);
    cr_assert_eq(config.queue_max, 9);
    cr_assert_eq(config.reader_threads, 2);
}
