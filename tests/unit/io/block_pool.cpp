#include "io/files/block_pool.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>
#include <vector>

using namespace trainrt;

namespace {

/// Returns the number of pages that have physical memory, in the `bytes` bytes from `first` on.
std::size_t pages_in_memory(const std::byte* first, std::size_t bytes) {
  std::vector<unsigned char> there(bytes / 4096);
  REQUIRE(::mincore(const_cast<std::byte*>(first), bytes, there.data()) == 0);
  return static_cast<std::size_t>(std::count_if(there.begin(), there.end(), [](auto page) { return (page & 1) != 0; }));
}

bool on_page(const io::Block& block) { return reinterpret_cast<std::uintptr_t>(block.bytes().data()) % 4096 == 0; }

}  // namespace

TEST_CASE("aligned memory starts on a page, has physical memory, and is empty after a move") {
  for (const std::size_t bytes : {1u, 4096u, 4097u, 2u << 20, (5u << 20) + 3}) {
    io::AlignedMemory memory(bytes);
    REQUIRE(memory.bytes().size() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 4096 == 0);
    std::memset(memory.bytes().data(), 7, bytes);
    const auto moved = std::move(memory);
    CHECK(moved.bytes().back() == std::byte{7});
    CHECK(memory.bytes().empty());
  }
  CHECK(io::AlignedMemory(0).bytes().empty());
}

TEST_CASE("an allocation that fails is an error that states the size") {
  CHECK_THROWS_WITH(io::AlignedMemory(std::size_t{1} << 60), Catch::Contains("1152921504606846976 bytes of memory"));
  CHECK_THROWS_WITH(io::AlignedMemory(SIZE_MAX - 5000), Catch::Contains("bytes of memory"));
}

TEST_CASE("a pool returns complete pages, obeys its limit, and always has two blocks") {
  io::BlockPool pool(5000, 8192 * 3 + 100);
  CHECK(pool.block_bytes() == 8192);
  CHECK(pool.max_blocks() == 3);
  const auto a = pool.take(), b = pool.take(), c = pool.take();
  CHECK(on_page(a));
  CHECK(a.bytes().size() == 8192);
  CHECK(a.bytes().data() != b.bytes().data());
  CHECK(b.bytes().data() != c.bytes().data());
  CHECK_FALSE(pool.take_within(0.01));

  io::BlockPool small(1 << 20, 1);
  const auto first = small.take(), second = small.take();
  CHECK_FALSE(small.take_within(0.01));
}

TEST_CASE("a block is returned once, after any number of moves, and is reused") {
  io::BlockPool pool(4096, 2 * 4096);
  const std::byte* address = nullptr;
  {
    auto a = pool.take();
    address = a.bytes().data();
    io::Block b(std::move(a));
    io::Block c;
    c = std::move(b);
    CHECK(c.bytes().data() == address);
    CHECK(a.bytes().empty());
  }
  const auto again = pool.take();
  CHECK(again.bytes().data() == address);
  const auto other = pool.take();
  CHECK(other.bytes().data() != address);
  CHECK_FALSE(pool.take_within(0));
}

TEST_CASE("take() waits until a block is returned") {
  io::BlockPool pool(4096, 2 * 4096);
  auto a = std::make_optional(pool.take());
  const auto b = pool.take();
  std::atomic<bool> returned{false};
  std::thread giver([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    returned = true;
    a.reset();
  });
  const auto c = pool.take();
  CHECK(returned);
  giver.join();
}

TEST_CASE("take() uses prepared buffers, and prepare() obeys the limit") {
  io::BlockPool pool(4096, 4 * 4096);
  pool.prepare(100);
  std::vector<io::Block> taken;
  for (int i = 0; i < 4; ++i) taken.push_back(pool.take());
  CHECK_FALSE(pool.take_within(0.01));
}

TEST_CASE("only the requested part of a buffer takes memory, and earlier parts keep it") {
  constexpr std::size_t large = std::size_t{1} << 20;  // less than a huge page, which gets memory all at once
  io::BlockPool pool(large, 2 * large);
  const std::byte* buffer = nullptr;
  for (const auto& [bytes, given, there] : {std::array{1, 1, 1}, {5 * 4096, 5, 5}, {4097, 2, 5}}) {
    const auto block = pool.take(static_cast<std::size_t>(bytes));
    if (buffer == nullptr) buffer = block.bytes().data();
    CHECK(block.bytes().data() == buffer);
    CHECK(block.bytes().size() == static_cast<std::size_t>(given) * 4096);
    std::memset(block.bytes().data(), 7, block.bytes().size());
    CHECK(pages_in_memory(buffer, large) == static_cast<std::size_t>(there));
  }
  CHECK(pool.take().bytes().size() == large);
  CHECK(pages_in_memory(buffer, large) == large / 4096);
  CHECK(pool.take(2 * large).bytes().size() == large);
}

TEST_CASE("threads that take blocks at the same time never get the same block") {
  io::BlockPool pool(4096, 3 * 4096);
  std::atomic<int> clashes{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 300; ++i) {
        const auto block = pool.take();
        std::memset(block.bytes().data(), t, 64);
        std::this_thread::yield();
        for (const auto byte : block.bytes().first(64)) clashes += byte != std::byte(t);
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(clashes == 0);
}
