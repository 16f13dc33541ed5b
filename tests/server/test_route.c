/* The route table: every row is found by its own path, and nothing else is (SPEC 10.3). */
#include <string.h>

#include <criterion/criterion.h>

#include "ledger/base/check.h"
#include "ledger/base/limits.h"
#include "server/api.h"
#include "server/route.h"

/* "/v1/holds/{id}/settle" -> "/v1/holds/x0/settle" */
static void fill(const char *pattern, char *ret_path)
{
    int number = 0;
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '{') {
            *ret_path++ = 'x';
            *ret_path++ = (char)('0' + number++);
            pattern = strchr(pattern, '}');
        } else {
            *ret_path++ = *pattern;
        }
    }
    *ret_path = '\0';
}

Test(route, each_row_is_found_by_its_method_and_path)
{
    for (size_t i = 0; i < routes_count; i++) {
        char path[128];
        struct route_match match;
        fill(routes[i].pattern, path);
        route_find(routes[i].method, path, strlen(path), &match);
        cr_assert(match.route == &routes[i], "%s", routes[i].pattern);
        for (int value = 0; value < ROUTE_PATH_VALUES && match.values[value].text != NULL;
             value++) {
            cr_assert_eq(match.values[value].bytes, 2);
            cr_assert_eq(match.values[value].text[1], '0' + value);
        }
    }
}

Test(route, each_row_has_a_role_a_handler_and_a_body_only_where_one_is_read)
{
    for (size_t i = 0; i < routes_count; i++) {
        const struct route *route = &routes[i];
        const bool is_public =
            strcmp(route->pattern, "/healthz") == 0 || strcmp(route->pattern, "/readyz") == 0;
        cr_assert_eq(route->roles == ROUTE_PUBLIC, is_public, "%s", route->pattern);
        cr_assert(is_public || (route->roles & ROLE_ADMIN) != 0, "%s", route->pattern);
        cr_assert(route->handle != NULL);
        const bool reads = route->method == METHOD_GET || route->method == METHOD_DELETE;
        const bool decodes = route->command == NULL || route->command->decode != NULL;
        cr_assert(!reads || route->body_bytes == 0, "%s", route->pattern);
        cr_assert(reads || !decodes || route->body_bytes > 0, "%s", route->pattern);
        cr_assert(route->body_bytes <= LIMIT_BATCH_BYTES);
        if (route->handle == api_command) {
            cr_assert(route->command != NULL && route->command->place != NULL, "%s",
                      route->pattern);
            cr_assert((route->query & QUERY_BIT(QUERY_DRY_RUN)) != 0, "%s", route->pattern);
        }
    }
}

Test(route, a_path_without_its_method_says_which_there_are)
{
    struct route_match match;
    route_find(METHOD_DELETE, "/v1/projects/vision", 19, &match);
    cr_assert(match.route == NULL);
    cr_assert_eq(match.allowed, 1U << METHOD_GET | 1U << METHOD_PUT | 1U << METHOD_PATCH);
}

Test(route, paths_that_are_not_there_match_nothing)
{
    static const char *const paths[] = {
        "",
        "/",
        "//",
        "/v1",
        "/v1/",
        "/v1/holds/",
        "/v1//holds",
        "/v1/holds/x/",
        "/v1/holds/x/dance",
        "/v1/holds/x/settle/y",
        "v1/holds",
        "/V1/holds",
        "/v1/hold",
        "/v1/holdsx",
        "/v1/projects//balance",
        "/a/b/c/d/e/f/g/h/i/j/k",
    };
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct route_match match;
        route_find(METHOD_POST, paths[i], strlen(paths[i]), &match);
        cr_assert(match.route == NULL, "%s", paths[i]);
        cr_assert_eq(match.allowed, 0, "%s", paths[i]);
    }
}

Test(route, methods_and_parameters_have_names_both_ways)
{
    for (int method = 0; method < METHOD__COUNT; method++) {
        cr_assert_eq((int)method_parse(method_name((enum method)method)), method);
    }
    cr_assert_eq(method_parse("HEAD"), METHOD_GET);
    cr_assert_eq(method_parse("get"), METHOD__COUNT);
    for (int param = 0; param < QUERY__COUNT; param++) {
        cr_assert_eq((int)query_param_parse(query_param_name((enum query_param)param)), param);
    }
    cr_assert_eq(query_param_parse("colour"), QUERY__COUNT);
}

Test(route, each_operation_of_a_batch_has_a_route_that_answers_it)
{
    for (int kind = COMMAND_FREEZE; kind <= COMMAND_WITHDRAW; kind++) {
        const struct route *route = route_of_command((enum command_kind)kind);
        cr_assert(route != NULL, "%d", kind);
        cr_assert(route->command->encode != NULL, "%d", kind);
    }
    cr_assert(route_of_command(COMMAND_TURN_MONTH) == NULL);
}
