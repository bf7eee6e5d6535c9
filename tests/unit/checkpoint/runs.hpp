#pragma once
#include <functional>
#include <mutex>
#include <trainrt/error.hpp>

#include "checkpoint/load/load.hpp"
#include "checkpoint/save/results.hpp"
#include "model.hpp"
#include "support/cpp/ranks.hpp"

namespace trainrt::test {

/// Collects messages of ranks. Thread-safe, unlike Catch2's assertions.
class Findings {
 public:
  void add(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (!text.empty()) texts_.push_back(text);
  }
  std::vector<std::string> take() { return std::exchange(texts_, {}); }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

inline checkpoint::SaveResult save_on(int ranks, const std::vector<Spec>& specs, const std::string& run_dir,
                                      std::int64_t number, std::uint64_t seed) {
  checkpoint::SaveResult first;
  run_ranks(ranks, [&](Communicator& communicator) {
    Model model(specs, communicator.rank(), communicator.size());
    model.fill(seed);
    const auto result = save_now(model.state(), options_for(run_dir, number), communicator);
    if (communicator.rank() == 0) first = result;
  });
  return first;
}

/// Result of load_on(): the differences from fill(seed) that ranks found, and the result of rank 0.
struct Loaded {
  std::vector<std::string> differences;
  std::optional<checkpoint::LoadResult> result;
};
inline Loaded load_on(int ranks, const std::vector<Spec>& specs, const std::string& run_dir, std::uint64_t seed,
                      int writers) {
  Loaded loaded;
  Findings findings;
  run_ranks(ranks, [&](Communicator& communicator) {
    Model model(specs, communicator.rank(), communicator.size());
    auto result = checkpoint::load_latest(model.state(), run_dir, communicator);
    findings.add(!result ? "nothing loaded" : model.difference(seed, writers));
    if (communicator.rank() == 0) loaded.result = std::move(result);
  });
  loaded.differences = findings.take();
  return loaded;
}

}  // namespace trainrt::test
