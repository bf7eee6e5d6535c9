#pragma once
#include <deque>
#include <functional>
#include <string>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/load/contents.hpp"
#include "checkpoint/load/read_plan.hpp"

namespace trainrt::checkpoint {

/// Values on their way from a checkpoint into a state, which does not see them before install().
class LoadedValues {
 public:
  /// The plan reads into this, which must stay where it is.
  LoadedValues(const std::vector<const ValueEntry*>& entries, ReadPlan& plan);
  LoadedValues(const LoadedValues&) = delete;

  /// Turns what was read into values of the state's types; those that the checkpoint lacks are left out. UsageError where
  /// one does not fit.
  void decode(const Contents& contents);
  void install() const;

 private:
  struct Read {
    const ValueEntry* entry;
    std::string bytes;
  };
  std::deque<Read> reads_;
  std::vector<std::function<void()>> installs_;
};

}  // namespace trainrt::checkpoint
