#include "data/bytes/chunk_cache.hpp"

#include <algorithm>
#include <chrono>

namespace trainrt::data {

namespace {

constexpr std::uint64_t most_ahead = 4;

}  // namespace

ChunkCache::Entries::iterator ChunkCache::erase(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  spare_->allow(room());
  places_.erase(entry->key);
  return entries_.erase(entry);
}

/// If it is not there, `mine` is what it will be told by: then who asked makes it.
std::shared_future<ChunkCache::Values> ChunkCache::find_or_add(const Key& key, std::size_t bytes,
                                                               std::optional<std::promise<Values>>& mine) {
  const std::lock_guard lock(mutex_);
  if (const auto found = places_.find(key); found != places_.end()) {
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->values;
  }
  while (!entries_.empty() && bytes_ + bytes > most_bytes_) erase(std::prev(entries_.end()));
  entries_.push_front({key, bytes, mine.emplace().get_future().share()});
  places_[key] = entries_.begin();
  bytes_ += bytes;
  return entries_.front().values;
}

/// What a chunk was thought to take becomes what it takes.
void ChunkCache::settle(const Key& key, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  spare_->allow(room());  // whoever made it has taken what was spare
  const auto found = places_.find(key);
  if (found == places_.end() || found->second->bytes == bytes) return;
  bytes_ += bytes - found->second->bytes;  // of unsigned numbers: also if that is less
  found->second->bytes = bytes;
  while (bytes_ > most_bytes_ && entries_.size() > 1 && entries_.back().key != key) erase(std::prev(entries_.end()));
}

void ChunkCache::forget(const Key& key) {
  const std::lock_guard lock(mutex_);
  if (const auto found = places_.find(key); found != places_.end()) erase(found->second);
}

ChunkCache::Values ChunkCache::get(const Key& key, std::size_t bytes, const Make& make, std::uint64_t end_ahead) {
  std::optional<std::promise<Values>> mine;
  const auto there = find_or_add(key, bytes, mine);
  if (mine) return make_for(key, make, *mine);
  if (there.wait_for(std::chrono::seconds(0)) != std::future_status::ready && is_in_turn(key, bytes))
    make_ahead(key, bytes, make, end_ahead);
  return there.get();
}

ChunkCache::Values ChunkCache::make_for(const Key& key, const Make& make, std::promise<Values>& waiting) {
  try {
    auto values = spare_->kept(make(key.chunk));
    settle(key, values->size());
    waiting.set_value(values);
    return values;
  } catch (...) {
    forget(key);
    waiting.set_exception(std::current_exception());
    throw;
  }
}

/// The first of the next few chunks that is not there.
void ChunkCache::make_ahead(Key key, std::size_t bytes, const Make& make, std::uint64_t end) {
  for (const auto last = key.chunk + most_ahead; key.chunk < last && key.chunk + 1 < end;) {
    ++key.chunk;
    std::optional<std::promise<Values>> mine;
    find_or_add(key, bytes, mine);
    if (!mine) continue;
    try {
      make_for(key, make, *mine);
    } catch (...) {  // whoever asks for it tries again, and is told
    }
    return;
  }
}

/// Whether the chunk before it was used not long ago, and there is room for several.
bool ChunkCache::is_in_turn(Key key, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return bytes <= most_bytes_ / (2 * most_ahead) && (key.chunk-- == 0 || places_.contains(key));
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

void ChunkCache::allow(std::uint64_t most_bytes) {
  const std::lock_guard lock(mutex_);
  most_bytes_ = std::max(most_bytes_, most_bytes);
}

namespace {

std::shared_ptr<ChunkCache> cache_of_process(std::uint64_t most_bytes) {
  static std::mutex mutex;
  static std::weak_ptr<ChunkCache> shared;
  const std::lock_guard lock(mutex);
  auto cache = shared.lock();
  if (!cache) shared = cache = std::make_shared<ChunkCache>(most_bytes);
  cache->allow(most_bytes);
  return cache;
}

}  // namespace

ChunkCacheShare::ChunkCacheShare(std::uint64_t most_bytes)
    : cache_(cache_of_process(most_bytes)), owner_(cache_->new_owner()) {}

}  // namespace trainrt::data
