// Threads take turns, by code that is not recorded, and print what each turn did. So the order of
// all accesses is known, and the recording must agree with it. Usage: turns SEED
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 3
#define TURNS 6000
#define CELLS 96
#define HIDDEN __attribute__((no_sanitize("thread"), noinline))

struct turn {
    unsigned char what;
    unsigned char thread;
    unsigned char size;
    void *address;
};

static struct turn turns[TURNS];
static volatile int now;
static unsigned long state;
static unsigned char memory[CELLS * 16] __attribute__((aligned(64)));

HIDDEN static unsigned roll(unsigned below) {
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (state >> 33) % below;
}

// How often a thread did the same at the same place since it synchronised: more would be left out.
static unsigned char same[THREADS][256][sizeof memory];

// Few granules, and threads that stay at their own for a while.
HIDDEN static void plan(void) {
    for (int i = 0; i < TURNS; i++) {
        struct turn *turn = &turns[i];
        turn->thread = roll(100) < 70 && i > 0 ? turns[i - 1].thread : roll(THREADS);
        unsigned own = turn->thread * (CELLS / THREADS) + roll(CELLS / THREADS);
        unsigned at = 16 * (roll(100) < 60 ? own : roll(CELLS));
        static const unsigned char kinds[] = "rrrrrrwwwwuuuUURWal";
        turn->what = kinds[roll(sizeof kinds - 1)];
        turn->size = 8;
        if (turn->what == 'u' || turn->what == 'U')
            at = 64 * (1 + at / 64 % (sizeof memory / 64 - 1)) - 1 - roll(9);
        if (turn->what == 'R' || turn->what == 'W') {
            turn->size = 1 + roll(200);
            at = roll(sizeof memory - turn->size);
        }
        turn->address = memory + at;
        if (++same[turn->thread][turn->what][at] > 3 && turn->what != 'R' && turn->what != 'W') {
            turn->what = 'a';
            turn->address = memory + (at & ~7);
        }
        if (turn->what == 'a' || turn->what == 'l')
            for (int j = 0; j < 256 * sizeof memory; j++)
                same[turn->thread][0][j] = 0;
    }
}

HIDDEN static void wait_for(int turn) {
    while (now != turn)
        sched_yield();
}

HIDDEN static void pass(void) {
    __sync_synchronize();
    now = now + 1;
}

// What a compiler calls before an access that may lie anywhere.
void __tsan_unaligned_read8(void *);
void __tsan_unaligned_write8(void *);

static void act(struct turn *turn) {
    switch (turn->what) {
    case 'r':
        (void)*(volatile unsigned long *)turn->address;
        break;
    case 'w':
        *(volatile unsigned long *)turn->address = 1;
        break;
    case 'u':
        __tsan_unaligned_read8(turn->address);
        break;
    case 'U':
        __tsan_unaligned_write8(turn->address);
        break;
    case 'R':
        if (memchr(turn->address, 77, turn->size))
            abort();
        break;
    case 'W':
        memset(turn->address, 1, turn->size);
        break;
    case 'a':
        __atomic_fetch_add((unsigned long *)turn->address, 1, __ATOMIC_RELAXED);
        break;
    case 'l':
        __atomic_load_n((unsigned long *)turn->address, __ATOMIC_RELAXED);
        break;
    }
}

HIDDEN static void *work(void *argument) {
    for (int i = 0; i < TURNS; i++) {
        if (turns[i].thread != (long)argument)
            continue;
        wait_for(i);
        act(&turns[i]);
        pass();
    }
    return NULL;
}

HIDDEN int main(int count, char **arguments) {
    state = count > 1 ? strtoul(arguments[1], NULL, 10) : 1;
    plan();
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < TURNS; i++)
        printf("%c %d %p %d\n", turns[i].what, turns[i].thread + 1, turns[i].address, turns[i].size);
    return 0;
}
