/*
 * AdmissionReview admission.k8s.io/v1: reading requests, writing answers. Pure. What is not exactly a v1 request of bounded
 * size is refused, because the API server never sends it.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_REVIEW_H
#define COREHOUR_CLIENTS_KUBERNETES_REVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* Texts and objects live as long as `root`. */
struct review {
    json_t *root;
    const char *uid; /* of the request; never "" */
    const char *namespace;
    const char *name;
    const char *operation; /* CREATE, UPDATE, DELETE, CONNECT */
    const char *group;     /* of the resource: "" for pods, "apps", "batch" */
    const char *resource;  /* "pods", "jobs" */
    const char *subresource;
    const char *username;
    bool dry_run;
    const json_t *object;     /* null for DELETE: then NULL */
    const json_t *old_object; /* NULL for CREATE */
};

/*
 * Parses the body of a request.
 *
 * bytes: changed in place (object_parse). ret_review: for review_fini. ret_problem: one line, `problem_bytes` of room.
 * Returns false for anything else than an AdmissionReview v1 with a request and its uid, also for duplicate members.
 */
bool review_parse(char *bytes,
                  size_t count,
                  struct review *ret_review,
                  char *ret_problem,
                  size_t problem_bytes);
void review_fini(struct review *review);

/* The answers: new references, NULL when memory is out. Warnings: an array of texts, or NULL; borrowed. */
json_t *review_allow(const struct review *review, const json_t *warnings);
json_t *review_deny(const struct review *review, int code, const char *reason, const char *message);

/* Allowed with a JSON patch (RFC 6902; an array; borrowed). */
json_t *review_patch(const struct review *review, const json_t *patch);

#endif
