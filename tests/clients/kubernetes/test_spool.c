/* Files of pods: what one agent writes is what the next one knows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "clients/kubernetes/spool.h"

static char base[] = "/tmp/corehour-spool-XXXXXX";
static char folder[256]; /* as long as the configuration takes one */

static void folder_make(void)
{
    struct agent_error error;
    cr_assert_neq(mkdtemp(base), NULL);
    size_t bytes = (size_t)snprintf(folder, sizeof folder, "%s/", base);
    memset(folder + bytes, 'x', sizeof folder - 1 - bytes);
    folder[sizeof folder - 1] = '\0';
    cr_assert(spool_open(folder, &error), "%s", error.detail);
}

static void folder_remove(void)
{
    rmdir(folder);
    rmdir(base);
}

TestSuite(kubernetes_spool, .init = folder_make, .fini = folder_remove);

Test(kubernetes_spool, what_is_put_is_loaded_and_what_is_dropped_is_not)
{
    struct pod_store first;
    struct pod_store second;
    cr_assert(pod_store_init(&first) && pod_store_init(&second));
    struct pod_record *record = pod_store_add(&first, "0f1e-uid");
    strcpy(record->facts.name, "train");
    strcpy(record->rules.account, "vision");
    strcpy(record->user, "alice");
    record->facts.scheduled_s = 1796000000;
    record->facts.end = (struct pod_end){1796000300, "oom", EVIDENCE_DISRUPTED};
    record->resources = json_pack("{s:i}", "cores", 8);
    cr_assert(spool_put(folder, record, true));
    cr_expect(record->spooled);

    spool_load(folder, &second);
    struct pod_record *read = pod_store_find(&second, "0f1e-uid");
    cr_assert_not_null(read);
    cr_expect_str_eq(read->facts.name, "train");
    cr_expect_str_eq(read->rules.account, "vision");
    cr_expect_str_eq(read->user, "alice");
    cr_expect_eq(read->facts.scheduled_s, 1796000000);
    cr_expect_eq(read->facts.end.at_s, 1796000300);
    cr_expect_str_eq(read->facts.end.outcome, "oom");
    cr_expect_eq(read->facts.end.evidence, EVIDENCE_DISRUPTED);
    cr_expect(json_equal(read->resources, record->resources));

    spool_drop(folder, record);
    pod_store_fini(&second);
    cr_assert(pod_store_init(&second));
    spool_load(folder, &second);
    cr_expect_eq(second.count, 0u);
    pod_store_fini(&first);
    pod_store_fini(&second);
}
