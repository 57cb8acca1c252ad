// A race inside of a container of the library, in two instances of one template, and a lock on the
// heap that is freed while it may still be used.

#include <mutex>
#include <pthread.h>
#include <unistd.h>
#include <vector>

struct Pool {
    std::mutex mutex;
    long count = 0;
};

static std::vector<long> values;
static Pool *pool = new Pool;

template <typename T> __attribute__((noinline)) static void put(T value) {
    values.push_back(value); // put
}

static void *work(void *arg) {
    put<int>(1);
    put<short>(2);
    std::lock_guard<std::mutex> guard(pool->mutex); // use
    pool->count++;
    return arg;
}

int main() {
    pthread_t thread;
    values.reserve(8);
    pthread_create(&thread, nullptr, work, nullptr);
    usleep(50000);
    bool is_empty = values.empty(); // look
    delete pool; // free
    pthread_join(thread, nullptr);
    return is_empty ? 9 : 0;
}
