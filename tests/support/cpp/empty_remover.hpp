#pragma once
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

namespace trainrt::test {

/// Removes each of the given directories whenever it is empty, in its own thread, until this object is destroyed.
class EmptyRemover {
 public:
  explicit EmptyRemover(std::vector<std::string> directories)
      : thread_([this, directories = std::move(directories)] {
          while (!is_done_) {
            for (const auto& directory : directories) removed_ += ::rmdir(directory.c_str()) == 0;
            std::this_thread::sleep_for(std::chrono::microseconds(20));
          }
        }) {}
  ~EmptyRemover() {
    is_done_ = true;
    thread_.join();
  }
  EmptyRemover(const EmptyRemover&) = delete;

  long removed() const { return removed_; }

 private:
  std::atomic<bool> is_done_ = false;
  std::atomic<long> removed_ = 0;
  std::thread thread_;  // the last member, because it uses the others
};

}  // namespace trainrt::test
