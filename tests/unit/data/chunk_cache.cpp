#include "data/chunk_cache.hpp"

#include <trainrt/error.hpp>

#include "unit/data/support.hpp"

using namespace data_test;
using data::ChunkCache;

namespace {

std::vector<std::byte> chunk_of(int number, std::size_t bytes) { return {bytes, static_cast<std::byte>(number)}; }

}  // namespace

TEST_CASE("a chunk that several threads want at once is made once") {
  ChunkCache cache(1000);
  std::atomic<int> made = 0, waiting = 0;
  const auto make = [&] {
    while (waiting < 4) std::this_thread::yield();  // until all have asked, or are about to
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

TEST_CASE("the cache keeps the chunks that were used last, up to its limit, and a larger one alone") {
  ChunkCache cache(30);
  int made = 0;
  const auto get = [&](std::uint64_t chunk, std::size_t bytes) {
    cache.get({1, 0, chunk}, bytes, [&] {
      ++made;
      return chunk_of(0, bytes);
    });
    return made;
  };
  for (const std::uint64_t chunk : {0, 1, 2}) get(chunk, 10);
  CHECK(get(0, 10) == 3);
  CHECK(get(3, 10) == 4);  // in the place of 1
  CHECK(get(0, 10) == 4);
  CHECK(get(2, 10) == 4);
  CHECK(get(1, 10) == 5);
  CHECK(get(9, 100) == 6);
  CHECK(get(9, 100) == 6);
  CHECK(get(0, 10) == 7);
}

TEST_CASE("a chunk that cannot be made is tried again by the next one, and what an owner leaves is forgotten") {
  ChunkCache cache(100);
  CHECK_THROWS_WITH(cache.get({1, 0, 0}, 10, []() -> std::vector<std::byte> { throw Error("damaged"); }), "damaged");
  CHECK(*cache.get({1, 0, 0}, 10, [] { return chunk_of(1, 10); }) == chunk_of(1, 10));
  CHECK(*cache.get({2, 0, 0}, 10, [] { return chunk_of(2, 10); }) == chunk_of(2, 10));
  cache.drop(1);
  CHECK(*cache.get({1, 0, 0}, 10, [] { return chunk_of(3, 10); }) == chunk_of(3, 10));
  CHECK(*cache.get({2, 0, 0}, 10, [] { return chunk_of(4, 10); }) == chunk_of(2, 10));
}
