// A callback that keeps the best loss of each rank and prints the path of the best checkpoint. main only calls
// Trainer::run().
//   g++ -O2 callback.cpp $(pkg-config --cflags --libs trainrt) -o callback
//   mpiexec.mpich -n 2 ./callback      (or srun --mpi=pmix ./callback)
#include <trainrt/trainrt.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <vector>

namespace {

/// Trainer calls these functions on rank 0, on the thread of the train function. They must therefore be short.
class BestOfRanks : public trainrt::Callback {
 public:
  std::string name() const override { return "best of ranks"; }
  bool wants_all_ranks() const override { return true; }

  void on_start(const trainrt::RunInfo& info) override {
    best_.assign(static_cast<std::size_t>(info.world_size), std::numeric_limits<double>::infinity());
    std::printf("attempt %d in %s\n", info.attempt, info.run_dir.c_str());
  }

  void on_report(const trainrt::ReportedMetrics&, std::span<const trainrt::ReportedMetrics> of_ranks) override {
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank)
      best_[rank] = std::min(best_[rank], std::get<double>(of_ranks[rank].at("loss")));
  }

  void on_checkpoint(const trainrt::ResultCheckpoint& checkpoint) override { newest_ = checkpoint.path; }

  void on_finish(const trainrt::Result& result) override {
    for (std::size_t rank = 0; rank < best_.size(); ++rank) std::printf("rank %zu: best loss %g\n", rank, best_[rank]);
    std::printf("%s; the newest checkpoint is %s\n", result.state.c_str(), newest_.c_str());
  }

 private:
  std::vector<double> best_;
  std::string newest_;
};

void train(trainrt::Context& ctx) {
  double w = 0;
  int epoch = 0;
  trainrt::State state;
  state.value("w", w);
  state.value("epoch", epoch);
  ctx.restore(state);
  const auto epochs = ctx.config("epochs", 10);
  while (epoch < epochs) {
    auto random = ctx.random();
    const double error = w - 3 + 0.1 * random.normal();
    w -= 0.5 * ctx.communicator().all_reduced(error, trainrt::Op::mean);
    ++epoch;
    ctx.step();
    ctx.report({{"loss", error * error}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  trainrt::RunConfig run{.name = argc > 1 ? argv[1] : "callback", .storage_path = argc > 2 ? argv[2] : "runs"};
  run.callbacks = {std::make_shared<BestOfRanks>()};
  run.settings = {{"checkpoint.async", false}, {"metrics.sinks", "csv"}};
  trainrt::Trainer trainer(train, {.run = run, .loop = {{"epochs", 10}}});
  return trainer.run();  // prints an error, and returns the exit code
}
