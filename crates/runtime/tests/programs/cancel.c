// Threads that are cancelled at any instruction, so also inside of what the runtime does. It is C:
// functions of C++ that were built with hooks have places where they cannot be unwound.
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int number;
static long sum;

static void *work(void *argument) {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) {
        __atomic_fetch_add(&number, 1, __ATOMIC_SEQ_CST);
        sum += __atomic_load_n(&number, __ATOMIC_ACQUIRE);
    }
    return argument;
}

int main(void) {
    int cancelled = 0;
    for (int round = 0; round < 50; round++) {
        pthread_t threads[2];
        void *value;
        for (int index = 0; index < 2; index++) pthread_create(&threads[index], NULL, work, NULL);
        usleep(300 + round * 7);
        for (int index = 0; index < 2; index++) {
            pthread_cancel(threads[index]);
            pthread_join(threads[index], &value);
            cancelled += value == PTHREAD_CANCELED;
        }
    }
    __atomic_fetch_add(&number, 1, __ATOMIC_SEQ_CST);
    printf("%d\n", cancelled);
    return 5;
}
