/* Wrong and right uses of objects that synchronise: the first argument chooses one. */

#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t made, other;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER, made_cond;
static pthread_barrier_t barrier;
static sem_t sem;
static int flag, own;
static volatile int step;
static volatile sig_atomic_t seen;
static char *volatile block;

/* Waits without an event. */
__attribute__((no_sanitize_thread)) static void until(int wanted) {
    while (__atomic_load_n(&step, __ATOMIC_RELAXED) < wanted)
        usleep(100);
}

__attribute__((no_sanitize_thread)) static void set(int value) {
    __atomic_store_n(&step, value, __ATOMIC_RELAXED);
}

static pthread_t start(void *(*worker)(void *)) {
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    return thread;
}

static void join(pthread_t thread) { pthread_join(thread, NULL); }

static void *locks_and_ends(void *arg) {
    pthread_mutex_lock(&lock);
    set(1);
    until(2);
    return arg;
}

static void *unlocks(void *arg) {
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *uses(void *arg) {
    pthread_mutex_lock(&made);
    flag++;
    pthread_mutex_unlock(&made);
    return arg;
}

static void *uses_later(void *arg) {
    until(1);
    return uses(arg);
}

static void *posts(void *arg) {
    sem_post(&sem);
    set(1);
    return arg;
}

static void *posts_later(void *arg) {
    until(2);
    return posts(arg);
}

static void *waits_at_barrier(void *arg) {
    pthread_barrier_wait(&barrier);
    return arg;
}

static void *signals_bare(void *arg) {
    pthread_mutex_lock(&lock);
    flag = 1;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&made_cond);
    set(1);
    return arg;
}

static void *signals_inside(void *arg) {
    pthread_mutex_lock(&lock);
    flag = 1;
    pthread_cond_signal(&made_cond);
    pthread_mutex_unlock(&lock);
    set(1);
    return arg;
}

static void *nothing(void *arg) {
    set(1);
    return arg;
}

static void *named(void *arg) {
    pthread_setname_np(pthread_self(), "input-and-outpt");
    return nothing(arg);
}

static void *detaches_itself(void *arg) {
    pthread_detach(pthread_self());
    set(1);
    return arg;
}

void AnnotateRWLockCreate(const char *file, int line, void *lock);
void AnnotateRWLockAcquired(const char *file, int line, void *lock, long writes);
void AnnotateRWLockReleased(const char *file, int line, void *lock, long writes);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
void __tsan_java_finalize(void);

static void *writes(void *memory) {
    *(int *)memory = 1;
    set(1);
    return memory;
}

static void *finalizes(void *memory) {
    until(1);
    __tsan_java_finalize();
    *(int *)memory = 2;
    return memory;
}

static void allocates(int signal) { block = malloc(32 + signal); }
static void sets_errno(int signal) { errno = signal; }
static void sets_flag(int signal) { seen = signal; }

static void keeps_errno(int signal) {
    int before = errno;
    write(-1, "", 0);
    seen = signal;
    errno = before;
}

static void on(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(number, &action, NULL);
}

/* From another process, while the thread does something else. */
static void sent(int number) {
    pid_t own = getpid();
    if (fork() == 0) {
        usleep(30000);
        kill(own, number);
        _exit(0);
    }
    usleep(300000);
}

static void *ends_with_lock(void *arg) {
    pthread_mutex_lock(&made);
    flag = 1;
    set(1);
    return arg;
}

/* The owner of a mutex that is robust has ended: only then is the result another one. */
static int takes_from_dead(void) {
    if (pthread_mutex_lock(&made) != EOWNERDEAD)
        return 0;
    flag++;
    pthread_mutex_consistent(&made);
    pthread_mutex_unlock(&made);
    return 1;
}

static void make_robust(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&made, &kind);
}

/* A semaphore of one permit, given back by another thread than the one that took it. */
static void *gives_back(void *arg) {
    flag++;
    sem_post(&sem);
    return arg;
}

static void *locks_with_permit(void *arg) {
    sem_wait(&sem);
    usleep(1000);
    pthread_mutex_lock(&lock);
    flag++;
    pthread_mutex_unlock(&lock);
    sem_post(&sem);
    return arg;
}

static void *takes_permit_with_lock(void *arg) {
    usleep(50000);
    pthread_mutex_lock(&lock);
    sem_wait(&sem);
    flag++;
    sem_post(&sem);
    pthread_mutex_unlock(&lock);
    return arg;
}

/* With one permit, the two wait for each other. */
static void cross(int permits) {
    sem_init(&sem, 0, permits);
    pthread_t one = start(locks_with_permit), two = start(takes_permit_with_lock);
    join(one), join(two);
    sem_destroy(&sem);
}

static void *takes_signals(void *arg) {
    int number = 0;
    sigwait(arg, &number);
    block = malloc(32 + number);
    return arg;
}

static void posts_in_handler(int signal) {
    seen = signal;
    sem_post(&sem);
}

/* A lock of the program's own, which tells of itself. */
static void own_lock(int taken_to_write, int given_back_from_writing) {
    AnnotateRWLockAcquired(__FILE__, __LINE__, &own, taken_to_write);
    AnnotateRWLockReleased(__FILE__, __LINE__, &own, given_back_from_writing);
}

static void wait_for_flag(pthread_cond_t *with) {
    pthread_mutex_lock(&lock);
    while (!flag)
        pthread_cond_wait(with, &lock);
    pthread_mutex_unlock(&lock);
}

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

int main(int count, char **words) {
    const char *which = count > 1 ? words[1] : "";
    pthread_t one, two;
    if (is(which, "unlock-free")) {
        pthread_mutex_unlock(&lock);
    } else if (is(which, "unlock-of-other")) {
        pthread_mutex_lock(&lock);
        join(start(unlocks));
    } else if (is(which, "lock-twice")) {
        pthread_mutex_lock(&lock);
        pthread_mutex_lock(&lock);
    } else if (is(which, "write-over-read")) {
        pthread_rwlock_rdlock(&shared);
        struct timespec soon = {0};
        pthread_rwlock_timedwrlock(&shared, &soon);
        pthread_rwlock_unlock(&shared);
    } else if (is(which, "destroy-held")) {
        pthread_mutex_init(&made, NULL);
        pthread_mutex_lock(&made);
        pthread_mutex_destroy(&made);
    } else if (is(which, "destroy-held-by-other")) {
        one = start(locks_and_ends);
        until(1);
        pthread_mutex_destroy(&lock);
        set(2);
        join(one);
    } else if (is(which, "init-held")) {
        pthread_mutex_init(&made, NULL);
        pthread_mutex_lock(&made);
        pthread_mutex_init(&made, NULL);
    } else if (is(which, "use-destroyed")) {
        pthread_mutex_init(&made, NULL);
        pthread_mutex_destroy(&made);
        pthread_mutex_lock(&made);
    } else if (is(which, "wait-unlocked")) {
        struct timespec soon = {0};
        pthread_cond_timedwait(&cond, &lock, &soon);
    } else if (is(which, "init-race")) {
        one = start(uses_later);
        pthread_mutex_init(&made, NULL);
        set(1);
        join(one);
    } else if (is(which, "destroy-race")) {
        pthread_mutex_init(&made, NULL);
        one = start(uses);
        usleep(300000);
        pthread_mutex_destroy(&made);
        join(one);
    } else if (is(which, "semaphore-destroy-race")) {
        sem_init(&sem, 0, 0);
        one = start(posts);
        until(1);
        sem_destroy(&sem);
        join(one);
    } else if (is(which, "semaphore-init-race")) {
        one = start(nothing);
        join(one);
        two = start(posts_later);
        sem_init(&sem, 0, 0);
        set(2);
        join(two);
    } else if (is(which, "barrier-init-race")) {
        set(0);
        pthread_barrier_init(&barrier, NULL, 1);
        one = start(waits_at_barrier);
        usleep(300000);
        pthread_barrier_destroy(&barrier);
        join(one);
    } else if (is(which, "condition-destroy-race")) {
        pthread_cond_init(&made_cond, NULL);
        one = start(signals_bare);
        until(1);
        wait_for_flag(&made_cond);
        pthread_cond_destroy(&made_cond);
        join(one);
    } else if (is(which, "thread-leak")) {
        start(nothing);
        until(1);
        usleep(300000);
    } else if (is(which, "named-leak")) {
        start(named);
        until(1);
        usleep(300000);
    } else if (is(which, "read-then-unlocked-as-written")) {
        AnnotateRWLockCreate(__FILE__, __LINE__, &own);
        own_lock(0, 1);
    } else if (is(which, "written-then-unlocked-as-read")) {
        AnnotateRWLockCreate(__FILE__, __LINE__, &own);
        own_lock(1, 0);
    } else if (is(which, "one-permit")) {
        cross(1);
    } else if (is(which, "one-permit-at-last")) {
        cross(3);
        cross(1);
    } else if (is(which, "handler-allocates")) {
        on(SIGUSR1, allocates);
        sent(SIGUSR1);
    } else if (is(which, "handler-errno")) {
        on(SIGUSR1, sets_errno);
        sent(SIGUSR1);
    }
    /* What is right. */
    else if (is(which, "right-locks")) {
        pthread_mutexattr_t kind;
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&made, &kind);
        pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
        pthread_mutex_init(&other, &kind);
        pthread_mutex_lock(&made);
        pthread_mutex_lock(&made);
        pthread_mutex_lock(&other);
        pthread_mutex_lock(&other); /* tells the thread so */
        pthread_mutex_unlock(&other);
        pthread_mutex_unlock(&other);
        pthread_mutex_unlock(&made);
        pthread_mutex_unlock(&made);
        pthread_mutex_lock(&lock);
        pthread_mutex_trylock(&lock);
        pthread_mutex_unlock(&lock);
        one = start(uses), two = start(uses);
        join(one), join(two);
        pthread_mutex_destroy(&made);
        pthread_mutex_init(&made, NULL);
        one = start(uses), two = start(uses);
        join(one), join(two);
        pthread_mutex_destroy(&made);
        pthread_mutex_destroy(&other);
    } else if (is(which, "right-readers")) {
        pthread_rwlock_rdlock(&shared);
        pthread_rwlock_rdlock(&shared);
        pthread_rwlock_unlock(&shared);
        pthread_rwlock_unlock(&shared);
        pthread_rwlock_wrlock(&shared);
        pthread_rwlock_unlock(&shared);
    } else if (is(which, "right-heap")) {
        for (int round = 0; round < 5; round++) {
            pthread_mutex_t *heap = malloc(sizeof *heap);
            pthread_mutex_init(heap, NULL);
            pthread_mutex_lock(heap);
            if (round != 2)
                pthread_mutex_unlock(heap);
            if (round % 2)
                pthread_mutex_destroy(heap);
            free(heap);
        }
    } else if (is(which, "right-semaphore")) {
        for (int round = 0; round < 3; round++) {
            sem_init(&sem, 0, 0);
            one = start(posts);
            sem_wait(&sem);
            sem_destroy(&sem);
            join(one);
        }
    } else if (is(which, "right-barrier")) {
        for (int round = 0; round < 3; round++) {
            pthread_barrier_init(&barrier, NULL, 2);
            one = start(waits_at_barrier);
            pthread_barrier_wait(&barrier);
            pthread_barrier_destroy(&barrier);
            join(one);
        }
    } else if (is(which, "right-condition")) {
        for (int round = 0; round < 3; round++) {
            pthread_cond_init(&made_cond, NULL);
            one = start(signals_inside);
            wait_for_flag(&made_cond);
            pthread_cond_destroy(&made_cond);
            join(one);
            flag = 0;
        }
    } else if (is(which, "right-condition-joined")) {
        pthread_cond_init(&made_cond, NULL);
        one = start(signals_bare);
        wait_for_flag(&made_cond);
        join(one);
        pthread_cond_destroy(&made_cond);
    } else if (is(which, "right-threads")) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_create(&one, &attributes, nothing, NULL);
        until(1);
        set(0);
        one = start(nothing);
        pthread_detach(one);
        until(1);
        set(0);
        start(detaches_itself);
        until(1);
        join(start(nothing));
        usleep(300000);
    } else if (is(which, "right-handlers")) {
        on(SIGUSR1, sets_flag);
        on(SIGUSR2, keeps_errno);
        sent(SIGUSR1);
        sent(SIGUSR2);
    } else if (is(which, "right-raised")) {
        on(SIGUSR1, allocates);
        raise(SIGUSR1);
    } else if (is(which, "right-two-permits")) {
        cross(2);
    } else if (is(which, "right-more-permits")) {
        for (int permits = 2; permits < 5; permits++)
            cross(permits);
    } else if (is(which, "right-modes")) {
        AnnotateRWLockCreate(__FILE__, __LINE__, &own);
        own_lock(0, 0);
        own_lock(1, 1);
        AnnotateRWLockAcquired(__FILE__, __LINE__, &own, 0);
        own_lock(0, 0);
        AnnotateRWLockReleased(__FILE__, __LINE__, &own, 0);
    } else if (is(which, "right-robust")) {
        make_robust();
        one = start(ends_with_lock);
        until(1);
        usleep(100000);
        /* Had it come first, the owner would wait for it, and it for the owner. */
        if (pthread_mutex_lock(&made) != EOWNERDEAD)
            return 3;
        join(one);
        pthread_mutex_consistent(&made);
        pthread_mutex_unlock(&made);
        pthread_mutex_destroy(&made);
    } else if (is(which, "right-robust-joined")) {
        make_robust();
        join(start(ends_with_lock));
        if (!takes_from_dead())
            return 3;
        one = start(uses);
        join(one);
        pthread_mutex_destroy(&made);
    } else if (is(which, "right-handed-over")) {
        sem_init(&sem, 0, 1);
        for (int round = 0; round < 3; round++) {
            sem_wait(&sem);
            flag++;
            pthread_detach(start(gives_back));
        }
        sem_wait(&sem);
    } else if (is(which, "right-tried")) {
        pthread_mutex_init(&made, NULL);
        one = start(uses);
        if (pthread_mutex_trylock(&made) == 0) {
            flag++;
            pthread_mutex_unlock(&made);
        }
        join(one);
        pthread_mutex_destroy(&made);
    } else if (is(which, "right-timed-wait")) {
        struct timespec soon = {0};
        pthread_mutexattr_t kind;
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_init(&made, &kind);
        pthread_cond_init(&made_cond, NULL);
        pthread_mutex_lock(&made);
        pthread_cond_timedwait(&made_cond, &made, &soon);
        pthread_cond_timedwait(&cond, &made, &soon);
        pthread_mutex_unlock(&made);
        pthread_cond_destroy(&made_cond);
        pthread_mutex_destroy(&made);
    } else if (is(which, "right-signal-thread")) {
        static sigset_t set_of_one;
        sigemptyset(&set_of_one);
        sigaddset(&set_of_one, SIGUSR1);
        pthread_sigmask(SIG_BLOCK, &set_of_one, NULL);
        pthread_create(&one, NULL, takes_signals, &set_of_one);
        sent(SIGUSR1);
        join(one);
    } else if (is(which, "right-post-in-handler")) {
        sem_init(&sem, 0, 0);
        on(SIGUSR1, posts_in_handler);
        sent(SIGUSR1);
        while (sem_wait(&sem) != 0)
            ;
    } else if (is(which, "right-ignored-free")) {
        int *memory = calloc(1, sizeof *memory);
        pthread_create(&one, NULL, writes, memory);
        until(1);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
        free(memory);
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        join(one);
    } else if (is(which, "right-finalizer")) {
        int *memory = calloc(1, sizeof *memory);
        pthread_create(&one, NULL, finalizes, memory);
        *memory = 1;
        set(1);
        join(one);
    } else if (is(which, "right-suspended")) {
        sigset_t all, before;
        sigemptyset(&all);
        sigaddset(&all, SIGUSR1);
        sigprocmask(SIG_BLOCK, &all, &before);
        on(SIGUSR1, allocates);
        if (fork() == 0) {
            kill(getppid(), SIGUSR1);
            _exit(0);
        }
        sigsuspend(&before);
    }
    puts("done");
    return 0;
}
