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

/// The entries of a state that a load writes. Entries that the checkpoint lacks are not changed.
struct LoadTargets {
  std::vector<const TensorEntry*> tensors;
  std::vector<const ValueEntry*> values;
  std::vector<int> gpus;     ///< gpu_of() each of `tensors`
  bool check_first = false;  ///< verify the complete checkpoint before any of it is copied
  int shares_shifted = 0;    ///< rank r verifies the share of rank r + shares_shifted
};

/// Loads one checkpoint into a state. Call fetch_indices(), read() and install() in this order, while the previous call
/// returned no findings. All three are collective, and findings are the same on all ranks. The constructor's arguments must
/// outlive the object.
class StateFiller {
 public:
  StateFiller(const std::string& directory, const Manifest& manifest, const LoadTargets& wanted,
              Communicator& communicator);
  StateFiller(const StateFiller&) = delete;

  /// Reads the indices of all parts; each is read by one rank and sent to all. Returns findings.
  std::vector<std::string> fetch_indices();
  /// Returns the contents of the checkpoint, after fetch_indices().
  const Contents& contents() const { return fetch_.contents(); }
  /// Reads and verifies this rank's share of the checkpoint and copies the targets; with check_first, after all ranks have
  /// verified their shares. Returns findings.
  std::vector<std::string> read();
  /// Writes values and summed tensors to the state. read() has written the other tensors.
  void install();
  /// Returns whether a finding of any rank was a temporary storage error (io::is_transient()). Collective.
  bool is_transient() const;
  /// Returns whether this rank has found damage in its share. Not collective.
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
  int shifted_, share_;  // this rank verifies the share of rank share_
  mutable std::atomic<bool> is_transient_ = false;
  mutable bool has_found_ = false;
  ReadPlan plan_;
  bool to_gpus_ = false;
  LoadedValues values_;
  SummedParts sums_;
  IndexFetch fetch_;
};

}  // namespace trainrt::checkpoint
