/* See oidc_keys.h. */
#include "server/oidc_keys.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "ledger/base/buffer.h"
#include "ledger/base/cleanup.h"
#include "ledger/base/clock.h"
#include "ledger/base/log.h"

enum {
    KEYS_BYTES = 256 * 1024,
    FLOOR_MS = 10000,
    AGE_MS = 3600000,
    TRY_MS = 10000, /* one reading of a URL */
};

struct oidc_keys {
    char *source;
    bool is_url;
    pthread_t thread;
    bool is_started;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    char *text; /* under the lock, as are the next three */
    bool is_wanted;
    bool is_stopping;
    int64_t began_ms; /* monotonic: of the last reading; 0: none yet */
};

/* ---- reading */

static enum error_code read_file(const char *path, struct buffer *text, struct error *err)
{
    FILE *file = fopen(path, "rbe");
    char piece[4096];
    size_t bytes;
    if (file == NULL) {
        return error_set_field(err, ERR_INVALID_FIELD, "oidc_jwks", "%.200s: %m", path);
    }
    while ((bytes = fread(piece, 1, sizeof(piece), file)) > 0) {
        (void)buffer_append(text, piece, bytes);
    }
    const bool failed = ferror(file) != 0;
    (void)fclose(file);
    if (failed || buffer_failure(text) != ERR_OK) {
        return error_set_field(err, ERR_INVALID_FIELD, "oidc_jwks",
                               "%.200s: not readable, or more than %d bytes", path, KEYS_BYTES);
    }
    return ERR_OK;
}

static size_t take_piece(char *data, size_t size, size_t count, void *context)
{
    struct buffer *text = context;
    return buffer_append(text, data, size * count) == ERR_OK ? size * count : 0;
}

/* Not 0 ends the transfer. */
static int look_up(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct oidc_keys *keys = context;
    (void)a, (void)b, (void)c, (void)d;
    pthread_mutex_lock(&keys->lock);
    const bool is_stopping = keys->is_stopping;
    pthread_mutex_unlock(&keys->lock);
    return is_stopping;
}

static enum error_code read_url(struct oidc_keys *keys, struct buffer *text, struct error *err)
{
    CURL *curl = curl_easy_init();
    if (curl == NULL) {
        return error_set(err, ERR_UNAVAILABLE, "no memory for a request");
    }
    (void)curl_easy_setopt(curl, CURLOPT_URL, keys->source);
    (void)curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    (void)curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    (void)curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)TRY_MS);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_piece);
    (void)curl_easy_setopt(curl, CURLOPT_WRITEDATA, text);
    (void)curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_up);
    (void)curl_easy_setopt(curl, CURLOPT_XFERINFODATA, keys);
    const CURLcode result = curl_easy_perform(curl);
    curl_easy_cleanup(curl);
    if (result != CURLE_OK) {
        return error_set(err, ERR_UNAVAILABLE, "%.200s: %s", keys->source,
                         curl_easy_strerror(result));
    }
    return ERR_OK;
}

/* What was read before stays when reading fails. */
static enum error_code read_keys(struct oidc_keys *keys, struct error *err)
{
    struct buffer text;
    buffer_init(&text, KEYS_BYTES);
    const enum error_code code =
        keys->is_url ? read_url(keys, &text, err) : read_file(keys->source, &text, err);
    char *fresh = code == ERR_OK ? buffer_take(&text, NULL) : NULL;
    buffer_fini(&text);
    if (fresh != NULL) {
        pthread_mutex_lock(&keys->lock);
        char *old = keys->text;
        keys->text = fresh;
        pthread_mutex_unlock(&keys->lock);
        free(old);
    }
    return code;
}

/* ---- the thread */

/* Wait until keys are wanted or old. False when it is to end. */
static bool wait_for_work(struct oidc_keys *keys)
{
    const int64_t until_ms = clock_wall_ms() + AGE_MS;
    const struct timespec until = {.tv_sec = until_ms / 1000};
    int result = 0;
    pthread_mutex_lock(&keys->lock);
    while (!keys->is_wanted && !keys->is_stopping && result == 0) {
        result = pthread_cond_timedwait(&keys->wake, &keys->lock, &until);
    }
    keys->is_wanted = false;
    keys->began_ms = clock_mono_ms();
    const bool goes_on = !keys->is_stopping;
    pthread_mutex_unlock(&keys->lock);
    return goes_on;
}

static void *run(void *context)
{
    struct oidc_keys *keys = context;
    while (wait_for_work(keys)) {
        struct error err = {0};
        if (read_keys(keys, &err) == ERR_OK) {
            log_event(LOG_INFO, "identity_keys_read", log_text("source", keys->source));
        } else {
            log_event(LOG_WARNING, "identity_keys_not_read", log_text("detail", err.detail));
        }
    }
    return NULL;
}

char *oidc_keys_text_create(struct oidc_keys *keys)
{
    pthread_mutex_lock(&keys->lock);
    char *text = keys->text != NULL ? strdup(keys->text) : NULL;
    pthread_mutex_unlock(&keys->lock);
    return text;
}

bool oidc_keys_refresh(struct oidc_keys *keys)
{
    pthread_mutex_lock(&keys->lock);
    const bool may = keys->is_wanted || keys->text == NULL || keys->began_ms == 0 ||
                     clock_mono_ms() - keys->began_ms >= FLOOR_MS;
    if (may && (keys->began_ms == 0 || clock_mono_ms() - keys->began_ms >= FLOOR_MS)) {
        keys->is_wanted = true;
        pthread_cond_signal(&keys->wake);
    }
    pthread_mutex_unlock(&keys->lock);
    return may;
}

/* ---- life */

static bool is_of_this_machine(const char *source)
{
    static const char *const hosts[] = {"http://127.0.0.1", "http://localhost", "http://[::1]"};
    for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
        const size_t bytes = strlen(hosts[i]);
        if (strncmp(source, hosts[i], bytes) == 0 && strchr(":/", source[bytes]) != NULL) {
            return true;
        }
    }
    return false;
}

static enum error_code start(struct oidc_keys *keys, struct error *err)
{
    keys->is_url = strstr(keys->source, "://") != NULL;
    keys->is_wanted = keys->is_url;
    if (keys->is_url && strncmp(keys->source, "https://", 8) != 0 &&
        !is_of_this_machine(keys->source)) {
        return error_set_field(err, ERR_INVALID_FIELD, "oidc_jwks",
                               "a file, https://, or http:// on this machine: keys decide who is "
                               "let in");
    }
    if (!keys->is_url) {
        const enum error_code code = read_keys(keys, err);
        if (code != ERR_OK) {
            return code;
        }
    }
    keys->is_started = pthread_create(&keys->thread, NULL, run, keys) == 0;
    return keys->is_started
               ? ERR_OK
               : error_set(err, ERR_UNAVAILABLE, "the thread of identity keys does not start");
}

enum error_code oidc_keys_create(const char *source, struct oidc_keys **ret_keys, struct error *err)
{
    struct oidc_keys *keys = calloc(1, sizeof(*keys));
    char *copy = strdup(source);
    if (keys == NULL || copy == NULL || pthread_mutex_init(&keys->lock, NULL) != 0 ||
        pthread_cond_init(&keys->wake, NULL) != 0) {
        free(copy);
        free(keys);
        return error_set(err, ERR_UNAVAILABLE, "no memory for identity keys");
    }
    keys->source = copy;
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    const enum error_code code = start(keys, err);
    if (code != ERR_OK) {
        oidc_keys_destroy(keys);
        return code;
    }
    *ret_keys = keys;
    return ERR_OK;
}

void oidc_keys_destroy(struct oidc_keys *keys)
{
    if (keys == NULL) {
        return;
    }
    if (keys->is_started) {
        pthread_mutex_lock(&keys->lock);
        keys->is_stopping = true;
        pthread_cond_signal(&keys->wake);
        pthread_mutex_unlock(&keys->lock);
        (void)pthread_join(keys->thread, NULL);
    }
    (void)pthread_mutex_destroy(&keys->lock);
    (void)pthread_cond_destroy(&keys->wake);
    curl_global_cleanup();
    free(keys->text);
    free(keys->source);
    free(keys);
}
