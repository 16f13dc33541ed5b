/*
 * Asking the agent of a Slurm cluster for a token: who asks is proven by MUNGE, nothing needs to be set up. The agent's
 * side is clients/slurm/agent/door.h. Safe in any thread.
 */
#ifndef COREHOUR_CLIENTS_DOOR_H
#define COREHOUR_CLIENTS_DOOR_H

#include <stdbool.h>

enum { DOOR_DETAIL_BYTES = 320, DOOR_TEXT_BYTES = 512 };

/* Where a door is by default. */
#define DOOR_PATH "/run/corehour/agent.sock"

/* What comes back. */
struct door_answer {
    char url[DOOR_TEXT_BYTES];     /* of the daemon */
    char token[DOOR_TEXT_BYTES];   /* of role member */
    char cluster[DOOR_TEXT_BYTES]; /* the agent's */
    char project[DOOR_TEXT_BYTES]; /* the token's place: this project */
    char user[DOOR_TEXT_BYTES];    /* and this person */
};

/*
 * Asks and waits, some seconds at most.
 *
 * place: the path of a socket, or HOST:PORT. wanted: "job=ID" (the project of that job), "project=NAME", or "" (that of the
 * default account). munge_socket: "" for the default. Returns false with ret_detail filled when there is no door, no MUNGE,
 * or no token for this person.
 */
bool door_ask(const char *place,
              const char *wanted,
              const char *munge_socket,
              struct door_answer *ret_answer,
              char *ret_detail);

#endif
