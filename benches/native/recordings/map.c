// A map under a lock: N operations of 4 threads, each a chain of calls and accesses.
#include <pthread.h>
#include <stdlib.h>
struct node { struct node *next; long key, value; };
static struct node *table[1024];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long rounds;
static unsigned mix(unsigned x) { x ^= x >> 13; x *= 0x5bd1e995u; x ^= x >> 15; return x; }
static __attribute__((noinline)) struct node *find(long key) {
    struct node *at = table[mix(key) % 1024];
    while (at && at->key != key) at = at->next;
    return at;
}
static __attribute__((noinline)) void put(long key, long value) {
    pthread_mutex_lock(&lock);
    struct node *at = find(key);
    if (!at) {
        at = malloc(sizeof *at);
        at->key = key; at->next = table[mix(key) % 1024]; table[mix(key) % 1024] = at;
    }
    at->value += value;
    pthread_mutex_unlock(&lock);
}
static __attribute__((noinline)) long work(long *own, long n) {
    long sum = 0;
    for (long i = 0; i < n; i++) { own[i % 64] += i; sum += own[(i * 7) % 64]; }
    return sum;
}
static void *run(void *of) {
    long own[64] = {0};
    unsigned seed = (long)of;
    for (long i = 0; i < rounds; i++) {
        seed = seed * 1103515245u + 12345u;
        put(seed >> 8 & 2047, work(own, 100));
    }
    return 0;
}
int main(int argc, char **argv) {
    rounds = atol(argv[1]);
    pthread_t t[4];
    for (long i = 0; i < 4; i++) pthread_create(&t[i], 0, run, (void *)(i + 1));
    for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
}
