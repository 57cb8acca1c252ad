// Objects whose types the specification in specified.spec knows, and others.

#include <anyorder.h>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
#include <unistd.h>

static std::mutex mutex;
static std::condition_variable changed;
static int object;

/* A method's name stands in the code, once for each call. */
#define CALL(method, argument) \
    do { \
        ANYORDER_INVOKE_BEGIN(&object, "tally", method, argument); \
        { std::lock_guard<std::mutex> guard(mutex); } \
        ANYORDER_INVOKE_END(&object, ANYORDER_NONE); \
    } while (0)

static void both(void (*first)(), void (*second)()) {
    std::thread one(first);
    std::thread other(second);
    one.join();
    other.join();
}

/* A cell that is full or empty: `take` waits for `put`. The annotations stand behind the wait, and
   what the cell is made of is not looked at. */
static bool is_full;
static int cell;

static void put() {
    {
        ANYORDER_IGNORE_BEGIN();
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [] { return !is_full; });
        is_full = true;
        changed.notify_all();
        ANYORDER_IGNORE_END();
    }
    ANYORDER_INVOKE(&cell, "cell", "put", ANYORDER_NONE, 1);
}

static void take() {
    usleep(50000);
    {
        ANYORDER_IGNORE_BEGIN();
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [] { return is_full; });
        is_full = false;
        changed.notify_all();
        ANYORDER_IGNORE_END();
    }
    ANYORDER_INVOKE(&cell, "cell", "take", ANYORDER_NONE);
}

static void stranger() {
    int known = 0;
    std::thread one([&] {
        ANYORDER_INVOKE(&known, "abacus", "slide", ANYORDER_NONE, 1);
    });
    std::thread other([&] {
        ANYORDER_INVOKE(&known, "abacus", "slide", ANYORDER_NONE, 2);
    });
    one.join();
    other.join();
}

/* By its methods, a built-in counter. */
static void guessed() {
    static int known;
    std::thread one([] { ANYORDER_INVOKE(&known, "meter", "fetch_add", ANYORDER_RESULT(0), 1); });
    one.join();
}

int main(int, char **arguments) {
    const char *which = arguments[1];
    if (!std::strcmp(which, "add-add"))
        both([] { CALL("add", 1); }, [] { CALL("add", 2); });
    if (!std::strcmp(which, "assign-two"))
        both([] { CALL("assign", 1); }, [] { CALL("assign", 2); });
    if (!std::strcmp(which, "assign-one"))
        both([] { CALL("assign", 1); }, [] { CALL("assign", 1); });
    if (!std::strcmp(which, "ad"))
        both([] { CALL("ad", 1); }, [] { CALL("add", 2); });
    if (!std::strcmp(which, "cell"))
        both(put, take);
    if (!std::strcmp(which, "stranger"))
        stranger();
    if (!std::strcmp(which, "guessed"))
        guessed();
    if (!std::strcmp(which, "arity")) {
        std::thread one([] { ANYORDER_INVOKE(&object, "tally", "add", ANYORDER_NONE, 1, 2); });
        one.join();
    }
    std::puts("done");
}
