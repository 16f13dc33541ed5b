/*
 * Organizations and projects share one namespace (SPEC 2.1), but not their routes: a name is tried as a
 * project first, then as an organization. PROJECT/USER is a member; the USER "*" holds the defaults.
 */
#ifndef COREHOUR_CLIENTS_CLI_NODE_H
#define COREHOUR_CLIENTS_CLI_NODE_H

#include "clients/cli/request.h"

/*
 * Calls METHOD on the node's path with `suffix` behind ("/balance"), as whichever the name is.
 * request: its path is set here. ret_path: COREHOUR_URL_BYTES, what was found. The answer is the caller's.
 * Returns CLI_DONE with an answer, a 404 among them, or another after a message.
 */
enum cli_exit node_call(struct cli *cli,
                        const char *node,
                        const char *suffix,
                        struct corehour_request *request,
                        char *ret_path,
                        struct corehour_answer *ret_answer);

#endif
