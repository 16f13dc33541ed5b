/*
 * Many records of a type with one statement.
 */
#include "ledger/store/sqlite_rows.h"

#include <string.h>

bool sqlite_rows_wanted(const struct record_type *type)
{
    bool lists = false;
    for (size_t i = 0; i < type->field_count; i++) {
        lists = lists || type->fields[i].kind == FIELD_LIST;
    }
    return !lists && type->field_count <= SQLITE_ROW_FIELDS;
}

/* "(?1, ?2), (?3, ?4)" for two rows of two fields. */
static void append_rows(sqlite3_str *text, size_t field_count)
{
    int parameter = 1;
    for (size_t row = 0; row < SQLITE_ROWS; row++) {
        for (size_t field = 0; field < field_count; field++) {
            const char *before = field > 0 ? ", " : row > 0 ? "), (" : "(";
            sqlite3_str_appendf(text, "%s?%d", before, parameter++);
        }
    }
    sqlite3_str_appendall(text, ")");
}

/* The text of insert_<record>. */
static const char *insert_text(const struct record_type *type)
{
    static const char verb[] = "insert_";
    size_t i = 0;
    while (strncmp(query_texts[i].name, verb, sizeof verb - 1) != 0 ||
           strcmp(query_texts[i].name + sizeof verb - 1, type->name) != 0) {
        i++;
        assert(i < QUERY__COUNT);
    }
    return query_texts[i].text;
}

int sqlite_rows_prepare(struct sqlite_connection *connection, const struct record_type *type)
{
    static const char keyword[] = "VALUES";
    const char *single = insert_text(type);
    const char *values = strstr(single, keyword);
    assert(values != NULL);
    sqlite3_str *text = sqlite3_str_new(connection->db);
    sqlite3_str_append(text, single, (int)(values - single) + (int)sizeof keyword - 1);
    append_rows(text, type->field_count);
    char *sql = sqlite3_str_finish(text);
    if (sql == NULL) {
        return SQLITE_NOMEM;
    }
    struct sqlite_rows *rows = &connection->rows[type->id];
    int result = sqlite3_prepare_v3(connection->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                    &rows->statement, NULL);
    sqlite3_free(sql);
    return result;
}

int sqlite_rows_insert(struct sqlite_connection *connection,
                       const struct record_type *type,
                       const void *const *records)
{
    struct sqlite_rows *rows = &connection->rows[type->id];
    int result = SQLITE_OK;
    for (size_t i = 0; i < SQLITE_ROWS && result == SQLITE_OK; i++) {
        const struct sqlite_parameters to = {
            .statement = rows->statement,
            .first = (int)(i * type->field_count) + 1,
            .blanks = &rows->blanks[i],
        };
        result = sqlite_record_bind(&to, type, type->field_count, records[i]);
    }
    if (result == SQLITE_OK) {
        result = sqlite3_step(rows->statement);
    }
    (void)sqlite3_reset(rows->statement);
    return result;
}
