#include "data/batches/batches_impl.hpp"

#include <algorithm>
#include <utility>

#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/process/memory.hpp"
#include "data/batches/filter.hpp"

namespace trainrt {

namespace {

/// Every eighth batch is timed, and stands for those around it.
std::uint64_t weight_of(std::uint64_t batch) {
  constexpr std::uint64_t every = 8;
  return batch % every == 0 ? every : 0;
}

/// Adds the time of its life to a sum.
class Waiting {
 public:
  explicit Waiting(double& sum_s) : sum_s_(sum_s), began_s_(monotonic_seconds()) {}
  ~Waiting() { sum_s_ += monotonic_seconds() - began_s_; }
  Waiting(const Waiting&) = delete;

 private:
  double& sum_s_;
  double began_s_;
};

}  // namespace

BatchesImpl::BatchesImpl(std::shared_ptr<DatasetImpl> dataset_, std::int64_t epoch_, std::size_t batch_size_,
                         Remainder remainder_)
    : dataset(std::move(dataset_)),
      epoch(epoch_),
      batch_size(batch_size_),
      remainder(remainder_),
      maps_(dataset->maps),
      fields_(data::fields_of(*dataset)),
      draw_seed_(data::draw_seed(*dataset, epoch)),
      is_asked_(fields_.size()) {
  if (dataset->skipping)  // of all fields: a sample is skipped before the batch is handed over
    for (auto& asked : is_asked_) asked = true;
}

BatchesImpl::BatchesImpl(std::shared_ptr<DatasetImpl> dataset_, std::int64_t epoch_, std::size_t batch_size_,
                         data::Slice range)
    : BatchesImpl(std::move(dataset_), epoch_, batch_size_, Remainder::uneven) {
  range_ = range;
}

BatchesImpl::~BatchesImpl() {
  end_prefetcher();
  release_cursor();
}

data::BatchPlan BatchesImpl::make_plan() {
  if (range_) return {range_->first + range_->count, range_->first, batch_size, 1, remainder};
  const auto start = take_cursor();
  return {dataset->source->size(), start, data::split_of(*dataset, batch_size), remainder};
}

data::Slice BatchesImpl::part_of(std::uint64_t number) const {
  return plan_->rank_part(number, range_ ? 0 : dataset->shard.rank);
}

bool BatchesImpl::begin() {
  if (begun_)
    throw Error("dataset '" + dataset->name + "', epoch " + std::to_string(epoch) +
                ": this range of batches was walked already; call batches() again for another pass");
  begun_ = true;
  plan_.emplace(make_plan());
  order_ = data::order_of(*dataset, epoch);
  data_.columns.resize(is_asked_.size());
  data_.is_read.resize(is_asked_.size());
  reserve_indices();
  return advance();
}

/// No batch is larger than the first.
void BatchesImpl::reserve_indices() {
  const auto samples = part_of(0).count;
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
  const auto part = part_of(next_);
  const bool leaves_out_empty = remainder == Remainder::uneven || remainder == Remainder::whole;
  if (whole.count == 0 || (part.count == 0 && leaves_out_empty)) {
    batch_.indices_.clear();
    end_prefetcher();
    if (!taken_ || *taken_ >= next_) release_cursor();
    return false;
  }
  take_batch();
  batch_.owner_ = this;
  const auto ranks = range_ ? 1 : dataset->shard.size;
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
  if (!begun_ || plan_->global_batch(next_).count == 0) return false;
  return prefetcher_ ? prefetcher_->has_ready() : dataset->source->is_resident();
}

/// Where the batches that count as done end.
void BatchesImpl::note_position() {
  if (!owns_cursor_) return;
  const auto done = std::min(taken_.value_or(next_), next_);
  const auto last = plan_->global_batch(done == 0 ? 0 : done - 1);
  dataset->cursor.position = static_cast<std::int64_t>(last.first + (done == 0 ? 0 : last.count));
}

/// The numbers of the samples of batch next_, and what was read ahead of them.
void BatchesImpl::take_batch() {
  if (next_ > 0 && !prefetcher_) start_prefetcher();
  if (prefetcher_) {
    const auto began_s = monotonic_seconds();
    std::swap(data_.samples, batch_.indices_);
    const bool was_ready = prefetcher_->next(data_);
    std::swap(data_.samples, batch_.indices_);
    (was_ready ? dataset->handed_over_s : dataset->waited_s) += monotonic_seconds() - began_s;
    return;
  }
  if (dataset->skipping) {
    const Waiting waiting(dataset->waited_s);
    read_ahead(next_, data_);
    batch_.indices_ = data_.samples;
    return;
  }
  std::fill(data_.is_read.begin(), data_.is_read.end(), false);
  number_samples(next_, batch_.indices_);
}

void BatchesImpl::number_samples(std::uint64_t number, std::vector<std::uint64_t>& into) const {
  const auto part = part_of(number);
  into.resize(part.count);
  order_->list(part.first, into);
}

/// With the first batch in hand, which says how much memory one takes.
void BatchesImpl::start_prefetcher() {
  const bool any_asked = std::any_of(is_asked_.begin(), is_asked_.end(), [](const auto& asked) { return asked.load(); });
  if (dataset->threads == 0 || dataset->source->is_resident() || !any_asked) return;
  constexpr std::size_t most = 64;
  std::size_t bytes = batch_.indices_.size() * sizeof(std::uint64_t) + 1;
  for (const auto& column : data_.columns)
    bytes += column.values.capacity() + column.ends.capacity() * sizeof(std::uint64_t);
  const auto batches = std::clamp<std::size_t>(dataset->memory / bytes, 1, most);
  const auto threads = std::min<std::size_t>(static_cast<std::size_t>(dataset->threads), batches);
  constexpr std::size_t bytes_of_run = 512 << 10;
  const auto run = std::clamp<std::size_t>(bytes_of_run / bytes, 1, std::max<std::size_t>(1, batches / (4 * threads)));
  samples_ahead_ = batch_.indices_.size();
  auto spare = std::exchange(dataset->spare, {});
  if (spare.samples != samples_ahead_ || spare.batches.size() != batches) spare = {};
  prefetcher_.emplace(
      next_, plan_->batch_count(), [this](std::uint64_t number, data::BatchData& into) { read_ahead(number, into); },
      data::ReadAheadLimits{static_cast<int>(threads), batches, run}, std::move(spare.batches));
}

void BatchesImpl::end_prefetcher() {
  if (!prefetcher_) return;
  auto batches = prefetcher_->end();
  prefetcher_.reset();
  if (!dataset->pinning) dataset->spare = {samples_ahead_, std::move(batches)};
}

/// In a thread of the prefetcher.
void BatchesImpl::read_ahead(std::uint64_t number, data::BatchData& into) const {
  const data::StageClock clock(dataset->stages, weight_of(number));
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
  if (dataset->skipping)
    dataset->skipping->read(*dataset->source, into.samples, wanted);
  else
    dataset->source->read(into.samples, wanted);
  for (auto& column : wanted) {
    map(into.samples, column);
    pin(into, column);
    into.columns[column.field] = std::move(column);
  }
}

/// Returns the position to start at.
std::uint64_t BatchesImpl::take_cursor() {
  auto& cursor = dataset->cursor;
  const bool restored = std::exchange(dataset->restored, false);
  if (cursor.in_progress && !restored) return 0;
  owns_cursor_ = true;
  const bool go_on = restored && cursor.in_progress && cursor.epoch == epoch && cursor.position > 0;
  if (go_on) data::require_same_filter(*dataset);
  cursor = {true, epoch, go_on ? cursor.position : 0};
  return static_cast<std::uint64_t>(cursor.position);
}

void BatchesImpl::release_cursor() {
  if (!std::exchange(owns_cursor_, false)) return;
  dataset->cursor.in_progress = false;
  dataset->cursor.position = 0;
}

/// Makes of what the source gave what the train function gets.
void BatchesImpl::map(std::span<const std::uint64_t> samples, data::Column& column) const {
  if (!maps_) return;
  const data::InStage transforming(data::Stage::transform);
  maps_->apply(draw_seed_, samples, column);
}

/// For the largest of the batches, so that the memory stays where it is.
void BatchesImpl::make_room(data::BatchData& batch, data::Column& column) const {
  if (!dataset->pinning || fields_[column.field].varies) return;
  batch.pinned.resize(is_asked_.size());
  batch.pinned[column.field].make_room(column.values, part_of(0).count * data::sample_bytes(fields_[column.field]));
}

void BatchesImpl::pin(data::BatchData& batch, data::Column& column) const {
  if (!dataset->pinning || fields_[column.field].varies) return;
  batch.pinned[column.field].pin(*dataset->pinning, column.values);
}

void BatchesImpl::read_field(std::size_t field) {
  const auto& asked = fields_[field];
  auto& column = data_.columns[field];
  const auto bytes = asked.varies ? 0 : batch_.indices_.size() * data::sample_bytes(asked);
  if (bytes > column.values.capacity())
    require_room(bytes, "field '" + asked.name + "' of a batch of " + std::to_string(batch_.indices_.size()) + " samples");
  column.field = field;
  const Waiting waiting(dataset->waited_s);
  const data::StageClock clock(dataset->stages, weight_of(next_ - 1));  // the batch in hand
  make_room(data_, column);
  dataset->source->read(batch_.indices_, {&column, 1});
  map(batch_.indices_, column);
  pin(data_, column);
  data_.is_read[field] = true;
  is_asked_[field] = true;
}

}  // namespace trainrt
