/*
 * The load generator of the benchmarks: one thread, epoll, plain sockets, N keep-alive connections, each with one request
 * under way. It knows the shape of the requests and nothing of the ledger; it works against corehourd and against
 * peers/http_floor.c alike, so that both are measured by the same script.
 *
 * Requests are made from a template whose variable parts have a fixed width, so that sending one costs a memcpy and a few
 * digits. Prints one line of name=value on stdout:
 *
 *   mode connections seconds requests commands rate (commands a second) p50_us p99_us max_us gap_ms errors
 *
 * gap_ms is the longest time in which no answer arrived on any connection. An answer that is not 200, 201 or 202 counts as
 * an error; the first one is shown on stderr. A batch counts its lines.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    ID_BYTES = 36,      /* a UUIDv7 */
    ACCOUNT_DIGITS = 4, /* p0000 */
    HEAD_BYTES = 1024,
    LINE_BYTES = 512,
    EVENTS = 256,
    ANSWER_BYTES = 64 * 1024, /* kept of an answer; the rest is only counted */
    BUCKETS_PER_OCTAVE = 64,  /* latency is known to 1.6 % */
    BUCKETS = 40 * BUCKETS_PER_OCTAVE,
};

enum mode {
    MODE_FREEZE,
    MODE_CYCLE,
    MODE_BATCH,
    MODE_BATCH_CYCLE,
    MODE_FLOOR,
    MODE_FDATASYNC,
    MODE__COUNT
};

static const char *const mode_names[MODE__COUNT] = {
    "freeze", "cycle", "batch", "batch-cycle", "floor", "fdatasync",
};

struct options {
    enum mode mode;
    struct sockaddr_in to;
    int connections;
    int64_t run_ns;
    int64_t commands_max; /* 0: until the time is over */
    int accounts;
    int lines; /* of a batch */
    int time_limit_s;
    const char *token;
    const char *cluster;
    const char *file; /* fdatasync */
};

struct connection {
    int fd;
    bool settling; /* cycle: the next request settles `id` */
    bool writing;  /* waits for EPOLLOUT */
    char id[ID_BYTES];
    char *out;
    size_t out_bytes;
    size_t out_sent;
    char *in;         /* the head of the answer, and as much of the body as fits */
    size_t in_bytes;  /* received in all */
    size_t head_end;  /* 0: the head is not complete */
    size_t body_want; /* SIZE_MAX: chunked */
    char tail[5];     /* last bytes received: the end of a chunked body */
    int64_t sent_ns;
};

static struct options options;
static struct connection *connections;
static int epoll_fd;
static int64_t histogram[BUCKETS];
static int64_t requests, commands, errors, max_ns, gap_ns, last_answer_ns, sent_commands;
static uint64_t random_state;
static uint64_t id_counter;
static char started_at[21], ended_at[21];

static void die(const char *what)
{
    fprintf(stderr, "load: %s: %s\n", what, errno ? strerror(errno) : "wrong");
    exit(2);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* xorshift64*: good enough to spread accounts and ids. */
static uint64_t random_next(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * UINT64_C(2685821657736338717);
}

static void hex(char *to, uint64_t value, int digits)
{
    for (int i = digits - 1; i >= 0; i--, value >>= 4)
        to[i] = "0123456789abcdef"[value & 15];
}

static void decimal(char *to, unsigned value, int digits)
{
    for (int i = digits - 1; i >= 0; i--, value /= 10)
        to[i] = (char)('0' + value % 10);
}

/* A UUIDv7: ordered in time, as clients of the ledger should make them. The counter keeps ids of one millisecond apart. */
static void make_id(char to[ID_BYTES])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    uint64_t low = random_next();
    hex(to, ms >> 16, 8);
    to[8] = '-';
    hex(to + 9, ms & 0xffff, 4);
    to[13] = '-';
    hex(to + 14, 0x7000 | (id_counter & 0xfff), 4);
    to[18] = '-';
    hex(to + 19, 0x8000 | (id_counter >> 12 & 0x3fff), 4);
    to[23] = '-';
    hex(to + 24, low, 12);
    id_counter++;
}

/* ---- requests ---- */

static size_t put_freeze(char *to, const char *op, const char id[ID_BYTES])
{
    char account[ACCOUNT_DIGITS];
    decimal(account, (unsigned)(random_next() >> 33) % (unsigned)options.accounts, ACCOUNT_DIGITS);
    int bytes =
        snprintf(to, LINE_BYTES,
                 "{%s\"id\":\"%.*s\",\"cluster\":\"%s\",\"account\":\"p%.*s\",\"user\":\"alice\","
                 "\"resources\":{\"cores\":1},\"time_limit_s\":%d}",
                 op, ID_BYTES, id, options.cluster, ACCOUNT_DIGITS, account, options.time_limit_s);
    return (size_t)bytes;
}

static size_t put_settle(char *to, const char *prefix)
{
    int bytes = snprintf(to, LINE_BYTES, "{%s\"started_at\":\"%s\",\"ended_at\":\"%s\"}", prefix,
                         started_at, ended_at);
    return (size_t)bytes;
}

static size_t put_head(char *to, const char *path, const char *type, size_t body_bytes)
{
    int bytes = snprintf(to, HEAD_BYTES,
                         "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"
                         "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n",
                         path, options.token, type, body_bytes);
    return (size_t)bytes;
}

/* One request a freeze: the template is written once, and only id and account change. */
static void make_freeze(struct connection *connection)
{
    static char template[HEAD_BYTES + LINE_BYTES];
    static size_t template_bytes, id_at, account_at;
    make_id(connection->id);
    if (template_bytes == 0) {
        char body[LINE_BYTES];
        size_t body_bytes = put_freeze(body, "", connection->id);
        size_t head_bytes = put_head(template, "/v1/holds", "application/json", body_bytes);
        memcpy(template + head_bytes, body, body_bytes);
        template_bytes = head_bytes + body_bytes;
        id_at = (size_t)(strstr(template + head_bytes, "\"id\":\"") - template) + 6;
        account_at = (size_t)(strstr(template + head_bytes, "\"account\":\"p") - template) + 12;
    }
    memcpy(connection->out, template, template_bytes);
    memcpy(connection->out + id_at, connection->id, ID_BYTES);
    decimal(connection->out + account_at,
            (unsigned)(random_next() >> 33) % (unsigned)options.accounts, ACCOUNT_DIGITS);
    connection->out_bytes = template_bytes;
}

static void make_settle(struct connection *connection)
{
    char body[LINE_BYTES], path[128];
    size_t body_bytes = put_settle(body, "");
    snprintf(path, sizeof path, "/v1/holds/%.*s/settle", ID_BYTES, connection->id);
    size_t head_bytes = put_head(connection->out, path, "application/json", body_bytes);
    memcpy(connection->out + head_bytes, body, body_bytes);
    connection->out_bytes = head_bytes + body_bytes;
}

static void make_batch(struct connection *connection)
{
    char *body = connection->out + HEAD_BYTES, *to = body;
    bool with_settle = options.mode == MODE_BATCH_CYCLE;
    for (int line = 0; line < options.lines; line += with_settle ? 2 : 1) {
        make_id(connection->id);
        to += put_freeze(to, "\"op\":\"freeze\",", connection->id);
        *to++ = '\n';
        if (!with_settle)
            continue;
        char prefix[128];
        snprintf(prefix, sizeof prefix, "\"op\":\"settle\",\"hold\":\"%.*s\",", ID_BYTES,
                 connection->id);
        to += put_settle(to, prefix);
        *to++ = '\n';
    }
    char head[HEAD_BYTES];
    size_t head_bytes = put_head(head, "/v1/batch", "application/x-ndjson", (size_t)(to - body));
    memmove(connection->out + head_bytes, body, (size_t)(to - body));
    memcpy(connection->out, head, head_bytes);
    connection->out_bytes = head_bytes + (size_t)(to - body);
}

static void make_request(struct connection *connection)
{
    switch (options.mode) {
    case MODE_CYCLE:
        if (connection->settling)
            make_settle(connection);
        else
            make_freeze(connection);
        break;
    case MODE_BATCH:
    case MODE_BATCH_CYCLE:
        make_batch(connection);
        break;
    case MODE_FREEZE:
    case MODE_FLOOR:
    case MODE_FDATASYNC:
    case MODE__COUNT:
        make_freeze(connection);
        break;
    }
}

/* ---- the connections ---- */

static void watch(struct connection *connection, int operation, bool writing)
{
    struct epoll_event event = {.events = EPOLLIN | (writing ? EPOLLOUT : 0u),
                                .data.ptr = connection};
    if (epoll_ctl(epoll_fd, operation, connection->fd, &event) < 0)
        die("epoll_ctl");
    connection->writing = writing;
}

static void send_rest(struct connection *connection)
{
    while (connection->out_sent < connection->out_bytes) {
        ssize_t sent = send(connection->fd, connection->out + connection->out_sent,
                            connection->out_bytes - connection->out_sent, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            if (!connection->writing)
                watch(connection, EPOLL_CTL_MOD, true);
            return;
        }
        if (sent < 0)
            die("send");
        connection->out_sent += (size_t)sent;
    }
    if (connection->writing)
        watch(connection, EPOLL_CTL_MOD, false);
}

static bool may_send(void)
{
    return options.commands_max == 0 || sent_commands < options.commands_max;
}

static void send_request(struct connection *connection, int64_t at_ns)
{
    make_request(connection);
    sent_commands += options.lines;
    connection->out_sent = 0;
    connection->in_bytes = 0;
    connection->head_end = 0;
    connection->sent_ns = at_ns;
    send_rest(connection);
}

static void connection_open(struct connection *connection)
{
    size_t room = HEAD_BYTES + LINE_BYTES * ((size_t)options.lines + 1);
    connection->out = malloc(room);
    connection->in = malloc(ANSWER_BYTES + 1);
    if (!connection->out || !connection->in)
        die("memory");
    connection->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connection->fd < 0 ||
        connect(connection->fd, (struct sockaddr *)&options.to, sizeof options.to) < 0)
        die("connect");
    int on = 1;
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(connection->fd, F_SETFL, O_NONBLOCK);
    watch(connection, EPOLL_CTL_ADD, false);
}

/* ---- answers ---- */

static void read_head(struct connection *connection)
{
    size_t kept = connection->in_bytes < ANSWER_BYTES ? connection->in_bytes : ANSWER_BYTES;
    connection->in[kept] = 0;
    const char *end = strstr(connection->in, "\r\n\r\n");
    if (!end)
        return;
    connection->head_end = (size_t)(end - connection->in) + 4;
    connection->body_want = 0;
    const char *length = strcasestr(connection->in, "\r\nContent-Length:");
    if (length && length < end)
        connection->body_want = strtoul(length + 17, NULL, 10);
    else if (strcasestr(connection->in, "\r\nTransfer-Encoding: chunked"))
        connection->body_want = SIZE_MAX;
}

static bool answer_complete(const struct connection *connection)
{
    if (connection->head_end == 0)
        return false;
    if (connection->body_want == SIZE_MAX)
        return memcmp(connection->tail, "0\r\n\r\n", 5) == 0;
    return connection->in_bytes >= connection->head_end + connection->body_want;
}

static unsigned bucket_of(int64_t ns)
{
    uint64_t us8 = (uint64_t)ns / 125; /* eighths of a microsecond */
    if (us8 < BUCKETS_PER_OCTAVE)
        return (unsigned)us8;
    unsigned octave = 63u - (unsigned)__builtin_clzll(us8) - 6u;
    unsigned bucket =
        (octave + 1) * BUCKETS_PER_OCTAVE + (unsigned)(us8 >> octave) - BUCKETS_PER_OCTAVE;
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static double bucket_us(unsigned bucket)
{
    unsigned octave = bucket / BUCKETS_PER_OCTAVE;
    if (octave == 0)
        return bucket / 8.0;
    return (double)((uint64_t)(BUCKETS_PER_OCTAVE + bucket % BUCKETS_PER_OCTAVE) << (octave - 1)) /
           8.0;
}

static double percentile_us(int64_t count, int permille)
{
    int64_t wanted = count * permille / 1000, seen = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        seen += histogram[i];
        if (seen > wanted)
            return bucket_us(i);
    }
    return 0;
}

static void count_latency(int64_t at_ns, int64_t taken_ns)
{
    histogram[bucket_of(taken_ns)]++;
    if (taken_ns > max_ns)
        max_ns = taken_ns;
    if (at_ns - last_answer_ns > gap_ns)
        gap_ns = at_ns - last_answer_ns;
    last_answer_ns = at_ns;
    requests++;
}

static void count_error(struct connection *connection)
{
    if (errors++ == 0)
        fprintf(stderr, "load: first error: %.1500s\n", connection->in);
}

/* The lines of a batch are looked at as far as they were kept: one that is not 2xx counts. */
static void count_batch_errors(struct connection *connection)
{
    for (const char *at = connection->in; (at = strstr(at, "\"status\":")) != NULL;) {
        at += strlen("\"status\":");
        if (*(*at == ' ' ? at + 1 : at) != '2')
            count_error(connection);
    }
}

static void take_answer(struct connection *connection, int64_t at_ns)
{
    count_latency(at_ns, at_ns - connection->sent_ns);
    bool good = connection->in_bytes > 12 && memcmp(connection->in + 9, "20", 2) == 0;
    if (!good)
        count_error(connection);
    else if (options.lines > 1)
        count_batch_errors(connection);
    commands += options.lines;
    if (options.mode == MODE_CYCLE)
        connection->settling = good && !connection->settling;
}

/* Read what is there; true when an answer is complete. */
static bool receive(struct connection *connection)
{
    static char spill[ANSWER_BYTES];
    for (;;) {
        bool keep = connection->in_bytes < ANSWER_BYTES;
        char *to = keep ? connection->in + connection->in_bytes : spill;
        size_t room = keep ? ANSWER_BYTES - connection->in_bytes : sizeof spill;
        ssize_t got = recv(connection->fd, to, room, 0);
        if (got < 0 && errno == EAGAIN)
            return false;
        if (got <= 0)
            die("the server closed a connection");
        size_t end = (size_t)got < 5 ? (size_t)got : 5;
        memmove(connection->tail, connection->tail + end, 5 - end);
        memcpy(connection->tail + 5 - end, to + got - end, end);
        connection->in_bytes += (size_t)got;
        if (connection->head_end == 0)
            read_head(connection);
        if (answer_complete(connection))
            return true;
    }
}

/* Returns false when this connection has nothing more to do. */
static bool serve(struct connection *connection, uint32_t events)
{
    if (events & EPOLLOUT)
        send_rest(connection);
    if (!(events & EPOLLIN) || !receive(connection))
        return true;
    int64_t at_ns = now_ns();
    take_answer(connection, at_ns);
    if (!may_send())
        return false;
    send_request(connection, at_ns);
    return true;
}

static void report(int64_t elapsed_ns)
{
    double seconds = (double)elapsed_ns / 1e9;
    printf("mode=%s connections=%d seconds=%.2f requests=%" PRId64 " commands=%" PRId64
           " rate=%.0f p50_us=%.1f p99_us=%.1f max_us=%.0f gap_ms=%.1f errors=%" PRId64 "\n",
           mode_names[options.mode], options.connections, seconds, requests, commands,
           (double)commands / seconds, percentile_us(requests, 500), percentile_us(requests, 990),
           (double)max_ns / 1e3, (double)gap_ns / 1e6, errors);
}

static void run_http(void)
{
    struct epoll_event events[EVENTS];
    epoll_fd = epoll_create1(0);
    connections = calloc((size_t)options.connections, sizeof *connections);
    if (epoll_fd < 0 || !connections)
        die("start");
    for (int i = 0; i < options.connections; i++)
        connection_open(&connections[i]);
    int64_t start_ns = last_answer_ns = now_ns();
    int64_t end_ns = start_ns + options.run_ns;
    int busy = 0;
    for (; busy < options.connections && may_send(); busy++)
        send_request(&connections[busy], now_ns());
    while (busy > 0 && (options.commands_max || now_ns() < end_ns)) {
        int count = epoll_wait(epoll_fd, events, EVENTS, 200);
        for (int i = 0; i < count; i++)
            busy -= serve(events[i].data.ptr, events[i].events) ? 0 : 1;
    }
    int64_t stop_ns = now_ns();
    if (busy > 0 && stop_ns - last_answer_ns > gap_ns)
        gap_ns = stop_ns - last_answer_ns;
    report(stop_ns - start_ns);
}

/* What one durable write costs here: 4 KiB appended, then fdatasync. */
static void run_fdatasync(void)
{
    static char block[4096];
    int fd = open(options.file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        die(options.file);
    int64_t start_ns = last_answer_ns = now_ns(), at_ns = start_ns;
    while (at_ns < start_ns + options.run_ns) {
        if (write(fd, block, sizeof block) != (ssize_t)sizeof block || fdatasync(fd) < 0)
            die(options.file);
        int64_t done_ns = now_ns();
        count_latency(done_ns, done_ns - at_ns);
        commands++;
        at_ns = done_ns;
    }
    close(fd);
    unlink(options.file);
    report(at_ns - start_ns);
}

/* ---- arguments ---- */

static const char usage[] =
    "usage: load MODE [--to ADDRESS:PORT] [--connections N] [--seconds N] [--commands N] [--accounts N] [--lines N]\n"
    "            [--time-limit S] [--token TOKEN] [--cluster NAME] [--file FILE]\n"
    "MODE: freeze, cycle (freeze, then settle), batch and batch-cycle (NDJSON of --lines commands),\n"
    "      floor (freezes to a server that has no ledger), fdatasync (--file: 4 KiB append and fdatasync)\n"
    "--commands: stop after so many instead of after --seconds. Accounts are p0000 to p<N-1>.\n";

static const struct option long_options[] = {
    {"to", required_argument, NULL, 't'},
    {"connections", required_argument, NULL, 'c'},
    {"seconds", required_argument, NULL, 's'},
    {"commands", required_argument, NULL, 'n'},
    {"accounts", required_argument, NULL, 'a'},
    {"lines", required_argument, NULL, 'l'},
    {"time-limit", required_argument, NULL, 'L'},
    {"token", required_argument, NULL, 'k'},
    {"cluster", required_argument, NULL, 'C'},
    {"file", required_argument, NULL, 'f'},
    {0},
};

static int number(const char *text, int least, int most)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < least || value > most) {
        fprintf(stderr, "load: %s is not a number from %d to %d\n", text, least, most);
        exit(2);
    }
    return (int)value;
}

static void parse_address(char *text)
{
    char *colon = strrchr(text, ':');
    if (!colon)
        die(text);
    *colon = 0;
    options.to.sin_family = AF_INET;
    options.to.sin_port = htons((uint16_t)number(colon + 1, 1, 65535));
    if (inet_pton(AF_INET, text, &options.to.sin_addr) != 1)
        die(text);
}

static void parse_option(int option)
{
    switch (option) {
    case 't':
        parse_address(optarg);
        return;
    case 'c':
        options.connections = number(optarg, 1, 60000);
        return;
    case 's':
        options.run_ns = (int64_t)number(optarg, 1, 86400) * 1000000000;
        return;
    case 'n':
        options.commands_max = number(optarg, 1, 2000000000);
        return;
    case 'a':
        options.accounts = number(optarg, 1, 10000);
        return;
    case 'l':
        options.lines = number(optarg, 1, 10000);
        return;
    case 'L':
        options.time_limit_s = number(optarg, 1, 31536000);
        return;
    case 'k':
        options.token = optarg;
        return;
    case 'C':
        options.cluster = optarg;
        return;
    case 'f':
        options.file = optarg;
        return;
    default:
        fputs(usage, stderr);
        exit(2);
    }
}

static void parse_arguments(int argc, char **argv)
{
    options = (struct options){.connections = 64,
                               .run_ns = 10000000000,
                               .accounts = 256,
                               .time_limit_s = 3600,
                               .token = "none",
                               .cluster = "bench",
                               .file = "load.tmp"};
    for (int option; (option = getopt_long(argc, argv, "", long_options, NULL)) != -1;)
        parse_option(option);
    int mode = 0;
    while (optind < argc && mode < MODE__COUNT && strcmp(argv[optind], mode_names[mode]) != 0)
        mode++;
    if (optind + 1 != argc || mode == MODE__COUNT) {
        fputs(usage, stderr);
        exit(2);
    }
    options.mode = (enum mode)mode;
    bool batch = mode == MODE_BATCH || mode == MODE_BATCH_CYCLE;
    options.lines = batch ? (options.lines ? options.lines : 1000) : 1;
}

/* Half an hour that has just ended: use that really could have happened. */
static void set_times(void)
{
    time_t end = time(NULL), start = end - 1800;
    struct tm parts;
    strftime(started_at, sizeof started_at, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&start, &parts));
    strftime(ended_at, sizeof ended_at, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&end, &parts));
}

int main(int argc, char **argv)
{
    parse_arguments(argc, argv);
    if (getrandom(&random_state, sizeof random_state, 0) != sizeof random_state)
        die("getrandom");
    random_state |= 1;
    set_times();
    if (options.mode == MODE_FDATASYNC)
        run_fdatasync();
    else
        run_http();
    return errors ? 1 : 0;
}
