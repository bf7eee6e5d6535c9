// Tests of batches in a run that continues with another number of ranks than its global batch was made for.
#include <map>

#include <catch2/catch.hpp>

#include "data/batches/dataset_impl.hpp"
#include "unit/data/support.hpp"

using namespace trainrt;

namespace {

std::shared_ptr<DatasetImpl> dataset_of(int rank, int ranks, int workers, const std::string& samples) {
  const auto options = data_test::options({{"format", "synthetic"}, {"samples", samples}, {"shuffle", "true"}});
  return data::open_dataset("train", options, data::list_dataset("train", options), Shard{rank, ranks, workers}, 7);
}

struct Seen {
  std::vector<std::uint64_t> samples;
  double weight = 0;  ///< of all ranks together
};

/// Returns the samples of each global batch, in the order of the ranks.
std::vector<Seen> walk(int ranks, int workers, const std::string& samples, Cursor from = {}) {
  std::vector<Seen> batches;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto impl = dataset_of(rank, ranks, workers, samples);
    if (from.in_progress) impl->walk().restore(from);
    std::size_t k = 0;
    for (const auto& batch : Dataset(impl).epoch(0).batches(8)) {
      if (batches.size() == k) batches.emplace_back();
      auto& seen = batches[k++];
      seen.samples.insert(seen.samples.end(), batch.indices().begin(), batch.indices().end());
      seen.weight += batch.weight();
    }
    CHECK(k == batches.size());  // every rank takes part in the same number of collectives
    CHECK(Dataset(impl).batch_count(8) == (from.in_progress ? k + 2 : k));
  }
  return batches;
}

}  // namespace

TEST_CASE(
    "the weights of a batch are 1 if all ranks have equally many samples, and otherwise 1 in the mean over the ranks") {
  for (const auto& seen : walk(4, 0, "100")) CHECK(seen.weight == 4.0);
  for (int rank = 0; rank < 4; ++rank)
    for (const auto& batch : Dataset(dataset_of(rank, 4, 4, "96")).epoch(0).batches(8)) CHECK(batch.weight() == 1.0);
  const auto impl = dataset_of(0, 3, 4, "96");
  for (const auto& batch : Dataset(impl).epoch(0).batches(8)) {
    CHECK(batch.size() == 11);
    CHECK(batch.weight() == 11.0 * 3 / 32);
  }
}

TEST_CASE("a global batch holds the same samples on fewer and on more ranks, also from the middle of an epoch") {
  for (const std::string samples : {"100", "96", "7"})
    for (const Cursor from : {Cursor{}, Cursor{true, 0, 64}}) {
      if (from.in_progress && samples == "7") continue;
      const auto nominal = walk(4, 4, samples, from);
      for (const int ranks : {1, 2, 3, 5, 7}) {
        CAPTURE(samples, ranks);
        const auto found = walk(ranks, 4, samples, from);
        REQUIRE(found.size() == nominal.size());
        for (std::size_t k = 0; k < found.size(); ++k) {
          CHECK(found[k].samples == nominal[k].samples);
          CHECK(found[k].weight == Approx(ranks));
        }
      }
    }
}

TEST_CASE("a rank without samples in a global batch gets an empty batch of weight 0 with empty fields") {
  const auto impl = dataset_of(6, 7, 1, "20");  // global batches of 4 over 7 ranks
  std::vector<std::size_t> sizes;
  for (const auto& batch : Dataset(impl).epoch(0).batches(4)) {
    sizes.push_back(batch.size());
    CHECK(batch.weight() == 0.0);
    CHECK(batch.field("x").shape.front() == 0);
  }
  CHECK(sizes == std::vector<std::size_t>(5, 0));
}

TEST_CASE("the gradient of unequal parts, weighted, is the global batch's mean") {
  for (const int ranks : {2, 3, 5, 7}) {
    double mean = 0, whole = 0;
    for (int rank = 0; rank < ranks; ++rank)
      for (const auto& batch : Dataset(dataset_of(rank, ranks, 4, "32")).epoch(0).batches(8)) {
        double own = 0;
        for (const auto sample : batch.indices()) own += static_cast<double>(sample) / static_cast<double>(batch.size());
        mean += own * batch.weight() / ranks;
        for (const auto sample : batch.indices()) whole += static_cast<double>(sample) / 32;
      }
    CHECK(mean == Approx(whole).epsilon(1e-12));
  }
}
