/* What each part of a long run begins with: threads that wait on a condition all the time, and
   semaphores with permits. One thread works: it takes a permit, and changes a variable under a lock.

   waiting WAITERS SEMAPHORES PERMITS ROUNDS */

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 1000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, work_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static int is_done, semaphores, rounds;
static long shared;
static sem_t permits[MOST];

static void *wait(void *arg) {
    pthread_mutex_lock(&lock);
    while (!is_done)
        pthread_cond_wait(&ended, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *work(void *arg) {
    for (int i = 0; i < rounds; i++) {
        sem_wait(&permits[i % semaphores]);
        pthread_mutex_lock(&work_lock);
        shared++;
        pthread_mutex_unlock(&work_lock);
        sem_post(&permits[i % semaphores]);
    }
    return arg;
}

int main(int count, char **arguments) {
    if (count != 5)
        return 2;
    int waiters = atoi(arguments[1]) % MOST;
    semaphores = atoi(arguments[2]) % MOST;
    rounds = atoi(arguments[4]);
    for (int i = 0; i < semaphores; i++)
        sem_init(&permits[i], 0, atoi(arguments[3]));
    pthread_t waiting[MOST], working;
    for (int i = 0; i < waiters; i++)
        pthread_create(&waiting[i], 0, wait, 0);
    pthread_create(&working, 0, work, 0);
    pthread_join(working, 0);
    pthread_mutex_lock(&lock);
    is_done = 1;
    pthread_cond_broadcast(&ended);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < waiters; i++)
        pthread_join(waiting[i], 0);
    printf("%ld\n", shared);
    return 0;
}
