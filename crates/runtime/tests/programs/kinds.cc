// Does everything that the recording has a kind for.
#include "../../../native/include/anyorder.h"
#include <atomic>
#include <condition_variable>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <semaphore.h>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <threads.h>
#include <unistd.h>
#include <vector>

extern "C" void AnnotateHappensBefore(const char *, int, const volatile void *);
extern "C" void AnnotateHappensAfter(const char *, int, const volatile void *);
extern "C" void __tsan_acquire(void *);
extern "C" void __tsan_release(void *);

struct Base { virtual ~Base() {} int field = 0; };
struct Derived : Base { int more = 1; };
struct Big { char bytes[300]; };

static std::mutex mutex;
static std::condition_variable condition;
static bool ready;
static std::atomic<int> number;
static std::shared_mutex shared;
static std::once_flag once;
static sem_t semaphore;
static pthread_barrier_t barrier;
static pthread_spinlock_t spin;
static jmp_buf here;
static sigjmp_buf back;
static volatile int hits;
static Big big, other;

static int deep(int depth) {
    if (depth == 0) throw std::runtime_error("deep");
    volatile int kept = depth;
    return deep(depth - 1) + kept;
}

__attribute__((noinline)) static void jump(int depth) {
    volatile int kept = depth;
    if (depth == 0) longjmp(here, 1);
    jump(depth - 1);
    kept = kept + 1;
}

static void count(int) { hits = hits + 1; }
static void leave(int) { siglongjmp(back, 1); }
static Base &only() { static Derived value; return value; }

static void *wait_for_ever(void *) {
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    pthread_mutex_lock(&own);
    pthread_cleanup_push([](void *own) { pthread_mutex_unlock((pthread_mutex_t *)own); }, &own);
    for (;;) pthread_cond_wait(&never, &own);
    pthread_cleanup_pop(1);
    return nullptr;
}

static void locks() {
    shared.lock_shared(); shared.unlock_shared();
    shared.lock(); shared.unlock();
    pthread_spin_init(&spin, 0); pthread_spin_lock(&spin); pthread_spin_unlock(&spin);
    pthread_spin_destroy(&spin);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_t recursive;
    pthread_mutex_init(&recursive, &attributes);
    pthread_mutex_lock(&recursive); pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive); pthread_mutex_unlock(&recursive);
    pthread_mutex_destroy(&recursive);
    mutex.lock();
    std::thread refused([] { printf("try %d\n", mutex.try_lock()); });
    refused.join();
    std::thread asks([] { mutex.lock(); mutex.unlock(); });
    usleep(20000);
    mutex.unlock();
    asks.join();
    mtx_t plain; mtx_init(&plain, mtx_plain); mtx_lock(&plain); mtx_unlock(&plain); mtx_destroy(&plain);
}

static void conditions() {
    std::thread waits([] {
        std::unique_lock<std::mutex> lock(mutex);
        condition.wait(lock, [] { return ready; });
    });
    usleep(20000);
    { std::lock_guard<std::mutex> lock(mutex); ready = true; }
    condition.notify_one(); condition.notify_all();
    waits.join();
    std::unique_lock<std::mutex> lock(mutex);
    condition.wait_for(lock, std::chrono::milliseconds(1));
    lock.unlock();
    pthread_cond_t own = PTHREAD_COND_INITIALIZER;
    pthread_cond_destroy(&own);
    pthread_t thread; void *value;
    pthread_create(&thread, nullptr, wait_for_ever, nullptr);
    usleep(20000);
    pthread_cancel(thread); pthread_join(thread, &value);
    printf("cancelled %d\n", value == PTHREAD_CANCELED);
}

static void counters() {
    sem_init(&semaphore, 0, 0); pthread_barrier_init(&barrier, nullptr, 2);
    printf("refused %d\n", sem_trywait(&semaphore));
    std::thread posts([] { usleep(10000); sem_post(&semaphore); pthread_barrier_wait(&barrier); });
    sem_wait(&semaphore); pthread_barrier_wait(&barrier); posts.join();
    sem_destroy(&semaphore); pthread_barrier_destroy(&barrier);
    thrd_t thread; int result;
    thrd_create(&thread, [](void *) { return 7; }, nullptr); thrd_join(thread, &result);
    std::thread(([] {})).detach();
    printf("c11 %d\n", result);
}

static void memory() {
    number++; number.store(2, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    int expected = 2; number.compare_exchange_strong(expected, 3); printf("%d\n", number.load());
    other = big;
    Base *object = new Derived; object->field = 2; delete object;
    only().field = 3; only().field = 4;
    std::call_once(once, [] { puts("once"); }); std::call_once(once, [] {});
    std::vector<std::string> strings;
    for (int index = 0; index < 20; index++) strings.push_back(std::string(index * 10, 'a') + "b");
    char *copy = strdup(strings[3].c_str()); printf("%zu %d\n", strlen(copy), strcmp(copy, "aaa") > 0);
    copy = (char *)realloc(copy, 5000); memset(copy, 1, 5000); free(copy);
    void *aligned; printf("%d\n", posix_memalign(&aligned, 64, 100)); free(aligned);
    AnnotateHappensBefore(__FILE__, __LINE__, &big); AnnotateHappensAfter(__FILE__, __LINE__, &big);
    __tsan_release(&big); __tsan_acquire(&big);
    ANYORDER_BENIGN_RACE(&big, sizeof big, "no other thread uses it");
    ANYORDER_OBJECT(&big);
    ANYORDER_INVOKE(&big, "counter", "add", ANYORDER_NONE, 1);
}

static void jumps() {
    try { deep(5); } catch (std::exception &error) { printf("caught %s\n", error.what()); }
    if (!setjmp(here)) jump(10); else puts("jumped");
    signal(SIGUSR1, count); raise(SIGUSR1); printf("hits %d\n", hits);
    struct sigaction action {}, before {};
    action.sa_handler = leave;
    sigaction(SIGSEGV, &action, &before);
    printf("default %d\n", before.sa_handler == SIG_DFL);
    if (!sigsetjmp(back, 1)) *(volatile int *)8 = 1; else puts("left the handler");
    printf("ours %d\n", signal(SIGSEGV, SIG_DFL) == leave);
}

static void descriptors() {
    int ends[2], status; char buffer[3] = {0};
    if (pipe(ends)) return;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) { number++; if (write(ends[1], "hi", 2) < 0) _exit(1); _exit(5); }
    if (read(ends[0], buffer, 2) < 0) return;
    waitpid(child, &status, 0);
    printf("child %s %d\n", buffer, WEXITSTATUS(status));
    int event = eventfd(0, 0), epoll = epoll_create1(0);
    struct epoll_event what {}; what.events = EPOLLIN;
    epoll_ctl(epoll, EPOLL_CTL_ADD, event, &what);
    eventfd_write(event, 1); printf("ready %d\n", epoll_wait(epoll, &what, 1, -1));
    close(event); close(epoll); close(ends[0]); close(ends[1]);
    printf("library %d\n", dlopen("libresolv.so.2", RTLD_NOW) != nullptr);
}

int main(int count, char **arguments) {
    locks(); conditions(); counters(); memory(); jumps(); descriptors();
    fflush(stdout);
    if (count > 1 && !strcmp(arguments[1], "crash")) *(volatile int *)16 = 1;
    if (count > 1 && !strcmp(arguments[1], "abort")) abort();
    return 3;
}
