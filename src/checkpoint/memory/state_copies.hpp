#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "checkpoint/memory/copy_file.hpp"

namespace trainrt::checkpoint {

/// The point of a run at which a copy was made, and the numbers that a restart needs in addition to the State.
struct CopyNote {
  std::int64_t step = 0;
  std::int64_t iteration = 0;
  double iteration_s = 0;                 ///< Meta::iteration_s
  std::map<std::string, double> metrics;  ///< Meta::metrics
};

/// Copies of a State in memory, from which the ranks of one node continue after a rank has died. The process that
/// starts the ranks owns the memory (CopyFile). Each rank copies the tensors that only this rank holds, and its share
/// of the replicated tensors.
///
/// The last two copies are kept. Copies are numbered, and each rank stores the number and a digest with its part of a
/// copy when the part is complete. A copy can be loaded if the parts of all ranks have the same number and match their
/// digests. Must be used on the train thread.
class StateCopies {
 public:
  /// `file` is a descriptor of a memfd that all ranks share; it must stay open. `run` identifies the run. The communicator
  /// must outlive the object.
  StateCopies(int file, std::string run, Communicator& communicator);

  /// Prepares the memory for copies of `state`. Copies of an earlier attempt are kept if run and number of ranks are the
  /// same, and if the State had the same names, types, shapes and placements.
  ///
  /// Returns "", or the reason why the State cannot be copied: tensors are in GPU memory, the State has files, or all
  /// copies together would take more than `max_bytes` bytes. Rank 0's `max_bytes` is used. Collective.
  std::string open(const State& state, std::uint64_t max_bytes);
  /// Returns the note (step, iteration, metrics) of the newest copy that all ranks have completed; nullopt if there is
  /// none. All other copies become invalid. A copy from which the last three attempts began is not returned, because
  /// these attempts failed before they made another copy. Collective.
  std::optional<CopyNote> newest();
  /// Loads the copy that newest() has returned into `state`. Not collective.
  void load(const State& state);
  /// Records whether this attempt begins from the copy that newest() has returned. Not collective.
  void begin_from_copy(bool begins);

  /// Copies `state`. All ranks must call copy() at the same point of the run, and must communicate between two calls, so
  /// that no rank is more than one copy ahead. Returns false if the values of the State need more memory than open() has
  /// reserved; call open() again, which reserves more and removes the earlier copies. Not collective.
  [[nodiscard]] bool copy(const State& state, const CopyNote& note);
  /// Removes the copies and frees their memory. open() can be called again. Collective.
  void close();

  std::uint64_t file_bytes() const { return layout_.file_bytes(); }  ///< size of all copies; valid after open()

 private:
  /// Sizes in a copy of one rank: the text of note and values, then its own tensors, then its share of replicated tensors.
  struct Sizes {
    std::uint64_t text_room = 0;
    std::uint64_t own = 0;
    std::uint64_t share = 0;
  };
  std::string first_of_all_ranks(const std::string& reason);
  void gather_layout(const State& state);
  void choose_rooms();
  std::string prepare_file();

  int file_;
  std::string run_;
  Communicator& communicator_;
  CopyLayout layout_;
  std::vector<Sizes> sizes_;  // by rank
  std::optional<CopyFile> copies_;
  std::int64_t number_ = 0;  // number of the last copy
};

}  // namespace trainrt::checkpoint
