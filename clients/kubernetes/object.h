/* Looking into JSON objects of Kubernetes without asking at every step whether something is there. Pure. */
#ifndef COREHOUR_CLIENTS_KUBERNETES_OBJECT_H
#define COREHOUR_CLIENTS_KUBERNETES_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/*
 * What the API server wrote, as JSON. Anybody may write any text into objects, also NUL, which jansson takes in no key and no text: it
 * becomes U+FFFD. bytes: changed in place. flags, ret_error: of json_loadb. A new reference; NULL for what is no JSON.
 */
json_t *object_parse(char *bytes, size_t count, size_t flags, json_error_t *ret_error);

/* The member at a path of member names that ends with NULL; NULL when anything on the way is absent. Borrowed. */
json_t *object_get(const json_t *object, ...) __attribute__((sentinel));

/* The same, as a text; "" when absent or no string. Lives as long as the object. */
const char *object_text(const json_t *object, ...) __attribute__((sentinel));

/* A member that holds RFC 3339, as seconds since 1970; 0 when absent, null or no time. */
int64_t object_time(const json_t *object, const char *member);

/* The condition of this type in status.conditions, or NULL. Borrowed. */
const json_t *object_condition(const json_t *object, const char *type);

/* Whether a condition is there with this status. NULL is legal. */
bool object_condition_is(const json_t *condition, const char *status);

/* Whether a text can be the name or uid of an object, and may stand in a path as it is. NULL is legal. */
bool object_is_name(const char *text);

/* Copies as much of a text as fits with its NUL, never half a UTF-8 character. */
void object_copy(char *ret_text, const char *text, size_t bytes);

#endif
