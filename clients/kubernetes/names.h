/* The names that the agent and a cluster's manifests share. */
#ifndef COREHOUR_CLIENTS_KUBERNETES_NAMES_H
#define COREHOUR_CLIENTS_KUBERNETES_NAMES_H

#define NAME_GATE               "corehour.io/freeze" /* scheduling gate */
#define NAME_MODE               "corehour.io/mode" /* label of a namespace: enforce, gate, observe */
#define NAME_GANG               "corehour.io/gang"       /* label of a namespace: "true" */
#define NAME_ACCOUNT            "corehour.io/account"    /* annotation of a namespace */
#define NAME_CREATED_BY         "corehour.io/created-by" /* annotation: the human, written by /stamp */
#define NAME_USER               "corehour.io/user"       /* annotation: the human, as asked for */
#define NAME_CREATED_BY_POINTER "/metadata/annotations/corehour.io~1created-by" /* RFC 6901 */

#define NAME_COMPONENT "corehour-kubernetes"

#endif
