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

/// The datasets of [data.NAME] on one rank, opened as the train function asks for them, and the place that every checkpoint
/// keeps for each. Only the train thread uses it.
class RunDatasets {
 public:
  /// `workers`: those that a global batch is made for. All else must live longer.
  RunDatasets(const config::RunSpec& spec, Communicator& communicator, int workers, const Listings& listings,
              const NodeShares& shares);
  /// Before any is opened: a GPU copies from the batches, whose memory is locked for it.
  void pin_for(device::Runtime& gpus);

  /// Verifies the checksums of files of which samples are read without the rest; each rank reads its share. Collective,
  /// before any is opened. Throws UsageError on all ranks if a file is damaged; with on_error = skip it is a warning, and
  /// its samples are skipped.
  void verify_files();
  /// Opens those whose keys make other samples of theirs, and those with a key `preprocess`, and prepares them. What has to
  /// be fitted is, but for what `stored` has already: a JSON object of what an earlier attempt returned here. Returns the
  /// same for this one, "" if there are none. Collective, before any is opened; what throws on one rank throws on all.
  std::string prepare(const std::string& stored);
  bool need_preparation() const;

  /// The same one each time. UsageError if the config has none of that name.
  Dataset open(const std::string& name);

  /// From then on each has its first `samples` samples only, in their order. To be called once, after prepare().
  void limit(std::uint64_t samples);

  /// The places become part of the state.
  void attach(State& state);
  /// After a restore: those that were opened before it go on from the places that it brought.
  void put_back();
  /// Where each stands now: what a checkpoint of this moment holds.
  void note_places();
  /// Seconds that this rank has waited for batches, in this attempt.
  double waited_s() const;
  /// What reading has taken in this attempt, over all threads of this rank: each data::Stage, and handover. Empty if the
  /// config has no dataset.
  std::vector<std::pair<std::string, double>> stages() const;
  /// Whether samples that cannot be read are skipped; how many were, on this rank in this attempt.
  bool may_skip() const;
  std::uint64_t skipped() const;
  /// To be called now and then: says of each dataset once if steps have waited for it for much of the time since then, what
  /// reading it takes, and what helps.
  void warn_if_starving();

 private:
  using OwnPlace = std::array<std::int64_t, 7>;
  /// A data cursor as checkpoint values.
  struct StoredCursor {
    bool in_progress = false;
    std::int64_t epoch = -1;
    std::int64_t position = 0;
    std::string files;   ///< DatasetPlan::files_text
    std::string order;   ///< DatasetPlan::order_text
    std::string filter;  ///< DatasetPlan::steps_text()
    /// The position in a dataset that is not split, instead of all above: ranks may have taken different numbers of
    /// samples.
    OwnPlace own = {};
  };
  static OwnPlace own_place(const DatasetImpl& dataset);
  static void put_back(DatasetImpl& dataset, const StoredCursor& stored);
  static void put_back_own(DatasetImpl& dataset, const OwnPlace& own);

  const config::RunSpec& spec_;
  Communicator& communicator_;
  Shard shard_;
  const Listings& listings_;
  const NodeShares& shares_;
  std::shared_ptr<const data::Pinning> pinning_;
  std::map<std::string, std::shared_ptr<DatasetImpl>> opened_;
  std::map<std::string, StoredCursor> cursors_;
  std::map<std::string, std::shared_ptr<data::FileVerification>> verifications_;
  std::optional<std::uint64_t> limit_;  ///< of samples
  StarvationWatch starvation_;
};

}  // namespace trainrt::trainer
