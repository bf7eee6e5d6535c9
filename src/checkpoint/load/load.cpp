#include <trainrt/error.hpp>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/load/loading.hpp"
#include "core/text.hpp"

namespace trainrt::checkpoint {

namespace {

std::optional<LoadResult> load_newest(const State& state, const std::string& run_dir,
                                      const std::vector<Candidate>& candidates, Communicator& communicator) {
  std::vector<std::string> skipped;
  auto loaded = load_first_whole(candidates, all_of(state), same_model(state, communicator), communicator, skipped);
  if (loaded) {
    for (const auto& entry : state.tensors())
      if (loaded->contents.find(entry.name) == nullptr) loaded->result.untouched.insert(entry.name);
    return finish_load(state, std::move(*loaded), communicator);
  }
  if (skipped.empty()) return std::nullopt;
  throw Error("cannot restore from '" + run_dir + "': all its checkpoints are damaged:\n  " +
              join(summed_up(skipped), "\n  ") +
              "\nBring one back from a backup, or choose another run.name to start anew.");
}

}  // namespace

std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir, Communicator& communicator) {
  return load_newest(state, run_dir, candidates_in(run_dir, communicator), communicator);
}

std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir,
                                      const std::vector<std::int64_t>& indices, Communicator& communicator) {
  return load_newest(state, run_dir, candidates_of(run_dir, indices), communicator);
}

}  // namespace trainrt::checkpoint
