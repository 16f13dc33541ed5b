/* Is the daemon there; what is its contract. */
#include <inttypes.h>

#include "clients/cli/request.h"
#include "clients/cli/run.h"
#include "clients/cli/show.h"
#include "clients/cli/text.h"
#include "clients/clock.h"

enum cli_exit run_status(struct cli *cli)
{
    struct corehour_answer answer;
    int64_t start_ms = client_clock_mono_ms();
    enum cli_exit exit = request_call(cli, "GET", cli->command->path, NULL, &answer);
    if (exit != CLI_DONE) {
        return exit;
    }
    int64_t took_ms = client_clock_mono_ms() - start_ms;
    if (cli->json || answer.status != 200) {
        exit = request_report(cli, &answer, NULL);
    } else {
        const char *version = show_text(answer.body, "version");
        fprintf(cli->out, tr("%s is ready"), cli->url);
        fprintf(cli->out, *version == '\0' ? " (%s" : " (%s, ", *version == '\0' ? "" : version);
        fprintf(cli->out, "%" PRId64 " ms)\n", took_ms);
    }
    corehour_answer_fini(&answer);
    return exit;
}

/* A corehour_sink_fn: the document as it is. */
static bool write_out(void *arg, const char *bytes, size_t bytes_count)
{
    return fwrite(bytes, 1, bytes_count, arg) == bytes_count;
}

enum cli_exit run_openapi(struct cli *cli)
{
    struct corehour_answer answer;
    struct corehour_request request = {
        .method = "GET", .path = cli->command->path, .sink = write_out, .sink_arg = cli->out};
    enum cli_exit exit = request_send(cli, &request, &answer);
    if (exit == CLI_DONE) {
        exit = request_need_ok(cli, &answer);
    }
    if (exit == CLI_DONE) {
        corehour_answer_fini(&answer);
    }
    return exit;
}
