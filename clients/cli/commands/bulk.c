/* Commands to give many commands at once. See areas.h. */
#include "clients/cli/commands/areas.h"
#include "clients/cli/fields.h"
#include "clients/cli/run.h"

static const struct cli_field batch_options[] = {
    {"atomic", CLI_FLAG, NULL, NULL, "all lines or none", NULL},
    {0},
};

const struct cli_command bulk_commands[] = {
    {
        .name = "batch",
        .summary = "many commands from a file or stdin, one JSON object a line",
        .help =
            "A line is a command's body with op (freeze, settle, ...) and, for verbs, hold. Large files are cut into requests of 5000 lines, --atomic ones never. Lines that were refused are printed; the exit code is the worst line's.",
        .example = "corehour batch holds.ndjson\nsomething | corehour batch --atomic -",
        .method = "POST",
        .path = "/v1/batch",
        .args = fields_file_args,
        .options = {batch_options},
        .run = run_batch,
    },
    {0},
};

const struct catalogue_entry bulk_chinese[] = {
    {"many commands from a file or stdin, one JSON object a line",
     "从文件或标准输入执行多条命令，每行一个 JSON 对象"},
    {"A line is a command's body with op (freeze, settle, ...) and, for verbs, hold. Large files are cut into requests of 5000 lines, --atomic ones never. Lines that were refused are printed; the exit code is the worst line's.",
     "每行是命令的请求体加 op（freeze、settle……），对冻结单的操作还要 hold。 大文件按 5000 行拆分为多个请求，--atomic 时不拆。 被拒绝的行会打印出来；退出码取最严重的一行。"},
    {"all lines or none", "全部成功或全部不做"},
    {0},
};
