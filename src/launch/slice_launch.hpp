#pragma once
#include <span>

#include "launch/launcher.hpp"

namespace trainrt::launch {

/// Some of a launch's ranks, which work by themselves: a world with numbers of its own. What ends it ends them all.
class SliceLaunch : public Launch {
 public:
  /// `members`: ranks of `whole`, this one among them, in the order of their new numbers. `whole` must live as long, and
  /// its topology be complete.
  SliceLaunch(Launch& whole, std::span<const int> members);

  void abort(int code) noexcept override { whole_.abort(code); }

 private:
  Launch& whole_;
};

}  // namespace trainrt::launch
