// Tests that `trainrt data convert` writes samples in the order in which a run reads them.
#include <catch2/catch.hpp>

#include "cli/data/convert/conversion.hpp"
#include "cli/data/opened_data.hpp"
#include "io/files/file.hpp"
#include "support/cpp/scratch.hpp"

namespace trainrt::cli::datasets {

namespace {

constexpr std::uint64_t seed = 3;

std::string table_of_numbers(int rows) {
  std::string text = "id\n";
  for (int i = 0; i < rows; ++i) text += std::to_string(i) + "\n";
  return text;
}

/// Returns the table that a shuffled conversion of [data.train] writes.
std::string shuffled(const Options& keys, const std::string& output) {
  SourceChoice choice;
  choice.name = "train";
  choice.keys = keys;
  choice.seed = seed;
  const auto opened = open_data(choice);
  Conversion conversion(opened, {.output = output, .shuffle = true, .quiet = true});
  conversion.run();
  return io::read_file(output);
}

/// Returns the table in the order of a run's first epoch.
std::string of_epoch_0(const Options& keys) {
  const Dataset dataset(LocalDatasets({{"train", keys}}, seed).open("train"));
  std::string text = "id\n";
  for (const auto& batch : dataset.epoch(0).batches(1))
    text += std::to_string(*static_cast<const std::int64_t*>(batch.field("id").data)) + "\n";
  return text;
}

}  // namespace

TEST_CASE("a shuffled conversion has the order of epoch 0 of a run, for any shuffle_seed") {
  const test::Scratch folder;
  io::write_file(folder / "a.csv", table_of_numbers(50));
  Options keys;
  keys.set("source", {folder / "a.csv", "test"});
  keys.set("shuffle", {"true", "test"});
  const auto plain = shuffled(keys, folder / "plain.csv");
  CHECK(plain == of_epoch_0(keys));
  keys.set("shuffle_seed", {"7", "test"});
  const auto other = shuffled(keys, folder / "other.csv");
  CHECK(other == of_epoch_0(keys));
  CHECK(other != plain);
}

}  // namespace trainrt::cli::datasets
