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

namespace trainrt::data {

/// Keeps the memory of chunks that are no longer used, so that new chunks can reuse it. Newly allocated memory would
/// cost one page fault per 4 KiB. Thread-safe.
class SpareMemory : public std::enable_shared_from_this<SpareMemory> {
 public:
  using Values = std::shared_ptr<const std::vector<std::byte>>;
  /// Returns a shared pointer to `values`. When the last user drops the pointer, the memory returns to this object, if it
  /// still exists.
  Values shared(std::vector<std::byte> values);
  /// Returns a vector of `bytes` bytes with unspecified values.
  std::vector<std::byte> take(std::size_t bytes);
  /// Limits the spare memory to `max_bytes`.
  void limit(std::uint64_t max_bytes);
  /// Keeps the memory of `values` for take(), or frees it if the limit would be exceeded.
  void give_back(std::vector<std::byte> values);

 private:
  std::mutex mutex_;
  std::vector<std::vector<std::byte>> spare_;
  std::uint64_t bytes_ = 0, max_bytes_ = 0;
};

/// A cache of decoded chunks that drops the least recently used ones. The chunks and the spare memory together take at
/// most `max_bytes`, but one chunk is always kept. If several threads request the same chunk at the same time, the
/// first thread makes it and the others wait. Thread-safe.
class ChunkCache {
 public:
  using Values = SpareMemory::Values;
  struct Key {
    std::uint64_t owner = 0;
    std::size_t table = 0;
    std::uint64_t chunk = 0;
    auto operator<=>(const Key&) const = default;
  };

  explicit ChunkCache(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}
  using Make = std::function<std::vector<std::byte>(std::uint64_t chunk)>;
  /// Returns a chunk. Calls `make` to decode it if the chunk is not in the cache. `bytes` is the expected size of the
  /// chunk. An exception of `make` is thrown to all threads that wait for the chunk; the next request calls `make` again.
  ///
  /// If the chunks are read in sequence, a thread that would have to wait for a chunk first decodes one of the next
  /// chunks. In this way, several threads decode different chunks at the same time. Chunks from `end_ahead` on are not
  /// decoded ahead; all chunks before it must have the same size.
  Values get(const Key& key, std::size_t bytes, const Make& make, std::uint64_t end_ahead = 0);
  bool contains(const Key& key);  ///< returns whether a chunk is in the cache or is being decoded
  /// Returns `bytes` bytes of unspecified content, into which `make` can decode a chunk.
  std::vector<std::byte> memory(std::size_t bytes) { return spare_->take(bytes); }
  std::uint64_t new_owner();
  void drop(std::uint64_t owner);                 ///< removes all chunks of this owner
  void raise_limit(std::uint64_t min_max_bytes);  ///< raises `max_bytes` to this value if it is lower

 private:
  struct Entry {
    Key key;
    std::size_t bytes = 0;
    std::shared_future<Values> values;
  };
  using Entries = std::list<Entry>;
  std::shared_future<Values> find_or_add(const Key& key, std::size_t bytes, std::optional<std::promise<Values>>& added);
  Values make_for(const Key& key, const Make& make, std::promise<Values>& added);
  void make_ahead(Key key, std::size_t bytes, const Make& make, std::uint64_t end);
  bool is_sequential(Key key, std::size_t bytes);
  void set_bytes(const Key& key, std::size_t bytes);
  Entries::iterator erase(Entries::iterator entry);
  std::uint64_t room() const { return max_bytes_ - std::min(max_bytes_, bytes_); }

  std::shared_ptr<SpareMemory> spare_ = std::make_shared<SpareMemory>();
  std::mutex mutex_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint64_t owners_ = 0;
  Entries entries_;  // the most recently used first
  std::map<Key, Entries::iterator> by_key_;
};

/// Access of one open file to the ChunkCache of this process, which all files share. The size limit of the cache is the
/// largest `max_bytes` of all files. The destructor removes the chunks of this file from the cache.
class ChunkCacheShare {
 public:
  explicit ChunkCacheShare(std::uint64_t max_bytes);
  ~ChunkCacheShare() { cache_->drop(owner_); }
  ChunkCacheShare(const ChunkCacheShare&) = delete;
  ChunkCacheShare& operator=(const ChunkCacheShare&) = delete;
  ChunkCache::Values get(std::size_t table, std::uint64_t chunk, std::size_t bytes, const ChunkCache::Make& make,
                         std::uint64_t end_ahead) {
    return cache_->get({owner_, table, chunk}, bytes, make, end_ahead);
  }
  bool contains(std::size_t table, std::uint64_t chunk) { return cache_->contains({owner_, table, chunk}); }
  std::vector<std::byte> memory(std::size_t bytes) { return cache_->memory(bytes); }

 private:
  std::shared_ptr<ChunkCache> cache_;
  std::uint64_t owner_;
};

}  // namespace trainrt::data
