/*
 * A libmunge.so.2 for tests of what loads it: a credential is the text in hexadecimal behind "MUNGE:", and everybody is user 7.
 * No daemon, no key, no secret.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

enum { SUCCESS, SNAFU };

struct munge_ctx {
    int nothing;
};

struct munge_ctx *munge_ctx_create(void);
void munge_ctx_destroy(struct munge_ctx *context);
int munge_ctx_set(struct munge_ctx *context, int option, ...);
int munge_encode(char **credential, struct munge_ctx *context, const void *bytes, int count);
int munge_decode(const char *credential,
                 struct munge_ctx *context,
                 void **bytes,
                 int *count,
                 uid_t *uid,
                 gid_t *gid);
const char *munge_strerror(int error);

struct munge_ctx *munge_ctx_create(void)
{
    return calloc(1, sizeof(struct munge_ctx));
}

void munge_ctx_destroy(struct munge_ctx *context)
{
    free(context);
}

int munge_ctx_set(struct munge_ctx *context, int option, ...)
{
    (void)context;
    (void)option;
    return SUCCESS;
}

int munge_encode(char **credential, struct munge_ctx *context, const void *bytes, int count)
{
    (void)context;
    const unsigned char *from = bytes;
    char *text = malloc(2 * (size_t)count + 7);
    if (text == NULL) {
        return SNAFU;
    }
    strcpy(text, "MUNGE:");
    for (int i = 0; i < count; i++) {
        sprintf(text + 6 + 2 * i, "%02x", from[i]);
    }
    *credential = text;
    return SUCCESS;
}

int munge_decode(const char *credential,
                 struct munge_ctx *context,
                 void **bytes,
                 int *count,
                 uid_t *uid,
                 gid_t *gid)
{
    (void)context;
    size_t length = strlen(credential);
    if (strncmp(credential, "MUNGE:", 6) != 0 || length % 2 != 0) {
        return SNAFU;
    }
    length = (length - 6) / 2;
    char *text = malloc(length + 1);
    if (text == NULL) {
        return SNAFU;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned byte = 0;
        sscanf(credential + 6 + 2 * i, "%2x", &byte);
        text[i] = (char)byte;
    }
    text[length] = '\0';
    *bytes = text;
    *count = (int)length;
    *uid = 7;
    *gid = 7;
    return SUCCESS;
}

const char *munge_strerror(int error)
{
    return error == SUCCESS ? "success" : "invalid credential";
}
