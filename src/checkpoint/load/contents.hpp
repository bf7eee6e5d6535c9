#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/format/index.hpp"

namespace trainrt::checkpoint {

/// Whether the State must have all tensors and values of the checkpoint that it is loaded from.
enum class Covers : std::uint8_t {
  all,   ///< a checkpoint with entries that the State lacks belongs to another model and is refused
  part,  ///< entries of the checkpoint that the State lacks are ignored
};

/// Name, dtype, placement and shape of a tensor or value in a checkpoint.
struct Item {
  std::string name;
  std::string dtype;      ///< "f32", ...; "string" only for values
  std::string placement;  ///< how ranks hold the tensor: "replicated", "sharded" or "per_rank"; "value" for values
  Shape shape;            ///< shape of the complete tensor; of one rank's tensor if it is per_rank; [] for values
};

/// All tensors and values of a checkpoint, collected from the indices of all its parts (a part is the bytes that one rank
/// wrote). The memory of a Contents grows with the number of names, not with the number of ranks.
class Contents {
 public:
  /// Adds the tensors and values that one rank wrote, as listed in the rank's index. Throws Error naming the file
  /// `path` if the index contradicts an earlier one.
  void add(const Index& index, const std::string& path);

  /// Returns one line for each tensor or value with missing, surplus or repeated slabs or ranks; empty if the
  /// checkpoint is complete. Must be called after the indices of all ranks were added. `ranks` is the number of ranks
  /// that wrote the checkpoint.
  std::vector<std::string> incomplete(int ranks) const;

  /// Returns the tensor or value with this name; nullptr if the checkpoint has no such entry.
  const Item* find(const std::string& name) const;
  std::vector<Item> items() const;  ///< Returns all tensors and values, sorted by name.

 private:
  struct ItemTotals {
    Item item;
    std::uint64_t elements = 0;  // number of elements in all slabs; number of entries for per_rank tensors and values
    std::uint64_t measure = 0;   // sum of measure() (contents.cpp) over all slabs or ranks, which detects repeated ones
  };
  ItemTotals& gather(const IndexEntry& entry, const std::string& path);
  std::map<std::string, ItemTotals> gathered_;
};

/// Returns the name, dtype, placement and shape with which a State's tensor or value is saved.
Item item_of(const TensorEntry& entry);
Item item_of(const ValueEntry& entry);

/// Returns whether `found`, a tensor or value of a checkpoint, can be loaded into an entry of the State that is saved as
/// `wanted`: dtype and shape must be equal. A replicated tensor can be loaded as a sharded one and vice versa. Pure
/// function.
bool fits(const Item& wanted, const Item& found);

/// Returns a description for messages, such as "a tensor of f32 [2, 3] per rank" or "a value of type i64".
std::string describe(const Item& item);

/// Compares a State with the `items` of a checkpoint, and returns the reasons why the checkpoint cannot be loaded into the
/// State, one line per name; empty if it can. Optional entries of the State may be missing in the checkpoint. The
/// checkpoint may have additional items if their names begin with "trainrt/", or if `covers` is Covers::part. Pure
/// function.
std::vector<std::string> differences(const State& state, const std::vector<Item>& items, Covers covers = Covers::all);

}  // namespace trainrt::checkpoint
