// Programs whose recording is measured: see cost.sh. Usage: programs NAME
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 4

// What was computed, so that the compiler computes it.
static volatile double result;

static void run(int count, void *(*work)(void *)) {
    pthread_t threads[THREADS];
    for (long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
}

static unsigned roll(unsigned *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

// All read two matrices, and each writes its rows of a third.
#define SIDE 320
static double left[SIDE][SIDE], right[SIDE][SIDE], product[SIDE][SIDE];

static void *multiply(void *argument) {
    for (int i = (long)argument; i < SIDE; i += THREADS)
        for (int j = 0; j < SIDE; j++)
            for (int k = 0; k < SIDE; k++)
                product[i][j] += left[i][k] * right[k][j];
    return NULL;
}

static void matrix(void) {
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            left[i][j] = right[i][j] = (i + j) % 7;
    run(THREADS, multiply);
    result = product[1][2];
}

// Passes over 48 MB, more than what caches hold.
#define LONG (1 << 21)
static double a[LONG], b[LONG], c[LONG];

static void *add(void *argument) {
    long first = (long)argument * (LONG / THREADS);
    for (int pass = 0; pass < 8; pass++)
        for (long i = first; i < first + LONG / THREADS; i++)
            a[i] = b[i] + 3 * c[i];
    return NULL;
}

static void stream(void) {
    run(THREADS, add);
    result = a[LONG / 3];
}

// Short sections under few locks.
static pthread_mutex_t mutexes[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                     PTHREAD_MUTEX_INITIALIZER};
static struct {
    long count, sum, rest[14];
} sections[4];

static void *lock(void *argument) {
    unsigned state = (long)argument;
    for (int i = 0; i < 600000; i++) {
        int k = roll(&state) % 4;
        pthread_mutex_lock(&mutexes[k]);
        sections[k].count++;
        sections[k].sum += i;
        pthread_mutex_unlock(&mutexes[k]);
    }
    return NULL;
}

static void locks(void) {
    run(THREADS, lock);
}

// Lists of small blocks of all sizes.
struct item {
    struct item *next;
    char rest[];
};

static void *allocate(void *argument) {
    unsigned state = (long)argument;
    struct item *lists[64] = {0};
    for (int i = 0; i < 1000000; i++) {
        struct item **list = &lists[roll(&state) % 64];
        if (*list && roll(&state) % 2) {
            struct item *first = *list;
            *list = first->next;
            free(first);
        } else {
            struct item *new = malloc(sizeof *new + roll(&state) % 200);
            new->next = *list;
            *list = new;
        }
    }
    return NULL;
}

static void blocks(void) {
    run(THREADS, allocate);
}

// Counters that all change, and one to each thread.
static atomic_long counters[64];

static void *count(void *argument) {
    for (int i = 0; i < 1000000; i++) {
        atomic_fetch_add_explicit(&counters[i % 16], 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&counters[32 + 8 * (long)argument], 1, memory_order_release);
        if (atomic_load_explicit(&counters[i % 8], memory_order_acquire) < 0)
            return NULL;
    }
    return NULL;
}

static void atomics(void) {
    run(THREADS, count);
}

// Many threads that do little each.
static int results[3000];

static void *small(void *argument) {
    int numbers[64];
    for (int i = 0; i < 64; i++)
        numbers[i] = i;
    for (int i = 1; i < 2000; i++)
        numbers[i % 64] += numbers[(i - 1) % 64] & 3;
    results[(long)argument] = numbers[5];
    return NULL;
}

static void threads(void) {
    for (long i = 0; i < 3000; i += THREADS) {
        pthread_t some[THREADS];
        for (int j = 0; j < THREADS; j++)
            pthread_create(&some[j], NULL, small, (void *)(i + j));
        for (int j = 0; j < THREADS; j++)
            pthread_join(some[j], NULL);
    }
}

// Blocks go from those who fill them to those who read them.
#define ROOM 32
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t filled, taken;
    int *blocks[ROOM], first, length;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0};

static void put(int *block) {
    pthread_mutex_lock(&queue.mutex);
    while (queue.length == ROOM)
        pthread_cond_wait(&queue.taken, &queue.mutex);
    queue.blocks[(queue.first + queue.length++) % ROOM] = block;
    pthread_cond_signal(&queue.filled);
    pthread_mutex_unlock(&queue.mutex);
}

static int *take(void) {
    pthread_mutex_lock(&queue.mutex);
    while (queue.length == 0)
        pthread_cond_wait(&queue.filled, &queue.mutex);
    int *block = queue.blocks[queue.first];
    queue.first = (queue.first + 1) % ROOM;
    queue.length--;
    pthread_cond_signal(&queue.taken);
    pthread_mutex_unlock(&queue.mutex);
    return block;
}

static void *pass(void *argument) {
    long sum = 0;
    for (int i = 0; i < 20000; i++) {
        if ((long)argument % 2) {
            int *block = malloc(256 * sizeof *block);
            for (int j = 0; j < 256; j++)
                block[j] = i ^ j;
            put(block);
        } else {
            int *block = take();
            for (int j = 0; j < 256; j++)
                sum += block[j];
            free(block);
        }
    }
    return (void *)sum;
}

static void handover(void) {
    run(THREADS, pass);
}

// Many calls: each sorts a part of an array.
#define KEYS (1 << 19)
static int keys[KEYS], spare[KEYS];

static void merge_sort(int *from, int *to, int length) {
    if (length < 2)
        return;
    int half = length / 2;
    merge_sort(from, to, half);
    merge_sort(from + half, to + half, length - half);
    for (int i = 0, j = half, k = 0; k < length; k++)
        to[k] = j == length || (i < half && from[i] <= from[j]) ? from[i++] : from[j++];
    for (int k = 0; k < length; k++)
        from[k] = to[k];
}

static void *sort_part(void *argument) {
    long first = (long)argument * (KEYS / THREADS);
    merge_sort(keys + first, spare + first, KEYS / THREADS);
    return NULL;
}

static void sort(void) {
    unsigned state = 1;
    for (int i = 0; i < KEYS; i++)
        keys[i] = roll(&state);
    run(THREADS, sort_part);
    merge_sort(keys, spare, KEYS);
}

// Rounds with a barrier in which each thread reads the edges of its neighbours.
#define WIDTH 512
static double grids[2][WIDTH][WIDTH];
static pthread_barrier_t barrier;

static void *relax(void *argument) {
    int rows = (WIDTH - 2) / THREADS, first = 1 + (long)argument * rows;
    for (int round = 0; round < 40; round++) {
        double(*old)[WIDTH] = grids[round % 2], (*new)[WIDTH] = grids[1 - round % 2];
        for (int i = first; i < first + rows; i++)
            for (int j = 1; j < WIDTH - 1; j++)
                new[i][j] = (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]) / 4;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static void grid(void) {
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < WIDTH; i++)
        grids[0][0][i] = grids[1][0][i] = 100;
    run(THREADS, relax);
    result = grids[0][5][5];
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {{"matrix", matrix},   {"stream", stream},     {"locks", locks}, {"blocks", blocks}, {"atomics", atomics},
                {"threads", threads}, {"handover", handover}, {"sort", sort},   {"grid", grid}};

int main(int count, char **arguments) {
    for (size_t i = 0; count > 1 && i < sizeof programs / sizeof *programs; i++)
        if (strcmp(arguments[1], programs[i].name) == 0) {
            programs[i].run();
            return 0;
        }
    return 2;
}
