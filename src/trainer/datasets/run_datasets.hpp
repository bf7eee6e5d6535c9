#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <trainrt/communicator.hpp>
#include <trainrt/dataset.hpp>
#include <trainrt/state.hpp>

#include "config/run_spec.hpp"
#include "data/batches/dataset_impl.hpp"
#include "data/section/file_verification.hpp"
#include "device/runtime.hpp"
#include "trainer/datasets/listed_datasets.hpp"
#include "trainer/datasets/node_shares.hpp"
#include "trainer/watching/starvation_watch.hpp"

namespace trainrt::trainer {

/// The datasets of a run on one rank, and their positions, which are part of every checkpoint. A dataset is opened when the
/// train function first requests it. Must be used by the train thread.
class RunDatasets {
 public:
  /// `workers`: number of workers for which global batches are made. All arguments passed by reference must outlive this
  /// object.
  RunDatasets(const config::RunSpec& spec, Communicator& communicator, int workers, const Listings& listings,
              const NodeShares& shares);
  /// Locks the memory of batches, from which `gpus` then copy faster. Called before any dataset is opened.
  void pin_for(device::Runtime& gpus);

  /// Verifies the checksums of files from which single samples are read; the ranks divide the files. Collective; called
  /// before any dataset is opened. Throws UsageError on all ranks if a file is damaged; with on_error = skip, logs a
  /// warning instead, and the samples of the file are skipped.
  void verify_files();
  /// Opens and prepares the datasets with keys that make new samples, or with the key `preprocess`. Returns the fitted
  /// preprocessors as a JSON object, or "" if there are none. `stored` is the result of an earlier attempt, whose
  /// preprocessors are not fitted again. Collective; called before any dataset is opened. Throws AgreedError.
  std::string prepare(const std::string& stored);
  bool need_preparation() const;  ///< whether prepare() has anything to do

  /// Returns the dataset of section [data.NAME], the same on each call. Throws UsageError if the section does not exist.
  Dataset open(const std::string& name);

  /// Limits each dataset to its first `samples` samples. Called once, after prepare().
  void limit(std::uint64_t samples);

  /// Adds the positions of all datasets to `state`.
  void attach(State& state);
  /// Moves open datasets to the positions in the state. Called after a restore.
  void restore_positions();
  /// Copies the current positions to the state. Called before a checkpoint.
  void update_positions();
  /// Seconds that this rank has waited for batches, in this attempt.
  double waited_s() const;
  /// Returns the seconds that all reading threads of this rank have spent in each data::Stage and in the handover of
  /// batches, in this attempt. Empty if the config has no dataset.
  std::vector<std::pair<std::string, double>> stages() const;
  bool may_skip() const;          ///< whether any dataset skips samples that cannot be read
  std::uint64_t skipped() const;  ///< number of samples that this rank has skipped in this attempt
  /// Logs a warning for each dataset for which steps wait too long, see StarvationWatch. Called at every report.
  void warn_if_starving();

 private:
  using OwnPosition = std::array<std::int64_t, 7>;
  /// The position in a dataset, as values of a checkpoint.
  struct StoredCursor {
    bool in_progress = false;
    std::int64_t epoch = -1;
    std::int64_t position = 0;
    std::string files;   ///< DatasetPlan::files_text
    std::string order;   ///< DatasetPlan::order_text
    std::string filter;  ///< DatasetPlan::steps_text()
    /// Replaces all members above if the dataset is not split between the ranks, so that each rank has a position of its
    /// own.
    OwnPosition own = {};
  };
  static OwnPosition own_position(const DatasetImpl& dataset);
  static void restore_position(DatasetImpl& dataset, const StoredCursor& stored);
  static void restore_own_position(DatasetImpl& dataset, const OwnPosition& own);

  const config::RunSpec& spec_;
  Communicator& communicator_;
  Shard shard_;
  const Listings& listings_;
  const NodeShares& shares_;
  std::shared_ptr<const data::Pinning> pinning_;
  std::map<std::string, std::shared_ptr<DatasetImpl>> opened_;
  std::map<std::string, StoredCursor> cursors_;
  std::map<std::string, std::shared_ptr<data::FileVerification>> verifications_;
  std::optional<std::uint64_t> limit_;  ///< maximum number of samples
  StarvationWatch starvation_;
};

}  // namespace trainrt::trainer
