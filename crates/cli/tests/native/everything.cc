// Everything that makes a runtime stumble, in a program without a mistake: it must print the same
// and end the same under `anyorder run` as without, and nothing may be reported. The first argument
// chooses a part, `all` has them all. With `-DPLUGIN` this is the library that it loads.

#ifdef PLUGIN

static int calls;
struct Last {
    ~Last() { calls = -1; }
};
static thread_local int own = 40;
extern "C" int plugin(int value) {
    static Last last;
    own += value;
    return calls++ >= 0 ? own : -1;
}

#else

#include "everything.h"

#include <atomic>
#include <condition_variable>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore.h>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

static std::mutex m;
static std::condition_variable changed;
static long total;

static void add(long value) {
    std::lock_guard<std::mutex> guard(m);
    total += value;
    changed.notify_all();
}

static long taken(long wanted) {
    std::unique_lock<std::mutex> lock(m);
    changed.wait(lock, [&] { return total >= wanted; });
    return std::exchange(total, 0);
}

// Threads that begin and end: joined, detached, by return and by `pthread_exit`.
static void *leaves(void *value) {
    add(1);
    if ((long)value % 2)
        pthread_exit(value);
    return value;
}

static long threads() {
    long sum = 0;
    for (long wave = 0; wave < 20; wave++) {
        pthread_t all[10];
        for (long i = 0; i < 10; i++)
            pthread_create(&all[i], NULL, leaves, (void *)(wave * 10 + i));
        for (pthread_t one : all) {
            void *result;
            pthread_join(one, &result);
            sum += (long)result;
        }
        pthread_t detached;
        pthread_create(&detached, NULL, leaves, (void *)wave);
        pthread_detach(detached);
    }
    return sum + taken(220);
}

// A child of a fork goes on with threads of its own, from a process with others.
static long forks() {
    std::thread other([] { taken(1); });
    long sum = 0;
    for (int i = 0; i < 4; i++) {
        pid_t child = fork();
        if (child == 0) {
            long of_child = 0;
            std::vector<std::thread> all;
            std::mutex lock;
            for (int j = 0; j < 4; j++)
                all.emplace_back([&] {
                    std::lock_guard<std::mutex> guard(lock);
                    of_child++;
                });
            for (auto &one : all)
                one.join();
            if (i == 3)
                abort();
            _exit(i * 10 + of_child);
        }
        int status = 0;
        waitpid(child, &status, 0);
        sum += WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
    }
    add(1);
    other.join();
    return sum;
}

// A library with code that is checked comes and goes, and its memory with it.
static std::string folder;
static long libraries() {
    long sum = 0;
    for (int i = 0; i < 5; i++) {
        void *library = dlopen((folder + "/plugin.so").c_str(), RTLD_NOW);
        if (!library)
            return -1;
        auto plugin = (int (*)(int))dlsym(library, "plugin");
        std::mutex lock;
        auto works = [&] {
            std::lock_guard<std::mutex> guard(lock);
            sum += plugin(i);
        };
        std::thread a(works), b(works);
        a.join();
        b.join();
        sum += plugin(1);
        dlclose(library);
    }
    return sum;
}

// Jumps out of many calls, again and again, in several threads.
static int dives(jmp_buf &target, int depth, int value) {
    volatile int here = value;
    if (depth == 0)
        longjmp(target, value);
    return dives(target, depth - 1, value + 1) + here;
}

static long jumps() {
    std::atomic<long> sum{0};
    auto works = [&] {
        jmp_buf target;
        for (volatile int i = 0; i < 50; i++) {
            int value = setjmp(target);
            if (value)
                sum += value;
            else
                dives(target, 40, i);
        }
    };
    std::thread a(works), b(works);
    works();
    a.join();
    b.join();
    return sum;
}

// Exceptions through checked frames, with destructors; caught, thrown again, carried to others.
struct Counts {
    long &count;
    ~Counts() { count++; }
};

static void throws(int depth, long &count) {
    Counts counts{count};
    if (depth == 0)
        throw std::runtime_error("deep");
    try {
        throws(depth - 1, count);
    } catch (const std::logic_error &) {
        count = -1;
    }
}

static long exceptions() {
    long sum = 0;
    auto works = [](long *count) {
        for (int i = 0; i < 30; i++) {
            try {
                throws(i, *count);
            } catch (std::exception &error) {
                *count += strlen(error.what());
                try {
                    throw;
                } catch (std::runtime_error &) {
                }
            }
        }
    };
    long counts[3] = {};
    std::thread a(works, &counts[0]), b(works, &counts[1]);
    works(&counts[2]);
    a.join();
    b.join();
    auto later = std::async(std::launch::async, [] { throw 7; });
    try {
        later.get();
    } catch (int value) {
        sum += value;
    }
    std::exception_ptr kept;
    std::thread([&] {
        try {
            long count = 0;
            throws(3, count);
        } catch (...) {
            kept = std::current_exception();
        }
    }).join();
    try {
        std::rethrow_exception(kept);
    } catch (std::runtime_error &error) {
        sum += strlen(error.what());
    }
    return sum + counts[0] + counts[1] + counts[2];
}

// Handlers that use memory, while threads do; on a stack of their own; one that jumps.
static thread_local volatile long handled;
static sem_t has_handled;
static thread_local sigjmp_buf back;

static void on_user(int) {
    handled = handled + 1;
    sem_post(&has_handled);
}

static void on_fault(int, siginfo_t *info, void *) {
    handled = handled + ((long)info->si_addr == 0x40);
    siglongjmp(back, 1);
}

static void on_alarm(int) {
    volatile long seen = handled;
    (void)seen;
}

static long signals() {
    struct sigaction action = {};
    action.sa_handler = on_user;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    struct sigaction fault = {};
    fault.sa_sigaction = on_fault;
    fault.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigfillset(&fault.sa_mask);
    sigaction(SIGSEGV, &fault, NULL);
    itimerval time = {{0, 500}, {0, 500}};
    setitimer(ITIMER_REAL, &time, NULL);
    sem_init(&has_handled, 0, 0);
    std::atomic<long> own{0}, faults{0};
    std::atomic<bool> stop{false};
    auto works = [&] {
        std::vector<char> stack(64 << 10);
        stack_t alternate = {};
        alternate.ss_sp = stack.data();
        alternate.ss_size = stack.size();
        sigaltstack(&alternate, NULL);
        for (int i = 0; i < 20; i++)
            if (sigsetjmp(back, 1) == 0)
                *(volatile int *)0x40 = 1;
            else
                faults++;
        std::map<int, std::string> all;
        for (int i = 0; !stop; i++) {
            // Enough is enough: the run is looked at later.
            if (i > 1000) {
                usleep(100);
                continue;
            }
            all[i % 50] += "x";
            if (all[i % 50].size() > 30)
                all.erase(i % 50);
        }
        own += handled;
        alternate.ss_flags = SS_DISABLE;
        sigaltstack(&alternate, NULL);
    };
    std::thread a(works), b(works);
    for (long i = 0; i < 200; i++) {
        pthread_kill(i % 2 ? a.native_handle() : b.native_handle(), SIGUSR1);
        while (sem_wait(&has_handled) != 0)
            ;
    }
    stop = true;
    a.join();
    b.join();
    time = {};
    setitimer(ITIMER_REAL, &time, NULL);
    signal(SIGSEGV, SIG_DFL);
    return own + faults;
}

// Destructors of thread-local objects, of C++ and by key, some of which make the next round.
struct Local {
    std::string text = "made";
    ~Local() { add(text.size()); }
};
static thread_local Local local;
static pthread_key_t key;

static void of_key(void *value) {
    add(1);
    if ((long)value > 1)
        pthread_setspecific(key, (void *)((long)value - 1));
}

static long locals() {
    // Some compilers make all thread-local objects of a file at the first use of one.
    taken(0);
    pthread_key_create(&key, of_key);
    std::vector<std::thread> all;
    for (long i = 0; i < 10; i++)
        all.emplace_back([i] {
            local.text += std::to_string(i);
            pthread_setspecific(key, (void *)3L);
        });
    for (auto &one : all)
        one.join();
    pthread_key_delete(key);
    return taken(0);
}

// What the standard library has for threads.
struct Difficult {
    int value;
    explicit Difficult(int &attempts) {
        if (++attempts < 4)
            throw attempts;
        value = attempts;
    }
};

static int difficult(int &attempts) {
    for (;;) {
        try {
            static Difficult object(attempts);
            return object.value;
        } catch (int) {
        }
    }
}

static long standard() {
    long sum = 0;
    std::shared_mutex shared;
    std::once_flag once;
    std::condition_variable_any any;
    bool is_ready = false;
    int attempts = 0;
    auto works = [&](int i) {
        try {
            std::call_once(once, [&] {
                if (++attempts < 3)
                    throw attempts;
            });
        } catch (int) {
        }
        if (i % 2) {
            std::shared_lock<std::shared_mutex> lock(shared);
            any.wait(lock, [&] { return is_ready; });
        } else {
            std::unique_lock<std::shared_mutex> lock(shared);
            sum += i;
            is_ready = true;
            any.notify_all();
        }
    };
    std::vector<std::thread> all;
    for (int i = 0; i < 8; i++)
        all.emplace_back(works, i);
    for (auto &one : all)
        one.join();
    std::promise<std::unique_ptr<int>> promise;
    auto future = promise.get_future();
    std::thread fulfils([&] { promise.set_value(std::make_unique<int>(5)); });
    sum += *future.get();
    fulfils.join();
    std::timed_mutex timed;
    timed.lock();
    std::thread([&] { sum += timed.try_lock_for(std::chrono::milliseconds(5)) ? 100 : 1; }).join();
    timed.unlock();
    std::recursive_mutex recursive;
    std::function<void(int)> nested = [&](int depth) {
        std::lock_guard<std::recursive_mutex> guard(recursive);
        sum++;
        if (depth)
            nested(depth - 1);
    };
    std::thread c([&] { nested(5); });
    nested(5);
    c.join();
    auto pointer = std::make_shared<std::string>("shared");
    std::vector<std::thread> users;
    for (int i = 0; i < 4; i++)
        users.emplace_back([copy = pointer] { add(copy->size()); });
    pointer.reset();
    for (auto &one : users)
        one.join();
    int to_make = 0;
    auto makes = [&] { add(difficult(to_make)); };
    std::thread d(makes), e(makes);
    d.join();
    e.join();
    return sum + taken(32) + attempts;
}

// What runs at the end, also of threads that are still there.
struct AtEnd {
    ~AtEnd() { printf("static object: %d\n", 1); }
};
static AtEnd at_end;

static void first_registered() { puts("registered first"); }
static void last_registered() {
    puts("registered last");
    std::thread([] { puts("a thread at the end"); }).join();
}

static long ends() {
    atexit(first_registered);
    atexit(last_registered);
    // The object of a static condition would be destroyed while the thread waits.
    std::thread([] {
        std::unique_lock<std::mutex> lock(m);
        for (auto never = new std::condition_variable;;)
            never->wait(lock);
    }).detach();
    return 0;
}

int main(int argc, char **argv) {
    const std::string which = argc > 1 ? argv[1] : "all";
    folder = argv[0];
    folder.resize(folder.rfind('/'));
    const std::pair<const char *, long (*)()> parts[] = {
        {"threads", threads},       {"forks", forks},
        {"libraries", libraries},   {"jumps", jumps},
        {"exceptions", exceptions}, {"signals", signals},
        {"locals", locals},         {"standard", standard},
        {"cancels", cancels},       {"crowd", crowd},
        {"locks", locks},           {"reuse", reuse},
        {"kinds", kinds},           {"c11", c11},
        {"ends", ends},
    };
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (auto [name, part] : parts)
        if (which == "all" || which == name)
            printf("%s: %ld\n", name, part());
    return 17;
}

#endif
