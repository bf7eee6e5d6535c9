#pragma once
#include <atomic>
#include <cstddef>
#include <exception>
#include <string>
#include <trainrt/communicator.hpp>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/collective.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/load/index_fetch.hpp"
#include "checkpoint/load/loaded_values.hpp"

namespace trainrt::checkpoint {

/// The tensors and values of a State that a load writes. Entries that the checkpoint lacks are not changed.
struct LoadTargets {
  std::vector<const TensorEntry*> tensors;
  std::vector<const ValueEntry*> values;
  std::vector<int> gpus;     ///< the GPU that owns each tensor's memory, as returned by gpu_of()
  bool check_first = false;  ///< true: verify the complete checkpoint before any data is copied to the State
  /// rank r verifies the bytes that rank r + shares_shifted verifies in a normal load; 0: a normal load
  int shares_shifted = 0;
};

/// Loads one checkpoint into a State. Call fetch_indices(), read() and install() in this order. The first two functions
/// return findings: one line per damage, the same on all ranks. If a function returns findings, do not call the next one.
/// All three functions are collective. The constructor's arguments must outlive the object.
class StateFiller {
 public:
  StateFiller(const std::string& directory, const Manifest& manifest, const LoadTargets& wanted,
              Communicator& communicator);
  StateFiller(const StateFiller&) = delete;

  /// Reads and checks the indices of the checkpoint, one per rank that wrote it. Each index is read by one rank and sent to
  /// all. Returns one line per damage.
  std::vector<std::string> fetch_indices();
  /// Returns the list of tensors and values in the checkpoint. Must be called after fetch_indices().
  const Contents& contents() const { return fetch_.contents(); }
  /// Reads and verifies this rank's share of the checkpoint, and copies the wanted tensors to the State: during the
  /// verification, or, with check_first, after all ranks have verified their shares. Returns one line per damage.
  std::vector<std::string> read();
  /// Writes values and summed tensors to the State. All other tensors were already written by read().
  void install();
  /// Returns whether any rank met a temporary storage error (io::is_transient()). Collective.
  bool is_transient() const;
  /// Returns whether this rank has found damage in the part of the checkpoint that it verifies. Not collective.
  bool has_found() const { return has_found_; }

 private:
  std::size_t end_of_round(std::size_t begin) const;
  Gathered read_round(std::size_t begin, std::size_t end) const;
  std::vector<std::string> uncovered() const;
  std::vector<std::string> check_other_files() const;
  void note(const std::exception& error) const;

  const std::string& directory_;
  const Manifest& manifest_;
  Communicator& communicator_;
  bool check_first_;
  int shifted_, share_;  // this rank verifies the share of rank share_ = (rank + shifted_) % size
  mutable std::atomic<bool> is_transient_ = false;
  mutable bool has_found_ = false;
  ReadPlan plan_;
  bool to_gpus_ = false;
  LoadedValues values_;
  SummedParts sums_;
  IndexFetch fetch_;
};

}  // namespace trainrt::checkpoint
