/* Names of projects, organizations and members: see node.h. */
#include "clients/cli/node.h"

#include <string.h>

#include "clients/cli/text.h"

static enum cli_exit path_write(struct cli *cli,
                                const char *kind,
                                const char *node,
                                const char *suffix,
                                char *path)
{
    char name[256];
    const char *slash = strchr(node, '/');
    size_t length = slash == NULL ? strlen(node) : (size_t)(slash - node);
    if (length >= sizeof name) {
        return request_fail(cli, CLI_USAGE, tr("\"%s\" cannot be a name"), node);
    }
    memcpy(name, node, length);
    name[length] = '\0';
    path[0] = '\0';
    bool ok = corehour_url_append(path, COREHOUR_URL_BYTES, kind) == COREHOUR_OK &&
              corehour_url_segment(path, COREHOUR_URL_BYTES, name) == COREHOUR_OK;
    if (ok && slash != NULL) {
        ok = corehour_url_append(path, COREHOUR_URL_BYTES, "/members") == COREHOUR_OK &&
             corehour_url_segment(path, COREHOUR_URL_BYTES, slash + 1) == COREHOUR_OK;
    }
    ok = ok && corehour_url_append(path, COREHOUR_URL_BYTES, suffix) == COREHOUR_OK;
    return ok ? CLI_DONE : request_fail(cli, CLI_USAGE, tr("\"%s\" cannot be a name"), node);
}

enum cli_exit node_call(struct cli *cli,
                        const char *node,
                        const char *suffix,
                        struct corehour_request *request,
                        char *ret_path,
                        struct corehour_answer *ret_answer)
{
    static const char *const kinds[] = {"/v1/projects", "/v1/organizations"};
    size_t count = strchr(node, '/') == NULL ? 2 : 1;
    for (size_t i = 0; i < count; i++) {
        enum cli_exit exit = path_write(cli, kinds[i], node, suffix, ret_path);
        request->path = ret_path;
        if (exit == CLI_DONE) {
            exit = request_send(cli, request, ret_answer);
        }
        if (exit != CLI_DONE) {
            return exit;
        }
        if (ret_answer->status != 404 || i + 1 == count) {
            return CLI_DONE;
        }
        corehour_answer_fini(ret_answer);
    }
    return CLI_DONE;
}
