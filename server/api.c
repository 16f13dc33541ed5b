/* What every request goes through before its handler: token, route, role, query (SPEC 6.2). */
#include "server/api.h"

#include "server/decode_commands.h"
#include "server/http.h"
#include "server/oidc.h"
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

/* A token of the identity provider is looked at when the request is complete, on a reader thread. */
static enum error_code put_off(struct request *request, struct error *err)
{
    if (auth_is_limited(request->service->auth, http_address(request), request->now_ms)) {
        return error_set(err, ERR_RATE_LIMITED,
                         "too many wrong tokens from this address; wait a minute");
    }
    request->identity_is_due = true;
    return ERR_OK;
}

static enum error_code authenticate(struct request *request, struct error *err)
{
    if (request->service->oidc != NULL && oidc_is_token(request->headers.authorization)) {
        return put_off(request, err);
    }
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

static enum error_code check_role(const struct request *request, struct error *err)
{
    if ((request->route->roles & (unsigned)request->principal.role) == 0) {
        return error_set(err, ERR_NOT_ALLOWED, "the role of this token may not do this");
    }
    return ERR_OK;
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
    if (request->identity_is_due) {
        /* Nobody has vouched for the sender yet: no large body is taken from him. */
        request->body_limit = match->route->body_bytes < LIMIT_BODY_BYTES ? match->route->body_bytes
                                                                          : LIMIT_BODY_BYTES;
        return ERR_OK;
    }
    return is_public(request, match->route) ? ERR_OK : check_role(request, err);
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

/* ---- tokens of the identity provider */

static void identify(struct request *request, struct ledger_reader *reader)
{
    struct error *err = &request->identity_error;
    err->code = ERR_OK;
    (void)oidc_check(request->service->oidc, request->headers.authorization, reader,
                     request->now_ms, &request->principal, err);
}

/* Back on the HTTP loop: go on as if it had been known from the beginning. */
static bool identified(struct request *request)
{
    struct error *err = &request->identity_error;
    request->identity_is_due = false;
    if (err->code == ERR_UNAUTHENTICATED) {
        auth_count_failure(request->service->auth, http_address(request), request->now_ms, err);
    }
    if (err->code != ERR_OK || check_role(request, err) != ERR_OK) {
        request_refuse(request, err);
        return true;
    }
    request->is_pending = false;
    request->finish = NULL;
    request->route->handle(request);
    return !request->is_pending;
}

void api_handle(struct request *request)
{
    struct error err;
    if (!request->identity_is_due) {
        request->route->handle(request);
        return;
    }
    request->is_pending = true;
    request->finish = identified;
    if (request_read(request, identify, &err) != ERR_OK) {
        request->is_pending = false;
        request_refuse(request, &err);
    }
}
