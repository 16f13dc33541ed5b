/*
 * Print the route table, a row a line, for tests/schema/test_routes.py:
 *
 *   METHOD PATTERN ROLE,ROLE|public BODY_BYTES PARAMETER,PARAMETER|-
 */
#include <stdio.h>

#include "ledger/base/check.h"
#include "server/route.h"

static const struct {
    enum token_role role;
    const char *name;
} roles[] = {
    {ROLE_ADMIN, "admin"},     {ROLE_SCHEDULER, "scheduler"}, {ROLE_LEAD, "lead"},
    {ROLE_FINANCE, "finance"}, {ROLE_VIEWER, "viewer"},       {ROLE_MEMBER, "member"},
};

static void print_roles(unsigned bits)
{
    const char *separator = "";
    if (bits == ROUTE_PUBLIC)
        fputs("public", stdout);
    for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
        if (bits & roles[i].role) {
            printf("%s%s", separator, roles[i].name);
            separator = ",";
        }
    }
}

static void print_query(uint32_t bits)
{
    const char *separator = "";
    if (bits == 0)
        fputs("-", stdout);
    for (int i = 0; i < QUERY__COUNT; i++) {
        if (bits & QUERY_BIT(i)) {
            printf("%s%s", separator, query_param_name((enum query_param)i));
            separator = ",";
        }
    }
}

int main(void)
{
    for (size_t i = 0; i < routes_count; i++) {
        printf("%s %s ", method_name(routes[i].method), routes[i].pattern);
        print_roles(routes[i].roles);
        printf(" %u ", routes[i].body_bytes);
        print_query(routes[i].query);
        putchar('\n');
    }
    return 0;
}
