/* See webhook_send.h. */
#include "server/webhook_send.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <curl/curl.h>

enum {
    ANSWER_BYTES = 64 * 1024, /* of a receiver's answer, head and body each */
    HEADER_BYTES = 256,
    POLL_MS = 1000,
};

/* ---- which addresses */

struct network {
    uint32_t address;
    unsigned bits;
};

static const struct network never4[] = {
    {0x00000000, 8},
    {0xa9fe0000, 16},
    {0xe0000000, 4},
    {0xf0000000, 4},
};
static const struct network private4[] = {
    {0x0a000000, 8},  {0x64400000, 10}, {0xac100000, 12}, {0xc0000000, 24}, {0xc0000200, 24},
    {0xc0a80000, 16}, {0xc6120000, 15}, {0xc6336400, 24}, {0xcb007100, 24},
};

static bool is_in(uint32_t address, const struct network *networks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((address ^ networks[i].address) >> (32 - networks[i].bits) == 0) {
            return true;
        }
    }
    return false;
}

static bool may_reach4(uint32_t address, enum webhook_reach reach)
{
    if (is_in(address, never4, sizeof(never4) / sizeof(never4[0]))) {
        return false;
    }
    if (address >> 24 == 127) {
        return reach == WEBHOOK_REACH_ANY;
    }
    return reach != WEBHOOK_REACH_PUBLIC ||
           !is_in(address, private4, sizeof(private4) / sizeof(private4[0]));
}

static bool has_prefix(const uint8_t bytes[16], const uint8_t *wanted, size_t length)
{
    return memcmp(bytes, wanted, length) == 0;
}

static uint32_t last_four(const uint8_t bytes[16])
{
    return (uint32_t)bytes[12] << 24 | (uint32_t)bytes[13] << 16 | (uint32_t)bytes[14] << 8 |
           bytes[15];
}

/* An IPv6 address that stands for an IPv4 one is judged as that. */
static bool may_reach6(const uint8_t bytes[16], enum webhook_reach reach)
{
    static const uint8_t zeros[16] = {0};
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    static const uint8_t nat64[12] = {0, 0x64, 0xff, 0x9b};
    static const uint8_t metadata[16] = {0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0,
                                         0,    0, 0,    0,    0, 0, 2, 0x54};
    if (has_prefix(bytes, mapped, 12) || has_prefix(bytes, nat64, 12)) {
        return may_reach4(last_four(bytes), reach);
    }
    if (has_prefix(bytes, zeros, 15) && bytes[15] == 1) {
        return reach == WEBHOOK_REACH_ANY;
    }
    if (has_prefix(bytes, zeros, 12) || has_prefix(bytes, metadata, 16) || bytes[0] == 0xff ||
        (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80)) {
        return false;
    }
    const bool is_private = (bytes[0] & 0xfe) == 0xfc || (bytes[0] == 0xfe && bytes[1] >= 0xc0);
    return !is_private || reach != WEBHOOK_REACH_PUBLIC;
}

bool webhook_may_reach(const struct sockaddr *address, enum webhook_reach reach)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof(v4));
        return may_reach4(ntohl(v4.sin_addr.s_addr), reach);
    }
    if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof(v6));
        return may_reach6(v6.sin6_addr.s6_addr, reach);
    }
    return false;
}

/* ---- one transfer */

struct transfer {
    struct webhook_post *post;
    enum webhook_reach reach;
    CURL *easy;
    struct curl_slist *headers;
    size_t head_bytes;
    size_t answer_bytes;
    bool is_denied;
};

static curl_socket_t open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
    struct transfer *transfer = context;
    (void)purpose;
    if (!webhook_may_reach(&address->addr, transfer->reach)) {
        transfer->is_denied = true;
        return CURL_SOCKET_BAD;
    }
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t count_bytes(size_t *counted, size_t bytes)
{
    *counted += bytes;
    return *counted <= ANSWER_BYTES ? bytes : 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as curl wants it */
static size_t take_head(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    (void)bytes;
    return count_bytes(&transfer->head_bytes, size * count);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): as curl wants it */
static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct transfer *transfer = context;
    (void)bytes;
    return count_bytes(&transfer->answer_bytes, size * count);
}

static bool add_header(struct transfer *transfer, const char *text)
{
    struct curl_slist *more = curl_slist_append(transfer->headers, text);
    transfer->headers = more != NULL ? more : transfer->headers;
    return more != NULL;
}

static bool set_headers(struct transfer *transfer)
{
    const struct webhook_post *post = transfer->post;
    char id[HEADER_BYTES];
    char timestamp[HEADER_BYTES];
    char signature[HEADER_BYTES];
    (void)snprintf(id, sizeof(id), "webhook-id: %s", post->id);
    (void)snprintf(timestamp, sizeof(timestamp), "webhook-timestamp: %" PRId64, post->timestamp_s);
    (void)snprintf(signature, sizeof(signature), "webhook-signature: %s", post->signature);
    return add_header(transfer, "Content-Type: application/json") && add_header(transfer, id) &&
           add_header(transfer, timestamp) && add_header(transfer, signature) &&
           add_header(transfer, "Expect:");
}

#define SET(option, value) (curl_easy_setopt(transfer->easy, (option), (value)) == CURLE_OK)

static bool transfer_begin(struct transfer *transfer, const struct webhook_limits *limits)
{
    const struct webhook_post *post = transfer->post;
    transfer->reach = limits->reach;
    transfer->easy = curl_easy_init();
    return transfer->easy != NULL && set_headers(transfer) && SET(CURLOPT_URL, post->url) &&
           SET(CURLOPT_HTTPHEADER, transfer->headers) && SET(CURLOPT_POSTFIELDS, post->body) &&
           SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body_bytes) &&
           SET(CURLOPT_TIMEOUT_MS, (long)limits->timeout_ms) &&
           SET(CURLOPT_CONNECTTIMEOUT_MS, (long)limits->timeout_ms) && SET(CURLOPT_NOSIGNAL, 1L) &&
           SET(CURLOPT_FOLLOWLOCATION, 0L) && SET(CURLOPT_PROTOCOLS_STR, "http,https") &&
           SET(CURLOPT_PROXY, "") && SET(CURLOPT_USERAGENT, "corehour/" COREHOUR_VERSION) &&
           SET(CURLOPT_OPENSOCKETFUNCTION, open_socket) && SET(CURLOPT_OPENSOCKETDATA, transfer) &&
           SET(CURLOPT_HEADERFUNCTION, take_head) && SET(CURLOPT_HEADERDATA, transfer) &&
           SET(CURLOPT_WRITEFUNCTION, take_body) && SET(CURLOPT_WRITEDATA, transfer) &&
           SET(CURLOPT_PRIVATE, transfer);
}

static void transfer_fini(struct transfer *transfer, CURLM *multi)
{
    if (transfer->easy != NULL) {
        (void)curl_multi_remove_handle(multi, transfer->easy);
        curl_easy_cleanup(transfer->easy);
    }
    curl_slist_free_all(transfer->headers);
}

/* An answer that was too long has a status all the same. */
static void transfer_end(struct transfer *transfer, CURLcode result)
{
    struct webhook_post *post = transfer->post;
    const bool is_answered = result == CURLE_OK || result == CURLE_WRITE_ERROR;
    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &post->status);
    if (transfer->is_denied) {
        (void)snprintf(post->error, sizeof(post->error), "this address is not allowed");
    } else if (!is_answered) {
        (void)snprintf(post->error, sizeof(post->error), "%s", curl_easy_strerror(result));
        post->status = 0;
    } else if (post->status < 200 || post->status > 299) {
        (void)snprintf(post->error, sizeof(post->error), "answered %ld", post->status);
    } else {
        post->error[0] = '\0';
    }
}

/* ---- all of them */

static void collect_ended(CURLM *multi)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        char *transfer = NULL;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        transfer_end((struct transfer *)(void *)transfer, message->data.result);
    }
}

static void run_all(CURLM *multi)
{
    int running = 1;
    while (running > 0 && curl_multi_perform(multi, &running) == CURLM_OK) {
        collect_ended(multi);
        if (running > 0 && curl_multi_poll(multi, NULL, 0, POLL_MS, NULL) != CURLM_OK) {
            return;
        }
    }
    collect_ended(multi);
}

enum error_code webhook_send(struct webhook_post *posts,
                             size_t count,
                             const struct webhook_limits *limits,
                             struct error *err)
{
    CURLM *multi = curl_multi_init();
    struct transfer *transfers = calloc(count, sizeof(transfers[0]));
    bool is_ready = multi != NULL && transfers != NULL;
    for (size_t i = 0; i < count && is_ready; i++) {
        transfers[i].post = &posts[i];
        posts[i].status = 0;
        (void)snprintf(posts[i].error, sizeof(posts[i].error), "not sent");
        is_ready = transfer_begin(&transfers[i], limits) &&
                   curl_multi_add_handle(multi, transfers[i].easy) == CURLM_OK;
    }
    if (is_ready) {
        run_all(multi);
    }
    for (size_t i = 0; i < count && transfers != NULL; i++) {
        transfer_fini(&transfers[i], multi);
    }
    free(transfers);
    (void)curl_multi_cleanup(multi);
    return is_ready ? ERR_OK : error_set(err, ERR_UNAVAILABLE, "no memory for webhooks");
}
