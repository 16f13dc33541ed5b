/*
 * The audit log (SPEC 10.3): every change by a person, written in the transaction of the change and covered by the hash
 * chain of its root.
 *
 * A command that changed something calls audit_change() once, as its last step, when nothing can refuse it any more.
 * What is refused, only tried (dry_run) or without effect leaves no trace: the caller's rollback takes the row with it,
 * and a command without effect does not call. Works without an actor (schedulers, the ledger's own clockwork) write
 * nothing.
 */
#ifndef LEDGER_AUDIT_H
#define LEDGER_AUDIT_H

#include "ledger/shell.h"

/** The action of overwriting a person's name: the check knows overwritten texts by it. */
#define AUDIT_RENAME "person.rename"

/** A JSON object in the making, of at most RECORD_AUDIT_BYTES; what is longer becomes its digest. */
struct audit_values {
    char text[RECORD_AUDIT_BYTES];
    size_t bytes;              /* of all that was added, also beyond the text */
    struct digest_state state; /* over all that was added */
};

/* Members are added in the order of the calls. Names are plain ASCII. */
void audit_begin(struct audit_values *values);
void audit_add_text(struct audit_values *values, const char *name, const char *text);
void audit_add_number(struct audit_values *values, const char *name, int64_t number);
void audit_add_flag(struct audit_values *values, const char *name, bool flag);
void audit_add_null(struct audit_values *values, const char *name);
void audit_add_time(struct audit_values *values, const char *name, int64_t time_s); /* 0: null */

/** The names of the bits that are set, as an array of texts. @names: one for each bit that may be. */
void audit_add_names(struct audit_values *values,
                     const char *name,
                     int64_t bits,
                     const char *const *names);

/** The object, borrowed until @values goes; {"bytes": n, "sha256": "..."} where it would be too long. */
const char *audit_end(struct audit_values *values);

/** What was changed. */
struct audit_change {
    const char *action; /* static: "cap.put"; at most RECORD_ACTION_BYTES - 1 */
    int64_t root_no;    /* 0: nothing of one root: clusters, tokens */
    int64_t node_no;    /* who sees this node (or the next) sees the change; 0: none, or the root */
    int64_t other_no;
    const char *what;   /* a path of the API without /v1/: "projects/vision/caps/month" */
    const char *before; /* of audit_end(); NULL: it did not exist */
    const char *after;  /* NULL: it exists no more */
};

/** Write it down, if a person is behind the work; its number, 0 when nobody is. Failures stick to the working set. */
int64_t audit_change(struct ledger *ledger, const struct audit_change *change);

/**
 * Overwrite a person's name wherever it stands as a word in the texts of the log behind a change, this transaction's
 * included (SPEC 2.4). The digests stay. What a reader has looked through before is overwritten by audit_overwrite_some().
 *
 * @by_no  the change that says so, written before
 *
 * Returns how many changes named the person.
 */
int64_t audit_overwrite(struct ledger *ledger,
                        const char *from,
                        const char *to,
                        int64_t after_no,
                        int64_t by_no);

/** The same in the changes of these numbers. */
int64_t audit_overwrite_some(struct ledger *ledger, const struct command_overwrite *given);

/** Whether it would be written: to spare describing what nobody asks for. */
bool audit_is_wanted(const struct ledger *ledger);

/** The path of a node, "projects/vision/members/alice", into @ret_what of RECORD_WHAT_BYTES. */
const char *audit_path(struct ledger *ledger, const struct node *node, char *ret_what);

/* ---- for the chain and its check */

/** The digest of a change's texts as they stand. */
struct digest audit_content(const struct audit *audit);

/** Add a change to a link's hash: -1, which no entry begins with, its numbers, its content. */
void audit_hash(struct digest_state *state, const struct audit *audit);

#endif
