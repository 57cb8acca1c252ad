// Two threads do known numbers of operations.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 1000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static long table[ROUNDS];
static int ticket;

static void *work(void *argument) {
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
        __atomic_fetch_add(&ticket, 1, __ATOMIC_SEQ_CST);
    }
    return argument;
}

int main(void) {
    pthread_t threads[2];
    // Each is another address: no repeats.
    for (int index = 0; index < ROUNDS; index++) table[index] = index;
    for (int index = 0; index < 2; index++) pthread_create(&threads[index], NULL, work, NULL);
    for (int index = 0; index < 2; index++) pthread_join(threads[index], NULL);
    void *volatile block = malloc(123);
    free(block);
    printf("%ld %d %ld\n", counter, ticket, table[ROUNDS - 1]);
    return 7;
}
