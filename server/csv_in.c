/* See csv_in.h. */
#include "server/csv_in.h"

#include <string.h>

void csv_in_init(struct csv_in *in, const char *bytes, size_t length_bytes)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t mark_bytes = sizeof(mark) - 1;
    const bool has_mark = length_bytes >= mark_bytes && memcmp(bytes, mark, mark_bytes) == 0;
    *in = (struct csv_in){
        .at = has_mark ? bytes + mark_bytes : bytes,
        .end = bytes + length_bytes,
        .line = 1,
    };
}

/* A record in the making. */
struct filling {
    struct csv_in *in;
    struct csv_record *record;
    size_t used; /* of the room */
    const char *fault;
};

static void put_byte(struct filling *filling, char byte)
{
    if (filling->used + 1 >= CSV_RECORD_BYTES) {
        filling->fault = "a record is longer than 2048 bytes";
    } else {
        filling->record->room[filling->used++] = byte;
    }
}

static bool is_line_end(const struct csv_in *in)
{
    return in->at < in->end &&
           (*in->at == '\n' || (*in->at == '\r' && in->at + 1 < in->end && in->at[1] == '\n'));
}

static bool is_control(char byte)
{
    return (unsigned char)byte < 0x20 || (unsigned char)byte == 0x7f;
}

static void read_plain(struct filling *filling)
{
    struct csv_in *in = filling->in;
    while (in->at < in->end && *in->at != ',' && !is_line_end(in)) {
        if (*in->at == '"') {
            filling->fault = "a quote within a field that is not quoted";
        } else if (is_control(*in->at)) {
            filling->fault = "a control character";
        }
        put_byte(filling, *in->at++);
    }
}

static void read_quoted(struct filling *filling)
{
    struct csv_in *in = filling->in;
    in->at++;
    for (; in->at < in->end; in->at++) {
        if (*in->at == '"') {
            if (in->at + 1 >= in->end || in->at[1] != '"') {
                break;
            }
            in->at++;
        } else if (is_control(*in->at)) {
            filling->fault = "a control character";
            in->line += *in->at == '\n';
        }
        put_byte(filling, *in->at);
    }
    if (in->at == in->end) {
        filling->fault = "a quote that does not end";
        return;
    }
    in->at++;
    if (in->at < in->end && *in->at != ',' && !is_line_end(in)) {
        filling->fault = "text behind a quoted field";
        read_plain(filling);
    }
}

static void read_field(struct filling *filling)
{
    struct csv_record *record = filling->record;
    struct csv_in *in = filling->in;
    if (record->count == CSV_FIELDS) {
        filling->fault = "more than 16 fields";
    } else {
        record->fields[record->count++] = record->room + filling->used;
    }
    if (in->at < in->end && *in->at == '"') {
        read_quoted(filling);
    } else {
        read_plain(filling);
    }
    record->room[filling->used] = '\0';
    filling->used += filling->used + 1 < CSV_RECORD_BYTES;
}

static void skip_line_end(struct csv_in *in)
{
    if (in->at < in->end) {
        in->at += *in->at == '\r' ? 2 : 1;
        in->line++;
    }
}

enum error_code csv_in_next(struct csv_in *in,
                            struct csv_record *ret_record,
                            bool *ret_found,
                            struct error *err)
{
    while (is_line_end(in)) {
        skip_line_end(in);
    }
    struct filling filling = {.in = in, .record = ret_record};
    ret_record->line = in->line;
    ret_record->count = 0;
    *ret_found = in->at < in->end;
    if (!*ret_found) {
        return ERR_OK;
    }
    read_field(&filling);
    while (in->at < in->end && *in->at == ',') {
        in->at++;
        read_field(&filling);
    }
    skip_line_end(in);
    return filling.fault == NULL ? ERR_OK : error_set(err, ERR_INVALID_FIELD, "%s", filling.fault);
}
