#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "batch/signals.hpp"
#include "unit/trainer/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;
using Catch::Contains;

namespace {

std::mutex seen_lock;
std::vector<std::int64_t> seen;
std::array<std::atomic<int>, 8> filtered;  // number of samples, by rank
int keep_of_three = 0;

std::int64_t number_of(const TensorView& values) { return *static_cast<const std::int64_t*>(values.data); }

void note(const Batch& batch) {
  const std::lock_guard lock(seen_lock);
  const auto values = batch.field("id");
  const auto* const numbers = static_cast<const std::int64_t*>(values.data);
  seen.insert(seen.end(), numbers, numbers + batch.size());
}

/// Walks over a third of the numbers 0 to 999, and raises a stop signal at the batch `stop_after`.
void walk(Context& ctx) {
  auto data = ctx.dataset("train");
  std::int64_t batches = 0;
  State state;
  state.value("batches", batches);
  ctx.restore(state);
  data.filter("id", [&](const TensorView& values) {
    ++filtered[static_cast<std::size_t>(ctx.world_rank())];
    return number_of(values) % 3 == keep_of_three;
  });
  for (const auto& batch : data.epoch(0).batches(5, Remainder::uneven)) {
    note(batch);
    if (++batches == ctx.config<int>("stop_after", 0) && ctx.world_rank() == 0) raise(SIGUSR1);
    ctx.step();
  }
}

config::RunSpec spec_of_numbers(const std::string& folder, const char* stop_after = "0") {
  Options options;
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, std::string>>{{"run.name", "r"},
                                                                  {"run.storage_path", folder},
                                                                  {"train.function", "test"},
                                                                  {"data.train.format", "range"},
                                                                  {"data.train.samples", "1000"},
                                                                  {"data.train.shuffle", "true"},
                                                                  {"scaling.on_resize", "keep_global_batch"},
                                                                  {"loop.stop_after", stop_after}})
    options.set(key, {value, "test"});
  return config::make_run_spec(options);
}

/// Returns a run over readings of three stations, in sequences of 4.
config::RunSpec spec_of_sequences(const std::string& folder, const char* sequence, const char* stop_after = "0") {
  std::ofstream readings(folder + "/readings.csv");
  readings << "station,id\n";
  for (int i = 0; i < 200; ++i) readings << i * i % 3 << "," << i << "\n";
  readings.close();
  auto spec = spec_of_numbers(folder, stop_after);
  Options options;
  for (const auto& [key, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"source", folder + "/readings.csv"}, {"shuffle", "true"}, {"sequence", sequence}, {"subset_after", "0:96"}})
    options.set(key, {value, "test"});
  spec.data["train"] = std::move(options);
  return spec;
}

/// Records the first number of each sequence, and -1 for each number of a wrong station.
void note_sequences(const Batch& batch) {
  const std::lock_guard lock(seen_lock);
  const auto* const numbers = static_cast<const std::int64_t*>(batch.field("id").data);
  for (std::size_t i = 0; i < 4 * batch.size(); ++i) {
    if (i % 4 == 0) seen.push_back(numbers[i]);
    if (numbers[i] * numbers[i] % 3 != numbers[i / 4 * 4] * numbers[i / 4 * 4] % 3) seen.push_back(-1);
  }
}

/// Walks over sequences, and raises a stop signal at the batch `stop_after`.
void walk_sequences(Context& ctx) {
  auto data = ctx.dataset("train");
  std::int64_t batches = 0;
  State state;
  state.value("batches", batches);
  ctx.restore(state);
  for (const auto& batch : data.epoch(0).batches(3, Remainder::uneven)) {
    note_sequences(batch);
    if (++batches == ctx.config<int>("stop_after", 0) && ctx.world_rank() == 0) raise(SIGUSR1);
    ctx.step();
  }
}

void stop_after_seven(const std::string& folder) {
  batch::install_stop_signals();
  batch::forget_stop_signal();
  run_on(2, spec_of_numbers(folder, "7"), walk);
  batch::forget_stop_signal();
}

std::vector<std::int64_t> thirds() {
  std::vector<std::int64_t> numbers;
  for (int i = 0; i < 1000; i += 3) numbers.push_back(i);
  return numbers;
}

std::vector<std::int64_t> taken() {
  auto numbers = std::exchange(seen, {});
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

TEST_CASE("the ranks divide the samples to apply a filter, and keep the same samples") {
  for (const int ranks : {1, 2, 3, 8}) {
    const Scratch folder;
    keep_of_three = 0;
    for (auto& count : filtered) count = 0;
    run_on(ranks, spec_of_numbers(folder.path()), walk);
    CHECK(taken() == thirds());
    int all = 0;
    for (const auto& count : filtered) {
      all += count;
      CHECK(count <= 1000 / ranks + 64);
    }
    CHECK(all == 1000);
  }
}

TEST_CASE("an exception of a filter on one rank is thrown on all ranks") {
  const Scratch folder;
  std::atomic<int> errors = 0;
  static std::atomic<int>* counted = nullptr;
  counted = &errors;
  run_on(3, spec_of_numbers(folder.path()), [](Context& ctx) {
    try {
      ctx.dataset("train").filter("id", [](const TensorView& values) {
        if (number_of(values) == 999) throw std::runtime_error("no such luck");
        return true;
      });
    } catch (const Error& error) {
      if (std::string(error.what()).find("no such luck") != std::string::npos) ++*counted;
    }
  });
  CHECK(errors == 3);
}

TEST_CASE("a filtered run that stopped inside an epoch resumes with the remaining samples, also on other ranks") {
  const Scratch folder;
  keep_of_three = 0;
  stop_after_seven(folder.path());
  run_on(3, spec_of_numbers(folder.path()), walk);
  CHECK(taken() == thirds());
}

TEST_CASE("a filter that keeps other samples cannot resume inside an epoch") {
  const Scratch folder;
  keep_of_three = 0;
  stop_after_seven(folder.path());
  keep_of_three = 1;
  CHECK_THROWS_WITH(run_on(2, spec_of_numbers(folder.path()), walk), Contains("333 of 1000") && Contains("334 of 1000"));
  taken();
}

TEST_CASE("a run over sequences resumes inside an epoch at any step, also on other ranks") {
  const Scratch uninterrupted;
  run_on(1, spec_of_sequences(uninterrupted.path(), "4 stride=2 within=station"), walk_sequences);
  const auto all = taken();
  REQUIRE(all.size() == 96);
  CHECK(all.front() >= 0);
  batch::install_stop_signals();
  for (const auto* stop : {"1", "4", "11"}) {
    const Scratch folder;
    batch::forget_stop_signal();
    run_on(2, spec_of_sequences(folder.path(), "4 stride=2 within=station", stop), walk_sequences);
    batch::forget_stop_signal();
    run_on(stop[0] == '4' ? 3 : 2, spec_of_sequences(folder.path(), "4 stride=2 within=station"), walk_sequences);
    CHECK(taken() == all);
  }
}

TEST_CASE("keys that make other samples cannot resume inside an epoch") {
  const Scratch folder;
  batch::install_stop_signals();
  batch::forget_stop_signal();
  run_on(2, spec_of_sequences(folder.path(), "4 within=station", "3"), walk_sequences);
  batch::forget_stop_signal();
  CHECK_THROWS_WITH(run_on(2, spec_of_sequences(folder.path(), "4 stride=2 within=station"), walk_sequences),
                    Contains("windows of 4, 1 further") && Contains("windows of 4, 2 further"));
  taken();
}
