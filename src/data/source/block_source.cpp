#include "data/source/block_source.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <trainrt/error.hpp>

#include "data/bytes/lent.hpp"
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

/// The blocks of one field. `mutex` protects `blocks` and `numbers`.
struct BlockSource::FieldBlocks {
  using Values = std::shared_ptr<const Column>;
  explicit FieldBlocks(std::size_t max) : max_kept(max), spare(std::make_shared<SpareColumns>(max)) {}

  /// Returns the future with the values of a block. If the block is not kept, adds it and sets `added`: the caller must
  /// then read the block and set the value of this promise.
  std::shared_future<Values> find_or_add(std::uint64_t number, std::optional<std::promise<Values>>& added) {
    const std::lock_guard lock(mutex);
    const auto [block, is_new] = blocks.try_emplace(number);
    if (!is_new) return block->second;
    auto found = block->second = added.emplace().get_future().share();
    numbers.push_back(number);
    if (numbers.size() <= max_kept) return found;
    blocks.erase(numbers.front());
    numbers.pop_front();
    return found;
  }
  void drop(std::uint64_t number) {
    const std::lock_guard lock(mutex);
    if (blocks.erase(number) > 0) std::erase(numbers, number);
  }

  std::size_t max_kept;
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::shared_future<Values>> blocks;
  std::deque<std::uint64_t> numbers;    ///< numbers of the kept blocks, the oldest first
  std::shared_ptr<SpareColumns> spare;  ///< memory of dropped blocks; set by the constructor
};

BlockSource::BlockSource(std::shared_ptr<const Source> source, std::uint64_t block, std::size_t max_kept)
    : WrappedSource(std::move(source)), block_(block) {
  for (std::size_t field = 0; field < fields().size(); ++field) kept_.push_back(std::make_unique<FieldBlocks>(max_kept));
}

BlockSource::~BlockSource() = default;

/// Returns the values of a block. The first thread that needs the block reads it; other threads wait. If the block cannot
/// be read, the next thread that needs it tries again.
std::shared_ptr<const Column> BlockSource::block_of(std::size_t field, std::uint64_t number) const {
  std::optional<std::promise<FieldBlocks::Values>> added;
  const auto found = kept_[field]->find_or_add(number, added);
  if (!added) return found.get();
  try {
    auto column = kept_[field]->spare->take();
    column.field = field;
    const auto first = number * block_;
    source_->read(consecutive(first, std::min(block_, size() - first)), {&column, 1});
    added->set_value(lent(std::move(column), std::weak_ptr(kept_[field]->spare)));
  } catch (...) {
    kept_[field]->drop(number);
    added->set_exception(std::current_exception());
  }
  return found.get();
}

void BlockSource::read_column(std::span<const std::uint64_t> samples, Column& column) const {
  const auto& field = fields()[column.field];
  const auto bytes = field.varies ? 0 : sample_bytes(field);
  column.clear();
  column.values.resize(samples.size() * bytes);
  std::unordered_map<std::uint64_t, std::shared_ptr<const Column>> blocks;  // the blocks of this request
  for (std::size_t i = 0; i < samples.size(); ++i) {
    auto& block = blocks[samples[i] / block_];
    if (!block) block = block_of(column.field, samples[i] / block_);
    const auto at = samples[i] % block_;
    if (field.varies)
      column.append(block->varying(at));
    else if (bytes > 0)
      std::memcpy(column.values.data() + i * bytes, block->values.data() + at * bytes, bytes);
  }
}

void BlockSource::read(std::span<const std::uint64_t> samples, std::span<Column> columns) const {
  for (auto& column : columns) try {
      read_column(samples, column);
    } catch (const io::StorageError&) {
      throw;
    } catch (const Error&) {  // the error may concern other samples of a block
      source_->read(samples, {&column, 1});
    }
}

}  // namespace trainrt::data
