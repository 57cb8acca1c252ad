/* Small programs for tests of `anyorder run`: the first argument chooses one. In each, main sleeps
   until the worker has gone first: the lucky order. */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct item {
    int value;
    int refs;
};

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t n = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static struct item *item;
static volatile int shared;
static int count, closed, is_ready, total;

static void lock(void) { pthread_mutex_lock(&m); }
static void unlock(void) { pthread_mutex_unlock(&m); }

/* Whether the worker has gone first. Not seen by the runtime: it orders nothing. */
static volatile int has_gone;
__attribute__((noinline, no_sanitize("thread"))) static void *gone(void *arg) {
    has_gone = 1;
    return arg;
}
__attribute__((noinline, no_sanitize("thread"))) static int is_awaited(void) { return !has_gone; }

static void put_item(void) {
    lock();
    int last = --item->refs == 0;
    unlock();
    if (last)
        free(item);
}

/* The worker of each program. */

static void *race(void *arg) {
    shared = 1;
    lock();
    total++;
    unlock();
    return gone(arg);
}

static void *writes_again_and_again(void *arg) {
    gone(arg);
    for (int i = 0; i < 4; i++) {
        shared = i;
        usleep(30000);
    }
    return arg;
}

static void *finish_later(void *arg) {
    struct item *own = arg;
    usleep(60000);
    own->value = 1;
    return NULL;
}

static void *use_then_section(void *arg) {
    total += item->value;
    lock();
    count++;
    unlock();
    return gone(arg);
}

static void *use_then_put(void *arg) {
    total += item->value;
    put_item();
    return gone(arg);
}

static void *use_in_section(void *arg) {
    lock();
    total += item->value;
    unlock();
    return gone(arg);
}

static void *use_unless_closed(void *arg) {
    lock();
    if (!closed)
        total += item->value;
    unlock();
    return gone(arg);
}

static void *wait_blindly(void *arg) {
    lock();
    gone(arg);
    pthread_cond_wait(&c, &m);
    unlock();
    return arg;
}

static void *wait_until_ready(void *arg) {
    lock();
    gone(arg);
    while (!is_ready)
        pthread_cond_wait(&c, &m);
    unlock();
    return arg;
}

static void *wait_for_two(void *arg) {
    lock();
    gone(arg);
    while (count < 2)
        pthread_cond_wait(&c, &m);
    unlock();
    return arg;
}

/* A worker of a pool: it takes what is there, and then waits for more, for ever. */
static void *work_for_ever(void *arg) {
    gone(arg);
    usleep(80000);
    lock();
    for (;;) {
        while (count == 0)
            pthread_cond_wait(&c, &m);
        count--;
        total++;
    }
    return arg;
}

static void *two_locks(void *arg) {
    pthread_mutex_lock(&n);
    lock();
    count++;
    unlock();
    pthread_mutex_unlock(&n);
    return gone(arg);
}

static pthread_t start(void *(*worker)(void *)) {
    pthread_t thread;
    item = malloc(sizeof *item);
    item->value = 7;
    item->refs = 2;
    pthread_create(&thread, NULL, worker, NULL);
    usleep(20000);
    /* A busy machine may need longer; a worker that is held back is not waited for. */
    for (int i = 0; i < 200 && is_awaited(); i++)
        usleep(1000);
    return thread;
}

static void broadcast(void) {
    lock();
    is_ready = 1;
    pthread_cond_broadcast(&c);
    unlock();
}

/* The predicate changes under the lock, and the signal comes after it: right, and usual in C++. */
static void add_and_signal(void) {
    lock();
    count++;
    unlock();
    pthread_cond_signal(&c);
    usleep(20000);
}

static void free_in_section(void) {
    lock();
    closed = 1;
    free(item);
    unlock();
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "";
    pthread_t thread;
#define IS(name) (strcmp(which, name) == 0)
    if (IS("race-behind-counter")) {
        thread = start(race);
        usleep(100000);
        lock();
        total++;
        unlock();
        shared = 2;
        pthread_join(thread, NULL);
        puts("done");
        return 0;
    }
    if (IS("race") || IS("race-joined")) {
        thread = start(race);
        if (IS("race-joined"))
            pthread_join(thread, NULL);
        lock();
        count++;
        unlock();
        shared = 2;
        if (IS("race"))
            pthread_join(thread, NULL);
    } else if (IS("use-then-section") || IS("use-joined")) {
        thread = start(use_then_section);
        if (IS("use-joined"))
            pthread_join(thread, NULL);
        free_in_section();
        if (!IS("use-joined"))
            pthread_join(thread, NULL);
    } else if (IS("use-counted")) {
        thread = start(use_then_put);
        put_item();
        pthread_join(thread, NULL);
    } else if (IS("use-in-section") || IS("use-unless-closed")) {
        thread = start(IS("use-in-section") ? use_in_section : use_unless_closed);
        free_in_section();
        pthread_join(thread, NULL);
    } else if (IS("wait-blindly") || IS("wait-until-ready")) {
        thread = start(IS("wait-blindly") ? wait_blindly : wait_until_ready);
        broadcast();
        pthread_join(thread, NULL);
    } else if (IS("signal-unlocked")) {
        thread = start(wait_for_two);
        add_and_signal();
        add_and_signal();
        pthread_join(thread, NULL);
    } else if (IS("race-both-ways")) {
        thread = start(writes_again_and_again);
        for (int i = 0; i < 4; i++) {
            total += shared;
            usleep(30000);
        }
        pthread_join(thread, NULL);
    } else if (IS("poll-plainly")) {
        struct item *own = calloc(1, sizeof *own);
        pthread_create(&thread, NULL, finish_later, own);
        while (!*(volatile int *)&own->value)
            usleep(3000);
        free(own);
        pthread_join(thread, NULL);
    } else if (IS("idle-worker")) {
        start(work_for_ever);
        add_and_signal();
        usleep(200000);
    } else if (IS("two-locks")) {
        thread = start(two_locks);
        lock();
        pthread_mutex_lock(&n);
        count++;
        pthread_mutex_unlock(&n);
        unlock();
        pthread_join(thread, NULL);
    } else if (IS("hang")) {
        thread = start(wait_until_ready);
        pthread_join(thread, NULL);
    } else if (IS("crash")) {
        thread = start(use_in_section);
        free_in_section();
        abort();
    } else if (IS("fork")) {
        pid_t child = fork();
        if (child == 0)
            execl(argv[0], argv[0], "use-in-section", (char *)NULL);
        int status;
        waitpid(child, &status, 0);
    } else if (IS("status")) {
        return atoi(argv[2]);
    } else if (IS("echo")) {
        char line[100];
        while (fgets(line, sizeof line, stdin))
            fputs(line, stdout);
        fputs("to stderr\n", stderr);
    } else {
        return 9;
    }
    puts("done");
    return 0;
}
