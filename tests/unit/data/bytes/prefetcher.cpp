#include "data/bytes/read_ahead.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <catch2/catch.hpp>

using namespace trainrt;

namespace {

/// An item that ReadAhead reads in advance.
struct BatchData {
  std::vector<std::uint64_t> samples;
};

}  // namespace

using BatchesAhead = data::ReadAhead<BatchData>;

namespace {

/// The value of an item is its number. The second item of each pair is ready first.
void read_number(std::uint64_t number, BatchData& into) {
  if (number % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  into.samples.assign(1, number);
}

}  // namespace

TEST_CASE("items that are read ahead are returned in their order, with any number of threads and items") {
  for (const int threads : {1, 2, 5})
    for (const auto& [batches, run] : {std::pair<std::size_t, std::size_t>{1, 1}, {2, 1}, {7, 1}, {7, 3}, {7, 7}}) {
      CAPTURE(threads, batches, run);
      BatchesAhead ahead(3, 203, read_number, {threads, batches, run});
      BatchData batch;
      for (std::uint64_t number = 3; number < 203; ++number) {
        ahead.next(batch);
        REQUIRE(batch.samples == std::vector{number});
      }
    }
}

TEST_CASE("at most the allowed number of items is read ahead, and no item after the end") {
  std::atomic<std::uint64_t> most = 0;
  {
    BatchesAhead ahead(0, 6,
                       [&](std::uint64_t number, BatchData& into) {
                         auto before = most.load();
                         while (before < number && !most.compare_exchange_weak(before, number)) continue;
                         read_number(number, into);
                       },
                       {2, 3});
    BatchData batch;
    for (std::uint64_t taken = 1; taken <= 6; ++taken) {
      ahead.next(batch);
      CHECK(most.load() < std::min<std::uint64_t>(taken + 3, 6));
    }
  }
  CHECK(most.load() == 5);
}

TEST_CASE("an item is ready if taking it neither waits nor throws") {
  std::atomic<bool> may_read = false;
  BatchesAhead ahead(0, 3,
                     [&](std::uint64_t number, BatchData& into) {
                       while (!may_read) std::this_thread::yield();
                       if (number == 1) throw std::runtime_error("the disk is gone");
                       into.samples.assign(1, number);
                     },
                     {1, 3});
  const auto gets_ready = [&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!ahead.has_ready() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return ahead.has_ready();
  };
  CHECK_FALSE(ahead.has_ready());
  may_read = true;
  CHECK(gets_ready());
  BatchData batch;
  ahead.next(batch);
  CHECK_FALSE(ahead.has_ready());  // the next one is being read, or has failed
  CHECK_THROWS(ahead.next(batch));
  CHECK(gets_ready());
  ahead.next(batch);
  CHECK_FALSE(ahead.has_ready());
}

TEST_CASE("an exception of reading ahead is thrown where its item would have been returned") {
  BatchesAhead ahead(0, 5,
                     [](std::uint64_t number, BatchData& into) {
                       if (number == 2) throw std::runtime_error("the disk is gone");
                       read_number(number, into);
                     },
                     {2, 4});
  BatchData batch;
  ahead.next(batch);
  ahead.next(batch);
  CHECK(batch.samples == std::vector<std::uint64_t>{1});
  CHECK_THROWS_WITH(ahead.next(batch), "the disk is gone");
}

TEST_CASE("an item of a slow run is returned before the run ends") {
  std::atomic<bool> is_taken = false;
  BatchesAhead ahead(0, 4,
                     [&](std::uint64_t number, BatchData& into) {
                       std::this_thread::sleep_for(std::chrono::milliseconds(2));
                       const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
                       while (number == 3 && !is_taken && std::chrono::steady_clock::now() < deadline)
                         std::this_thread::sleep_for(std::chrono::milliseconds(1));
                       into.samples.assign(1, number == 3 && !is_taken ? 99 : number);
                     },
                     {1, 4, 4});
  BatchData batch;
  ahead.next(batch);
  is_taken = true;
  for (std::uint64_t number = 1; number < 4; ++number) {
    ahead.next(batch);
    CHECK(batch.samples == std::vector{number});
  }
}

TEST_CASE("destroying a read-ahead early ends its threads") {
  std::atomic<int> reading = 0;
  {
    BatchesAhead ahead(0, 1000,
                       [&](std::uint64_t number, BatchData& into) {
                         ++reading;
                         read_number(number, into);
                         --reading;
                       },
                       {3, 8});
    BatchData batch;
    ahead.next(batch);
  }
  CHECK(reading == 0);
}
