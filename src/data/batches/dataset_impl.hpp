#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trainrt/random.hpp>

#include "data/batches/batch_data.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/order/batch_plan.hpp"
#include "data/order/epoch_order.hpp"
#include "data/source/skipping_reader.hpp"
#include "data/source/source.hpp"
#include "data/transform/sample_maps.hpp"

namespace trainrt {

/// Which part of every global batch this rank takes.
struct Shard {
  int rank = 0;
  int size = 1;
  int workers = 0;  ///< that a global batch is made for; 0: as many as there are ranks
};

/// The ranks that look at a dataset together before an epoch begins. The default is one alone.
struct Team {
  int rank = 0;
  int size = 1;
  /// Collective: calls `look`, which sets this rank's bits, and sets those of all. What `look` throws anywhere all throw.
  std::function<void(const std::function<void()>& look, std::span<std::int64_t> bits)> look_together =
      [](const std::function<void()>& look, std::span<std::int64_t>) { look(); };
  /// Collective: what `make` gives on each rank, by rank. What it throws anywhere all throw.
  std::function<std::vector<std::string>(const std::function<std::string()>& make)> gather =
      [](const std::function<std::string()>& make) { return std::vector<std::string>{make()}; };
};

/// Where a pass over a dataset stands; part of every checkpoint.
struct Cursor {
  bool in_progress = false;  ///< a Batches range is being walked
  std::int64_t epoch = -1;
  std::int64_t position = 0;  ///< global samples (of the padded order) that step() or report() may count as done
};

/// Memory of batches that were read ahead, of an epoch that has ended: for the next one, if its batches are as large.
struct SpareBatches {
  std::size_t samples = 0;  ///< of each
  std::vector<data::BatchData> batches;
};

/// Behind the public Dataset: the source, this rank's shard and the cursor.
/// A Batches range sets cursor.in_progress at begin(), and clears it when it reaches its end or is destroyed.
/// While the loop body runs, `position` counts the batch in hand as done. The first begin() after the cursor was restored
/// continues at its position if the epoch is the same and it was in progress; every later one starts at 0.
/// A cursor that nobody holds has position 0. A range that begins while another one over the same dataset is being walked
/// (a nested evaluation) always starts at 0 and leaves the outer one's cursor alone.
struct DatasetImpl {
  std::string name;
  std::shared_ptr<const data::Source> source;
  std::shared_ptr<const data::SampleMaps> maps;  ///< what is made of the source's values, if anything is
  Shard shard;
  bool is_split = true;  ///< else each rank has all samples, as the only one
  bool shuffle = false;
  data::Blocks blocks;                                     ///< how it is shuffled
  std::vector<data::MixedPart> mixed;                      ///< the sources and their shares, if it mixes several
  std::shared_ptr<const std::vector<double>> weight_sums;  ///< if samples are drawn by weight: the weights added up
  std::string weight_field;
  bool shuffles_as_first = false;    ///< as the first versions did: its run began with one of them
  int threads = 0;                   ///< that read batches ahead
  std::uint64_t memory = 256 << 20;  ///< bytes that batches read ahead may take
  std::uint64_t seed = 0;            ///< of the run, with the dataset's own
  std::uint64_t own_seed = 0;
  std::string files, order_text;                      ///< what the place inside an epoch hangs on (identity.hpp)
  std::string filter_text;                            ///< and which samples filters keep; "" if there is none
  std::string restored_filter;                        ///< the same of the checkpoint that `cursor` came from
  std::optional<std::uint64_t> restored_filter_hash;  ///< of it, if the checkpoint has only that
  Team team;
  std::shared_ptr<const data::Pinning> pinning;    ///< if a GPU follows
  std::unique_ptr<data::SkippingReader> skipping;  ///< if samples that cannot be read are skipped
  SpareBatches spare;                              ///< never of pinned memory
  data::StageTimes stages;                         ///< of reading batches
  double handed_over_s = 0;                        ///< the train thread, to take batches that were there
  double waited_s = 0;                             ///< the train thread, for batches
  Cursor cursor;
  bool restored = false;  ///< cursor came from a checkpoint and no range has begun since
};

namespace data {

/// The fields as the train function gets them.
inline const std::vector<Dataset::Field>& fields_of(const DatasetImpl& dataset) {
  return dataset.maps ? dataset.maps->fields() : dataset.source->fields();
}

/// The seed of what is drawn for the samples of an epoch.
inline std::uint64_t draw_seed(const DatasetImpl& dataset, std::int64_t epoch) {
  constexpr std::uint64_t for_draws = 1;
  return mix_seed(order_seed(dataset.seed, dataset.name, epoch), for_draws);
}

/// The order of an epoch over all ranks.
inline EpochOrder order_of(const DatasetImpl& dataset, std::int64_t epoch) {
  const auto size = dataset.source->size();
  if (dataset.weight_sums) return EpochOrder::weighted(dataset.weight_sums, order_seed(dataset.seed, dataset.name, epoch));
  if (!dataset.shuffle) return EpochOrder::identity(size);
  if (!dataset.mixed.empty())
    return EpochOrder::mixed(size, dataset.mixed, order_seed(dataset.seed, dataset.name, 0), epoch);
  const auto seed = order_seed(dataset.seed, dataset.name, epoch);
  if (dataset.blocks.samples > 0) return EpochOrder::in_blocks(size, seed, dataset.blocks);
  return dataset.shuffles_as_first ? EpochOrder::shuffled_as_first(size, seed) : EpochOrder::shuffled(size, seed);
}

inline BatchPlan::Split split_of(const DatasetImpl& dataset, std::size_t batch_size) {
  return {batch_size, dataset.shard.size, dataset.shard.workers};
}

}  // namespace data

}  // namespace trainrt
