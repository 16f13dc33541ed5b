/*
 * The SQLite engine, the default: WAL, synchronous=FULL, statements prepared once.
 *
 * A statement is reset as soon as its rows are read, so that no read transaction outlives its call.
 * Every error within a transaction leaves it to be rolled back; an I/O error makes the connection
 * suspect, and the next use starts over (sqlite_connection_ready()).
 */
#include "ledger/store/engines.h"
#include "ledger/store/sqlite_connection.h"
#include "ledger/store/sqlite_rows.h"

#define QUERIES(record)                                                                         \
    {                                                                                           \
        QUERY_GET_##record, QUERY_INSERT_##record, QUERY_UPDATE_##record, QUERY_REMOVE_##record \
    }
#define JOURNAL_QUERIES(record)                                               \
    {                                                                         \
        QUERY_GET_##record, QUERY_INSERT_##record, QUERY__COUNT, QUERY__COUNT \
    }

/* All fields are the key: there is nothing to update. */
#define KEY_QUERIES(record)                                                            \
    {                                                                                  \
        QUERY_GET_##record, QUERY_INSERT_##record, QUERY__COUNT, QUERY_REMOVE_##record \
    }

/* The statements of each record type; QUERY__COUNT: none such. */
static const struct record_queries {
    enum query get;
    enum query insert;
    enum query update;
    enum query remove;
} record_queries[RECORD__COUNT] = {
    [RECORD_NODE] = QUERIES(NODE),
    [RECORD_NAME] = QUERIES(NAME),
    [RECORD_COUNTER] = QUERIES(COUNTER),
    [RECORD_NODE_MONTH] = QUERIES(NODE_MONTH),
    [RECORD_CLUSTER] = QUERIES(CLUSTER),
    [RECORD_RATE_VERSION] = QUERIES(RATE_VERSION),
    [RECORD_RATE_ROW] = QUERIES(RATE_ROW),
    [RECORD_GRANT] = QUERIES(GRANT),
    [RECORD_MOVEMENT] = QUERIES(MOVEMENT),
    [RECORD_HOLD] = QUERIES(HOLD),
    [RECORD_HOLD_ID] = QUERIES(HOLD_ID),
    [RECORD_JOB] = QUERIES(JOB),
    [RECORD_TASK] = QUERIES(TASK),
    [RECORD_RUN] = QUERIES(RUN),
    [RECORD_RUN_HOST] = KEY_QUERIES(RUN_HOST),
    [RECORD_ADJUSTMENT] = QUERIES(ADJUSTMENT),
    [RECORD_RELEASE] = QUERIES(RELEASE),
    [RECORD_WAITING] = QUERIES(WAITING),
    [RECORD_FEED_EVENT] = QUERIES(FEED_EVENT),
    [RECORD_ENTRY] = JOURNAL_QUERIES(ENTRY),
    [RECORD_CHAIN_LINK] = JOURNAL_QUERIES(CHAIN_LINK),
    [RECORD_ROOT_STATE] = QUERIES(ROOT_STATE),
    [RECORD_DIMS] = QUERIES(DIMS),
    [RECORD_USAGE] = QUERIES(USAGE),
    [RECORD_ZONE_STEP] = QUERIES(ZONE_STEP),
    [RECORD_SEQUENCE] = QUERIES(SEQUENCE),
    [RECORD_TOKEN] = QUERIES(TOKEN),
    [RECORD_UNATTRIBUTED] = QUERIES(UNATTRIBUTED),
    [RECORD_AUDIT] = QUERIES(AUDIT),
    [RECORD_PAYER_MONTH] = QUERIES(PAYER_MONTH),
    [RECORD_PERIOD] = QUERIES(PERIOD),
    [RECORD_CLOSE_GRANT] = JOURNAL_QUERIES(CLOSE_GRANT),
    [RECORD_CLOSE_PAYER] = JOURNAL_QUERIES(CLOSE_PAYER),
    [RECORD_CHAIN_NOTE] = JOURNAL_QUERIES(CHAIN_NOTE),
    [RECORD_WEBHOOK] = QUERIES(WEBHOOK),
    [RECORD_ALERT] = QUERIES(ALERT),
    [RECORD_ALERT_STATE] = QUERIES(ALERT_STATE),
    [RECORD_DELIVERY] = QUERIES(DELIVERY),
};

static const enum query select_queries[SELECT__COUNT] = {
    [SELECT_GRANTS_OF_NODE] = QUERY_SELECT_GRANTS_OF_NODE,
    [SELECT_GRANTS_DUE] = QUERY_SELECT_GRANTS_DUE,
    [SELECT_GRANTS_STARTING] = QUERY_SELECT_GRANTS_STARTING,
    [SELECT_MEMBERS_OF_NODE] = QUERY_SELECT_MEMBERS_OF_NODE,
    [SELECT_ROOTS] = QUERY_SELECT_ROOTS,
    [SELECT_NODES] = QUERY_SELECT_NODES,
    [SELECT_CLUSTERS] = QUERY_SELECT_CLUSTERS,
    [SELECT_HOLDS_BY_ID] = QUERY_SELECT_HOLDS_BY_ID,
    [SELECT_TASKS_OF_HOLD] = QUERY_SELECT_TASKS_OF_HOLD,
    [SELECT_RUNS_OF_HOLD] = QUERY_SELECT_RUNS_OF_HOLD,
    [SELECT_RUNS_OF_TASK] = QUERY_SELECT_RUNS_OF_TASK,
    [SELECT_RUNS_BEHIND] = QUERY_SELECT_RUNS_BEHIND,
    [SELECT_HOLDS_DUE] = QUERY_SELECT_HOLDS_DUE,
    [SELECT_HOLDS] = QUERY_SELECT_HOLDS,
    [SELECT_HOLDS_OF_PROJECT] = QUERY_SELECT_HOLDS_OF_PROJECT,
    [SELECT_HOLDS_STILL_OPEN] = QUERY_SELECT_HOLDS_STILL_OPEN,
    [SELECT_HOLDS_OPEN] = QUERY_SELECT_HOLDS_OPEN,
    [SELECT_WAITING] = QUERY_SELECT_WAITING,
    [SELECT_FEED] = QUERY_SELECT_FEED,
    [SELECT_ENTRIES] = QUERY_SELECT_ENTRIES,
    [SELECT_ENTRIES_OF_HOLD] = QUERY_SELECT_ENTRIES_OF_HOLD,
    [SELECT_CHAIN] = QUERY_SELECT_CHAIN,
    [SELECT_USAGE] = QUERY_SELECT_USAGE,
    [SELECT_USAGE_DAYS] = QUERY_SELECT_USAGE_DAYS,
    [SELECT_ZONE] = QUERY_SELECT_ZONE,
    [SELECT_RATE_VERSIONS] = QUERY_SELECT_RATE_VERSIONS,
    [SELECT_RATE_ROWS] = QUERY_SELECT_RATE_ROWS,
    [SELECT_NAMES] = QUERY_SELECT_NAMES,
    [SELECT_TOKENS] = QUERY_SELECT_TOKENS,
    [SELECT_TOKENS_OF_ID] = QUERY_SELECT_TOKENS_OF_ID,
    [SELECT_TOKENS_OVER] = QUERY_SELECT_TOKENS_OVER,
    [SELECT_ADJUSTMENTS] = QUERY_SELECT_ADJUSTMENTS,
    [SELECT_UNATTRIBUTED] = QUERY_SELECT_UNATTRIBUTED,
    [SELECT_RUN_HOSTS] = QUERY_SELECT_RUN_HOSTS,
    [SELECT_AUDIT] = QUERY_SELECT_AUDIT,
    [SELECT_AUDIT_ROOT] = QUERY_SELECT_AUDIT_ROOT,
    [SELECT_GRANTS_OF_ROOT] = QUERY_SELECT_GRANTS_OF_ROOT,
    [SELECT_PAYER_MONTHS] = QUERY_SELECT_PAYER_MONTHS,
    [SELECT_PAYER_MONTHS_AFTER] = QUERY_SELECT_PAYER_MONTHS_AFTER,
    [SELECT_PERIODS] = QUERY_SELECT_PERIODS,
    [SELECT_CLOSE_GRANTS] = QUERY_SELECT_CLOSE_GRANTS,
    [SELECT_CLOSE_PAYERS] = QUERY_SELECT_CLOSE_PAYERS,
    [SELECT_CHAIN_NOTES] = QUERY_SELECT_CHAIN_NOTES,
    [SELECT_ALL_PAYER_MONTHS] = QUERY_SELECT_ALL_PAYER_MONTHS,
    [SELECT_RUNS_SETTLED] = QUERY_SELECT_RUNS_SETTLED,
    [SELECT_WEBHOOKS] = QUERY_SELECT_WEBHOOKS,
    [SELECT_DELIVERIES_DUE] = QUERY_SELECT_DELIVERIES_DUE,
    [SELECT_DELIVERIES_PENDING] = QUERY_SELECT_DELIVERIES_PENDING,
    [SELECT_DELIVERIES_DONE] = QUERY_SELECT_DELIVERIES_DONE,
    [SELECT_DELIVERIES_OF_WEBHOOK] = QUERY_SELECT_DELIVERIES_OF_WEBHOOK,
    [SELECT_ALERT_STATES] = QUERY_SELECT_ALERT_STATES,
    [SELECT_ALL_HOLDS] = QUERY_SELECT_ALL_HOLDS,
    [SELECT_ALL_RUNS] = QUERY_SELECT_ALL_RUNS,
    [SELECT_ALL_TASKS] = QUERY_SELECT_ALL_TASKS,
    [SELECT_ALL_GRANTS] = QUERY_SELECT_ALL_GRANTS,
    [SELECT_ALL_COUNTERS] = QUERY_SELECT_ALL_COUNTERS,
    [SELECT_ALL_NODE_MONTHS] = QUERY_SELECT_ALL_NODE_MONTHS,
    [SELECT_ALL_USAGE] = QUERY_SELECT_ALL_USAGE,
    [SELECT_ALL_DIMS] = QUERY_SELECT_ALL_DIMS,
    [SELECT_ALL_WAITING] = QUERY_SELECT_ALL_WAITING,
    [SELECT_ALL_ROOT_STATES] = QUERY_SELECT_ALL_ROOT_STATES,
};

static enum error_code engine_open(const char *path,
                                   enum store_access access,
                                   void **ret_handle,
                                   struct error *err)
{
    struct sqlite_connection *connection = NULL;
    enum error_code code = sqlite_connection_open(path, access, &connection, err);
    if (code == ERR_OK) {
        *ret_handle = connection;
    }
    return code;
}

static void engine_close(void *handle)
{
    sqlite_connection_close(handle);
}

/* ---- transactions ----------------------------------------------------------------------------- */

static enum error_code engine_begin(void *handle, struct error *err)
{
    struct sqlite_connection *connection = handle;
    enum error_code code = sqlite_connection_ready(connection, err);
    if (code == ERR_OK) {
        const char *sql = connection->access == STORE_READ ? "BEGIN" : "BEGIN IMMEDIATE";
        code = sqlite_connection_run(connection, sql, err);
    }
    connection->in_transaction = code == ERR_OK;
    return code;
}

static void engine_rollback(void *handle)
{
    struct sqlite_connection *connection = handle;
    connection->in_transaction = false;
    if (connection->db != NULL && sqlite3_get_autocommit(connection->db) == 0) {
        int result = sqlite3_exec(connection->db, "ROLLBACK", NULL, NULL, NULL);
        connection->suspect = connection->suspect || result != SQLITE_OK;
    }
}

static enum error_code engine_commit(void *handle, struct error *err)
{
    struct sqlite_connection *connection = handle;
    enum error_code code = ERR_OK;
    if (sqlite3_get_autocommit(connection->db) != 0) {
        /* SQLite gave the transaction up by itself at an error that the caller passed over. */
        code = error_set(err, ERR_UNAVAILABLE, "the transaction was given up before its commit");
    } else {
        code = sqlite_connection_run(connection, "COMMIT", err);
    }
    connection->in_transaction = false;
    if (code != ERR_OK) {
        engine_rollback(connection);
    }
    return code;
}

/* ---- records -------------------------------------------------------------------------------- */

/* Outside a transaction a call stands for itself, and so it may have to start over first. */
static enum error_code ready_to_read(struct sqlite_connection *connection, struct error *err)
{
    return connection->in_transaction ? ERR_OK : sqlite_connection_ready(connection, err);
}

static enum error_code engine_get(void *handle,
                                  const struct record_type *type,
                                  void *record,
                                  bool *ret_found,
                                  struct error *err)
{
    struct sqlite_connection *connection = handle;
    enum error_code code = ready_to_read(connection, err);
    if (code != ERR_OK) {
        return code;
    }
    enum query query = record_queries[type->id].get;
    sqlite3_stmt *statement = connection->statements[query];
    struct sqlite_parameters to = sqlite_connection_parameters(connection, query);
    int result = sqlite_record_bind(&to, type, type->key_count, record);
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    if (result == SQLITE_ROW) {
        code = sqlite_record_read(statement, type, record, err);
    } else if (result != SQLITE_DONE) {
        code = sqlite_connection_fail(connection, result, type->name, err);
    }
    (void)sqlite3_reset(statement);
    if (code == ERR_OK) {
        *ret_found = result == SQLITE_ROW;
    }
    return code;
}

/* Run a statement that gives no rows, with the first fields of a record as its parameters. */
static enum error_code write_record(struct sqlite_connection *connection,
                                    enum query query,
                                    const struct record_type *type,
                                    size_t field_count,
                                    const void *record,
                                    struct error *err)
{
    sqlite3_stmt *statement = connection->statements[query];
    struct sqlite_parameters to = sqlite_connection_parameters(connection, query);
    int result = sqlite_record_bind(&to, type, field_count, record);
    if (result == SQLITE_OK) {
        result = sqlite3_step(statement);
    }
    enum error_code code =
        result == SQLITE_DONE
            ? ERR_OK
            : sqlite_connection_fail(connection, result, query_texts[query].name, err);
    (void)sqlite3_reset(statement);
    return code;
}

/* What is put is there already, nearly always: new records are inserted. */
static enum error_code engine_put(void *handle,
                                  const struct record_type *type,
                                  const void *record,
                                  struct error *err)
{
    struct sqlite_connection *connection = handle;
    const struct record_queries *queries = &record_queries[type->id];
    bool there = false;
    enum error_code code = ERR_OK;
    if (queries->update == QUERY__COUNT) {
        union record_any key;
        record_copy(type, record, &key);
        code = engine_get(handle, type, &key, &there, err);
    } else {
        code = write_record(connection, queries->update, type, type->field_count, record, err);
        there = sqlite3_changes(connection->db) > 0;
    }
    if (code == ERR_OK && !there) {
        code = write_record(connection, queries->insert, type, type->field_count, record, err);
    }
    return code;
}

static enum error_code engine_insert(void *handle,
                                     const struct record_type *type,
                                     const void *const *records,
                                     size_t count,
                                     struct error *err)
{
    struct sqlite_connection *connection = handle;
    enum query query = record_queries[type->id].insert;
    size_t done = 0;
    bool together = connection->rows[type->id].statement != NULL;
    while (together && count - done >= SQLITE_ROWS) {
        int result = sqlite_rows_insert(connection, type, records + done);
        if (result != SQLITE_DONE) {
            return sqlite_connection_fail(connection, result, query_texts[query].name, err);
        }
        done += SQLITE_ROWS;
    }
    enum error_code code = ERR_OK;
    for (; done < count && code == ERR_OK; done++) {
        code = write_record(connection, query, type, type->field_count, records[done], err);
    }
    return code;
}

static enum error_code engine_remove(void *handle,
                                     const struct record_type *type,
                                     const void *record,
                                     struct error *err)
{
    enum query query = record_queries[type->id].remove;
    return write_record(handle, query, type, type->key_count, record, err);
}

/* ---- selections ------------------------------------------------------------------------------- */

/* The statement of a selection; a new one when a row callback asks for the selection it is in. */
static int take_statement(struct sqlite_connection *connection,
                          enum query query,
                          sqlite3_stmt **ret_statement)
{
    *ret_statement = connection->statements[query];
    if (sqlite3_stmt_busy(*ret_statement) == 0) {
        return SQLITE_OK;
    }
    const struct query_text *text = &query_texts[query];
    return sqlite3_prepare_v2(connection->db, text->text, (int)text->bytes + 1, ret_statement,
                              NULL);
}

static void give_statement(struct sqlite_connection *connection,
                           enum query query,
                           sqlite3_stmt *statement)
{
    if (statement == connection->statements[query]) {
        (void)sqlite3_reset(statement);
    } else {
        (void)sqlite3_finalize(statement);
    }
}

/* Parameters: the integers, the texts, the limit. */
static int bind_args(sqlite3_stmt *statement,
                     const struct select_type *type,
                     const struct select_args *args)
{
    int result = SQLITE_OK;
    int index = 1;
    for (int i = 0; i < type->integers && result == SQLITE_OK; i++) {
        result = sqlite3_bind_int64(statement, index++, args->n[i]);
    }
    for (int i = 0; i < type->texts && result == SQLITE_OK; i++) {
        result = sqlite3_bind_text(statement, index++, args->s[i], -1, SQLITE_STATIC);
    }
    if (result == SQLITE_OK) {
        result = sqlite3_bind_int64(statement, index, args->limit == 0 ? INT64_MAX : args->limit);
    }
    return result;
}

static enum error_code engine_select(void *handle,
                                     enum select_kind select,
                                     const struct select_args *args,
                                     store_row_fn row,
                                     void *context,
                                     struct error *err)
{
    struct sqlite_connection *connection = handle;
    enum error_code code = ready_to_read(connection, err);
    if (code != ERR_OK) {
        return code;
    }
    const struct select_type *type = &select_types[select];
    sqlite3_stmt *statement = NULL;
    int result = take_statement(connection, select_queries[select], &statement);
    if (result == SQLITE_OK) {
        result = bind_args(statement, type, args);
    }
    bool more = result == SQLITE_OK;
    union record_any record;
    while (more && code == ERR_OK) {
        result = sqlite3_step(statement);
        if (result != SQLITE_ROW) {
            break;
        }
        code = sqlite_record_read(statement, &record_types[type->record], &record, err);
        more = code == ERR_OK && row(context, &record);
    }
    if (result != SQLITE_ROW && result != SQLITE_DONE) {
        code = sqlite_connection_fail(connection, result, type->name, err);
    }
    give_statement(connection, select_queries[select], statement);
    return code;
}

const struct store_engine sqlite_engine = {
    .version = 1,
    .scheme = "sqlite",
    .open = engine_open,
    .close = engine_close,
    .begin = engine_begin,
    .commit = engine_commit,
    .rollback = engine_rollback,
    .get = engine_get,
    .put = engine_put,
    .insert = engine_insert,
    .remove = engine_remove,
    .select = engine_select,
    .maintain = sqlite_maintain,
    .backup_begin = sqlite_backup_begin,
    .backup_step = sqlite_backup_step,
    .backup_end = sqlite_backup_end,
    .verify = sqlite_verify,
    .stats = sqlite_stats,
};
