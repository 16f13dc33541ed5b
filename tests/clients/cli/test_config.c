/* Where the daemon is and who asks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "clients/cli/config.h"

static char folder[] = "/tmp/corehour-config-XXXXXX";
static char path[256];

static void folder_make(void)
{
    cr_assert_neq(mkdtemp(folder), NULL);
    setenv("HOME", folder, 1);
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("COREHOUR_URL");
    unsetenv("COREHOUR_TOKEN");
    unsetenv("COREHOUR_CA_FILE");
    snprintf(path, sizeof path, "%s/.config", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/.config/corehour", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/.config/corehour/config", folder);
}

static void folder_remove(void)
{
    unlink(path);
    for (char *slash = strrchr(path, '/'); strlen(path) > strlen(folder);
         slash = strrchr(path, '/')) {
        *slash = '\0';
        rmdir(path);
    }
}

TestSuite(config, .init = folder_make, .fini = folder_remove);

static void file_write(const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    cr_assert_neq(file, NULL);
    fputs(text, file);
    fclose(file);
    chmod(path, mode);
}

Test(config, the_file_gives_what_the_environment_does_not)
{
    struct config config;
    struct config_error error;
    file_write("# mine\n\n  url = http://one:1  \ntoken=ch_file\nlanguage = zh\n", 0600);
    setenv("COREHOUR_TOKEN", "ch_env", 1);
    cr_assert(config_load(&config, &error), "%s", error.detail);
    cr_expect_str_eq(config.url, "http://one:1");
    cr_expect_str_eq(config.token, "ch_env");
    cr_expect_str_eq(config.language, "zh");
    cr_expect_str_eq(config.path, path);
    cr_expect_eq(config.open_path, NULL);
}

Test(config, no_file_and_no_environment_is_an_empty_configuration)
{
    struct config config;
    struct config_error error;
    cr_assert(config_load(&config, &error));
    cr_expect_str_eq(config.url, "");
    cr_expect_str_eq(config.token, "");
}

Test(config, xdg_config_home_wins_over_home)
{
    struct config config;
    struct config_error error;
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    file_write("url = http://one:1\n", 0600);
    cr_assert(config_load(&config, &error));
    cr_expect_str_eq(config.url, "");
    cr_expect_str_eq(config.path, "/nonexistent/corehour/config");
}

Test(config, a_token_that_others_can_read_is_noticed)
{
    struct config config = {0};
    struct config_error error;
    file_write("token = ch_x\n", 0644);
    cr_assert(config_file_read(path, &config, &error));
    cr_expect_neq(config.open_path, NULL);
}

Test(config, a_file_that_cannot_be_read_to_its_end_is_an_error)
{
    struct config config;
    struct config_error error;
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_expect_not(config_load(&config, &error));
    cr_expect_neq(strstr(error.detail, "cannot be read"), NULL, "%s", error.detail);
    rmdir(path);
}

Test(config, the_file_that_others_can_read_is_the_one_with_the_token)
{
    struct config config = {0};
    struct config_error error;
    char secret[300];
    snprintf(secret, sizeof secret, "%s.token", path);
    file_write("token = ch_file\n", 0644);
    cr_assert_eq(rename(path, secret), 0);
    file_write("url = http://one:1\n", 0644);
    cr_assert(config_file_read(path, &config, &error));
    cr_expect_eq(config.open_path, NULL, "there is no token in it");
    cr_assert(config_file_read(secret, &config, &error));
    cr_assert(config_file_read(path, &config, &error));
    cr_expect(config.open_path != NULL && strcmp(config.open_path, secret) == 0);
    unlink(secret);
}

Test(config, a_line_that_says_nothing_is_named)
{
    static const struct {
        const char *text;
        const char *named;
    } cases[] = {
        {"url = http://a\nnonsense\n", "line 2"},
        {"colour = red\n", "unknown key"},
        {"\n\n= x\n", "line 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct config config = {0};
        struct config_error error = {{0}};
        file_write(cases[i].text, 0600);
        cr_expect_not(config_file_read(path, &config, &error));
        cr_expect_neq(strstr(error.detail, cases[i].named), NULL, "%s", error.detail);
    }
}

Test(config, what_is_too_long_is_refused_and_not_cut)
{
    struct config config = {0};
    struct config_error error;
    char text[2048] = "token = ";
    memset(text + 8, 'x', 300);
    file_write(text, 0600);
    cr_expect_not(config_file_read(path, &config, &error));
    memset(text + 8, 'x', 1500);
    file_write(text, 0600);
    cr_expect_not(config_file_read(path, &config, &error));
    unlink(path);
    memset(text, 'x', 300);
    text[300] = '\0';
    setenv("COREHOUR_TOKEN", text, 1);
    cr_expect_not(config_load(&config, &error));
    cr_expect_neq(strstr(error.detail, "COREHOUR_TOKEN"), NULL);
}
