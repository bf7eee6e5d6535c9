#include "data/batches/batches_impl.hpp"

#include <algorithm>
#include <utility>

#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/process/memory.hpp"

namespace trainrt {

namespace {

/// Returns the factor by which the time of reading a batch is multiplied in statistics. To save time, only every eighth
/// batch is measured, with the factor 8. The other batches have the factor 0, which means that they are not measured.
std::uint64_t weight_of(std::uint64_t batch) {
  constexpr std::uint64_t every = 8;
  return batch % every == 0 ? every : 0;
}

}  // namespace

BatchesImpl::BatchesImpl(std::shared_ptr<DatasetImpl> dataset, std::int64_t epoch, std::size_t batch_size,
                         Remainder remainder)
    : dataset_(std::move(dataset)),
      plan_(dataset_->shared_plan()),
      epoch_(epoch),
      batch_size_(batch_size),
      remainder_(remainder),
      fields_(plan_->fields()),
      draw_seed_(plan_->draw_seed(epoch)),
      is_asked_(fields_.size()) {
  if (plan_->skipping)  // all fields are read at once, so that a sample with any damaged field is skipped in all fields
    for (auto& asked : is_asked_) asked = true;
}

BatchesImpl::BatchesImpl(std::shared_ptr<DatasetImpl> dataset, std::int64_t epoch, std::size_t batch_size,
                         data::Slice range)
    : BatchesImpl(std::move(dataset), epoch, batch_size, Remainder::uneven) {
  range_ = range;
}

BatchesImpl::~BatchesImpl() {
  end_prefetcher();
  release_cursor();
}

data::BatchPlan BatchesImpl::make_plan() {
  if (range_) return {range_->first + range_->count, range_->first, batch_size_, 1, remainder_};
  const auto start = dataset_->walk().begin(*plan_, epoch_);
  owns_cursor_ = start.has_value();
  return {plan_->source->size(), start.value_or(0), plan_->split_of(batch_size_), remainder_};
}

data::Slice BatchesImpl::part_of(std::uint64_t number) const {
  return batch_plan_->rank_part(number, range_ ? 0 : plan_->shard.rank);
}

bool BatchesImpl::begin() {
  if (begun_)
    throw Error("dataset '" + plan_->name + "', epoch " + std::to_string(epoch_) +
                ": these batches were already iterated over; call batches() again for each loop");
  begun_ = true;
  batch_plan_.emplace(make_plan());
  auto plan = *plan_;
  plan.order.legacy_shuffle = dataset_->plan().order.legacy_shuffle;  // may be set by a restore after batches()
  order_ = plan.order_of(epoch_);
  data_.columns.resize(is_asked_.size());
  data_.is_read.resize(is_asked_.size());
  const auto samples = part_of(0).count;  // the first batch is the largest one
  require_room(samples * sizeof(std::uint64_t), "the numbers of a batch of " + std::to_string(samples) + " samples");
  batch_.indices_.reserve(samples);
  return advance();
}

/// Throws UsageError if `bytes` exceeds 64 MiB and the node has not enough free memory. Smaller sizes are not checked,
/// because the check takes time.
void BatchesImpl::require_room(std::uint64_t bytes, const std::string& what) const {
  constexpr std::uint64_t small = 64 << 20;
  if (bytes > small) require_memory(bytes, "dataset '" + plan_->name + "': " + what);
}

bool BatchesImpl::advance() {
  const auto whole = batch_plan_->global_batch(next_);
  const auto part = part_of(next_);
  const bool leaves_out_empty = remainder_ == Remainder::uneven || remainder_ == Remainder::whole;
  if (whole.count == 0 || (part.count == 0 && leaves_out_empty)) {
    batch_.indices_.clear();
    end_prefetcher();
    if (!taken_ || *taken_ >= next_) release_cursor();
    return false;
  }
  take_batch();
  batch_.owner_ = this;
  const auto ranks = range_ ? 1 : plan_->shard.size;
  batch_.weight_ = static_cast<double>(part.count) * ranks / static_cast<double>(whole.count);
  ++next_;
  note_position();
  return true;
}

void BatchesImpl::count_only(std::uint64_t batches) {
  taken_ = batches;
  note_position();
}

bool BatchesImpl::has_ready() const {
  if (!begun_ || batch_plan_->global_batch(next_).count == 0) return false;
  return prefetcher_ ? prefetcher_->has_ready() : plan_->source->is_resident();
}

/// Sets the dataset's position, which checkpoints contain, to the end of the last batch that counts as done.
void BatchesImpl::note_position() {
  if (!owns_cursor_) return;
  const auto done = std::min(taken_.value_or(next_), next_);
  const auto last = batch_plan_->global_batch(done == 0 ? 0 : done - 1);
  dataset_->walk().set_position(last.first + (done == 0 ? 0 : last.count));
}

/// Makes the batch number `next_` the current batch: sets the indices of its samples and, if the batch was read ahead,
/// moves its values from the prefetcher to `data_`.
void BatchesImpl::take_batch() {
  if (next_ > 0 && !prefetcher_) start_prefetcher();
  const auto began_s = monotonic_seconds();
  bool was_ready = false;
  if (prefetcher_) {
    std::swap(data_.samples, batch_.indices_);
    was_ready = prefetcher_->next(data_);
    std::swap(data_.samples, batch_.indices_);
  } else if (plan_->skipping) {
    read_ahead(next_, data_);
    batch_.indices_ = data_.samples;
  } else {
    std::fill(data_.is_read.begin(), data_.is_read.end(), false);
    return number_samples(next_, batch_.indices_);
  }
  const auto seconds = monotonic_seconds() - began_s;
  was_ready ? dataset_->walk().add_handed_over(seconds) : dataset_->walk().add_waited(seconds);
}

/// Replaces the content of `into` by the indices of this rank's samples in batch `number`.
void BatchesImpl::number_samples(std::uint64_t number, std::vector<std::uint64_t>& into) const {
  const auto part = part_of(number);
  into.resize(part.count);
  order_->list(part.first, into);
}

/// Starts to read batches ahead. The number of these batches depends on the size of the current batch and on the plan's
/// memory. Precondition: a current batch exists.
void BatchesImpl::start_prefetcher() {
  const bool any_asked = std::any_of(is_asked_.begin(), is_asked_.end(), [](const auto& asked) { return asked.load(); });
  if (plan_->threads == 0 || plan_->source->is_resident() || !any_asked) return;
  constexpr std::size_t max_batches = 64;
  std::size_t bytes = batch_.indices_.size() * sizeof(std::uint64_t) + 1;
  for (const auto& column : data_.columns)
    bytes += column.values.capacity() + column.ends.capacity() * sizeof(std::uint64_t);
  const auto batches = std::clamp<std::size_t>(plan_->memory / bytes, 1, max_batches);
  const auto threads = std::min<std::size_t>(static_cast<std::size_t>(plan_->threads), batches);
  constexpr std::size_t bytes_of_run = 512 << 10;
  const auto run = std::clamp<std::size_t>(bytes_of_run / bytes, 1, std::max<std::size_t>(1, batches / (4 * threads)));
  samples_ahead_ = batch_.indices_.size();
  prefetcher_.emplace(
      next_, batch_plan_->batch_count(), [this](std::uint64_t number, data::BatchData& into) { read_ahead(number, into); },
      data::ReadAheadLimits{static_cast<int>(threads), batches, run}, dataset_->walk().take_spare(samples_ahead_, batches));
}

void BatchesImpl::end_prefetcher() {
  if (!prefetcher_) return;
  auto batches = prefetcher_->end();
  prefetcher_.reset();
  if (!plan_->pinning) dataset_->walk().keep_spare(samples_ahead_, std::move(batches));
}

/// Reads the requested fields of batch `number` into `into`. Called by threads of the prefetcher.
void BatchesImpl::read_ahead(std::uint64_t number, data::BatchData& into) const {
  const data::StageClock clock(dataset_->walk().stages(), weight_of(number));
  number_samples(number, into.samples);
  into.columns.resize(is_asked_.size());
  into.is_read.assign(is_asked_.size(), false);
  for (std::size_t field = 0; field < is_asked_.size(); ++field) into.is_read[field] = is_asked_[field];
  std::vector<data::Column> wanted;
  for (std::size_t field = 0; field < is_asked_.size(); ++field)
    if (into.is_read[field]) {
      wanted.push_back(std::move(into.columns[field]));
      wanted.back().field = field;
      make_room(into, wanted.back());
    }
  if (plan_->skipping)
    plan_->skipping->read(*plan_->source, into.samples, wanted);
  else
    plan_->source->read(into.samples, wanted);
  for (auto& column : wanted) {
    map(into.samples, column);
    pin(into, column);
    into.columns[column.field] = std::move(column);
  }
}

void BatchesImpl::release_cursor() {
  if (std::exchange(owns_cursor_, false)) dataset_->walk().end();
}

/// Changes the values in `column` by the FieldMaps of the plan. `samples` are the samples to which the values belong.
void BatchesImpl::map(std::span<const std::uint64_t> samples, data::Column& column) const {
  if (!plan_->maps) return;
  const data::InStage transforming(data::Stage::transform);
  plan_->maps->apply(draw_seed_, samples, column);
}

/// Allocates memory for the largest batch, so that pinned memory keeps its address.
void BatchesImpl::make_room(data::BatchData& batch, data::Column& column) const {
  if (!plan_->pinning || fields_[column.field].varies) return;
  batch.pinned.resize(is_asked_.size());
  batch.pinned[column.field].make_room(column.values, part_of(0).count * data::sample_bytes(fields_[column.field]));
}

void BatchesImpl::pin(data::BatchData& batch, data::Column& column) const {
  if (!plan_->pinning || fields_[column.field].varies) return;
  batch.pinned[column.field].pin(*plan_->pinning, column.values);
}

void BatchesImpl::read_field(std::size_t field) {
  const auto& asked = fields_[field];
  auto& column = data_.columns[field];
  const auto bytes = asked.varies ? 0 : batch_.indices_.size() * data::sample_bytes(asked);
  if (bytes > column.values.capacity())
    require_room(bytes, "field '" + asked.name + "' of a batch of " + std::to_string(batch_.indices_.size()) + " samples");
  column.field = field;
  const auto began_s = monotonic_seconds();
  const data::StageClock clock(dataset_->walk().stages(), weight_of(next_ - 1));  // weight of the current batch
  make_room(data_, column);
  plan_->source->read(batch_.indices_, {&column, 1});
  map(batch_.indices_, column);
  pin(data_, column);
  data_.is_read[field] = true;
  is_asked_[field] = true;
  dataset_->walk().add_waited(monotonic_seconds() - began_s);
}

}  // namespace trainrt
