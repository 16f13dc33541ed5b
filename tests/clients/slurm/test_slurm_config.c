/* The configuration of the Slurm side: what it takes and what it refuses by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "clients/slurm/slurm_config.h"

static char path[] = "/tmp/corehour-slurm-conf-XXXXXX";

static void write_file(const char *text)
{
    int fd = mkstemp(path);
    cr_assert(fd >= 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void remove_file(void)
{
    unlink(path);
}

TestSuite(slurm_config, .fini = remove_file);

Test(slurm_config, only_the_cluster_must_be_given)
{
    struct slurm_config config;
    struct slurm_config_error error;
    write_file("cluster = alpha\n");
    cr_assert(slurm_config_read(path, &config, &error), "%s", error.detail);
    cr_assert_str_eq(config.cluster.text, "alpha");
    cr_assert_str_eq(config.url.text, "http://127.0.0.1:8480");
    cr_assert_eq(config.deadline_ms, 500);
    cr_assert_eq(config.fail_policy, SLURM_FAIL_CLOSED);
    cr_assert_eq(config.mode, SLURM_MODE_ENFORCE);
    cr_assert_not(slurm_config_is_admin(&config, 0));
}

Test(slurm_config, every_kind_of_key_is_read)
{
    struct slurm_config config;
    struct slurm_config_error error;
    write_file(
        "# a comment\n\n  cluster=beta\nfail_policy = open\r\nmode=observe\ndeadline_ms = 20\n"
        "admin_uids = 995, 1000-1010\nspool_dir = /tmp/with space\nlanguage = zh");
    cr_assert(slurm_config_read(path, &config, &error), "%s", error.detail);
    cr_assert_eq(config.fail_policy, SLURM_FAIL_OPEN);
    cr_assert_eq(config.mode, SLURM_MODE_OBSERVE);
    cr_assert_eq(config.deadline_ms, 20);
    cr_assert_eq(config.language, SLURM_LANGUAGE_ZH);
    cr_assert_str_eq(config.spool_dir.text, "/tmp/with space");
    const uint32_t admins[] = {995, 1000, 1010};
    const uint32_t others[] = {0, 994, 996, 999, 1011};
    for (unsigned i = 0; i < 3; i++) {
        cr_assert(slurm_config_is_admin(&config, admins[i]));
    }
    for (unsigned i = 0; i < 5; i++) {
        cr_assert_not(slurm_config_is_admin(&config, others[i]));
    }
}

static const struct refused {
    const char *text;
    const char *says;
} refused[] = {
    {"", "cluster: must be given"},
    {"cluster = a\ncolour = red\n", ":2: colour: unknown key"},
    {"cluster = a\ncluster = b\n", ":2: cluster: given twice"},
    {"cluster\n", ":1: not \"key = value\""},
    {"cluster = a\ndeadline_ms = 19\n", ":2: deadline_ms: 19 is not an integer from 20 to 5000"},
    {"cluster = a\ndeadline_ms = 5s\n", "deadline_ms: 5s is not"},
    {"cluster = a\nfail_policy = ope\n", "fail_policy: \"ope\" is none of: closed open"},
    {"cluster = a\nfail_policy =\n", "fail_policy: \"\" is none of"},
    {"cluster = a\nadmin_uids = 1,,2\n", "admin_uids: \"1,,2\" is not a list"},
    {"cluster = a\nadmin_uids = 5-4\n", "admin_uids"},
    {"cluster = a\nadmin_uids = -1\n", "admin_uids"},
    {"cluster = a\nadmin_uids = alice\n", "admin_uids"},
    {"cluster = a\nurl = \n", ":2: url: not a text of 1 to 511 bytes"},
};

Test(slurm_config, what_is_wrong_is_named_with_its_line)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct slurm_config config = {.deadline_ms = 77};
        struct slurm_config_error error = {{0}};
        memcpy(path + sizeof path - 7, "XXXXXX", 6);
        write_file(refused[i].text);
        cr_assert_not(slurm_config_read(path, &config, &error), "%s", refused[i].text);
        cr_assert_not_null(strstr(error.detail, refused[i].says), "%s: %s", refused[i].text,
                           error.detail);
        cr_assert_eq(config.deadline_ms, 77, "a failure leaves the struct alone");
        unlink(path);
    }
}

Test(slurm_config, a_file_that_is_not_there_is_an_error)
{
    struct slurm_config config;
    struct slurm_config_error error;
    cr_assert_not(slurm_config_read("/nonexistent/slurm.conf", &config, &error));
    cr_assert_not_null(
        strstr(error.detail, "/nonexistent/slurm.conf cannot be read: No such file"));
}

Test(slurm_config, a_file_that_cannot_be_read_to_its_end_is_an_error_and_no_defaults)
{
    struct slurm_config config;
    struct slurm_config_error error;
    cr_assert_not(slurm_config_read("/tmp", &config, &error));
    cr_assert_not_null(strstr(error.detail, "/tmp cannot be read"), "%s", error.detail);
}

Test(slurm_config, the_token_is_one_line_without_white_space)
{
    struct slurm_config config = {0};
    struct slurm_config_error error;
    char token[SLURM_CONFIG_TOKEN_BYTES];
    write_file("  ch_secret \r\nmore\n");
    snprintf(config.token_file.text, sizeof config.token_file.text, "%s", path);
    cr_assert(slurm_config_token_read(&config, token, &error), "%s", error.detail);
    cr_assert_str_eq(token, "ch_secret");
    cr_assert_eq(truncate(path, 0), 0);
    cr_assert_not(slurm_config_token_read(&config, token, &error));
    cr_assert_not_null(strstr(error.detail, "holds no token"));
}

Test(slurm_config, the_environment_names_another_file)
{
    cr_assert_eq(unsetenv("COREHOUR_SLURM_CONF"), 0);
    cr_assert_str_eq(slurm_config_path(), "/etc/corehour/slurm.conf");
    cr_assert_eq(setenv("COREHOUR_SLURM_CONF", "/tmp/other", 1), 0);
    cr_assert_str_eq(slurm_config_path(), "/tmp/other");
}
