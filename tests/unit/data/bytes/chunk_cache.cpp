#include "data/bytes/chunk_cache.hpp"

#include <mutex>
#include <set>
#include <thread>

#include <trainrt/error.hpp>

#include "unit/data/support.hpp"

using namespace data_test;
using data::ChunkCache;

namespace {

std::vector<std::byte> chunk_of(int number, std::size_t bytes) { return {bytes, static_cast<std::byte>(number)}; }

}  // namespace

TEST_CASE("a chunk that several threads request at the same time is made once") {
  ChunkCache cache(1000);
  std::atomic<int> made = 0, waiting = 0;
  const auto make = [&](std::uint64_t) {
    while (waiting < 4) std::this_thread::yield();  // until all threads have requested the chunk, or are about to
    ++made;
    return chunk_of(7, 10);
  };
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      ++waiting;
      if (*cache.get({1, 0, 5}, 10, make) == chunk_of(7, 10)) ++right;
    });
  for (auto& thread : threads) thread.join();
  CHECK(made == 1);
  CHECK(right == 4);
}

TEST_CASE("the cache keeps the most recently used chunks up to its limit, and one chunk that exceeds the limit") {
  ChunkCache cache(30);
  int made = 0;
  const auto get = [&](std::uint64_t chunk, std::size_t bytes) {
    cache.get({1, 0, chunk}, bytes, [&](std::uint64_t) {
      ++made;
      return chunk_of(0, bytes);
    });
    return made;
  };
  for (const std::uint64_t chunk : {0, 1, 2}) get(chunk, 10);
  CHECK(get(0, 10) == 3);
  CHECK(get(3, 10) == 4);  // replaces chunk 1, the least recently used one
  CHECK(get(0, 10) == 4);
  CHECK(get(2, 10) == 4);
  CHECK(get(1, 10) == 5);
  CHECK(get(9, 100) == 6);
  CHECK(get(9, 100) == 6);
  CHECK(get(0, 10) == 7);
}

TEST_CASE("a chunk that could not be made is made again at the next request, and the chunks of an owner can be dropped") {
  ChunkCache cache(100);
  CHECK_THROWS_WITH(cache.get({1, 0, 0}, 10, [](std::uint64_t) -> std::vector<std::byte> { throw Error("damaged"); }),
                    "damaged");
  CHECK(*cache.get({1, 0, 0}, 10, [](std::uint64_t) { return chunk_of(1, 10); }) == chunk_of(1, 10));
  CHECK(*cache.get({2, 0, 0}, 10, [](std::uint64_t) { return chunk_of(2, 10); }) == chunk_of(2, 10));
  cache.drop(1);
  CHECK(*cache.get({1, 0, 0}, 10, [](std::uint64_t) { return chunk_of(3, 10); }) == chunk_of(3, 10));
  CHECK(*cache.get({2, 0, 0}, 10, [](std::uint64_t) { return chunk_of(4, 10); }) == chunk_of(2, 10));
}

TEST_CASE("a thread that waits for a chunk makes the next one only if chunks are read in sequence") {
  const auto made_while_waiting_for = [](ChunkCache& cache, std::uint64_t chunk, std::uint64_t end_ahead) {
    std::set<std::uint64_t> made;
    std::mutex mutex;
    std::atomic<bool> begun = false;
    const auto make = [&](std::uint64_t wanted) {
      const auto is_done = [&] {
        const std::lock_guard lock(mutex);
        return !made.empty();
      };
      begun = true;
      for (int i = 0; wanted == chunk && !is_done() && i < 100; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const std::lock_guard lock(mutex);
      if (wanted != chunk) made.insert(wanted);
      return chunk_of(static_cast<int>(wanted), 10);
    };
    std::thread first([&] { cache.get({1, 0, chunk}, 10, make, end_ahead); });
    while (!begun) std::this_thread::yield();
    CHECK(*cache.get({1, 0, chunk}, 10, make, end_ahead) == chunk_of(static_cast<int>(chunk), 10));
    first.join();
    return made;
  };
  using Chunks = std::set<std::uint64_t>;
  ChunkCache cache(1000);
  CHECK(made_while_waiting_for(cache, 0, 9) == Chunks{1});
  CHECK(made_while_waiting_for(cache, 2, 9) == Chunks{3});
  CHECK(made_while_waiting_for(cache, 4, 5).empty());  // chunk 4 is the last chunk
  CHECK(made_while_waiting_for(cache, 7, 9).empty());  // chunk 6 was not requested before
  ChunkCache small(30);
  CHECK(made_while_waiting_for(small, 0, 9).empty());
}

TEST_CASE("the error of a chunk made ahead is thrown only to the thread that requests the chunk") {
  ChunkCache cache(1000);
  std::atomic<bool> begun = false, failed = false;
  const auto make = [&](std::uint64_t wanted) {
    begun = true;
    if (wanted == 1) {
      failed = true;
      throw Error("damaged");
    }
    for (int i = 0; !failed && i < 1000; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return chunk_of(0, 10);
  };
  std::thread first([&] { cache.get({1, 0, 0}, 10, make, 9); });
  while (!begun) std::this_thread::yield();
  CHECK(*cache.get({1, 0, 0}, 10, make, 9) == chunk_of(0, 10));
  first.join();
  CHECK(failed);
  CHECK_THROWS_WITH(cache.get({1, 0, 1}, 10, make, 9), "damaged");
}

TEST_CASE("the memory of a dropped chunk is reused for the next one, within the limit of the cache") {
  ChunkCache cache(200);
  const std::byte* first = nullptr;
  const auto make = [&](std::uint64_t chunk) {
    auto values = cache.memory(100);
    if (chunk == 0) first = values.data();
    return values;
  };
  const auto held = cache.get({1, 0, 0}, 100, make);
  cache.get({1, 0, 1}, 100, make);
  // The memory of `first` belongs to a chunk that is still used.
  CHECK(cache.get({1, 0, 2}, 100, make)->data() != first);
  CHECK(held->data() == first);
  ChunkCache::Values third;
  {
    ChunkCache other(200);
    const auto make_there = [&](std::uint64_t) { return other.memory(100); };
    const auto* const begin = other.get({1, 0, 0}, 100, make_there)->data();
    other.get({1, 0, 1}, 100, make_there);
    third = other.get({1, 0, 2}, 100, make_there);
    CHECK(third->data() == begin);
    other.get({1, 0, 3}, 190, [](std::uint64_t) { return chunk_of(1, 190); });
    CHECK(other.memory(100).data() != begin);  // `third` still uses this memory
  }
  CHECK(third->size() == 100);  // `third` outlives its cache
}
