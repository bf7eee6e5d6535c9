#include <trainrt/dataset.hpp>

#include <atomic>
#include <numeric>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "data/batches/dataset_impl.hpp"
#include "data/order/epoch_order.hpp"

using namespace trainrt;
using Catch::Contains;

namespace {

/// A source in which field "n" is the number of the sample, and field "pair" is twice and three times this number.
class CountingSource final : public data::Source {
 public:
  explicit CountingSource(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  const std::vector<Dataset::Field>& fields() const override { return fields_; }
  void read(std::span<const std::uint64_t> samples, std::span<data::Column> columns) const override {
    ++reads;
    for (auto& column : columns) {
      column.values.resize(samples.size() * data::sample_bytes(fields_[column.field]));
      auto* to = reinterpret_cast<std::int64_t*>(column.values.data());
      for (const auto sample : samples) {
        const auto number = static_cast<std::int64_t>(sample);
        if (column.field == 0) {
          *to++ = number;
        } else {
          *to++ = 2 * number;
          *to++ = 3 * number;
        }
      }
    }
  }
  mutable std::atomic<int> reads = 0;

 private:
  std::uint64_t size_;
  std::vector<Dataset::Field> fields_{{"n", DType::i64, {}}, {"pair", DType::i64, {2}}};
};

std::shared_ptr<DatasetImpl> make(std::uint64_t size, Shard shard = {}, bool shuffle = false, int threads = 0,
                                  std::uint64_t memory = 256 << 20) {
  data::DatasetPlan plan;
  plan.name = "train";
  plan.source = std::make_shared<CountingSource>(size);
  plan.shard = shard;
  plan.order.shuffle = shuffle;
  plan.order.seed = 11;
  plan.threads = threads;
  plan.memory = memory;
  return std::make_shared<DatasetImpl>(std::move(plan));
}

using Numbers = std::vector<std::uint64_t>;

Numbers numbers(const Batch& batch) { return {batch.indices().begin(), batch.indices().end()}; }

Numbers walk(const std::shared_ptr<DatasetImpl>& impl, std::int64_t epoch, std::size_t batch_size,
             Remainder remainder = Remainder::pad) {
  Numbers all;
  for (const auto& batch : Dataset(impl).epoch(epoch).batches(batch_size, remainder))
    all.insert(all.end(), batch.indices().begin(), batch.indices().end());
  return all;
}

void restore(const std::shared_ptr<DatasetImpl>& impl, Cursor cursor) { impl->walk().restore(cursor); }

}  // namespace

TEST_CASE("a batch has its samples' fields with their shapes, gathered once at the first request") {
  auto impl = make(10);
  const auto& source = static_cast<const CountingSource&>(*impl->source());
  for (const auto& batch : Dataset(impl).epoch(0).batches(4)) {
    if (batch.indices()[0] != 4) continue;
    CHECK(numbers(batch) == Numbers{4, 5, 6, 7});
    const auto pair = batch.field("pair");
    CHECK(pair.shape == Shape{4, 2});
    CHECK(pair.dtype == DType::i64);
    CHECK(static_cast<const std::int64_t*>(pair.data)[5] == 18);
    CHECK(batch.field("pair").data == pair.data);
  }
  CHECK(source.reads == 1);
}

TEST_CASE("every batch has its own samples, on every rank and in a shuffled order") {
  for (int rank = 0; rank < 3; ++rank)
    for (const auto& batch : Dataset(make(50, {rank, 3}, true)).epoch(1).batches(4)) {
      const auto field = batch.field("n");
      REQUIRE(field.shape == Shape{static_cast<std::int64_t>(batch.size())});
      for (std::size_t i = 0; i < batch.size(); ++i)
        REQUIRE(static_cast<const std::uint64_t*>(field.data)[i] == batch.indices()[i]);
    }
}

TEST_CASE("an unknown field is an error that names the valid ones") {
  auto batches = Dataset(make(4)).epoch(0).batches(2);
  const auto batch = batches.begin();
  CHECK_THROWS_WITH((*batch).field("pear"), Contains("'pear'") && Contains("did you mean 'pair'") && Contains("n, pair"));
  CHECK_THROWS_AS((*batch).field("pear"), UsageError);
}

TEST_CASE("the elements of a field are returned as their type in C++, and another type is an error that names both") {
  auto batches = Dataset(make(8)).epoch(0).batches(4);
  const auto at = batches.begin();
  const auto& batch = *at;
  const auto pair = batch.field<std::int64_t>("pair");
  CHECK(std::vector(pair.begin(), pair.end()) == std::vector<std::int64_t>{0, 0, 2, 3, 4, 6, 6, 9});
  CHECK(pair.data() == batch.field("pair").data);
  CHECK(batch.field<const std::int64_t>("n").size() == 4);
  CHECK_THROWS_AS(batch.field<float>("pair"), UsageError);
  CHECK_THROWS_WITH(batch.field<float>("pair"),
                    Contains("dataset 'train': field 'pair' has elements of type i64, but f32 was requested: use "
                             "field<std::int64_t>(\"pair\")"));
  CHECK_THROWS_WITH(batch.field<float>("pear"), Contains("'pear'") && Contains("n, pair"));
}

TEST_CASE("a copy of an earlier batch does not return the fields of another batch") {
  auto batches = Dataset(make(4)).epoch(0).batches(2);
  auto it = batches.begin();
  const Batch old = *it;
  CHECK_NOTHROW(old.field("n"));
  ++it;
  CHECK_THROWS_AS(old.field("n"), Error);
}

TEST_CASE("the last batch of a rank is smaller where the samples end") {
  std::vector<std::size_t> sizes;
  for (const auto& batch : Dataset(make(10)).epoch(0).batches(4)) sizes.push_back(batch.size());
  CHECK(sizes == std::vector<std::size_t>{4, 4, 2});
  CHECK(Dataset(make(10)).batch_count(4) == 3);
  CHECK(Dataset(make(10)).batch_count(4, Remainder::drop) == 2);
}

TEST_CASE("a batch size of 0 is an error") {
  CHECK_THROWS_AS(Dataset(make(4)).epoch(0).batches(0), UsageError);
  CHECK_THROWS_AS(Dataset(make(4)).batch_count(0), UsageError);
}

TEST_CASE("uneven does not yield empty batches, and batch_count is the same on all ranks") {
  std::size_t seen = 0;
  for (int rank = 0; rank < 3; ++rank) {
    auto impl = make(7, {rank, 3});
    CHECK(Dataset(impl).batch_count(2, Remainder::uneven) == 2);
    std::size_t batches = 0;
    for (const auto& batch : Dataset(impl).epoch(0).batches(2, Remainder::uneven)) {
      CHECK(batch.size() > 0);
      seen += batch.size();
      ++batches;
    }
    CHECK(batches == (rank == 0 ? 2u : 1u));
    CHECK_FALSE(impl->walk().cursor().in_progress);
    CHECK(impl->walk().cursor().position == 0);
  }
  CHECK(seen == 7);
}

TEST_CASE("an empty dataset has no batches") {
  auto impl = make(0, {}, true);
  CHECK(walk(impl, 0, 4).empty());
  CHECK_FALSE(impl->walk().cursor().in_progress);
}

TEST_CASE("the order of an epoch depends on seed, dataset and epoch") {
  auto impl = make(50, {}, true);
  const auto order = data::EpochOrder::shuffled(50, data::order_seed(11, "train", 6));
  const auto walked = walk(impl, 6, 7);
  for (std::size_t i = 0; i < 50; ++i) REQUIRE(walked[i] == order[i]);
}

TEST_CASE("in the loop body the position counts the current batch as done, over all ranks") {
  auto impl = make(10, {1, 2});
  std::vector<std::int64_t> positions;
  for (const auto& batch : Dataset(impl).epoch(3).batches(2)) {
    CHECK(impl->walk().cursor().in_progress);
    CHECK(impl->walk().cursor().epoch == 3);
    positions.push_back(impl->walk().cursor().position);
    static_cast<void>(batch);
  }
  CHECK(positions == std::vector<std::int64_t>{4, 8, 10});
  CHECK_FALSE(impl->walk().cursor().in_progress);
  CHECK(impl->walk().cursor().position == 0);
}

TEST_CASE("leaving the loop by break or by an exception ends the pass") {
  auto impl = make(10);
  for (const auto& batch : Dataset(impl).epoch(0).batches(2)) {
    static_cast<void>(batch);
    break;
  }
  CHECK_FALSE(impl->walk().cursor().in_progress);
  try {
    for (const auto& batch : Dataset(impl).epoch(0).batches(2)) throw batch.size();
  } catch (std::size_t) {
  }
  CHECK_FALSE(impl->walk().cursor().in_progress);
  CHECK(walk(impl, 0, 5).size() == 10);
}

TEST_CASE("a pass that stops at any batch continues there after a restart, on any number of ranks") {
  for (const int old_ranks : {1, 2, 3})
    for (const int new_ranks : {1, 2, 4})
      for (std::size_t stop = 1; stop <= 24 / (2 * static_cast<std::size_t>(old_ranks)); ++stop) {
        CAPTURE(old_ranks, new_ranks, stop);
        Cursor saved;
        Numbers counts(24, 0);
        for (int rank = 0; rank < old_ranks; ++rank) {
          auto impl = make(24, {rank, old_ranks}, true);
          std::size_t k = 0;
          for (const auto& batch : Dataset(impl).epoch(5).batches(2)) {
            for (const auto sample : batch.indices()) ++counts[sample];
            if (++k == stop) {
              saved = impl->walk().cursor();
              break;
            }
          }
        }
        REQUIRE(saved.in_progress);
        for (int rank = 0; rank < new_ranks; ++rank) {
          auto impl = make(24, {rank, new_ranks}, true);
          restore(impl, saved);
          for (const auto sample : walk(impl, 5, 3, Remainder::uneven)) ++counts[sample];
        }
        REQUIRE(counts == Numbers(24, 1));
      }
}

TEST_CASE("only the first pass after a restart continues, and only in its own epoch") {
  auto impl = make(10);
  restore(impl, {true, 2, 6});
  CHECK(walk(impl, 2, 5) == Numbers{6, 7, 8, 9});
  CHECK(walk(impl, 2, 5).size() == 10);

  restore(impl, {true, 2, 6});
  CHECK(walk(impl, 3, 5).size() == 10);
  CHECK(walk(impl, 2, 5).size() == 10);

  restore(impl, {false, 2, 6});
  CHECK(walk(impl, 2, 5).size() == 10);
}

TEST_CASE("a run that was stopped in the last batch has no batch left in that epoch") {
  auto impl = make(10);
  restore(impl, {true, 2, 10});
  CHECK(walk(impl, 2, 5).empty());
  CHECK_FALSE(impl->walk().cursor().in_progress);
  CHECK(walk(impl, 3, 5).size() == 10);
}

TEST_CASE("after a restart the position grows from its restored value") {
  auto impl = make(10);
  restore(impl, {true, 0, 4});
  auto batches = Dataset(impl).epoch(0).batches(2);
  CHECK(impl->walk().cursor().position == 4);
  CHECK(impl->walk().is_restored());  // the state does not change before begin()
  const auto it = batches.begin();
  CHECK(numbers(*it) == Numbers{4, 5});
  CHECK(impl->walk().cursor().position == 6);
  CHECK_FALSE(impl->walk().is_restored());
}

TEST_CASE("iterating over batches twice is an error") {
  auto batches = Dataset(make(4)).epoch(0).batches(2);
  for (const auto& batch : batches) static_cast<void>(batch);
  CHECK_THROWS_WITH(batches.begin(), Contains("'train'") && Contains("batches()"));
}

TEST_CASE("an evaluation over another dataset inside the loop does not change the position") {
  auto train = make(10);
  auto test = make(4);
  for (const auto& batch : Dataset(train).epoch(1).batches(5)) {
    const auto saved = train->walk().cursor().position;
    CHECK(walk(test, 0, 2).size() == 4);
    CHECK(train->walk().cursor().in_progress);
    CHECK(train->walk().cursor().position == saved);
    CHECK_FALSE(test->walk().cursor().in_progress);
    static_cast<void>(batch);
  }
}

TEST_CASE("an evaluation over the same dataset inside the loop reads all samples and does not change the outer position") {
  auto impl = make(10);
  restore(impl, {true, 1, 4});
  std::vector<std::int64_t> positions;
  for (const auto& batch : Dataset(impl).epoch(1).batches(3)) {
    CHECK(walk(impl, 1, 4).size() == 10);
    CHECK(impl->walk().cursor().in_progress);
    CHECK(impl->walk().cursor().epoch == 1);
    positions.push_back(impl->walk().cursor().position);
    static_cast<void>(batch);
  }
  CHECK(positions == std::vector<std::int64_t>{7, 10});
  CHECK_FALSE(impl->walk().cursor().in_progress);
}

TEST_CASE("batches that are read ahead have the values of their samples, from the first to the last") {
  for (const int threads : {0, 1, 3})
    for (const std::uint64_t memory : {std::uint64_t{1}, std::uint64_t{1} << 20}) {
      CAPTURE(threads, memory);
      const auto impl = make(1000, {1, 3}, true, threads, memory);
      const Dataset dataset(impl);
      int batches = 0;
      for (const auto& batch : dataset.epoch(2).batches(7)) {
        const auto n = batch.field("n"), pair = batch.field("pair");
        for (std::size_t i = 0; i < batch.size(); ++i) {
          REQUIRE(static_cast<std::int64_t*>(n.data)[i] == static_cast<std::int64_t>(batch.indices()[i]));
          REQUIRE(static_cast<std::int64_t*>(pair.data)[2 * i + 1] == 3 * static_cast<std::int64_t>(batch.indices()[i]));
        }
        if (++batches == 20) break;
      }
      CHECK(impl->walk().cursor().position == 0);  // no walk is active any more
    }
}

TEST_CASE("a field that is first requested in a later batch is read, and the position counts the batches that were taken") {
  const auto impl = make(100, {}, false, 2);
  const Dataset dataset(impl);
  std::int64_t position = 0;
  for (const auto& batch : dataset.epoch(0).batches(10)) {
    CHECK(static_cast<std::int64_t*>(batch.field("n").data)[0] == position);
    if (position >= 50) CHECK(static_cast<std::int64_t*>(batch.field("pair").data)[1] == 3 * position);
    position += 10;
    CHECK(impl->walk().cursor().position == position);
  }
  CHECK(position == 100);
}

TEST_CASE("a range of an epoch has each of its samples once on any rank, and does not change the cursor") {
  for (const int rank : {0, 2}) {
    const auto impl = make(100, {.rank = rank, .size = 3});
    Numbers all;
    for (const auto& batch : Dataset(impl).epoch(0).range(10, 25, 8)) {
      CHECK((batch.size() <= 8 && batch.weight() == 1));
      CHECK(static_cast<const std::int64_t*>(batch.field("n").data)[0] == static_cast<std::int64_t>(batch.indices()[0]));
      for (const auto number : batch.indices()) all.push_back(number);
    }
    Numbers expected(25);
    std::iota(expected.begin(), expected.end(), 10);
    CHECK(all == expected);
    CHECK((!impl->walk().cursor().in_progress && impl->walk().cursor().epoch == -1 && impl->walk().cursor().position == 0));
  }
}

TEST_CASE("a range follows the epoch's order, may be empty, and cannot leave the dataset") {
  const auto impl = make(50, {}, true);
  const auto order = walk(impl, 0, 50);
  Numbers part;
  for (const auto& batch : Dataset(impl).epoch(0).range(20, 10, 4))
    for (const auto number : batch.indices()) part.push_back(number);
  CHECK(part == Numbers(order.begin() + 20, order.begin() + 30));
  auto nothing = Dataset(impl).epoch(0).range(50, 0, 4);
  CHECK(nothing.begin() == nothing.end());
  CHECK_THROWS_WITH(Dataset(impl).epoch(0).range(40, 11, 4),
                    Contains("11 samples from sample 40") && Contains("the dataset has 50"));
  CHECK_THROWS_AS(Dataset(impl).epoch(0).range(0, 10, 0), UsageError);
}
