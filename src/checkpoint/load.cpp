#include <trainrt/error.hpp>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/loading.hpp"
#include "core/text.hpp"

namespace trainrt::checkpoint {

std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir, Communicator& communicator) {
  std::vector<std::string> skipped;
  auto loaded = load_first_whole(candidates_in(run_dir, communicator), all_of(state), same_model(state, communicator),
                                 communicator, skipped);
  if (loaded) {
    for (const auto& entry : state.tensors())
      if (loaded->contents.find(entry.name) == nullptr) loaded->result.untouched.insert(entry.name);
    return finish_load(state, std::move(*loaded), communicator);
  }
  if (skipped.empty()) return std::nullopt;
  throw Error("cannot restore from '" + run_dir + "': all its checkpoints are damaged:\n  " + join(skipped, "\n  ") +
              "\nBring one back from a backup, or choose another run.name to start anew.");
}

}  // namespace trainrt::checkpoint
