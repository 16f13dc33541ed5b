/* See audit_describe.h. */
#include "ledger/audit_describe.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/lists.h"

/* ---- fields by table */

enum shape { SHAPE_NUMBER, SHAPE_CHOICE, SHAPE_NAMES, SHAPE_FLAG, SHAPE_TEXT };

struct shown_field {
    const char *name;
    enum shape shape;
    size_t offset;
    const char *const *choices; /* of SHAPE_CHOICE, an enum of 4 bytes; of SHAPE_NAMES, bits of 8 */
};

#define NUMBER(type, label, member)                              \
    {                                                            \
        label, SHAPE_NUMBER, offsetof(struct type, member), NULL \
    }
#define CHOICE(type, label, member, names)                        \
    {                                                             \
        label, SHAPE_CHOICE, offsetof(struct type, member), names \
    }
#define NAMES(type, label, member, names)                        \
    {                                                            \
        label, SHAPE_NAMES, offsetof(struct type, member), names \
    }
#define FLAG(type, label, member)                              \
    {                                                          \
        label, SHAPE_FLAG, offsetof(struct type, member), NULL \
    }
#define TEXT(type, label, member)                              \
    {                                                          \
        label, SHAPE_TEXT, offsetof(struct type, member), NULL \
    }

static const char *const states[] = {"open", "closed"};
static const char *const fundings[] = {"parent", "self", "unlimited"};
static const char *const memberships[] = {"open", "listed"};
static const char *const modes[] = {NULL, "full", "window"};
static const char *const insufficients[] = {NULL, "reject", "wait"};
static const char *const exhausteds[] = {"continue", "notify", "stop"};
static const char *const policies[] = {"closed", "open"};
static const char *const cluster_kinds[] = {"slurm", "kubernetes", "other"};
static const char *const combines[] = {"sum", "max"};
static const char *const outcomes[OUTCOME__COUNT] = {
    [OUTCOME_RUNNING] = "running",
    [OUTCOME_COMPLETED] = "completed",
    [OUTCOME_FAILED] = "failed",
    [OUTCOME_TIMEOUT] = "timeout",
    [OUTCOME_CANCELLED] = "cancelled",
    [OUTCOME_NODE_FAIL] = "node_fail",
    [OUTCOME_BOOT_FAIL] = "boot_fail",
    [OUTCOME_PREEMPTED] = "preempted",
    [OUTCOME_OOM] = "oom",
    [OUTCOME_DEADLINE] = "deadline",
    [OUTCOME_OTHER] = "other",
};
static const char *const movements[] = {"grant", "transfer", "withdrawal"};

static const struct shown_field node_fields[] = {
    CHOICE(node, "state", state, states),
    CHOICE(node, "funding", funding, fundings),
    CHOICE(node, "membership", membership, memberships),
    CHOICE(node, "mode", mode, modes),
    CHOICE(node, "on_insufficient", on_insufficient, insufficients),
    NUMBER(node, "window_s", window_s),
    NUMBER(node, "ttl_s", ttl_s),
    NUMBER(node, "overdraft_mcs", overdraft_mcs),
    NAMES(node, "waived_outcomes", waived_outcomes, outcomes),
    FLAG(node, "names_visible", names_visible),
    TEXT(node, "timezone", timezone),
    TEXT(node, "contact", contact),
};

static const struct shown_field cluster_fields[] = {
    CHOICE(cluster, "kind", kind, cluster_kinds),
    CHOICE(cluster, "state", state, states),
    CHOICE(cluster, "mode", mode, modes),
    CHOICE(cluster, "on_insufficient", on_insufficient, insufficients),
    CHOICE(cluster, "on_exhausted", on_exhausted, exhausteds),
    CHOICE(cluster, "fail_policy", fail_policy, policies),
    NUMBER(cluster, "window_s", window_s),
    NUMBER(cluster, "stop_grace_s", stop_grace_s),
    NUMBER(cluster, "ttl_s", ttl_s),
    NUMBER(cluster, "heartbeat_s", heartbeat_s),
    NUMBER(cluster, "stale_after_s", stale_after_s),
};

static const struct shown_field rate_fields[] = {
    CHOICE(rate_version, "combine", combine, combines),
    NUMBER(rate_version, "price_micro", price_micro),
    TEXT(rate_version, "currency", currency),
};

static bool differs(const struct shown_field *field, const void *a, const void *b)
{
    const char *x = (const char *)a + field->offset;
    const char *y = (const char *)b + field->offset;
    switch (field->shape) {
    case SHAPE_NUMBER:
    case SHAPE_NAMES:
        return memcmp(x, y, sizeof(int64_t)) != 0;
    case SHAPE_CHOICE:
    case SHAPE_FLAG:
        return memcmp(x, y, sizeof(int32_t)) != 0;
    case SHAPE_TEXT:
        return strcmp(x, y) != 0;
    }
    return true;
}

static void add_choice(struct audit_values *values, const struct shown_field *field, int32_t value)
{
    if (field->choices[value] == NULL) {
        audit_add_null(values, field->name);
    } else {
        audit_add_text(values, field->name, field->choices[value]);
    }
}

static void add_field(struct audit_values *values,
                      const struct shown_field *field,
                      const void *record)
{
    const char *at = (const char *)record + field->offset;
    int64_t number;
    int32_t small;
    switch (field->shape) {
    case SHAPE_NUMBER:
        memcpy(&number, at, sizeof number);
        audit_add_number(values, field->name, number);
        break;
    case SHAPE_NAMES:
        memcpy(&number, at, sizeof number);
        audit_add_names(values, field->name, number, field->choices);
        break;
    case SHAPE_CHOICE:
        memcpy(&small, at, sizeof small);
        add_choice(values, field, small);
        break;
    case SHAPE_FLAG:
        memcpy(&small, at, sizeof small);
        audit_add_flag(values, field->name, small != 0);
        break;
    case SHAPE_TEXT:
        audit_add_text(values, field->name, at);
        break;
    }
}

/* What a change says on its two sides. */
struct sides {
    struct audit_values before;
    struct audit_values after;
    const void *from; /* NULL: made */
    const void *to;
};

static void begin(struct sides *sides, const void *before, const void *after)
{
    sides->from = before;
    sides->to = after;
    audit_begin(&sides->before);
    audit_begin(&sides->after);
}

/* Nothing, as most settings of a new thing are. */
static bool is_empty(const struct shown_field *field, const void *record)
{
    static const char zeros[sizeof(int64_t)];
    const char *at = (const char *)record + field->offset;
    switch (field->shape) {
    case SHAPE_NUMBER:
    case SHAPE_NAMES:
        return memcmp(at, zeros, sizeof(int64_t)) == 0;
    case SHAPE_FLAG:
        return memcmp(at, zeros, sizeof(int32_t)) == 0;
    case SHAPE_CHOICE:
        return memcmp(at, zeros, sizeof(int32_t)) == 0 && field->choices[0] == NULL;
    case SHAPE_TEXT:
        return at[0] == '\0';
    }
    return false;
}

/* The fields that differ; where there is only one side, those that say something. */
static void add_fields(struct sides *sides, const struct shown_field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const bool both = sides->from != NULL && sides->to != NULL;
        if (both && !differs(&fields[i], sides->from, sides->to)) {
            continue;
        }
        const void *only = sides->from != NULL ? sides->from : sides->to;
        assert(only != NULL);
        if (!both && is_empty(&fields[i], only)) {
            continue;
        }
        if (sides->from != NULL) {
            add_field(&sides->before, &fields[i], sides->from);
        }
        if (sides->to != NULL) {
            add_field(&sides->after, &fields[i], sides->to);
        }
    }
}

static void finish(struct ledger *ledger, struct sides *sides, struct audit_change *change)
{
    change->before = sides->from == NULL ? NULL : audit_end(&sides->before);
    change->after = sides->to == NULL ? NULL : audit_end(&sides->after);
    audit_change(ledger, change);
}

/* ---- nodes and caps */

static void add_parent(struct ledger *ledger, struct audit_values *values, const struct node *node)
{
    const struct node *parent =
        node->parent_no == 0 ? NULL : row_get(ledger->set, RECORD_NODE, node->parent_no);
    if (parent == NULL) {
        audit_add_null(values, "parent");
    } else {
        audit_add_text(values, "parent", parent->name);
    }
}

void audit_node(struct ledger *ledger, const struct node *before, const struct node *after)
{
    static const char *const actions[][2] = {
        [NODE_ORGANIZATION] = {"organization.make", "organization.change"},
        [NODE_PROJECT] = {"project.make", "project.change"},
        [NODE_MEMBER] = {"member.make", "member.change"},
    };
    char what[RECORD_WHAT_BYTES];
    struct sides sides;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    begin(&sides, before, after);
    if (before != NULL && before->parent_no != after->parent_no) {
        add_parent(ledger, &sides.before, before);
    }
    if (before == NULL || before->parent_no != after->parent_no) {
        add_parent(ledger, &sides.after, after);
    }
    if (after->parent_no == 0 &&
        (before == NULL || before->fiscal_year_start != after->fiscal_year_start)) {
        audit_add_number(&sides.before, "fiscal_year_start",
                         before == NULL ? 0 : before->fiscal_year_start);
        audit_add_number(&sides.after, "fiscal_year_start", after->fiscal_year_start);
    }
    add_fields(&sides, node_fields, ARRAY_LEN(node_fields));
    struct audit_change change = {
        .action = actions[after->kind][before != NULL],
        .root_no = after->root_no,
        .node_no = after->node_no,
        .what = audit_path(ledger, after, what),
    };
    finish(ledger, &sides, &change);
}

static const char *const cap_names[CAP__COUNT] = {
    [CAP_MONTH] = "month",       [CAP_QUARTER] = "quarter",
    [CAP_YEAR] = "year",         [CAP_TOTAL] = "total",
    [CAP_GPUS] = "gpus",         [CAP_CORES] = "cores",
    [CAP_JOBS] = "jobs",         [CAP_JOB_CORE_HOURS] = "job_core_hours",
    [CAP_JOB_GPUS] = "job_gpus", [CAP_JOB_DURATION] = "job_duration",
    [CAP_FUNDS] = "funds",
};

static const char *const cap_units[CAP__COUNT] = {
    [CAP_MONTH] = "mcs",      [CAP_QUARTER] = "mcs",        [CAP_YEAR] = "mcs",
    [CAP_TOTAL] = "mcs",      [CAP_GPUS] = "mgpus",         [CAP_CORES] = "mcores",
    [CAP_JOBS] = "jobs",      [CAP_JOB_CORE_HOURS] = "mcs", [CAP_JOB_GPUS] = "mgpus",
    [CAP_JOB_DURATION] = "s", [CAP_FUNDS] = "mcs",
};

static void add_cap(struct audit_values *values, const struct cap *cap)
{
    if (cap->limit == RECORD_UNLIMITED) {
        audit_add_null(values, "limit");
    } else {
        audit_add_number(values, "limit", cap->limit);
    }
    audit_add_text(values, "unit", cap_units[cap->kind]);
    audit_add_flag(values, "soft", cap->soft != 0);
}

void audit_cap(struct ledger *ledger,
               const struct node *node,
               const char *model,
               const struct cap *before,
               const struct cap *after)
{
    char path[RECORD_WHAT_BYTES];
    char what[RECORD_WHAT_BYTES];
    struct sides sides;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    begin(&sides, before, after);
    if (before != NULL) {
        add_cap(&sides.before, before);
    }
    if (after != NULL) {
        add_cap(&sides.after, after);
    }
    const struct cap *cap = after != NULL ? after : before;
    assert(cap != NULL);
    (void)snprintf(what, sizeof what, "%.330s/caps/%s%s%s", audit_path(ledger, node, path),
                   cap_names[cap->kind], model[0] == '\0' ? "" : ":", model);
    struct audit_change change = {
        .action = after != NULL ? "cap.put" : "cap.delete",
        .root_no = node->root_no,
        .node_no = node->node_no,
        .what = what,
    };
    finish(ledger, &sides, &change);
}

/* ---- clusters, mappings, rates */

static void add_roots(struct ledger *ledger,
                      struct audit_values *values,
                      const struct cluster *cluster)
{
    char text[RECORD_CLUSTER_ROOTS * RECORD_NODE_NAME_BYTES + 1] = "";
    size_t bytes = 0;
    for (int32_t i = 0; i < cluster->root_count; i++) {
        const struct node *root = row_get(ledger->set, RECORD_NODE, cluster->roots[i].root_no);
        const int added = snprintf(text + bytes, sizeof text - bytes, "%s%s", i > 0 ? "," : "",
                                   root == NULL ? "" : root->name);
        bytes += (size_t)added;
    }
    if (cluster->root_count == 0) {
        audit_add_null(values, "roots");
    } else {
        audit_add_text(values, "roots", text);
    }
}

static bool same_roots(const struct cluster *a, const struct cluster *b)
{
    return a->root_count == b->root_count &&
           memcmp(a->roots, b->roots, (size_t)a->root_count * sizeof a->roots[0]) == 0;
}

void audit_cluster(struct ledger *ledger, const struct cluster *before, const struct cluster *after)
{
    char what[RECORD_WHAT_BYTES];
    struct sides sides;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    begin(&sides, before, after);
    add_fields(&sides, cluster_fields, ARRAY_LEN(cluster_fields));
    if (before == NULL || !same_roots(before, after)) {
        if (before != NULL) {
            add_roots(ledger, &sides.before, before);
        }
        add_roots(ledger, &sides.after, after);
    }
    (void)snprintf(what, sizeof what, "clusters/%s", after->name);
    struct audit_change change = {
        .action = before == NULL ? "cluster.make" : "cluster.change",
        .what = what,
    };
    finish(ledger, &sides, &change);
}

static void add_target(struct ledger *ledger, struct audit_values *values, const struct name *name)
{
    if (name == NULL) {
        return;
    }
    const struct node *project =
        name->space == NAMES_USER ? NULL : row_get(ledger->set, RECORD_NODE, name->target_no);
    audit_add_text(values, name->space == NAMES_USER ? "person" : "project",
                   project == NULL ? name->target : project->name);
}

void audit_mapping(struct ledger *ledger,
                   const struct cluster *cluster,
                   const struct name *before,
                   const struct name *after)
{
    char what[RECORD_WHAT_BYTES];
    struct sides sides;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    begin(&sides, before, after);
    add_target(ledger, &sides.before, before);
    add_target(ledger, &sides.after, after);
    const bool is_user = after->space == NAMES_USER;
    (void)snprintf(what, sizeof what, "clusters/%s/%s/%s", cluster->name,
                   is_user ? "users" : "accounts", after->name);
    struct audit_change change = {.action = is_user ? "user.map" : "account.map", .what = what};
    finish(ledger, &sides, &change);
}

/* The rows of a version as a digest: they stand in the card itself. */
static void add_rows(struct ledger *ledger,
                     struct audit_values *values,
                     const struct rate_version *version)
{
    struct digest_state state;
    char hex[DIGEST_TEXT_BYTES];
    digest_init(&state);
    for (int32_t i = 0; i < version->row_count; i++) {
        const struct cell *cell =
            row_find3(ledger->set, RECORD_RATE_ROW, version->cluster_no, version->version, i);
        const struct rate_row *row = cell_record(cell);
        digest_update_i64(&state, row->permille);
        digest_update_i64(&state, row->core_mcores);
        digest_update_i64(&state, row->gib_mcores);
        digest_update_i64(&state, row->gpu_default_mcores);
        digest_update_text(&state, row->partition);
        digest_update_text(&state, row->qos);
        for (int32_t j = 0; j < row->gpu_count; j++) {
            digest_update_text(&state, list_model_name(ledger, row->gpus[j].model_no));
            digest_update_i64(&state, row->gpus[j].mcores);
            digest_update_i64(&state, row->gpus[j].memory_mib);
        }
    }
    const struct digest digest = digest_finish(&state);
    audit_add_number(values, "rows", version->row_count);
    audit_add_text(values, "rows_sha256", digest_format(&digest, hex));
}

void audit_rates(struct ledger *ledger,
                 const struct cluster *cluster,
                 const struct rate_version *before,
                 const struct rate_version *after)
{
    char what[RECORD_WHAT_BYTES];
    struct sides sides;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    begin(&sides, before, after);
    if (before != NULL) {
        audit_add_time(&sides.before, "effective_from", before->effective_from_s);
    }
    audit_add_time(&sides.after, "effective_from", after->effective_from_s);
    add_fields(&sides, rate_fields, ARRAY_LEN(rate_fields));
    add_rows(ledger, &sides.after, after);
    (void)snprintf(what, sizeof what, "clusters/%s/rates/%" PRId64, cluster->name, after->version);
    struct audit_change change = {.action = "rates.put", .what = what};
    finish(ledger, &sides, &change);
}

/* ---- tokens */

static const char *role_name(enum token_role role)
{
    switch (role) {
    case ROLE_ADMIN:
        return "admin";
    case ROLE_SCHEDULER:
        return "scheduler";
    case ROLE_LEAD:
        return "lead";
    case ROLE_FINANCE:
        return "finance";
    case ROLE_VIEWER:
        return "viewer";
    case ROLE_MEMBER:
        return "member";
    }
    return "";
}

static void add_token(struct audit_values *values, const struct token *token)
{
    if (token == NULL) {
        return;
    }
    audit_add_text(values, "name", token->name);
    audit_add_text(values, "role", role_name(token->role));
    if (token->place[0] != '\0') {
        audit_add_text(values, "place", token->place);
    }
    audit_add_time(values, "expires_at", token->expires_s);
    if (token->old_until_s != 0) {
        audit_add_time(values, "old_until", token->old_until_s);
    }
}

void audit_token(struct ledger *ledger,
                 const char *action,
                 const struct token *before,
                 const struct token *after)
{
    char what[RECORD_WHAT_BYTES];
    struct sides sides;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    begin(&sides, before, after);
    add_token(&sides.before, before);
    add_token(&sides.after, after);
    (void)snprintf(what, sizeof what, "tokens/%s", after != NULL ? after->id : before->id);
    struct audit_change change = {.action = action, .what = what};
    finish(ledger, &sides, &change);
}

/* ---- money */

static void add_node_name(struct ledger *ledger,
                          struct audit_values *values,
                          const char *name,
                          int64_t node_no)
{
    const struct node *node = node_no == 0 ? NULL : row_get(ledger->set, RECORD_NODE, node_no);
    if (node != NULL) {
        audit_add_text(values, name, node->name);
    }
}

void audit_movement(struct ledger *ledger, const struct movement *movement)
{
    char what[RECORD_WHAT_BYTES];
    struct audit_values values;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    audit_begin(&values);
    add_node_name(ledger, &values, "from", movement->from_no);
    add_node_name(ledger, &values, "to", movement->to_no);
    audit_add_number(&values, "amount_mcs", movement->amount_mcs);
    if (movement->kind == MOVEMENT_GRANT) {
        const struct grant *grant = row_get(ledger->set, RECORD_GRANT, movement->grant_no);
        audit_add_time(&values, "start", grant == NULL ? 0 : grant->start_s);
        audit_add_time(&values, "end",
                       grant == NULL || grant->end_s == INT64_MAX ? 0 : grant->end_s);
    }
    audit_add_text(&values, "note", movement->note);
    (void)snprintf(what, sizeof what, "%ss/%s", movements[movement->kind], movement->id);
    const int64_t node_no = movement->from_no != 0 ? movement->from_no : movement->to_no;
    audit_change(ledger, &(struct audit_change){
                             .action = movements[movement->kind],
                             .root_no = movement->root_no,
                             .node_no = node_no,
                             .other_no = movement->from_no != 0 ? movement->to_no : 0,
                             .what = what,
                             .after = audit_end(&values),
                         });
}

void audit_adjustment(struct ledger *ledger)
{
    char what[RECORD_WHAT_BYTES];
    struct audit_values values;
    const struct adjustment *made = &ledger->plan.adjustment;
    const struct hold *hold = &ledger->view.hold;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    audit_begin(&values);
    audit_add_number(&values, "task", made->task);
    audit_add_number(&values, "attempt", made->attempt);
    audit_add_number(&values, "amount_mcs", made->amount_mcs);
    if (made->is_refund != 0) {
        audit_add_text(&values, "id", made->id);
    } else {
        audit_add_text(&values, "source", made->source);
    }
    audit_add_text(&values, "reason", made->reason);
    (void)snprintf(what, sizeof what, "holds/%s", hold->id);
    audit_change(ledger, &(struct audit_change){
                             .action = made->is_refund != 0 ? "refund" : "correct",
                             .root_no = hold->root_no,
                             .node_no = hold->member_no,
                             .what = what,
                             .after = audit_end(&values),
                         });
}

void audit_assigned(struct ledger *ledger, const struct command_charge *charge)
{
    char what[RECORD_WHAT_BYTES];
    struct audit_values values;
    const struct hold *hold = &ledger->view.hold;
    if (!audit_is_wanted(ledger)) {
        return;
    }
    audit_begin(&values);
    audit_add_text(&values, "account", charge->account);
    audit_add_text(&values, "user", charge->user);
    audit_add_text(&values, "project", ledger->view.nodes[1].node.name);
    audit_add_number(&values, "amount_mcs", hold->used_mcs);
    (void)snprintf(what, sizeof what, "holds/%s", hold->id);
    (void)audit_change(ledger, &(struct audit_change){
                                   .action = "charge.assign",
                                   .root_no = hold->root_no,
                                   .node_no = hold->member_no,
                                   .what = what,
                                   .after = audit_end(&values),
                               });
}
