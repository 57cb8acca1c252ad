/* A map of our own that several threads use. Its methods tell `anyorder run` what they are, so that
   the report is about the map, not about the memory inside of it:

   - two workers put different keys: the order makes no difference, and nothing is reported.
   - with -DSAME_KEY, they put one key. Which value stays depends on the order, although a lock
     protects the map: no race detector reports that.

   c++ -g -O1 -fsanitize=thread -pthread -I crates/native/include -o map examples/native/map.cc
   anyorder run ./map */

#include <anyorder.h>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

class Map {
public:
    /* Returns whether the key had a value, and puts that into `before`. */
    bool put(long key, long value, long &before) {
        ANYORDER_INVOKE_BEGIN(this, "map", "put", key, value);
        std::unique_lock<std::mutex> lock(mutex);
        auto [at, is_new] = values.try_emplace(key, value);
        before = at->second;
        at->second = value;
        lock.unlock();
        ANYORDER_INVOKE_END(this, is_new ? ANYORDER_NONE : ANYORDER_RESULT(before));
        return !is_new;
    }

private:
    std::mutex mutex;
    std::map<long, long> values;
};

static Map prices;

static void work(long key, long value) {
    long before;
    prices.put(key, value, before);
}

int main() {
#ifdef SAME_KEY
    std::thread first(work, 1, 10), second(work, 1, 20);
#else
    std::thread first(work, 1, 10), second(work, 2, 20);
#endif
    first.join();
    second.join();
    std::puts("done");
}
