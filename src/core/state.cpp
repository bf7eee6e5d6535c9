#include <trainrt/state.hpp>

#include <algorithm>

#include <trainrt/error.hpp>

namespace trainrt {

namespace {

void check_name(const std::string& name) {
  const auto bad = [&](const std::string& why) { throw UsageError("bad name in State: '" + name + "' " + why); };
  if (name.empty()) bad("is empty");
  if (name.front() == '/' || name.back() == '/' || name.find("//") != std::string::npos) bad("has an empty part");
  if (name.find('\0') != std::string::npos) bad("holds a NUL");
  for (std::size_t at = 0; at <= name.size();) {
    const auto slash = std::min(name.find('/', at), name.size());
    const auto part = name.substr(at, slash - at);
    if (part == "." || part == "..") bad("has a part '" + part + "'");
    at = slash + 1;
  }
}

}  // namespace

void State::claim(const std::string& name) {
  check_name(name);
  const auto clash = [&](const std::string& other) {
    throw UsageError("State: '" + name + "' and '" + other + "': one name is a folder of the other");
  };
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
    if (const auto folder = name.substr(0, slash); names_.contains(folder)) clash(folder);
  const auto inside = names_.lower_bound(name + "/");
  if (inside != names_.end() && inside->starts_with(name + "/")) clash(*inside);
  if (!names_.insert(name).second) throw UsageError("State has two entries named '" + name + "'");
}

TensorEntry& State::tensor(std::string name, TensorView view) {
  claim(name);
  TensorEntry entry;
  entry.name = std::move(name);
  entry.global_shape = view.shape;
  entry.offset.assign(view.shape.size(), 0);
  entry.local = std::move(view);
  return tensors_.emplace_back(std::move(entry));
}

TensorEntry& TensorEntry::sharded(int axis, std::int64_t first, std::int64_t global_extent) {
  if (axis < 0 || static_cast<std::size_t>(axis) >= local.shape.size())
    throw UsageError("State: '" + name + "' of shape " + to_string(local.shape) + " has no axis " + std::to_string(axis));
  const auto at = static_cast<std::size_t>(axis);
  if (first < 0 || first + local.shape[at] > global_extent)
    throw UsageError("State: the slab of '" + name + "' (first " + std::to_string(first) + ", length " +
                     std::to_string(local.shape[at]) + ") leaves its axis of length " + std::to_string(global_extent));
  placement = Placement::sharded;
  global_shape[at] = global_extent;
  offset[at] = first;
  return *this;
}

TensorEntry& TensorEntry::per_rank() {
  placement = Placement::per_rank;
  return *this;
}

template <class T>
ValueEntry& State::add_value(std::string name, T& v) {
  claim(name);
  return values_.emplace_back(ValueEntry{std::move(name), &v});
}

ValueEntry& State::value(std::string name, std::int32_t& v) { return add_value(std::move(name), v); }
ValueEntry& State::value(std::string name, std::int64_t& v) { return add_value(std::move(name), v); }
ValueEntry& State::value(std::string name, double& v) { return add_value(std::move(name), v); }
ValueEntry& State::value(std::string name, bool& v) { return add_value(std::move(name), v); }
ValueEntry& State::value(std::string name, std::string& v) { return add_value(std::move(name), v); }

void State::append(const State& other) {
  for (const auto& entry : other.tensors_) {
    claim(entry.name);
    tensors_.push_back(entry);
  }
  for (const auto& entry : other.values_) {
    claim(entry.name);
    values_.push_back(entry);
  }
}

}  // namespace trainrt
