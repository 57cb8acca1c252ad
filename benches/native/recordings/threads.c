// N short threads, 8 at a time.
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void *run(void *of) {
    long own[32], sum = 0;
    for (int j = 0; j < 20; j++) for (int i = 0; i < 32; i++) { own[i] = i + j; sum += own[i]; }
    pthread_mutex_lock(&lock);
    total += sum;
    pthread_mutex_unlock(&lock);
    return 0;
}
int main(int argc, char **argv) {
    long n = atol(argv[1]);
    for (long at = 0; at < n; at += 8) {
        pthread_t t[8];
        for (int i = 0; i < 8; i++) pthread_create(&t[i], 0, run, 0);
        for (int i = 0; i < 8; i++) pthread_join(t[i], 0);
    }
}
