/* Commands in the life of a hold: from the quote to the end of its last run. See areas.h. */
#include "clients/cli/commands/areas.h"
#include "clients/cli/fields.h"
#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/show_hold.h"

static const struct cli_field bind_args[] = {
    {.name = "HOLD"},
    {.name = "JOB_ID", .field = "job_id"},
    {.name = "JOB_KEY", .field = "job_key"},
    {0},
};

static const struct cli_field run_args[] = {
    {.name = "RUN"},
    {0},
};

static const struct cli_field cost_args[] = {
    {.name = "SBATCH_OPTION"},
    {0},
};

static const struct cli_field limit_options[] = {
    {"time", CLI_DURATION, "time_limit_s", NULL, "the time limit of each task", NULL},
    {"tasks", CLI_COUNT, "tasks", NULL, "elements of a job array (1)", NULL},
    {"max-running", CLI_COUNT, "max_running", NULL, "how many of them run at once, an array's %N",
     NULL},
    {"mode", CLI_TEXT, "mode", "full|window", "freeze the whole time limit or a window", NULL},
    {0},
};

static const struct cli_field freeze_options[] = {
    {"on-insufficient", CLI_TEXT, "on_insufficient", "reject|wait",
     "without room: refuse, or queue up for it", NULL},
    {"ttl", CLI_DURATION, "ttl_s", NULL, "how long the hold may stay without a job", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    {0},
};

static const struct cli_field start_options[] = {
    {"started-at", CLI_TIME, "started_at", NULL, "when it began (now)", "now"},
    {"run-key", CLI_TEXT, "run_key", NULL, "the scheduler's key of the attempt", NULL},
    {"hosts", CLI_LIST, "hosts", NULL, "where it runs", NULL},
    {0},
};

static const struct cli_field pause_options[] = {
    {"at", CLI_TIME, "at", NULL, "when (now)", "now"},
    {0},
};

static const struct cli_field resize_options[] = {
    {"task", CLI_COUNT, "task", NULL, "the element of an array; all without", NULL},
    {"at", CLI_TIME, "at", NULL, "when (now)", NULL},
    {"time", CLI_DURATION, "time_limit_s", NULL, "the new time limit", NULL},
    {"cores", CLI_COUNT, "resources.cores", NULL, "the new CPU cores", NULL},
    {"memory", CLI_MEMORY, "resources.memory_mib", NULL, "the new memory", NULL},
    {"gpus", CLI_GPUS, "resources.gpus", NULL, "the new GPUs", NULL},
    {"partition", CLI_TEXT, "job.partition", "NAME", "the new partition", NULL},
    {"qos", CLI_TEXT, "job.qos", "NAME", "the new quality of service", NULL},
    {0},
};

static const struct cli_field settle_options[] = {
    {"ended-at", CLI_TIME, "ended_at", NULL, "when it ended (now)", "now"},
    {"started-at", CLI_TIME, "started_at", NULL, "when it had begun, if that was never told", NULL},
    {"outcome", CLI_TEXT, "outcome", NULL,
     "completed, failed, timeout, cancelled, node_fail, boot_fail, preempted, oom, deadline or other",
     NULL},
    {"suspended", CLI_DURATION, "suspended_s", NULL, "for how long it was suspended in all", NULL},
    {"cores", CLI_COUNT, "allocated.cores", NULL, "CPU cores allocated, when other than asked for",
     NULL},
    {"memory", CLI_MEMORY, "allocated.memory_mib", NULL, "memory allocated", NULL},
    {"gpus", CLI_GPUS, "allocated.gpus", NULL, "GPUs allocated", NULL},
    {"run-key", CLI_TEXT, "run_key", NULL, "the scheduler's key of the attempt", NULL},
    {"hosts", CLI_LIST, "hosts", NULL, "where it ran", NULL},
    {0},
};

static const struct cli_field release_options[] = {
    {"reason", CLI_TEXT, "reason", NULL, "why", NULL},
    {"tasks", CLI_TEXT, "tasks", "SET", "only these elements of an array: 3-9,12", NULL},
    {0},
};

static const struct cli_field heartbeat_options[] = {
    {"cluster", CLI_TEXT, "cluster", "NAME", "the cluster that the runs are on", NULL},
    {"at", CLI_TIME, "at", NULL, "when they were seen (now)", "now"},
    {0},
};

const struct cli_command jobs_commands[] = {
    {
        .name = "quote",
        .summary = "what a job would freeze, and whether it would pass",
        .help = "Nothing is written. Exit code 1 when it would be refused.",
        .example =
            "corehour quote --cluster alpha --account vision --user alice --gpus a100:1 --time 5m\n  1.33 core-hours (16.000 cores x 5.00 min), rates alpha/1: it would pass",
        .method = "POST",
        .path = "/v1/quotes",
        .options = {fields_job_options, limit_options},
        .run = run_quote,
        .show = show_quote,
    },
    {
        .name = "cost",
        .summary = "what a Slurm job would freeze, from the options of sbatch",
        .help =
            "Takes the options that sbatch, srun or salloc would get, and a script with #SBATCH lines; the words win over the script. Nothing is submitted and nothing written. The cluster comes from -M or from this machine's /etc/corehour/slurm.conf, the account from -A or SBATCH_ACCOUNT. Exit code 1 when it would be refused.",
        .example =
            "corehour cost -M alpha -A vision -n2 --gres=gpu:a100:1 -t 5\n  1.33 core-hours (16.000 cores x 5.00 min), rates alpha/1: it would pass\ncorehour cost -t 1-00:00:00 train.sh",
        .method = "POST",
        .path = "/v1/quotes",
        .args = cost_args,
        .args_repeat = true,
        .args_raw = true,
        .run = run_cost,
        .show = show_quote,
    },
    {
        .name = "freeze",
        .summary = "set core-hours aside for a submission, or be refused",
        .help =
            "Every cap from the member to the root must hold and the payer must have the amount: one decision. The id comes back; a retry with the same --id is the same freeze. Exit code 1 when refused for quota.",
        .example =
            "corehour freeze --cluster alpha --account vision --user alice --gpus a100:1 --cores 8 --time 5m\n  frozen 1.33 core-hours (16.000 cores x 5.00 min) hold alpha-0193c5e2-7d1f-7a3b-9c64-1f0e5d2b8a70",
        .method = "POST",
        .path = "/v1/holds",
        .id_prefix = "cluster",
        .options = {fields_job_options, limit_options, freeze_options},
        .run = request_run,
        .show = show_freeze,
    },
    {
        .name = "bind",
        .summary = "tie a hold to the scheduler's job",
        .help =
            "A hold that is not bound in time expires and returns everything. HOLD is an id everywhere, or CLUSTER/JOB_ID once it is bound.",
        .example = "corehour bind alpha-0193c5e2 1234 1234@1796058251",
        .method = "POST",
        .path = "bind",
        .args = bind_args,
        .args_min = 2,
        .options = {fields_which_options},
        .run = run_verb,
        .show = show_verb,
    },
    {
        .name = "start",
        .summary = "a run of a hold has begun",
        .example = "corehour start alpha/1234 --started-at -2m",
        .method = "POST",
        .path = "start",
        .args = fields_hold_args,
        .args_min = 1,
        .options = {fields_attempt_options, start_options, fields_which_options},
        .run = run_verb,
        .show = show_verb,
    },
    {
        .name = "heartbeat",
        .summary = "say that runs live",
        .help =
            "In window mode this charges up to now and tops the freeze up. RUN is HOLD, HOLD/TASK or HOLD/TASK.ATTEMPT.",
        .example = "corehour heartbeat --cluster alpha alpha-0193c5e2 alpha-0193c5e3/4.1",
        .method = "POST",
        .path = "/v1/heartbeats",
        .args = run_args,
        .args_min = 1,
        .args_repeat = true,
        .options = {heartbeat_options},
        .run = run_heartbeat,
    },
    {
        .name = "suspend",
        .summary = "a run was suspended: from then on it costs nothing",
        .example = "corehour suspend alpha/1234",
        .method = "POST",
        .path = "suspend",
        .args = fields_hold_args,
        .args_min = 1,
        .options = {fields_attempt_options, pause_options, fields_which_options},
        .run = run_verb,
        .show = show_verb,
    },
    {
        .name = "resume",
        .summary = "a suspended run goes on",
        .example = "corehour resume alpha/1234",
        .method = "POST",
        .path = "resume",
        .args = fields_hold_args,
        .args_min = 1,
        .options = {fields_attempt_options, pause_options, fields_which_options},
        .run = run_verb,
        .show = show_verb,
    },
    {
        .name = "resize",
        .summary = "change the time limit or the resources",
        .help = "More is frozen, or refused with nothing changed; less is returned.",
        .example = "corehour resize alpha/1234 --time 10m",
        .method = "POST",
        .path = "resize",
        .args = fields_hold_args,
        .args_min = 1,
        .options = {resize_options, fields_which_options},
        .run = run_verb,
        .show = show_verb,
    },
    {
        .name = "requeue",
        .summary = "settle this attempt and freeze the next, in one step",
        .example = "corehour requeue alpha/1234 --outcome preempted",
        .method = "POST",
        .path = "requeue",
        .args = fields_hold_args,
        .args_min = 1,
        .options = {fields_attempt_options, settle_options, fields_which_options},
        .run = run_verb,
        .show = show_settle,
    },
    {
        .name = "settle",
        .summary = "a run has ended: charge what was used, return the rest",
        .example =
            "corehour settle alpha/1234 --outcome completed\n  charged 0.27 core-hours, returned 1.07 core-hours; hold alpha-0193c5e2 is settled (used 0.27 core-hours)",
        .method = "POST",
        .path = "settle",
        .args = fields_hold_args,
        .args_min = 1,
        .options = {fields_attempt_options, settle_options, fields_which_options},
        .run = run_verb,
        .show = show_settle,
    },
    {
        .name = "release",
        .summary = "cancelled before it started: everything returns",
        .example = "corehour release alpha-0193c5e2 --reason cancelled",
        .method = "POST",
        .path = "release",
        .args = fields_hold_args,
        .args_min = 1,
        .options = {release_options, fields_which_options},
        .run = run_verb,
        .show = show_release,
    },
    {0},
};

const struct catalogue_entry jobs_chinese[] = {
    {"what a job would freeze, and whether it would pass", "作业会冻结多少，能否通过"},
    {"Nothing is written. Exit code 1 when it would be refused.",
     "不写入任何内容。 会被拒绝时退出码为 1。"},
    {"what a Slurm job would freeze, from the options of sbatch",
     "按 sbatch 的选项算出 Slurm 作业会冻结多少"},
    {"Takes the options that sbatch, srun or salloc would get, and a script with #SBATCH lines; the words win over the script. Nothing is submitted and nothing written. The cluster comes from -M or from this machine's /etc/corehour/slurm.conf, the account from -A or SBATCH_ACCOUNT. Exit code 1 when it would be refused.",
     "取 sbatch、srun 或 salloc 的选项，以及含 #SBATCH 行的脚本；命令行优先于脚本。 不提交也不写入。 集群取自 -M 或本机的 /etc/corehour/slurm.conf，账户取自 -A 或 SBATCH_ACCOUNT。 会被拒绝时退出码为 1。"},
    {"set core-hours aside for a submission, or be refused", "为一次提交预冻结核时，或被拒绝"},
    {"Every cap from the member to the root must hold and the payer must have the amount: one decision. The id comes back; a retry with the same --id is the same freeze. Exit code 1 when refused for quota.",
     "从成员到根的每个上限都须满足，且付款方有足够余额：一次决定。 返回编号；用同一 --id 重试是同一次冻结。 配额不足时退出码为 1。"},
    {"tie a hold to the scheduler's job", "把冻结单与调度器的作业绑定"},
    {"A hold that is not bound in time expires and returns everything. HOLD is an id everywhere, or CLUSTER/JOB_ID once it is bound.",
     "未及时绑定的冻结单会过期并全部退还。 HOLD 可以是编号，绑定后也可以是 CLUSTER/JOB_ID。"},
    {"a run of a hold has begun", "冻结单的一次运行已开始"},
    {"say that runs live", "报告运行仍在进行"},
    {"In window mode this charges up to now and tops the freeze up. RUN is HOLD, HOLD/TASK or HOLD/TASK.ATTEMPT.",
     "window 模式下扣费到此刻并补足冻结。 RUN 为 HOLD、HOLD/TASK 或 HOLD/TASK.ATTEMPT。"},
    {"a run was suspended: from then on it costs nothing", "运行已暂停：此后不计费"},
    {"a suspended run goes on", "暂停的运行继续"},
    {"change the time limit or the resources", "修改时限或资源"},
    {"More is frozen, or refused with nothing changed; less is returned.",
     "增加则冻结差额，或被拒绝而不作更改；减少则退还。"},
    {"settle this attempt and freeze the next, in one step", "一步结算本次尝试并冻结下一次"},
    {"a run has ended: charge what was used, return the rest", "运行已结束：按用量扣费，其余退还"},
    {"cancelled before it started: everything returns", "开始前已取消：全部退还"},
    {"the time limit of each task", "每个任务的时限"},
    {"elements of a job array (1)", "数组作业的元素数（1）"},
    {"how many of them run at once, an array's %N", "最多同时运行多少个，即数组的 %N"},
    {"without room: refuse, or queue up for it", "额度不足时：拒绝，或排队等待"},
    {"how long the hold may stay without a job", "冻结单最多可多久没有作业"},
    {"when it began (now)", "开始时间（现在）"},
    {"where it runs", "运行所在主机"},
    {"when (now)", "时间（现在）"},
    {"the element of an array; all without", "数组的元素；不给则为全部"},
    {"the new time limit", "新的时限"},
    {"the new CPU cores", "新的 CPU 核数"},
    {"the new memory", "新的内存"},
    {"the new GPUs", "新的 GPU"},
    {"the new partition", "新的分区"},
    {"the new quality of service", "新的服务质量"},
    {"when it had begun, if that was never told", "开始时间，若从未报告过"},
    {"completed, failed, timeout, cancelled, node_fail, boot_fail, preempted, oom, deadline or other",
     "completed、failed、timeout、cancelled、node_fail、boot_fail、preempted、oom、deadline 或 other"},
    {"CPU cores allocated, when other than asked for", "实际分配的 CPU 核数，若与申请不同"},
    {"why", "原因"},
    {"only these elements of an array: 3-9,12", "只针对数组的这些元素：3-9,12"},
    {"the cluster that the runs are on", "运行所在集群"},
    {"when they were seen (now)", "看到的时间（现在）"},
    {0},
};
