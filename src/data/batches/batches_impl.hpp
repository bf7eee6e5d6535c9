#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/dataset.hpp>

#include "data/batches/dataset_impl.hpp"
#include "data/bytes/read_ahead.hpp"
#include "data/order/batch_plan.hpp"
#include "data/order/epoch_order.hpp"

namespace trainrt {

/// Implements Batches: one iteration over the batches of an epoch. Uses the plan that the dataset has when the iteration is
/// constructed.
///
/// Only the iteration that owns the dataset's Cursor sets the position that checkpoints store. An iteration owns the
/// Cursor if WalkState::begin() grants it, until the iteration ends or is destroyed.
///
/// Fields of the first batch are read when they are requested. In later batches, the fields that were requested so far
/// are read ahead, unless the source is in memory.
class BatchesImpl {
 public:
  BatchesImpl(std::shared_ptr<DatasetImpl> dataset, std::int64_t epoch, std::size_t batch_size, Remainder remainder);
  /// Constructs an iteration over the positions in `range` only. This rank gets all samples of the range.
  BatchesImpl(std::shared_ptr<DatasetImpl> dataset, std::int64_t epoch, std::size_t batch_size, data::Slice range);
  BatchesImpl(const BatchesImpl&) = delete;
  ~BatchesImpl();

  bool begin();    ///< makes the first batch the current one; returns false if the epoch has no batch
  bool advance();  ///< makes the next batch the current one; returns false at the end
  void count_only(std::uint64_t batches);
  bool has_ready() const;  ///< returns whether advance() would return without waiting for a batch
  const Batch& batch() const { return batch_; }
  const std::string& name() const { return plan_->name; }  ///< name of the dataset
  const data::Fields& fields() const { return fields_; }
  std::uint64_t draw_seed() const { return draw_seed_; }  ///< seed of random numbers for the samples of this epoch
  /// Returns the values of the field `name` in `asked`, which must be the current batch. `varies`: whether the caller
  /// expects samples that vary in length. Throws UsageError if the field is unknown or `varies` does not match it,
  /// Error if `asked` is an earlier batch, and the errors of the source.
  const data::Column& column(const Batch& asked, std::string_view name, bool varies);
  /// Throws UsageError unless `sample` is an index in the batch `asked`.
  void require_sample(const Batch& asked, std::size_t sample) const;

 private:
  data::BatchPlan make_plan();
  data::Slice part_of(std::uint64_t number) const;  ///< returns this rank's part of a global batch
  void require_room(std::uint64_t bytes, const std::string& what) const;
  void release_cursor();
  void note_position();
  void read_field(std::size_t field);
  void map(std::span<const std::uint64_t> samples, data::Column& column) const;
  void make_room(data::BatchData& batch, data::Column& column) const;
  void pin(data::BatchData& batch, data::Column& column) const;
  void number_samples(std::uint64_t number, std::vector<std::uint64_t>& into) const;
  void take_batch();
  void start_prefetcher();
  void end_prefetcher();
  void read_ahead(std::uint64_t number, data::BatchData& into) const;

  std::shared_ptr<DatasetImpl> dataset_;
  std::shared_ptr<const data::DatasetPlan> plan_;
  std::int64_t epoch_;
  std::size_t batch_size_;
  Remainder remainder_;
  const data::Fields& fields_;  ///< plan_->fields()
  std::uint64_t draw_seed_;
  std::optional<data::Slice> range_;  ///< set by the second constructor: the positions to iterate over, without a Cursor
  bool begun_ = false;
  bool owns_cursor_ = false;
  std::optional<data::EpochOrder> order_;
  std::optional<data::BatchPlan> batch_plan_;
  std::uint64_t next_ = 0;                   ///< number of the global batch that follows the current batch
  std::optional<std::uint64_t> taken_;       ///< number of batches that count as done; nullopt: all up to the current one
  Batch batch_;                              ///< the current batch
  data::BatchData data_;                     ///< values of the current batch; the indices of the samples are in batch_
  std::vector<std::atomic<bool>> is_asked_;  ///< for each field, whether the train function has requested it
  std::size_t samples_ahead_ = 0;            ///< number of samples of each batch that is read ahead
  mutable std::optional<data::ReadAhead<data::BatchData>> prefetcher_;
};

}  // namespace trainrt
