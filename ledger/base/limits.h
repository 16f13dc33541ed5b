/*
 * Every bound on what comes from outside, in one place (SPEC 1.6, 11.4).
 *
 * A bound that is exceeded has its own 4xx or 503, named beside it (iv stands for invalid_field).
 * Sizes in bytes do not count a terminating NUL; buffers are declared [LIMIT_X_BYTES + 1].
 */
#ifndef LEDGER_BASE_LIMITS_H
#define LEDGER_BASE_LIMITS_H

#include <stdint.h>

/* Amounts, rates and times (SPEC 1.1 to 1.4). */
#define LIMIT_COMMAND_MCS  INT64_C(9007199254740991) /* one command: 2^53 - 1 mcs; iv */
#define LIMIT_RATE_MCORES  INT64_C(1000000000000)    /* one task: 10^9 cores; iv */
#define LIMIT_PERMILLE     1000000                   /* multiplier of a rate row: 1000-fold; iv */
#define LIMIT_TIME_S       INT64_C(253402300799)     /* 9999-12-31T23:59:59Z, RFC 3339's last; iv */
#define LIMIT_TIME_LIMIT_S INT64_C(353894400)        /* time limit of a job: LIMIT_RUN_DAYS; iv */
#define LIMIT_TTL_S        31536000                  /* ttl of an unbound hold: one year; iv */
#define LIMIT_FUTURE_S     300                       /* a job's time ahead of now; time_in_future */

/* Resources of one task (SPEC 5.2, 7.1). */
#define LIMIT_CORES       10000000               /* cores; iv */
#define LIMIT_MEMORY_MIB  INT64_C(1099511627776) /* MiB: 2^40; iv */
#define LIMIT_GPU_COUNT   1000000                /* GPUs of one entry; iv */
#define LIMIT_GPU_ENTRIES 8                      /* GPU entries of a hold; too_many_gpus */
#define LIMIT_RATE_ROWS   32                     /* rows of a rate card version; iv */
#define LIMIT_RATE_MODELS 32                     /* GPU models of a rate row; iv */

/* The tree and its caps (SPEC 2, 4). */
#define LIMIT_LEVELS        8  /* nodes from root to project, both counted; too_many_levels */
#define LIMIT_CAPS_PER_NODE 32 /* caps of an organization, project or member; too_many_caps */
#define LIMIT_PATH_CAPS     ((LIMIT_LEVELS + 1) * LIMIT_CAPS_PER_NODE) /* met by one freeze */
#define LIMIT_CLUSTER_ROOTS 64 /* roots that a cluster lists; iv */

/* Holds, tasks, runs (SPEC 5, 6, 8). */
#define LIMIT_TASKS          100000 /* tasks of a hold; too_many_tasks */
#define LIMIT_DRAWS          16     /* grants that one freeze may draw on; too_many_draws */
#define LIMIT_GRANTS         64     /* grants of a payer that have not ended; invalid_field */
#define LIMIT_HOSTS_BYTES    4096   /* host names of a run, joined by commas; iv */
#define LIMIT_RUN_DAYS       4096   /* longest run: 11 years; iv */
#define LIMIT_HEARTBEAT_RUNS 5000   /* runs of one heartbeat; too_many_runs */
#define LIMIT_BATCH_LINES    10000  /* lines or events of a batch; too_many_lines */
#define LIMIT_HOLDERS        5      /* holders named in one violation (SPEC 6.2) */
#define LIMIT_REPORT_GROUPS  500000 /* rows of one report in JSON; iv */
#define LIMIT_FEED_EVENTS    1000   /* events of one feed answer */
#define LIMIT_WEBHOOK_PENDING \
    10000 /* deliveries of one webhook that wait; beyond it they are dead */
#define LIMIT_PAGE_SIZE         1000 /* items of one page; iv */
#define LIMIT_PAGE_SIZE_DEFAULT 100  /* items of one page when page_size is not given */
#define LIMIT_EXECUTE_RETRIES   8    /* times load, decide, apply run on conflicts; unavailable */

/* Texts, in bytes without the NUL. */
#define LIMIT_NAME_BYTES         128  /* people, jobs, partitions, models: UTF-8 without controls */
#define LIMIT_ID_BYTES           64   /* ids: [A-Za-z0-9][A-Za-z0-9._:-]{0,63} */
#define LIMIT_NODE_NAME_BYTES    63   /* nodes: [a-z0-9][a-z0-9._-]{0,62} */
#define LIMIT_ZONE_BYTES         64   /* name of a time zone */
#define LIMIT_JOB_KEY_BYTES      128  /* job_key and run_key */
#define LIMIT_REASON_BYTES       256  /* reason, note, contact */
#define LIMIT_WEBHOOK_URL_BYTES  512  /* URL of a webhook; iv */
#define LIMIT_GRANT_DAYS         3660 /* how long before its end a grant is told of; iv */
#define LIMIT_CURRENCY_BYTES     3    /* ISO 4217 */
#define LIMIT_TASK_LIST_BYTES    4096 /* a task list such as "3-9,12" */
#define LIMIT_ERROR_FIELD_BYTES  63   /* struct error: dotted name of the field at fault */
#define LIMIT_ERROR_DETAIL_BYTES 239  /* struct error: one line for people */

/* What the daemon reads and keeps (SPEC 1.6, 6.4, 11.4). */
#define LIMIT_BODY_BYTES          65536              /* any body but the two below; too_large */
#define LIMIT_HEARTBEAT_BYTES     (1024 * 1024)      /* body of a heartbeat; too_large */
#define LIMIT_BATCH_BYTES         (16 * 1024 * 1024) /* body of a batch or of events; too_large */
#define LIMIT_URL_BYTES           4096               /* path and query; too_large */
#define LIMIT_HEADER_BYTES        (8 * 1024)         /* all headers of a request; too_large */
#define LIMIT_JSON_DEPTH          32                 /* nesting of a JSON body; malformed */
#define LIMIT_QUEUE_COMMANDS      4096   /* commands waiting to be executed; overloaded */
#define LIMIT_CONNECTIONS         10000  /* open connections; overloaded */
#define LIMIT_FEED_WAIT_S         60     /* longest wait of a long poll; iv */
#define LIMIT_SHUTDOWN_S          20     /* SIGTERM to exit, long polls included */
#define LIMIT_HOLDERS_MS          20     /* holders and earliest_at after a refusal */
#define LIMIT_OLD_TOKEN_S         604800 /* that a rotated secret stays good; iv */
#define LIMIT_OLD_TOKEN_DEFAULT_S 3600
#define LIMIT_CONFIG_BYTES        65536 /* the configuration file */

#endif
