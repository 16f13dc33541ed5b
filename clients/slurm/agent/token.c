/* SPDX-License-Identifier: MIT
 *
 * See token.h. */
#include "clients/slurm/agent/token.h"

#include <ctype.h>
#include <string.h>

static const char *behind(const char *text, const char *word)
{
    const size_t bytes = strlen(word);
    return strncmp(text, word, bytes) == 0 ? text + bytes : NULL;
}

bool token_parse(const char *admin_comment, struct token *ret_token)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    const char *hold = behind(admin_comment, "corehour:");
    if (hold == NULL) {
        return false;
    }
    const char *open = behind(hold, "open:");
    hold = open == NULL ? hold : open;
    const size_t bytes = strspn(hold, letters);
    const char end = hold[bytes];
    const bool is_whole = end == '\0' || end == ' ' || end == ',' || end == ';';
    if (bytes == 0 || bytes >= COREHOUR_ID_BYTES || !is_whole || !isalnum((unsigned char)hold[0]) ||
        (bytes == 7 && memcmp(hold, "observe", 7) == 0)) {
        return false;
    }
    *ret_token = (struct token){.is_open = open != NULL};
    memcpy(ret_token->hold, hold, bytes);
    return true;
}
