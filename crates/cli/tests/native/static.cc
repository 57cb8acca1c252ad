// All forms of `new` and `delete`, exceptions and static variables, with two mistakes: a race, and a
// block that can be used after it is given back.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct alignas(64) Wide {
    char bytes[64];
};

static int shared;
static std::mutex mutex;
static int *block;

static void all_forms() {
    delete new int(1);
    delete[] new int[8];
    delete new Wide;
    delete[] new Wide[2];
    int *one = new (std::nothrow) int(2);
    ::operator delete(one, std::nothrow);
    Wide *wide = new (std::nothrow) Wide;
    ::operator delete(wide, std::align_val_t(64), std::nothrow);
    if (reinterpret_cast<std::size_t>(new Wide) % 64)
        std::abort();
    static const std::string text(100, 'x');
    std::vector<std::string> texts(10, text);
    try {
        throw std::runtime_error(texts.back());
    } catch (const std::exception &error) {
        if (error.what() != text)
            std::abort();
    }
}

int main() {
    all_forms();
    block = new int(7);
    std::thread other([] {
        all_forms();
        shared++;
        std::lock_guard<std::mutex> guard(mutex);
        if (*block != 7)
            std::abort();
    });
    shared++;
    // The use usually comes first.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    {
        std::lock_guard<std::mutex> guard(mutex);
        delete block;
    }
    other.join();
    std::puts("done");
}
