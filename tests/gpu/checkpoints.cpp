// Tests checkpoints of tensors on GPUs.
#include "checkpoint/load/load.hpp"
#include "gpu/gpu_test.hpp"
#include "unit/checkpoint/device_model.hpp"
#include "unit/checkpoint/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;

TEST_CASE("a checkpoint of a state on GPUs has the values of its step and restores every bit on any number of ranks") {
  if (!have_gpus(1, "checkpoints of tensors on GPUs")) return;
  auto& gpus = device::runtime();
  for (const int writers : {1, 2, 3}) {
    Scratch scratch;
    run_ranks(writers, [&](Communicator& communicator) {
      DeviceModel model(gpus, every_kind(), communicator.rank(), communicator.size());
      model.fill(5);
      auto save = options_for(scratch.path(), 0);
      checkpoint::Saver saver(save.saver, communicator);
      const auto failed = saver.start(model.state, {save.meta, {}});
      model.fill(6);  // the step that follows
      const auto result = failed ? *failed : saver.finish().value();
      if (!result.committed) throw Error(result.error);
    });
    for (const int readers : {1, 2, 3}) {
      CAPTURE(writers, readers);
      Findings findings;
      run_ranks(readers, [&](Communicator& communicator) {
        DeviceModel model(gpus, every_kind(), communicator.rank(), communicator.size());
        const auto loaded = checkpoint::load_latest(model.state, scratch.path(), communicator);
        findings.add(!loaded ? "nothing loaded" : model.difference(5, writers));
      });
      CHECK(findings.take() == std::vector<std::string>{});
    }
  }
}
