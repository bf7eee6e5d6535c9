#include "checkpoint/load/contents.hpp"

#include <fmt/format.h>

#include <random>

#include <trainrt/error.hpp>

#include "checkpoint/format/names.hpp"
#include "checkpoint/layout.hpp"
#include "checkpoint/value_bytes.hpp"

namespace trainrt::checkpoint {

namespace {

Item item_from(const IndexEntry& entry) { return {entry.name, entry.dtype, entry.placement, entry.global_shape}; }

bool is_value(const Item& item) { return item.placement == value_placement; }

/// Adds two numbers of elements. Returns 2^64 - 1 on overflow, so that no overflowing sum equals the size of a tensor.
std::uint64_t add_capped(std::uint64_t a, std::uint64_t b) { return a + b < a ? ~std::uint64_t{0} : a + b; }

/// Returns a pseudo-random number for index `place` on a tensor's axis. The seed is random in each process, so that nobody
/// can craft a file with wrong slabs whose measures add up.
std::uint64_t secret(std::size_t axis, std::int64_t place) {
  static const std::uint64_t seed = std::uint64_t{std::random_device{}()} << 32 | std::random_device{}();
  auto bits = seed + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(place) + 1) + 0xd1b54a32d192ed03u * axis;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;  // mixing function of splitmix64 (Steele, Lea and Flood, OOPSLA 2014)
  bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
  return bits ^ bits >> 31;
}

/// Returns the measure of a box of a tensor, modulo 2^64: the product over all axes of f(end) - f(begin), where f is a
/// random function of the axis and the index. The measures of boxes that tile a larger box add up to the measure of the
/// larger box; for other boxes, they do so only by chance. This checks a tiling without storing the boxes.
std::uint64_t measure(const Shape& offset, const Shape& shape) {
  std::uint64_t product = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    product *= secret(axis, offset[axis] + shape[axis]) - secret(axis, offset[axis]);
  return product;
}

/// A tensor or value that the State expects in a checkpoint, and whether the checkpoint may lack it.
struct WantedItem {
  Item item;
  bool optional = false;
};

std::map<std::string, WantedItem> wanted_by(const State& state) {
  std::map<std::string, WantedItem> wanted;
  for (const auto& entry : state.tensors()) {
    auto& slot = wanted.try_emplace(entry.name, WantedItem{item_of(entry), true}).first->second;
    slot.optional = slot.optional && entry.optional;
  }
  for (const auto& entry : state.values()) wanted[entry.name] = {item_of(entry), entry.optional};
  return wanted;
}

}  // namespace

Contents::ItemTotals& Contents::gather(const IndexEntry& entry, const std::string& path) {
  auto found = gathered_.find(entry.name);
  if (found == gathered_.end()) found = gathered_.emplace(entry.name, ItemTotals{item_from(entry)}).first;
  const auto& first = found->second.item;
  if (first.dtype != entry.dtype || first.placement != entry.placement || first.shape != entry.global_shape)
    throw Error(fmt::format("'{}': '{}' is {} ({}) in this index and {} ({}) in another", path, entry.name,
                            describe(item_from(entry)), entry.placement, describe(first), first.placement));
  return found->second;
}

void Contents::add(const Index& index, const std::string& path) {
  for (const auto& entry : index.tensors) {
    auto& gathered = gather(entry, path);
    const bool own = entry.placement == name_of(Placement::per_rank);
    gathered.elements = add_capped(gathered.elements, own ? 1 : static_cast<std::uint64_t>(element_count(entry.shape)));
    gathered.measure += own ? measure({index.rank}, {1}) : measure(entry.offset, entry.shape);
  }
  for (const auto& entry : index.values) ++gather(entry, path).elements;
}

std::vector<std::string> Contents::incomplete(int ranks) const {
  std::vector<std::string> lines;
  for (const auto& [name, gathered] : gathered_) {
    const auto& item = gathered.item;
    const bool own = item.placement == name_of(Placement::per_rank);
    const auto wanted = is_value(item) ? 1 : own ? ranks : element_count(item.shape);
    if (gathered.elements != static_cast<std::uint64_t>(wanted))
      lines.push_back(fmt::format("'{}', {}, has {} {} instead of {}", name, describe(item), gathered.elements,
                                  is_value(item) ? "values"
                                  : own          ? "ranks"
                                                 : "elements in its slabs",
                                  wanted));
    else if (const Shape whole = own ? Shape{ranks} : item.shape;
             !is_value(item) && wanted > 0 && gathered.measure != measure(Shape(whole.size(), 0), whole))
      lines.push_back(fmt::format("'{}', {}, has {} twice", name, describe(item), own ? "a rank" : "elements"));
  }
  return lines;
}

const Item* Contents::find(const std::string& name) const {
  const auto found = gathered_.find(name);
  return found == gathered_.end() ? nullptr : &found->second.item;
}

std::vector<Item> Contents::items() const {
  std::vector<Item> items;
  for (const auto& [name, gathered] : gathered_) items.push_back(gathered.item);
  return items;
}

Item item_of(const TensorEntry& entry) {
  return {entry.name, std::string(trainrt::name_of(entry.local.dtype)), std::string(name_of(entry.placement)),
          entry.global_shape};
}

Item item_of(const ValueEntry& entry) { return {entry.name, dtype_of(entry), std::string(value_placement), {}}; }

bool fits(const Item& wanted, const Item& found) {
  return is_value(wanted) == is_value(found) && wanted.dtype == found.dtype && wanted.shape == found.shape &&
         (wanted.placement == "per_rank") == (found.placement == "per_rank");
}

std::string describe(const Item& item) {
  if (is_value(item)) return "a value of type " + item.dtype;
  return "a tensor of " + item.dtype + " " + to_string(item.shape) + (item.placement == "per_rank" ? " per rank" : "");
}

std::vector<std::string> differences(const State& state, const std::vector<Item>& items, Covers covers) {
  std::vector<std::string> lines;
  auto wanted = wanted_by(state);
  for (const auto& item : items) {
    const auto found = wanted.find(item.name);
    if (found == wanted.end()) {
      if (covers == Covers::all && !item.name.starts_with("trainrt/"))
        lines.push_back("'" + item.name + "' is only in the checkpoint: " + describe(item));
      continue;
    }
    if (!fits(found->second.item, item))
      lines.push_back("'" + item.name + "' is " + describe(item) + " in the checkpoint but " +
                      describe(found->second.item) + " in the State");
    wanted.erase(found);
  }
  for (const auto& [name, entry] : wanted)
    if (!entry.optional) lines.push_back("'" + name + "' is only in the State: " + describe(entry.item));
  return lines;
}

}  // namespace trainrt::checkpoint
