/* AdmissionReview: see review.h. */
#include "clients/kubernetes/review.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/kubernetes/object.h"

static const char api_version[] = "admission.k8s.io/v1";

static const json_t *object_or_null(const json_t *request, const char *member)
{
    const json_t *object = object_get(request, member, NULL);
    return json_is_object(object) ? object : NULL;
}

static const char *review_fault(const json_t *root)
{
    if (!json_is_object(root) || strcmp(object_text(root, "kind", NULL), "AdmissionReview") != 0) {
        return "not an AdmissionReview";
    }
    if (strcmp(object_text(root, "apiVersion", NULL), api_version) != 0) {
        return "not admission.k8s.io/v1";
    }
    const size_t uid_bytes = strlen(object_text(root, "request", "uid", NULL));
    if (uid_bytes == 0 || uid_bytes > 128) {
        return "no request.uid";
    }
    if (object_text(root, "request", "operation", NULL)[0] == '\0') {
        return "no request.operation";
    }
    return NULL;
}

bool review_parse(char *bytes,
                  size_t count,
                  struct review *ret_review,
                  char *ret_problem,
                  size_t problem_bytes)
{
    json_error_t where;
    json_t *root = object_parse(bytes, count, JSON_REJECT_DUPLICATES, &where);
    const char *fault = root == NULL ? where.text : review_fault(root);
    if (fault != NULL) {
        (void)snprintf(ret_problem, problem_bytes, "%.200s", fault);
        json_decref(root);
        return false;
    }
    const json_t *request = object_get(root, "request", NULL);
    *ret_review = (struct review){
        .root = root,
        .uid = object_text(request, "uid", NULL),
        .namespace = object_text(request, "namespace", NULL),
        .name = object_text(request, "name", NULL),
        .operation = object_text(request, "operation", NULL),
        .group = object_text(request, "resource", "group", NULL),
        .resource = object_text(request, "resource", "resource", NULL),
        .subresource = object_text(request, "subResource", NULL),
        .username = object_text(request, "userInfo", "username", NULL),
        .dry_run = json_is_true(object_get(request, "dryRun", NULL)),
        .object = object_or_null(request, "object"),
        .old_object = object_or_null(request, "oldObject"),
    };
    return true;
}

void review_fini(struct review *review)
{
    json_decref(review->root);
    *review = (struct review){.root = NULL};
}

static json_t *wrap(json_t *response)
{
    return json_pack("{s:s, s:s, s:o}", "apiVersion", api_version, "kind", "AdmissionReview",
                     "response", response);
}

json_t *review_allow(const struct review *review, const json_t *warnings)
{
    json_t *response = json_pack("{s:s, s:b}", "uid", review->uid, "allowed", 1);
    if (json_array_size(warnings) > 0) {
        json_object_set(response, "warnings", (json_t *)(uintptr_t)warnings);
    }
    return wrap(response);
}

json_t *review_deny(const struct review *review, int code, const char *reason, const char *message)
{
    return wrap(json_pack("{s:s, s:b, s:{s:i, s:s, s:s}}", "uid", review->uid, "allowed", 0,
                          "status", "code", code, "reason", reason, "message", message));
}

static char *base64_encode(const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t bytes = strlen(text);
    char *encoded = malloc((bytes + 2) / 3 * 4 + 1);
    size_t at = 0;
    for (size_t i = 0; encoded != NULL && i < bytes; i += 3) {
        uint32_t window = 0;
        for (size_t j = 0; j < 3; j++) {
            window = window << 8 | (i + j < bytes ? (unsigned char)text[i + j] : 0U);
        }
        for (size_t j = 0; j < 4; j++) {
            encoded[at] = '=';
            if (i + j <= bytes) {
                encoded[at] = digits[window >> (18 - 6 * j) & 63];
            }
            at++;
        }
    }
    if (encoded != NULL) {
        encoded[at] = '\0';
    }
    return encoded;
}

json_t *review_patch(const struct review *review, const json_t *patch)
{
    char *text = json_dumps(patch, JSON_COMPACT);
    char *encoded = text == NULL ? NULL : base64_encode(text);
    json_t *answer = NULL;
    if (encoded != NULL) {
        answer = wrap(json_pack("{s:s, s:b, s:s, s:s}", "uid", review->uid, "allowed", 1,
                                "patchType", "JSONPatch", "patch", encoded));
    }
    free(encoded);
    free(text);
    return answer;
}
