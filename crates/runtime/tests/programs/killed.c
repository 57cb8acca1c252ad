// Threads write one element after the other, and count in a file how many they have written, until
// the process is killed. Usage: killed FILE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define THREADS 3
#define SIZE 100003
#define HIDDEN __attribute__((no_sanitize("thread"), noinline))

static volatile unsigned long *counts;
static long table[THREADS][SIZE];

HIDDEN static void count(long thread, unsigned long written) {
    counts[thread * 8] = written;
}

static void *work(void *argument) {
    long thread = (long)argument;
    for (unsigned long i = 0;; i++) {
        ((volatile long *)table[thread])[i % SIZE] = i;
        count(thread, i + 1);
    }
}

HIDDEN int main(int argc, char **arguments) {
    int file = open(arguments[1], O_RDWR);
    counts = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (counts == MAP_FAILED)
        return 2;
    for (int i = 0; i < THREADS; i++)
        printf("%p\n", (void *)table[i]);
    fflush(stdout);
    pthread_t thread;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&thread, NULL, work, (void *)i);
    pause();
    return 1;
}
