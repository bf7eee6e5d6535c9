// Linear regression in a program with its own main: the data is random, the gradients are averaged over the ranks, and a
// stopped run resumes from where it was.
//   g++ -O2 linear.cpp $(pkg-config --cflags --libs trainrt) -o linear     (or CMake: find_package(trainrt))
//   ./linear                (one rank; or mpiexec.mpich -n 2 ./linear; or srun --mpi=pmix ./linear)
#include <trainrt/trainrt.hpp>

#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t features = 8;

void train(trainrt::Context& ctx) {
  const auto epochs = ctx.config("epochs", 20);
  const auto lr = ctx.config("lr", 0.1);
  std::vector<double> w(features, 0.0);
  int epoch = 0, batch = 0;
  double loss = 0;

  trainrt::State state;  // refers to the variables; copies nothing
  state.tensor("model/weights", w);
  state.value("epoch", epoch);
  state.value("batch", batch);  // a run may stop after any step
  state.value("loss", loss).part_of_sum();
  ctx.restore(state);

  while (epoch < epochs) {
    while (batch < 50) {
      auto random = ctx.random();  // random numbers of this rank and step, the same after a restart
      std::vector<double> gradient(features, 0.0);
      std::vector<double> x(features);
      double error = 0.01 * random.normal();
      for (std::size_t i = 0; i < features; ++i) {
        x[i] = random.normal();
        error += (w[i] - static_cast<double>(i)) * x[i];  // the true weights are 0, 1, 2, ...
      }
      for (std::size_t i = 0; i < features; ++i) gradient[i] = error * x[i];
      ctx.communicator().all_reduce(gradient, trainrt::Op::mean);
      for (std::size_t i = 0; i < features; ++i) w[i] -= lr * gradient[i];
      loss += 0.5 * error * error / 50;
      ++batch;
      ctx.step();
    }
    ++epoch;
    const double mean = std::exchange(loss, 0.0);
    batch = 0;
    ctx.report({{"loss", mean}, {"epoch", epoch}});
  }
}

}  // namespace

int main(int argc, char** argv) try {
  trainrt::TrainerOptions options;
  options.run.name = argc > 1 ? argv[1] : "linear";
  options.run.storage_path = argc > 2 ? argv[2] : "runs";
  options.run.checkpoint = {.every = "1 reports", .num_to_keep = 2, .score_attribute = "loss", .score_order = "min"};
  options.loop = {{"epochs", argc > 3 ? argv[3] : "20"}, {"lr", 0.1}};

  trainrt::Trainer trainer(train, options);
  const auto result = trainer.fit();  // the same on every rank
  if (result.state == "finished") {
    const auto best = result.get_best_checkpoint("loss", "min");
    std::printf("loss %g, best checkpoint %s\n", std::get<double>(result.metrics.at("loss")), best->path.c_str());
  }
  return result.exit_code();  // 75 after a stop: run the same command to resume
} catch (const trainrt::Error& error) {
  std::fprintf(stderr, "linear: %s\n", error.what());
  return static_cast<int>(error.code());
}
