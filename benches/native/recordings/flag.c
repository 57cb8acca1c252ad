// A flag is polled N times.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int flag;
static long data, polls;
static atomic_long seen;
static void *run(void *of) {
    long n = 0;
    while (!atomic_load_explicit(&flag, memory_order_acquire)) {
        if (++n == polls) atomic_store(&seen, n);
    }
    data++;
    return 0;
}
int main(int argc, char **argv) {
    polls = atol(argv[1]);
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    while (!atomic_load(&seen)) for (volatile int i = 0; i < 100000; i++);
    data = 7;
    atomic_store_explicit(&flag, 1, memory_order_release);
    pthread_join(t, 0);
}
