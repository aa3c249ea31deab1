/* The drain: a keep-alive client for large documents that costs little enough not to be the limit.
 *
 *     drain PORT PATH CONNECTIONS SECONDS
 *
 * Each connection asks, reads the answer to its end in large pieces and asks again. After SECONDS nothing more is
 * asked, but every answer that was begun is read to its end: the requests that are counted are the requests that were
 * served, so the server's CPU time divides by them exactly. Any answer but 200, a connection that is closed early and
 * a server that goes quiet are errors (exit 1).
 *
 * Prints one line: requests=N seconds=S bytes=B cpu_us_per_request=C (C is this client's own cost).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
    PIECE = 256 * 1024,  /* bytes per recv */
    HEAD_BYTES = 4096,   /* longest response head */
    TURNS = 4,           /* pieces from one connection before the next one has its turn */
    EVENTS = 64,
    QUIET_MS = 10000,    /* without one byte from any connection: the server hangs */
};

struct asker {
    int sock;
    bool in_body;
    size_t body_left;
    size_t head_len;
    char head[HEAD_BYTES + 1];
};

static char request[1024];
static size_t request_len;
static long served, asked;
static double bytes;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static void ask(struct asker *asker) {
    asker->in_body = false;
    asker->head_len = 0;
    if (send(asker->sock, request, request_len, MSG_NOSIGNAL) != (ssize_t)request_len) err(1, "send");
    asked++;
}

/* Adds to the head what belongs to it; returns how many of the bytes that was. */
static size_t take_head(struct asker *asker, const char *at, size_t len) {
    size_t before = asker->head_len, room = HEAD_BYTES - before;
    size_t copied = len < room ? len : room;
    memcpy(asker->head + before, at, copied);
    asker->head[before + copied] = 0;
    char *end = strstr(asker->head, "\r\n\r\n");
    if (!end) {
        if (copied == room) errx(1, "a head of more than %d bytes", HEAD_BYTES);
        asker->head_len += copied;
        return copied;
    }
    end += 4;
    *end = 0;
    const char *length = strcasestr(asker->head, "\r\nContent-Length:");
    if (strncmp(asker->head, "HTTP/1.1 200", 12)) errx(1, "not a 200: %.40s", asker->head);
    if (!length) errx(1, "an answer without Content-Length");
    asker->body_left = strtoull(length + strlen("\r\nContent-Length:"), NULL, 10);
    asker->in_body = true;
    return end - asker->head - before;
}

/* Returns true when the answer is complete. */
static bool take(struct asker *asker, const char *at, size_t len) {
    if (!asker->in_body) {
        size_t used = take_head(asker, at, len);
        at += used;
        len -= used;
    }
    if (len > asker->body_left) errx(1, "more bytes than the answer announced");
    asker->body_left -= len;
    return asker->in_body && !asker->body_left;
}

/* Reads what is there, a few pieces at most. Returns true when the answer is complete. */
static bool read_some(struct asker *asker) {
    static char piece[PIECE];
    for (int turn = 0; turn < TURNS; turn++) {
        ssize_t n = recv(asker->sock, piece, PIECE, MSG_DONTWAIT);
        if (n < 0 && errno == EAGAIN) return false;
        if (n < 0) err(1, "recv");
        if (n == 0) errx(1, "the server closed a connection after %ld answers", served);
        bytes += n;
        if (take(asker, piece, n)) return true;
    }
    return false;
}

static void connect_to(struct asker *asker, int port, int epoll) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event interest = {.events = EPOLLIN, .data.ptr = asker};
    int on = 1;
    asker->sock = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (asker->sock < 0 || connect(asker->sock, (struct sockaddr *)&address, sizeof address) ||
        setsockopt(asker->sock, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, asker->sock, &interest))
        err(1, "127.0.0.1:%d", port);
}

static double own_cpu_us(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
}

int main(int argc, char **argv) {
    int connections = argc == 5 ? atoi(argv[3]) : 0;
    double limit = argc == 5 ? atof(argv[4]) : 0;
    if (connections < 1 || limit <= 0) {
        fprintf(stderr, "usage: drain PORT PATH CONNECTIONS SECONDS\n");
        return 2;
    }
    request_len = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", argv[2]);
    if (request_len >= sizeof request) errx(2, "the path is too long");
    struct asker *askers = calloc(connections, sizeof *askers);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!askers || epoll < 0) err(1, "start");
    for (int i = 0; i < connections; i++) connect_to(&askers[i], atoi(argv[1]), epoll);
    double start = now();
    for (int i = 0; i < connections; i++) ask(&askers[i]);
    while (served < asked) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll, events, EVENTS, QUIET_MS);
        if (count == 0) errx(1, "the server sent nothing for %d s", QUIET_MS / 1000);
        if (count < 0 && errno != EINTR) err(1, "epoll_wait");
        for (int i = 0; i < count; i++) {
            struct asker *asker = events[i].data.ptr;
            if (!read_some(asker)) continue;
            served++;
            if (now() - start < limit) ask(asker);
        }
    }
    printf("requests=%ld seconds=%.3f bytes=%.0f cpu_us_per_request=%.2f\n", served, now() - start, bytes,
           own_cpu_us() / served);
}
