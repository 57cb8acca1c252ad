// Synchronisation of C++20, which the library makes of atomics: each part by its name.

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <deque>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

static int data[4];
static std::mutex mutex;

// Each of four threads writes, and the first ones count down; `main` waits for these.
static int counted(int waits_for) {
    std::latch done(waits_for);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back([=, &done] {
            data[i] = i; // writes
            if (i < waits_for) done.count_down();
        });
    done.wait();
    int sum = 0;
    for (int one : data) sum += one; // sums
    return sum >= 0 ? 0 : 9;
}

// Two threads put items into slots of their own, and tell a third one.
static int produced() {
    std::counting_semaphore<8> items(0);
    long sum = 0;
    std::jthread one([&] { data[0] = 1; items.release(); });
    std::jthread two([&] { data[1] = 2; items.release(); });
    std::jthread taker([&] {
        items.acquire();
        items.acquire();
        sum = data[0] + data[1];
    });
    taker.join();
    return sum == 3 ? 0 : 9;
}

static int rounds() {
    std::barrier all(3);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([i, &all] {
            for (int round = 0; round < 4; round++) {
                data[i] += round;
                all.arrive_and_wait();
                (void)*(volatile int *)&data[(i + 1) % 3];
                all.arrive_and_wait();
            }
        });
    return 0;
}

static int told(std::memory_order order) {
    std::atomic<int> flag{0};
    std::thread thread([&] { data[0] = 5; flag.store(1, order); flag.notify_one(); }); // tells
    flag.wait(0, std::memory_order_acquire);
    int got = data[0]; // looks
    thread.join();
    return got == 5 ? 0 : 9;
}

static int stopped() {
    std::condition_variable_any condition;
    std::deque<int> queue;
    long sum = 0;
    std::jthread worker([&](std::stop_token stop) {
        std::unique_lock lock(mutex);
        while (condition.wait(lock, stop, [&] { return !queue.empty(); })) {
            sum += queue.front();
            queue.pop_front();
        }
    });
    for (int i = 0; i < 5; i++) {
        std::lock_guard guard(mutex);
        queue.push_back(i);
        condition.notify_one();
    }
    worker.request_stop();
    worker.join();
    return sum >= 0 ? 0 : 9;
}

struct Job {
    std::mutex mutex;
    std::condition_variable condition;
    bool ready = false;
};

// `main` frees the job as soon as it is done. Who tells that must not touch it afterwards.
static int done(bool notifies_late) {
    Job *job = new Job;
    std::thread thread([=] {
        std::unique_lock lock(job->mutex);
        job->ready = true;
        if (notifies_late) lock.unlock();
        job->condition.notify_one(); // notifies
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(100)); // It is ready then.
    {
        std::unique_lock lock(job->mutex);
        job->condition.wait(lock, [=] { return job->ready; });
    }
    if (!notifies_late) thread.join();
    delete job; // frees
    if (notifies_late) thread.join();
    return 0;
}

static int promised() {
    std::vector<std::future<std::string>> futures;
    for (int i = 0; i < 4; i++)
        futures.push_back(std::async(std::launch::async, [i] { return std::to_string(i); }));
    size_t length = 0;
    for (auto &future : futures) length += future.get().size();
    std::promise<int> promise;
    std::thread thread([&] { promise.set_value(7); });
    length += promise.get_future().get();
    thread.join();
    return length == 11 ? 0 : 9;
}

int main(int, char **arguments) {
    std::string part = arguments[1];
    if (part == "counted") return counted(4);
    if (part == "counted-too-few") return counted(3);
    if (part == "produced") return produced();
    if (part == "rounds") return rounds();
    if (part == "told") return told(std::memory_order_release);
    if (part == "told-relaxed") return told(std::memory_order_relaxed);
    if (part == "stopped") return stopped();
    if (part == "promised") return promised();
    if (part == "done") return done(false);
    if (part == "done-too-soon") return done(true);
    return 8;
}
