#include "tune/trials/shown_params.hpp"

#include <fstream>

#include <catch2/catch.hpp>

#include "support/cpp/scratch.hpp"

using namespace trainrt::tune;

TEST_CASE("messages show the values of a trial, also those that a searcher in the script has suggested") {
  const trainrt::test::Scratch folder;
  const auto file = folder / "trial_00000.json";
  CHECK(params_in_words({{"loop.lr", "0.1"}, {"scaling.num_workers", "2"}}) == "lr=0.1, scaling.num_workers=2");
  const Params without_values{{"loop.all", "0"}};
  CHECK(params_in_words(without_values, file).empty());
  std::ofstream(file) << R"({"kind": "adam", "layers": 3, "nested": {"x": 1}})";
  CHECK(params_in_words(without_values, file) == "kind=adam, layers=3");
  CHECK(params_in_words({{"loop.all", "1"}}, file) == "all=1");
}
