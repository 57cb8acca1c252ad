// Counts words in C++: strings, maps, shared pointers, tasks. Usage: words
#include <algorithm>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

using Counts = std::unordered_map<std::string, long>;

static std::shared_ptr<const std::vector<std::string>> lines() {
    auto lines = std::make_shared<std::vector<std::string>>();
    unsigned state = 1;
    for (int i = 0; i < 12000; i++) {
        std::string line;
        for (int j = 0; j < 12; j++) {
            state = state * 1664525 + 1013904223;
            line += "w" + std::to_string((state >> 8) % 3000) + " ";
        }
        lines->push_back(line);
    }
    return lines;
}

int main() {
    auto text = lines();
    std::mutex mutex;
    std::map<std::string, long> all;
    std::vector<std::future<size_t>> tasks;
    for (size_t part = 0; part < 4; part++)
        tasks.push_back(std::async(std::launch::async, [&, text, part] {
            Counts counts;
            for (size_t i = part; i < text->size(); i += 4) {
                std::istringstream words((*text)[i]);
                for (std::string word; words >> word;)
                    counts[word]++;
            }
            std::vector<std::pair<std::string, long>> sorted(counts.begin(), counts.end());
            std::sort(sorted.begin(), sorted.end());
            for (auto &[word, count] : sorted) {
                std::lock_guard<std::mutex> guard(mutex);
                all[word] += count;
            }
            return sorted.size();
        }));
    size_t sum = 0;
    for (auto &task : tasks)
        sum += task.get();
    return sum > all.size() && all.size() == 3000 ? 0 : 1;
}
