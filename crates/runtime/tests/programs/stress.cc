// Everything at once, with what goes wrong easily: signals at any instruction, threads that end, that
// are cancelled and that are left alone, forks in between, jumps and exceptions, many locks.
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static const int THREADS = 1000, LOCKS = 10000;
static std::vector<pthread_mutex_t> locks(LOCKS);
static std::vector<long> values(LOCKS);
static std::atomic<long> total, ticks;
static long in_handler[64];

static void tick(int) {
    ticks++;
    for (int index = 0; index < 64; index++) in_handler[index] += index;
    errno = 5;
}

__attribute__((noinline)) static void jump(jmp_buf &target, int depth) {
    volatile char room[100];
    room[depth] = 1;
    if (depth == 0) longjmp(target, 1);
    jump(target, depth - 1);
    room[depth] = 2;
}

__attribute__((noinline)) static int fail(int depth) {
    std::string kept(depth, 'x');
    if (depth == 0) throw std::runtime_error("fail");
    return fail(depth - 1) + kept.size();
}

static void work(int number) {
    jmp_buf target;
    for (int index = 0; index < 10; index++) {
        int lock = (number * 10 + index) % LOCKS;
        pthread_mutex_lock(&locks[lock]);
        values[lock]++;
        pthread_mutex_unlock(&locks[lock]);
        auto block = std::make_shared<std::vector<int>>(50 + index, number);
        total += (*block)[index] == number;
        if (!setjmp(target)) jump(target, index);
        try { fail(index); } catch (std::exception &) {}
    }
}

static void *endless(void *) {
    long sum = 0;
    for (;;) { sum += values[sum % LOCKS]; pthread_testcancel(); }
    return nullptr;
}

int main() {
    for (auto &lock : locks) pthread_mutex_init(&lock, nullptr);
    struct sigaction action {};
    action.sa_handler = tick;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    struct itimerval every = {{0, 300}, {0, 300}};
    setitimer(ITIMER_REAL, &every, nullptr);
    for (int round = 0; round < THREADS / 50; round++) {
        std::vector<std::thread> threads;
        for (int index = 0; index < 50; index++) threads.emplace_back(work, round * 50 + index);
        for (auto &thread : threads) thread.join();
    }
    every.it_interval.tv_usec = every.it_value.tv_usec = 20000;
    setitimer(ITIMER_REAL, &every, nullptr);
    for (int round = 0; round < 5; round++) {
        pthread_t threads[2];
        pthread_create(&threads[0], nullptr, endless, nullptr);
        pthread_create(&threads[1], nullptr, endless, nullptr);
        usleep(500);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) { std::thread thread(work, round); thread.join(); _exit(9); }
        int status = 0;
        while (waitpid(child, &status, 0) < 0) {}
        if (WEXITSTATUS(status) != 9) return 1;
        for (auto &thread : threads) { pthread_cancel(thread); pthread_join(thread, nullptr); }
    }
    signal(SIGALRM, SIG_IGN);
    long sum = 0;
    for (long value : values) sum += value;
    printf("%ld %ld %d\n", sum, total.load(), ticks > 0);
    // Threads that still run when the process ends.
    for (int index = 0; index < 3; index++) std::thread([] { endless(nullptr); }).detach();
    return 4;
}
