/* What every request goes through before its handler: token, route, role, query (SPEC 6.2). */
#include "server/api.h"

#include "server/decode_commands.h"
#include "server/problem.h"

/* Once a minute and token: when it was last used. */
static void touch_token(struct request *request)
{
    struct command command;
    command_reset(&command, COMMAND_TOUCH_TOKEN);
    command.role = ROLE_ADMIN;
    command.due.token = request->principal.hash;
    command.due.at_s = request->now_ms / 1000;
    api_send_quietly(request->service, &command);
}

static enum error_code authenticate(struct request *request, struct error *err)
{
    const enum error_code code =
        auth_check(request->service->auth, request->headers.authorization, http_address(request),
                   request->now_ms, &request->principal, err);
    if (code == ERR_OK && request->principal.touch_is_due) {
        touch_token(request);
    }
    return code;
}

static bool is_public(const struct request *request, const struct route *route)
{
    return route != NULL &&
           (route->roles == ROUTE_PUBLIC ||
            (route->handle == api_metrics && request->service->config.metrics_public != 0));
}

static enum error_code check_route(struct request *request,
                                   const struct route_match *match,
                                   struct error *err)
{
    if (match->route == NULL && match->allowed != 0) {
        request->answer.allow = match->allowed;
        return error_set(err, ERR_METHOD_NOT_ALLOWED, "this path has other methods");
    }
    if (match->route == NULL) {
        return error_set(err, ERR_NOT_FOUND, "there is no such path");
    }
    request->route = match->route;
    request->body_limit = match->route->body_bytes;
    if (!is_public(request, match->route) &&
        (match->route->roles & (unsigned)request->principal.role) == 0) {
        return error_set(err, ERR_NOT_ALLOWED, "the role of this token may not do this");
    }
    return ERR_OK;
}

void api_begin(struct request *request)
{
    struct error err;
    struct route_match match;
    enum error_code code = ERR_OK;
    request->is_chinese = problem_prefers_chinese(request->headers.accept_language);
    route_find(request->method, request->target, request->path_bytes, &match);
    if (!is_public(request, match.route)) {
        code = authenticate(request, &err);
    }
    if (code == ERR_OK) {
        code = check_route(request, &match, &err);
    }
    if (code == ERR_OK) {
        code = request_decode_target(request, &match, &err);
    }
    if (code == ERR_OK && http_is_stopping(request->http)) {
        code = error_set(&err, ERR_UNAVAILABLE, "the service is stopping");
    }
    if (code != ERR_OK) {
        request_refuse(request, &err);
    }
}
