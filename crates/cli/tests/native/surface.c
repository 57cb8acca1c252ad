/* Programs that use what lies between threads and the kernel: the first argument chooses one. */

#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ends[2], copy, event, epoll;
static int shared;
static char text[64] = "text\n";
static FILE *stream;
static char *mapping;
static volatile int step;

static pthread_t start(void *(*worker)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    return thread;
}

/* Waits without an event: volatile accesses of `step` are no part of what is tested. */
__attribute__((no_sanitize_thread)) static void until(int wanted) {
    while (__atomic_load_n(&step, __ATOMIC_RELAXED) < wanted)
        usleep(100);
}

__attribute__((no_sanitize_thread)) static void set(int value) {
    __atomic_store_n(&step, value, __ATOMIC_RELAXED);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *asks_for_time(void *arg) {
    time_t then = 86400;
    printf("%d\n", gmtime(&then)->tm_mday);
    set(1);
    return arg;
}

static void *asks_under_lock(void *arg) {
    pthread_mutex_lock(&lock);
    asks_for_time(arg);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *sends(void *arg) {
    shared = 1;
    if (write(ends[1], "x", 1) != 1)
        exit(9);
    set(1);
    return arg;
}

static void *sends_by_copy(void *arg) {
    shared = 1;
    if (write(copy, "x", 1) != 1)
        exit(9);
    return arg;
}

static void *sends_parts(void *arg) {
    struct iovec parts[2] = {{text, 4}, {text + 4, 4}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    shared = 1;
    if (sendmsg(ends[1], &message, 0) != 8)
        exit(9);
    set(1);
    return arg;
}

static void *sends_to(void *arg) {
    shared = 1;
    if (sendto(ends[1], text, 8, 0, NULL, 0) != 8)
        exit(9);
    return arg;
}

static void *signals_event(void *arg) {
    unsigned long long one = 1;
    shared = 1;
    if (write(event, &one, sizeof one) != sizeof one)
        exit(9);
    return arg;
}

static void *prints(void *arg) {
    fprintf(stream, "%s %d %.3f %s\n", "one", 2, 3.5, "four");
    set(1);
    return arg;
}

static void *puts_text(void *arg) {
    fputs(text, stdout);
    set(1);
    return arg;
}

static void *maps(void *arg) {
    char *own = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    own[100] = 1;
    munmap(own, 65536);
    set(1);
    return arg;
}

static void *reads_mapping(void *arg) {
    shared = mapping[100];
    set(1);
    return arg;
}

static void *counts_for_ever(void *arg) {
    for (;;) {
        __atomic_fetch_add(&epoll, 1, __ATOMIC_SEQ_CST);
        usleep(1);
    }
    return arg;
}

static int is_cloned(void *arg) {
    (void)arg;
    for (int i = 0; i < 100; i++)
        __atomic_fetch_add(&epoll, 1, __ATOMIC_SEQ_CST);
    _exit(5);
}

void AnnotateBenignRaceSized(const char *file, int line, const volatile void *memory,
                             unsigned size, const char *why);

static void *guesses(void *arg) {
    shared = 1;
    set(1);
    return arg;
}

static void handles(int number) {
    (void)number;
    set(shared);
}

/* Its creator blocks the signal, so that this thread is the one that gets it. */
static void *is_interrupted(void *arg) {
    set(1);
    until(3);
    return arg;
}

static void says_goodbye(void) {
    shared++;
    puts("goodbye");
    puts("done");
}

static void receive(void) {
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        exit(9);
    shared++;
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    pthread_t thread;
    char buffer[64];
    if (pipe(ends) != 0)
        return 9;
#define IS(name) (strcmp(which, name) == 0)
    if (IS("pipe-data")) {
        thread = start(sends);
        receive();
        pthread_join(thread, NULL);
    } else if (IS("pipe-close") || IS("pipe-close-joined")) {
        thread = start(sends);
        until(1);
        if (IS("pipe-close-joined"))
            pthread_join(thread, NULL);
        close(ends[1]);
        if (IS("pipe-close"))
            pthread_join(thread, NULL);
    } else if (IS("two-writers")) {
        thread = start(sends);
        until(1);
        if (write(ends[1], "y", 1) != 1)
            return 9;
        shared = 2;
        pthread_join(thread, NULL);
    } else if (IS("copied")) {
        copy = fcntl(ends[1], F_DUPFD_CLOEXEC, 100);
        thread = start(sends_by_copy);
        receive();
        pthread_join(thread, NULL);
        close(copy);
    } else if (IS("replaced") || IS("replaced-joined")) {
        thread = start(sends);
        until(1);
        if (IS("replaced-joined"))
            pthread_join(thread, NULL);
        if (dup2(STDOUT_FILENO, ends[1]) < 0)
            return 9;
        if (IS("replaced"))
            pthread_join(thread, NULL);
        close(ends[1]);
    } else if (IS("polled")) {
        struct pollfd one = {.fd = ends[0], .events = POLLIN};
        thread = start(sends);
        if (poll(&one, 1, -1) != 1)
            return 9;
        shared++;
        pthread_join(thread, NULL);
    } else if (IS("selected")) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        thread = start(sends);
        if (select(ends[0] + 1, &set, NULL, NULL, NULL) != 1)
            return 9;
        shared++;
        pthread_join(thread, NULL);
    } else if (IS("epoll")) {
        struct epoll_event wanted = {.events = EPOLLIN}, seen;
        epoll = epoll_create1(0);
        event = eventfd(0, 0);
        epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted);
        thread = start(signals_event);
        if (epoll_wait(epoll, &seen, 1, -1) != 1)
            return 9;
        shared++;
        close(event);
        pthread_join(thread, NULL);
    } else if (IS("messages") || IS("message-race")) {
        struct iovec part = {buffer, sizeof buffer};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
            return 9;
        thread = start(sends_parts);
        if (IS("messages")) {
            if (recvmsg(ends[0], &message, 0) != 8)
                return 9;
            shared += buffer[0];
        } else {
            until(1);
            text[5] = 'x';
        }
        pthread_join(thread, NULL);
    } else if (IS("addressed")) {
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0)
            return 9;
        thread = start(sends_to);
        if (recvfrom(ends[0], buffer, sizeof buffer, 0, NULL, NULL) != 8)
            return 9;
        shared += buffer[0];
        pthread_join(thread, NULL);
    } else if (IS("stream") || IS("stream-joined")) {
        stream = fopen("/dev/null", "w");
        thread = start(prints);
        until(1);
        if (IS("stream-joined"))
            pthread_join(thread, NULL);
        fclose(stream);
        if (IS("stream"))
            pthread_join(thread, NULL);
    } else if (IS("print")) {
        stream = stdout;
        thread = start(prints);
        pthread_join(thread, NULL);
    } else if (IS("put-race")) {
        thread = start(puts_text);
        until(1);
        text[0] = 'T';
        pthread_join(thread, NULL);
    } else if (IS("mapped-again")) {
        thread = start(maps);
        until(1);
        maps(NULL);
        pthread_join(thread, NULL);
    } else if (IS("unmapped") || IS("unmapped-part")) {
        mapping = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        thread = start(reads_mapping);
        until(1);
        if (IS("unmapped"))
            munmap(mapping, 65536);
        else
            munmap(mapping + 32768, 32768);
        pthread_join(thread, NULL);
    } else if (IS("time") || IS("time-locked") || IS("time-joined")) {
        void *(*asks)(void *) = IS("time-locked") ? asks_under_lock : asks_for_time;
        thread = start(asks);
        until(1);
        if (IS("time-joined"))
            pthread_join(thread, NULL);
        asks(NULL);
        if (!IS("time-joined"))
            pthread_join(thread, NULL);
    } else if (IS("newest")) {
        /* The oldest version of each refuses this. */
        cpu_set_t set;
        char *path = realpath(".", NULL);
        printf("%d %d\n", path != NULL, sched_getaffinity(0, sizeof set, &set) == 0);
        free(path);
        atexit(says_goodbye);
    } else if (IS("clone")) {
        int status;
        static char stack[65536];
        thread = start(counts_for_ever);
        pid_t child = clone(is_cloned, stack + sizeof stack, SIGCHLD, NULL);
        waitpid(child, &status, 0);
        printf("%d\n", WEXITSTATUS(status));
    } else if (IS("benign") || IS("not-benign")) {
        if (IS("benign"))
            AnnotateBenignRaceSized(__FILE__, __LINE__, &shared, sizeof shared, "a guess");
        thread = start(guesses);
        until(1);
        shared = 2;
        pthread_join(thread, NULL);
    } else if (IS("handler")) {
        sigset_t blocked;
        sigemptyset(&blocked);
        sigaddset(&blocked, SIGUSR1);
        thread = start(is_interrupted);
        pthread_sigmask(SIG_BLOCK, &blocked, NULL);
        until(1);
        shared = 3;
        signal(SIGUSR1, handles);
        kill(getpid(), SIGUSR1);
        pthread_join(thread, NULL);
    } else if (IS("vfork")) {
        int status;
        pid_t child = vfork();
        if (child == 0) {
            execl("/bin/sh", "sh", "-c", "exit 3", (char *)NULL);
            _exit(4);
        }
        waitpid(child, &status, 0);
        printf("%d\n", WEXITSTATUS(status));
    } else {
        return 9;
    }
    puts("done");
    return 0;
}
