/* The parts of the program of `everything.cc` that need no more than C. */

#define _GNU_SOURCE
#include "everything.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static long total;

static void add(void *value) {
    pthread_mutex_lock(&m);
    total += (long)value;
    pthread_mutex_unlock(&m);
}

static struct timespec in_ms(long ms) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_nsec += ms * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* Cancellation: where a thread waits, where it asks, and anywhere. */

static sem_t has_begun;

static void gives_back(void *lock) {
    total++;
    pthread_mutex_unlock(lock);
}

static void *waits_for_signal(void *arg) {
    pthread_mutex_lock(&m);
    pthread_cleanup_push(gives_back, &m);
    sem_post(&has_begun);
    for (;;)
        pthread_cond_wait(&c, &m);
    pthread_cleanup_pop(0);
    return arg;
}

static void *waits_for_input(void *arg) {
    char byte;
    pthread_cleanup_push(add, (void *)10);
    sem_post(&has_begun);
    if (read(((int *)arg)[0], &byte, 1) == 1)
        add((void *)100000);
    pthread_cleanup_pop(0);
    return arg;
}

static void *asks(void *arg) {
    pthread_cleanup_push(add, (void *)100);
    sem_post(&has_begun);
    for (;;)
        pthread_testcancel();
    pthread_cleanup_pop(0);
    return arg;
}

static void *computes(void *arg) {
    volatile long value = 0;
    int old;
    pthread_cleanup_push(add, (void *)1000);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    sem_post(&has_begun);
    for (;;)
        value = value + 1;
    pthread_cleanup_pop(0);
    return arg;
}

static void *refuses(void *arg) {
    int old;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    sem_post(&has_begun);
    usleep(1000);
    pthread_testcancel();
    return arg;
}

long cancels(void) {
    void *(*all[])(void *) = {waits_for_signal, waits_for_input, asks, computes, refuses};
    long canceled = 0;
    int ends[2];
    total = 0;
    sem_init(&has_begun, 0, 0);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 5; i++) {
            pthread_t thread;
            void *result;
            if (pipe(ends) != 0)
                return -1;
            pthread_create(&thread, NULL, all[i], ends);
            while (sem_wait(&has_begun) != 0)
                ;
            pthread_cancel(thread);
            pthread_join(thread, &result);
            canceled += result == PTHREAD_CANCELED;
            close(ends[0]);
            close(ends[1]);
        }
    }
    sem_destroy(&has_begun);
    return total * 100 + canceled;
}

/* A thousand threads at once. */

static pthread_barrier_t barrier;
static atomic_long in_crowd;

static void *meets(void *arg) {
    long own = (long)arg;
    atomic_fetch_add(&in_crowd, 1);
    int is_last = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
    if (is_last)
        add((void *)atomic_load(&in_crowd));
    add((void *)own);
    return arg;
}

long crowd(void) {
    enum { COUNT = 1000 };
    static pthread_t all[COUNT];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 64 << 10);
    pthread_barrier_init(&barrier, NULL, COUNT);
    total = 0;
    for (long i = 0; i < COUNT; i++)
        if (pthread_create(&all[i], &small, meets, (void *)i) != 0)
            return -1;
    for (int i = 0; i < COUNT; i++)
        pthread_join(all[i], NULL);
    pthread_barrier_destroy(&barrier);
    pthread_attr_destroy(&small);
    return total;
}

/* Ten thousand locks, each with what it guards, some held together in one order. */

enum { LOCKS = 10000 };
static struct {
    pthread_mutex_t lock;
    long value;
} *guarded;

static void *counts_all(void *arg) {
    for (int i = 0; i + 1 < LOCKS; i++) {
        pthread_mutex_lock(&guarded[i].lock);
        if (i % 16 == 0) {
            pthread_mutex_lock(&guarded[i + 1].lock);
            guarded[i + 1].value++;
            pthread_mutex_unlock(&guarded[i + 1].lock);
        }
        guarded[i].value++;
        pthread_mutex_unlock(&guarded[i].lock);
    }
    return arg;
}

long locks(void) {
    pthread_t all[3];
    long sum = 0;
    guarded = calloc(LOCKS, sizeof *guarded);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&guarded[i].lock, NULL);
    for (int i = 0; i < 3; i++)
        pthread_create(&all[i], NULL, counts_all, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(all[i], NULL);
    for (int i = 0; i < LOCKS; i++) {
        sum += guarded[i].value;
        pthread_mutex_destroy(&guarded[i].lock);
    }
    free(guarded);
    return sum;
}

/* Stacks and blocks that are used again, by other threads and without locks. */

static void *fills(void *arg) {
    long here[512], sum = 0;
    for (int i = 0; i < 512; i++)
        here[i] = (long)arg + i;
    for (int i = 0; i < 512; i++)
        sum += here[i];
    char *block = malloc(100 + (long)arg);
    memset(block, (int)(long)arg, 100);
    block = realloc(block, 5000);
    sum += block[50];
    free(block);
    free(aligned_alloc(64, 128));
    char *given = malloc(sizeof(long));
    memcpy(given, &sum, sizeof sum);
    return given;
}

static void *adds(void *value) {
    ++*(long *)value;
    return value;
}

long reuse(void) {
    long sum = 0;
    for (long round = 0; round < 50; round++) {
        pthread_t all[4];
        for (long i = 0; i < 4; i++)
            pthread_create(&all[i], NULL, fills, (void *)(round + i));
        for (int i = 0; i < 4; i++) {
            void *given;
            pthread_join(all[i], &given);
            sum += *(long *)given;
            free(given);
        }
        /* A thread writes into a frame of this one. */
        long here = round;
        pthread_create(&all[0], NULL, adds, &here);
        pthread_join(all[0], NULL);
        sum += here;
    }
    return sum;
}

/* Kinds of locks: recursive, checked, robust, with inheritance; in time, by an attempt. */

static pthread_mutex_t special;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;

static void *dies(void *arg) {
    pthread_mutex_lock(&special);
    total++;
    return arg;
}

static void *nests(void *arg) {
    for (int i = 0; i < 50; i++) {
        pthread_mutex_lock(&special);
        pthread_mutex_lock(&special);
        if (pthread_mutex_trylock(&special) == 0) {
            total++;
            pthread_mutex_unlock(&special);
        }
        pthread_mutex_unlock(&special);
        pthread_mutex_unlock(&special);
    }
    return arg;
}

static void *gives_up(void *arg) {
    struct timespec until = in_ms(3);
    long refused = pthread_mutex_timedlock(&special, &until) == ETIMEDOUT;
    refused += pthread_mutex_trylock(&special) == EBUSY;
    until = in_ms(3);
    refused += pthread_rwlock_timedrdlock(&rw, &until) == ETIMEDOUT;
    refused += pthread_rwlock_trywrlock(&rw) == EBUSY;
    refused += pthread_spin_trylock(&spin) == EBUSY;
    return (void *)(refused * (arg != NULL));
}

static void *reads_and_writes(void *arg) {
    for (int i = 0; i < 200; i++) {
        if (i % 10 == 0) {
            pthread_rwlock_wrlock(&rw);
            total++;
            pthread_rwlock_unlock(&rw);
        } else {
            pthread_rwlock_rdlock(&rw);
            long found = total;
            pthread_rwlock_unlock(&rw);
            pthread_spin_lock(&spin);
            *(long *)arg = found;
            pthread_spin_unlock(&spin);
        }
    }
    return arg;
}

static void two(void *(*worker)(void *), void *arg) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, arg);
    pthread_create(&b, NULL, worker, arg);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

static void make(int type, int robust, int protocol) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, type);
    pthread_mutexattr_setrobust(&kind, robust);
    pthread_mutexattr_setprotocol(&kind, protocol);
    pthread_mutex_init(&special, &kind);
    pthread_mutexattr_destroy(&kind);
}

long kinds(void) {
    pthread_t thread;
    void *result;
    long sum = 0;
    total = 0;
    make(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    two(nests, NULL);
    pthread_mutex_destroy(&special);
    make(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_INHERIT);
    pthread_create(&thread, NULL, dies, NULL);
    pthread_join(thread, NULL);
    if (pthread_mutex_lock(&special) == EOWNERDEAD) {
        total++;
        sum += pthread_mutex_consistent(&special) == 0;
    }
    pthread_spin_init(&spin, 0);
    pthread_spin_lock(&spin);
    pthread_rwlock_wrlock(&rw);
    pthread_create(&thread, NULL, gives_up, &sum);
    pthread_join(thread, &result);
    sum += (long)result;
    pthread_rwlock_unlock(&rw);
    pthread_spin_unlock(&spin);
    pthread_mutex_unlock(&special);
    pthread_mutex_destroy(&special);
    make(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    pthread_mutex_lock(&special);
    sum += 10 * (pthread_mutex_lock(&special) == EDEADLK);
    struct timespec soon = in_ms(2);
    sum += 100 * (pthread_cond_timedwait(&c, &special, &soon) == ETIMEDOUT);
    pthread_mutex_unlock(&special);
    pthread_mutex_destroy(&special);
    long last = 0;
    two(reads_and_writes, &last);
    pthread_spin_destroy(&spin);
    return sum * 1000 + total;
}

/* The threads of C11. */

static mtx_t lock;
static cnd_t turned;
static tss_t slot;
static once_flag once = ONCE_FLAG_INIT;
static int turn, destroyed, called;

static void of_slot(void *value) {
    mtx_lock(&lock);
    destroyed += *(int *)value;
    mtx_unlock(&lock);
    free(value);
}

static void once_only(void) { called++; }

static int takes_turns(void *arg) {
    int own = (int)(long)arg, *value = malloc(sizeof *value);
    call_once(&once, once_only);
    *value = own + 1;
    tss_set(slot, value);
    for (int i = 0; i < 20; i++) {
        mtx_lock(&lock);
        while (turn % 3 != own)
            cnd_wait(&turned, &lock);
        turn++;
        cnd_broadcast(&turned);
        mtx_unlock(&lock);
    }
    if (own == 1)
        thrd_exit(5);
    return own;
}

long c11(void) {
    thrd_t all[3];
    int sum = 0, result;
    mtx_init(&lock, mtx_timed | mtx_recursive);
    cnd_init(&turned);
    tss_create(&slot, of_slot);
    for (long i = 0; i < 3; i++)
        if (thrd_create(&all[i], takes_turns, (void *)i) != thrd_success)
            return -1;
    for (int i = 0; i < 3; i++) {
        thrd_join(all[i], &result);
        sum += result;
    }
    struct timespec soon = in_ms(2);
    mtx_lock(&lock);
    sum += 100 * (cnd_timedwait(&turned, &lock, &soon) == thrd_timedout);
    mtx_unlock(&lock);
    mtx_destroy(&lock);
    cnd_destroy(&turned);
    tss_delete(slot);
    return turn * 1000000L + destroyed * 10000 + called * 1000 + sum;
}
