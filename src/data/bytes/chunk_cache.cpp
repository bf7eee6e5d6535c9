#include "data/bytes/chunk_cache.hpp"

#include <chrono>

#include "data/bytes/lent.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t max_ahead = 4;  // maximum number of chunks that are decoded before they are requested

std::shared_ptr<ChunkCache> cache_of_process(std::uint64_t max_bytes) {
  static std::mutex mutex;
  static std::weak_ptr<ChunkCache> shared;
  const std::lock_guard lock(mutex);
  auto cache = shared.lock();
  if (!cache) shared = cache = std::make_shared<ChunkCache>(max_bytes);
  cache->raise_limit(max_bytes);
  return cache;
}

}  // namespace

SpareMemory::Values SpareMemory::shared(std::vector<std::byte> values) { return lent(std::move(values), weak_from_this()); }

std::vector<std::byte> SpareMemory::take(std::size_t bytes) {
  std::unique_lock lock(mutex_);
  const auto fits = [&](const auto& one) { return one.capacity() >= bytes && one.capacity() - bytes <= bytes / 8; };
  const auto found = std::ranges::find_if(spare_, fits);
  if (found == spare_.end()) {
    lock.unlock();
    return std::vector<std::byte>(bytes);
  }
  auto taken = std::move(*found);
  spare_.erase(found);
  bytes_ -= taken.capacity();
  lock.unlock();
  taken.resize(bytes);
  return taken;
}

void SpareMemory::limit(std::uint64_t max_bytes) {
  const std::lock_guard lock(mutex_);
  for (max_bytes_ = max_bytes; bytes_ > max_bytes_; spare_.pop_back()) bytes_ -= spare_.back().capacity();
}

void SpareMemory::give_back(std::vector<std::byte> values) {
  const std::lock_guard lock(mutex_);
  if (values.capacity() > max_bytes_ || bytes_ > max_bytes_ - values.capacity()) return;
  bytes_ += values.capacity();
  spare_.push_back(std::move(values));
}

ChunkCache::Entries::iterator ChunkCache::erase(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  spare_->limit(room());
  by_key_.erase(entry->key);
  return entries_.erase(entry);
}

/// Returns the future with the values of a chunk. If the chunk is not in the cache, adds an entry for the chunk and sets
/// `added`. The caller must then decode the chunk and fulfil the promise `added`.
std::shared_future<ChunkCache::Values> ChunkCache::find_or_add(const Key& key, std::size_t bytes,
                                                               std::optional<std::promise<Values>>& added) {
  const std::lock_guard lock(mutex_);
  if (const auto found = by_key_.find(key); found != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->values;
  }
  while (!entries_.empty() && bytes_ + bytes > max_bytes_) erase(std::prev(entries_.end()));
  entries_.push_front({key, bytes, added.emplace().get_future().share()});
  by_key_[key] = entries_.begin();
  bytes_ += bytes;
  return entries_.front().values;
}

/// Replaces the expected size of the chunk `key` by its actual size `bytes`. If the cache has then become too large,
/// removes the least recently used chunks.
void ChunkCache::set_bytes(const Key& key, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  spare_->limit(room());  // the chunk may occupy memory that was spare before
  const auto found = by_key_.find(key);
  if (found == by_key_.end() || found->second->bytes == bytes) return;
  bytes_ += bytes - found->second->bytes;  // unsigned arithmetic: correct for a smaller size, too
  found->second->bytes = bytes;
  while (bytes_ > max_bytes_ && entries_.size() > 1 && entries_.back().key != key) erase(std::prev(entries_.end()));
}

ChunkCache::Values ChunkCache::get(const Key& key, std::size_t bytes, const Make& make, std::uint64_t end_ahead) {
  std::optional<std::promise<Values>> added;
  const auto found = find_or_add(key, bytes, added);
  if (added) return make_for(key, make, *added);
  if (found.wait_for(std::chrono::seconds(0)) != std::future_status::ready && is_sequential(key, bytes))
    make_ahead(key, bytes, make, end_ahead);
  return found.get();
}

bool ChunkCache::contains(const Key& key) {
  const std::lock_guard lock(mutex_);
  return by_key_.contains(key);
}

ChunkCache::Values ChunkCache::make_for(const Key& key, const Make& make, std::promise<Values>& added) {
  try {
    auto values = spare_->shared(make(key.chunk));
    set_bytes(key, values->size());
    added.set_value(values);
    return values;
  } catch (...) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = by_key_.find(key); found != by_key_.end()) erase(found->second);
    }
    added.set_exception(std::current_exception());
    throw;
  }
}

/// Decodes one chunk before it is requested: the first chunk after `key` that is not in the cache. Searches the next
/// `max_ahead` chunks.
void ChunkCache::make_ahead(Key key, std::size_t bytes, const Make& make, std::uint64_t end) {
  for (const auto last = key.chunk + max_ahead; key.chunk < last && key.chunk + 1 < end;) {
    ++key.chunk;
    std::optional<std::promise<Values>> added;
    find_or_add(key, bytes, added);
    if (!added) continue;
    try {
      make_for(key, make, *added);
    } catch (...) {  // the thread that requests the chunk tries again and gets the error
    }
    return;
  }
}

/// Returns whether the chunks are probably read in sequence, because the chunk before `key` is in the cache. Returns
/// false if the cache is too small for several chunks of `bytes` bytes.
bool ChunkCache::is_sequential(Key key, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return bytes <= max_bytes_ / (2 * max_ahead) && (key.chunk-- == 0 || by_key_.contains(key));
}

std::uint64_t ChunkCache::new_owner() {
  const std::lock_guard lock(mutex_);
  return ++owners_;
}

void ChunkCache::drop(std::uint64_t owner) {
  const std::lock_guard lock(mutex_);
  for (auto entry = entries_.begin(); entry != entries_.end();)
    entry = entry->key.owner == owner ? erase(entry) : std::next(entry);
}

void ChunkCache::raise_limit(std::uint64_t min_max_bytes) {
  const std::lock_guard lock(mutex_);
  max_bytes_ = std::max(max_bytes_, min_max_bytes);
}

ChunkCacheShare::ChunkCacheShare(std::uint64_t max_bytes)
    : cache_(cache_of_process(max_bytes)), owner_(cache_->new_owner()) {}

}  // namespace trainrt::data
