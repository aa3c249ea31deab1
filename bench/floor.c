/* The floor: as little as one thread can do on Linux to answer GET for a few files.
 *
 *     floor PORT DIRECTORY
 *
 * Not a server to use. It looks at the path and at the version of a request and at nothing else; it trusts its
 * clients, has no limits and no deadlines, and never asks the disk again. What it leaves is the kernel's share of the
 * work, which no correct server can go below, so that "how far from the limit" becomes a ratio.
 *
 * System calls, as strace shows them:
 *   keep-alive    recv, send
 *   short         accept4, recv, send, close
 *   1 MiB or more recv, send (MSG_MORE, the head), sendfile until the socket is full, epoll_wait, sendfile, ...
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PAGES = 64,              /* files beyond this many are left out */
    HEAD_BYTES = 512,        /* room for a response head; it needs about 260 */
    REQUEST_BYTES = 8192,    /* a request is taken to arrive in one piece of at most this */
    SENDFILE_FROM = 1 << 20, /* below it, copying out of memory is cheaper */
    EVENTS = 256,
    BACKLOG = 4096,
};

/* One file, ready to be sent. */
struct page {
    char path[NAME_MAX + 2]; /* "/name" */
    size_t path_len;
    char *ready; /* the head, and the body too unless `file` holds it */
    size_t ready_len;
    int file; /* -1: the body is in `ready` */
    size_t file_len;
};

/* One connection, and what it is still owed. */
struct peer {
    int sock;
    bool watched; /* known to epoll: only after a call would have blocked */
    bool last;    /* close after this answer */
    const char *ready;
    size_t ready_left;
    int file;
    off_t file_at;
    size_t file_left;
};

enum progress { DONE, BLOCKED, GONE };

static struct page pages[PAGES];
static int page_count;
static int epoll;

static void prepare(int dir, const char *name) {
    int file = openat(dir, name, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) < 0) err(1, "%s", name);
    if (!S_ISREG(facts.st_mode)) {
        close(file);
        return;
    }
    struct page *page = &pages[page_count++];
    size_t size = facts.st_size;
    bool by_sendfile = size >= SENDFILE_FROM;
    page->path_len = snprintf(page->path, sizeof page->path, "/%s", name);
    page->ready = malloc(HEAD_BYTES + (by_sendfile ? 0 : size));
    if (!page->ready) err(1, "%s", name);
    /* The lines that nginx sends, so that both put the same number of bytes on the wire. */
    page->ready_len = snprintf(page->ready, HEAD_BYTES,
                               "HTTP/1.1 200 OK\r\n"
                               "Server: floor/1.22.1\r\n"
                               "Date: Tue, 01 Dec 2026 00:00:00 GMT\r\n"
                               "Content-Type: text/html\r\n"
                               "Content-Length: %zu\r\n"
                               "Last-Modified: Tue, 01 Dec 2026 00:00:00 GMT\r\n"
                               "Connection: keep-alive\r\n"
                               "ETag: \"00000000-000000\"\r\n"
                               "Accept-Ranges: bytes\r\n\r\n",
                               size);
    page->file = by_sendfile ? file : -1;
    page->file_len = by_sendfile ? size : 0;
    if (by_sendfile) return;
    for (size_t got = 0; got < size;) {
        ssize_t n = read(file, page->ready + page->ready_len, size - got);
        if (n <= 0) err(1, "%s", name);
        page->ready_len += n;
        got += n;
    }
    close(file);
}

static void prepare_all(const char *directory) {
    DIR *dir = opendir(directory);
    if (!dir) err(1, "%s", directory);
    for (struct dirent *entry; page_count < PAGES && (entry = readdir(dir));)
        if (entry->d_name[0] != '.') prepare(dirfd(dir), entry->d_name);
    closedir(dir);
    if (!page_count) errx(1, "%s: no files", directory);
}

/* Points the peer at its answer. False: not a request for one of our files. */
static bool understand(struct peer *peer, const char *request) {
    const char *path = strchr(request, '/');
    for (int i = 0; path && i < page_count; i++) {
        const struct page *page = &pages[i];
        const char *version = path + page->path_len;
        if (strncmp(path, page->path, page->path_len) || *version != ' ') continue;
        peer->ready = page->ready;
        peer->ready_left = page->ready_len;
        peer->file = page->file;
        peer->file_at = 0;
        peer->file_left = page->file_len;
        peer->last = !strncmp(version, " HTTP/1.0", 9) && !strcasestr(version, "keep-alive");
        return true;
    }
    return false;
}

static enum progress hang_up(struct peer *peer) {
    close(peer->sock);
    free(peer);
    return GONE;
}

/* The last call would have blocked, or failed for good. */
static enum progress wait_or_hang_up(struct peer *peer) {
    if (errno != EAGAIN) return hang_up(peer);
    if (peer->watched) return BLOCKED;
    struct epoll_event interest = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = peer};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, peer->sock, &interest) < 0) return hang_up(peer);
    peer->watched = true;
    return BLOCKED;
}

static enum progress send_owed(struct peer *peer) {
    while (peer->ready_left) {
        int more = peer->file_left ? MSG_MORE : 0;
        ssize_t n = send(peer->sock, peer->ready, peer->ready_left, MSG_NOSIGNAL | more);
        if (n < 0) return wait_or_hang_up(peer);
        peer->ready += n;
        peer->ready_left -= n;
    }
    while (peer->file_left) {
        ssize_t n = sendfile(peer->sock, peer->file, &peer->file_at, peer->file_left);
        if (n < 0) return wait_or_hang_up(peer);
        if (n == 0) return hang_up(peer); /* the file became shorter */
        peer->file_left -= n;
    }
    return peer->last ? hang_up(peer) : DONE;
}

static enum progress receive(struct peer *peer) {
    static char request[REQUEST_BYTES + 1];
    ssize_t n = recv(peer->sock, request, REQUEST_BYTES, 0);
    if (n < 0) return wait_or_hang_up(peer);
    if (n == 0) return hang_up(peer);
    request[n] = 0;
    return understand(peer, request) ? DONE : hang_up(peer);
}

/* As far as this peer goes now. A watched peer is read once per event: a client that does not pipeline has nothing
 * more to say before it has its answer, and asking would cost a call. */
static void serve(struct peer *peer) {
    for (;;) {
        if (send_owed(peer) != DONE) return;
        if (receive(peer) != DONE) return;
        if (send_owed(peer) != DONE) return;
        if (peer->watched) return;
    }
}

static void welcome(int listener) {
    for (int sock; (sock = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        struct peer *peer = calloc(1, sizeof *peer);
        if (!peer) err(1, "calloc");
        peer->sock = sock;
        serve(peer); /* with TCP_DEFER_ACCEPT the request is there already */
    }
}

static int listen_on(int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, seconds = 5;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) ||
        setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) || /* accepted sockets inherit it */
        setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds) ||
        bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, BACKLOG))
        err(1, "127.0.0.1:%d", port);
    return listener;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: floor PORT DIRECTORY\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN); /* sendfile has no MSG_NOSIGNAL */
    prepare_all(argv[2]);
    int listener = listen_on(atoi(argv[1]));
    epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event arrivals = {.events = EPOLLIN, .data.ptr = NULL};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &arrivals) < 0) err(1, "epoll");
    for (;;) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr)
                serve(events[i].data.ptr);
            else
                welcome(listener);
        }
    }
}
