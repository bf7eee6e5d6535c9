// Shows the content of a Result, which may belong to another user's run, and starts a new run from the best checkpoint
// of a run.
//   g++ -O2 results.cpp $(pkg-config --cflags --libs trainrt) -o results
//   ./results                (one rank; or mpiexec.mpich -n 2 ./results; or srun --mpi=pmix ./results)
#include <trainrt/trainrt.hpp>

#include <cmath>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

namespace {

/// A train function whose accuracy first grows and then decreases.
void train(trainrt::Context& ctx) {
  std::vector<double> weights(3, 0.0);
  int epoch = 0;
  trainrt::State state;
  state.tensor("model/weights", weights);
  state.value("epoch", epoch);
  if (ctx.restore(state) && ctx.world_rank() == 0)
    std::printf("%s starts from weight %g\n", ctx.run_name().c_str(), weights[0]);
  const auto epochs = ctx.config("epochs", 6);
  while (epoch < epochs) {
    for (auto& weight : weights) weight += 1;
    ++epoch;
    ctx.checkpoint_metadata(R"({"trained_by": "results.cpp"})");
    ctx.report({{"accuracy", 1 / (1 + std::abs(weights[0] - 4))}});
  }
}

trainrt::Result fit(const std::string& name, const std::string& storage, int epochs, const std::string& from = "") {
  trainrt::TrainerOptions options;
  options.run.name = name;
  options.run.storage_path = storage;
  options.run.checkpoint = {.every = "1 reports", .num_to_keep = 2, .score_attribute = "accuracy", .score_order = "max"};
  if (!from.empty()) options.run.settings = {{"run.resume_from_checkpoint", from}};
  options.loop = {{"epochs", epochs}};
  return trainrt::Trainer(train, options).fit();
}

void show(const trainrt::Result& result) {
  std::printf("%s: %s, accuracy %g after %d attempts\n", result.run_name.c_str(), result.state.c_str(),
              std::get<double>(result.metrics.at("accuracy")), result.attempts);
  for (const auto accuracy : std::get<std::vector<double>>(result.columns.at("accuracy"))) std::printf(" %.2f", accuracy);
  std::printf("\n");
  for (const auto& checkpoint : result.best_checkpoints)  // the best first; the newest is always kept
    std::printf("kept: accuracy %.2f, %s\n", checkpoint.metrics.at("accuracy"), checkpoint.metadata.c_str());
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string storage = argc > 1 ? argv[1] : "runs";
  const auto result = fit("results", storage, 6);
  if (result.exit_code() != 0) return result.exit_code();
  const auto again = trainrt::Result::from_path(result.path);  // any run directory, even while the run is running
  show(again);
  const auto best = again.get_best_checkpoint("accuracy", "max");
  const auto resumed = fit("results-resumed", storage, 5, best->path);
  if (resumed.exit_code() == 0) show(resumed);
  return resumed.exit_code();
} catch (const trainrt::Error& error) {
  std::fprintf(stderr, "results: %s\n", error.what());
  return static_cast<int>(error.code());
}
