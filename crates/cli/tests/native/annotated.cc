/* Programs with annotations: the first argument chooses one. Names that begin with `no-` lack the
   annotation, and are the same otherwise. */

#include <anyorder.h>
#include <atomic>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern "C" {
void AnnotateHappensBefore(const char *, int, const volatile void *);
void AnnotateHappensAfter(const char *, int, const volatile void *);
void AnnotateIgnoreReadsBegin(const char *, int);
void AnnotateIgnoreReadsEnd(const char *, int);
void AnnotateIgnoreWritesBegin(const char *, int);
void AnnotateIgnoreWritesEnd(const char *, int);
void AnnotateBenignRaceSized(const char *, int, const volatile void *, unsigned long, const char *);
void AnnotateRWLockCreate(const char *, int, const volatile void *);
void AnnotateRWLockDestroy(const char *, int, const volatile void *);
void AnnotateRWLockAcquired(const char *, int, const volatile void *, long);
void AnnotateRWLockReleased(const char *, int, const volatile void *, long);
void __tsan_acquire(void *);
void __tsan_release(void *);
void __tsan_mutex_create(void *, unsigned);
void __tsan_mutex_destroy(void *, unsigned);
void __tsan_mutex_pre_lock(void *, unsigned);
void __tsan_mutex_post_lock(void *, unsigned, int);
int __tsan_mutex_pre_unlock(void *, unsigned);
void __tsan_mutex_post_unlock(void *, unsigned);
}

#define HIDDEN __attribute__((no_sanitize_thread, noinline))

static int shared, own_lock, other_lock, step;
static std::mutex mutex;

/* Waits without an event. */
HIDDEN static void until(int wanted) {
    while (__atomic_load_n(&step, __ATOMIC_SEQ_CST) < wanted)
        usleep(100);
}

HIDDEN static void set(int value) { __atomic_store_n(&step, value, __ATOMIC_SEQ_CST); }

/* A lock of our own that is no event. */
HIDDEN static void take(int *lock) {
    while (__atomic_exchange_n(lock, 1, __ATOMIC_SEQ_CST))
        usleep(100);
}

HIDDEN static void give(int *lock) { __atomic_store_n(lock, 0, __ATOMIC_SEQ_CST); }

using Part = std::function<void()>;

/* Runs one part after the other, each in a thread. */
static void both(const Part &first, const Part &second) {
    std::thread one([&] { first(); set(1); });
    std::thread two([&] { until(1); second(); });
    one.join();
    two.join();
}

static void put(void *object, long key, long value) {
    ANYORDER_INVOKE_BEGIN(object, "map", "put", key, value);
    {
        std::lock_guard<std::mutex> guard(mutex);
        shared++;
    }
    ANYORDER_INVOKE_END(object, ANYORDER_NONE);
}

static void add(void *object) {
    ANYORDER_INVOKE(object, "counter", "add", ANYORDER_NONE, 1);
}

static void leave(void *object) {
    std::jmp_buf back;
    if (setjmp(back) == 0) {
        ANYORDER_INVOKE_BEGIN(object, "map", "put", 5, 5);
        std::longjmp(back, 1);
    }
}

static void annotated_lock(bool is_annotated) {
    if (is_annotated)
        __tsan_mutex_pre_lock(&own_lock, 0);
    take(&own_lock);
    if (is_annotated)
        __tsan_mutex_post_lock(&own_lock, 0, 1);
    shared++;
    if (is_annotated)
        __tsan_mutex_pre_unlock(&own_lock, 0);
    give(&own_lock);
    if (is_annotated)
        __tsan_mutex_post_unlock(&own_lock, 0);
}

static void rwlock(bool is_annotated, bool writes) {
    take(&own_lock);
    if (is_annotated)
        AnnotateRWLockAcquired(__FILE__, __LINE__, &own_lock, writes);
    shared++;
    if (is_annotated)
        AnnotateRWLockReleased(__FILE__, __LINE__, &own_lock, writes);
    give(&own_lock);
}

/* Takes two locks, one inside the other. */
static void two_locks(int *outer, int *inner) {
    for (int *lock : {outer, inner}) {
        __tsan_mutex_pre_lock(lock, 0);
        take(lock);
        __tsan_mutex_post_lock(lock, 0, 1);
    }
    for (int *lock : {inner, outer}) {
        __tsan_mutex_pre_unlock(lock, 0);
        give(lock);
        __tsan_mutex_post_unlock(lock, 0);
    }
}

static void write_plain() { shared++; }

int main(int, char **arguments) {
    const char *which = arguments[1];
    const bool is_on = std::strncmp(which, "no-", 3) != 0;
    if (!is_on)
        which += 3;
    auto is = [&](const char *name) { return std::strcmp(which, name) == 0; };
    static char one[8], other[8];
    if (is("order"))
        both([&] { write_plain(); if (is_on) ANYORDER_HAPPENS_BEFORE(one); },
             [&] { if (is_on) ANYORDER_HAPPENS_AFTER(one); write_plain(); });
    else if (is("other-order"))
        both([&] { write_plain(); ANYORDER_HAPPENS_BEFORE(one); },
             [&] { ANYORDER_HAPPENS_AFTER(is_on ? one : other); write_plain(); });
    else if (is("ignored"))
        both([&] { if (is_on) ANYORDER_IGNORE_BEGIN(); write_plain(); if (is_on) ANYORDER_IGNORE_END(); },
             [&] { write_plain(); });
    else if (is("ignored-before"))
        both([&] { ANYORDER_IGNORE_BEGIN(); if (!is_on) ANYORDER_IGNORE_END(); write_plain(); if (is_on) ANYORDER_IGNORE_END(); },
             [&] { write_plain(); });
    else if (is("benign"))
        both([&] { if (is_on) ANYORDER_BENIGN_RACE(&shared, sizeof shared, "a guess"); write_plain(); },
             [&] { write_plain(); });
    else if (is("put"))
        both([&] { put(one, 1, 10); }, [&] { put(one, is_on ? 2 : 1, 20); });
    else if (is("objects"))
        both([&] { put(one, 1, 10); }, [&] { put(is_on ? other : one, 1, 20); });
    else if (is("new-object"))
        both([&] { put(one, 1, 10); }, [&] { if (is_on) ANYORDER_OBJECT(one); put(one, 1, 20); });
    else if (is("adds"))
        both([&] { add(one); }, [&] { if (is_on) add(one); else ANYORDER_INVOKE(one, "counter", "get", ANYORDER_RESULT(1)); });
    else if (is("left"))
        both([&] { leave(one); put(one, 1, 10); }, [&] { put(one, 2, 20); });
    else if (is("fork")) {
        put(one, 1, 10);
        pid_t child = fork();
        if (child == 0) {
            both([&] { put(one, 1, 10); }, [&] { put(one, is_on ? 2 : 1, 20); });
            exit(0);
        }
        waitpid(child, nullptr, 0);
    } else if (is("tsan-order"))
        both([&] { write_plain(); if (is_on) AnnotateHappensBefore(__FILE__, __LINE__, one); },
             [&] { if (is_on) AnnotateHappensAfter(__FILE__, __LINE__, one); write_plain(); });
    else if (is("release"))
        both([&] { write_plain(); if (is_on) __tsan_release(one); },
             [&] { if (is_on) __tsan_acquire(one); write_plain(); });
    else if (is("tsan-ignored"))
        both([&] { if (is_on) AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
                   if (is_on) AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
                   write_plain();
                   if (is_on) AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
                   if (is_on) AnnotateIgnoreWritesEnd(__FILE__, __LINE__); },
             [&] { write_plain(); });
    else if (is("tsan-benign"))
        both([&] { if (is_on) AnnotateBenignRaceSized(__FILE__, __LINE__, &shared, 4, ""); write_plain(); },
             [&] { write_plain(); });
    else if (is("lock")) {
        both([&] { annotated_lock(is_on); }, [&] { annotated_lock(is_on); });
    } else if (is("rwlock"))
        both([&] { rwlock(is_on, true); }, [&] { rwlock(is_on, true); });
    else if (is("shared-lock"))
        both([&] { rwlock(true, is_on); }, [&] { rwlock(true, is_on); });
    else if (is("lock-order"))
        both([&] { two_locks(&own_lock, &other_lock); },
             [&] { if (is_on) two_locks(&own_lock, &other_lock); else two_locks(&other_lock, &own_lock); });
    else if (is("destroyed")) {
        __tsan_mutex_create(&own_lock, 0);
        std::thread user([&] { annotated_lock(true); set(1); });
        until(1);
        if (is_on)
            user.join();
        __tsan_mutex_destroy(&own_lock, 0);
        if (!is_on)
            user.join();
    } else
        return 9;
    std::puts("done");
    return 0;
}
