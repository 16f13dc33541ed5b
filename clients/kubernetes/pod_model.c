/* Models: see pod_model.h. */
#include "clients/kubernetes/pod_model.h"

#include <stdio.h>
#include <string.h>

static const char *text_at(const json_t *object, const char *outer, const char *inner)
{
    return json_string_value(json_object_get(json_object_get(object, outer), inner));
}

/* One candidate into @model; false when it is another than those before. */
static bool candidate_take(const struct resource_table *table, const char *text, char *model)
{
    char candidate[RESOURCE_MODEL_BYTES];
    resource_table_model(table, text, candidate);
    if (candidate[0] == '\0' || (model[0] != '\0' && strcmp(model, candidate) != 0)) {
        return false;
    }
    memcpy(model, candidate, strlen(candidate) + 1);
    return true;
}

/* "A100-SXM4-40GB, A100-SXM4-80GB" */
static bool candidates_read(const struct resource_table *table, const char *list, char *model)
{
    while (*list != '\0') {
        char item[RESOURCE_MODEL_BYTES];
        list += strspn(list, ", ");
        size_t bytes = strcspn(list, ",");
        const char *next = list + bytes;
        while (bytes > 0 && list[bytes - 1] == ' ') {
            bytes--;
        }
        if (bytes >= sizeof item) {
            return false;
        }
        memcpy(item, list, bytes);
        item[bytes] = '\0';
        if (bytes > 0 && !candidate_take(table, item, model)) {
            return false;
        }
        list = next;
    }
    return model[0] != '\0';
}

/* The resource's own model, its '*' filled in; without ".shared" of time slicing behind. */
static bool model_by_name(const struct resource_table *table,
                          const struct resource_family *family,
                          const char *rest,
                          char *ret_model)
{
    char model[RESOURCE_MODEL_BYTES];
    static const char shared[] = ".shared";
    const char *star = strchr(family->model, '*');
    const size_t head = star == NULL ? strlen(family->model) : (size_t)(star - family->model);
    size_t bytes = star == NULL ? 0 : strlen(rest);
    if (bytes > strlen(shared) && strcmp(rest + bytes - strlen(shared), shared) == 0) {
        bytes -= strlen(shared);
    }
    const size_t tail = star == NULL ? 0 : strlen(star + 1);
    if (family->model[0] == '\0' || head + bytes + tail >= RESOURCE_MODEL_BYTES) {
        return false;
    }
    (void)snprintf(model, sizeof model, "%.*s%.*s%s", (int)head, family->model, (int)bytes, rest,
                   star == NULL ? "" : star + 1);
    resource_table_model(table, model, ret_model);
    return ret_model[0] != '\0';
}

/* Whether one expression of a node affinity names the model: In, all values one model. */
static bool expression_read(const struct resource_table *table,
                            const json_t *expression,
                            const char *label,
                            char *model)
{
    const char *key = json_string_value(json_object_get(expression, "key"));
    const char *how = json_string_value(json_object_get(expression, "operator"));
    const json_t *values = json_object_get(expression, "values");
    if (key == NULL || how == NULL || strcmp(key, label) != 0 || strcmp(how, "In") != 0) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *value = json_string_value(json_array_get(values, i));
        if (value == NULL || !candidate_take(table, value, model)) {
            return false;
        }
    }
    return model[0] != '\0';
}

/* A term of the affinity must name the model for it to be known; terms are alternatives. */
static bool term_read(const struct resource_table *table,
                      const json_t *term,
                      const char *label,
                      char *model)
{
    const json_t *expressions = json_object_get(term, "matchExpressions");
    for (size_t i = 0; i < json_array_size(expressions); i++) {
        if (expression_read(table, json_array_get(expressions, i), label, model)) {
            return true;
        }
    }
    return false;
}

static bool affinity_read(const json_t *spec,
                          const struct resource_table *table,
                          const char *label,
                          char *model)
{
    const json_t *affinity = json_object_get(json_object_get(spec, "affinity"), "nodeAffinity");
    const json_t *required =
        json_object_get(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
    const json_t *terms = json_object_get(required, "nodeSelectorTerms");
    for (size_t i = 0; i < json_array_size(terms); i++) {
        if (!term_read(table, json_array_get(terms, i), label, model)) {
            return false;
        }
    }
    return model[0] != '\0';
}

enum pod_model_source pod_model_asked(const json_t *pod,
                                      const struct resource_table *table,
                                      const struct resource_family *family,
                                      const char *rest,
                                      char *ret_model)
{
    const json_t *spec = json_object_get(pod, "spec");
    const char *wanted =
        text_at(json_object_get(pod, "metadata"), "annotations", family->model_annotation);
    const char *selected = text_at(spec, "nodeSelector", family->model_label);
    ret_model[0] = '\0';
    if (model_by_name(table, family, rest, ret_model)) {
        return POD_MODEL_NAME;
    }
    if (wanted != NULL && candidates_read(table, wanted, ret_model)) {
        return POD_MODEL_ANNOTATION;
    }
    ret_model[0] = '\0';
    if (selected != NULL && candidate_take(table, selected, ret_model)) {
        return POD_MODEL_SELECTOR;
    }
    if (family->model_label[0] != '\0' &&
        affinity_read(spec, table, family->model_label, ret_model)) {
        return POD_MODEL_SELECTOR;
    }
    ret_model[0] = '\0';
    return POD_MODEL_UNKNOWN;
}

enum pod_model_source pod_model_of_node(const json_t *node,
                                        const struct resource_table *table,
                                        const struct resource_family *family,
                                        char *ret_model)
{
    const char *label = text_at(json_object_get(node, "metadata"), "labels", family->model_label);
    ret_model[0] = '\0';
    if (label != NULL) {
        resource_table_model(table, label, ret_model);
    }
    return ret_model[0] == '\0' ? POD_MODEL_UNKNOWN : POD_MODEL_NODE;
}
