#include "tune/search/search_space.hpp"

#include <cmath>
#include <set>

#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "tune/record/trial_workers.hpp"
#include "tune/search/searcher.hpp"

using namespace trainrt;
using namespace trainrt::tune;
using Catch::Contains;

namespace {

Options space(const std::map<std::string, std::string>& keys) {
  Options made;
  for (const auto& [key, value] : keys) made.set(key, {value, "tune.ini:9"});
  return made;
}

double number_at(const std::string& domain, double unit) { return std::stod(value_at(domain_of(domain), unit)); }

std::vector<double> units(const std::string& searcher, std::uint64_t trials, std::size_t dimension,
                          std::uint64_t seed = 1) {
  std::vector<double> found;
  for (std::uint64_t trial = 0; trial < trials; ++trial)
    found.push_back(find_plugin(searcher_table(), searcher, "searcher").unit(seed, trial, dimension));
  return found;
}

/// Returns the number of samples in each of `cells` equal cells.
std::vector<int> histogram(const std::vector<double>& values, std::size_t cells) {
  std::vector<int> counts(cells);
  for (const auto value : values) ++counts.at(static_cast<std::size_t>(value * static_cast<double>(cells)));
  return counts;
}

}  // namespace

TEST_CASE("domains return values between their limits") {
  CHECK(number_at("uniform(-2, 6)", 0) == -2);
  CHECK(number_at("uniform(-2, 6)", 0.25) == 0);
  CHECK(number_at("loguniform(1e-4, 1)", 0.5) == Approx(1e-2));
  CHECK(number_at("quniform(0, 1, 0.25)", 0.3) == 0.25);
  CHECK(value_at(domain_of("randint(3, 6)"), 0) == "3");
  CHECK(value_at(domain_of("randint(3, 6)"), 0.999) == "5");
  CHECK(value_at(domain_of("lograndint(1, 1000)"), 0.999999) == "999");
  CHECK(value_at(domain_of("qrandint(-5, 12, 4)"), 0) == "-4");
  CHECK(value_at(domain_of("qrandint(-5, 12, 4)"), 0.999) == "12");
  CHECK(value_at(domain_of("qrandint(0, 3, 1)"), 0.999) == "2");
  CHECK(value_at(domain_of("qlograndint(2, 100, 3)"), 0) == "3");
  CHECK(value_at(domain_of("qlograndint(2, 100, 3)"), 0.999999) == "99");
  CHECK(number_at("qloguniform(0.01, 1, 0.01)", 0.5) == Approx(0.1));
  CHECK(value_at(domain_of("choice(sgd, 'a, b', adam)"), 0.5) == "a, b");
  CHECK(value_at(domain_of("0.9"), 0.7) == "0.9");
}

TEST_CASE("an invalid domain is an error that names the cause") {
  const auto says = [](const std::string& text, const std::string& why) {
    CHECK_THROWS_WITH(SearchSpace(space({{"lr", text}})), Contains("tune.ini:9") && Contains("lr") && Contains(why));
  };
  says("uniform(2, 1)", "must be below high");
  says("qrandint(5, 11, 4.5)", "not an integer");
  says("loguniform(0, 1)", "above 0");
  says("uniform(a, 1)", "'a' is not a number");
  says("sample(0.1, a)", "'a' is not a number");
  says("randint(1, 2.5)", "not an integer");
  says("quniform(0, 1, 2)", "step = 2 must be");
  says("uniform(1)", "expected 2 numbers, got 1");
  says("choice()", "a value is missing");
  says("logunifrom(1, 2)", "did you mean 'loguniform'");
  says("choice('a, b)", "quote is not closed");
  CHECK_THROWS_WITH(SearchSpace(Options()), Contains("is empty"));
}

TEST_CASE("all combinations of grids are used, and the other keys are drawn") {
  const SearchSpace made(
      space({{"lr", "grid(1, 2, 3)"}, {"scaling.num_workers", "grid(1, 2)"}, {"momentum", "uniform(0, 1)"}}));
  REQUIRE(made.grid_size() == 6);
  std::set<std::pair<std::string, std::string>> seen;
  for (std::uint64_t i = 0; i < 6; ++i) {
    const std::vector<double> at(made.dimensions().size(), 0.5);
    const auto params = made.at(i, at);
    CHECK(params.at("loop.momentum") == "0.5");
    seen.emplace(params.at("loop.lr"), params.at("scaling.num_workers"));
  }
  CHECK(seen.size() == 6);
}

TEST_CASE("searchers return values in [0, 1) that depend on seed, trial and dimension") {
  for (const auto* searcher : searcher_table()) {
    INFO(searcher->name);
    const std::string name(searcher->name);
    const auto first = units(name, 1000, 3);
    CHECK(first == units(name, 1000, 3));
    CHECK(first != units(name, 1000, 3, 2));
    CHECK(first != units(name, 1000, 4));
    for (const auto unit : first) CHECK((unit >= 0 && unit < 1));
  }
}

TEST_CASE("halton fills a dimension more evenly than random draws") {
  for (const auto count : histogram(units("halton", 1024, 0), 64)) CHECK((count >= 14 && count <= 18));  // 16 each
  double squares = 0;
  for (const auto count : histogram(units("random", 1024, 0), 64)) squares += (count - 16) * (count - 16) / 16.0;
  CHECK(squares > 20);
  CHECK(squares < 130);  // chi-square of 63 degrees of freedom
}

TEST_CASE("a key with a condition is set only if the condition is met, as are keys that depend on it") {
  Options keys;
  keys.set("optimizer", {"choice(sgd, adam)", "tune.ini:2"});
  keys.set("momentum", {"uniform(0, 0.9) if optimizer == sgd", "tune.ini:3"});
  keys.set("nesterov", {"choice(true, false) if optimizer in (sgd)", "tune.ini:4"});
  keys.set("warmup", {"5 if nesterov == true", "tune.ini:5"});
  const SearchSpace space(keys);  // by name: momentum, nesterov, optimizer, warmup
  const std::vector<double> sgd{0.5, 0.0, 0.0, 0.0}, plain{0.5, 0.9, 0.0, 0.0}, adam{0.5, 0.0, 0.9, 0.0};
  CHECK(space.at(0, sgd) ==
        Params{{"loop.optimizer", "sgd"}, {"loop.momentum", "0.45"}, {"loop.nesterov", "true"}, {"loop.warmup", "5"}});
  CHECK(space.at(0, plain) == Params{{"loop.optimizer", "sgd"}, {"loop.momentum", "0.45"}, {"loop.nesterov", "false"}});
  CHECK(space.at(0, adam) == Params{{"loop.optimizer", "adam"}});
}

TEST_CASE("a condition that can never be met is an error that names the cause") {
  const auto error_of = [](const std::string& text) {
    Options keys;
    keys.set("optimizer", {"choice(sgd, adam)", "tune.ini:2"});
    keys.set("width", {"randint(1, 9)", "tune.ini:3"});
    keys.set("momentum", {text, "tune.ini:4"});
    try {
      SearchSpace{keys};
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(error_of("uniform(0, 1) if optimizer == sgd").empty());
  CHECK(error_of("choice(\"a if b\", c)").empty());
  CHECK_THAT(error_of("uniform(0, 1) if optimiser == sgd"),
             Catch::Contains("tune.ini:4") && Catch::Contains("loop.optimiser is not another key"));
  CHECK_THAT(error_of("uniform(0, 1) if momentum == 0"), Catch::Contains("is not another key"));
  CHECK_THAT(error_of("uniform(0, 1) if width == 3"), Catch::Contains("is neither a choice"));
  CHECK_THAT(error_of("uniform(0, 1) if optimizer in (sgd, adamm)"),
             Catch::Contains("cannot be 'adamm'") && Catch::Contains("did you mean 'adam'"));
  CHECK_THAT(error_of("uniform(0, 1) if optimizer"), Catch::Contains("if KEY == VALUE"));
}

TEST_CASE("scaling.num_workers sets the number of ranks of a trial") {
  const auto max_of = [](const std::string& domain) {
    return max_workers(SearchSpace(space({{"scaling.num_workers", domain}})), 3);
  };
  CHECK(max_of("grid(1, 4, 2)") == 4);
  CHECK(max_of("randint(1, 9)") == 8);
  CHECK(max_workers(SearchSpace(space({{"lr", "0.1"}})), 3) == 3);
  CHECK(workers_of({{"scaling.num_workers", "2"}}, 3) == 2);
  CHECK(workers_of({{"loop.lr", "2"}}, 3) == 3);
  for (const auto* domain : {"grid(0, 1)", "choice(1, two)", "uniform(1, 2)", "randint(0, 2)"})
    CHECK_THROWS_WITH(max_of(domain), Contains("tune.ini:9") && Contains("scaling.num_workers") && Contains("grid(1, 2)"));
}
