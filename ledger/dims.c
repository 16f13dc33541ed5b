/* See dims.h. */
#include "ledger/dims.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/lists.h"

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Models sorted and joined by "+", each once; "gpu" where no model was given. Cut at the field's end.
 */
static void models_text(struct ledger *ledger, const struct resources *resources, char *text)
{
    char names[LIMIT_GPU_ENTRIES][RECORD_NAME_BYTES];
    const char *sorted[LIMIT_GPU_ENTRIES] = {0};
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        int64_t no = resources->gpus[i].model_no;
        row_text(names[i], sizeof names[i], no == 0 ? "gpu" : list_model_name(ledger, no));
        sorted[i] = names[i];
    }
    qsort(sorted, (size_t)resources->gpu_count, sizeof sorted[0], compare_texts);
    size_t length = 0;
    for (int32_t i = 0; i < resources->gpu_count; i++) {
        if (i > 0 && strcmp(sorted[i], sorted[i - 1]) == 0) {
            continue;
        }
        size_t more = strlen(sorted[i]) + (length > 0 ? 1 : 0);
        if (length + more >= RECORD_NAME_BYTES) {
            break;
        }
        if (length > 0) {
            text[length++] = '+';
        }
        memcpy(text + length, sorted[i], strlen(sorted[i]));
        length += strlen(sorted[i]);
    }
    text[length] = '\0';
}

static void dims_fill(struct ledger *ledger, const char *partition, struct dims *dims)
{
    const struct view *view = &ledger->view;
    memset(dims, 0, sizeof *dims);
    dims->root_no = view->hold.root_no;
    dims->project_no = view->hold.project_no;
    dims->member_no = view->hold.member_no;
    dims->cluster_no = view->hold.cluster_no;
    dims->card_version = view->hold.card_version;
    row_text(dims->partition, sizeof dims->partition, partition);
    row_text(dims->qos, sizeof dims->qos, view->hold.qos);
    models_text(ledger, &view->hold.resources, dims->gpu_model);
    dims->path_count = view->node_count;
    for (int32_t i = 0; i < view->node_count; i++) {
        dims->path[i].node_no = view->nodes[i].node.node_no;
    }
}

/* All that tells dimensions of one root apart, as a name. */
static void dims_name(const struct dims *dims, char ret_hex[DIGEST_TEXT_BYTES])
{
    struct digest_state state;
    digest_init(&state);
    digest_update_i64(&state, dims->cluster_no);
    digest_update_i64(&state, dims->card_version);
    digest_update_text(&state, dims->partition);
    digest_update_text(&state, dims->qos);
    digest_update_text(&state, dims->gpu_model);
    for (int32_t i = 0; i < dims->path_count; i++) {
        digest_update_i64(&state, dims->path[i].node_no);
    }
    struct digest digest = digest_finish(&state);
    (void)digest_format(&digest, ret_hex);
}

int64_t dims_intern(struct ledger *ledger, const char *partition)
{
    struct dims dims;
    char name[DIGEST_TEXT_BYTES];
    dims_fill(ledger, partition, &dims);
    dims_name(&dims, name);
    int64_t no = row_name_target(ledger->set, NAMES_DIMS, dims.root_no, name);
    if (no != 0) {
        return no;
    }
    no = row_take_no(ledger->set, "dims");
    row_add_name(ledger->set, NAMES_DIMS, dims.root_no, name, no);
    dims.dims_no = no;
    *(struct dims *)working_set_make(ledger->set, row_find(ledger->set, RECORD_DIMS, no)) = dims;
    return no;
}
