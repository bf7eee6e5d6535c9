#include <trainrt/dataset.hpp>

#include <optional>
#include <utility>

#include <trainrt/error.hpp>

#include "core/log.hpp"
#include "core/memory.hpp"
#include "core/text.hpp"
#include "data/dataset_impl.hpp"
#include "data/sampler.hpp"

namespace trainrt {

/// One walk over the batches of an epoch. It owns the dataset's cursor from begin() until its end or its destruction,
/// unless another range over the same dataset was being walked already: a range nested in another leaves the outer one's
/// cursor alone.
struct BatchesImpl {
  std::shared_ptr<DatasetImpl> dataset;
  std::int64_t epoch = 0;
  std::size_t batch_size = 1;
  Remainder remainder = Remainder::pad;

  BatchesImpl(std::shared_ptr<DatasetImpl> dataset_, std::int64_t epoch_, std::size_t batch_size_, Remainder remainder_)
      : dataset(std::move(dataset_)), epoch(epoch_), batch_size(batch_size_), remainder(remainder_) {}
  BatchesImpl(const BatchesImpl&) = delete;
  ~BatchesImpl() { release_cursor(); }

  bool begin();    ///< false if there is no batch
  bool advance();  ///< false at the end
  const Batch& batch() const { return batch_; }
  TensorView field(const Batch& asked, std::string_view name);
  TensorView varying(const Batch& asked, std::string_view name, std::size_t sample);

 private:
  struct FieldBuffer {
    data::Column column;
    bool gathered = false;  ///< for the batch in hand
  };
  void reserve_indices();
  void require_room(std::uint64_t bytes, const std::string& what) const;
  std::uint64_t take_cursor();
  void release_cursor();
  std::size_t find_field(std::string_view name) const;
  const FieldBuffer& gathered(const Batch& asked, std::string_view name, bool varies);
  void gather(std::size_t field);

  bool begun_ = false;
  bool owns_cursor_ = false;
  std::optional<data::EpochOrder> order_;
  std::optional<data::BatchPlan> plan_;
  std::uint64_t next_ = 0;  ///< global batch that advance() takes
  Batch batch_;
  std::vector<FieldBuffer> buffers_;
};

namespace {

data::BatchPlan::Split split_of(const DatasetImpl& dataset, std::size_t batch_size) {
  return {batch_size, dataset.shard.size, dataset.shard.workers};
}

}  // namespace

bool BatchesImpl::begin() {
  if (begun_)
    throw Error("dataset '" + dataset->name + "', epoch " + std::to_string(epoch) +
                ": this range of batches was walked already; call batches() again for another pass");
  begun_ = true;
  const auto start = take_cursor();
  const auto size = dataset->source->size();
  order_ = dataset->shuffle ? data::EpochOrder::shuffled(size, data::order_seed(dataset->seed, dataset->name, epoch))
                            : data::EpochOrder::identity(size);
  plan_.emplace(size, start, split_of(*dataset, batch_size), remainder);
  buffers_.resize(dataset->source->fields().size());
  reserve_indices();
  return advance();
}

/// No batch is larger than the first.
void BatchesImpl::reserve_indices() {
  const auto samples = plan_->rank_part(0, dataset->shard.rank).count;
  require_room(samples * sizeof(std::uint64_t), "the numbers of a batch of " + std::to_string(samples) + " samples");
  batch_.indices_.reserve(samples);
}

/// UsageError for what is large and cannot be had. What is small is not worth a look at the node's memory.
void BatchesImpl::require_room(std::uint64_t bytes, const std::string& what) const {
  constexpr std::uint64_t small = 64 << 20;
  if (bytes > small) require_memory(bytes, "dataset '" + dataset->name + "': " + what);
}

bool BatchesImpl::advance() {
  const auto whole = plan_->global_batch(next_);
  const auto part = plan_->rank_part(next_, dataset->shard.rank);
  batch_.indices_.clear();
  for (auto& buffer : buffers_) buffer.gathered = false;
  if (whole.count == 0 || (part.count == 0 && remainder == Remainder::uneven)) {
    release_cursor();
    return false;
  }
  batch_.owner_ = this;
  batch_.weight_ = static_cast<double>(part.count) * dataset->shard.size / static_cast<double>(whole.count);
  for (std::uint64_t i = 0; i < part.count; ++i) batch_.indices_.push_back((*order_)[part.first + i]);
  if (owns_cursor_) dataset->cursor.position = static_cast<std::int64_t>(whole.first + whole.count);
  ++next_;
  return true;
}

/// Returns the position to start at.
std::uint64_t BatchesImpl::take_cursor() {
  auto& cursor = dataset->cursor;
  const bool restored = std::exchange(dataset->restored, false);
  if (cursor.in_progress && !restored) return 0;
  owns_cursor_ = true;
  const bool go_on = restored && cursor.in_progress && cursor.epoch == epoch && cursor.position > 0;
  cursor = {true, epoch, go_on ? cursor.position : 0};
  return static_cast<std::uint64_t>(cursor.position);
}

void BatchesImpl::release_cursor() {
  if (!std::exchange(owns_cursor_, false)) return;
  dataset->cursor.in_progress = false;
  dataset->cursor.position = 0;
}

std::size_t BatchesImpl::find_field(std::string_view name) const {
  const auto& fields = dataset->source->fields();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return i;
    names.push_back(fields[i].name);
  }
  throw UsageError("dataset '" + dataset->name + "' has no field '" + std::string(name) + "'" + did_you_mean(name, names) +
                   "; there are: " + join(names));
}

void BatchesImpl::gather(std::size_t field) {
  const auto& asked = dataset->source->fields()[field];
  auto& buffer = buffers_[field];
  const auto bytes = asked.varies ? 0 : batch_.indices_.size() * data::sample_bytes(asked);
  if (bytes > buffer.column.values.capacity())
    require_room(bytes, "field '" + asked.name + "' of a batch of " + std::to_string(batch_.indices_.size()) + " samples");
  buffer.column.field = field;
  dataset->source->read(batch_.indices_, {&buffer.column, 1});
  buffer.gathered = true;
}

const BatchesImpl::FieldBuffer& BatchesImpl::gathered(const Batch& asked, std::string_view name, bool varies) {
  if (asked.indices_ != batch_.indices_)
    throw Error("dataset '" + dataset->name + "': field '" + std::string(name) +
                "' of a batch that is no longer the one in hand; copy what is needed before the next batch");
  const auto at = find_field(name);
  if (dataset->source->fields()[at].varies != varies)
    throw UsageError("dataset '" + dataset->name + "': the samples of the field '" + std::string(name) +
                     (varies ? "' all have the same length: ask for field()"
                             : "' vary in length: ask for varying() or text(), sample by sample"));
  if (!buffers_[at].gathered) gather(at);
  return buffers_[at];
}

TensorView BatchesImpl::field(const Batch& asked, std::string_view name) {
  const auto& column = gathered(asked, name, false).column;
  const auto& field = dataset->source->fields()[column.field];
  Shape shape{static_cast<std::int64_t>(asked.size())};
  shape.insert(shape.end(), field.sample_shape.begin(), field.sample_shape.end());
  return TensorView{const_cast<std::byte*>(column.values.data()), field.dtype, std::move(shape)};
}

TensorView BatchesImpl::varying(const Batch& asked, std::string_view name, std::size_t sample) {
  const auto& column = gathered(asked, name, true).column;
  if (sample >= column.ends.size())
    throw UsageError("dataset '" + dataset->name + "': sample " + std::to_string(sample) + " of a batch of " +
                     std::to_string(column.ends.size()));
  const auto dtype = dataset->source->fields()[column.field].dtype;
  const auto first = sample == 0 ? 0 : column.ends[sample - 1];
  const auto values = (column.ends[sample] - first) / size_of(dtype);
  return TensorView{const_cast<std::byte*>(column.values.data()) + first, dtype, {static_cast<std::int64_t>(values)}};
}

namespace {

BatchesImpl& owner_of(BatchesImpl* owner, std::string_view name) {
  if (owner == nullptr)
    throw UsageError("field '" + std::string(name) + "' of a batch that belongs to no dataset: take batches from a range");
  return *owner;
}

}  // namespace

TensorView Batch::field(std::string_view name) const { return owner_of(owner_, name).field(*this, name); }

TensorView Batch::varying(std::string_view name, std::size_t sample) const {
  return owner_of(owner_, name).varying(*this, name, sample);
}

std::string_view Batch::text(std::string_view name, std::size_t sample) const {
  const auto values = varying(name, sample);
  if (values.dtype != DType::u8)
    throw UsageError("field '" + std::string(name) + "' holds " + std::string(name_of(values.dtype)) + ", no text");
  return {static_cast<const char*>(values.data), values.bytes()};
}

const Batch& Batches::iterator::operator*() const { return impl_->batch(); }

Batches::iterator& Batches::iterator::operator++() {
  if (!impl_->advance()) impl_ = nullptr;
  return *this;
}

Batches::iterator Batches::begin() { return iterator(impl_->begin() ? impl_.get() : nullptr); }

namespace {

data::BatchPlan whole_epoch(const DatasetImpl& dataset, std::size_t batch_size, Remainder remainder) {
  if (batch_size == 0) throw UsageError("dataset '" + dataset.name + "': a batch size of 0; it must be at least 1");
  return {dataset.source->size(), 0, split_of(dataset, batch_size), remainder};
}

}  // namespace

Batches Epoch::batches(std::size_t batch_size, Remainder remainder) const {
  const auto plan = whole_epoch(*dataset_, batch_size, remainder);
  if (plan.batch_count() == 0)
    log::run_warning("dataset '" + dataset_->name + "' (" + std::to_string(dataset_->source->size()) +
                     " samples) gives no batch of " + std::to_string(batch_size) + " samples on each of " +
                     std::to_string(dataset_->shard.size) + " ranks");
  return Batches(std::make_shared<BatchesImpl>(dataset_, number_, batch_size, remainder));
}

std::uint64_t Dataset::size() const { return impl_->source->size(); }

std::uint64_t Dataset::batch_count(std::size_t batch_size, Remainder remainder) const {
  return whole_epoch(*impl_, batch_size, remainder).batch_count();
}

const std::vector<Dataset::Field>& Dataset::fields() const { return impl_->source->fields(); }

}  // namespace trainrt
