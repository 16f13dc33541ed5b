/*
 * Records to parameters, columns to records, by descriptor alone.
 *
 * This is the hot path of every write: no allocation, texts are bound where they lie in the record.
 * What is read is never trusted: a number that does not fit its field, a text that is too long or
 * holds a NUL, a list that is not canonical is damage and is named as such.
 */
#include <string.h>

#include "ledger/store/sqlite_connection.h"

/* Zeros and empty texts stay bound from one use of a statement to the next: most fields of most
 * records are blank. */
static bool stays_blank(uint64_t *blanks, size_t parameter, bool blank)
{
    uint64_t bit = UINT64_C(1) << parameter;
    bool was_blank = (*blanks & bit) != 0;
    *blanks = blank ? *blanks | bit : *blanks & ~bit;
    return blank && was_blank;
}

static int bind_integer(const struct sqlite_parameters *to, size_t field, int64_t value)
{
    if (stays_blank(to->blanks, field, value == 0)) {
        return SQLITE_OK;
    }
    return sqlite3_bind_int64(to->statement, to->first + (int)field, value);
}

static int bind_text(const struct sqlite_parameters *to,
                     size_t field,
                     const char *text,
                     size_t bytes)
{
    if (stays_blank(to->blanks, field, bytes == 0)) {
        return SQLITE_OK;
    }
    const char *lasting = bytes == 0 ? "" : text;
    return sqlite3_bind_text(to->statement, to->first + (int)field, lasting, (int)bytes,
                             SQLITE_STATIC);
}

struct sqlite_parameters sqlite_connection_parameters(struct sqlite_connection *connection,
                                                      enum query query)
{
    return (struct sqlite_parameters){
        .statement = connection->statements[query],
        .first = 1,
        .blanks = &connection->blanks[query],
        .list_text = connection->list_text,
    };
}

int sqlite_record_bind(const struct sqlite_parameters *parameters,
                       const struct record_type *type,
                       size_t field_count,
                       const void *record)
{
    const struct sqlite_parameters to = *parameters;
    size_t lists = 0;
    int result = SQLITE_OK;
    for (size_t i = 0; i < field_count && result == SQLITE_OK; i++) {
        const struct record_field *field = &type->fields[i];
        const char *at = (const char *)record + field->offset;
        int64_t wide;
        int32_t narrow;
        char *list;
        switch (field->kind) {
        case FIELD_I64:
            memcpy(&wide, at, sizeof wide);
            result = bind_integer(&to, i, wide);
            break;
        case FIELD_I32:
            memcpy(&narrow, at, sizeof narrow);
            result = bind_integer(&to, i, narrow);
            break;
        case FIELD_TEXT:
            result = bind_text(&to, i, at, strlen(at));
            break;
        case FIELD_BLOB:
            result = sqlite3_bind_blob(to.statement, to.first + (int)i, at, (int)field->size,
                                       SQLITE_STATIC);
            break;
        case FIELD_LIST:
            list = to.list_text[lists++];
            result = bind_text(&to, i, list, record_list_encode(field, record, list));
            break;
        }
    }
    return result;
}

static bool read_text(sqlite3_stmt *statement,
                      int column,
                      const struct record_field *field,
                      char *to)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    size_t bytes = (size_t)sqlite3_column_bytes(statement, column);
    if (text == NULL || bytes >= field->size || memchr(text, '\0', bytes) != NULL) {
        return false;
    }
    memcpy(to, text, bytes + 1);
    return true;
}

static bool read_narrow(sqlite3_stmt *statement, int column, char *to)
{
    int64_t value = sqlite3_column_int64(statement, column);
    int32_t narrow = (int32_t)value;
    memcpy(to, &narrow, sizeof narrow);
    return narrow == value;
}

static bool read_blob(sqlite3_stmt *statement,
                      int column,
                      const struct record_field *field,
                      char *to)
{
    const void *blob = sqlite3_column_blob(statement, column);
    if (blob == NULL || (size_t)sqlite3_column_bytes(statement, column) != field->size) {
        return false;
    }
    memcpy(to, blob, field->size);
    return true;
}

static bool read_field(sqlite3_stmt *statement,
                       int column,
                       const struct record_field *field,
                       void *ret_record)
{
    char *to = (char *)ret_record + field->offset;
    int64_t value;
    switch (field->kind) {
    case FIELD_I64:
        value = sqlite3_column_int64(statement, column);
        memcpy(to, &value, sizeof value);
        return true;
    case FIELD_I32:
        return read_narrow(statement, column, to);
    case FIELD_TEXT:
        return read_text(statement, column, field, to);
    case FIELD_BLOB:
        return read_blob(statement, column, field, to);
    case FIELD_LIST:
        break;
    }
    const char *text = (const char *)sqlite3_column_text(statement, column);
    size_t bytes = (size_t)sqlite3_column_bytes(statement, column);
    return text != NULL && record_list_decode(field, text, bytes, ret_record);
}

enum error_code sqlite_record_read(sqlite3_stmt *statement,
                                   const struct record_type *type,
                                   void *ret_record,
                                   struct error *err)
{
    size_t i = 0;
    while (i < type->field_count && read_field(statement, (int)i, &type->fields[i], ret_record)) {
        i++;
    }
    if (i == type->field_count) {
        return ERR_OK;
    }
    return error_set(err, ERR_INTERNAL,
                     "the ledger is damaged or out of memory: unreadable %s of a %s",
                     type->fields[i].name, type->name);
}
