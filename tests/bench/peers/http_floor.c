/* The HTTP floor: libmicrohttpd answering a fixed JSON body, nothing behind it. Peer for the side-by-side, not part of the product.
 *   cc -O2 -o http_floor http_floor.c -lmicrohttpd -lpthread
 *   ./http_floor MODE SECONDS PORT     MODE 0: answer at once. 1: suspend, a committer thread waits 200 us a group (stands for one
 *                                      fdatasync), then resumes the group.
 * The loop is external (poll on libmicrohttpd's epoll fd and an eventfd of ours, then MHD_run). With MHD_USE_INTERNAL_POLLING_THREAD
 * and epoll, 0.9.75 stops answering when exactly a multiple of 128 connections are ready at once (seen with wrk -c128, -c256, -c512,
 * in both modes): its loop calls epoll_wait again, with the full timeout, before it serves the first 128. MHD_run polls with
 * timeout 0 and has no such stall. In this mode a resume does not wake the epoll fd: hence the eventfd. */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

struct request {
    struct MHD_Connection *connection;
    struct request *next;
    int committed;
};

static int mode;
static int wake_fd;
static struct MHD_Response *answer;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queued = PTHREAD_COND_INITIALIZER;
static struct request *queue;
static long groups, items;

static enum MHD_Result handle(void *cls,
                              struct MHD_Connection *connection,
                              const char *url,
                              const char *method,
                              const char *version,
                              const char *data,
                              size_t *data_bytes,
                              void **context)
{
    (void)cls, (void)url, (void)method, (void)version, (void)data;
    struct request *request = *context;
    if (!request) {
        request = calloc(1, sizeof *request);
        *context = request;
        request->connection = connection;
        return MHD_YES;
    }
    if (*data_bytes) {
        *data_bytes = 0;
        return MHD_YES;
    }
    if (mode == 0 || request->committed)
        return MHD_queue_response(connection, 200, answer);
    request->committed = 1;
    MHD_suspend_connection(connection);
    pthread_mutex_lock(&lock);
    request->next = queue;
    queue = request;
    pthread_cond_signal(&queued);
    pthread_mutex_unlock(&lock);
    return MHD_YES;
}

static void completed(void *cls,
                      struct MHD_Connection *connection,
                      void **context,
                      enum MHD_RequestTerminationCode code)
{
    (void)cls, (void)connection, (void)code;
    free(*context);
    *context = NULL;
}

static void *commit(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&lock);
        while (!queue)
            pthread_cond_wait(&queued, &lock);
        struct request *group = queue;
        queue = NULL;
        pthread_mutex_unlock(&lock);
        groups++;
        usleep(200);
        while (group) {
            struct request *next = group->next;
            MHD_resume_connection(group->connection);
            group = next;
            items++;
        }
        uint64_t one = 1;
        if (write(wake_fd, &one, sizeof one) < 0)
            abort();
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    mode = atoi(argv[1]);
    static char body[] = "{\"ok\":true,\"hold\":\"0123456789abcdef\"}";
    answer = MHD_create_response_from_buffer(sizeof body - 1, body, MHD_RESPMEM_PERSISTENT);
    MHD_add_response_header(answer, "Content-Type", "application/json");
    wake_fd = eventfd(0, EFD_NONBLOCK);
    pthread_t committer;
    if (mode)
        pthread_create(&committer, NULL, commit, NULL);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, (uint16_t)atoi(argv[3]), NULL, NULL,
        handle, NULL, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_CONNECTION_LIMIT,
        4000u, MHD_OPTION_END);
    if (!daemon)
        return 1;
    int epoll_fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    struct pollfd fds[2] = {{.fd = epoll_fd, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    for (time_t end = time(NULL) + atoi(argv[2]); time(NULL) < end;) {
        MHD_UNSIGNED_LONG_LONG wait_ms;
        int timeout_ms =
            MHD_get_timeout(daemon, &wait_ms) == MHD_YES && wait_ms < 200 ? (int)wait_ms : 200;
        poll(fds, 2, timeout_ms);
        uint64_t count;
        if (fds[1].revents && read(wake_fd, &count, sizeof count) < 0)
            abort();
        MHD_run(daemon);
    }
    fprintf(stderr, "groups %ld items %ld\n", groups, items);
    _exit(0);
}
