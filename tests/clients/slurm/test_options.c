/* Options of sbatch as people type them. */
#include <string.h>

#include <criterion/criterion.h>

#include "clients/slurm/options.h"

static struct slurm_options options;
static char why[200];

static bool take(size_t *ret_used, const char *const *words)
{
    size_t count = 0;
    while (words[count] != NULL) {
        count++;
    }
    slurm_options_init(&options);
    return slurm_options_take(&options, words, count, ret_used, why, sizeof why);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

Test(options, every_way_to_write_an_option_is_read)
{
    size_t used = 0;
    cr_assert(take(&used, WORDS("-n2", "-c", "4", "-N=2-4", "--time=1-02:00:00", "--mem", "4G",
                                "-Aphysics", "--exclusive", "--gpus=a100:2,v100", "-M", "alpha",
                                "--ntasks-per-node", "3", "job.sh", "-n9")),
              "%s", why);
    const struct slurm_request *request = &options.request;
    cr_assert_eq(used, 14, "the script and what follows it is left: %zu", used);
    cr_assert_eq(request->tasks, 2);
    cr_assert_eq(request->cpus_per_task, 4);
    cr_assert_eq(request->nodes_min, 2);
    cr_assert_eq(request->nodes_max, 4);
    cr_assert_eq(request->minutes, 26 * 60);
    cr_assert_eq(request->memory_per_node_mib, 4096);
    cr_assert_str_eq(request->account, "physics");
    cr_assert(request->is_exclusive);
    cr_assert_str_eq(request->tres_per_job, "gres:gpu:a100:2,gres:gpu:v100");
    cr_assert_str_eq(options.cluster, "alpha");
    cr_assert_eq(request->tasks_per_node, 3);
}

Test(options, a_plain_number_is_minutes)
{
    static const struct {
        const char *text;
        int64_t minutes;
    } times[] = {{"5", 5},        {"90:00", 90}, {"0:30", 1},
                 {"1:30:00", 90}, {"2-0", 2880}, {"1-12:30", 2190}};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        size_t used;
        cr_assert(take(&used, WORDS("-t", times[i].text)), "%s", why);
        cr_assert_eq(options.request.minutes, times[i].minutes, "%s: %lld", times[i].text,
                     (long long)options.request.minutes);
    }
}

Test(options, whole_nodes_are_meant_by_exclusive_alone)
{
    size_t used;
    cr_assert(take(&used, WORDS("--exclusive=user")));
    cr_assert_not(options.request.is_exclusive);
}

Test(options, what_says_nothing_about_resources_is_passed_over)
{
    size_t used;
    cr_assert(take(&used, WORDS("-o", "out", "--mail-type=END", "-H", "--wrap", "sleep 5", "-n3")),
              "%s", why);
    cr_assert_eq(options.request.tasks, 3);
}

Test(options, what_cannot_be_read_is_named)
{
    static const struct {
        const char *words[3];
        const char *says;
    } wrong[] = {
        {{"--colour=red"}, "--colour=red is no option of sbatch"},
        {{"-n", "two"}, "--ntasks \"two\" cannot be read"},
        {{"-n"}, "--ntasks \"\" cannot be read"},
        {{"-N4-2"}, "--nodes \"4-2\" cannot be read"},
        {{"-t5x"}, "--time \"5x\" cannot be read"},
        {{"--gres=gpu:a:b:c"}, "--gres \"gpu:a:b:c\" cannot be read"},
        {{"--mem=lots"}, "--mem \"lots\" cannot be read"},
        {{"-A", ""}, "--account \"\" cannot be read"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        size_t used;
        cr_assert_not(take(&used, wrong[i].words), "%s", wrong[i].says);
        cr_assert_not_null(strstr(why, wrong[i].says), "%s", why);
    }
}

Test(options, a_script_is_read_up_to_its_first_command)
{
    char script[] = "#!/bin/bash\n"
                    "#SBATCH --gres=gpu:a100:1   # one card\n"
                    "# a comment\n"
                    "##SBATCH -n 100\n"
                    "#SBATCH -J \"my job\" -t 5\n"
                    "\n"
                    "module load cuda\n"
                    "#SBATCH -n 200\n";
    slurm_options_init(&options);
    cr_assert(slurm_options_take_script(&options, script, why, sizeof why), "%s", why);
    cr_assert_str_eq(options.request.tres_per_node, "gres:gpu:a100:1");
    cr_assert_str_eq(options.request.name, "my job");
    cr_assert_eq(options.request.minutes, 5);
    cr_assert_eq(options.request.tasks, SLURM_UNSET);
}

Test(options, a_script_with_a_wrong_line_is_refused)
{
    char script[] = "#!/bin/sh\n#SBATCH --gres=gpu:a:b:c\n";
    slurm_options_init(&options);
    cr_assert_not(slurm_options_take_script(&options, script, why, sizeof why));
}
