/*
 * What an accelerator is called in Kubernetes: the table file `resources.conf`, built in, and files of the operator's before it.
 * Its format is described at its top. Nothing here knows a pod or HTTP.
 */
#ifndef COREHOUR_CLIENTS_KUBERNETES_RESOURCE_TABLE_H
#define COREHOUR_CLIENTS_KUBERNETES_RESOURCE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RESOURCE_FAMILIES_MAX = 96,   /* sections of all files */
    RESOURCE_RULES_MAX = 256,     /* lines of [models] */
    RESOURCE_NAME_BYTES = 129,    /* a resource name, label or annotation, with its NUL */
    RESOURCE_MODEL_BYTES = 129,   /* a model as the rate card knows it, with its NUL */
    RESOURCE_PROBLEM_BYTES = 512, /* enough for any problem that is told here */
    RESOURCE_FACTOR_MAX = 1048576,
    RESOURCE_FILE_BYTES = 1048576, /* of one file */
};

/* What one resource name of a family says. */
enum resource_part {
    RESOURCE_COUNT,          /* devices */
    RESOURCE_MEMORY,         /* MiB of each device, through the name's unit */
    RESOURCE_MEMORY_PERCENT, /* part of each device's memory */
    RESOURCE_CORES,          /* part of each device's cores, in percent through the name's unit */
};
#define RESOURCE_PARTS 4

/* One unit is multiplier / divisor of what is counted. */
struct resource_unit {
    int64_t multiplier; /* 1 to RESOURCE_FACTOR_MAX */
    int64_t divisor;    /* 1 to RESOURCE_FACTOR_MAX */
};

/* A name of a resource. */
struct resource_name {
    char name[RESOURCE_NAME_BYTES]; /* may end in '*'; "" for none */
    struct resource_unit unit;
    bool or_bytes; /* a quantity with a suffix is bytes, whatever the unit */
};

/* Whose shares a container asks for. */
enum resource_shares {
    RESOURCE_SHARES_EACH,   /* of each device */
    RESOURCE_SHARES_ALL,    /* of all its devices together */
    RESOURCE_SHARES_SINGLE, /* of one device; several are whole ones */
};

/* One kind of device. Texts are "" where the file says nothing. */
struct resource_family {
    char family[RESOURCE_NAME_BYTES];
    struct resource_name parts[RESOURCE_PARTS]; /* by enum resource_part */
    char model[RESOURCE_MODEL_BYTES];           /* '*' stands for the same in the name */
    char model_annotation[RESOURCE_NAME_BYTES]; /* of the pod: the model that is asked for */
    char model_label[RESOURCE_NAME_BYTES];      /* of the node and of node selectors */
    char replicas_label[RESOURCE_NAME_BYTES];   /* of the node: units that a device is cut into */
    char allocated_annotation[RESOURCE_NAME_BYTES]; /* of the pod: what HAMi gave */
    char register_annotation[RESOURCE_NAME_BYTES];  /* of the node: HAMi's devices */
    struct resource_unit allocated_cores;           /* of its cores: one unit in percent */
    enum resource_shares shares;
    bool without_cores_whole;  /* memory alone takes the whole device */
    bool without_memory_whole; /* cores alone take the whole device */
};

struct resource_table;

/*
 * Read table files, the earlier before the later and the built-in one last: a name or a pattern of an earlier one wins.
 *
 * @paths      @count of them; 0: the built-in table alone
 * ret_table   the caller's, for resource_table_destroy(); untouched on failure
 * ret_problem one line: file, line, what is wrong; @bytes of room, RESOURCE_PROBLEM_BYTES is enough
 *
 * Returns false when a file cannot be read, a line is wrong, or bounds are exceeded. The table never changes afterwards: any
 * number of threads may read it.
 */
bool resource_table_read(const char *const *paths,
                         size_t count,
                         struct resource_table **ret_table,
                         char *ret_problem,
                         size_t bytes);

/* Takes NULL. */
void resource_table_destroy(struct resource_table *table);

/* Families, in the order of the files. */
size_t resource_table_count(const struct resource_table *table);
const struct resource_family *resource_table_family(const struct resource_table *table, size_t at);

/*
 * Find the family and the part that a resource name of a pod stands for.
 *
 * ret_at      the family's place; ret_part its part; ret_rest what the '*' of the table's name stands for, within @name, else "".
 * Returns false for a name that is no accelerator's.
 */
bool resource_table_find(const struct resource_table *table,
                         const char *name,
                         size_t *ret_at,
                         enum resource_part *ret_part,
                         const char **ret_rest);

/*
 * A model as people, labels and HAMi write it ("NVIDIA-A100-SXM4-80GB-SHARED") -> as the rate card knows it ("a100"): the first
 * rule of [models] that matches; else in lower case, blanks as '-', without the vendor in front and "-SHARED" behind. A MIG
 * profile is "mig-1g.5gb" to the rules and without them.
 *
 * ret_model: RESOURCE_MODEL_BYTES; "" when @text is empty, too long or has control characters.
 */
void resource_table_model(const struct resource_table *table, const char *text, char *ret_model);

#endif
