/* See audit.h. */
#include "ledger/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ledger/apply.h"
#include "ledger/base/text.h"

/* ---- values */

static void add_bytes(struct audit_values *values, const char *bytes, size_t length)
{
    const size_t room = sizeof values->text - 1;
    if (values->bytes < room) {
        const size_t left = room - values->bytes;
        const size_t kept = length < left ? length : left;
        memcpy(values->text + values->bytes, bytes, kept);
        values->text[values->bytes + kept] = '\0';
    }
    values->bytes += length;
    digest_update(&values->state, bytes, length);
}

static void add_quoted(struct audit_values *values, const char *text)
{
    add_bytes(values, "\"", 1);
    for (const char *at = text; *at != '\0'; at++) {
        char escape[8];
        if (*at == '"' || *at == '\\') {
            escape[0] = '\\';
            escape[1] = *at;
            add_bytes(values, escape, 2);
        } else if ((unsigned char)*at < 0x20) {
            (void)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(unsigned char)*at);
            add_bytes(values, escape, 6);
        } else {
            add_bytes(values, at, 1);
        }
    }
    add_bytes(values, "\"", 1);
}

static void add_name(struct audit_values *values, const char *name)
{
    if (values->bytes > 1) {
        add_bytes(values, ", ", 2);
    }
    add_quoted(values, name);
    add_bytes(values, ": ", 2);
}

void audit_begin(struct audit_values *values)
{
    values->bytes = 0;
    digest_init(&values->state);
    add_bytes(values, "{", 1);
}

void audit_add_text(struct audit_values *values, const char *name, const char *text)
{
    add_name(values, name);
    add_quoted(values, text);
}

void audit_add_number(struct audit_values *values, const char *name, int64_t number)
{
    char text[24];
    const int bytes = snprintf(text, sizeof text, "%" PRId64, number);
    add_name(values, name);
    add_bytes(values, text, (size_t)bytes);
}

void audit_add_flag(struct audit_values *values, const char *name, bool flag)
{
    add_name(values, name);
    add_bytes(values, flag ? "true" : "false", flag ? 4 : 5);
}

void audit_add_null(struct audit_values *values, const char *name)
{
    add_name(values, name);
    add_bytes(values, "null", 4);
}

void audit_add_time(struct audit_values *values, const char *name, int64_t time_s)
{
    char text[TEXT_TIME_BYTES];
    if (time_s == 0) {
        audit_add_null(values, name);
    } else {
        audit_add_text(values, name, text_format_time(time_s, text));
    }
}

void audit_add_names(struct audit_values *values,
                     const char *name,
                     int64_t bits,
                     const char *const *names)
{
    const char *before = "[";
    add_name(values, name);
    for (int i = 0; i < 63; i++) {
        if ((bits >> i & 1) != 0) {
            add_bytes(values, before, strlen(before));
            add_quoted(values, names[i]);
            before = ", ";
        }
    }
    add_bytes(values, bits == 0 ? "[]" : "]", bits == 0 ? 2 : 1);
}

const char *audit_end(struct audit_values *values)
{
    add_bytes(values, "}", 1);
    if (values->bytes >= sizeof values->text) {
        char hex[DIGEST_TEXT_BYTES];
        const struct digest digest = digest_finish(&values->state);
        (void)snprintf(values->text, sizeof values->text, "{\"bytes\": %zu, \"sha256\": \"%s\"}",
                       values->bytes, digest_format(&digest, hex));
    }
    return values->text;
}

/* ---- rows */

bool audit_is_wanted(const struct ledger *ledger)
{
    return ledger->actor != NULL;
}

struct digest audit_content(const struct audit *audit)
{
    struct digest_state state;
    digest_init(&state);
    digest_update_text(&state, audit->action);
    digest_update_text(&state, audit->who);
    digest_update_text(&state, audit->name);
    digest_update_text(&state, audit->address);
    digest_update_text(&state, audit->what);
    digest_update_text(&state, audit->before);
    digest_update_text(&state, audit->after);
    return digest_finish(&state);
}

void audit_hash(struct digest_state *state, const struct audit *audit)
{
    digest_update_i64(state, -1);
    digest_update_i64(state, audit->audit_no);
    digest_update_i64(state, audit->seq);
    digest_update_i64(state, audit->at_ms);
    digest_update_i64(state, audit->node_no);
    digest_update_i64(state, audit->other_no);
    digest_update_i64(state, audit->token_no);
    digest_update_i64(state, audit->role);
    digest_update(state, audit->content.bytes, sizeof audit->content.bytes);
}

static void fill_texts(struct audit *row,
                       const struct ledger_actor *actor,
                       const struct audit_change *change)
{
    row_text(row->action, sizeof row->action, change->action);
    row_text(row->who, sizeof row->who, actor->who);
    row_text(row->name, sizeof row->name, actor->name);
    row_text(row->address, sizeof row->address, actor->address);
    row_text(row->what, sizeof row->what, change->what);
    row_text(row->before, sizeof row->before, change->before == NULL ? "" : change->before);
    row_text(row->after, sizeof row->after, change->after == NULL ? "" : change->after);
}

int64_t audit_change(struct ledger *ledger, const struct audit_change *change)
{
    const struct ledger_actor *actor = ledger->actor;
    if (actor == NULL) {
        return 0;
    }
    const int64_t no = row_take_no(ledger->set, "audit");
    struct root_state *state = apply_root_state(ledger, change->root_no);
    struct audit *row = working_set_make(ledger->set, row_find(ledger->set, RECORD_AUDIT, no));
    row->root_no = change->root_no;
    row->seq = ++state->last_audit;
    row->at_ms = ledger->clock_ms > state->last_ms ? ledger->clock_ms : state->last_ms;
    row->node_no = change->node_no != 0 ? change->node_no : change->root_no;
    row->other_no = change->other_no;
    row->token_no = actor->token_no;
    row->role = actor->role;
    fill_texts(row, actor, change);
    row->content = audit_content(row);
    if (ledger->first_audit_no == 0) {
        ledger->first_audit_no = no;
    }
    return no;
}

/* ---- paths */

const char *audit_path(struct ledger *ledger, const struct node *node, char *ret_what)
{
    static const char *const folders[] = {[NODE_ORGANIZATION] = "organizations",
                                          [NODE_PROJECT] = "projects",
                                          [NODE_MEMBER] = "members"};
    const struct node *project =
        node->kind == NODE_MEMBER ? row_get(ledger->set, RECORD_NODE, node->parent_no) : NULL;
    (void)snprintf(ret_what, RECORD_WHAT_BYTES, "%s%s%s%s/%s", project == NULL ? "" : "projects/",
                   project == NULL ? "" : project->name, project == NULL ? "" : "/",
                   folders[node->kind], node->name);
    return ret_what;
}
