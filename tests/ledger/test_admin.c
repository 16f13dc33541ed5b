/* Nodes, caps, clusters, mappings, rates, tokens: what may be put, changed, moved, closed. */
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "tests/ledger/book.h"

#define A_JOB INT64_C(4800000)

static enum error_code run(struct book *book, struct command command)
{
    return book_run(book, &command);
}

static struct command patch(enum node_kind kind, const char *name)
{
    struct command command = book_command(COMMAND_PATCH_NODE);
    command.node.kind = kind;
    (void)strcpy(command.node.name, name);
    command.if_match = MATCH_ANY;
    return command;
}

static struct command close_project(const char *name)
{
    struct command command = patch(NODE_PROJECT, name);
    command.node.given = 1u << NODE_FIELD_STATE;
    command.node.set.state = NODE_CLOSED;
    return command;
}

/* ---- If-Match */

ON_EVERY_BOOK(admin, a_change_needs_the_etag_and_the_same_again_does_not, 1)
{
    struct command put = book_project("vision", "acme");
    put.node.given |= 1u << NODE_FIELD_CONTACT;
    (void)strcpy(put.node.set.contact, "ann");
    cr_assert(eq(int, run(book, put), ERR_PRECONDITION_REQUIRED));
    put.if_match = MATCH_VERSION;
    put.if_version = 7;
    cr_assert(eq(int, run(book, put), ERR_PRECONDITION_FAILED));
    put.if_version = book_node(book, NODE_PROJECT, "vision", NULL).version;
    cr_assert(eq(int, run(book, put), ERR_OK));
    cr_assert(eq(i64, book->result.version, put.if_version + 1));
    cr_assert_str_eq(book->result.node.node.contact, "ann");
    put.if_match = MATCH_NONE;
    cr_assert(eq(int, run(book, put), ERR_OK));
    cr_assert(book->result.no_effect);
}

ON_EVERY_BOOK(admin, a_cap_is_made_without_a_condition_and_changed_with_one, 1)
{
    struct command cap = book_cap(NODE_PROJECT, "vision", CAP_JOBS, 3);
    cap.if_match = MATCH_NONE;
    cr_assert(eq(int, run(book, cap), ERR_OK));
    cr_assert(book->result.created);
    int64_t version = book->result.version;
    cr_assert(eq(int, run(book, cap), ERR_OK));
    cr_assert(book->result.no_effect);
    cap.cap.cap.limit = 4;
    cr_assert(eq(int, run(book, cap), ERR_PRECONDITION_REQUIRED));
    cap.if_match = MATCH_VERSION;
    cap.if_version = version;
    cr_assert(eq(int, run(book, cap), ERR_OK));
    cap.kind = COMMAND_DELETE_CAP;
    cr_assert(eq(int, run(book, cap), ERR_PRECONDITION_FAILED));
    cap.if_match = MATCH_ANY;
    cr_assert(eq(int, run(book, cap), ERR_OK));
    cr_assert(eq(int, run(book, cap), ERR_NOT_FOUND));
}

/* ---- the tree */

ON_EVERY_BOOK(admin, a_name_belongs_to_one_node_only, 1)
{
    cr_assert(
        eq(int, run(book, book_organization("vision", "acme", FUNDING_PARENT)), ERR_INVALID_STATE));
    cr_assert(eq(int, run(book, book_project("new", "nowhere")), ERR_NOT_FOUND));
    cr_assert(eq(int, run(book, book_project("Not A Name", "acme")), ERR_INVALID_FIELD));
    cr_assert(eq(int, run(book, book_organization("new", "", FUNDING_PARENT)), ERR_INVALID_FIELD));
    cr_assert(
        eq(int, run(book, book_organization("new", "acme", FUNDING_UNLIMITED)), ERR_INVALID_FIELD));
}

ON_EVERY_BOOK(admin, a_tree_is_eight_nodes_deep, 1)
{
    char above[16] = "acme";
    for (int level = 2; level <= 7; level++) {
        char name[16];
        (void)snprintf(name, sizeof name, "level%d", level);
        cr_assert(eq(int, run(book, book_organization(name, above, FUNDING_PARENT)), ERR_OK));
        (void)strcpy(above, name);
    }
    cr_assert(eq(int, run(book, book_project("deep", "level7")), ERR_OK));
    cr_assert(eq(int, run(book, book_organization("level8", "level7", FUNDING_PARENT)), ERR_OK));
    cr_assert(eq(int, run(book, book_project("deeper", "level8")), ERR_TOO_MANY_LEVELS));
    struct command move = patch(NODE_ORGANIZATION, "level2");
    move.node.given = 1u << NODE_FIELD_PARENT;
    (void)strcpy(move.node.parent, "level5");
    cr_assert(eq(int, run(book, move), ERR_INVALID_STATE));
    cr_assert(eq(int, run(book, book_organization("side", "acme", FUNDING_PARENT)), ERR_OK));
    (void)strcpy(move.node.parent, "side");
    cr_assert(eq(int, run(book, move), ERR_TOO_MANY_LEVELS));
}

ON_EVERY_BOOK(admin, a_node_moves_without_open_tasks_and_usage_keeps_its_path, 100)
{
    struct command move = patch(NODE_PROJECT, "vision");
    move.node.given = 1u << NODE_FIELD_PARENT;
    (void)strcpy(move.node.parent, "side");
    cr_assert(eq(int, run(book, book_organization("side", "acme", FUNDING_PARENT)), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, move), ERR_INVALID_STATE));
    book_pass_s(book, 60);
    cr_assert(eq(int, run(book, book_settle("h1", BOOK_START_S, BOOK_START_S + 60)), ERR_OK));
    cr_assert(eq(int, run(book, move), ERR_OK));
    cr_assert(eq(i64, book_balance(book, NODE_ORGANIZATION, "side", NULL).counter.used_mcs, 0));
    cr_assert(eq(i64, book_balance(book, NODE_PROJECT, "vision", NULL).counter.used_mcs, 960000));
    struct command correct = book_verb(COMMAND_CORRECT, "h1");
    correct.run.ended_at_s = BOOK_START_S + 30;
    (void)strcpy(correct.run.source, "sacct");
    (void)strcpy(correct.run.reason, "it ended earlier");
    cr_assert(eq(int, run(book, correct), ERR_OK), "%s", book->result.error.detail);
    cr_assert(eq(i64, book_balance(book, NODE_ORGANIZATION, "side", NULL).counter.used_mcs, 0));
    cr_assert(
        eq(i64, book_balance(book, NODE_ORGANIZATION, "acme", NULL).counter.used_mcs, 480000));
    cr_assert(eq(int, run(book, book_freeze("h2")), ERR_OK));
    cr_assert(
        eq(i64, book_balance(book, NODE_ORGANIZATION, "side", NULL).counter.frozen_mcs, A_JOB));
}

ON_EVERY_BOOK(admin, a_zone_is_fixed_after_the_first_usage, 100)
{
    struct command zone = patch(NODE_ORGANIZATION, "acme");
    zone.node.given = 1u << NODE_FIELD_TIMEZONE;
    (void)strcpy(zone.node.set.timezone, "Asia/Shanghai");
    cr_assert(eq(int, run(book, zone), ERR_OK));
    (void)strcpy(zone.node.set.timezone, "Nowhere/City");
    cr_assert(eq(int, run(book, zone), ERR_INVALID_FIELD));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    book_pass_s(book, 60);
    cr_assert(eq(int, run(book, book_settle("h1", BOOK_START_S, BOOK_START_S + 60)), ERR_OK));
    (void)strcpy(zone.node.set.timezone, "Europe/Berlin");
    cr_assert(eq(int, run(book, zone), ERR_INVALID_STATE));
}

ON_EVERY_BOOK(admin, the_month_of_a_cap_turns_in_the_zone_of_the_root, 100)
{
    struct command zone = patch(NODE_ORGANIZATION, "acme");
    zone.node.given = 1u << NODE_FIELD_TIMEZONE;
    (void)strcpy(zone.node.set.timezone, "Asia/Shanghai"); /* 8 h ahead, no daylight saving */
    cr_assert(eq(int, run(book, zone), ERR_OK));
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_MONTH, 1)), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(i64, book->result.refusal->limits[0].violation.resets_at_s,
                 BOOK_START_S + INT64_C(31) * 86400 - 8 * 3600));
}

ON_EVERY_BOOK(admin, a_closed_node_refuses_freezes_and_releases_what_waits, 100)
{
    struct command wait = book_freeze("h2");
    wait.freeze.on_insufficient = INSUFFICIENT_WAIT;
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_JOBS, 1)), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, run(book, wait), ERR_OK));
    cr_assert(book->result.waiting);
    cr_assert(eq(int, run(book, close_project("vision")), ERR_OK));
    cr_assert(eq(int, book_hold(book, "h2").state, TASK_RELEASED));
    cr_assert(eq(int, book_hold(book, "h1").state, TASK_FROZEN));
    cr_assert(eq(int, run(book, book_freeze("h3")), ERR_NODE_CLOSED));
    book_pass_s(book, 60);
    cr_assert(eq(int, run(book, book_settle("h1", BOOK_START_S, BOOK_START_S + 60)), ERR_OK));
    struct command reopen = close_project("vision");
    reopen.node.set.state = NODE_OPEN;
    cr_assert(eq(int, run(book, reopen), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h3")), ERR_OK));
}

ON_EVERY_BOOK(admin, what_no_longer_pays_may_have_nothing_left, 10)
{
    struct command funding = patch(NODE_ORGANIZATION, "side");
    struct command withdraw = book_command(COMMAND_WITHDRAW);
    cr_assert(eq(int, run(book, book_organization("side", "acme", FUNDING_SELF)), ERR_OK));
    cr_assert(eq(int, run(book, book_grant("g2", "side", BOOK_HOUR)), ERR_OK));
    funding.node.given = 1u << NODE_FIELD_FUNDING;
    funding.node.set.funding = FUNDING_PARENT;
    cr_assert(eq(int, run(book, funding), ERR_INVALID_STATE));
    (void)strcpy(withdraw.movement.id, "w1");
    (void)strcpy(withdraw.movement.from, "side");
    withdraw.movement.amount_mcs = BOOK_HOUR;
    cr_assert(eq(int, run(book, withdraw), ERR_OK));
    cr_assert(eq(int, run(book, funding), ERR_OK));
    cr_assert(eq(int, run(book, book_grant("g3", "side", 1)), ERR_NOT_FUNDED_HERE));
}

/* ---- members */

ON_EVERY_BOOK(admin, a_listed_project_takes_its_members_only, 100)
{
    struct command listed = patch(NODE_PROJECT, "vision");
    struct command member = book_command(COMMAND_PUT_NODE);
    listed.node.given = 1u << NODE_FIELD_MEMBERSHIP;
    listed.node.set.membership = MEMBERSHIP_LISTED;
    cr_assert(eq(int, run(book, listed), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_NOT_A_MEMBER));
    cr_assert(eq(int, run(book, book_cap(NODE_MEMBER, "alice", CAP_JOBS, 1)), ERR_NOT_FOUND));
    member.node.kind = NODE_MEMBER;
    (void)strcpy(member.node.name, "alice");
    (void)strcpy(member.node.parent, "vision");
    cr_assert(eq(int, run(book, member), ERR_OK));
    cr_assert(book->result.created);
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
}

ON_EVERY_BOOK(admin, use_by_someone_who_is_no_member_does_not_make_him_one, 100)
{
    struct command listed = patch(NODE_PROJECT, "vision");
    struct command charge = book_command(COMMAND_CHARGE);
    listed.node.given = 1u << NODE_FIELD_MEMBERSHIP;
    listed.node.set.membership = MEMBERSHIP_LISTED;
    cr_assert(eq(int, run(book, listed), ERR_OK));
    (void)strcpy(charge.cluster, "alpha");
    (void)strcpy(charge.charge.id, "c1");
    (void)strcpy(charge.charge.account, "vision");
    (void)strcpy(charge.charge.user, "alice");
    charge.charge.run.resources = book_freeze("x").freeze.resources;
    charge.charge.run.started_at_s = BOOK_START_S - 60;
    charge.charge.run.ended_at_s = BOOK_START_S;
    cr_assert(eq(int, run(book, charge), ERR_OK));
    cr_assert(eq(i64, book->result.warnings & FLAG_NON_MEMBER, FLAG_NON_MEMBER));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_NOT_A_MEMBER));
}

ON_EVERY_BOOK(admin, the_star_holds_the_caps_of_those_without_their_own, 100)
{
    cr_assert(eq(int, run(book, book_cap(NODE_MEMBER, "*", CAP_JOBS, 1)), ERR_OK));
    cr_assert(eq(int, run(book, book_cap(NODE_MEMBER, "bob", CAP_JOBS, 2)), ERR_OK));
    struct command freeze = book_freeze("a1");
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    (void)strcpy(freeze.freeze.id, "a2");
    cr_assert(eq(int, run(book, freeze), ERR_QUOTA_INSUFFICIENT));
    cr_assert_str_eq(book->result.refusal->limits[0].violation.node, "alice");
    (void)strcpy(freeze.freeze.user, "bob");
    for (int i = 1; i <= 3; i++) {
        (void)snprintf(freeze.freeze.id, sizeof freeze.freeze.id, "b%d", i);
        cr_assert(eq(int, run(book, freeze), i <= 2 ? ERR_OK : ERR_QUOTA_INSUFFICIENT));
    }
    struct command unlimited = book_cap(NODE_MEMBER, "bob", CAP_JOBS, RECORD_UNLIMITED);
    cr_assert(eq(int, run(book, unlimited), ERR_OK));
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    (void)strcpy(freeze.freeze.id, "s1");
    (void)strcpy(freeze.freeze.user, "*");
    cr_assert(eq(int, run(book, freeze), ERR_INVALID_FIELD));
}

ON_EVERY_BOOK(admin, a_soft_cap_warns, 100)
{
    struct command cap = book_cap(NODE_PROJECT, "vision", CAP_MONTH, 1);
    cap.cap.cap.soft = 1;
    cr_assert(eq(int, run(book, cap), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(int, book->result.soft_count, 1));
    cr_assert(eq(int, book->result.soft[0].kind, CAP_MONTH));
}

/* ---- clusters */

ON_EVERY_BOOK(admin, accounts_and_users_mean_what_a_mapping_says, 100)
{
    struct command mapping = book_command(COMMAND_PUT_MAPPING);
    struct command freeze = book_freeze("h1");
    (void)strcpy(mapping.cluster, "alpha");
    (void)strcpy(mapping.mapping.name, "physics");
    (void)strcpy(mapping.mapping.target, "vision");
    cr_assert(eq(int, run(book, mapping), ERR_OK));
    cr_assert(eq(int, run(book, mapping), ERR_OK));
    cr_assert(book->result.no_effect);
    (void)strcpy(mapping.mapping.target, "nowhere");
    cr_assert(eq(int, run(book, mapping), ERR_NOT_FOUND));
    mapping.mapping.is_user = true;
    (void)strcpy(mapping.mapping.name, "a.smith");
    (void)strcpy(mapping.mapping.target, "alice");
    cr_assert(eq(int, run(book, mapping), ERR_OK));
    (void)strcpy(freeze.freeze.account, "physics");
    (void)strcpy(freeze.freeze.user, "a.smith");
    cr_assert(eq(int, run(book, freeze), ERR_OK));
    cr_assert_str_eq(book->result.hold.project, "vision");
    cr_assert_str_eq(book->result.hold.user, "alice");
}

ON_EVERY_BOOK(admin, a_cluster_knows_the_accounts_of_its_roots_only, 100)
{
    struct command cluster = book_command(COMMAND_PATCH_CLUSTER);
    cr_assert(eq(int, run(book, book_organization("bolt", "", FUNDING_UNLIMITED)), ERR_OK));
    (void)strcpy(cluster.cluster, "alpha");
    cluster.if_match = MATCH_ANY;
    cluster.cluster_set.given = 1u << CLUSTER_FIELD_ROOTS;
    cluster.cluster_set.root_count = 1;
    (void)strcpy(cluster.cluster_set.roots[0], "vision");
    cr_assert(eq(int, run(book, cluster), ERR_NOT_FOUND));
    (void)strcpy(cluster.cluster_set.roots[0], "bolt");
    cr_assert(eq(int, run(book, cluster), ERR_OK));
    cr_assert_str_eq(book->result.cluster.roots[0], "bolt");
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_UNKNOWN_ACCOUNT));
    struct command freeze = book_freeze("h1");
    (void)strcpy(freeze.cluster, "nowhere");
    cr_assert(eq(int, run(book, freeze), ERR_UNKNOWN_CLUSTER));
}

ON_EVERY_BOOK(admin, rates_in_use_never_change_and_new_ones_begin_after_booked_usage, 100)
{
    cr_assert(eq(int, book_put_rates(book, "alpha", 1, 1767225600), ERR_OK));
    cr_assert(book->result.no_effect);
    cr_assert(eq(int, book_put_rates(book, "alpha", 2, BOOK_START_S + 3600), ERR_OK));
    cr_assert(
        eq(int, book_put_rates(book, "alpha", 2, BOOK_START_S + 7200), ERR_PRECONDITION_REQUIRED));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_OK));
    cr_assert(eq(i64, book->result.hold.hold.card_version, 1));
    cr_assert(eq(int, book_put_rates(book, "alpha", 1, 1767225601), ERR_INVALID_STATE));
    book_pass_s(book, 60);
    cr_assert(eq(int, run(book, book_settle("h1", BOOK_START_S, BOOK_START_S + 60)), ERR_OK));
    cr_assert(eq(int, book_put_rates(book, "alpha", 3, BOOK_START_S + 59), ERR_INVALID_STATE));
    cr_assert(eq(int, book_put_rates(book, "alpha", 3, BOOK_START_S + 60), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h2")), ERR_OK));
    cr_assert(eq(i64, book->result.hold.hold.card_version, 3));
    book_pass_s(book, 7200);
    cr_assert(eq(int, run(book, book_freeze("h3")), ERR_OK));
    cr_assert(eq(i64, book->result.hold.hold.card_version, 2));
}

ON_EVERY_BOOK(admin, a_token_is_known_by_its_hash_and_revoked_by_its_id, 1)
{
    struct command put = book_command(COMMAND_PUT_TOKEN);
    struct token *token = &put.token.token;
    token->hash = digest_of("secret", 6);
    token->role = ROLE_SCHEDULER;
    (void)strcpy(token->id, "t1");
    (void)strcpy(token->name, "slurm");
    (void)strcpy(token->place, "nowhere");
    cr_assert(eq(int, run(book, put), ERR_NOT_FOUND));
    (void)strcpy(token->place, "alpha");
    cr_assert(eq(int, run(book, put), ERR_OK));
    cr_assert(eq(int, run(book, put), ERR_ID_REUSED));
    struct command touch = book_command(COMMAND_TOUCH_TOKEN);
    touch.due.token = token->hash;
    cr_assert(eq(int, run(book, touch), ERR_OK));
    cr_assert(not(book->result.no_effect));
    cr_assert(eq(int, run(book, touch), ERR_OK));
    cr_assert(book->result.no_effect);
    struct command revoke = book_command(COMMAND_REVOKE_TOKEN);
    (void)strcpy(revoke.token.token.id, "t2");
    cr_assert(eq(int, run(book, revoke), ERR_NOT_FOUND));
    (void)strcpy(revoke.token.token.id, "t1");
    cr_assert(eq(int, run(book, revoke), ERR_OK));
}

ON_EVERY_BOOK(admin, a_dry_run_of_a_put_leaves_no_trace, 1)
{
    struct command put = book_organization("side", "acme", FUNDING_SELF);
    put.dry_run = true;
    cr_assert(eq(int, run(book, put), ERR_OK));
    cr_assert(book->result.created);
    put.dry_run = false;
    cr_assert(eq(int, run(book, put), ERR_OK));
    cr_assert(book->result.created);
    struct command zone = patch(NODE_ORGANIZATION, "acme");
    zone.node.given = 1u << NODE_FIELD_TIMEZONE;
    (void)strcpy(zone.node.set.timezone, "Asia/Shanghai");
    zone.dry_run = true;
    cr_assert(eq(int, run(book, zone), ERR_OK));
    cr_assert(eq(int, run(book, book_cap(NODE_PROJECT, "vision", CAP_MONTH, 1)), ERR_OK));
    cr_assert(eq(int, run(book, book_freeze("h1")), ERR_QUOTA_INSUFFICIENT));
    cr_assert(eq(i64, book->result.refusal->limits[0].violation.resets_at_s,
                 BOOK_START_S + INT64_C(31) * 86400));
}
