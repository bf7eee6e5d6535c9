#include "checkpoint/contents.hpp"

#include <map>
#include <set>
#include <trainrt/error.hpp>

#include "checkpoint/format.hpp"
#include "checkpoint/layout.hpp"
#include "checkpoint/pack.hpp"
#include "io/h5_types.hpp"

namespace trainrt::checkpoint {

namespace {

Item item_from(const std::string& path, hid_t dataset) {
  Item item;
  item.name = path.substr(1);
  item.dtype = io::h5_dataset_type(dataset);
  item.placement = io::h5_read_text(dataset, "placement");
  if (item.placement != value_placement) item.shape = io::h5_read_integers(dataset, "global_shape");
  return item;
}

bool is_value(const Item& item) { return item.placement == value_placement; }

std::string describe(const Item& item) {
  if (is_value(item)) return "a value of type " + item.dtype;
  return "a tensor of " + item.dtype + " " + to_string(item.shape) + (item.placement == "per_rank" ? " per rank" : "");
}

/// The state's entries, as the items that they would be saved as.
struct Wanted {
  Item item;
  bool optional = false;
};

std::string dtype_name(const ValueEntry& entry) {
  return std::visit(
      [](const auto* value) -> std::string {
        using T = std::remove_cvref_t<decltype(*value)>;
        if constexpr (std::is_same_v<T, std::string>)
          return "string";
        else if constexpr (std::is_same_v<T, std::int32_t>)
          return "i64";
        else
          return std::string(trainrt::name_of(dtype_of<T>::value));
      },
      entry.value);
}

std::map<std::string, Wanted> wanted_by(const State& state) {
  std::map<std::string, Wanted> wanted;
  for (const auto& entry : state.tensors())
    wanted[entry.name] = {{entry.name, std::string(trainrt::name_of(entry.local.dtype)),
                           std::string(name_of(entry.placement)), entry.global_shape},
                          entry.optional};
  for (const auto& entry : state.values())
    wanted[entry.name] = {{entry.name, dtype_name(entry), std::string(value_placement), {}}, entry.optional};
  return wanted;
}

bool fits(const Item& wanted, const Item& found) {
  return is_value(wanted) == is_value(found) && wanted.dtype == found.dtype && wanted.shape == found.shape &&
         (wanted.placement == "per_rank") == (found.placement == "per_rank");
}

}  // namespace

std::vector<Item> read_contents(const std::string& checkpoint_dir) {
  const auto path = checkpoint_dir + "/" + view_name;
  const auto lock = io::h5_lock();
  const auto file = io::h5_open(path);
  std::vector<Item> items;
  io::h5_walk(
      file,
      [&](const std::string& name, hid_t object) {
        if (H5Iget_type(object) == H5I_DATASET) items.push_back(item_from(name, object));
      },
      [&](const std::string& name, const std::string& why) { throw Error("'" + path + "': " + name + " " + why); });
  return items;
}

std::string pack(const std::vector<Item>& items) {
  Packer packer;
  for (const auto& item : items) packer.put(item.name).put(item.dtype).put(item.placement).put(item.shape);
  return packer.bytes();
}

std::vector<Item> unpack_items(std::string_view bytes) {
  std::vector<Item> items;
  for (Unpacker unpacker(bytes); !unpacker.done();) {
    auto& item = items.emplace_back();
    item.name = unpacker.text();
    item.dtype = unpacker.text();
    item.placement = unpacker.text();
    item.shape = unpacker.shape();
  }
  return items;
}

std::vector<std::string> differences(const State& state, const std::vector<Item>& items) {
  std::vector<std::string> lines;
  auto wanted = wanted_by(state);
  for (const auto& item : items) {
    const auto found = wanted.find(item.name);
    if (found == wanted.end()) {
      if (!item.name.starts_with("trainrt/"))
        lines.push_back("'" + item.name + "' is in the checkpoint only, " + describe(item));
      continue;
    }
    if (!fits(found->second.item, item))
      lines.push_back("'" + item.name + "' is " + describe(item) + " in the checkpoint, and " +
                      describe(found->second.item) + " in the State");
    wanted.erase(found);
  }
  for (const auto& [name, entry] : wanted)
    if (!entry.optional) lines.push_back("'" + name + "' is in the State only, " + describe(entry.item));
  return lines;
}

}  // namespace trainrt::checkpoint
