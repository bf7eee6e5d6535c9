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
#include "checkpoint/load/held_back.hpp"
#include "checkpoint/load/survey.hpp"

namespace trainrt::checkpoint {

/// What is read from a checkpoint into a state's memory. Entries that the checkpoint lacks stay as they are.
struct Wanted {
  std::vector<const TensorEntry*> tensors;
  std::vector<const ValueEntry*> values;
  std::vector<int> gpus;     ///< of `tensors`, whose memory they lie in (gpu_of())
  bool check_first = false;  ///< all of a checkpoint is checked before any of it is copied
  int shares_shifted = 0;    ///< each rank checks the share of the rank that is so many further
};

/// One checkpoint on its way into the state: survey(), read(), install(), each as long as the one before found nothing
/// wrong. All are collective; findings are the same on all ranks. What it is made from must outlive it.
class StateFiller {
 public:
  StateFiller(const std::string& directory, const Manifest& manifest, const Wanted& wanted, Communicator& communicator);
  StateFiller(const StateFiller&) = delete;

  /// Reads all indices: each is read by its home, and told to all.
  std::vector<std::string> survey();
  /// What the indices list; after survey().
  const Contents& contents() const { return survey_.contents(); }
  /// Reads and checks this rank's share of the checkpoint, and copies what is wanted unless all is to be checked first.
  std::vector<std::string> read();
  /// What was read beside its place is put there.
  void install();
  /// Whether an error that may pass (io::is_transient()) is among the findings of any rank.
  bool may_pass() const;
  /// Whether this rank has found something in its share. Not collective.
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
  int shifted_, share_;  // whose share this rank checks
  mutable std::atomic<bool> may_pass_ = false;
  mutable bool has_found_ = false;
  ReadPlan plan_;
  bool to_gpus_ = false;
  LoadedValues values_;
  SummedParts sums_;
  Survey survey_;
};

}  // namespace trainrt::checkpoint
