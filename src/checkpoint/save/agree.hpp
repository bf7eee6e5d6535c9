#pragma once
#include <cstdint>
#include <string>
#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/layout.hpp"

namespace trainrt::checkpoint {

/// Checks that the States of all ranks have the same entries, dtypes, shapes and placements. If not, throws the same Error
/// on all ranks; the message names the entries and ranks that differ. Collective; costs one small all-reduce.
void require_alike(const State& state, Communicator& communicator);

/// Compares the present values of the States of all ranks, without calling the functions of State::before_save(). Returns
/// "" if they are equal; otherwise the differences, one line each, and advice. The States must have passed require_alike().
/// Collective; costs one small all-reduce if the values are equal.
std::string different_values(const State& state, Communicator& communicator);

/// Checks before each save that the States of all ranks match: entries, dtypes, shapes, placements and values. Also
/// computes the layout of the tensors in the shard files.
///
/// A check costs one small all-reduce while names and shapes are unchanged. Otherwise the ranks exchange the offsets and
/// shapes of their slabs (rectangular parts of tensors), a few tensors at a time. The memory per rank grows with the
/// number of tensors and of ranks that share a shard file.
class Agreement {
 public:
  Agreement(Communicator& communicator, std::vector<int> file_of_rank)
      : communicator_(communicator), file_of_rank_(std::move(file_of_rank)) {}

  /// The result of update(), the same on all ranks.
  struct Outcome {
    bool new_layout = false;   ///< the layout was computed again, because names or shapes changed on a rank
    bool cannot_save = false;  ///< at least one rank passed `cannot_save`
    bool alike = true;         ///< all ranks passed the same `number`
  };
  /// `plan`: update() compares everything except the values. `save`: update() also compares the values.
  enum class Purpose { plan, save };
  /// Compares the States of all ranks, and computes a new layout if names or shapes changed. The same all-reduce informs
  /// all ranks whether any rank passed `cannot_save`, and whether all passed the same `number`. If the States differ,
  /// throws the same Error on all ranks; the message names the entries and ranks that differ. Collective.
  Outcome update(const State& state, Purpose purpose, bool cannot_save = false, std::int64_t number = 0);

  /// Discards the layout, so that the next update() computes a new one.
  void forget() { structure_.clear(); }

  const Layout& layout() const { return layout_; }

 private:
  void exchange(const State& state);
  void exchange_slabs(const State& state, LayoutPlanner& planner);
  Communicator& communicator_;
  std::vector<int> file_of_rank_;
  std::string structure_;  // digest of names and shapes of this rank's State; "": the next update() must compute the layout
  Layout layout_;
};

}  // namespace trainrt::checkpoint
