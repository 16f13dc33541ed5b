/* SPDX-License-Identifier: MIT
 *
 * MUNGE credentials: who sent this, vouched for by the munged of the cluster. libmunge is loaded when it is needed and
 * nothing is linked, so that the command line runs on machines without it. Safe in any thread.
 */
#ifndef COREHOUR_CLIENTS_CREDENTIAL_H
#define COREHOUR_CLIENTS_CREDENTIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CREDENTIAL_DETAIL_BYTES = 200 };

/*
 * Makes a credential around `text`. socket: munged's, "" for the default. only_uid: who may open it, (uid_t)-1 for anybody.
 * ret_credential: to be freed with free(). Returns false with ret_detail filled (no libmunge, no munged).
 */
bool credential_create(const char *socket,
                       const char *text,
                       uid_t only_uid,
                       char **ret_credential,
                       char *ret_detail);

/*
 * Opens one: ret_text (to be freed with free()) and whose it is. Refuses one that is expired, was opened here before, or is not
 * meant for this user.
 */
bool credential_open(const char *socket,
                     const char *credential,
                     char **ret_text,
                     uid_t *ret_uid,
                     char *ret_detail);

/* Whether one can be made and opened here. */
bool credential_works(const char *socket, char *ret_detail);

#endif
