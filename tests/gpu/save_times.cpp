// Measures saves and loads of GPU memory. test_gpu runs this hidden case only if its tag is given, as the part `checkpoint`
// of run_parts.py does. TRAINRT_GPU_GIB is the size of the state in GiB, TRAINRT_GPU_FOLDER is the folder for the
// checkpoints.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>

#include "checkpoint/load/load.hpp"
#include "checkpoint/save/retention.hpp"
#include "gpu/gpu_test.hpp"
#include "support/cpp/on_gpu.hpp"
#include "unit/checkpoint/runs.hpp"

using namespace trainrt;
using namespace trainrt::test;

namespace {

using Clock = std::chrono::steady_clock;

std::size_t tensor_bytes() { return sized(std::size_t{256} << 20); }

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::string setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

/// A state of equal tensors on GPU 0. All have the same random bytes, except that the first bytes are the tensor's number.
class LargeState {
 public:
  LargeState(device::Runtime& gpus, std::size_t tensors) : gpus_(gpus), bytes_(tensor_bytes(), '\0') {
    std::mt19937_64 random(5);
    for (std::size_t i = 0; i < bytes_.size(); i += 8) {
      const auto value = random();
      std::memcpy(&bytes_[i], &value, 8);
    }
    for (std::size_t i = 0; i < tensors; ++i) {
      memory_.push_back(gpus.allocate(0, tensor_bytes()));
      state.tensor("w" + std::to_string(i), view(i));
    }
  }

  void fill() {
    const auto stream = gpus_.default_stream(0);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      stream->to_device(memory_[i].get(), numbered(i).data(), tensor_bytes());
      device::wait_within(*stream->record(), 60);
    }
  }
  void clear() {
    const std::string zeros(tensor_bytes(), '\0');
    const auto stream = gpus_.default_stream(0);
    for (const auto& each : memory_) stream->to_device(each.get(), zeros.data(), tensor_bytes());
    device::wait_within(*stream->record(), 60);
  }
  /// Returns the number of tensors whose bytes differ from those of fill().
  int differences() {
    int different = 0;
    std::string back(tensor_bytes(), '\0');
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      get(gpus_, 0, back.data(), memory_[i].get(), tensor_bytes());
      different += back == numbered(i) ? 0 : 1;
    }
    return different;
  }
  const std::byte* first() const { return memory_.front().get(); }

  State state;

 private:
  TensorView view(std::size_t i) const {
    return {memory_[i].get(), DType::f32, {static_cast<std::int64_t>(tensor_bytes() / 4)}, Device::cuda};
  }
  const std::string& numbered(std::size_t i) {
    std::memcpy(bytes_.data(), &i, sizeof i);
    return bytes_;
  }

  device::Runtime& gpus_;
  std::string bytes_;
  std::vector<Memory> memory_;
};

/// Returns the bytes per second of the fastest of several copies from the GPU into pinned memory.
double pinned_rate(device::Runtime& gpus, const std::byte* from) {
  const auto to = gpus.allocate_pinned(tensor_bytes());
  const auto stream = gpus.make_stream(0);
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const auto start = Clock::now();
    stream->to_host(to.get(), from, tensor_bytes());
    device::wait_within(*stream->record(), 60);
    best = std::min(best, seconds_since(start));
  }
  return static_cast<double>(tensor_bytes()) / best;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct SaveTimes {
  std::vector<double> stalls, totals;
};

SaveTimes save_several(LargeState& large, const std::string& folder, std::uint64_t staging_bytes, int saves) {
  SaveTimes times;
  run_ranks(1, [&](Communicator& communicator) {
    auto save = options_for(folder, 0);
    save.saver.writer.staging_bytes = staging_bytes;
    save.saver.retention = checkpoint::Retention{1, "", true};
    checkpoint::Saver saver(save.saver, communicator);
    saver.prepare(large.state);
    saver.drain();
    for (save.meta.number = 0; save.meta.number < saves; ++save.meta.number) {
      const auto start = Clock::now();
      saver.start(large.state, {save.meta, {}});
      times.stalls.push_back(seconds_since(start));
      if (!saver.finish().value().committed) throw Error("the checkpoint was not committed");
      times.totals.push_back(seconds_since(start));
      saver.drain();
    }
  });
  return times;
}

double load_seconds(LargeState& large, const std::string& folder) {
  double seconds = 0;
  run_ranks(1, [&](Communicator& communicator) {
    const auto start = Clock::now();
    if (!checkpoint::load_latest(large.state, folder, communicator)) throw Error("nothing was loaded");
    seconds = seconds_since(start);
  });
  return seconds;
}

}  // namespace

TEST_CASE("a save of GPU memory stops the train thread for at most 1.1 times the time of pinned copies", "[.checkpoint]") {
  if (!have_gpus(1, "saves of GPU memory")) return;
  auto& gpus = device::runtime();
  const auto gib = std::stoul(setting("TRAINRT_GPU_GIB", "1"));
  const auto bytes = static_cast<double>(gib << 30);
  const Scratch scratch;
  const auto folder = setting("TRAINRT_GPU_FOLDER", scratch.path().c_str());
  LargeState large(gpus, gib * 4);
  large.fill();
  const double copies_s = bytes / pinned_rate(gpus, large.first());
  const auto staging_bytes = static_cast<std::uint64_t>(gib << 30) + (std::uint64_t{64} << 20);
  const auto times = save_several(large, folder, staging_bytes, gib > 4 ? 2 : 3);
  figure(fmt::format("{} GiB: pinned copies from the GPU", gib), copies_s, "s");
  figure(fmt::format("{} GiB: trainrt, stall of a save", gib), median(times.stalls), "s");
  figure(fmt::format("{} GiB: trainrt, save until it is committed", gib), median(times.totals), "s");
  figure(fmt::format("{} GiB: trainrt, limit of staging memory", gib),
         static_cast<double>(staging_bytes) / static_cast<double>(std::uint64_t{1} << 30), "GiB");
  claim(fmt::format("{} GiB: stall of a save over the pinned copies", gib), median(times.stalls) / copies_s, "<=", 1.1);
  large.clear();
  figure(fmt::format("{} GiB: trainrt, restore", gib), load_seconds(large, folder), "s");
  CHECK(large.differences() == 0);
}
