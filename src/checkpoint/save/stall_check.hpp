#pragma once
#include <cstdint>
#include <string>

namespace trainrt::checkpoint {

/// Detects that a save is stuck: no byte was written for a given time. Must be used by one thread at a time.
class StallCheck {
 public:
  /// `what`: beginning of the error message, for example "writing 'PATH'". `limit_s`: maximum number of seconds without
  /// progress. `bytes_done`: number of bytes written so far.
  StallCheck(std::string what, double limit_s, std::uint64_t bytes_done);
  /// Throws SaveStalled if the number of bytes written so far, `bytes_done`, has not changed for more than `limit_s`
  /// seconds.
  void require_progress(std::uint64_t bytes_done);

 private:
  std::string what_;
  double limit_s_;
  std::uint64_t seen_;
  double since_s_;
};

}  // namespace trainrt::checkpoint
