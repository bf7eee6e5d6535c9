#include "data/order/batch_plan.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <catch2/catch.hpp>
#include <trainrt/random.hpp>

#include "data/order/epoch_order.hpp"

using namespace trainrt;
using data::BatchPlan;
using data::EpochOrder;

/// Fails the test unless the condition is true. Unlike REQUIRE, it is not an assertion of Catch if it is true: the tests
/// below check millions of conditions, and under a sanitizer, so many assertions would take an hour.
#define ENSURE(...)                            \
  do {                                         \
    if (!(__VA_ARGS__)) FAIL("" #__VA_ARGS__); \
  } while (false)

namespace {

struct Case {
  std::uint64_t samples, start, batch;
  int ranks;
};

/// Calls `check` with 3000 random combinations of number of samples, start, batch size and number of ranks. The numbers
/// are small, so that unusual cases occur, for example fewer samples than ranks.
template <class Check>
void for_many_cases(const Check& check) {
  Random random(2026, 1);
  for (int i = 0; i < 3000; ++i) {
    Case c{random.below(200), 0, 1 + random.below(12), 1 + static_cast<int>(random.below(9))};
    if (random.below(2) == 1) c.start = random.below(c.samples + 20);
    CAPTURE(c.samples, c.start, c.batch, c.ranks);
    check(c);
    SUCCEED();
  }
}

std::uint64_t left(const Case& c) { return c.samples > c.start ? c.samples - c.start : 0; }

/// Returns all positions of the order: batch by batch, and within a batch rank by rank.
std::vector<std::uint64_t> all_positions(const BatchPlan& plan, int ranks) {
  std::vector<std::uint64_t> positions;
  for (std::uint64_t k = 0; k < plan.batch_count(); ++k)
    for (int rank = 0; rank < ranks; ++rank) {
      const auto part = plan.rank_part(k, rank);
      for (std::uint64_t i = 0; i < part.count; ++i) positions.push_back(part.first + i);
    }
  return positions;
}

std::vector<std::uint64_t> run_of(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> positions(count);
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

}  // namespace

TEST_CASE("the ranks' parts of a global batch, one after another, are the next positions of the order") {
  for_many_cases([](const Case& c) {
    for (const auto remainder : {Remainder::pad, Remainder::uneven, Remainder::drop, Remainder::whole}) {
      const BatchPlan plan(c.samples, c.start, c.batch, c.ranks, remainder);
      auto next = c.start;
      for (std::uint64_t k = 0; k < plan.batch_count(); ++k) {
        const auto whole = plan.global_batch(k);
        ENSURE(whole.first == next);
        for (int rank = 0; rank < c.ranks; ++rank) {
          const auto part = plan.rank_part(k, rank);
          ENSURE(part.first == next);
          ENSURE(part.count <= c.batch);
          next += part.count;
        }
        ENSURE(next == whole.first + whole.count);
        if (k + 1 < plan.batch_count()) ENSURE(whole.count == c.batch * static_cast<std::uint64_t>(c.ranks));
        ENSURE(whole.count > 0);
      }
      ENSURE(plan.global_batch(plan.batch_count()).count == 0);
    }
  });
}

TEST_CASE("pad visits every sample, repeats fewer samples than there are ranks, and gives all ranks equally many") {
  for_many_cases([](const Case& c) {
    const BatchPlan plan(c.samples, c.start, c.batch, c.ranks, Remainder::pad);
    const auto positions = all_positions(plan, c.ranks);
    ENSURE(positions.size() >= left(c));
    ENSURE(positions.size() < left(c) + static_cast<std::uint64_t>(c.ranks));
    ENSURE(positions == run_of(c.start, positions.size()));
    for (std::uint64_t k = 0; k < plan.batch_count(); ++k)
      for (int rank = 1; rank < c.ranks; ++rank) ENSURE(plan.rank_part(k, rank).count == plan.rank_part(k, 0).count);
  });
}

TEST_CASE("uneven visits every sample once and splits the last batch as evenly as possible") {
  for_many_cases([](const Case& c) {
    const BatchPlan plan(c.samples, c.start, c.batch, c.ranks, Remainder::uneven);
    ENSURE(all_positions(plan, c.ranks) == run_of(c.start, left(c)));
    for (std::uint64_t k = 0; k < plan.batch_count(); ++k)
      for (int rank = 1; rank < c.ranks; ++rank) {
        ENSURE(plan.rank_part(k, rank).count <= plan.rank_part(k, rank - 1).count);
        ENSURE(plan.rank_part(k, 0).count <= plan.rank_part(k, rank).count + 1);
      }
  });
}

TEST_CASE("`whole` visits every sample once, in batches that are the same on any number of ranks") {
  for_many_cases([](const Case& c) {
    const BatchPlan plan(c.samples, c.start, BatchPlan::Split{c.batch, c.ranks, 3}, Remainder::whole);
    ENSURE(all_positions(plan, c.ranks) == run_of(c.start, left(c)));
    for (std::uint64_t k = 0; k < plan.batch_count(); ++k)
      for (int rank = 0; rank < c.ranks; ++rank) {
        const auto part = plan.rank_part(k, rank);
        if (part.count == 0) continue;
        ENSURE((part.first - c.start) % c.batch == 0);
        ENSURE(part.count == std::min(c.batch, c.start + left(c) - part.first));
      }
  });
}

TEST_CASE("drop has all complete global batches and no other") {
  for_many_cases([](const Case& c) {
    const BatchPlan plan(c.samples, c.start, c.batch, c.ranks, Remainder::drop);
    ENSURE(plan.batch_count() == left(c) / (c.batch * static_cast<std::uint64_t>(c.ranks)));
    for (std::uint64_t k = 0; k < plan.batch_count(); ++k)
      for (int rank = 0; rank < c.ranks; ++rank) ENSURE(plan.rank_part(k, rank).count == c.batch);
  });
}

TEST_CASE("an epoch that changes the number of ranks between batches still visits every sample once") {
  Random random(5, 0);
  for (int i = 0; i < 500; ++i) {
    const auto samples = 1 + random.below(300);
    std::vector<std::uint64_t> visited;
    for (std::uint64_t position = 0; position < samples;) {
      const int ranks = 1 + static_cast<int>(random.below(8));
      const BatchPlan plan(samples, position, 1 + random.below(10), ranks, Remainder::uneven);
      const auto batches = 1 + random.below(plan.batch_count());  // number of batches of this attempt
      for (std::uint64_t k = 0; k < batches; ++k)
        for (int rank = 0; rank < ranks; ++rank) {
          const auto part = plan.rank_part(k, rank);
          for (std::uint64_t j = 0; j < part.count; ++j) visited.push_back(part.first + j);
        }
      const auto last = plan.global_batch(batches - 1);
      position = last.first + last.count;
    }
    REQUIRE(visited == run_of(0, samples));
  }
}

TEST_CASE("a restart inside a padded epoch has the batches that the complete epoch would have had") {
  for_many_cases([](const Case& c) {
    const BatchPlan whole(c.samples, 0, c.batch, c.ranks, Remainder::pad);
    for (std::uint64_t done = 0; done < whole.batch_count(); ++done) {
      const auto last = whole.global_batch(done);
      const BatchPlan rest(c.samples, last.first + last.count, c.batch, c.ranks, Remainder::pad);
      ENSURE(rest.batch_count() == whole.batch_count() - done - 1);
      for (std::uint64_t k = 0; k < rest.batch_count(); ++k)
        for (int rank = 0; rank < c.ranks; ++rank) ENSURE(rest.rank_part(k, rank) == whole.rank_part(done + 1 + k, rank));
    }
  });
}

TEST_CASE("more ranks than samples: pad repeats the samples in turn") {
  const BatchPlan plan(2, 0, 4, 5, Remainder::pad);
  REQUIRE(plan.batch_count() == 1);
  const auto order = EpochOrder::identity(2);
  std::vector<std::uint64_t> samples;
  for (int rank = 0; rank < 5; ++rank) {
    REQUIRE(plan.rank_part(0, rank).count == 1);
    samples.push_back(order[plan.rank_part(0, rank).first]);
  }
  CHECK(samples == std::vector<std::uint64_t>{0, 1, 0, 1, 0});
}

TEST_CASE("a huge batch size gives one batch with all samples") {
  const BatchPlan plan(10, 0, UINT64_MAX / 2, 3, Remainder::uneven);
  CHECK(plan.batch_count() == 1);
  CHECK(plan.rank_part(0, 0) == data::Slice{0, 4});
  CHECK(plan.rank_part(0, 2) == data::Slice{7, 3});
}

TEST_CASE("an elastic run has the same global batches on any number of ranks, split as evenly as possible") {
  for_many_cases([](const Case& c) {
    const int workers = c.ranks;
    for (const auto remainder : {Remainder::pad, Remainder::uneven, Remainder::drop}) {
      const BatchPlan nominal(c.samples, c.start, c.batch, workers, remainder);
      for (int ranks = 1; ranks <= workers + 2; ++ranks) {
        const BatchPlan plan(c.samples, c.start, BatchPlan::Split{c.batch, ranks, workers}, remainder);
        ENSURE(plan.batch_count() == nominal.batch_count());
        for (std::uint64_t k = 0; k < plan.batch_count(); ++k) {
          const auto whole = nominal.global_batch(k);
          ENSURE(plan.global_batch(k) == whole);
          auto next = whole.first;
          for (int rank = 0; rank < ranks; ++rank) {
            const auto part = plan.rank_part(k, rank);
            ENSURE(part.first == next);
            ENSURE(part.count <= plan.rank_part(k, 0).count);
            ENSURE(plan.rank_part(k, 0).count <= part.count + 1);
            if (ranks <= workers && remainder != Remainder::uneven) ENSURE(part.count > 0);
            next += part.count;
          }
          ENSURE(next == whole.first + whole.count);
        }
      }
    }
  });
}

TEST_CASE("an elastic run with all its workers has the same batches as a run that is not elastic") {
  for_many_cases([](const Case& c) {
    for (const auto remainder : {Remainder::pad, Remainder::uneven, Remainder::drop}) {
      const BatchPlan plain(c.samples, c.start, c.batch, c.ranks, remainder);
      const BatchPlan elastic(c.samples, c.start, BatchPlan::Split{c.batch, c.ranks, c.ranks}, remainder);
      for (std::uint64_t k = 0; k <= plain.batch_count(); ++k)
        for (int rank = 0; rank < c.ranks; ++rank) ENSURE(plain.rank_part(k, rank) == elastic.rank_part(k, rank));
    }
  });
}
