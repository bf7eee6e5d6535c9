#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/save/retention.hpp"
#include "io/files/file.hpp"
#include "runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using checkpoint::Meta;
using checkpoint::Retention;
using Numbers = std::vector<std::int64_t>;

namespace {

/// Returns metadata of checkpoints 0, 1, 2, ... with these losses.
std::vector<Meta> with_losses(const std::vector<double>& losses) {
  std::vector<Meta> metas;
  for (const auto loss : losses) {
    Meta meta;
    meta.number = static_cast<std::int64_t>(metas.size());
    meta.metrics["loss"] = loss;
    metas.push_back(meta);
  }
  return metas;
}

const double none = std::nan("");
constexpr double infinite = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("retention keeps the best checkpoints and the latest") {
  struct Row {
    std::vector<double> losses;
    std::int64_t keep;
    std::string attribute;
    bool maximize;
    Numbers deleted;
  };
  const Row rows[] = {
      {{3, 1, 2, 4}, 0, "loss", false, {}},      // 0 keeps all
      {{3, 1, 2, 4}, 2, "loss", false, {0}},     // 1 and 2 are best, 3 is the latest
      {{3, 1, 2, 4}, 2, "loss", true, {1, 2}},   // keeps 3 and 0
      {{3, 1, 2, 4}, 1, "loss", false, {0, 2}},  // keeps 1 and the latest
      {{3, 1, 2, 4}, 2, "", true, {0, 1}},       // the newest are best
      {{3, 1, 2, 4}, 4, "loss", false, {}},
      {{3, 1, 2, 4}, 9, "loss", false, {}},
      {{none, 1, none, 4}, 2, "loss", false, {0, 2}},  // NaN ranks last for both orders
      {{none, 1, none, 4}, 2, "loss", true, {0, 2}},
      {{infinite, none, 4}, 2, "loss", false, {1}},  // NaN ranks after the worst infinity
      {{-infinite, none, 4}, 2, "loss", true, {1}},
      {{1, none, none}, 1, "loss", false, {1}},  // the latest is kept even with NaN
      {{5, 5, 5, 5}, 2, "loss", false, {0, 1}},  // of equal scores the newer
      {{3, 1, 2}, 1, "accuracy", true, {0, 1}},  // no checkpoint has the metric, so the newest rank first
      {{}, 3, "loss", true, {}},
      {{1}, 1, "loss", true, {}},
  };
  for (const auto& row : rows) {
    INFO(row.losses.size() << " checkpoints, keep " << row.keep << " by '" << row.attribute << "'");
    CHECK(checkpoint::to_delete(with_losses(row.losses), Retention{row.keep, row.attribute, row.maximize}) == row.deleted);
  }
}

TEST_CASE("retention does not depend on the order of the listing") {
  auto metas = with_losses({3, 1, 2, 4});
  std::reverse(metas.begin(), metas.end());
  CHECK(checkpoint::to_delete(metas, Retention{2, "loss", false}) == Numbers{0});
}

TEST_CASE("a checkpoint that only a stop requested ranks last, unless it is the latest and there are no scores") {
  auto metas = with_losses({3, 1, 2, 1});
  metas[1].at_stop = true;
  CHECK(checkpoint::to_delete(metas, Retention{2, "loss", false}) == Numbers{0, 1});
  CHECK(checkpoint::to_delete(metas, Retention{3, "loss", false}) == Numbers{1});
  metas[1].at_stop = false;
  metas[3].at_stop = true;  // its loss is not better than 1 and 2, and it is the latest
  CHECK(checkpoint::to_delete(metas, Retention{2, "loss", false}) == Numbers{0});
  CHECK(checkpoint::to_delete(metas, Retention{2, "", true}) == Numbers{0, 1});
}

TEST_CASE("a checkpoint that awaits its validation is kept and does not count") {
  auto metas = with_losses({3, 1, 2, 4});
  metas[0].awaits_validation = true;
  CHECK(checkpoint::to_delete(metas, Retention{1, "loss", false}) == Numbers{2});
  CHECK(checkpoint::to_delete(metas, Retention{2, "loss", false}).empty());
  CHECK(checkpoint::to_delete(metas, Retention{1, "", true}) == Numbers{1, 2});
  metas[0].awaits_validation = false;
  CHECK(checkpoint::to_delete(metas, Retention{2, "loss", false}) == Numbers{0});
}

TEST_CASE("retain counts and deletes only known checkpoints") {
  Scratch run;
  for (int number = 0; number < 6; ++number) save_on(1, {}, run.path(), number, 1);
  io::make_directories(run / "private");
  std::set<std::int64_t> known = {0, 1, 3};  // 2, 4 and 5 are unknown
  checkpoint::retain(run.path(), run / "private", Retention{1, "", true}, known);
  CHECK(checkpoint::numbers_in(run.path()) == Numbers{2, 3, 4, 5});
  CHECK(known == std::set<std::int64_t>{3});
}

TEST_CASE("retain deletes old checkpoints and leaves nothing in the private directory") {
  Scratch run;
  for (int number = 0; number < 5; ++number) save_on(1, {}, run.path(), number, 1);  // the loss decreases
  io::make_directories(run / "private");
  std::set<std::int64_t> known = {0, 1, 2, 3, 4};
  checkpoint::retain(run.path(), run / "private", Retention{2, "loss", true}, known);
  Numbers left;
  for (const auto& meta : checkpoint::list(run.path())) left.push_back(meta.number);
  CHECK(left == Numbers{0, 1, 4});
  CHECK(io::list_directory(run / "private").empty());
  checkpoint::retain(run.path(), run / "private", Retention{2, "loss", true}, known);
  CHECK(checkpoint::list(run.path()).size() == 3);
}

TEST_CASE("a damaged checkpoint does not count as kept and is deleted once enough intact ones exist") {
  const auto good = [](std::initializer_list<std::int64_t> numbers) {
    std::vector<Meta> metas;
    for (const auto number : numbers) metas.emplace_back().number = number;
    return metas;
  };
  struct Row {
    std::vector<Meta> good;
    Numbers damaged;
    std::int64_t keep;
    Numbers deleted;
  };
  const Row rows[] = {
      {good({1, 2}), {3}, 2, {}},         // kept, as no intact checkpoint is newer
      {good({1, 2, 4}), {3}, 2, {1, 3}},  // deleted, as an intact checkpoint is newer
      {good({1, 4}), {3}, 3, {}},         // kept, as too few are intact
      {good({}), {1, 2, 3}, 1, {}},      {good({5}), {1, 2, 9}, 1, {1, 2}}, {good({1, 2, 3}), {0}, 0, {}},  // 0 keeps all
  };
  for (const auto& row : rows)
    CHECK(checkpoint::to_delete(row.good, Retention{row.keep, "", true}, row.damaged) == row.deleted);
}

TEST_CASE("two intact checkpoints are kept besides one with a damaged manifest or data") {
  for (const bool manifest_tells : {true, false}) {
    Scratch run;
    for (int number = 0; number < 3; ++number) save_on(1, {}, run.path(), number, 1);
    const std::string file = manifest_tells ? "manifest.json" : "shard-00000.h5";
    flip_bit(run / ("checkpoint_000002/" + file), 40, 3);
    const auto loaded = load_on(1, {}, run.path(), 1, 1);
    CHECK(loaded.result->damaged == Numbers{2});
    io::make_directories(run / "private");
    std::set<std::int64_t> known = {0, 1, 2, 3};
    const auto keep = [&] {
      checkpoint::retain(run.path(), run / "private", Retention{2, "", true}, known, loaded.result->damaged);
    };
    keep();
    CHECK(checkpoint::numbers_in(run.path()) == Numbers{0, 1, 2});
    save_on(1, {}, run.path(), 3, 1);
    keep();
    CHECK(checkpoint::numbers_in(run.path()) == Numbers{1, 3});
  }
}

TEST_CASE("list returns intact checkpoints, oldest first") {
  Scratch run;
  for (const int number : {12, 3, 1000000}) save_on(2, {}, run.path(), number, 1);
  flip_bit(run / "checkpoint_000012/manifest.json", 40, 3);
  std::filesystem::create_directory(run / "checkpoint_12");
  std::filesystem::create_directory(run / "checkpoint_000013x");
  const auto metas = checkpoint::list(run.path());
  REQUIRE(metas.size() == 2);
  CHECK(metas[0].number == 3);
  CHECK(metas[0].step == 300);
  CHECK(metas[0].ranks == 2);
  CHECK(metas[0].metrics.at("loss") == 0.25);
  CHECK_THAT(metas[0].created, Catch::EndsWith("Z"));
  CHECK(metas[1].number == 1000000);
  CHECK(checkpoint::highest_number(run.path()) == 1000000);
}

TEST_CASE("number_after names a directory with a number that no run reaches") {
  CHECK(checkpoint::number_after(-1, "run") == 0);
  CHECK(checkpoint::number_after(12, "run") == 13);
  const auto last = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_WITH(checkpoint::number_after(last, "run"), Catch::Contains("run/checkpoint_9223372036854775807"));
}

TEST_CASE("number_of accepts only exact names of checkpoint directories") {
  CHECK(checkpoint::directory_name(12) == "checkpoint_000012");
  CHECK(checkpoint::number_of("checkpoint_000012") == 12);
  CHECK(checkpoint::number_of("checkpoint_1234567") == 1234567);
  for (const char* name : {"checkpoint_", "checkpoint_12", "checkpoint_0000012", "checkpoint_-00012", "checkpoint_00001x",
                           "Checkpoint_000012", "checkpoint_99999999999999999999"})
    CHECK_FALSE(checkpoint::number_of(name).has_value());
}
