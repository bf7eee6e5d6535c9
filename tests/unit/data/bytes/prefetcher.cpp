#include "data/source/prefetcher.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <catch2/catch.hpp>

using namespace trainrt;
using data::BatchData;
using data::Prefetcher;

namespace {

/// A batch is its own number. The later of neighbours is ready first.
void read_number(std::uint64_t number, BatchData& into) {
  if (number % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  into.samples.assign(1, number);
}

}  // namespace

TEST_CASE("batches that are read ahead come in their order, whatever the threads and the room") {
  for (const int threads : {1, 2, 5})
    for (const auto& [batches, run] : {std::pair<std::size_t, std::size_t>{1, 1}, {2, 1}, {7, 1}, {7, 3}, {7, 7}}) {
      CAPTURE(threads, batches, run);
      Prefetcher prefetcher(3, 203, read_number, {threads, batches, run});
      BatchData batch;
      for (std::uint64_t number = 3; number < 203; ++number) {
        prefetcher.next(batch);
        REQUIRE(batch.samples == std::vector{number});
      }
    }
}

TEST_CASE("no more is read ahead than there is room for, and nothing behind the end") {
  std::atomic<std::uint64_t> most = 0;
  {
    Prefetcher prefetcher(0, 6,
                          [&](std::uint64_t number, BatchData& into) {
                            auto before = most.load();
                            while (before < number && !most.compare_exchange_weak(before, number)) continue;
                            read_number(number, into);
                          },
                          {2, 3});
    BatchData batch;
    for (std::uint64_t taken = 1; taken <= 6; ++taken) {
      prefetcher.next(batch);
      CHECK(most.load() < std::min<std::uint64_t>(taken + 3, 6));
    }
  }
  CHECK(most.load() == 5);
}

TEST_CASE("a batch is called ready if taking it neither waits nor throws") {
  std::atomic<bool> may_read = false;
  Prefetcher prefetcher(0, 3,
                        [&](std::uint64_t number, BatchData& into) {
                          while (!may_read) std::this_thread::yield();
                          if (number == 1) throw std::runtime_error("the disk is gone");
                          into.samples.assign(1, number);
                        },
                        {1, 3});
  const auto gets_ready = [&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!prefetcher.has_ready() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return prefetcher.has_ready();
  };
  CHECK_FALSE(prefetcher.has_ready());
  may_read = true;
  CHECK(gets_ready());
  BatchData batch;
  prefetcher.next(batch);
  CHECK_FALSE(prefetcher.has_ready());  // the next one is being read, or has failed
  CHECK_THROWS(prefetcher.next(batch));
  CHECK(gets_ready());
  prefetcher.next(batch);
  CHECK_FALSE(prefetcher.has_ready());
}

TEST_CASE("what reading ahead throws comes where its batch would have come") {
  Prefetcher prefetcher(0, 5,
                        [](std::uint64_t number, BatchData& into) {
                          if (number == 2) throw std::runtime_error("the disk is gone");
                          read_number(number, into);
                        },
                        {2, 4});
  BatchData batch;
  prefetcher.next(batch);
  prefetcher.next(batch);
  CHECK(batch.samples == std::vector<std::uint64_t>{1});
  CHECK_THROWS_WITH(prefetcher.next(batch), "the disk is gone");
}

TEST_CASE("a batch of a slow run is handed over before the run ends") {
  std::atomic<bool> is_taken = false;
  Prefetcher prefetcher(0, 4,
                        [&](std::uint64_t number, BatchData& into) {
                          std::this_thread::sleep_for(std::chrono::milliseconds(2));
                          const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                          while (number == 3 && !is_taken && std::chrono::steady_clock::now() < deadline)
                            std::this_thread::sleep_for(std::chrono::milliseconds(1));
                          into.samples.assign(1, number == 3 && !is_taken ? 99 : number);
                        },
                        {1, 4, 4});
  BatchData batch;
  prefetcher.next(batch);
  is_taken = true;
  for (std::uint64_t number = 1; number < 4; ++number) {
    prefetcher.next(batch);
    CHECK(batch.samples == std::vector{number});
  }
}

TEST_CASE("a walk that ends early leaves no thread behind") {
  std::atomic<int> reading = 0;
  {
    Prefetcher prefetcher(0, 1000,
                          [&](std::uint64_t number, BatchData& into) {
                            ++reading;
                            read_number(number, into);
                            --reading;
                          },
                          {3, 8});
    BatchData batch;
    prefetcher.next(batch);
  }
  CHECK(reading == 0);
}
