/* One try over libcurl: see exchange.h. */
#include "clients/exchange.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#ifndef COREHOUR_VERSION
#    define COREHOUR_VERSION "0"
#endif

/* What libcurl's callbacks work on during one try. */
struct collector {
    const struct corehour_request *request;
    struct exchange_attempt *attempt;
    size_t room_bytes; /* of answer.text */
    size_t bytes_max;  /* of answer.text */
    bool too_large;
    bool sink_refused;
    bool no_memory;
};

enum corehour_result exchange_error(struct corehour_error *ret_error,
                                    enum corehour_result result,
                                    const char *format,
                                    ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ret_error->detail, sizeof ret_error->detail, format, args);
    va_end(args);
    ret_error->result = result;
    return result;
}

bool exchange_has_control(const char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            return true;
        }
    }
    return false;
}

/* ---- the handle ---- */

/* A proxy from the environment is for the world outside, not for this machine. */
static bool is_loopback(const char *url)
{
    static const char *const hosts[] = {"localhost", "127.", "[::1]"};
    const char *separator = strstr(url, "://");
    const char *host = separator == NULL ? url : separator + 3;
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        if (strncasecmp(host, hosts[i], strlen(hosts[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Copies a header's value, cut to the room. */
static void value_copy(const char *value, size_t length, char *ret_text, size_t size_bytes)
{
    if (length >= size_bytes) {
        length = size_bytes - 1;
    }
    memcpy(ret_text, value, length);
    ret_text[length] = '\0';
}

/* Copies the media type in lower case, without its parameters. */
static void media_type_take(struct corehour_answer *answer, const char *value, size_t length)
{
    size_t end = 0;
    while (end < length && value[end] != ';' && value[end] != ' ') {
        end++;
    }
    value_copy(value, end, answer->type, sizeof answer->type);
    for (char *c = answer->type; *c != '\0'; c++) {
        *c = (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    }
}

/* The number at the front of a text, cut at 9 digits; -1 without one. */
static int64_t digits_read(const char *text, const char *end)
{
    int64_t value = -1;
    for (int i = 0; i < 9 && text < end && isdigit((unsigned char)*text); i++, text++) {
        value = (value < 0 ? 0 : value * 10) + (*text - '0');
    }
    return value;
}

static void header_take(struct corehour_answer *answer,
                        const char *name,
                        const char *value,
                        size_t length)
{
    if (strcasecmp(name, "content-type") == 0) {
        media_type_take(answer, value, length);
    } else if (strcasecmp(name, "etag") == 0) {
        if (length < sizeof answer->etag) { /* a cut one would match nothing */
            value_copy(value, length, answer->etag, sizeof answer->etag);
        }
    } else if (strcasecmp(name, "retry-after") == 0) {
        answer->retry_after_s = digits_read(value, value + length); /* a date is ignored */
    } else if (strcasecmp(name, "idempotency-replayed") == 0) {
        answer->replayed = length == 4 && strncasecmp(value, "true", 4) == 0;
    }
}

/* libcurl's: called once a line, the status line of a 100 Continue included. */
static size_t on_header(char *line, size_t size, size_t count, void *arg)
{
    struct corehour_answer *answer = &((struct collector *)arg)->attempt->answer;
    size_t all = size * count;
    size_t length = all;
    while (length > 0 && isspace((unsigned char)line[length - 1])) {
        length--;
    }
    if (length > 9 && strncasecmp(line, "HTTP/", 5) == 0) {
        const char *space = memchr(line, ' ', length);
        answer->status = space == NULL ? 0 : (int)digits_read(space + 1, line + length);
        return all;
    }
    const char *colon = length == 0 ? NULL : memchr(line, ':', length);
    char name[32];
    if (colon == NULL || (size_t)(colon - line) >= sizeof name) {
        return all;
    }
    value_copy(line, (size_t)(colon - line), name, sizeof name);
    const char *value = colon + 1;
    while (value < line + length && isspace((unsigned char)*value)) {
        value++;
    }
    header_take(answer, name, value, (size_t)(line + length - value));
    return all;
}

static bool text_reserve(struct collector *collector, size_t more_bytes)
{
    struct corehour_answer *answer = &collector->attempt->answer;
    size_t need = answer->text_bytes + more_bytes + 1;
    if (need <= collector->room_bytes) {
        return true;
    }
    size_t room = collector->room_bytes == 0 ? 4096 : collector->room_bytes * 2;
    if (room < need) {
        room = need;
    }
    char *grown = realloc(answer->text, room);
    if (grown == NULL) {
        return false;
    }
    answer->text = grown;
    collector->room_bytes = room;
    return true;
}

/* libcurl's: a return other than the count ends the transfer. */
static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    struct collector *collector = arg;
    struct corehour_answer *answer = &collector->attempt->answer;
    const struct corehour_request *request = collector->request;
    size_t more = size * count;
    if (request->sink != NULL && answer->status >= 200 && answer->status < 300) {
        collector->attempt->sink_fed = true;
        collector->sink_refused = !request->sink(request->sink_arg, bytes, more);
        return collector->sink_refused ? 0 : more;
    }
    collector->too_large = more > collector->bytes_max - answer->text_bytes;
    if (collector->too_large) {
        return 0;
    }
    collector->no_memory = !text_reserve(collector, more);
    if (collector->no_memory) {
        return 0;
    }
    memcpy(answer->text + answer->text_bytes, bytes, more);
    answer->text_bytes += more;
    answer->text[answer->text_bytes] = '\0';
    return more;
}

/* libcurl's: a socket that no program which this process starts inherits. */
static curl_socket_t on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
    (void)arg;
    (void)purpose;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* Everything about the handle that no request changes. */
static CURLcode handle_setup(struct exchange *exchange, const struct corehour_options *options)
{
    CURL *curl = exchange->curl;
    const char *agent = options->agent != NULL ? options->agent : "libcorehour/" COREHOUR_VERSION;
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, exchange->curl_detail);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    CURLcode code = curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    if (code == CURLE_OK) {
        code = curl_easy_setopt(curl, CURLOPT_USERAGENT, agent);
    }
    if (code == CURLE_OK && (options->address != NULL || is_loopback(exchange->base))) {
        code = curl_easy_setopt(curl, CURLOPT_PROXY, "");
    }
    if (code == CURLE_OK && options->ca_file != NULL) {
        code = curl_easy_setopt(curl, CURLOPT_CAINFO, options->ca_file);
    }
    return code;
}

/* The URL's host is at these addresses, and nothing is looked up: "HOST:PORT:ADDRESS,ADDRESS", for as long as the handle lives. */
static CURLcode addresses_set(struct exchange *exchange, const char *addresses)
{
    CURLU *url = curl_url();
    char *host = NULL;
    char *port = NULL;
    char *line = NULL;
    CURLcode code = CURLE_OUT_OF_MEMORY;
    if (url != NULL && curl_url_set(url, CURLUPART_URL, exchange->base, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
        curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
        asprintf(&line, "%s:%s:%s", host, port, addresses) >= 0) {
        exchange->resolved = curl_slist_append(NULL, line);
        free(line);
    }
    if (exchange->resolved != NULL) {
        code = curl_easy_setopt(exchange->curl, CURLOPT_RESOLVE, exchange->resolved);
    }
    curl_free(host);
    curl_free(port);
    curl_url_cleanup(url);
    return code;
}

/* "name: value" in memory of its own; NULL for a NULL value. False when memory is out. */
static bool header_create(const char *name, const char *value, char **ret_header)
{
    char *header = NULL;
    if (value != NULL && asprintf(&header, "%s: %s", name, value) < 0) {
        return false;
    }
    *ret_header = header;
    return true;
}

enum corehour_result exchange_init(struct exchange *exchange,
                                   const struct corehour_options *options,
                                   struct corehour_error *ret_error)
{
    *exchange = (struct exchange){.connect_ms = options->connect_ms,
                                  .answer_bytes_max = options->answer_bytes_max};
    exchange->curl = curl_easy_init();
    exchange->base = strdup(options->url);
    if (exchange->curl == NULL || exchange->base == NULL) {
        return exchange_error(ret_error, COREHOUR_MEMORY, "out of memory");
    }
    for (size_t length = strlen(exchange->base); exchange->base[length - 1] == '/'; length--) {
        exchange->base[length - 1] = '\0';
    }
    CURLcode code = handle_setup(exchange, options);
    if (code == CURLE_OK && options->address != NULL) {
        code = addresses_set(exchange, options->address);
    }
    if (code != CURLE_OK) {
        return exchange_error(ret_error, COREHOUR_INVALID, "libcurl cannot be set up: %s",
                              curl_easy_strerror(code));
    }
    char *bearer = NULL;
    bool ok = header_create("Accept-Language", options->language, &exchange->accept_language) &&
              (options->token == NULL || asprintf(&bearer, "Bearer %s", options->token) >= 0) &&
              header_create("Authorization", bearer, &exchange->authorization);
    free(bearer);
    return ok ? COREHOUR_OK : exchange_error(ret_error, COREHOUR_MEMORY, "out of memory");
}

void exchange_fini(struct exchange *exchange)
{
    curl_easy_cleanup(exchange->curl);
    curl_slist_free_all(exchange->resolved);
    free(exchange->base);
    free(exchange->authorization);
    free(exchange->accept_language);
    *exchange = (struct exchange){0};
}

/* ---- a request ---- */

static bool headers_add(struct curl_slist **list, const char *line)
{
    if (line == NULL) {
        return true;
    }
    struct curl_slist *longer = curl_slist_append(*list, line);
    if (longer == NULL) {
        return false;
    }
    *list = longer;
    return true;
}

static bool headers_add_pair(struct curl_slist **list, const char *name, const char *value)
{
    char *line;
    if (!header_create(name, value, &line)) {
        return false;
    }
    bool ok = headers_add(list, line);
    free(line);
    return ok;
}

static bool is_clean(const char *text)
{
    return text == NULL || !exchange_has_control(text);
}

static enum corehour_result body_write(struct exchange_request *prepared,
                                       struct corehour_error *ret_error)
{
    const struct corehour_request *request = prepared->request;
    prepared->bytes = request->bytes;
    prepared->bytes_count = request->bytes_count;
    if (request->body == NULL) {
        return COREHOUR_OK;
    }
    prepared->text = json_dumps(request->body, JSON_COMPACT);
    if (prepared->text == NULL) {
        return exchange_error(ret_error, COREHOUR_MEMORY, "the body cannot be written: no memory");
    }
    prepared->bytes = prepared->text;
    prepared->bytes_count = strlen(prepared->text);
    return COREHOUR_OK;
}

enum corehour_result exchange_request_init(const struct exchange *exchange,
                                           const struct corehour_request *request,
                                           struct exchange_request *ret_prepared,
                                           struct corehour_error *ret_error)
{
    *ret_prepared = (struct exchange_request){.request = request};
    if (request->path[0] != '/' || !is_clean(request->path) || !is_clean(request->if_match) ||
        !is_clean(request->idempotency_key) || !is_clean(request->content_type)) {
        return exchange_error(ret_error, COREHOUR_INVALID,
                              "the path or a header of the request is malformed");
    }
    enum corehour_result result = body_write(ret_prepared, ret_error);
    if (result != COREHOUR_OK) {
        return result;
    }
    const char *type = request->content_type != NULL ? request->content_type : "application/json";
    struct curl_slist **list = &ret_prepared->headers;
    bool ok = asprintf(&ret_prepared->url, "%s%s", exchange->base, request->path) >= 0;
    if (!ok) {
        ret_prepared->url = NULL;
    }
    ok = ok && headers_add(list, exchange->authorization) &&
         headers_add(list, exchange->accept_language) && headers_add(list, "Expect:") &&
         headers_add_pair(list, "Content-Type", ret_prepared->bytes != NULL ? type : NULL) &&
         headers_add_pair(list, "If-Match", request->if_match) &&
         headers_add_pair(list, "Idempotency-Key", request->idempotency_key);
    return ok ? COREHOUR_OK : exchange_error(ret_error, COREHOUR_MEMORY, "out of memory");
}

void exchange_request_fini(struct exchange_request *prepared)
{
    free(prepared->url);
    curl_slist_free_all(prepared->headers);
    free(prepared->text);
    *prepared = (struct exchange_request){0};
}

/* ---- one try ---- */

static CURLcode handle_aim(const struct exchange *exchange,
                           const struct exchange_request *prepared,
                           struct collector *collector,
                           int64_t try_ms)
{
    CURL *curl = exchange->curl;
    int64_t connect_ms = exchange->connect_ms < try_ms ? exchange->connect_ms : try_ms;
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)try_ms);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, collector);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, collector);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, prepared->headers);
    curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L); /* forgets the last request's body */
    /* When a kept connection turns out to be dead, libcurl sends again by itself: not what goes once. */
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, prepared->request->once ? 1L : 0L);
    if (prepared->bytes != NULL) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)prepared->bytes_count);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, prepared->bytes);
    }
    CURLcode code = curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, prepared->request->method);
    return code != CURLE_OK ? code : curl_easy_setopt(curl, CURLOPT_URL, prepared->url);
}

/* Whether libcurl's failure came before the request left this machine. */
static bool is_unsent(CURL *curl, CURLcode code)
{
    static const CURLcode codes[] = {CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST,
                                     CURLE_COULDNT_RESOLVE_PROXY, CURLE_SSL_CONNECT_ERROR,
                                     CURLE_PEER_FAILED_VERIFICATION};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (code == codes[i]) {
            return true;
        }
    }
    long sent_bytes = 0;
    return curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &sent_bytes) == CURLE_OK &&
           sent_bytes == 0;
}

static enum corehour_result failure_judge(const struct exchange *exchange,
                                          const struct collector *collector,
                                          CURLcode code,
                                          struct corehour_error *ret_error)
{
    const char *base = exchange->base;
    const char *why = exchange->curl_detail;
    if (why[0] == '\0') {
        why = curl_easy_strerror(code);
    }
    if (collector->no_memory || code == CURLE_OUT_OF_MEMORY) {
        return exchange_error(ret_error, COREHOUR_MEMORY, "out of memory");
    }
    if (collector->too_large) {
        return exchange_error(ret_error, COREHOUR_GARBLED, "the answer is longer than %zu bytes",
                              collector->bytes_max);
    }
    if (collector->sink_refused) {
        return exchange_error(ret_error, COREHOUR_GARBLED, "the answer cannot be written out");
    }
    bool unsent = is_unsent(exchange->curl, code);
    bool bad_url = code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT;
    if (bad_url && unsent) {
        return exchange_error(ret_error, COREHOUR_INVALID, "%.80s: %.200s", base, why);
    }
    if (bad_url || code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_BAD_CONTENT_ENCODING) {
        return exchange_error(ret_error, COREHOUR_GARBLED, "%.80s does not speak HTTP: %.200s",
                              base, why);
    }
    if (unsent) {
        return exchange_error(ret_error, COREHOUR_UNREACHABLE, "%.80s cannot be reached: %.200s",
                              base, why);
    }
    return exchange_error(ret_error, COREHOUR_NO_ANSWER, "%.80s gave no whole answer: %.200s", base,
                          why);
}

/* Parses the body of a whole answer. A body that says JSON and is not is a failure only in a 2xx.
 */
static enum corehour_result body_parse(struct corehour_answer *answer,
                                       struct corehour_error *ret_error)
{
    bool is_json = strcmp(answer->type, "application/json") == 0 ||
                   strcmp(answer->type, "application/problem+json") == 0;
    if (!is_json || answer->text_bytes == 0) {
        return COREHOUR_OK;
    }
    json_error_t where;
    answer->body = json_loadb(answer->text, answer->text_bytes, JSON_REJECT_DUPLICATES, &where);
    if (answer->body != NULL || answer->status >= 300) {
        return COREHOUR_OK;
    }
    return exchange_error(ret_error, COREHOUR_GARBLED, "the answer is not JSON: %.200s (byte %d)",
                          where.text, where.position);
}

enum corehour_result exchange_try(struct exchange *exchange,
                                  const struct exchange_request *prepared,
                                  int64_t try_ms,
                                  struct exchange_attempt *ret_attempt,
                                  struct corehour_error *ret_error)
{
    *ret_attempt = (struct exchange_attempt){.answer = {.retry_after_s = -1}};
    struct corehour_answer *answer = &ret_attempt->answer;
    struct collector collector = {.request = prepared->request,
                                  .attempt = ret_attempt,
                                  .bytes_max = exchange->answer_bytes_max};
    exchange->curl_detail[0] = '\0';
    if (!text_reserve(&collector, 0)) {
        return exchange_error(ret_error, COREHOUR_MEMORY, "out of memory");
    }
    answer->text[0] = '\0';
    CURLcode code = handle_aim(exchange, prepared, &collector, try_ms);
    if (code == CURLE_OK) {
        code = curl_easy_perform(exchange->curl);
    }
    if (code != CURLE_OK) {
        return failure_judge(exchange, &collector, code, ret_error);
    }
    if (answer->status < 200 || answer->status > 599) {
        return exchange_error(ret_error, COREHOUR_GARBLED, "%.80s does not speak HTTP: status %d",
                              exchange->base, answer->status);
    }
    long connects = 0;
    curl_easy_getinfo(exchange->curl, CURLINFO_NUM_CONNECTS, &connects);
    answer->reused = connects == 0;
    return body_parse(answer, ret_error);
}
