/* What namespaces ask for by their labels: a small table that the watch fills and everybody reads. Thread-safe. */
#ifndef COREHOUR_CLIENTS_KUBERNETES_NAMESPACES_H
#define COREHOUR_CLIENTS_KUBERNETES_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

enum namespace_mode {
    NAMESPACE_UNTOUCHED,
    NAMESPACE_ENFORCE,
    NAMESPACE_GATE,
    NAMESPACE_OBSERVE,
    NAMESPACE_KUEUE
};

struct namespace_rules {
    enum namespace_mode mode;
    bool gang;
    int64_t since_s;  /* when it was given its mode, in seconds since 1970; 0: not known */
    char account[64]; /* the namespace's name unless it says another */
};

struct namespaces;

/* own: the agent's namespace, which is never touched, as are kube-system, kube-public and kube-node-lease. */
struct namespaces *namespaces_create(const char *own);
void namespaces_destroy(struct namespaces *namespaces);

/* Whether a namespace is one that nothing may ever touch. */
bool namespaces_is_protected(const struct namespaces *namespaces, const char *name);

/* Takes a Namespace object, as it is now or as it was when it went. */
void namespaces_put(struct namespaces *namespaces, const json_t *object, bool deleted);

/* A list begins: what it does not name is forgotten at its end. */
void namespaces_list_begin(struct namespaces *namespaces);
void namespaces_list_end(struct namespaces *namespaces);

/* Whether a whole list was ever received. */
bool namespaces_are_known(struct namespaces *namespaces);

/* The rules of a namespace; of an unknown or protected one: untouched, its name as the account. */
struct namespace_rules namespaces_find(struct namespaces *namespaces, const char *name);

#endif
