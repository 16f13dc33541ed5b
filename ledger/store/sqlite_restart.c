/*
 * Starting over after an I/O error.
 */
#include "ledger/store/sqlite_restart.h"

#include <string.h>

enum error_code sqlite_restart_void(struct sqlite_connection *connection, struct error *err)
{
    if (sqlite3_get_autocommit(connection->db) == 0) {
        (void)sqlite3_exec(connection->db, "ROLLBACK", NULL, NULL, NULL);
    }
    sqlite3_stmt *statement = connection->statements[QUERY_UPDATE_ENGINE_RESTART];
    int result = sqlite3_step(statement);
    (void)sqlite3_reset(statement);
    return result == SQLITE_DONE
               ? ERR_OK
               : sqlite_connection_fail(connection, result, "waiting for the disk", err);
}

/* Is there a row of a selection by root and number behind the last one? */
static bool has_more(struct sqlite_connection *connection,
                     enum query query,
                     int64_t root_no,
                     int64_t last)
{
    sqlite3_stmt *statement = connection->statements[query];
    (void)sqlite3_bind_int64(statement, 1, root_no);
    (void)sqlite3_bind_int64(statement, 2, last);
    (void)sqlite3_bind_int64(statement, 3, 1);
    bool more = sqlite3_step(statement) != SQLITE_DONE;
    (void)sqlite3_reset(statement);
    return more;
}

/* The last link is the one that the root remembers, and nothing follows it. */
static bool end_agrees(struct sqlite_connection *connection, const struct root_state *state)
{
    if (has_more(connection, QUERY_SELECT_CHAIN, state->root_no, state->last_txn) ||
        has_more(connection, QUERY_SELECT_ENTRIES, state->root_no, state->last_seq)) {
        return false;
    }
    if (state->last_txn == 0) {
        return true;
    }
    const struct record_type *type = &record_types[RECORD_CHAIN_LINK];
    struct chain_link link = {.root_no = state->root_no, .txn_no = state->last_txn};
    sqlite3_stmt *statement = connection->statements[QUERY_GET_CHAIN_LINK];
    struct sqlite_parameters to = sqlite_connection_parameters(connection, QUERY_GET_CHAIN_LINK);
    (void)sqlite_record_bind(&to, type, type->key_count, &link);
    bool found = sqlite3_step(statement) == SQLITE_ROW &&
                 sqlite_record_read(statement, type, &link, NULL) == ERR_OK;
    (void)sqlite3_reset(statement);
    return found && link.last_seq == state->last_seq &&
           memcmp(link.hash.bytes, state->hash.bytes, sizeof link.hash.bytes) == 0;
}

enum error_code sqlite_restart_check(struct sqlite_connection *connection, struct error *err)
{
    const struct record_type *type = &record_types[RECORD_ROOT_STATE];
    sqlite3_stmt *statement = connection->statements[QUERY_SELECT_ALL_ROOT_STATES];
    (void)sqlite3_bind_int64(statement, 1, INT64_MAX);
    struct root_state state = {.root_no = 0};
    enum error_code code = ERR_OK;
    bool agrees = true;
    int result = sqlite3_step(statement);
    while (result == SQLITE_ROW && code == ERR_OK && agrees) {
        code = sqlite_record_read(statement, type, &state, err);
        agrees = code == ERR_OK && end_agrees(connection, &state);
        result = agrees ? sqlite3_step(statement) : result;
    }
    (void)sqlite3_reset(statement);
    if (code != ERR_OK) {
        return code;
    }
    if (!agrees) {
        return error_set(err, ERR_INTERNAL,
                         "the journal of root %lld does not end where it should: run corehourd "
                         "check, restore a backup",
                         (long long)state.root_no);
    }
    return result == SQLITE_DONE
               ? ERR_OK
               : sqlite_connection_fail(connection, result, "reading the journal's end", err);
}
