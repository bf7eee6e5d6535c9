#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <trainrt/state.hpp>
#include <vector>

#include "checkpoint/format/index.hpp"

namespace trainrt::checkpoint {

/// How much of a checkpoint a state names.
enum class Covers : std::uint8_t {
  all,   ///< a checkpoint that has more is of another model
  part,  ///< what a checkpoint has besides is left alone
};

/// What a checkpoint holds under a name.
struct Item {
  std::string name;
  std::string dtype;      ///< "f32", ...; "string"
  std::string placement;  ///< "replicated", "sharded", "per_rank", "value"
  Shape shape;            ///< of the whole tensor, of one rank's if it is per_rank; [] for values
};

/// What a checkpoint holds, gathered from the indices of all its parts, one at a time. It grows with names, not with ranks.
class Contents {
 public:
  /// An index that contradicts one before throws Error naming `path`.
  void add(const Index& index, const std::string& path);

  /// All parts are added: tensors that are not whole, having too few or too many elements or ranks, or
  /// some twice and others not at all, one line each.
  std::vector<std::string> incomplete(int ranks) const;

  const Item* find(const std::string& name) const;
  std::vector<Item> items() const;  ///< by name

 private:
  struct Gathered {
    Item item;
    std::uint64_t elements = 0;  // of all slabs; of per_rank tensors and values: how many there are
    std::uint64_t measure = 0;   // of all slabs, of a per_rank tensor's ranks: tells that none comes twice
  };
  Gathered& gather(const IndexEntry& entry, const std::string& path);
  std::map<std::string, Gathered> gathered_;
};

/// The item that an entry of a state would be saved as.
Item item_of(const TensorEntry& entry);
Item item_of(const ValueEntry& entry);

/// An item can be loaded into an entry that would be saved as `wanted`. Replicated and sharded load as each other. Pure.
bool fits(const Item& wanted, const Item& found);

/// "a tensor of f32 [2, 3] per rank", "a value of type i64"
std::string describe(const Item& item);

/// What keeps the checkpoint from being loaded into this state, one line a name; empty = it fits. Entries of the state that
/// are optional may be missing; items under "trainrt/" may be too many, and all others if the state covers a part. Pure.
std::vector<std::string> differences(const State& state, const std::vector<Item>& items, Covers covers = Covers::all);

}  // namespace trainrt::checkpoint
