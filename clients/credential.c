/* SPDX-License-Identifier: MIT
 *
 * See credential.h. The few names of munge.h that are used are declared here: they have been the same since MUNGE 0.5. */
#include "clients/credential.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_SOCKET = 8, OPTION_UID_RESTRICTION = 9, ERROR_NONE = 0 };

struct context; /* munge_ctx_t */

struct library {
    void *handle;
    struct context *(*create)(void);
    void (*destroy)(struct context *context);
    int (*set)(struct context *context, int option, ...);
    int (*encode)(char **credential, struct context *context, const void *bytes, int count);
    int (*decode)(const char *credential,
                  struct context *context,
                  void **bytes,
                  int *count,
                  uid_t *uid,
                  gid_t *gid);
    const char *(*strerror)(int error);
};

/* dlsym gives an object pointer; POSIX says that it is a function's. */
static bool symbol_find(void *handle, const char *name, void *ret_function)
{
    void *found = dlsym(handle, name);
    memcpy(ret_function, &found, sizeof found);
    return found != NULL;
}

static bool library_open(struct library *ret_library, char *ret_detail)
{
    struct library library = {.handle = dlopen("libmunge.so.2", RTLD_NOW | RTLD_LOCAL)};
    if (library.handle == NULL) {
        (void)snprintf(ret_detail, CREDENTIAL_DETAIL_BYTES,
                       "libmunge is not installed (package libmunge2)");
        return false;
    }
    const bool good = symbol_find(library.handle, "munge_ctx_create", &library.create) &&
                      symbol_find(library.handle, "munge_ctx_destroy", &library.destroy) &&
                      symbol_find(library.handle, "munge_ctx_set", &library.set) &&
                      symbol_find(library.handle, "munge_encode", &library.encode) &&
                      symbol_find(library.handle, "munge_decode", &library.decode) &&
                      symbol_find(library.handle, "munge_strerror", &library.strerror);
    if (!good) {
        (void)snprintf(ret_detail, CREDENTIAL_DETAIL_BYTES, "libmunge.so.2 lacks a function");
        (void)dlclose(library.handle);
        return false;
    }
    *ret_library = library;
    return true;
}

/* The library stays loaded: unloading it under another thread's call would be fatal, and it is small. */
static struct context *context_make(const struct library *library,
                                    const char *socket,
                                    char *ret_detail)
{
    struct context *context = library->create();
    const bool good = context != NULL && (*socket == '\0' || library->set(context, OPTION_SOCKET,
                                                                          socket) == ERROR_NONE);
    if (!good) {
        (void)snprintf(ret_detail, CREDENTIAL_DETAIL_BYTES, "MUNGE: no context");
        library->destroy(context);
        return NULL;
    }
    return context;
}

bool credential_create(const char *socket,
                       const char *text,
                       uid_t only_uid,
                       char **ret_credential,
                       char *ret_detail)
{
    struct library library;
    if (!library_open(&library, ret_detail)) {
        return false;
    }
    struct context *context = context_make(&library, socket, ret_detail);
    if (context == NULL) {
        return false;
    }
    int error = ERROR_NONE;
    if (only_uid != (uid_t)-1) {
        error = library.set(context, OPTION_UID_RESTRICTION, only_uid);
    }
    if (error == ERROR_NONE) {
        error = library.encode(ret_credential, context, text, (int)strlen(text));
    }
    library.destroy(context);
    if (error != ERROR_NONE) {
        (void)snprintf(ret_detail, CREDENTIAL_DETAIL_BYTES, "MUNGE: %s", library.strerror(error));
    }
    return error == ERROR_NONE;
}

bool credential_open(const char *socket,
                     const char *credential,
                     char **ret_text,
                     uid_t *ret_uid,
                     char *ret_detail)
{
    struct library library;
    void *bytes = NULL;
    int count = 0;
    uid_t uid = (uid_t)-1;
    gid_t gid = (gid_t)-1;
    if (!library_open(&library, ret_detail)) {
        return false;
    }
    struct context *context = context_make(&library, socket, ret_detail);
    if (context == NULL) {
        return false;
    }
    const int error = library.decode(credential, context, &bytes, &count, &uid, &gid);
    library.destroy(context);
    char *text = error == ERROR_NONE
                     ? strndup(bytes == NULL ? "" : bytes, count < 0 ? 0 : (size_t)count)
                     : NULL;
    free(bytes);
    if (text == NULL) {
        (void)snprintf(ret_detail, CREDENTIAL_DETAIL_BYTES, "MUNGE: %s",
                       error == ERROR_NONE ? "out of memory" : library.strerror(error));
        return false;
    }
    *ret_text = text;
    *ret_uid = uid;
    return true;
}

bool credential_works(const char *socket, char *ret_detail)
{
    char *credential = NULL;
    char *text = NULL;
    uid_t uid;
    bool good = credential_create(socket, "corehour", (uid_t)-1, &credential, ret_detail);
    good = good && credential_open(socket, credential, &text, &uid, ret_detail);
    free(text);
    free(credential);
    return good;
}
