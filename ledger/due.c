/*
 * See due.h. Everything due becomes an ordinary command, so that nothing changes the ledger but
 * ledger_execute(). Asking again before the commands are carried out gives them again, which does
 * no harm.
 */
#include "ledger/due.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/lists.h"
#include "ledger/zones.h"

/* How far back grants that began while nobody looked are searched for, at the first look. */
#define FIRST_LOOK_S INT64_C(34560000)

/* The commands in the making. */
struct agenda {
    struct command *commands;
    size_t most;
    size_t count;
};

/* The next command, emptied; NULL when there is no more room. */
static struct command *next_command(struct agenda *agenda, enum command_kind kind)
{
    if (agenda->count == agenda->most) {
        return NULL;
    }
    struct command *command = &agenda->commands[agenda->count++];
    memset(command, 0, sizeof *command);
    command->kind = kind;
    command->role = ROLE_ADMIN;
    return command;
}

static bool add_hold(void *context, const void *record)
{
    struct command *command = next_command(context, COMMAND_EXPIRE_HOLD);
    if (command != NULL) {
        command->all_tasks = true;
        command->due.hold_no = ((const struct hold *)record)->hold_no;
    }
    return command != NULL;
}

static bool add_grant(void *context, const void *record)
{
    struct command *command = next_command(context, COMMAND_END_GRANT);
    if (command != NULL) {
        command->due.grant_no = ((const struct grant *)record)->grant_no;
    }
    return command != NULL;
}

static int64_t room(const struct agenda *agenda)
{
    return (int64_t)(agenda->most - agenda->count);
}

static void look_at_holds(struct ledger *ledger, struct agenda *agenda, int64_t now_s)
{
    struct select_args args = {.n = {now_s}, .limit = room(agenda)};
    if (args.limit > 0) {
        working_set_select(ledger->set, SELECT_HOLDS_DUE, &args, add_hold, agenda);
    }
}

static void look_at_grant_ends(struct ledger *ledger, struct agenda *agenda, int64_t now_s)
{
    struct select_args args = {.n = {now_s}, .limit = room(agenda)};
    if (args.limit > 0) {
        working_set_select(ledger->set, SELECT_GRANTS_DUE, &args, add_grant, agenda);
    }
}

/* ---- grants that begin: they free room for what waits */

struct beginnings {
    struct agenda *agenda;
    int64_t looked_s; /* up to here all have been seen to */
    bool full;
};

static bool add_beginning(void *context, const void *record)
{
    const struct grant *grant = record;
    struct beginnings *beginnings = context;
    struct agenda *agenda = beginnings->agenda;
    for (size_t i = 0; i < agenda->count; i++) {
        const struct command *command = &agenda->commands[i];
        if (command->kind == COMMAND_TURN_MONTH && command->due.root_no == grant->root_no) {
            return true;
        }
    }
    struct command *command = next_command(agenda, COMMAND_TURN_MONTH);
    beginnings->full = command == NULL;
    if (beginnings->full) {
        beginnings->looked_s = grant->start_s - 1;
        return false;
    }
    command->due.root_no = grant->root_no;
    return true;
}

static void look_at_grant_starts(struct ledger *ledger, struct agenda *agenda, int64_t now_s)
{
    int64_t from_s = ledger->grants_looked_s == 0 ? now_s - FIRST_LOOK_S : ledger->grants_looked_s;
    struct beginnings beginnings = {.agenda = agenda, .looked_s = now_s};
    struct select_args args = {.n = {from_s, now_s}};
    if (room(agenda) > 0 && now_s > from_s) {
        working_set_select(ledger->set, SELECT_GRANTS_STARTING, &args, add_beginning, &beginnings);
        ledger->grants_looked_s = beginnings.looked_s;
    }
}

/* ---- months */

struct root_list {
    int64_t *nos;
    size_t count;
    size_t capacity;
    bool failed;
};

static bool collect_root(void *context, const void *record)
{
    struct root_list *list = context;
    if (list->count == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        int64_t *nos = realloc(list->nos, capacity * sizeof *nos);
        if (nos == NULL) {
            list->failed = true;
            return false;
        }
        list->nos = nos;
        list->capacity = capacity;
    }
    list->nos[list->count++] = ((const struct node *)record)->node_no;
    return true;
}

struct turning {
    struct agenda *agenda;
    int64_t root_no;
    int64_t month;
    int64_t boundary_s;
    bool any;
};

static bool add_run(void *context, const void *record)
{
    const struct run *run = record;
    struct turning *turning = context;
    struct command *command = next_command(turning->agenda, COMMAND_TURN_RUN);
    if (command == NULL) {
        return false;
    }
    turning->any = true;
    command->due = (struct command_due){
        .hold_no = run->hold_no,
        .task = run->task,
        .attempt = run->attempt,
        .root_no = turning->root_no,
        .month = turning->month,
        .at_s = turning->boundary_s,
    };
    return true;
}

void due_turned(struct ledger *ledger, const struct command *command)
{
    ledger->turn = (struct turn_cursor){
        .root_no = command->due.root_no,
        .month = command->due.month,
        .hold_no = command->due.hold_no,
        .task = command->due.task,
        .attempt = command->due.attempt,
    };
}

/* Charge the runs of a root up to the start of the next month, then turn it. */
static void turn_root(struct ledger *ledger, struct agenda *agenda, struct turning *turning)
{
    const struct turn_cursor *turn = &ledger->turn;
    bool going_on = turn->root_no == turning->root_no && turn->month == turning->month;
    struct select_args args = {.n = {turning->root_no, turning->boundary_s}, .limit = room(agenda)};
    if (going_on) {
        args.n[2] = turn->hold_no;
        args.n[3] = turn->task;
        args.n[4] = turn->attempt;
    }
    if (args.limit <= 0) {
        return;
    }
    working_set_select(ledger->set, SELECT_RUNS_BEHIND, &args, add_run, turning);
    struct command *command = turning->any ? NULL : next_command(agenda, COMMAND_TURN_MONTH);
    if (command != NULL) {
        command->due.root_no = turning->root_no;
        command->due.month = turning->month;
    }
}

/* Look at one root. Returns when its next month begins. */
static int64_t look_at_root(struct ledger *ledger,
                            struct agenda *agenda,
                            int64_t root_no,
                            int64_t now_s)
{
    const struct node *root = row_get(ledger->set, RECORD_NODE, root_no);
    const struct root_state *state = row_get(ledger->set, RECORD_ROOT_STATE, root_no);
    if (root == NULL || state == NULL) {
        return INT64_MAX;
    }
    const struct root_time *time = zones_at(ledger, root, now_s);
    if (state->turned_month >= time->month) {
        return time->window_end_s[CAP_MONTH];
    }
    struct turning turning = {
        .agenda = agenda,
        .root_no = root_no,
        .month = state->turned_month + 1,
    };
    turning.boundary_s = calendar_month_start(&time->calendar, (int32_t)turning.month);
    turn_root(ledger, agenda, &turning);
    return now_s;
}

static void look_at_months(struct ledger *ledger, struct agenda *agenda, int64_t now_s)
{
    bool known = ledger->next_turn_generation == working_set_generation(ledger->set);
    if (known && now_s < ledger->next_turn_s) {
        return;
    }
    struct root_list roots = {0};
    struct select_args args = {0};
    int64_t next_s = INT64_MAX;
    working_set_select(ledger->set, SELECT_ROOTS, &args, collect_root, &roots);
    for (size_t i = 0; i < roots.count; i++) {
        int64_t root_next_s = look_at_root(ledger, agenda, roots.nos[i], now_s);
        next_s = root_next_s < next_s ? root_next_s : next_s;
    }
    ledger->next_turn_s = roots.failed ? now_s : next_s;
    ledger->next_turn_generation = working_set_generation(ledger->set);
    free(roots.nos);
}

enum error_code ledger_due(struct ledger *ledger,
                           int64_t now_ms,
                           struct command *commands,
                           size_t most,
                           size_t *ret_count,
                           struct error *err)
{
    struct agenda agenda = {.commands = commands, .most = most};
    int64_t now_s = now_ms / 1000;
    enum error_code code = working_set_begin(ledger->set, err);
    if (code != ERR_OK) {
        return code;
    }
    ledger->clock_ms = now_ms;
    look_at_grant_ends(ledger, &agenda, now_s);
    look_at_months(ledger, &agenda, now_s);
    look_at_grant_starts(ledger, &agenda, now_s);
    look_at_holds(ledger, &agenda, now_s);
    code = working_set_commit(ledger->set, err);
    if (code == ERR_OK) {
        *ret_count = agenda.count;
    } else {
        lists_forget(ledger);
        zones_forget(ledger);
    }
    return code;
}
