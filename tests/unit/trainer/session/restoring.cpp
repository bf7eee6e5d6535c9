// Tests of Restoring, which loads a checkpoint at the start of an attempt. The checkpoint may lack values.
#include "trainer/session/restoring.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "checkpoint/format/names.hpp"
#include "unit/trainer/session/attempt_parts.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Matchers::Contains;
using trainer::Restored;

namespace {

/// Saves checkpoints 0 and 1, at steps 1 and 2.
void save_twice(Context& ctx) {
  std::int64_t number = 10;
  State state;
  state.value("number", number);
  ctx.restore(state);
  for (int i = 0; i < 2; ++i) {
    ++number;
    ctx.step();
    ctx.report({{"number", static_cast<double>(number)}});
  }
  ctx.wait_for_checkpoint();
}

void damage(const std::string& run_dir, std::int64_t number) {
  const auto path = run_dir + "/" + checkpoint::directory_name(number) + "/" + checkpoint::manifest_name;
  std::ofstream(path, std::ios::trunc) << "{}";
}

struct Outcome {
  Restored restored;
  std::int64_t number = 0;
  std::int64_t step = 0, iteration = 0;
};

/// Restores on two ranks a State with the value `number`; returns rank 1's outcome.
Outcome restore(const config::RunSpec& spec) {
  Outcome outcome;
  with_attempt_parts(2, spec, [&](AttemptParts& parts) {
    std::int64_t number = 0;
    State user;
    user.value("number", number);
    parts.saving.attach(user, trainer::StateKind::state);
    auto restored = parts.restoring.restore(parts.saving.state(), parts.saving.covers());
    if (parts.communicator.rank() == 1)
      outcome = {std::move(restored), number, parts.progress.step(), parts.progress.iteration()};
  });
  return outcome;
}

}  // namespace

TEST_CASE("a run without a checkpoint gets rank 0's replicated tensors on all ranks") {
  const Scratch folder;
  std::atomic<int> sum = 0;
  with_attempt_parts(3, spec_in(folder.path()), [&](AttemptParts& parts) {
    const auto mine = static_cast<float>(parts.communicator.rank() + 5);
    std::vector<float> weights(4, mine), own(1, mine);
    State user;
    user.tensor("w", weights);
    user.tensor("own", own).per_rank();
    parts.saving.attach(user, trainer::StateKind::state);
    const auto restored = parts.restoring.restore(parts.saving.state(), parts.saving.covers());
    const bool is_right = !restored.checkpoint && weights == std::vector<float>(4, 5) && own[0] == mine;
    sum += is_right ? 1 : 0;
  });
  CHECK(sum == 3);
}

TEST_CASE("the newest checkpoint of the run is restored with its progress and metrics") {
  const Scratch folder;
  const auto spec = spec_in(folder.path(), {{"checkpoint.async", "false"}});
  run_on(2, spec, save_twice);
  const auto [restored, number, step, iteration] = restore(spec);
  REQUIRE(restored.checkpoint);
  CHECK(restored.checkpoint->number == 1);
  CHECK(restored.is_of_this_run);
  CHECK((number == 12 && step == 2 && iteration == 2));
  CHECK(restored.metrics.at("number") == 12);
  CHECK(restored.damaged.empty());
}

TEST_CASE("a damaged checkpoint is skipped and returned as damaged") {
  const Scratch folder;
  const auto spec = spec_in(folder.path(), {{"checkpoint.async", "false"}});
  run_on(2, spec, save_twice);
  damage(spec.run_dir, 1);
  const auto [restored, number, step, iteration] = restore(spec);
  REQUIRE(restored.checkpoint);
  CHECK(restored.checkpoint->number == 0);
  CHECK((number == 11 && step == 1 && iteration == 1));
  CHECK(restored.damaged == std::vector<std::int64_t>{1});
}

TEST_CASE("a run with only damaged checkpoints begins at step 0 only if the config accepts that") {
  const Scratch folder;
  const auto with = [&](const char* choice) {
    return spec_in(
        folder.path(),
        {{"checkpoint.async", "false"}, {"run.missing_checkpoints", choice}, {"failure.storage_timeout", "0.1"}});
  };
  run_on(2, with("refuse"), save_twice);
  damage(with("refuse").run_dir, 0);
  damage(with("refuse").run_dir, 1);
  CHECK_THROWS_WITH(restore(with("refuse")), Contains("damaged"));
  const auto [restored, number, step, iteration] = restore(with("accept"));
  CHECK_FALSE(restored.checkpoint);
  CHECK((number == 0 && step == 0 && iteration == 0));
  CHECK(restored.damaged == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("a new run takes another run's checkpoint, and its iterations if they continue") {
  const Scratch folder, other;
  const auto from = spec_in(other.path(), {{"checkpoint.async", "false"}});
  run_on(2, from, save_twice);
  for (const auto* choice : {"restart", "continue"}) {
    const auto spec =
        spec_in(folder.path(), {{"run.resume_from_checkpoint", from.run_dir.c_str()}, {"run.resume_iteration", choice}});
    const auto [restored, number, step, iteration] = restore(spec);
    const bool continues = std::string(choice) == "continue";
    REQUIRE(restored.checkpoint);
    CHECK_FALSE(restored.is_of_this_run);
    CHECK((number == 12 && step == 2 && iteration == (continues ? 2 : 0)));
    CHECK(restored.reports_of == (continues ? from.run_dir : ""));
    CHECK(restored.metrics.empty());
  }
}
