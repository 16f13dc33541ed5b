/* The table of resource names: what is built in, what an operator adds, what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "clients/kubernetes/resource_table.h"

/* A table with @text before the built-in one; NULL, with the problem, when it is refused. */
static struct resource_table *table_with(const char *text, char *ret_problem)
{
    char path[] = "/tmp/resources.XXXXXX";
    const int file = mkstemp(path);
    cr_assert(file >= 0);
    cr_assert_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
    close(file);
    struct resource_table *table = NULL;
    const char *const paths[] = {path};
    const bool good = resource_table_read(paths, 1, &table, ret_problem, RESOURCE_PROBLEM_BYTES);
    unlink(path);
    cr_assert_eq(good, table != NULL);
    return table;
}

static struct resource_table *built_in(void)
{
    struct resource_table *table = NULL;
    char problem[RESOURCE_PROBLEM_BYTES];
    cr_assert(resource_table_read(NULL, 0, &table, problem, sizeof problem), "%s", problem);
    return table;
}

Test(resource_table, knows_every_vendors_names_with_their_units)
{
    static const struct {
        const char *name;
        const char *family;
        enum resource_part part;
        int64_t multiplier;
        int64_t divisor;
    } cases[] = {
        {"nvidia.com/gpu", "nvidia", RESOURCE_COUNT, 1, 1},
        {"nvidia.com/gpumem", "nvidia", RESOURCE_MEMORY, 1, 1},
        {"nvidia.com/gpumem-percentage", "nvidia", RESOURCE_MEMORY_PERCENT, 1, 1},
        {"nvidia.com/gpucores", "nvidia", RESOURCE_CORES, 1, 1},
        {"nvidia.com/gpu.shared", "nvidia-shared", RESOURCE_COUNT, 1, 1},
        {"nvidia.com/mig-1g.5gb", "nvidia-mig", RESOURCE_COUNT, 1, 1},
        {"hami.io/gpu", "hami", RESOURCE_COUNT, 1, 1},
        {"hami.io/gpumem-percentage", "hami", RESOURCE_MEMORY_PERCENT, 1, 1},
        {"volcano.sh/vgpu-number", "volcano-vgpu", RESOURCE_COUNT, 1, 1},
        {"volcano.sh/vgpu-memory", "volcano-vgpu", RESOURCE_MEMORY, 1, 1},
        {"huawei.com/Ascend910", "ascend-910", RESOURCE_COUNT, 1, 1},
        {"huawei.com/Ascend910B3-memory", "ascend-910b3", RESOURCE_MEMORY, 1, 1},
        {"huawei.com/Ascend310P-core", "ascend-310p", RESOURCE_CORES, 1, 1},
        {"hygon.com/dcumem", "hygon", RESOURCE_MEMORY, 1, 1},
        {"cambricon.com/mlu.smlu.vmemory", "cambricon", RESOURCE_MEMORY, 256, 1},
        {"iluvatar.ai/BI-V150.vMem", "iluvatar-bi-v150", RESOURCE_MEMORY, 256, 1},
        {"mthreads.com/sgpu-memory", "mthreads", RESOURCE_MEMORY, 512, 1},
        {"mthreads.com/sgpu-core", "mthreads", RESOURCE_CORES, 100, 16},
        {"metax-tech.com/vmemory", "metax-sgpu", RESOURCE_MEMORY, 1024, 1},
        {"enflame.com/drs-gcu", "enflame-drs", RESOURCE_CORES, 100, 6},
        {"kunlunxin.com/vxpu-memory", "kunlunxin-vxpu", RESOURCE_MEMORY, 1, 1},
        {"amd.com/gpucores", "amd", RESOURCE_CORES, 1, 1},
    };
    struct resource_table *table = built_in();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t at = 0;
        enum resource_part part = RESOURCE_COUNT;
        const char *rest = NULL;
        cr_assert(resource_table_find(table, cases[i].name, &at, &part, &rest), "%s",
                  cases[i].name);
        const struct resource_family *family = resource_table_family(table, at);
        cr_assert_str_eq(family->family, cases[i].family);
        cr_assert_eq(part, cases[i].part, "%s", cases[i].name);
        cr_assert_eq(family->parts[part].unit.multiplier, cases[i].multiplier);
        cr_assert_eq(family->parts[part].unit.divisor, cases[i].divisor);
    }
    resource_table_destroy(table);
}

Test(resource_table, passes_over_what_is_no_accelerator)
{
    static const char *const names[] = {
        "cpu",
        "memory",
        "ephemeral-storage",
        "hugepages-2Mi",
        "nvidia.com/mig-",
        "nvidia.com/g",
        "nvidia.com/gpux",
        "example.com/fpga",
        "",
        "/",
        "hami.io",
        "nvidia.com/GPU",
    };
    struct resource_table *table = built_in();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t at;
        enum resource_part part;
        const char *rest;
        cr_assert_not(resource_table_find(table, names[i], &at, &part, &rest), "%s", names[i]);
    }
    resource_table_destroy(table);
}

Test(resource_table, brings_labels_to_the_names_of_a_rate_card)
{
    static const struct {
        const char *text;
        const char *model;
    } cases[] = {
        {"A100", "a100"},
        {"NVIDIA-A100-SXM4-80GB", "a100"},
        {"NVIDIA-A100-SXM4-80GB-SHARED", "a100"},
        {"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "mig-1g.5gb"},
        {"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb-SHARED", "mig-1g.5gb"},
        {"A100-SXM4-40GB-MIG-3g.20gb", "mig-3g.20gb"},
        {"NVIDIA-NVIDIA A100 80GB PCIe", "a100"},
        {"NVIDIA-Tesla V100-PCIE-32GB", "v100"},
        {"Tesla-T4", "t4"},
        {"NVIDIA-H100-80GB-HBM3", "h100"},
        {"NVIDIA-H200", "h200"},
        {"NVIDIA-H20", "h20"},
        {"NVIDIA-H20-3e", "h20"},
        {"NVIDIA-L40S", "l40s"},
        {"NVIDIA-L40", "l40"},
        {"NVIDIA-L4", "l4"},
        {"NVIDIA-RTX-A1000", "rtx-a1000"},
        {"NVIDIA-GeForce-RTX-4090", "rtx-4090"},
        {"NVIDIA-GH200-480GB", "gh200"},
        {"AMD_Instinct_MI300X_OAM", "mi300x"},
        {"MR-V100", "mr-v100"},
        {"Some New Card", "some-new-card"},
        {"NVIDIA-", "nvidia-"},
        {"", ""},
        {"tab\there", ""},
    };
    struct resource_table *table = built_in();
    char model[RESOURCE_MODEL_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        resource_table_model(table, cases[i].text, model);
        cr_assert_str_eq(model, cases[i].model, "%s: %s", cases[i].text, model);
    }
    char longest[200];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    resource_table_model(table, longest, model);
    cr_assert_str_eq(model, "");
    resource_table_destroy(table);
}

Test(resource_table, lets_an_operators_file_come_first)
{
    char problem[RESOURCE_PROBLEM_BYTES];
    struct resource_table *table = table_with("# ours\n"
                                              "[nvidia]\n"
                                              "count = nvidia.com/gpu\n"
                                              "memory = nvidia.com/gpumem * 1024\r\n"
                                              "without_memory = whole\n"
                                              "\n"
                                              "[fpga]\n"
                                              "count = example.com/fpga\n"
                                              "[models]\n"
                                              "*a100*80gb* = A100-80\n",
                                              problem);
    cr_assert_not_null(table, "%s", problem);
    size_t at;
    enum resource_part part;
    const char *rest;
    char model[RESOURCE_MODEL_BYTES];
    cr_assert(resource_table_find(table, "nvidia.com/gpumem", &at, &part, &rest));
    cr_assert_eq(resource_table_family(table, at)->parts[part].unit.multiplier, 1024);
    cr_assert(resource_table_family(table, at)->without_memory_whole);
    cr_assert(resource_table_find(table, "nvidia.com/gpucores", &at, &part, &rest),
              "the built-in section is still there");
    cr_assert(resource_table_find(table, "example.com/fpga", &at, &part, &rest));
    resource_table_model(table, "NVIDIA-A100-SXM4-80GB", model);
    cr_assert_str_eq(model, "a100-80");
    resource_table_model(table, "NVIDIA-A100-SXM4-40GB", model);
    cr_assert_str_eq(model, "a100");
    resource_table_destroy(table);
}

Test(resource_table, refuses_wrong_lines_with_their_place)
{
    static const struct {
        const char *text;
        const char *problem;
    } cases[] = {
        {"count = a/b\n", ":1: a key before the first [section]"},
        {"[x]\n[x]\n", ":2: [x] twice"},
        {"[x y]\n", ":1: not a section's name"},
        {"[]\n", ":1: not a section's name"},
        {"[x]\nnonsense\n", ":2: neither [section] nor key = value"},
        {"[x]\ncolour = red\n", ":2: \"colour\" is no key of a family"},
        {"[x]\ncount = a b\n", ":2: \"a b\" is not: NAME [* A[/B]] [or bytes]"},
        {"[x]\ncount = a* b\n", ":2: \"a* b\" is not"},
        {"[x]\ncount = a*b\n", ":2: \"a*b\" does not begin with a resource name"},
        {"[x]\ncount =\n", ":2: \"\" does not begin with a resource name"},
        {"[x]\nmemory = a * 0\n", "has no unit"},
        {"[x]\nmemory = a * -1\n", "has no unit"},
        {"[x]\nmemory = a * 1/0\n", "has no unit"},
        {"[x]\nmemory = a * 1048577\n", "has no unit"},
        {"[x]\nmemory = a * 99999999999999999999\n", "has no unit"},
        {"[x]\nmemory = a * 1 or nothing\n", "is not: NAME"},
        {"[x]\nshares = some\n", "\"some\" is none of: each all single"},
        {"[x]\nwithout_cores = yes\n", "\"yes\" is none of: none whole"},
        {"[x]\nmodel_label = a*\n", "\"a*\" is not a name"},
        {"[x]\nallocated_cores = 1/\n", "is not a unit"},
        {"[models]\na* = b*\n", "\"b*\" is not a model"},
        {"[models]\n = b\n", "\"\" is not a model"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char problem[RESOURCE_PROBLEM_BYTES] = "";
        struct resource_table *table = table_with(cases[i].text, problem);
        cr_assert_null(table, "%s was taken", cases[i].text);
        cr_assert_not_null(strstr(problem, cases[i].problem), "%s: %s", cases[i].text, problem);
    }
}

Test(resource_table, refuses_more_than_it_has_room_for)
{
    char problem[RESOURCE_PROBLEM_BYTES];
    char text[16384] = "";
    size_t used = 0;
    for (int i = 0; i < RESOURCE_FAMILIES_MAX + 1; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "[f%d]\n", i);
    }
    cr_assert_null(table_with(text, problem));
    cr_assert_not_null(strstr(problem, "more than 96 families"), "%s", problem);
    used = (size_t)snprintf(text, sizeof text, "[models]\n");
    for (int i = 0; i < RESOURCE_RULES_MAX + 1; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "m%d = m\n", i);
    }
    cr_assert_null(table_with(text, problem));
    cr_assert_not_null(strstr(problem, "more than 256 patterns"), "%s", problem);
    memset(text, 'x', 600);
    text[600] = '\0';
    cr_assert_null(table_with(text, problem));
    cr_assert_not_null(strstr(problem, "a line of more than 511 bytes"), "%s", problem);
}

Test(resource_table, tells_that_a_file_is_not_there)
{
    const char *const paths[] = {"/nonexistent/resources.conf"};
    struct resource_table *table = NULL;
    char problem[RESOURCE_PROBLEM_BYTES];
    cr_assert_not(resource_table_read(paths, 1, &table, problem, sizeof problem));
    cr_assert_not_null(strstr(problem, "/nonexistent/resources.conf: cannot be read"));
    cr_assert_null(table);
}
