// Tests of tensors and values that are parts of a sum over ranks.
#include <array>

#include <catch2/catch.hpp>
#include <trainrt/checkpoint_store.hpp>

#include "checkpoint/load/load.hpp"
#include "device_model.hpp"
#include "runs.hpp"
#include "support/cpp/fake_gpus.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

/// One rank's parts of sums, of several types. They begin with -7, which a load must replace.
struct Sums {
  std::vector<double> loss = std::vector<double>(3, -7);
  std::vector<std::int64_t> seen = {-7};
  std::vector<float> empty;
  State state;
  Sums() {
    state.tensor("loss", loss).part_of_sum();
    state.tensor("seen", seen).part_of_sum();
    state.tensor("empty", empty).part_of_sum();
  }
};

void save_sums(int ranks, const std::string& run_dir) {
  run_ranks(ranks, [&](Communicator& communicator) {
    Sums sums;
    sums.loss.assign(3, communicator.rank() + 1);
    sums.seen = {communicator.rank() + 1};
    save_now(sums.state, options_for(run_dir, 0), communicator);
  });
}

/// Loads on `ranks` ranks. Returns each rank's part of the sum `seen`.
std::vector<std::int64_t> load_sums(int ranks, const std::string& run_dir) {
  std::vector<std::int64_t> seen(static_cast<std::size_t>(ranks));
  Findings findings;
  run_ranks(ranks, [&](Communicator& communicator) {
    Sums sums;
    checkpoint::load_latest(sums.state, run_dir, communicator);
    for (const double loss : sums.loss)
      if (loss != static_cast<double>(sums.seen[0])) findings.add("another loss than seen");
    seen[static_cast<std::size_t>(communicator.rank())] = sums.seen[0];
  });
  CHECK(findings.take() == std::vector<std::string>{});
  return seen;
}

}  // namespace

TEST_CASE("parts of a sum are restored exactly on the same number of ranks and keep their total on any other") {
  Scratch run;
  save_sums(4, run.path());
  CHECK(load_sums(4, run.path()) == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(load_sums(1, run.path()) == std::vector<std::int64_t>{10});
  CHECK(load_sums(2, run.path()) == std::vector<std::int64_t>{4, 6});
  CHECK(load_sums(3, run.path()) == std::vector<std::int64_t>{5, 2, 3});
  CHECK(load_sums(6, run.path()) == std::vector<std::int64_t>{1, 2, 3, 4, 0, 0});
}

TEST_CASE("an optional part of a sum that the checkpoint lacks is not changed") {
  Scratch run;
  save_sums(3, run.path());
  std::vector<double> later(2);
  run_ranks(2, [&](Communicator& communicator) {
    Sums sums;
    std::vector<double> more(1, 5);
    sums.state.tensor("more", more).part_of_sum().optional = true;
    checkpoint::load_latest(sums.state, run.path(), communicator);
    later[static_cast<std::size_t>(communicator.rank())] = more[0];
  });
  CHECK(later == std::vector<double>{5, 5});
}

TEST_CASE("values that are parts of a sum may differ between ranks and keep their total on another number of ranks") {
  Scratch run;
  struct Sums {
    std::int32_t batches;
    std::int64_t seen;
    double loss;
    State state;
    Sums(std::int32_t part) : batches(part), seen(part), loss(part) {
      state.value("batches", batches).part_of_sum();
      state.value("seen", seen).part_of_sum();
      state.value("loss", loss).part_of_sum();
    }
  };
  run_ranks(4, [&](Communicator& communicator) {
    const Sums sums(communicator.rank() + 1);
    CheckpointStore store(run.path(), communicator);
    store.save(sums.state);
    store.wait();
  });
  std::vector<std::vector<double>> found(3);
  run_ranks(3, [&](Communicator& communicator) {
    Sums sums(-7);
    double later = 5;
    sums.state.value("later", later).part_of_sum().optional = true;
    CheckpointStore store(run.path(), communicator);
    store.restore(sums.state);
    found[static_cast<std::size_t>(communicator.rank())] = {static_cast<double>(sums.batches),
                                                            static_cast<double>(sums.seen), sums.loss, later};
  });
  CHECK(found == std::vector<std::vector<double>>{{5, 5, 5, 5}, {2, 2, 2, 5}, {3, 3, 3, 5}});
}

TEST_CASE("a string or bool cannot be a part of a sum") {
  State state;
  std::string text;
  bool flag = false;
  CHECK_THROWS_WITH(state.value("text", text).part_of_sum(), Catch::Contains("'text' cannot be a part of a sum"));
  CHECK_THROWS_WITH(state.value("flag", flag).part_of_sum(), Catch::Contains("'flag' cannot be a part of a sum"));
}

TEST_CASE("parts of a sum on a GPU keep their total") {
  Scratch run;
  save_sums(3, run.path());
  FakeGpus gpus;
  const device::ReplacedRuntime replaced(gpus);
  std::vector<double> found(2);
  run_ranks(2, [&](Communicator& communicator) {
    Sums sums;
    const auto memory = gpus.allocate(0, sizeof(double) * 3);
    State state;
    state.tensor("loss", TensorView{memory.get(), DType::f64, {3}, Device::cuda}).part_of_sum();
    state.tensor("seen", sums.seen).part_of_sum();
    state.tensor("empty", sums.empty).part_of_sum();
    checkpoint::load_latest(state, run.path(), communicator);
    std::array<double, 3> loss{};
    get(gpus, 0, loss.data(), memory.get(), sizeof loss);
    found[static_cast<std::size_t>(communicator.rank())] = loss[2];
  });
  CHECK(found == std::vector<double>{4, 2});
}

TEST_CASE("a tensor of a type without addition cannot be a part of a sum") {
  std::vector<std::uint8_t> bytes(3);
  State state;
  CHECK_THROWS_WITH(state.tensor("flags", bytes).part_of_sum(), Catch::Contains("flags") && Catch::Contains("u8"));
}
