/* The areas of commands in the order of the help: see commands.h. */
#include "clients/cli/commands.h"

#include "clients/cli/commands/areas.h"

const struct command_area command_areas[] = {
    {"first steps", start_commands},
    {"who and where", tree_commands},
    {"core-hours and caps", money_commands},
    {"the life of a hold", jobs_commands},
    {"charges and refunds", charges_commands},
    {"looking", looking_commands},
    {"alerts", alerts_commands},
    {"many at once", bulk_commands},
    {0},
};

const struct cli_command *command_at(size_t n)
{
    for (const struct command_area *area = command_areas; area->title != NULL; area++) {
        for (const struct cli_command *command = area->commands; command->name != NULL; command++) {
            if (n-- == 0) {
                return command;
            }
        }
    }
    return NULL;
}
