#include "data/source/block_source.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <shared_mutex>

#include <trainrt/error.hpp>

#include "data/bytes/lent.hpp"
#include "data/source/row_source.hpp"
#include "io/storage_error.hpp"

namespace trainrt::data {

namespace {

/// Keeps the memory of at most `max` columns that are no longer used, because new memory costs one page fault per 4 KiB.
/// Thread-safe.
class SpareColumns {
 public:
  explicit SpareColumns(std::size_t max) : max_(max) {}
  /// Returns a column with unspecified values.
  Column take() {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) return {};
    auto column = std::move(spare_.back());
    spare_.pop_back();
    return column;
  }
  void give_back(Column column) {
    const std::lock_guard lock(mutex_);
    if (spare_.size() < max_) spare_.push_back(std::move(column));
  }

 private:
  std::mutex mutex_;
  std::size_t max_;
  std::vector<Column> spare_;
};

}  // namespace

/// The blocks of one field that are kept in memory or being read.
struct BlockSource::FieldBlocks {
  explicit FieldBlocks(std::size_t max) : max_kept(max), spare(std::make_shared<SpareColumns>(max)) {}

  /// Returns the block with this number, or nullptr if it is not kept in memory. The caller must hold `mutex`. The pointer
  /// is valid as long as it does.
  const Column* find(std::uint64_t number) const {
    const auto found = kept.find(number);
    return found == kept.end() ? nullptr : found->second.get();
  }
  /// Returns the future with the values of a block. If the block is neither kept in memory nor being read, sets `added`.
  /// The caller must then read the block, fulfil the promise `added`, and call keep(), or end_reading() after an error.
  std::shared_future<Values> find_or_add(std::uint64_t number, std::optional<std::promise<Values>>& added) {
    const std::lock_guard lock(reading_mutex);
    if (const auto found = being_read.find(number); found != being_read.end()) return found->second;
    std::promise<Values> promise;
    auto future = promise.get_future().share();
    const std::shared_lock kept_lock(mutex);
    if (const auto found = kept.find(number); found != kept.end()) {
      promise.set_value(found->second);
      return future;
    }
    added = std::move(promise);
    return being_read[number] = future;
  }
  void keep(std::uint64_t number, const Values& values) {
    Values dropped;  // destroyed after the lock is released
    {
      const std::lock_guard lock(mutex);
      kept[number] = values;
      numbers.push_back(number);
      if (numbers.size() > max_kept) {
        dropped = std::move(kept.extract(numbers.front()).mapped());
        numbers.pop_front();
      }
    }
    end_reading(number);
  }
  void end_reading(std::uint64_t number) {
    const std::lock_guard lock(reading_mutex);
    being_read.erase(number);
  }

  const std::size_t max_kept;
  std::shared_mutex mutex;  ///< protects `kept` and `numbers`; no block is dropped while a thread holds `mutex`
  Blocks kept;
  std::deque<std::uint64_t> numbers;  ///< numbers of the kept blocks, the oldest first
  std::mutex reading_mutex;           ///< protects `being_read`
  std::unordered_map<std::uint64_t, std::shared_future<Values>> being_read;
  const std::shared_ptr<SpareColumns> spare;  ///< memory of dropped blocks
};

BlockSource::BlockSource(std::shared_ptr<const Source> source, std::uint64_t block, std::size_t max_kept)
    : WrappedSource(std::move(source)), block_(block) {
  for (std::size_t field = 0; field < fields().size(); ++field) kept_.push_back(std::make_unique<FieldBlocks>(max_kept));
}

BlockSource::~BlockSource() = default;

/// Reads a block, keeps it in memory, and sets the value of `promise`. If the block cannot be read, `promise` gets the
/// exception, and the next thread that needs the block reads it again.
void BlockSource::read_block(std::size_t field, std::uint64_t number, std::promise<Values>& promise) const {
  auto& blocks = *kept_[field];
  try {
    auto column = blocks.spare->take();
    column.field = field;
    const auto first = number * block_;
    source_->read(consecutive(first, std::min(block_, size() - first)), {&column, 1});
    const auto values = lent(std::move(column), std::weak_ptr(blocks.spare));
    blocks.keep(number, values);
    promise.set_value(values);
  } catch (...) {
    blocks.end_reading(number);
    promise.set_exception(std::current_exception());
  }
}

/// Adds the blocks with the given numbers to `into`. First reads the blocks that no other thread is reading, then waits
/// for the blocks that other threads are reading.
void BlockSource::load(std::size_t field, std::vector<std::uint64_t> numbers, Blocks& into) const {
  std::ranges::sort(numbers);
  const auto repeated = std::ranges::unique(numbers);
  numbers.erase(repeated.begin(), repeated.end());
  std::vector<std::shared_future<Values>> found;
  found.reserve(numbers.size());  // if push_back() threw after find_or_add(), other threads would wait forever
  for (const auto number : numbers) {
    std::optional<std::promise<Values>> added;
    found.push_back(kept_[field]->find_or_add(number, added));
    if (!added) continue;
    read_block(field, number, *added);
    found.back().get();  // throws the error of the block, before other blocks are read
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) into[numbers[i]] = found[i].get();
}

/// Copies the samples from blocks in memory to `column`. Locks `mutex` meanwhile, so that no block is dropped. Copies of
/// the shared pointers to the blocks would be slower, because all threads would write to the same reference counters.
void BlockSource::read_column(std::span<const std::uint64_t> samples, Column& column) const {
  auto& blocks = *kept_[column.field];
  Blocks loaded;
  std::vector<const Column*> found(samples.size());
  for (;;) {
    std::shared_lock lock(blocks.mutex);
    std::vector<std::uint64_t> missing;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const auto number = samples[i] / block_;
      found[i] = blocks.find(number);
      if (found[i] != nullptr) continue;
      if (const auto own = loaded.find(number); own != loaded.end())
        found[i] = own->second.get();
      else
        missing.push_back(number);
    }
    if (missing.empty()) return copy(samples, found, column);
    lock.unlock();
    load(column.field, std::move(missing), loaded);
  }
}

/// Replaces the content of `column` by the values of `samples`. found[i] is the block that contains samples[i].
void BlockSource::copy(std::span<const std::uint64_t> samples, std::span<const Column* const> found, Column& column) const {
  const auto& field = fields()[column.field];
  if (field.varies) {
    column.clear();
    for (std::size_t i = 0; i < samples.size(); ++i) column.append(found[i]->varying(samples[i] % block_));
    return;
  }
  const auto bytes = sample_bytes(field);
  column.ends.clear();
  column.values.resize(samples.size() * bytes);
  const auto values_of = [&](std::size_t i) { return found[i]->values.data() + samples[i] % block_ * bytes; };
  gather(samples.size(), bytes, values_of, column.values.data());
}

void BlockSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  for (auto& column : columns) try {
      read_column(samples, column);
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error&) {  // perhaps only samples of a block that were not requested cannot be read
      source_->read(samples, {&column, 1});
    }
}

}  // namespace trainrt::data
