/* Arguments and options that commands of several areas have, and their Chinese: see fields.h. Data only. */
#include "clients/cli/fields.h"

const struct cli_field fields_name_args[] = {
    {.name = "NAME"},
    {0},
};

const struct cli_field fields_node_args[] = {
    {.name = "NODE"},
    {0},
};

const struct cli_field fields_hold_args[] = {
    {.name = "HOLD"},
    {0},
};

const struct cli_field fields_file_args[] = {
    {.name = "FILE"},
    {0},
};

const struct cli_field fields_cluster_args[] = {
    {.name = "CLUSTER"},
    {0},
};

const struct cli_field fields_reason_options[] = {
    {"reason", CLI_TEXT, "reason", NULL, "why; it stays in the books", NULL},
    {"id", CLI_TEXT, "id", "ID", "its id, for a retry; made when not given", NULL},
    {0},
};

/* What a job asks for: shared by quote, freeze and charge. */
const struct cli_field fields_job_options[] = {
    {"cluster", CLI_TEXT, "cluster", "NAME", "the cluster that the job is for", NULL},
    {"account", CLI_TEXT, "account", "NAME", "the scheduler's account or namespace", NULL},
    {"user", CLI_TEXT, "user", "NAME", "who submits", NULL},
    {"cores", CLI_COUNT, "resources.cores", NULL, "CPU cores", NULL},
    {"memory", CLI_MEMORY, "resources.memory_mib", NULL, "memory: 64G, or MiB", NULL},
    {"gpus", CLI_GPUS, "resources.gpus", NULL,
     "GPUs: a100:1, 2, or a share a100:1:cores=30%:memory=12G", NULL},
    {"name", CLI_TEXT, "job.name", NULL, "the job's name", NULL},
    {"partition", CLI_TEXT, "job.partition", "NAME", "the partition", NULL},
    {"qos", CLI_TEXT, "job.qos", "NAME", "the quality of service", NULL},
    {0},
};

const struct cli_field fields_which_options[] = {
    {"root", CLI_TEXT, "root", "NAME", "the root, where one id is known in several", NULL},
    {"cluster", CLI_TEXT, "cluster", "NAME", "the cluster, where one id is known in several", NULL},
    {0},
};

const struct cli_field fields_attempt_options[] = {
    {"task", CLI_COUNT, "task", NULL, "the element of an array (0)", NULL},
    {"attempt", CLI_COUNT, "attempt", NULL, "the attempt, after requeues (0)", NULL},
    {0},
};

const struct cli_field fields_page_options[] = {
    {"page-size", CLI_COUNT, "page_size", NULL, "how many at once, at most 1000", NULL},
    {"page-token", CLI_TEXT, NULL, "TOKEN", "go on behind an earlier page", NULL},
    {"all", CLI_FLAG, NULL, NULL, "every page", NULL},
    {0},
};

const struct cli_field fields_globals[] = {
    {"json", CLI_FLAG, NULL, NULL, "print the daemon's answer as it is, for programs", NULL},
    {"dry-run", CLI_FLAG, NULL, NULL, "ask for the same answer with nothing written", NULL},
    {"body", CLI_TEXT, NULL, "FILE", "begin the request's body with this JSON file (- is stdin)",
     NULL},
    {"url", CLI_TEXT, NULL, "URL", "the daemon's address, over COREHOUR_URL and the config file",
     NULL},
    {"lang", CLI_TEXT, NULL, "en|zh", "language of the answers, over LC_ALL, LC_MESSAGES and LANG",
     NULL},
    {"deadline", CLI_DURATION, NULL, NULL, "give up after this long, retries included (default 30)",
     NULL},
    {"trace", CLI_FLAG, NULL, NULL, "print each request and answer to stderr", NULL},
    {"help", CLI_FLAG, NULL, NULL, "what the command does, its options and an example", NULL},
    {"version", CLI_FLAG, NULL, NULL, "print the version", NULL},
    {0},
};

const struct catalogue_entry fields_chinese[] = {
    {"why; it stays in the books", "原因；会留在账上"},
    {"its id, for a retry; made when not given", "编号，用于重试；不给则自动生成"},
    {"the cluster that the job is for", "作业所在集群"},
    {"the scheduler's account or namespace", "调度器的账户或命名空间"},
    {"who submits", "提交人"},
    {"CPU cores", "CPU 核数"},
    {"memory: 64G, or MiB", "内存：64G，或 MiB 数"},
    {"GPUs: a100:1, 2, or a share a100:1:cores=30%:memory=12G",
     "GPU：a100:1、2，或共享 a100:1:cores=30%:memory=12G"},
    {"the job's name", "作业名"},
    {"the partition", "分区"},
    {"the quality of service", "服务质量"},
    {"the root, where one id is known in several", "同一编号在多个根中时，指定根"},
    {"the cluster, where one id is known in several", "同一编号在多个集群中时，指定集群"},
    {"the element of an array (0)", "数组的元素（0）"},
    {"the attempt, after requeues (0)", "第几次尝试，重新排队之后（0）"},
    {"how many at once, at most 1000", "每页条数，最多 1000"},
    {"go on behind an earlier page", "从上一页之后继续"},
    {"every page", "所有页"},
    {"print the daemon's answer as it is, for programs", "原样打印守护进程的回答，供程序使用"},
    {"ask for the same answer with nothing written", "要同样的回答，但不写入"},
    {"begin the request's body with this JSON file (- is stdin)",
     "以此 JSON 文件作为请求体的开头（- 为标准输入）"},
    {"the daemon's address, over COREHOUR_URL and the config file",
     "守护进程地址，优先于 COREHOUR_URL 和配置文件"},
    {"language of the answers, over LC_ALL, LC_MESSAGES and LANG",
     "语言，优先于 LC_ALL、LC_MESSAGES 和 LANG"},
    {"give up after this long, retries included (default 30)",
     "超过此时长则放弃，含重试（默认 30）"},
    {"print each request and answer to stderr", "把每个请求和回答打印到标准错误"},
    {"what the command does, its options and an example", "该命令的作用、选项和示例"},
    {"print the version", "打印版本"},
    {"freeze the whole time limit or a window", "冻结整个时限或一个窗口"},
    {"the scheduler's key of the attempt", "调度器中该次尝试的键"},
    {"when it ended (now)", "结束时间（现在）"},
    {"for how long it was suspended in all", "暂停的总时长"},
    {"memory allocated", "实际分配的内存"},
    {"GPUs allocated", "实际分配的 GPU"},
    {"where it ran", "运行所在主机"},
    {0},
};
