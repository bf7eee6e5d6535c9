// A program with its own main that calls fit():
//   fits STORAGE NAME [workers=N] [then=NAME2] [throws=RANK [once=FILE]] [pause=MS] [failures=N] [KEY=VALUE ...]
// once: throws only if FILE does not exist, and creates it. After an error, fit() is called a second time in the same
// process. Other keys are RunConfig::settings.
#include <trainrt/trainrt.hpp>
#include <trainrt/where_thrown.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

int thrower = -1;
int pause_ms = 0;
std::string once;

/// Returns whether the train function must throw now: always if `once` is empty; otherwise only if the file `once` does not
/// exist yet. Creates this file.
bool is_time() {
  if (once.empty()) return true;
  if (std::filesystem::exists(once)) return false;
  std::ofstream(once) << "thrown\n";
  return true;
}

[[gnu::noinline]] void find_no_more_data() { throw std::runtime_error("no more data"); }

/// Prints the failure that its callback receives.
class Teller : public trainrt::Callback {
  void on_failure(const trainrt::RunFailure& failure) override {
    std::printf("rank %d is notified of rank %d: %s\n", failure.told_rank, failure.rank, failure.error.c_str());
    std::fflush(stdout);
  }
};

void train(trainrt::Context& ctx) {
  std::vector<double> sum(4, 0.0);
  int done = 0;
  trainrt::State state;
  state.tensor("model/weights", sum);
  state.value("done", done);
  ctx.restore(state);
  while (done < 10) {
    for (auto& value : sum) value += ctx.communicator().all_reduced(ctx.random().uniform(), trainrt::Op::sum);
    ++done;
    ctx.step();
    if (done == 5 && ctx.world_rank() == thrower && is_time()) find_no_more_data();
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    ctx.report({{"sum", sum[0]}});
  }
}

void say(const trainrt::Result& result) {
  std::printf("%s: %s, %zu reports, %d attempts, checkpoint %s, exit %d\n", result.run_name.c_str(), result.state.c_str(),
              std::get<std::vector<double>>(result.columns.at("sum")).size(), result.attempts,
              result.checkpoint ? result.checkpoint->path.c_str() : "none", result.exit_code());
}

trainrt::Result fit(const trainrt::TrainerOptions& options) try {
  return trainrt::Trainer(train, options).fit();
} catch (const trainrt::Error& error) {
  if (once.empty()) throw;
  std::printf("again after: %s\n", error.what());
  return trainrt::Trainer(train, options).fit();
}

}  // namespace

int main(int argc, char** argv) try {
  trainrt::TrainerOptions options;
  options.run.storage_path = argv[1];
  options.run.name = argv[2];
  std::string then;
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    const auto key = word.substr(0, equals), value = word.substr(equals + 1);
    if (key == "workers")
      options.scaling.num_workers = std::stoi(value);
    else if (key == "then")
      then = value;
    else if (key == "throws")
      thrower = std::stoi(value);
    else if (key == "once")
      once = value;
    else if (key == "failures")
      options.run.failure.max_failures = std::stoi(value);
    else if (key == "pause")
      pause_ms = std::stoi(value);
    else
      options.run.settings.emplace(key, value);
  }
  options.run.callbacks = {std::make_shared<Teller>()};
  const auto result = fit(options);
  say(result);
  struct sigaction after {};
  sigaction(SIGTERM, nullptr, &after);
  if (after.sa_handler != SIG_DFL) std::printf("SIGTERM is still trainrt's\n");
  if (then.empty() || result.exit_code() != 0) return result.exit_code();
  options.run.name = then == "unnamed" ? "" : then;
  const auto second = trainrt::Trainer(train, options).fit();
  say(second);
  return second.exit_code();
} catch (const trainrt::Error& error) {
  std::printf("caught: %s\n", error.what());
  return static_cast<int>(error.code());
}
