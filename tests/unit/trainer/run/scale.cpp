// Tests of the cost of a run's collective operations for many ranks. bench_scale.py measures up to 1,024 ranks.
#include <catch2/catch.hpp>

#include "support/cpp/scale.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;

namespace {

std::map<std::string, test::Operation> measured(int ranks, test::Tensors tensors) {
  const test::Scratch folder;
  return test::ScaleRun(ranks, tensors, folder.path()).measure();
}

}  // namespace

TEST_CASE("the number of collectives of an operation does not depend on the number of ranks, and steps need no gather") {
  const auto few = measured(8, {10, 2});
  for (const int ranks : {16, 64}) {
    const auto many = measured(ranks, {10, 2});
    for (const auto& [name, operation] : few) {
      CAPTURE(ranks, name);
      CHECK(many.at(name).tally.collectives() == operation.tally.collectives());
      CHECK(many.at(name).tally.gathers == operation.tally.gathers);
    }
    CHECK(many.at("two_steps").tally.collectives() == 2);
    CHECK(many.at("two_steps").tally.maxima == 2);
    CHECK(many.at("report").tally.gathers == 0);
  }
}

TEST_CASE("the bytes that a commit gathers grow with the number of ranks, but not with the number of tensors") {
  const auto bytes = [](int ranks, test::Tensors tensors) {
    return measured(ranks, tensors).at("commit").tally.gathered_bytes;
  };
  const auto few = bytes(16, {1, 1});
  CHECK(bytes(16, {500, 100}) == few);
  CHECK(bytes(32, {1, 1}) <= 2 * few);
}
