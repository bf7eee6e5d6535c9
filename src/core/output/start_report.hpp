#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainrt {

/// The durations of the parts of a start, which `--verbose` prints after the first step of a process. Not thread-safe: used
/// on the main thread, which is also the thread that runs the train function.
class StartReport {
 public:
  /// Returns the report of this process. Before enable() is called, the other functions have no effect.
  static StartReport& of_process();

  /// Begins the report with the time from the start of this process to this call. In the first attempt under `trainrt -n`,
  /// the time from the start of `trainrt -n` to the start of this process comes before it.
  void enable();

  /// Ends a part of the start, which began at the end of the previous part.
  void end_part(std::string_view part) {
    if (is_enabled_) add(part);
  }

  /// Ends the part "first step", and logs the report on rank 0. Only the first call has an effect.
  void end_first_step() {
    if (is_enabled_) finish();
  }

  /// Returns the report as text: "0.35 s to the end of the first step: process 0.02 s, config 0.03 s, first step 0.30 s".
  std::string text() const;

 private:
  void add(std::string_view part);
  void finish();

  bool is_enabled_ = false;
  double ended_s_ = 0;  // end of the last part, by seconds_since_process_start()
  std::vector<std::pair<std::string, double>> parts_;
};

}  // namespace trainrt
