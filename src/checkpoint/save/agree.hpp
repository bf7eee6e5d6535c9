#pragma once
#include <cstdint>
#include <string>
#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/layout.hpp"

namespace trainrt::checkpoint {

/// Throws one Error on all ranks, naming entries and ranks, if the States of the ranks differ in entries, dtypes, shapes or
/// placements. Collective; costs one small reduction.
void require_alike(const State& state, Communicator& communicator);

/// Checks before each save that the States of all ranks have the same entries, dtypes, shapes, placements and values, and
/// computes the layout. While names and shapes are unchanged this costs one small reduction; otherwise the ranks exchange
/// their slabs, some tensors at a time. Memory per rank grows with the number of tensors and of ranks that share a file.
class Agreement {
 public:
  Agreement(Communicator& communicator, std::vector<int> file_of_rank)
      : communicator_(communicator), file_of_rank_(std::move(file_of_rank)) {}

  /// The result of update(), the same on all ranks.
  struct Outcome {
    bool new_layout = false;   ///< the layout was computed again
    bool cannot_save = false;  ///< at least one rank cannot save
    bool alike = true;         ///< all ranks passed the same `number`
  };
  enum class Purpose { plan, save };
  /// Compares the States of all ranks, and computes a new layout if names or shapes changed. Values are compared only for
  /// Purpose::save. Passes `cannot_save` and the comparison of `number` on to all ranks. Throws one Error on all ranks,
  /// naming entries and ranks, if the States differ. Collective.
  Outcome update(const State& state, Purpose purpose, bool cannot_save = false, std::int64_t number = 0);

  /// Makes the next update() compute the layout again.
  void forget() { structure_.clear(); }

  const Layout& layout() const { return layout_; }

 private:
  void exchange(const State& state);
  void exchange_slabs(const State& state, LayoutPlanner& planner);
  Communicator& communicator_;
  std::vector<int> file_of_rank_;
  std::string structure_;  // digest of names and shapes on this rank, "" before the first update
  Layout layout_;
};

}  // namespace trainrt::checkpoint
