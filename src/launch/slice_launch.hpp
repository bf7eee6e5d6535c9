#pragma once
#include <span>

#include "launch/launcher.hpp"

namespace trainrt::launch {

/// A subset of the ranks of another Launch, with a World and rank numbers of its own. abort() ends all ranks of the other
/// Launch.
class SliceLaunch : public Launch {
 public:
  /// `members` are the ranks of `parent` in the subset, in the order of their new numbers; this rank must be one of them.
  /// `parent` must outlive this object, and its World must have a complete `node_of_rank`.
  SliceLaunch(Launch& parent, std::span<const int> members);

  void abort(int code) noexcept override { parent_.abort(code); }

 private:
  Launch& parent_;
};

}  // namespace trainrt::launch
