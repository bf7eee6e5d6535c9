#pragma once
#include <atomic>
#include <thread>

#include <sys/types.h>

namespace trainrt::program {

/// Notes when a child process ends, to the moment, whatever the train thread waits for meanwhile. It leaves the child to be
/// reaped by others, and must not live longer than the child and who reaps it.
class EndWatch {
 public:
  explicit EndWatch(pid_t child);
  ~EndWatch();  ///< waits for the child's end
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

  /// Seconds since the end; 0 if it has not been seen yet. Any thread.
  double age_s() const;

 private:
  std::atomic<double> ended_at_s_ = -1;  // by the steady clock; < 0: not yet
  std::thread thread_;                   // last: it uses the rest
};

}  // namespace trainrt::program
