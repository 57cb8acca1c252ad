// Four threads with private work and eight shared counters under locks: what recording costs.
// Of the accesses 164 of 166 in each round are to memory of one thread. Usage: cost ROUNDS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define LOCKS 8

struct node {
    int count;
    long mask;
    char rest[16];
};

static long rounds;
static pthread_mutex_t locks[LOCKS];
static long shared[LOCKS];

static void *work(void *argument) {
    struct node *nodes = calloc(64, sizeof *nodes);
    int *numbers = malloc(1024 * sizeof *numbers);
    unsigned seed = (unsigned)(long)argument;
    for (long i = 0; i < rounds; i++) {
        for (int j = 0; j < 64; j++) {
            nodes[j].count += j;
            nodes[(j * 7) & 63].mask ^= i;
        }
        for (int j = 0; j < 18; j++)
            numbers[(i + j) & 1023] = j;
        seed = seed * 1103515245 + 12345;
        int k = (seed >> 16) % LOCKS;
        pthread_mutex_lock(&locks[k]);
        shared[k]++;
        pthread_mutex_unlock(&locks[k]);
    }
    long result = nodes[3].mask + numbers[5 % rounds];
    free(nodes);
    free(numbers);
    return (void *)result;
}

int main(int count, char **arguments) {
    rounds = count > 1 ? atol(arguments[1]) : 1000;
    if (rounds < 1)
        return 2;
    pthread_t threads[THREADS];
    for (int k = 0; k < LOCKS; k++)
        pthread_mutex_init(&locks[k], NULL);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    long sum = 0;
    for (int k = 0; k < LOCKS; k++)
        sum += shared[k];
    printf("%ld\n", sum);
    return sum != THREADS * rounds;
}
