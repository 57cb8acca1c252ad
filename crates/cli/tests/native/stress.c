/* Programs with an ordering bug that a plain run almost never shows, and the usual repair of each.
   The first argument is the name of the bug; a second one takes the repaired variant. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fixed;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER,
                       three = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

typedef void *(*body)(void *);

static void run(int count, const body *bodies) {
    pthread_t threads[8];
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, bodies[i], (void *)(long)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

/* A check and an act in two sections of one lock. */
static int tickets = 1, sold;

static void *sell(void *unused) {
    pthread_mutex_lock(&one);
    int is_left = tickets > 0;
    if (!fixed) {
        pthread_mutex_unlock(&one);
        pthread_mutex_lock(&one);
    }
    if (is_left) {
        tickets--;
        sold++;
    }
    pthread_mutex_unlock(&one);
    return unused;
}

static void atomicity(void) {
    run(2, (body[]){sell, sell});
    assert(sold == 1);
}

/* A signal before the wait, and no predicate. */
static int is_ready;

static void *waits(void *unused) {
    pthread_mutex_lock(&one);
    if (fixed) {
        while (!is_ready)
            pthread_cond_wait(&cond, &one);
    } else {
        pthread_cond_wait(&cond, &one);
    }
    pthread_mutex_unlock(&one);
    return unused;
}

static void *signals(void *unused) {
    if (!fixed)
        usleep(20000);
    pthread_mutex_lock(&one);
    is_ready = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&one);
    return unused;
}

static void lost_wakeup(void) { run(2, (body[]){waits, signals}); }

/* An object that is freed when its user is most likely done. */
struct job {
    void (*done)(void);
    int left;
};
static struct job *job;
static pthread_t worker;
static void nothing(void) {}

static void *work(void *unused) {
    pthread_mutex_lock(&one);
    job->left--;
    pthread_mutex_unlock(&one);
    pthread_mutex_lock(&two);
    pthread_mutex_unlock(&two);
    job->done();
    return unused;
}

static void use_after_free(void) {
    job = malloc(sizeof *job);
    job->done = nothing;
    job->left = 1;
    pthread_create(&worker, NULL, work, NULL);
    if (fixed)
        pthread_join(worker, NULL);
    else
        usleep(20000);
    pthread_mutex_lock(&one);
    struct job *old = job;
    pthread_mutex_unlock(&one);
    free(old);
    if (!fixed)
        pthread_join(worker, NULL);
}

/* Two locks in two orders. */
static void *forth(void *unused) {
    pthread_mutex_lock(&one);
    pthread_mutex_lock(&two);
    pthread_mutex_unlock(&two);
    pthread_mutex_unlock(&one);
    return unused;
}

static void *back(void *unused) {
    pthread_mutex_lock(fixed ? &one : &two);
    pthread_mutex_lock(fixed ? &two : &one);
    pthread_mutex_unlock(&one);
    pthread_mutex_unlock(&two);
    return unused;
}

static void deadlock(void) { run(2, (body[]){forth, back}); }

/* Three locks in a ring. */
static void *ring(void *number) {
    pthread_mutex_t *locks[] = {&one, &two, &three};
    int from = (int)(long)number, to = (from + 1) % 3;
    if (fixed && from > to) {
        int swap = from;
        from = to;
        to = swap;
    }
    pthread_mutex_lock(locks[from]);
    pthread_mutex_lock(locks[to]);
    pthread_mutex_unlock(locks[to]);
    pthread_mutex_unlock(locks[from]);
    return NULL;
}

static void deadlock_three(void) { run(3, (body[]){ring, ring, ring}); }

/* A flag is published before what it stands for. */
static atomic_int is_published;
static int *value;

static void *publish(void *unused) {
    static int content = 5;
    if (fixed)
        value = &content;
    atomic_store(&is_published, 1);
    if (!fixed)
        value = &content;
    return unused;
}

static void *consume(void *unused) {
    usleep(10000);
    if (atomic_load(&is_published))
        assert(*value == 5);
    return unused;
}

static void initialisation(void) { run(2, (body[]){publish, consume}); }

/* Two threads that both find something to give back. */
static char *block;

static void *give_back(void *unused) {
    pthread_mutex_lock(&one);
    char *mine = block;
    if (fixed)
        block = NULL;
    pthread_mutex_unlock(&one);
    if (mine) {
        free(mine);
        if (!fixed) {
            pthread_mutex_lock(&one);
            block = NULL;
            pthread_mutex_unlock(&one);
        }
    }
    return unused;
}

static void double_free(void) {
    block = malloc(40);
    run(2, (body[]){give_back, give_back});
}

/* A result that is read before the thread that makes it has ended. */
static int result;

static void *compute(void *unused) {
    pthread_mutex_lock(&one);
    result = 42;
    pthread_mutex_unlock(&one);
    return unused;
}

static void order(void) {
    pthread_create(&worker, NULL, compute, NULL);
    if (fixed)
        pthread_join(worker, NULL);
    else
        usleep(20000);
    pthread_mutex_lock(&one);
    int seen = result;
    pthread_mutex_unlock(&one);
    if (!fixed)
        pthread_join(worker, NULL);
    if (seen != 42)
        exit(3);
}

/* Not bugs: what must not hang. */
static void *sleeper(void *unused) {
    for (int i = 0; i < 5; i++)
        sleep(2);
    return unused;
}

static void sleeps(void) { run(2, (body[]){sleeper, sleeper}); }

static int ends[2], answers[2];

static void *echo(void *unused) {
    char byte;
    while (read(ends[0], &byte, 1) == 1)
        if (write(answers[1], &byte, 1) != 1)
            abort();
    return unused;
}

static void pipes(void) {
    if (pipe(ends) || pipe(answers))
        abort();
    pthread_create(&worker, NULL, echo, NULL);
    for (int i = 0; i < 20; i++) {
        char byte = 'a' + i, answer = 0;
        if (write(ends[1], &byte, 1) != 1 || read(answers[0], &answer, 1) != 1)
            abort();
        assert(byte == answer);
    }
    close(ends[1]);
    pthread_join(worker, NULL);
}

static int count;

static void *add(void *unused) {
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&one);
        count++;
        pthread_mutex_unlock(&one);
    }
    return unused;
}

static void many(void) {
    pthread_t threads[64];
    for (int i = 0; i < 64; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 64; i++)
        pthread_join(threads[i], NULL);
    assert(count == 640);
}

static void unlock(void *mutex) { pthread_mutex_unlock(mutex); }

static void *wait_for_ever(void *unused) {
    pthread_mutex_lock(&one);
    pthread_cleanup_push(unlock, &one);
    for (;;)
        pthread_cond_wait(&cond, &one);
    pthread_cleanup_pop(1);
    return unused;
}

static sem_t semaphore;

static void *wait_for_semaphore(void *unused) {
    sem_wait(&semaphore);
    return unused;
}

static void cancels(void) {
    pthread_t other;
    sem_init(&semaphore, 0, 0);
    pthread_create(&worker, NULL, wait_for_ever, NULL);
    pthread_create(&other, NULL, wait_for_semaphore, NULL);
    pthread_cancel(worker);
    pthread_cancel(other);
    void *how;
    pthread_join(worker, &how);
    assert(how == PTHREAD_CANCELED);
    pthread_join(other, &how);
    assert(how == PTHREAD_CANCELED);
    pthread_mutex_lock(&one);
    pthread_mutex_unlock(&one);
}

static pthread_barrier_t barrier;

static void *meet(void *unused) {
    for (int i = 0; i < 10; i++)
        pthread_barrier_wait(&barrier);
    return unused;
}

static void barriers(void) {
    pthread_barrier_init(&barrier, NULL, 4);
    run(4, (body[]){meet, meet, meet, meet});
    pthread_barrier_destroy(&barrier);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *timed(void *unused) {
    struct timespec until = {0, 0};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 5;
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&one);
        pthread_cond_timedwait(&cond, &one, &until);
        pthread_mutex_unlock(&one);
        pthread_rwlock_rdlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
        pthread_rwlock_wrlock(&rwlock);
        pthread_rwlock_unlock(&rwlock);
    }
    return unused;
}

static void times(void) { run(3, (body[]){timed, timed, timed}); }

static atomic_int spin_lock;

static void *spin(void *unused) {
    for (int i = 0; i < 20; i++) {
        int expected = 0;
        while (!atomic_compare_exchange_weak(&spin_lock, &expected, 1))
            expected = 0;
        count++;
        atomic_store(&spin_lock, 0);
    }
    return unused;
}

static void spins(void) {
    run(3, (body[]){spin, spin, spin});
    assert(count == 60);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*function)(void);
    } all[] = {
        {"atomicity", atomicity},       {"lost-wakeup", lost_wakeup},
        {"use-after-free", use_after_free}, {"deadlock", deadlock},
        {"deadlock-three", deadlock_three}, {"initialisation", initialisation},
        {"double-free", double_free},   {"order", order},
        {"sleeps", sleeps},             {"pipes", pipes},
        {"many", many},                 {"cancels", cancels},
        {"barriers", barriers},         {"times", times},
        {"spins", spins},
    };
    fixed = argc > 2;
    for (unsigned i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (strcmp(argv[1], all[i].name) == 0) {
            all[i].function();
            return 0;
        }
    return 9;
}
