// Accesses that repeat, with and without synchronisation in between.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int plain, locked;

int main(void) {
    for (int round = 0; round < 100; round++) plain = round;
    for (int round = 0; round < 100; round++) {
        pthread_mutex_lock(&mutex);
        locked = round;
        pthread_mutex_unlock(&mutex);
    }
    printf("%p %p\n", (void *)&plain, (void *)&locked);
    return 0;
}
