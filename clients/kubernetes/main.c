/*
 * corehour-kubernetes: the webhook and, in one of several agents, the controller. The main thread waits for signals and looks
 * after the certificate; what else happens has a thread of its own (agent.c).
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clients/kubernetes/agent.h"

static const char help[] =
    "corehour-kubernetes: GPU core-hours of a Kubernetes cluster, frozen before a pod starts, settled when it ends\n"
    "\n"
    "usage: corehour-kubernetes [--config FILE]     run; FILE: /etc/corehour/kubernetes.conf\n"
    "       corehour-kubernetes --check             read everything, ask ledger and API server, say what is wrong, end\n"
    "       corehour-kubernetes --help | --version\n"
    "\n"
    "A namespace takes part by its label corehour.io/mode:\n"
    "  enforce   a pod with accelerators is refused unless its core-hours can be frozen (validating webhook /enforce)\n"
    "  gate      it is made, and waits behind the scheduling gate corehour.io/freeze (mutating webhook /gate)\n"
    "  observe   it is only charged when it ends\n"
    "  kueue     Kueue's Workloads are charged instead of pods (with kueue = on)\n"
    "Without the label nothing happens. kube-system, kube-public, kube-node-lease and the agent's own namespace are never\n"
    "touched. A namespace is an account of the same name, unless its annotation corehour.io/account names another.\n"
    "\n"
    "Try: kubectl label namespace team-a corehour.io/mode=observe, and look at `corehour holds --project team-a` when a pod\n"
    "has ended. Exit status: 0 ended by a signal, 1 cannot start, 2 wrong usage.\n"
    "\n"
    "Keys of the configuration file (key = value):\n";

struct options {
    const char *config_path;
    bool check;
};

/* Returns -1 to go on, else the exit status. */
static int options_read(int count, char **arguments, struct options *ret_options)
{
    *ret_options = (struct options){.config_path = "/etc/corehour/kubernetes.conf"};
    for (int i = 1; i < count; i++) {
        const char *argument = arguments[i];
        if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            (void)fputs(help, stdout);
            agent_config_print(stdout);
            return 0;
        }
        if (strcmp(argument, "--version") == 0) {
            (void)puts("corehour-kubernetes " COREHOUR_VERSION);
            return 0;
        }
        if (strcmp(argument, "--check") == 0) {
            ret_options->check = true;
        } else if (strcmp(argument, "--config") == 0 && i + 1 < count) {
            ret_options->config_path = arguments[++i];
        } else {
            (void)fprintf(stderr, "corehour-kubernetes: %.100s: what is that? See --help\n",
                          argument);
            return 2;
        }
    }
    return -1;
}

/* Every thread inherits the mask: signals are taken by the main thread alone. */
static void signals_block(sigset_t *ret_signals)
{
    sigemptyset(ret_signals);
    sigaddset(ret_signals, SIGTERM);
    sigaddset(ret_signals, SIGINT);
    sigset_t blocked = *ret_signals;
    sigaddset(&blocked, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
}

int main(int count, char **arguments)
{
    struct options options;
    const int status = options_read(count, arguments, &options);
    if (status >= 0) {
        return status;
    }
    sigset_t signals;
    signals_block(&signals);
    struct agent *agent = NULL;
    struct agent_error error = {.detail = ""};
    if (!agent_create(options.config_path, &agent, &error)) {
        (void)fprintf(stderr, "corehour-kubernetes: %s\n", error.detail);
        return 1;
    }
    if (options.check) {
        const bool ok = agent_check(agent, stdout);
        agent_destroy(agent);
        return ok ? 0 : 1;
    }
    if (!agent_start(agent, &error)) {
        (void)fprintf(stderr, "corehour-kubernetes: %s\n", error.detail);
        agent_destroy(agent);
        return 1;
    }
    const struct timespec tick = {.tv_sec = 1};
    while (sigtimedwait(&signals, NULL, &tick) < 0) {
        agent_tick(agent);
    }
    agent_destroy(agent);
    return 0;
}
