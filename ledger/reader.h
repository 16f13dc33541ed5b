/*
 * The inside of a reader, for the files that read: read, read_balance, report, explain, check.
 */
#ifndef LEDGER_READER_H
#define LEDGER_READER_H

#include "ledger/ledger.h"
#include "ledger/shell.h"
#include "ledger/store/store.h"

struct ledger_reader {
    struct store *store;
    bool begun;
    struct model_names models; /* numbers of models never change their names */
    int64_t time_root_no;      /* whose calendar is in `time`, at which version of the root */
    int64_t time_version;
    struct root_time time;
};

/** A record by its key, already in @record. ERR_NOT_FOUND with @what when it is not there. */
MUST_USE enum error_code reader_get(struct ledger_reader *reader,
                                    enum record_id type,
                                    void *record,
                                    const char *what,
                                    struct error *err);

/** The same, where a missing record is no error. */
MUST_USE enum error_code reader_look(struct ledger_reader *reader,
                                     enum record_id type,
                                     void *record,
                                     bool *ret_found,
                                     struct error *err);

/** The calendar of a root with the windows of now_s; borrowed until the next call. */
MUST_USE enum error_code reader_time(struct ledger_reader *reader,
                                     const struct node *root,
                                     int64_t now_s,
                                     const struct root_time **ret_time,
                                     struct error *err);

/** Used by a node in the window of a cap's kind that contains the time's second. */
MUST_USE enum error_code reader_window_used(struct ledger_reader *reader,
                                            const struct counter *counter,
                                            enum cap_kind kind,
                                            const struct root_time *time,
                                            int64_t *ret_used_mcs,
                                            struct error *err);

/** The name of a model, "" when there is none; borrowed until the next call. */
MUST_USE enum error_code reader_model(struct ledger_reader *reader,
                                      int64_t model_no,
                                      const char **ret_name,
                                      struct error *err);

/** Begin a snapshot unless one is open; the second ends it if the first began it. */
MUST_USE enum error_code reader_begin(struct ledger_reader *reader,
                                      bool *ret_began,
                                      struct error *err);
void reader_end(struct ledger_reader *reader, bool began);

#endif
