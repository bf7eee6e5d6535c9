#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/format/index.hpp"

namespace trainrt::checkpoint {

/// How much of a checkpoint a state must name.
enum class Covers : std::uint8_t {
  all,   ///< a checkpoint with other entries belongs to another model and is refused
  part,  ///< other entries of the checkpoint are ignored
};

/// A tensor or value in a checkpoint.
struct Item {
  std::string name;
  std::string dtype;      ///< "f32", ...; "string"
  std::string placement;  ///< "replicated", "sharded", "per_rank", "value"
  Shape shape;            ///< of the complete tensor; of one rank's tensor if it is per_rank; [] for values
};

/// The tensors and values of a checkpoint, collected from the indices of all its parts. Its size grows with the number of
/// names and not with the number of ranks.
class Contents {
 public:
  /// Adds the index of a part. Throws Error naming `path` if it contradicts an earlier index.
  void add(const Index& index, const std::string& path);

  /// Returns one line for each tensor with missing, surplus or repeated slabs or ranks. Must be
  /// called after all parts were added; `ranks` is the number of ranks that wrote the checkpoint.
  std::vector<std::string> incomplete(int ranks) const;

  const Item* find(const std::string& name) const;  ///< Returns nullptr if the checkpoint has no such entry.
  std::vector<Item> items() const;                  ///< Returns all items, sorted by name.

 private:
  struct ItemTotals {
    Item item;
    std::uint64_t elements = 0;  // elements of all slabs; number of entries for per_rank tensors and values
    std::uint64_t measure = 0;   // sum of measure() (contents.cpp) over slabs or ranks, which detects repeated ones
  };
  ItemTotals& gather(const IndexEntry& entry, const std::string& path);
  std::map<std::string, ItemTotals> gathered_;
};

/// Returns the item that an entry of a state is saved as.
Item item_of(const TensorEntry& entry);
Item item_of(const ValueEntry& entry);

/// Returns whether `found` can be loaded into an entry that is saved as `wanted`. A replicated tensor can be loaded as a
/// sharded one and vice versa. Pure function.
bool fits(const Item& wanted, const Item& found);

/// Returns "a tensor of f32 [2, 3] per rank" or "a value of type i64".
std::string describe(const Item& item);

/// Returns the reasons why the checkpoint cannot be loaded into this state, one line per name; empty if it can. Optional
/// entries may be missing in the checkpoint. Additional items are permitted below "trainrt/", and everywhere for
/// Covers::part. Pure function.
std::vector<std::string> differences(const State& state, const std::vector<Item>& items, Covers covers = Covers::all);

}  // namespace trainrt::checkpoint
