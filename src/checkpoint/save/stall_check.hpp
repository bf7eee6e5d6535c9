#pragma once
#include <cstdint>
#include <string>

namespace trainrt::checkpoint {

/// Finds out that a save makes no progress. For one thread.
class StallCheck {
 public:
  /// `what`: "writing 'PATH'". `bytes_done`: so far.
  StallCheck(std::string what, double limit_s, std::uint64_t bytes_done);
  /// Throws SaveStalled if there have been no more bytes for longer than the limit.
  void require_progress(std::uint64_t bytes_done);

 private:
  std::string what_;
  double limit_s_;
  std::uint64_t seen_;
  double since_s_;
};

}  // namespace trainrt::checkpoint
