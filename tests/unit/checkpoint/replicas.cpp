// Tests of broadcast_replicas() and ReplicaCheck.
#include <array>
#include <catch2/catch.hpp>

#include "checkpoint/replica_check.hpp"
#include "checkpoint/replicas.hpp"
#include "checkpoint/save/agree.hpp"
#include "device_model.hpp"
#include "runs.hpp"
#include "support/cpp/fake_gpus.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;

namespace {

std::uint64_t seed_of(int rank) { return static_cast<std::uint64_t>(rank) + 1; }

/// Returns the name of the first wrong tensor, or "". Replicated tensors must equal rank 0's, others the rank's own.
std::string misfit(const Model& model, const State& state, int rank) {
  std::size_t i = 0;
  for (const auto& entry : state.tensors()) {
    const bool replicated = entry.placement == Placement::replicated;
    const auto wanted = model.expected(i++, replicated ? seed_of(0) : seed_of(rank), replicated ? 0 : rank);
    if (std::string(static_cast<const char*>(entry.local.data), entry.local.bytes()) != wanted) return entry.name;
  }
  return "";
}

std::vector<Spec> every_kind_and_large() {
  auto specs = every_kind();
  specs.push_back({"large", DType::i16, {10'000'001}});  // several batches
  return specs;
}

using DifferingTensor = checkpoint::ReplicaCheck::DifferingTensor;

std::string shown(const std::vector<DifferingTensor>& differing) {
  std::string text;
  for (const auto& one : differing) {
    text += one.tensor + " on";
    for (const auto rank : one.ranks) text += " " + std::to_string(rank);
    text += " since " + std::to_string(one.equal_at) + "\n";
  }
  return text;
}

/// Compares the next part of the replicated tensors between the ranks, as each checkpoint does.
std::vector<DifferingTensor> look(checkpoint::ReplicaCheck& check, Communicator& communicator, std::int64_t step) {
  const auto mine = check.next_part();
  std::array<std::int64_t, 2> most = {mine, ~mine};
  communicator.all_reduce(most, Op::max);
  return check.conclude(most[0] == ~most[1], step);
}

}  // namespace

TEST_CASE("broadcast_replicas copies replicated tensors of every type and size from rank 0 and changes no other tensors") {
  for (const int ranks : {1, 2, 3}) {
    Findings findings;
    run_ranks(ranks, [&](Communicator& communicator) {
      Model model(every_kind_and_large(), communicator.rank(), communicator.size());
      model.fill(seed_of(communicator.rank()));
      checkpoint::broadcast_replicas(checkpoint::replicated_tensors(model.state()), communicator);
      findings.add(misfit(model, model.state(), communicator.rank()));
    });
    CHECK(findings.take() == std::vector<std::string>{});
  }
}

TEST_CASE("broadcast_replicas copies between GPU memory and host memory of different ranks") {
  FakeGpus gpus(2);
  const device::ReplacedRuntime replaced(gpus);
  Findings findings;
  run_ranks(3, [&](Communicator& communicator) {
    const auto rank = communicator.rank();
    DeviceModel model(gpus, every_kind(), rank, communicator.size());
    model.fill(seed_of(rank));
    const auto& state = rank == 2 ? model.host.state() : model.state;
    if (rank == 2) model.host.fill(seed_of(rank));
    checkpoint::broadcast_replicas(checkpoint::replicated_tensors(state), communicator);
    if (rank != 2) model.difference(0, 1);  // copies all tensors to the host
    findings.add(misfit(model.host, model.host.state(), rank));
  });
  CHECK(findings.take() == std::vector<std::string>{});
}

TEST_CASE("a tensor that is declared as GPU memory but is not is an error on all ranks before a broadcast") {
  FakeGpus gpus;
  const device::ReplacedRuntime replaced(gpus);
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    std::vector<float> memory(8);
    State state;
    state.tensor("lost",
                 TensorView{memory.data(), DType::f32, {8}, communicator.rank() == 1 ? Device::cuda : Device::host});
    try {
      checkpoint::broadcast_replicas(checkpoint::replicated_tensors(state), communicator);
    } catch (const Error& error) {
      findings.add(error.what());
    }
  });
  const auto said = findings.take();
  REQUIRE(said.size() == 2);
  CHECK(said[0] == said[1]);
  CHECK_THAT(said[0], Contains("'lost'") && Contains("rank 1"));
}

TEST_CASE("require_alike names all entries that differ between ranks, on every rank") {
  for (const bool missing : {true, false}) {
    Findings findings;
    run_ranks(3, [&](Communicator& communicator) {
      std::vector<float> w(communicator.rank() == 1 ? 5 : 4), b(2);
      State state;
      state.tensor("w", w);
      if (!missing || communicator.rank() != 2) state.tensor("b", b);
      try {
        checkpoint::require_alike(state, communicator);
      } catch (const Error& error) {
        findings.add(error.what());
      }
    });
    const auto said = findings.take();
    REQUIRE(said.size() == 3);
    CHECK(said[0] == said[2]);
    CHECK_THAT(said[0], Contains("'w'") && Contains("[5], replicated on rank 1") && Contains("on ranks 0, 2"));
    if (missing)
      CHECK_THAT(said[0], Contains("'b': missing on rank 2"));
    else
      CHECK_THAT(said[0], !Contains("'b'"));
  }
}

TEST_CASE("replicas that differ are named with the differing ranks and the last step at which they were equal") {
  Findings findings;
  run_ranks(4, [&](Communicator& communicator) {
    const auto rank = communicator.rank();
    std::vector<float> a(10), b(3'000'000), c(7);
    std::vector<std::int32_t> own(4, rank);
    State state;
    state.tensor("c", c);
    state.tensor("b", b);
    state.tensor("a", a);
    state.tensor("own", own).per_rank();
    checkpoint::ReplicaCheck check(state, communicator, 10);
    const auto say = [&](const std::vector<DifferingTensor>& differing) {
      findings.add(rank == 3 ? shown(differing) : "");
    };
    say(look(check, communicator, 20));
    b.back() = rank == 0 ? -0.0F : 0.0F;  // equal to 0.0, but with other bits
    c[0] = rank < 2 ? 1.0F : 2.0F;
    say(look(check, communicator, 30));
    say(check.compare_all(40).differing);  // tensors that were found to differ are not compared again
    a[9] = static_cast<float>(rank == 2);
    say(check.compare_all(50).differing);
  });
  CHECK(findings.take() == std::vector<std::string>{"b on 0 since 20\nc on 2 3 since 20\n", "a on 2 since 40\n"});
}

TEST_CASE("after the first comparison, rotating parts find a difference anywhere in a large state") {
  constexpr std::int64_t most_rounds = 4;  // 48 MiB in parts of 16 MiB
  for (const std::size_t where : {std::size_t{0}, std::size_t{5'000'000}, std::size_t{11'999'999}}) {
    std::array<std::int64_t, 2> found{}, since{};
    run_ranks(2, [&](Communicator& communicator) {
      const auto rank = static_cast<std::size_t>(communicator.rank());
      std::vector<float> large(12'000'000), small(3);
      State state;
      state.tensor("large", large);
      state.tensor("small", small);
      checkpoint::ReplicaCheck check(state, communicator, 0, 2);
      look(check, communicator, 1);
      look(check, communicator, 2);
      if (rank == 1) large[where] = 1;
      for (std::int64_t step = 3; found[rank] == 0 && step < 100; ++step)
        if (const auto differing = look(check, communicator, step); !differing.empty()) {
          found[rank] = step;
          since[rank] = differing[0].equal_at;
        }
    });
    CAPTURE(where);
    CHECK(found[0] > 2);
    CHECK(found[0] <= 2 + most_rounds);
    CHECK(found[1] == found[0]);
    CHECK(since[0] >= 1);
    CHECK(since[0] <= 2);
  }
}

TEST_CASE("replicas on GPUs are compared") {
  FakeGpus gpus(2);
  const device::ReplacedRuntime replaced(gpus);
  Findings findings;
  run_ranks(2, [&](Communicator& communicator) {
    DeviceModel model(gpus, every_kind(), communicator.rank(), communicator.size());
    model.fill(7);
    checkpoint::ReplicaCheck check(model.state, communicator, 0);
    findings.add(shown(look(check, communicator, 1)));
    model.fill(communicator.rank() == 0 ? 7 : 8);  // asynchronous
    findings.add(std::to_string(look(check, communicator, 2).size()) + " differ");
  });
  std::size_t replicated = 0;
  for (const auto& spec : every_kind())
    replicated += spec.placement == Placement::replicated && element_count(spec.shape) > 0 ? 1 : 0;
  CHECK(findings.take() == std::vector<std::string>(2, std::to_string(replicated) + " differ"));
}
