/* A worker that writes to a session. The program has two mistakes, and nearly every run goes well:

   - main frees the session under the lock, and the worker writes to it under the lock. Nothing says
     which of them comes first.
   - the worker waits for a broadcast without asking whether it came already. Where the broadcast
     comes first, the worker waits for ever.

   With -DFIXED the worker asks, and main frees the session after the worker has ended.

   cc -g -O1 -fsanitize=thread -pthread -o jobs examples/native/jobs.c
   anyorder run ./jobs */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct session {
    int id;
    int lines;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready;

static void write_line(struct session *session) {
    pthread_mutex_lock(&lock);
    session->lines++;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *session) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!is_ready)
#endif
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    write_line(session);
    return NULL;
}

int main(void) {
    struct session *session = calloc(1, sizeof *session);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, session);
    usleep(20000); /* the worker waits by now */
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&lock);
    usleep(20000); /* the worker has written by now */
#ifdef FIXED
    pthread_join(thread, NULL);
#endif
    pthread_mutex_lock(&lock);
    free(session);
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    pthread_join(thread, NULL);
#endif
    puts("all lines written");
    return 0;
}
