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

/// One walk over the batches of an epoch. It owns the dataset's cursor from begin() until its end or its destruction,
/// unless another range over the same dataset was being walked already: a range nested in another leaves the outer one's
/// cursor alone. Fields of the first batch are read when they are asked for; those that were asked for so far are then read
/// ahead, unless the source is in memory.
struct BatchesImpl {
  std::shared_ptr<DatasetImpl> dataset;
  std::int64_t epoch = 0;
  std::size_t batch_size = 1;
  Remainder remainder = Remainder::pad;

  BatchesImpl(std::shared_ptr<DatasetImpl> dataset_, std::int64_t epoch_, std::size_t batch_size_, Remainder remainder_);
  /// Those of `range` only, for this rank alone.
  BatchesImpl(std::shared_ptr<DatasetImpl> dataset_, std::int64_t epoch_, std::size_t batch_size_, data::Slice range);
  BatchesImpl(const BatchesImpl&) = delete;
  ~BatchesImpl();

  bool begin();    ///< false if there is no batch
  bool advance();  ///< false at the end
  void count_only(std::uint64_t batches);
  bool has_ready() const;  ///< the next batch, without waiting
  const Batch& batch() const { return batch_; }
  TensorView field(const Batch& asked, std::string_view name);
  TensorView varying(const Batch& asked, std::string_view name, std::size_t sample);
  Random random(const Batch& asked, std::size_t sample) const;

 private:
  data::BatchPlan make_plan();
  data::Slice part_of(std::uint64_t number) const;  ///< this rank's, of a global batch
  void reserve_indices();
  void require_room(std::uint64_t bytes, const std::string& what) const;
  std::uint64_t take_cursor();
  void release_cursor();
  void note_position();
  std::size_t find_field(std::string_view name) const;
  const data::Column& column(const Batch& asked, std::string_view name, bool varies);
  void read_field(std::size_t field);
  void map(std::span<const std::uint64_t> samples, data::Column& column) const;
  void make_room(data::BatchData& batch, data::Column& column) const;
  void pin(data::BatchData& batch, data::Column& column) const;
  void number_samples(std::uint64_t number, std::vector<std::uint64_t>& into) const;
  void take_batch();
  void start_prefetcher();
  void end_prefetcher();
  void read_ahead(std::uint64_t number, data::BatchData& into) const;

  std::shared_ptr<const data::SampleMaps> maps_;
  const std::vector<Dataset::Field>& fields_;  ///< of maps_, or of the source
  std::uint64_t draw_seed_;
  std::optional<data::Slice> range_;  ///< of positions: no other ranks, and no cursor
  bool begun_ = false;
  bool owns_cursor_ = false;
  std::optional<data::EpochOrder> order_;
  std::optional<data::BatchPlan> plan_;
  std::uint64_t next_ = 0;              ///< global batch that advance() takes
  std::optional<std::uint64_t> taken_;  ///< batches that count as done; none: all up to the one in hand
  Batch batch_;
  data::BatchData data_;                     ///< of the batch in hand; the numbers of its samples are in batch_
  std::vector<std::atomic<bool>> is_asked_;  ///< fields that the train function has asked for
  std::size_t samples_ahead_ = 0;            ///< of the batch that said how many are read ahead
  mutable std::optional<data::ReadAhead<data::BatchData>> prefetcher_;
};

}  // namespace trainrt
