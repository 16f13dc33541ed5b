/* Kubeconfigs as kubectl writes them, and what is refused rather than guessed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "clients/kubernetes/kubeconfig.h"

static bool read_text(const char *text,
                      struct api_server *ret_server,
                      struct agent_error *ret_error)
{
    char path[] = "/tmp/corehour-kubeconfig-XXXXXX";
    const int fd = mkstemp(path);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    *ret_server = (struct api_server){.url = ""};
    const bool ok = kubeconfig_read(path, ret_server, ret_error);
    unlink(path);
    return ok;
}

Test(kubeconfig, is_read_as_yaml_and_as_json)
{
    static const char *const texts[] = {
        "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: UEVNIQ==\n    server: https://10.0.0.1:6443\n"
        "  name: k\nusers:\n- name: a\n  user:\n    token: abc.def\n    client-certificate: tls.crt\n",
        "{\n  \"clusters\": [\n    {\n      \"cluster\": {\n        \"server\": \"https://10.0.0.1:6443\",\n"
        "        \"certificate-authority-data\": \"UEVNIQ==\"\n      }\n    }\n  ],\n  \"users\": [\n    {\n"
        "      \"user\": {\n        \"token\": \"abc.def\",\n        \"client-certificate\": \"tls.crt\"\n      }\n    }\n  ]\n}\n",
    };
    for (size_t i = 0; i < 2; i++) {
        struct api_server server;
        struct agent_error error = {.detail = ""};
        cr_assert(read_text(texts[i], &server, &error), "%s", error.detail);
        cr_expect_str_eq(server.url, "https://10.0.0.1:6443");
        cr_expect_str_eq(server.token, "abc.def");
        cr_expect_str_eq(server.ca.bytes, "PEM!");
        cr_expect_str_eq(server.cert.path, "/tmp/tls.crt", "beside the file");
        api_server_fini(&server);
    }
}

Test(kubeconfig, that_leaves_a_choice_or_needs_a_plugin_is_refused)
{
    static const struct {
        const char *text;
        const char *part;
    } cases[] = {
        {"users:\n", "names no server"},
        {"server: https://a\nserver: https://b\n", "--minify"},
        {"server: https://a\nexec:\n", "exec is not supported"},
        {"server: https://a\ninsecure-skip-tls-verify: true\n", "not supported"},
        {"server: https://a\ncertificate-authority-data: \"*\"\n", "cannot be read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct api_server server;
        struct agent_error error = {.detail = ""};
        cr_expect_not(read_text(cases[i].text, &server, &error), "%s", cases[i].text);
        cr_expect_not_null(strstr(error.detail, cases[i].part), "%s", error.detail);
        api_server_fini(&server);
    }
}
