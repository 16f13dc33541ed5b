/*
 * A person's name overwritten (SPEC 2.4), without holding anybody up: a reader looks through the audit log, which may be
 * long, page by page; one transaction renames memberships, users, tokens and what the log has got meanwhile; small ones
 * overwrite what the reader found. The answer is sent when all is done. After a crash in between, the same request does the
 * rest: what still has the name is found again.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/base/log.h"
#include "server/api.h"
#include "server/decode_commands.h"

/* Changes that name the person. */
struct named {
    int64_t *nos; /* owned */
    size_t count;
    size_t capacity;
    int64_t looked_no; /* so far the log has been looked through */
};

static bool add(struct named *named, const struct ledger_named *page)
{
    if (named->capacity - named->count < page->count) {
        const size_t capacity = 2 * named->capacity + OVERWRITE_CHANGES;
        int64_t *nos = realloc(named->nos, capacity * sizeof(nos[0]));
        if (nos == NULL) {
            return false;
        }
        named->nos = nos;
        named->capacity = capacity;
    }
    if (page->count > 0) {
        memcpy(named->nos + named->count, page->nos, page->count * sizeof(page->nos[0]));
    }
    named->count += page->count;
    named->looked_no = page->last_no;
    return true;
}

/* A page is read in a snapshot of its own, so that none stays open for long. */
static enum error_code look(struct ledger_reader *reader,
                            const char *person,
                            struct named *named,
                            struct error *err)
{
    struct ledger_named page;
    do {
        enum error_code code = ledger_reader_begin(reader, err);
        if (code != ERR_OK) {
            return code;
        }
        code = ledger_find_name(reader, person, named->looked_no, &page, err);
        ledger_reader_end(reader);
        if (code != ERR_OK) {
            return code;
        }
        if (!add(named, &page)) {
            return error_set(err, ERR_UNAVAILABLE, "out of memory");
        }
    } while (page.has_more);
    return ERR_OK;
}

static enum error_code run_one(struct request *request,
                               const struct command *command,
                               struct ledger_result *result,
                               const struct ledger_actor *actor,
                               struct error *err)
{
    const struct command *commands[] = {command};
    const struct ledger_work work = {
        .commands = commands,
        .results = result,
        .count = 1,
        .actor = actor,
    };
    const enum error_code code = batcher_run(request->service->batcher, &work, err);
    if (code == ERR_OK && result->error.code != ERR_OK) {
        *err = result->error;
    }
    return code == ERR_OK ? result->error.code : code;
}

/* What the reader found, a piece at a time, with others' commands in between. */
static enum error_code overwrite(struct request *request,
                                 const struct named *named,
                                 struct ledger_renamed *renamed,
                                 struct error *err)
{
    const struct command_rename *given = &request->slot->command.rename;
    enum error_code code = ERR_OK;
    for (size_t done = 0; done < named->count && code == ERR_OK; done += OVERWRITE_CHANGES) {
        const size_t left = named->count - done;
        const size_t count = left < OVERWRITE_CHANGES ? left : OVERWRITE_CHANGES;
        struct ledger_result result = {.replayed = false};
        struct command command;
        command_reset(&command, COMMAND_OVERWRITE);
        command.role = ROLE_ADMIN;
        memcpy(command.overwrite.person, given->person, sizeof(given->person));
        memcpy(command.overwrite.to, given->to, sizeof(given->to));
        memcpy(command.overwrite.nos, named->nos + done, count * sizeof(named->nos[0]));
        command.overwrite.by_no = renamed->by_no;
        command.overwrite.count = (int64_t)count;
        code = run_one(request, &command, &result, NULL, err);
        renamed->changes += code == ERR_OK ? result.renamed.changes : 0;
        ledger_result_fini(&result);
    }
    return code;
}

static enum error_code rename_person(struct request *request,
                                     struct ledger_reader *reader,
                                     struct named *named,
                                     struct error *err)
{
    struct command_slot *slot = request->slot;
    struct command_rename *given = &slot->command.rename;
    enum error_code code = look(reader, given->person, named, err);
    given->looked_no = named->looked_no;
    given->found = (int64_t)named->count;
    if (code == ERR_OK) {
        code = run_one(request, &slot->command, &slot->result, slot->item.work.actor, err);
    }
    if (code == ERR_OK && request->dry_run) {
        slot->result.renamed.changes += given->found;
    } else if (code == ERR_OK) {
        code = overwrite(request, named, &slot->result.renamed, err);
    }
    return code;
}

void api_read_rename(struct request *request, struct ledger_reader *reader)
{
    struct named named = {.count = 0};
    struct error err = {.code = ERR_OK};
    if (rename_person(request, reader, &named, &err) != ERR_OK) {
        request->slot->result.error = err;
    }
    free(named.nos);
    /* Names of tokens have changed. */
    if (auth_reload(request->service->auth, reader, request->now_ms, &err) != ERR_OK) {
        log_event(LOG_ERROR, "tokens_not_reloaded", log_text("detail", err.detail));
    }
}
