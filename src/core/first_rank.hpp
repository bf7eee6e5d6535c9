#pragma once
#include <utility>

namespace trainrt {

/// What rank 0 alone does for all ranks: decided when this is made, not where the work is.
class FirstRank {
 public:
  explicit FirstRank(int rank) : is_here_(rank == 0) {}

  /// Runs `work` on rank 0, and nothing on the others.
  template <class Work>
  void does(Work&& work) const {
    if (is_here_) std::forward<Work>(work)();
  }

 private:
  bool is_here_;
};

}  // namespace trainrt
