#pragma once
#include <utility>

namespace trainrt {

/// Runs work on rank 0 only. The constructor compares the rank with 0, so that callers need no branch of their own.
class RankZero {
 public:
  explicit RankZero(int rank) : is_here_(rank == 0) {}

  /// Calls `work` on rank 0; does nothing on the other ranks.
  template <class Work>
  void run(Work&& work) const {
    if (is_here_) std::forward<Work>(work)();
  }

 private:
  bool is_here_;
};

}  // namespace trainrt
