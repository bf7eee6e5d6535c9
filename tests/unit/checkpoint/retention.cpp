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

/// Metas 0, 1, 2, ... with these losses.
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

TEST_CASE("retention keeps the best K and the latest") {
  struct Row {
    std::vector<double> losses;
    std::int64_t keep;
    std::string attribute;
    bool maximize;
    Numbers deleted;
  };
  const Row rows[] = {
      {{3, 1, 2, 4}, 0, "loss", false, {}},      // 0 = all
      {{3, 1, 2, 4}, 2, "loss", false, {0}},     // 1 and 2 are best, 3 the latest
      {{3, 1, 2, 4}, 2, "loss", true, {1, 2}},   // 3 and 0
      {{3, 1, 2, 4}, 1, "loss", false, {0, 2}},  // 1, and the latest
      {{3, 1, 2, 4}, 2, "", true, {0, 1}},       // the newest are best
      {{3, 1, 2, 4}, 4, "loss", false, {}},
      {{3, 1, 2, 4}, 9, "loss", false, {}},
      {{none, 1, none, 4}, 2, "loss", false, {0, 2}},  // NaN is worst, whichever way
      {{none, 1, none, 4}, 2, "loss", true, {0, 2}},
      {{infinite, none, 4}, 2, "loss", false, {1}},  // and below the worst infinity
      {{-infinite, none, 4}, 2, "loss", true, {1}},
      {{1, none, none}, 1, "loss", false, {1}},  // the latest stays though it is NaN
      {{5, 5, 5, 5}, 2, "loss", false, {0, 1}},  // of equals the newer
      {{3, 1, 2}, 1, "accuracy", true, {0, 1}},  // nobody has it: the newest
      {{}, 3, "loss", true, {}},
      {{1}, 1, "loss", true, {}},
  };
  for (const auto& row : rows) {
    INFO(row.losses.size() << " checkpoints, keep " << row.keep << " by '" << row.attribute << "'");
    CHECK(checkpoint::to_delete(with_losses(row.losses), Retention{row.keep, row.attribute, row.maximize}) == row.deleted);
  }
}

TEST_CASE("the order in which checkpoints are listed does not matter to retention") {
  auto metas = with_losses({3, 1, 2, 4});
  std::reverse(metas.begin(), metas.end());
  CHECK(checkpoint::to_delete(metas, Retention{2, "loss", false}) == Numbers{0});
}

TEST_CASE("what only a stop asked for ranks last, but the latest of a run without scores is the newest") {
  auto metas = with_losses({3, 1, 2, 1});
  metas[1].at_stop = true;
  CHECK(checkpoint::to_delete(metas, Retention{2, "loss", false}) == Numbers{0, 1});
  CHECK(checkpoint::to_delete(metas, Retention{3, "loss", false}) == Numbers{1});
  metas[1].at_stop = false;
  metas[3].at_stop = true;  // by loss it is no better than 1 and 2, and it is the latest
  CHECK(checkpoint::to_delete(metas, Retention{2, "loss", false}) == Numbers{0});
  CHECK(checkpoint::to_delete(metas, Retention{2, "", true}) == Numbers{0, 1});
}

TEST_CASE("what awaits its validation stays, and takes no place from those whose score is known") {
  auto metas = with_losses({3, 1, 2, 4});
  metas[0].awaits_validation = true;
  CHECK(checkpoint::to_delete(metas, Retention{1, "loss", false}) == Numbers{2});
  CHECK(checkpoint::to_delete(metas, Retention{2, "loss", false}).empty());
  CHECK(checkpoint::to_delete(metas, Retention{1, "", true}) == Numbers{1, 2});
  metas[0].awaits_validation = false;
  CHECK(checkpoint::to_delete(metas, Retention{2, "loss", false}) == Numbers{0});
}

TEST_CASE("retain counts and deletes only checkpoints that the owner knows") {
  Scratch run;
  for (int number = 0; number < 6; ++number) save_on(1, {}, run.path(), number, 1);
  io::make_directories(run / "private");
  std::set<std::int64_t> known = {0, 1, 3};  // 2, 4 and 5 came there in some other way
  checkpoint::retain(run.path(), run / "private", Retention{1, "", true}, known);
  CHECK(checkpoint::numbers_in(run.path()) == Numbers{2, 3, 4, 5});
  CHECK(known == std::set<std::int64_t>{3});
}

TEST_CASE("retain deletes what it should, and leaves nothing in the private directory") {
  Scratch run;
  for (int number = 0; number < 5; ++number) save_on(1, {}, run.path(), number, 1);  // loss falls
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

TEST_CASE("a damaged checkpoint takes no place among those that are kept, and goes when enough good ones are there") {
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
      {good({1, 2}), {3}, 2, {}},         // it is the newest: nothing supersedes it
      {good({1, 2, 4}), {3}, 2, {1, 3}},  // now something does
      {good({1, 4}), {3}, 3, {}},         // too few are good
      {good({}), {1, 2, 3}, 1, {}},      {good({5}), {1, 2, 9}, 1, {1, 2}}, {good({1, 2, 3}), {0}, 0, {}},  // 0 = all
  };
  for (const auto& row : rows)
    CHECK(checkpoint::to_delete(row.good, Retention{row.keep, "", true}, row.damaged) == row.deleted);
}

TEST_CASE("of two checkpoints to keep none is lost to a damaged one, whether its manifest or a load tells") {
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

TEST_CASE("list gives what was saved, oldest first, and leaves damaged ones out") {
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

TEST_CASE("a directory with a number that no run reaches is named, and no number follows it") {
  CHECK(checkpoint::number_after(-1, "run") == 0);
  CHECK(checkpoint::number_after(12, "run") == 13);
  const auto last = std::numeric_limits<std::int64_t>::max();
  CHECK_THROWS_WITH(checkpoint::number_after(last, "run"), Catch::Contains("run/checkpoint_9223372036854775807"));
}

TEST_CASE("names of checkpoint directories are exact") {
  CHECK(checkpoint::directory_name(12) == "checkpoint_000012");
  CHECK(checkpoint::number_of("checkpoint_000012") == 12);
  CHECK(checkpoint::number_of("checkpoint_1234567") == 1234567);
  for (const char* name : {"checkpoint_", "checkpoint_12", "checkpoint_0000012", "checkpoint_-00012", "checkpoint_00001x",
                           "Checkpoint_000012", "checkpoint_99999999999999999999"})
    CHECK_FALSE(checkpoint::number_of(name).has_value());
}
