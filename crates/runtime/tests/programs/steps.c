// A signal at each instruction of what the runtime does for an access, a call and a lock. The trap flag
// of the processor makes a signal after each instruction. Its handler is installed behind the back of the
// runtime, and when it has counted enough, it calls the handler that the runtime has put in the
// place of that of SIGUSR1, as if that signal had come there.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// So few that all events fit into one chunk: the next one is taken with signals blocked, where the
// kernel ends a program that traps.
#define STEPS 300
#define UNSEEN __attribute__((no_sanitize_thread, noinline))

struct raw_action {
    void *handler;
    unsigned long flags;
    void *restorer;
    unsigned long mask;
};

extern size_t __tsan_testonly_shadow_stack_current_size(void);

typedef void (*handler_type)(int, siginfo_t *, void *);

static handler_type of_runtime;
static int steps_left, step;
// Each step writes to a line of the cache of its own, which no thread has used before.
static long written[STEPS][8] __attribute__((aligned(64))), marked[STEPS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int atomic;

__attribute__((noinline)) static void mark(void) {
    marked[step] = 1;
}

static void handle(int signal) {
    mark();
}

UNSEEN static void on_trap(int signal, siginfo_t *info, void *context) {
    if (--steps_left > 0) return;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100L;
    of_runtime(SIGUSR1, info, context);
}

UNSEEN static void restore(void) {
    __asm__ volatile("mov $15, %eax\n\tsyscall");
}

// A call in which nothing happens.
__attribute__((noinline)) static void empty(int never) {
    if (never) written[never][0] = never;
}

// Everything in one function, so that all of it is stepped through.
__attribute__((noinline)) static void work(int index) {
    written[index][0] = index;
    empty(0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    __atomic_fetch_add(&atomic, 1, __ATOMIC_SEQ_CST);
}

UNSEEN static void trace(int on) {
    if (on) __asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
    else __asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

UNSEEN int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    sigaction(SIGUSR1, &action, NULL);
    struct raw_action raw;
    syscall(SYS_rt_sigaction, SIGUSR1, NULL, &raw, 8);
    of_runtime = (handler_type)raw.handler;
    struct raw_action trap = {(void *)on_trap, SA_SIGINFO | 0x04000000, raw.restorer, 0};
    syscall(SYS_rt_sigaction, SIGTRAP, &trap, NULL, 8);
    // All functions are found, and all pages are there.
    work(0);
    for (step = 1; step < STEPS; step++) {
        steps_left = step;
        trace(1);
        work(step);
        trace(0);
    }
    printf("%p %p %d %zu\n", (void *)written, (void *)marked, atomic,
           __tsan_testonly_shadow_stack_current_size());
    return 6;
}
