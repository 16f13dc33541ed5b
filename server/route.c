/* Matching of paths. A path of at most SEGMENTS_MAX segments is cut once and compared with the rows in order. */
#include "server/route.h"

#include <string.h>

#include "ledger/base/check.h"

enum { SEGMENTS_MAX = 8 };

struct segments {
    size_t count; /* SEGMENTS_MAX + 1: too many */
    struct route_value at[SEGMENTS_MAX];
};

static const char *const method_names[METHOD__COUNT] = {
    [METHOD_GET] = "GET",     [METHOD_PUT] = "PUT",       [METHOD_POST] = "POST",
    [METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE",
};

static const char *const query_names[QUERY__COUNT] = {
    [QUERY_DRY_RUN] = "dry_run",
    [QUERY_AMOUNTS] = "amounts",
    [QUERY_ATOMIC] = "atomic",
    [QUERY_ROOT] = "root",
    [QUERY_STATE] = "state",
    [QUERY_PROJECT] = "project",
    [QUERY_USER] = "user",
    [QUERY_CLUSTER] = "cluster",
    [QUERY_JOB_ID] = "job_id",
    [QUERY_JOB_KEY] = "job_key",
    [QUERY_STALE] = "stale",
    [QUERY_PAGE_SIZE] = "page_size",
    [QUERY_PAGE_TOKEN] = "page_token",
    [QUERY_AFTER] = "after",
    [QUERY_WAIT_S] = "wait_s",
    [QUERY_NODE] = "node",
    [QUERY_MONTH] = "month",
    [QUERY_FROM] = "from",
    [QUERY_TO] = "to",
    [QUERY_GROUP_BY] = "group_by",
    [QUERY_FORMAT] = "format",
    [QUERY_FOCUS_VERSION] = "focus_version",
};

const char *method_name(enum method method)
{
    return method_names[method];
}

enum method method_parse(const char *name)
{
    if (strcmp(name, "HEAD") == 0) {
        return METHOD_GET;
    }
    int method = 0;
    while (method < METHOD__COUNT && strcmp(method_names[method], name) != 0) {
        method++;
    }
    return (enum method)method;
}

const char *query_param_name(enum query_param param)
{
    return query_names[param];
}

enum query_param query_param_parse(const char *name)
{
    int param = 0;
    while (param < QUERY__COUNT && strcmp(query_names[param], name) != 0) {
        param++;
    }
    return (enum query_param)param;
}

/* "/v1/holds" -> "v1", "holds". An empty segment stays one and matches nothing. */
static void cut(const char *path, size_t bytes, struct segments *ret_segments)
{
    ret_segments->count = 0;
    const char *end = path + bytes;
    const char *at = path;
    while (at < end && *at == '/') {
        const char *from = at + 1;
        const char *slash = memchr(from, '/', (size_t)(end - from));
        at = slash != NULL ? slash : end;
        if (ret_segments->count == SEGMENTS_MAX) {
            ret_segments->count = SEGMENTS_MAX + 1;
            return;
        }
        ret_segments->at[ret_segments->count++] =
            (struct route_value){.text = from, .bytes = (size_t)(at - from)};
    }
}

/* Walk the pattern beside the segments; placeholders take their values. */
static bool matches(const char *pattern,
                    const struct segments *segments,
                    struct route_value *ret_values)
{
    size_t values = 0;
    for (size_t i = 0; i < segments->count; i++) {
        const struct route_value *segment = &segments->at[i];
        if (*pattern != '/' || segment->bytes == 0) {
            return false;
        }
        pattern++;
        const size_t bytes = strcspn(pattern, "/");
        if (*pattern == '{') {
            ret_values[values++] = *segment;
        } else if (bytes != segment->bytes || memcmp(pattern, segment->text, bytes) != 0) {
            return false;
        }
        pattern += bytes;
    }
    return *pattern == '\0';
}

void route_find(enum method method,
                const char *path,
                size_t path_bytes,
                struct route_match *ret_match)
{
    struct segments segments;
    struct route_value values[ROUTE_PATH_VALUES];
    *ret_match = (struct route_match){0};
    cut(path, path_bytes, &segments);
    for (size_t i = 0; i < routes_count && segments.count <= SEGMENTS_MAX; i++) {
        const struct route *route = &routes[i];
        memset(values, 0, sizeof(values));
        if (!matches(route->pattern, &segments, values)) {
            continue;
        }
        ret_match->allowed |= 1U << route->method;
        if (route->method == method) {
            ret_match->route = route;
            memcpy(ret_match->values, values, sizeof(values));
            return;
        }
    }
}

const struct route *route_of_command(enum command_kind kind)
{
    for (size_t i = 0; i < routes_count; i++) {
        if (routes[i].command != NULL && routes[i].command->kind == kind) {
            return &routes[i];
        }
    }
    return NULL;
}
