/* corehour: the command line of Corehour. Everything is in run_cli.c and below. */
#include "clients/cli/run_cli.h"
#include "clients/cli/text.h"

int main(int argc, char **argv)
{
    bool utf8 = text_locale_init();
    return (int)cli_run(argc, argv, stdin, stdout, stderr, !utf8);
}
