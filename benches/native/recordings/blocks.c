// Much is allocated and freed by 4 threads; one in 64 blocks is handed on to another thread.
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long *given;
static long rounds;
static void *run(void *of) {
    unsigned seed = (long)of;
    for (long i = 0; i < rounds; i++) {
        seed = seed * 1103515245u + 12345u;
        int n = 2 + (seed >> 8) % 30;
        long *block = malloc(n * sizeof *block);
        for (int j = 0; j < n; j++) block[j] = j;
        if ((seed >> 16) % 64 == 0) {
            pthread_mutex_lock(&lock);
            long *other = given;
            given = block;
            pthread_mutex_unlock(&lock);
            block = other;
            if (block) block[0]++;
        }
        free(block);
    }
    return 0;
}
int main(int argc, char **argv) {
    rounds = atol(argv[1]);
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, run, (void *)(i + 1));
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
