#pragma once
#include <span>

#include "launch/launcher.hpp"

namespace trainrt::launch {

/// Launch of a subset of the ranks of another Launch, with its own World and rank numbers. abort() ends all ranks of the
/// other Launch, not only those of the subset.
class SliceLaunch : public Launch {
 public:
  /// `members` lists the ranks of `parent` that belong to the subset, in the order of their new rank numbers. The calling
  /// rank must be one of them. `parent` must outlive this object, and its World must have a complete `node_of_rank`.
  SliceLaunch(Launch& parent, std::span<const int> members);

  void abort(int code) noexcept override { parent_.abort(code); }

 private:
  Launch& parent_;
};

}  // namespace trainrt::launch
