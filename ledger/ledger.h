/*
 * The ledger: what server/ and the tests call. One struct ledger per process writes; readers look
 * on.
 *
 *   struct ledger         the writer: a store, the working set of hot records, one thread (it need
 * not be always the same one, but never two) ledger_execute()      many works, one transaction, one
 * commit: decides each command in order, each seeing those before it struct ledger_reader  a
 * read-only view of what has been committed, for one thread; any number of them beside the writer
 */
#ifndef LEDGER_LEDGER_H
#define LEDGER_LEDGER_H

#include "ledger/base/error.h"
#include "ledger/core/command.h"
#include "ledger/core/view.h"
#include "ledger/store/select.h"

struct ledger;
struct ledger_reader;

/* A hold as people see it: the record, and the names that its numbers stand for. */
struct ledger_hold {
    struct hold hold;
    enum task_state state;
    char cluster[RECORD_NAME_BYTES];
    char project[RECORD_NODE_NAME_BYTES];
    char user[RECORD_NAME_BYTES];
    char payer[RECORD_NODE_NAME_BYTES];
    char models[LIMIT_GPU_ENTRIES][RECORD_NAME_BYTES];
};

/* A node and a cluster as people see them: what a put or patch made of it. */
struct ledger_node {
    struct node node;
    char parent[RECORD_NODE_NAME_BYTES]; /* "" for a root; the project of a member */
};

struct ledger_cluster {
    struct cluster cluster;
    char roots[RECORD_CLUSTER_ROOTS][RECORD_NODE_NAME_BYTES]; /* cluster.root_count of them */
};

/* Who holds most at a limit (SPEC 6.3). */
struct ledger_holder {
    char hold[RECORD_ID_BYTES];
    char project[RECORD_NODE_NAME_BYTES];
    char user[RECORD_NAME_BYTES]; /* "": not to be named to the asker */
    int64_t frozen_mcs;
    int64_t since_s;
    int64_t last_seen_s;
    bool stale;
};

enum { LEDGER_HOLDERS = LIMIT_HOLDERS };
enum { LEDGER_OPEN_RUNS = 20 };

/* A refusal's limits, and what ledger_explain() adds to them afterwards. */
struct ledger_refusal {
    int32_t count;
    int64_t requested_mcs;
    int64_t requested_mcores;
    int64_t requested_s;
    int64_t requested_tasks;
    int64_t waiting_ahead;
    int64_t earliest_at_s; /* 0: unknown or never */
    int64_t project_no;    /* the asker's */
    struct command_resources resources;
    char contact[RECORD_NAME_BYTES]; /* nearest at or above the failing node */
    struct ledger_limit {
        struct violation violation;
        char model[RECORD_NAME_BYTES];
        bool holders_known;
        int32_t holder_count;
        struct ledger_holder holders[LEDGER_HOLDERS];
    } limits[]; /* count of them */
};

/* What a change of a cap does at once: how full it is now, and what no longer waits. */
enum { LEDGER_STARTED = 8 };

struct ledger_cap_effect {
    bool measured;  /* a member's default (`*`) has no figures of its own, a lifted cap has none */
    bool over_cap;  /* more is committed than the limit (SPEC 4.5): what runs goes on */
    int64_t used;   /* in the unit of the cap */
    int64_t frozen; /* frozen, or in flight */
    int64_t available;     /* limit - used - frozen; of no meaning when unlimited */
    int64_t resets_at_s;   /* 0: never */
    int64_t started_count; /* waiting holds that found room by it */
    int64_t started_tasks;
    int64_t started_mcs;
    int32_t shown; /* the first of them */
    struct ledger_started {
        char hold[RECORD_ID_BYTES];
        char project[RECORD_NODE_NAME_BYTES];
        char user[RECORD_NAME_BYTES];
        int64_t tasks;
        int64_t frozen_mcs;
    } started[LEDGER_STARTED];
};

/* Where a person's name stood that was overwritten. */
struct ledger_renamed {
    int64_t members;
    int64_t mappings; /* users of clusters, and uses that nobody answers for */
    int64_t tokens;
    int64_t changes; /* of the audit log */
    int64_t by_no;   /* the change that says so; 0 where nobody is behind the work */
};

/* The answer to one command. Everything is copied out: it outlives the transaction. */
struct ledger_result {
    struct error error; /* code ERR_OK when accepted */
    bool replayed;      /* the same decision again */
    bool no_effect;
    bool waiting; /* freeze, requeue: accepted, but waits (202) */
    bool created; /* the thing is new: 201 */
    enum heartbeat_result heartbeat;
    union {                            /* as it now stands, or with dry_run would stand: */
        struct ledger_hold hold;       /* commands about holds, quote included */
        struct ledger_node node;       /* PUT_NODE, PATCH_NODE */
        struct ledger_cluster cluster; /* PUT_CLUSTER, PATCH_CLUSTER */
        struct ledger_cap_effect cap;  /* PUT_CAP, DELETE_CAP */
        struct period period;          /* CLOSE */
        struct token token;            /* PUT_TOKEN, REVOKE_TOKEN, ROTATE_TOKEN */
        struct ledger_renamed renamed; /* RENAME_PERSON, OVERWRITE */
        struct webhook webhook;        /* PUT_WEBHOOK, TEST_WEBHOOK */
    };
    int64_t charged_mcs;  /* settle, requeue, correct, charge: totals of the run */
    int64_t refunded_mcs; /* what came back from the freeze; of a refund: all refunds of the run */
    int64_t overrun_mcs;
    int64_t waived_mcs;
    int64_t expired_mcs;
    int64_t requested_mcs; /* quote */
    int64_t card_version;  /* quote; 0: no card is in force */
    bool cost_known;       /* quote: the card has a price */
    int64_t cost_micro;    /* 1e-6 of the currency, rounded half up */
    char currency[8];
    int64_t warnings;   /* enum hold_flag */
    int32_t soft_count; /* soft caps exceeded, at most 8 told */
    struct violation soft[8];
    char left_tasks[RECORD_TASKS_TEXT_BYTES]; /* release: those that had started */
    int64_t version;                          /* ETag of what was put */
    struct grant grant;                       /* grant, transfer: the row made */
    struct ledger_refusal
        *refusal; /* ERR_QUOTA_INSUFFICIENT; owned, ledger_result_fini() frees it */
};

void ledger_result_fini(struct ledger_result *result); /* takes NULL and zeroed ones */

/* The person behind a work, for the audit log (SPEC 10.3). */
struct ledger_actor {
    enum token_role role;
    int64_t token_no; /* 0: not by a token of the ledger */
    char who
        [RECORD_NOTE_BYTES]; /* the token's id; of the identity provider's people their subject */
    char name[RECORD_NAME_BYTES];
    char address[RECORD_ADDRESS_BYTES]; /* the client's; "": not over the network */
};

/* Commands that belong together. */
struct ledger_work {
    const struct command *const
        *commands;                 /* borrowed; RATES commands are struct command_with_rates */
    struct ledger_result *results; /* as many, zeroed by the caller */
    size_t count;
    bool atomic;                      /* all or nothing: the others then carry ERR_ROLLED_BACK */
    const struct ledger_actor *actor; /* borrowed; NULL: a machine's, or the ledger's own */
};

struct ledger_options {
    int64_t cache_bytes; /* of hot records kept between transactions, default 64 MiB */
    bool create;         /* make the ledger; it must not be there */
};

/* Open for writing. url as in store_open(). ERR_UNAVAILABLE (locked by another daemon, newer
 * schema, damaged, ...) says what to do. */
enum error_code ledger_open(const char *url,
                            const struct ledger_options *options,
                            struct ledger **ret_ledger,
                            struct error *err);
void ledger_close(struct ledger *ledger);

/*
 * Carry out works in one transaction and return when it is on disk.
 *
 * @now_ms  wall clock; ledger time is the larger of it and the last entry's
 * Returns ERR_OK when the transaction was committed (each result says what became of its command),
 * else ERR_UNAVAILABLE: nothing was written, and every result carries that code. The retry loop
 * around begin..commit is here and nowhere else.
 */
enum error_code ledger_execute(struct ledger *ledger,
                               struct ledger_work *works,
                               size_t count,
                               int64_t now_ms,
                               struct error *err);

/*
 * What time has made due: fills up to `most` clockwork commands (expired holds, ended grants, runs
 * behind a month's start, months to turn) for the caller to pass to ledger_execute(). Bounded work
 * a call; ret_count 0: nothing is due.
 */
enum error_code ledger_due(struct ledger *ledger,
                           int64_t now_ms,
                           struct command *commands,
                           size_t most,
                           size_t *ret_count,
                           struct error *err);

/* The last feed number of each cluster after the last commit: lets the server wake long polls.
 * Returns false when unchanged. */
bool ledger_feed_changed(struct ledger *ledger,
                         int64_t *cluster_nos,
                         size_t most,
                         size_t *ret_count);

/* Were deliveries of alerts written since the last call? Lets the server wake who delivers them. */
bool ledger_alerts_made(struct ledger *ledger);

/* Can it commit again? Writes one row that means nothing and returns when it is on disk. For a ledger
 * whose last transaction failed while nobody sends another. */
enum error_code ledger_probe(struct ledger *ledger, int64_t now_ms, struct error *err);

/* Housekeeping between transactions (checkpoints), in small bites; call when idle and after every
 * few batches. */
enum error_code ledger_maintain(struct ledger *ledger, struct error *err);
enum error_code ledger_backup(struct ledger *ledger, const char *to, struct error *err);

/* ---- readers
 * --------------------------------------------------------------------------------------------------------------
 */

enum error_code ledger_reader_open(const char *url,
                                   struct ledger_reader **ret_reader,
                                   struct error *err);
void ledger_reader_close(struct ledger_reader *reader);

/* Consistent copy to a new file, also beside a live daemon. */
enum error_code ledger_reader_backup(struct ledger_reader *reader,
                                     const char *to,
                                     struct error *err);

/* One snapshot for the calls in between. */
enum error_code ledger_reader_begin(struct ledger_reader *reader, struct error *err);
void ledger_reader_end(struct ledger_reader *reader);

/* Look up by name. ERR_NOT_FOUND (or ERR_UNKNOWN_HOLD, ERR_AMBIGUOUS_ID for holds). */
enum error_code ledger_read_node(struct ledger_reader *reader,
                                 enum node_kind kind,
                                 const char *name,
                                 const char *project,
                                 struct node *ret_node,
                                 struct error *err);
enum error_code ledger_read_node_no(struct ledger_reader *reader,
                                    int64_t node_no,
                                    struct node *ret_node,
                                    struct error *err);
/** Whether a cluster serves a root: it lists it, or lists none (SPEC 2.2). */
bool cluster_serves(const struct cluster *cluster, int64_t root_no);

enum error_code ledger_read_cluster(struct ledger_reader *reader,
                                    const char *name,
                                    struct cluster *ret_cluster,
                                    struct error *err);
enum error_code ledger_read_card(struct ledger_reader *reader,
                                 int64_t cluster_no,
                                 int64_t version,
                                 struct rate_card *ret_card,
                                 struct error *err);
enum error_code ledger_read_mapping(struct ledger_reader *reader,
                                    int64_t cluster_no,
                                    bool is_user,
                                    const char *name,
                                    struct name *ret_name,
                                    struct error *err);
enum error_code ledger_read_name_of(struct ledger_reader *reader,
                                    enum name_space space,
                                    int64_t target_no,
                                    char *ret_name,
                                    size_t bytes,
                                    struct error *err); /* models, clusters */
enum error_code ledger_read_hold(struct ledger_reader *reader,
                                 const char *cluster,
                                 const char *root,
                                 const char *id,
                                 struct ledger_hold *ret_hold,
                                 struct error *err);
enum error_code ledger_read_job(struct ledger_reader *reader,
                                const char *cluster,
                                const char *key,
                                bool by_key,
                                struct ledger_hold *ret_hold,
                                struct error *err);

/* By the ledger's own numbers: the grant of a journal entry, the hold of an entry or feed event, the
 * names that a node and a cluster stand under. ERR_NOT_FOUND. */
enum error_code ledger_read_grant(struct ledger_reader *reader,
                                  int64_t grant_no,
                                  struct grant *ret_grant,
                                  struct error *err);
enum error_code ledger_read_hold_no(struct ledger_reader *reader,
                                    int64_t hold_no,
                                    struct ledger_hold *ret_hold,
                                    struct error *err);
enum error_code ledger_read_node_names(struct ledger_reader *reader,
                                       const struct node *node,
                                       struct ledger_node *ret_node,
                                       struct error *err);
enum error_code ledger_read_cluster_names(struct ledger_reader *reader,
                                          const struct cluster *cluster,
                                          struct ledger_cluster *ret_cluster,
                                          struct error *err);

/* Webhooks and what is sent to them. ERR_NOT_FOUND. */
enum error_code ledger_read_webhook(struct ledger_reader *reader,
                                    const char *name,
                                    struct webhook *ret_webhook,
                                    struct error *err);
enum error_code ledger_read_webhook_no(struct ledger_reader *reader,
                                       int64_t webhook_no,
                                       struct webhook *ret_webhook,
                                       struct error *err);
enum error_code ledger_read_alert(struct ledger_reader *reader,
                                  int64_t alert_no,
                                  struct alert *ret_alert,
                                  struct error *err);

/** Changes of the log in which a person's name stands. */
struct ledger_named {
    size_t count;
    int64_t nos[OVERWRITE_CHANGES];
    int64_t last_no; /* up to here the log has been looked through */
    bool has_more;   /* behind it */
};

/** Look for a name in the log (SPEC 2.4): among the next few thousand changes behind one. */
MUST_USE enum error_code ledger_find_name(struct ledger_reader *reader,
                                          const char *person,
                                          int64_t after_no,
                                          struct ledger_named *ret_named,
                                          struct error *err);

/*
 * What time has brought that some webhook is to be told (grants that end soon, silent agents, stale holds): fills up
 * to `most` commands for ledger_execute(), which judges each again. Begins no snapshot of its own. Walks the open holds.
 */
enum error_code ledger_watch(struct ledger_reader *reader,
                             int64_t now_ms,
                             struct command *commands,
                             size_t most,
                             size_t *ret_count,
                             struct error *err);

/* Settled runs by where and when they ran. */
struct ledger_run_query {
    int64_t root_no;  /* 0: any; so are the others */
    int64_t place_no; /* a node at or above their project */
    int64_t cluster_no;
    int64_t project_no;
    int64_t from_s; /* they went on at some time in [from, to) */
    int64_t to_s;
    int64_t outcomes;  /* bits 1 << outcome; 0: any */
    const char *user;  /* "": any */
    const char *hosts; /* on one of these, joined by commas; "": any */
};

struct ledger_run_place {
    int64_t hold_no;
    int64_t task;
    int64_t attempt;
};

struct ledger_run_found {
    int64_t hold_no;
    int64_t task;
    int64_t attempt;
    int64_t cluster_no;
    int64_t project_no;
    int64_t member_no;
    int64_t started_s;
    int64_t ended_s;
    enum outcome outcome;
    int64_t charged_mcs;
    int64_t refunded_mcs;
    char hold[RECORD_ID_BYTES];
};

enum { LEDGER_RUN_PAGE = 128 };

struct ledger_run_page {
    size_t count;
    struct ledger_run_found runs[LEDGER_RUN_PAGE];
};

/*
 * The next page of runs of a query behind a place (zeroed at first, moved on), in the order of holds. One that is not
 * full is the last. A walk through all runs behind the place.
 */
enum error_code ledger_read_settled_runs(struct ledger_reader *reader,
                                         const struct ledger_run_query *query,
                                         struct ledger_run_place *after,
                                         struct ledger_run_page *ret_page,
                                         struct error *err);

/* A balance: what GET .../balance shows. */
struct ledger_balance {
    struct node node;
    int32_t path_count;
    char path[RECORD_PATH_NODES][RECORD_NAME_BYTES]; /* root first, the node itself last */
    char funding_node[RECORD_NODE_NAME_BYTES];
    bool unlimited;
    struct counter counter;
    int64_t granted_mcs;   /* the payer's: granted + transferred in - out - withdrawn of rows that
                              have not ended */
    int64_t available_mcs; /* the payer's valid rows and its overdraft: negative when overdrawn */
    bool overdrawn;
    int32_t cap_count;
    struct ledger_cap {
        char node[RECORD_NAME_BYTES];
        enum node_kind node_kind;
        char model[RECORD_NAME_BYTES];
        struct cap cap;
        int64_t used;
        int64_t frozen;
        int64_t available;
        int64_t resets_at_s; /* 0: never */
        bool over_cap;
    } caps[LIMIT_CAPS_PER_NODE * RECORD_PATH_NODES];
};
enum error_code ledger_read_balance(struct ledger_reader *reader,
                                    const struct node *node,
                                    int64_t now_ms,
                                    struct ledger_balance *ret_balance,
                                    struct error *err);

/* Any list of store/select.h, as records. Rows are borrowed until the callback returns; false
 * stops. */
typedef bool (*ledger_row_fn)(void *context, const void *record);
enum error_code ledger_read_list(struct ledger_reader *reader,
                                 enum select_kind select,
                                 const struct select_args *args,
                                 ledger_row_fn row,
                                 void *context,
                                 struct error *err);
enum error_code ledger_read_hold_names(struct ledger_reader *reader,
                                       const struct hold *hold,
                                       struct ledger_hold *ret_hold,
                                       struct error *err);

/*
 * Usage of a root, grouped (SPEC 8.3): rows to the callback in a stable order: by the month in which
 * it is booked, the day where that is a column, then the columns in the order of their enum, period,
 * kind, outcome. Memory is bounded by the groups of one month (one day, where days are a column): at
 * most LIMIT_REPORT_GROUPS of them, else ERR_INVALID_FIELD asking to narrow it.
 */
enum report_column {
    REPORT_ORGANIZATION = 1 << 0,
    REPORT_PROJECT = 1 << 1,
    REPORT_USER = 1 << 2,
    REPORT_CLUSTER = 1 << 3,
    REPORT_PARTITION = 1 << 4,
    REPORT_QOS = 1 << 5,
    REPORT_GPU_MODEL = 1 << 6,
    REPORT_OUTCOME = 1 << 7,
    REPORT_DAY = 1 << 8,
    REPORT_MONTH = 1 << 9,
    REPORT_CARD = 1 << 10, /* the version of the rate card */
};
struct report_row {
    char organization[RECORD_NODE_NAME_BYTES];
    char project[RECORD_NODE_NAME_BYTES];
    char user[RECORD_NAME_BYTES];
    char cluster[RECORD_NAME_BYTES];
    char partition[RECORD_NAME_BYTES];
    char qos[RECORD_NAME_BYTES];
    char gpu_model[RECORD_NAME_BYTES];
    char currency[8];
    enum outcome outcome;
    enum usage_kind kind;
    int64_t day;
    int64_t month;
    int64_t period;
    int64_t used_mcs;
    int64_t mgs;
    int64_t waived_mcs;
    int64_t runs;
    int64_t unfrozen_mcs; /* of used_mcs, what had no freeze */
    int64_t cost_micro;   /* 1e-6 of the currency, each finest row rounded half up (SPEC 7.5) */
    bool cost_known;
    int64_t card_version; /* where it is a column, */
    int64_t price_micro;  /* with its price per core-hour, -1: none */
};
struct report_query {
    int64_t root_no;
    bool by_days;
    int64_t from; /* month, or day when by_days; inclusive */
    int64_t to;
    uint32_t group_by; /* enum report_column */
    int64_t below_no;  /* only usage at or below this node, by the path of its time; 0: all */
};
typedef bool (*report_row_fn)(void *context, const struct report_row *row);
enum error_code ledger_report_usage(struct ledger_reader *reader,
                                    const struct report_query *query,
                                    report_row_fn row,
                                    void *context,
                                    struct error *err);

/* Where the periods of a root are cut. */
enum error_code ledger_read_calendar(struct ledger_reader *reader,
                                     const struct node *root,
                                     struct calendar *ret_calendar,
                                     struct error *err);

/* Takes a part of a text that is written as it is made. */
typedef bool (*ledger_bytes_fn)(void *context, const void *bytes, size_t length_bytes);

/*
 * The usage booked in a month, in canonical form (SPEC 8.2): CSV with one header, one line for each of
 * the finest stored rows in the order of their keys, internal numbers in place of names, the price of
 * each row's rate beside it. The digest of a closed month is the SHA-256 of exactly these bytes.
 *
 * @period  says the root and the month; row_count, sums and digest are set, the rest is left
 * @bytes   NULL: only the sums and the digest are wanted
 */
enum error_code ledger_period_rows(struct ledger_reader *reader,
                                   struct period *period,
                                   ledger_bytes_fn bytes,
                                   void *context,
                                   struct error *err);

/* A closed month. ERR_NOT_FOUND when it is not closed (by itself or with a later one). */
enum error_code ledger_read_period(struct ledger_reader *reader,
                                   int64_t root_no,
                                   int64_t month,
                                   struct period *ret_period,
                                   struct error *err);

/* What is still open in a month that has ended: what may be booked for it later (SPEC 8.2). */
struct ledger_still_open {
    int64_t runs;         /* began before its end and go on */
    int64_t stale_runs;   /* of them, not heard of for the cluster's stale_after_s */
    int64_t unbound;      /* holds made before its end that no job has claimed */
    int64_t unattributed; /* charges that no project has, on clusters that serve the root */
    int64_t unattributed_mcs;
    int64_t listed; /* of `holds` */
    struct ledger_open_run {
        char hold[RECORD_ID_BYTES];
        char project[RECORD_NODE_NAME_BYTES];
        char user[RECORD_NAME_BYTES];
        int64_t task;
        int64_t attempt;
        int64_t started_s;
        int64_t last_seen_s;
        bool stale;
    } run[LEDGER_OPEN_RUNS]; /* the stale ones first */
};
enum error_code ledger_read_still_open(struct ledger_reader *reader,
                                       const struct node *root,
                                       int64_t month,
                                       int64_t now_ms,
                                       struct ledger_still_open *ret_open,
                                       struct error *err);

/* The month of a payer (SPEC 8.3): opening + flow = closing, both available + frozen. */
struct ledger_statement {
    struct node node;
    char root[RECORD_NODE_NAME_BYTES];
    bool unlimited;
    bool closed; /* no entry of this month can come any more */
    int64_t month;
    int64_t opening_mcs;
    struct payer_flow flow;
    int64_t closing_mcs;
};
/* ERR_NOT_FUNDED_HERE when the node does not pay itself; ERR_INVALID_STATE before its root's time. */
enum error_code ledger_read_statement(struct ledger_reader *reader,
                                      const struct node *node,
                                      int64_t month,
                                      struct ledger_statement *ret_statement,
                                      struct error *err);

/* Add holders and earliest_at to a refusal within budget_ms of wall time, else leave them unknown
   (SPEC 6.4). names: show people of other projects. */
void ledger_explain(struct ledger_reader *reader,
                    struct ledger_refusal *refusal,
                    int64_t now_ms,
                    int64_t budget_ms);

/* ---- check
 * ----------------------------------------------------------------------------------------------------------------
 */

/* Called once a difference found, with one line of text. */
typedef void (*ledger_difference_fn)(void *context, const char *line);

/*
 * Recompute chain, balances, counters, tasks and usage from one snapshot and report every
 * difference (SPEC 9.2). ret_differences 0: all agree. Also beside a live writer.
 *
 * @since  0, or a closed month: roots that closed it start there, with the balances that the close wrote
 *         into the chain, and their older entries are not read; all others start at their first entry
 */
enum error_code ledger_check(struct ledger_reader *reader,
                             int64_t since,
                             ledger_difference_fn difference,
                             void *context,
                             int64_t *ret_differences,
                             struct error *err);

#endif
