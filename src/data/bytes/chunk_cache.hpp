#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "data/bytes/spare_chunks.hpp"

namespace trainrt::data {

/// Decoded chunks, the last ones used, up to so many bytes in all (or one, if that is larger), those that are spare among
/// them. Threads that want the same chunk at once get it from the one that came first.
class ChunkCache {
 public:
  using Values = std::shared_ptr<const std::vector<std::byte>>;
  struct Key {
    std::uint64_t owner = 0;
    std::size_t table = 0;
    std::uint64_t chunk = 0;
    auto operator<=>(const Key&) const = default;
  };

  explicit ChunkCache(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  using Make = std::function<std::vector<std::byte>(std::uint64_t chunk)>;
  /// The chunk of `bytes` bytes, or about as many, which `make` gives if it is not there. What it throws is thrown to all
  /// who wait for it, and the next one who asks tries again. Chunks before `end_ahead`, as large and of the same table, are
  /// made instead of waiting, if chunks are read in turn: else all threads would wait for the one that makes the next.
  Values get(const Key& key, std::size_t bytes, const Make& make, std::uint64_t end_ahead = 0);
  /// Memory for the values of a chunk that is being made: of one that is gone, or new.
  std::vector<std::byte> memory(std::size_t bytes) { return spare_->take(bytes); }
  std::uint64_t new_owner();
  void drop(std::uint64_t owner);
  void allow(std::uint64_t most_bytes);  ///< if that is more than before

 private:
  struct Entry {
    Key key;
    std::size_t bytes = 0;
    std::shared_future<Values> values;
  };
  using Entries = std::list<Entry>;
  std::shared_future<Values> find_or_add(const Key& key, std::size_t bytes, std::optional<std::promise<Values>>& mine);
  Values make_for(const Key& key, const Make& make, std::promise<Values>& waiting);
  void make_ahead(Key key, std::size_t bytes, const Make& make, std::uint64_t end);
  bool is_in_turn(Key key, std::size_t bytes);
  void settle(const Key& key, std::size_t bytes);
  void forget(const Key& key);
  Entries::iterator erase(Entries::iterator entry);
  std::uint64_t room() const { return most_bytes_ - std::min(most_bytes_, bytes_); }

  std::shared_ptr<SpareChunks> spare_ = std::make_shared<SpareChunks>();
  std::mutex mutex_;
  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t owners_ = 0;
  Entries entries_;  // the last one used in front
  std::map<Key, Entries::iterator> places_;
};

/// What one file's rows keep in the cache of this process, which has as many bytes as the one who asks for most allows it:
/// files that are read together share it. Gone with its owner.
class ChunkCacheShare {
 public:
  explicit ChunkCacheShare(std::uint64_t most_bytes);
  ~ChunkCacheShare() { cache_->drop(owner_); }
  ChunkCacheShare(const ChunkCacheShare&) = delete;
  ChunkCacheShare& operator=(const ChunkCacheShare&) = delete;
  ChunkCache::Values get(std::size_t table, std::uint64_t chunk, std::size_t bytes, const ChunkCache::Make& make,
                         std::uint64_t end_ahead) {
    return cache_->get({owner_, table, chunk}, bytes, make, end_ahead);
  }
  std::vector<std::byte> memory(std::size_t bytes) { return cache_->memory(bytes); }

 private:
  std::shared_ptr<ChunkCache> cache_;
  std::uint64_t owner_;
};

}  // namespace trainrt::data
