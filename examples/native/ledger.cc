/* A type of our own, whose specification is in ledger.spec: which of its calls commute is known to
   nobody else. Two threads use one account:

   - both deposit: the order makes no difference, and nothing is reported.
   - with -DWITHDRAW, one deposits and one withdraws. Whether there is enough depends on the order,
     although a lock protects the ledger: the report says so.
   - with -DWITHDRAW -DFIXED, the withdrawal begins when the deposit has been made.

   c++ -g -O1 -std=c++17 -fsanitize=thread -pthread -I crates/native/include -o ledger ledger.cc
   anyorder run --spec ledger.spec ./ledger */

#include <anyorder.h>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

class Ledger {
public:
    void deposit(long account, long amount) {
        ANYORDER_INVOKE_BEGIN(this, "ledger", "deposit", account, amount);
        {
            std::lock_guard<std::mutex> guard(mutex);
            amounts[account] += amount;
        }
        ANYORDER_INVOKE_END(this, ANYORDER_NONE);
    }

    /* Returns whether there was enough. */
    bool withdraw(long account, long amount) {
        ANYORDER_INVOKE_BEGIN(this, "ledger", "withdraw", account, amount);
        bool enough;
        {
            std::lock_guard<std::mutex> guard(mutex);
            enough = amounts[account] >= amount;
            if (enough)
                amounts[account] -= amount;
        }
        ANYORDER_INVOKE_END(this, ANYORDER_RESULT(enough));
        return enough;
    }

private:
    std::mutex mutex;
    std::map<long, long> amounts;
};

static Ledger bank;

int main() {
    std::thread first([] { bank.deposit(1, 100); });
#ifdef FIXED
    first.join();
#endif
#ifdef WITHDRAW
    std::thread second([] { bank.withdraw(1, 70); });
#else
    std::thread second([] { bank.deposit(1, 50); });
#endif
#ifndef FIXED
    first.join();
#endif
    second.join();
    std::puts("done");
}
