#pragma once
#include <string>
#include <string_view>
#include <trainrt/state.hpp>
#include <vector>

namespace trainrt::checkpoint {

/// What a checkpoint holds under a name.
struct Item {
  std::string name;
  std::string dtype;      ///< "f32", ...; "string"
  std::string placement;  ///< "replicated", "sharded", "per_rank", "value"
  Shape shape;            ///< of the whole tensor; [] for values
};

/// All items of the checkpoint in that directory, by name, read from its whole view. Error where it cannot be read.
std::vector<Item> read_contents(const std::string& checkpoint_dir);

std::string pack(const std::vector<Item>& items);
std::vector<Item> unpack_items(std::string_view bytes);

/// What keeps the checkpoint from being loaded into this state, one line a name; empty = it fits. Entries of the state that
/// are optional may be missing; items under "trainrt/" may be too many. Replicated and sharded tensors load as each other.
/// Pure.
std::vector<std::string> differences(const State& state, const std::vector<Item>& items);

/// Reads every entry of the state that the checkpoint has: this rank's slab, straight into the state's memory. per_rank
/// tensors come from rank modulo the number of ranks that wrote. The state must fit (differences()).
void read_state(const State& state, const std::string& checkpoint_dir, const std::vector<Item>& items, int rank);

}  // namespace trainrt::checkpoint
