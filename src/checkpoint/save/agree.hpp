#pragma once
#include <cstdint>
#include <string>
#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/layout.hpp"

namespace trainrt::checkpoint {

/// Throws one Error on all ranks that names entries and ranks if their States do not have the same entries, dtypes, shapes
/// and placements. Collective: one small reduction.
void require_alike(const State& state, Communicator& communicator);

/// What the ranks agree on about the State before each save: the same entries, dtypes, shapes and placements, and the same
/// values. While names and shapes stay as they were this is one small reduction; if they changed, ranks exchange their
/// slabs, some tensors at a time, and the layout is made anew. What a rank keeps of it grows with the tensors and with the
/// ranks of its own file, not with all ranks times tensors.
class Agreement {
 public:
  Agreement(Communicator& communicator, std::vector<int> file_of_rank)
      : communicator_(communicator), file_of_rank_(std::move(file_of_rank)) {}

  struct Outcome {
    bool new_layout = false;
    bool obstacle = false;  ///< some rank has one
    bool alike = true;      ///< all ranks gave the same number
  };
  /// Collective. What differs between ranks throws one Error, the same on all, that names the entries and the ranks.
  /// `obstacle`: this rank cannot save now; it is passed on, so that all know. Values are compared only if a save
  /// begins. `number` is compared besides.
  enum class For { plan, save };
  Outcome update(const State& state, For purpose, bool obstacle = false, std::int64_t number = 0);

  /// The next update() makes the layout anew.
  void forget() { structure_.clear(); }

  const Layout& layout() const { return layout_; }

 private:
  void exchange(const State& state);
  void exchange_slabs(const State& state, LayoutPlanner& planner);
  Communicator& communicator_;
  std::vector<int> file_of_rank_;
  std::string structure_;  // digest of names and shapes on this rank, "" = none yet
  Layout layout_;
};

}  // namespace trainrt::checkpoint
