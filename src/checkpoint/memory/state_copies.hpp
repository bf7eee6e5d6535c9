#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>

#include "checkpoint/memory/copy_file.hpp"

namespace trainrt::checkpoint {

/// The point of a run at which a copy was made, and the numbers that a restart needs beside the State.
struct CopyNote {
  std::int64_t step = 0;
  std::int64_t iteration = 0;
  double iteration_s = 0;                 ///< Meta::iteration_s
  std::map<std::string, double> metrics;  ///< Meta::metrics
};

/// Copies of a State in memory, from which the ranks of one node continue after a rank has died. The copies are kept by the
/// process that starts the ranks (CopyFile). Each rank copies the tensors that only it holds, and its share of the
/// replicated tensors.
///
/// The last two copies are kept. A copy can be loaded if all ranks have sealed it with the same number, and if its digests
/// are right. Must be used on the train thread.
class StateCopies {
 public:
  /// `file` is a descriptor of a memfd that all ranks share; it must stay open. `run` identifies the run. The communicator
  /// must outlive the object.
  StateCopies(int file, std::string run, Communicator& communicator);

  /// Prepares the memory for copies of `state`. Copies of an earlier attempt stay if they are of the same run, of an equal
  /// State, and of the same number of ranks. Returns why the State cannot be copied, or "": tensors in GPU memory and files
  /// are not copied, and all copies together may take `max_bytes` bytes (rank 0's argument counts). Collective.
  std::string open(const State& state, std::uint64_t max_bytes);
  /// Returns the note of the newest copy that all ranks have, or nothing. Only the returned copy remains valid. A copy from
  /// which three attempts in a row began is not returned: they have failed before they made another copy. Collective.
  std::optional<CopyNote> newest();
  /// Loads the copy that newest() has returned into `state`. Not collective.
  void load(const State& state);
  /// Records whether this attempt begins from the copy that newest() has returned. Not collective.
  void begin_from_copy(bool begins);

  /// Copies `state`. All ranks must call this function at the same point of the run, and communicate between two calls.
  /// Returns false if the values of the State no longer fit; open() then makes room, and removes the earlier copies. Not
  /// collective.
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
