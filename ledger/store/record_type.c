/*
 * The descriptors of all records.
 *
 * Fields stand in the order of columns. The size of each struct member is checked where it is
 * described; tests/ledger/store/test_record_type.c checks that no member is left out.
 */
#include "ledger/store/record_type.h"

/* Names of members stand bare in offsetof(). NOLINTBEGIN(bugprone-macro-parentheses) */
#define MEMBER(type, member)      (((const struct type *)0)->member)
#define MEMBER_SIZE(type, member) sizeof MEMBER(type, member)

/* 0, or a compile error where a member is not as large as its kind says. */
#define CHECKED(condition) (0 * sizeof(char[(condition) ? 1 : -1]))

#define I64_AS(type, column, member)                                                       \
    {                                                                                      \
        .name = (column), .kind = FIELD_I64,                                               \
        .offset = offsetof(struct type, member) + CHECKED(MEMBER_SIZE(type, member) == 8), \
    }
#define I64(type, member) I64_AS(type, #member, member)

#define I64_FIXED(type, member)                                                            \
    {                                                                                      \
        .name = #member, .kind = FIELD_I64, .fixed = true,                                 \
        .offset = offsetof(struct type, member) + CHECKED(MEMBER_SIZE(type, member) == 8), \
    }

#define I32(type, member)                                                                  \
    {                                                                                      \
        .name = #member, .kind = FIELD_I32,                                                \
        .offset = offsetof(struct type, member) + CHECKED(MEMBER_SIZE(type, member) == 4), \
    }

#define TEXT_AS(type, column, member)                                                  \
    {                                                                                  \
        .name = (column), .kind = FIELD_TEXT, .offset = offsetof(struct type, member), \
        .size = MEMBER_SIZE(type, member),                                             \
    }
#define TEXT(type, member) TEXT_AS(type, #member, member)

#define BLOB(type, member)                                                            \
    {                                                                                 \
        .name = #member, .kind = FIELD_BLOB, .offset = offsetof(struct type, member), \
        .size = MEMBER_SIZE(type, member),                                            \
    }

#define LIST_AS(type, column, member, count)                                                      \
    {                                                                                             \
        .name = (column), .kind = FIELD_LIST,                                                     \
        .offset = offsetof(struct type, member) + CHECKED(MEMBER_SIZE(type, member[0]) % 8 == 0), \
        .size = MEMBER_SIZE(type, member) / MEMBER_SIZE(type, member[0]),                         \
        .count_offset = offsetof(struct type, count) + CHECKED(MEMBER_SIZE(type, count) == 4),    \
        .columns = MEMBER_SIZE(type, member[0]) / 8,                                              \
    }
#define LIST(type, member, count) LIST_AS(type, #member, member, count)
/* NOLINTEND(bugprone-macro-parentheses) */

/* One field a line. */
/* clang-format off */

static const struct record_field node_fields[] = {
    I64(node, node_no),
    I64(node, root_no),
    I64(node, parent_no),
    I32(node, kind),
    I32(node, state),
    I32(node, funding),
    I32(node, membership),
    I32(node, mode),
    I32(node, on_insufficient),
    I32(node, fiscal_year_start),
    I32(node, names_visible),
    I64(node, window_s),
    I64(node, ttl_s),
    I64(node, waived_outcomes),
    I64(node, overdraft_mcs),
    I64(node, default_member_no),
    I64(node, version),
    I64(node, created_ms),
    I64(node, flags),
    TEXT(node, name),
    TEXT(node, contact),
    TEXT(node, timezone),
    LIST(node, caps, cap_count),
};

static const struct record_field name_fields[] = {
    I64(name, space),
    I64(name, scope_no),
    TEXT(name, name),
    I64(name, target_no),
    TEXT(name, target),
    I64(name, version),
};

static const struct record_field counter_fields[] = {
    I64(counter, node_no),
    I64(counter, used_mcs),
    I64(counter, frozen_mcs),
    I64(counter, waiting_mcs),
    I64(counter, jobs),
    I64(counter, mcores),
    I64(counter, mgpus),
    I64(counter, open_tasks),
    I64(counter, waiting_tasks),
    LIST(counter, models, model_count),
};

static const struct record_field node_month_fields[] = {
    I64(node_month, node_no),
    I64(node_month, month),
    I64(node_month, used_mcs),
};

static const struct record_field cluster_fields[] = {
    I64(cluster, cluster_no),
    I32(cluster, kind),
    I32(cluster, mode),
    I32(cluster, on_insufficient),
    I32(cluster, on_exhausted),
    I32(cluster, fail_policy),
    I32(cluster, state),
    I64(cluster, window_s),
    I64(cluster, stop_grace_s),
    I64(cluster, ttl_s),
    I64(cluster, heartbeat_s),
    I64(cluster, stale_after_s),
    I64(cluster, agent_seen_s),
    I64(cluster, agent_resumed_s),
    I64(cluster, feed_seq),
    I64(cluster, used_until_s),
    I64(cluster, version),
    I64(cluster, created_ms),
    TEXT(cluster, name),
    LIST(cluster, roots, root_count),
};

static const struct record_field rate_version_fields[] = {
    I64(rate_version, cluster_no),
    I64(rate_version, version),
    I64(rate_version, effective_from_s),
    I32(rate_version, combine),
    I32(rate_version, used),
    I32(rate_version, row_count),
    I64(rate_version, price_micro),
    I64(rate_version, created_ms),
    TEXT(rate_version, currency),
};

static const struct record_field rate_row_fields[] = {
    I64(rate_row, cluster_no),
    I64(rate_row, version),
    I64_AS(rate_row, "row_no", row),
    I64(rate_row, permille),
    I64(rate_row, core_mcores),
    I64(rate_row, gib_mcores),
    I64(rate_row, gpu_default_mcores),
    TEXT(rate_row, partition),
    TEXT(rate_row, qos),
    LIST(rate_row, gpus, gpu_count),
};

static const struct record_field grant_fields[] = {
    I64(grant, grant_no),
    I64_FIXED(grant, root_no),
    I64_FIXED(grant, node_no),
    I32(grant, kind),
    I32(grant, ended),
    I64_FIXED(grant, start_s),
    I64_FIXED(grant, end_s),
    I64(grant, granted_mcs),
    I64(grant, in_mcs),
    I64(grant, out_mcs),
    I64(grant, withdrawn_mcs),
    I64(grant, moved_mcs),
    I64(grant, available_mcs),
    I64(grant, frozen_mcs),
    I64(grant, used_mcs),
    I64(grant, expired_mcs),
    I64(grant, created_ms),
    TEXT(grant, id),
    TEXT(grant, note),
};

static const struct record_field movement_fields[] = {
    I64(movement, movement_no),
    I64(movement, root_no),
    I32(movement, kind),
    I64(movement, from_no),
    I64(movement, to_no),
    I64(movement, grant_no),
    I64(movement, amount_mcs),
    I64(movement, at_ms),
    BLOB(movement, content),
    TEXT(movement, id),
    TEXT(movement, note),
};

static const struct record_field hold_fields[] = {
    I64(hold, hold_no),
    I64_FIXED(hold, root_no),
    I64_FIXED(hold, cluster_no),
    I64_FIXED(hold, project_no),
    I64_FIXED(hold, member_no),
    I64(hold, payer_no),
    I64(hold, dims_no),
    I64(hold, wait_no),
    I64(hold, created_ms),
    I64(hold, bound_ms),
    I64(hold, due_s),
    I64(hold, seen_s),
    I64(hold, ttl_s),
    I64(hold, window_s),
    I64(hold, time_limit_s),
    I64(hold, tasks),
    I64(hold, max_running),
    I32(hold, mode),
    I32(hold, on_insufficient),
    I32(hold, untouched_state),
    I32(hold, last_terminal),
    I64(hold, untouched),
    I64_AS(hold, "count_waiting", counts[TASK_WAITING]),
    I64_AS(hold, "count_frozen", counts[TASK_FROZEN]),
    I64_AS(hold, "count_running", counts[TASK_RUNNING]),
    I64_AS(hold, "count_suspended", counts[TASK_SUSPENDED]),
    I64_AS(hold, "count_settled", counts[TASK_SETTLED]),
    I64_AS(hold, "count_released", counts[TASK_RELEASED]),
    I64_AS(hold, "count_expired", counts[TASK_EXPIRED]),
    I64(hold, own_open),
    I64(hold, card_version),
    I64(hold, rate_mcores),
    I64(hold, mgpus),
    I64(hold, seconds),
    I64(hold, frozen_mcs),
    I64(hold, used_mcs),
    I64(hold, flags),
    BLOB(hold, content),
    I64_AS(hold, "cores", resources.cores),
    I64_AS(hold, "memory_mib", resources.memory_mib),
    LIST_AS(hold, "gpus", resources.gpus, resources.gpu_count),
    LIST(hold, draws, draw_count),
    TEXT(hold, id),
    TEXT(hold, job_id),
    TEXT(hold, job_key),
    TEXT(hold, job_name),
    TEXT(hold, partition),
    TEXT(hold, qos),
};

static_assert(TASK__COUNT == 7, "every task state has its column in hold_fields");

static const struct record_field hold_id_fields[] = {
    I64(hold_id, cluster_no),
    TEXT(hold_id, id),
    I64(hold_id, hold_no),
};

static const struct record_field job_fields[] = {
    I64(job, cluster_no),
    I64(job, by_key),
    TEXT_AS(job, "job_key", key),
    I64(job, hold_no),
};

static const struct record_field task_fields[] = {
    I64(task, hold_no),
    I64(task, task),
    I32(task, state),
    I32(task, attempt),
    I32(task, older_open),
    I64(task, wait_no),
};

static const struct record_field run_fields[] = {
    I64(run, hold_no),
    I64(run, task),
    I64(run, attempt),
    I64(run, root_no),
    I32(run, state),
    I32(run, outcome),
    I32(run, waived),
    I32(run, own_resources),
    I64(run, frozen_mcs),
    I64(run, started_s),
    I64(run, booked_until_s),
    I64(run, ended_s),
    I64(run, seen_s),
    I64(run, limit_s),
    I64(run, charged_mcs),
    I64(run, refunded_mcs),
    I64(run, flags),
    I64(run, settled_frozen_mcs),
    I64(run, returned_mcs),
    I64(run, overrun_mcs),
    I64(run, waived_mcs),
    I64(run, expired_mcs),
    BLOB(run, settled),
    I64_AS(run, "cores", resources.cores),
    I64_AS(run, "memory_mib", resources.memory_mib),
    LIST_AS(run, "gpus", resources.gpus, resources.gpu_count),
    LIST(run, segments, segment_count),
    LIST(run, suspensions, suspension_count),
    LIST(run, draws, draw_count),
    LIST(run, refunds, refund_count),
    TEXT(run, run_key),
};

static const struct record_field run_host_fields[] = {
    I64(run_host, hold_no),
    I64(run_host, task),
    I64(run_host, attempt),
    TEXT(run_host, host),
};

static const struct record_field adjustment_fields[] = {
    I64(adjustment, adjustment_no),
    I64(adjustment, root_no),
    I64(adjustment, hold_no),
    I64(adjustment, task),
    I64(adjustment, attempt),
    I64(adjustment, is_refund),
    I64(adjustment, amount_mcs),
    I64(adjustment, at_ms),
    BLOB(adjustment, content),
    TEXT(adjustment, id),
    TEXT(adjustment, source),
    TEXT(adjustment, reason),
};

static const struct record_field release_fields[] = {
    I64(release, hold_no),
    TEXT(release, tasks),
    I64(release, refunded_mcs),
    I64(release, expired_mcs),
};

static const struct record_field waiting_fields[] = {
    I64(waiting, root_no),
    I64(waiting, wait_no),
    I64(waiting, hold_no),
    I64(waiting, task),
    I64(waiting, dims_no),
    LIST(waiting, limits, limit_count),
};

static const struct record_field feed_event_fields[] = {
    I64(feed_event, cluster_no),
    I64(feed_event, seq),
    I32(feed_event, type),
    I64(feed_event, hold_no),
    I64(feed_event, at_ms),
    TEXT(feed_event, tasks),
    TEXT(feed_event, message),
};

static const struct record_field entry_fields[] = {
    I64(entry, root_no),
    I64(entry, seq),
    I32(entry, kind),
    I32(entry, from_part),
    I32(entry, to_part),
    I64(entry, from_grant_no),
    I64(entry, to_grant_no),
    I64(entry, amount_mcs),
    I64(entry, hold_no),
    I64(entry, task),
    I64(entry, attempt),
    I64(entry, month),
    I64(entry, period),
    I64(entry, at_ms),
};

static const struct record_field chain_link_fields[] = {
    I64(chain_link, root_no),
    I64(chain_link, txn_no),
    I64(chain_link, first_seq),
    I64(chain_link, last_seq),
    I64(chain_link, at_ms),
    BLOB(chain_link, hash),
    I64(chain_link, first_audit),
    I64(chain_link, last_audit),
};

static const struct record_field root_state_fields[] = {
    I64(root_state, root_no),
    I64(root_state, last_seq),
    I64(root_state, last_txn),
    I64(root_state, last_wait),
    I64(root_state, last_ms),
    I64(root_state, turned_month),
    I64(root_state, oldest_open_month),
    BLOB(root_state, hash),
    I64(root_state, last_audit),
};

static const struct record_field dims_fields[] = {
    I64(dims, dims_no),
    I64(dims, root_no),
    I64(dims, project_no),
    I64(dims, member_no),
    I64(dims, cluster_no),
    I64(dims, card_version),
    TEXT(dims, partition),
    TEXT(dims, qos),
    TEXT(dims, gpu_model),
    LIST(dims, path, path_count),
};

static const struct record_field usage_fields[] = {
    I64(usage, root_no),
    I64(usage, month),
    I64(usage, day),
    I64(usage, dims_no),
    I64(usage, kind),
    I64(usage, outcome),
    I64(usage, period),
    I64(usage, used_mcs),
    I64(usage, mgs),
    I64(usage, waived_mcs),
    I64(usage, runs),
    I64(usage, unfrozen_mcs),
};

static const struct record_field zone_step_fields[] = {
    I64(zone_step, root_no),
    I64(zone_step, step),
    I64(zone_step, at_s),
    I64(zone_step, offset_s),
};

static const struct record_field sequence_fields[] = {
    TEXT(sequence, name),
    I64_AS(sequence, "last_no", last),
};

static const struct record_field token_fields[] = {
    BLOB(token, hash),
    I64(token, token_no),
    I32(token, role),
    I32(token, revoked),
    I64(token, place_no),
    I64(token, expires_s),
    I64(token, used_s),
    I64(token, created_ms),
    TEXT(token, id),
    TEXT(token, name),
    TEXT(token, place),
    BLOB(token, old_hash),
    I64(token, old_until_s),
};

static const struct record_field unattributed_fields[] = {
    I64(unattributed, cluster_no),
    TEXT(unattributed, id),
    I64(unattributed, rate_mcores),
    I64(unattributed, used_mcs),
    I64(unattributed, started_s),
    I64(unattributed, ended_s),
    I64(unattributed, suspended_s),
    I64(unattributed, at_ms),
    I32(unattributed, outcome),
    BLOB(unattributed, content),
    TEXT(unattributed, account),
    TEXT_AS(unattributed, "user_name", user),
    TEXT(unattributed, job_key),
    TEXT(unattributed, run_key),
    TEXT(unattributed, job_name),
    TEXT(unattributed, partition),
    TEXT(unattributed, qos),
    TEXT(unattributed, hosts),
    I64_AS(unattributed, "cores", resources.cores),
    I64_AS(unattributed, "memory_mib", resources.memory_mib),
    LIST_AS(unattributed, "gpus", resources.gpus, resources.gpu_count),
};

static const struct record_field audit_fields[] = {
    I64(audit, audit_no),
    I64(audit, root_no),
    I64(audit, seq),
    I64(audit, at_ms),
    I64(audit, node_no),
    I64(audit, other_no),
    I64(audit, token_no),
    I64(audit, role),
    I64(audit, renamed_no),
    BLOB(audit, content),
    TEXT(audit, action),
    TEXT(audit, who),
    TEXT(audit, name),
    TEXT(audit, address),
    TEXT(audit, what),
    TEXT_AS(audit, "value_before", before),
    TEXT_AS(audit, "value_after", after),
};

static const struct record_field payer_month_fields[] = {
    I64(payer_month, node_no),
    I64(payer_month, month),
    I64(payer_month, root_no),
    I64_AS(payer_month, "granted_mcs", flow.granted_mcs),
    I64_AS(payer_month, "in_mcs", flow.in_mcs),
    I64_AS(payer_month, "out_mcs", flow.out_mcs),
    I64_AS(payer_month, "withdrawn_mcs", flow.withdrawn_mcs),
    I64_AS(payer_month, "used_mcs", flow.used_mcs),
    I64_AS(payer_month, "refunded_mcs", flow.refunded_mcs),
    I64_AS(payer_month, "corrected_mcs", flow.corrected_mcs),
    I64_AS(payer_month, "expired_mcs", flow.expired_mcs),
};

static const struct record_field period_fields[] = {
    I64(period, root_no),
    I64(period, month),
    I64(period, closing_month),
    I64(period, closed_ms),
    I64(period, txn_no),
    I64(period, last_seq),
    I64(period, last_hold_no),
    I64(period, format),
    I64(period, sealed),
    I64(period, row_count),
    I64(period, used_mcs),
    I64(period, mgs),
    I64(period, waived_mcs),
    I64(period, runs),
    BLOB(period, digest),
};

static const struct record_field close_grant_fields[] = {
    I64(close_grant, root_no),
    I64(close_grant, month),
    I64(close_grant, grant_no),
    I64(close_grant, node_no),
    I64(close_grant, granted_mcs),
    I64(close_grant, in_mcs),
    I64(close_grant, out_mcs),
    I64(close_grant, withdrawn_mcs),
    I64(close_grant, moved_mcs),
    I64(close_grant, available_mcs),
    I64(close_grant, frozen_mcs),
    I64(close_grant, used_mcs),
    I64(close_grant, expired_mcs),
};

static const struct record_field close_payer_fields[] = {
    I64(close_payer, root_no),
    I64(close_payer, month),
    I64(close_payer, booked_month),
    I64(close_payer, node_no),
    I64_AS(close_payer, "granted_mcs", flow.granted_mcs),
    I64_AS(close_payer, "in_mcs", flow.in_mcs),
    I64_AS(close_payer, "out_mcs", flow.out_mcs),
    I64_AS(close_payer, "withdrawn_mcs", flow.withdrawn_mcs),
    I64_AS(close_payer, "used_mcs", flow.used_mcs),
    I64_AS(close_payer, "refunded_mcs", flow.refunded_mcs),
    I64_AS(close_payer, "corrected_mcs", flow.corrected_mcs),
    I64_AS(close_payer, "expired_mcs", flow.expired_mcs),
};

static const struct record_field chain_note_fields[] = {
    I64(chain_note, root_no),
    I64(chain_note, txn_no),
    I64(chain_note, note_no),
    I64(chain_note, kind),
    I64(chain_note, subject),
    I64(chain_note, at_ms),
    BLOB(chain_note, digest),
};

static const struct record_field webhook_fields[] = {
    I64(webhook, webhook_no),
    I64(webhook, root_no),
    I64(webhook, node_no),
    I64(webhook, types),
    I64(webhook, disabled),
    I64(webhook, grant_days),
    I64(webhook, version),
    I64(webhook, created_ms),
    I64(webhook, old_until_ms),
    TEXT(webhook, name),
    TEXT(webhook, url),
    TEXT(webhook, secret),
    TEXT(webhook, old_secret),
    I64(webhook, pending),
};

static const struct record_field alert_fields[] = {
    I64(alert, alert_no),
    I64(alert, type),
    I64(alert, root_no),
    I64(alert, node_no),
    I64(alert, other_no),
    I64(alert, cap_kind),
    I64(alert, percent),
    I64(alert, limit_mcs),
    I64(alert, used_mcs),
    I64(alert, frozen_mcs),
    I64(alert, until_s),
    I64(alert, holds),
    I64(alert, at_ms),
    I64(alert, deliveries),
};

static const struct record_field alert_state_fields[] = {
    I64(alert_state, type),
    I64(alert_state, subject_no),
    I64(alert_state, detail_no),
    I64(alert_state, epoch),
    I64(alert_state, window_s),
    I64(alert_state, level),
};

static const struct record_field delivery_fields[] = {
    I64(delivery, delivery_no),
    I64(delivery, webhook_no),
    I64(delivery, alert_no),
    I64(delivery, state),
    I64(delivery, tries),
    I64(delivery, next_ms),
    I64(delivery, at_ms),
    I64(delivery, done_ms),
    I64(delivery, status),
    TEXT(delivery, error),
};

/* clang-format on */

#define ROW(number, type, keys, appends)         \
    [number] = {                                 \
        .name = #type,                           \
        .id = (number),                          \
        .bytes = sizeof(struct type),            \
        .key_count = (keys),                     \
        .field_count = ARRAY_LEN(type##_fields), \
        .append_only = (appends),                \
        .fields = type##_fields,                 \
    }

const struct record_type record_types[RECORD__COUNT] = {
    ROW(RECORD_NODE, node, 1, false),
    ROW(RECORD_NAME, name, 3, false),
    ROW(RECORD_COUNTER, counter, 1, false),
    ROW(RECORD_NODE_MONTH, node_month, 2, false),
    ROW(RECORD_CLUSTER, cluster, 1, false),
    ROW(RECORD_RATE_VERSION, rate_version, 2, false),
    ROW(RECORD_RATE_ROW, rate_row, 3, false),
    ROW(RECORD_GRANT, grant, 1, false),
    ROW(RECORD_MOVEMENT, movement, 1, false),
    ROW(RECORD_HOLD, hold, 1, false),
    ROW(RECORD_HOLD_ID, hold_id, 2, false),
    ROW(RECORD_JOB, job, 3, false),
    ROW(RECORD_TASK, task, 2, false),
    ROW(RECORD_RUN, run, 3, false),
    ROW(RECORD_RUN_HOST, run_host, 4, false),
    ROW(RECORD_ADJUSTMENT, adjustment, 1, false),
    ROW(RECORD_RELEASE, release, 2, false),
    ROW(RECORD_WAITING, waiting, 2, false),
    ROW(RECORD_FEED_EVENT, feed_event, 2, false),
    ROW(RECORD_ENTRY, entry, 2, true),
    ROW(RECORD_CHAIN_LINK, chain_link, 2, true),
    ROW(RECORD_ROOT_STATE, root_state, 1, false),
    ROW(RECORD_DIMS, dims, 1, false),
    ROW(RECORD_USAGE, usage, 7, false),
    ROW(RECORD_ZONE_STEP, zone_step, 2, false),
    ROW(RECORD_SEQUENCE, sequence, 1, false),
    ROW(RECORD_TOKEN, token, 1, false),
    ROW(RECORD_UNATTRIBUTED, unattributed, 2, false),
    ROW(RECORD_AUDIT, audit, 1, false),
    ROW(RECORD_PAYER_MONTH, payer_month, 2, false),
    ROW(RECORD_PERIOD, period, 2, false),
    ROW(RECORD_CLOSE_GRANT, close_grant, 3, true),
    ROW(RECORD_CLOSE_PAYER, close_payer, 4, true),
    ROW(RECORD_CHAIN_NOTE, chain_note, 3, true),
    ROW(RECORD_WEBHOOK, webhook, 1, false),
    ROW(RECORD_ALERT, alert, 1, false),
    ROW(RECORD_ALERT_STATE, alert_state, 3, false),
    ROW(RECORD_DELIVERY, delivery, 1, false),
};
