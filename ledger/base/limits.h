/*
 * Every bound on what comes from outside, in one place (SPEC 1.6, 11.4).
 *
 * A bound that is exceeded is answered with its own 4xx or 503, named beside it. Sizes in bytes do
 * not count a terminating NUL; buffers are declared [LIMIT_X_BYTES + 1].
 */
#ifndef LEDGER_BASE_LIMITS_H
#define LEDGER_BASE_LIMITS_H

#include <stdint.h>

/* Amounts, rates and times (SPEC 1.1 to 1.4). */
#define LIMIT_COMMAND_MCS \
    INT64_C(9007199254740991) /* 2^53 - 1: largest amount of one command; invalid_field */
#define LIMIT_TIME_S \
    INT64_C(253402300799)      /* 9999-12-31T23:59:59Z, the last second that RFC 3339 writes */
#define LIMIT_FUTURE_S     300 /* how far ahead of now a job's time may be; time_in_future */
#define LIMIT_TIME_LIMIT_S 3155760000 /* longest time limit of a job, 100 years; invalid_field */
#define LIMIT_TTL_S        31536000   /* longest ttl of an unbound hold, one year; invalid_field */
#define LIMIT_RATE_MCORES \
    INT64_C(1000000000000)     /* largest rate of one task, 10^9 cores; invalid_field */
#define LIMIT_PERMILLE 1000000 /* largest multiplier of a rate row, 1000-fold; invalid_field */

/* Resources of one task (SPEC 5.2, 7.1). */
#define LIMIT_CORES       10000000               /* cores; invalid_field */
#define LIMIT_MEMORY_MIB  INT64_C(1099511627776) /* MiB, 2^40; invalid_field */
#define LIMIT_GPU_COUNT   1000000                /* GPUs of one entry; invalid_field */
#define LIMIT_GPU_ENTRIES 8                      /* GPU entries of a hold; too_many_gpus */
#define LIMIT_RATE_ROWS   32                    /* rows of a rate card version; invalid_field */
#define LIMIT_RATE_MODELS 32                     /* GPU models of a rate row; invalid_field */

/* The tree and its caps (SPEC 2, 4). */
#define LIMIT_LEVELS        8  /* nodes from root to project, both counted; too_many_levels */
#define LIMIT_CAPS_PER_NODE 32 /* caps of an organization, a project or a member; too_many_caps */
#define LIMIT_PATH_CAPS                                                                          \
    ((LIMIT_LEVELS + 1) * LIMIT_CAPS_PER_NODE) /* caps that one freeze can meet, member included \
                                                */
#define LIMIT_CLUSTER_ROOTS 64                 /* roots that a cluster lists; invalid_field */

/* Holds, tasks, runs (SPEC 5). */
#define LIMIT_TASKS          100000 /* tasks of a hold; too_many_tasks */
#define LIMIT_DRAWS          16     /* grants that one freeze may draw on; too_many_draws */
#define LIMIT_HOSTS_BYTES    4096   /* host names of a run, joined by commas; invalid_field */
#define LIMIT_RUN_DAYS       4096   /* longest run, 11 years; invalid_field */
#define LIMIT_REPORT_GROUPS  500000 /* rows of one report in JSON; invalid_field */
#define LIMIT_HEARTBEAT_RUNS 5000   /* runs of one heartbeat; too_many_runs */
#define LIMIT_BATCH_LINES    10000  /* lines of a batch, events of a batch; too_many_lines */
#define LIMIT_HOLDERS        5      /* holders named in one violation (SPEC 6.2) */
#define LIMIT_EXECUTE_RETRIES \
    8 /* runs of load, decide, apply when the engine reports a conflict; unavailable */
#define LIMIT_FEED_EVENTS       1000 /* events of one feed answer */
#define LIMIT_PAGE_SIZE         1000 /* items of one page; invalid_field */
#define LIMIT_PAGE_SIZE_DEFAULT 100  /* items of one page when page_size is not given */

/* Texts, in bytes without the NUL. */
#define LIMIT_NAME_BYTES \
    128 /* names of people, jobs, partitions, models: UTF-8 without control characters */
#define LIMIT_ID_BYTES           64   /* ids: [A-Za-z0-9][A-Za-z0-9._:-]{0,63} */
#define LIMIT_NODE_NAME_BYTES    63   /* organizations and projects: [a-z0-9][a-z0-9._-]{0,62} */
#define LIMIT_ZONE_BYTES         64   /* name of a time zone */
#define LIMIT_JOB_KEY_BYTES      128  /* job_key and run_key */
#define LIMIT_REASON_BYTES       256  /* reason, note, contact */
#define LIMIT_CURRENCY_BYTES     3    /* ISO 4217 */
#define LIMIT_TASK_LIST_BYTES    4096 /* a task list such as "3-9,12" */
#define LIMIT_ERROR_FIELD_BYTES  63   /* struct error: dotted name of the field at fault */
#define LIMIT_ERROR_DETAIL_BYTES 239  /* struct error: one line for people */

/* What the daemon reads and keeps (SPEC 1.6, 11.4). */
#define LIMIT_BODY_BYTES      (64 * 1024)        /* any body but the two below; too_large */
#define LIMIT_BATCH_BYTES     (16 * 1024 * 1024) /* body of a batch or of events; too_large */
#define LIMIT_HEARTBEAT_BYTES (1024 * 1024)      /* body of a heartbeat; too_large */
#define LIMIT_URL_BYTES       4096               /* path and query; too_large */
#define LIMIT_HEADER_BYTES    (16 * 1024)        /* all request headers; too_large */
#define LIMIT_JSON_DEPTH      32                 /* nesting of a JSON body; malformed */
#define LIMIT_QUEUE_COMMANDS  4096        /* commands waiting for the ledger thread; overloaded */
#define LIMIT_CONNECTIONS     10000       /* open connections; overloaded */
#define LIMIT_FEED_WAIT_S     60          /* longest wait of a long poll; invalid_field */
#define LIMIT_SHUTDOWN_S      20          /* SIGTERM to exit, long polls included */
#define LIMIT_READ_BACKEND_MS 20          /* holders and earliest_at after a refusal (SPEC 6.4) */
#define LIMIT_CONFIG_BYTES    (64 * 1024) /* the configuration file */

#endif
