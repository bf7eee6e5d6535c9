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

/// Owns the datasets of a run on one rank, and the positions in the datasets, which every checkpoint contains. A dataset is
/// opened when the train function first requests it. Must be used by the train thread.
class RunDatasets {
 public:
  /// `workers`: number of workers (a global batch has batch_size samples for each of them); 0: one worker per rank. All
  /// arguments passed by reference must outlive this object.
  RunDatasets(const config::RunSpec& spec, Communicator& communicator, int workers, const Listings& listings,
              const NodeShares& shares);
  /// Pins the memory of all later batches, so that copies to `gpus` are faster. Must be called before any dataset is
  /// opened. `gpus` must outlive this object.
  void pin_for(device::Runtime& gpus);

  /// Verifies the checksums of files from which single samples are read. Each rank verifies some of the files. Collective.
  /// Must be called before any dataset is opened. Throws an error on all ranks if a file is damaged. If config key on_error
  /// of the dataset is `skip`, logs a warning instead, and the samples of the damaged file are skipped.
  void verify_files();
  /// Opens the datasets that need preparation, and prepares them: datasets with keys that make new samples, or with the
  /// key `preprocess`. Returns the fitted preprocessors as a JSON object, or "" if no dataset has preprocessors.
  /// `stored` is the result of an earlier attempt; preprocessors in `stored` are not fitted again. Collective. Must be
  /// called before any dataset is opened. Throws AgreedError.
  std::string prepare(const std::string& stored);
  bool need_preparation() const;  ///< whether any dataset must be prepared by prepare()

  /// Returns the dataset of section [data.NAME]. Each call with the same name returns the same dataset. Throws UsageError
  /// if the section does not exist.
  Dataset open(const std::string& name);

  /// Limits each dataset to its first `samples` samples. Called once, after prepare().
  void limit(std::uint64_t samples);

  /// Adds the positions in all datasets to `state`. This object must outlive `state`.
  void attach(State& state);
  /// Moves open datasets to the positions that were loaded into the attached State. Called after a restore.
  void restore_positions();
  /// Copies the current positions in all datasets to the values in the attached State. Called before a checkpoint is saved.
  void update_positions();
  /// Returns the number of seconds that this rank has waited for batches in this attempt.
  double waited_s() const;
  /// Returns the seconds that the reading threads of this rank have spent in each data::Stage and in the handover of
  /// batches in this attempt, by name. Empty if the config has no dataset.
  std::vector<std::pair<std::string, double>> stages() const;
  bool may_skip() const;          ///< whether any dataset skips samples that cannot be read
  std::uint64_t skipped() const;  ///< number of samples that this rank has skipped in this attempt
  /// Logs a warning for each dataset with batches that are read so slowly that training steps wait too long
  /// (StarvationWatch). Called at every report.
  void warn_if_starving();

 private:
  using OwnPosition = std::array<std::int64_t, 7>;
  /// The values by which a checkpoint stores the position in a dataset.
  struct StoredCursor {
    bool in_progress = false;
    std::int64_t epoch = -1;
    std::int64_t position = 0;
    std::string files;   ///< DatasetPlan::files_text
    std::string order;   ///< DatasetPlan::order_text
    std::string filter;  ///< DatasetPlan::steps_text()
    /// Position of this rank in a dataset that is not split between the ranks. The other members are then unused.
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
  std::optional<std::uint64_t> limit_;  ///< maximum number of samples per dataset, set by limit()
  StarvationWatch starvation_;
};

}  // namespace trainrt::trainer
