#include <trainrt/state.hpp>

#include <algorithm>
#include <cctype>
#include <string_view>

#include <trainrt/error.hpp>

#include "core/text/text.hpp"

namespace trainrt {

namespace {

/// Prefix of the folder names for per-rank files in a checkpoint: "rank-00003/".
constexpr std::string_view ranks_folder = "rank-";

void check_name(const std::string& name) {
  const auto bad = [&](const std::string& why) { throw UsageError("bad name in State: '" + name + "' " + why); };
  if (name.empty()) bad("is empty");
  if (name.front() == '/' || name.back() == '/' || name.find("//") != std::string::npos) bad("has an empty part");
  if (name.find('\0') != std::string::npos) bad("holds a NUL");
  if (!is_utf8(name)) bad("is not UTF-8");
  for (std::size_t at = 0; at <= name.size();) {
    const auto slash = std::min(name.find('/', at), name.size());
    const auto part = name.substr(at, slash - at);
    if (part == "." || part == "..") bad("has a part '" + part + "'");
    at = slash + 1;
  }
}

void claim_in(std::set<std::string>& names, const std::string& name) {
  check_name(name);
  const auto clash = [&](const std::string& other) {
    throw UsageError("State: '" + name + "' and '" + other + "' cannot both be entries: one name is a folder of the other");
  };
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
    if (const auto folder = name.substr(0, slash); names.contains(folder)) clash(folder);
  const auto inside = names.lower_bound(name + "/");
  if (inside != names.end() && inside->starts_with(name + "/")) clash(*inside);
  if (!names.insert(name).second) throw UsageError("State has two entries named '" + name + "'");
}

/// The maximum number of axes of a dataset in HDF5. A tensor with Placement::per_rank may have one axis less, since a
/// checkpoint presents the tensors of all ranks as one dataset with a further axis for the rank.
constexpr std::size_t max_axes = 32;

void check_axes(const std::string& name, const Shape& shape, std::size_t limit) {
  if (shape.size() > limit)
    throw UsageError("State: '" + name + "' has " + std::to_string(shape.size()) + " axes: a tensor may have at most " +
                     std::to_string(limit) + (limit < max_axes ? " if each rank has its own" : "") + " (HDF5's limit)");
}

/// Throws UsageError if an extent of a tensor's shape is negative or the tensor's number of bytes does not fit into 63
/// bits. Extents of 0 are skipped, so that the other extents alone are checked for overflow, too.
void check_size(const std::string& name, const Shape& shape, DType dtype) {
  auto bytes = static_cast<std::int64_t>(size_of(dtype));
  for (const auto extent : shape)
    if (extent < 0 || (extent > 0 && __builtin_mul_overflow(bytes, extent, &bytes)))
      throw UsageError("State: '" + name + "' of shape " + to_string(shape) +
                       (extent < 0 ? " has a negative extent" : " has more bytes than a file can have (2^63)"));
}

void check_shape(const std::string& name, const Shape& shape, DType dtype) {
  check_axes(name, shape, max_axes);
  check_size(name, shape, dtype);
}

void check_inside(const TensorEntry& entry) {
  const auto& shape = entry.local.shape;
  bool inside = entry.offset.size() == shape.size() && entry.global_shape.size() == shape.size();
  for (std::size_t axis = 0; inside && axis < shape.size(); ++axis)
    inside = entry.offset[axis] >= 0 && shape[axis] >= 0 && shape[axis] <= entry.global_shape[axis] &&
             entry.offset[axis] <= entry.global_shape[axis] - shape[axis];
  if (!inside)
    throw UsageError("State: the slab of '" + entry.name + "', " + to_string(shape) + " at " + to_string(entry.offset) +
                     ", is not inside its tensor of shape " + to_string(entry.global_shape));
}

}  // namespace

void State::claim(const std::string& name) { claim_in(names_, name); }

void State::claim_slab(const TensorEntry& entry) {
  const auto found = first_slab_.find(entry.name);
  if (found == first_slab_.end()) {
    claim(entry.name);
    first_slab_[entry.name] = tensors_.size();
    return;
  }
  const auto& first = tensors_[found->second];
  if (first.local.dtype != entry.local.dtype || first.global_shape != entry.global_shape)
    throw UsageError("State: the slabs of '" + entry.name + "' disagree about its type or shape: " +
                     std::string(name_of(first.local.dtype)) + " " + to_string(first.global_shape) + " and " +
                     std::string(name_of(entry.local.dtype)) + " " + to_string(entry.global_shape));
}

TensorEntry& State::tensor(std::string name, TensorView view) {
  check_shape(name, view.shape, view.dtype);
  claim(name);
  TensorEntry entry;
  entry.name = std::move(name);
  entry.global_shape = view.shape;
  entry.offset.assign(view.shape.size(), 0);
  entry.local = std::move(view);
  return tensors_.emplace_back(std::move(entry));
}

TensorEntry& State::slab(std::string name, TensorView view, Shape offset, Shape global_shape) {
  TensorEntry entry;
  entry.name = std::move(name);
  entry.local = std::move(view);
  entry.placement = Placement::sharded;
  entry.offset = std::move(offset);
  entry.global_shape = std::move(global_shape);
  entry.one_of_several = true;
  check_shape(entry.name, entry.global_shape, entry.local.dtype);
  check_inside(entry);
  claim_slab(entry);
  return tensors_.emplace_back(std::move(entry));
}

FileEntry& State::file(std::string name, std::string path) {
  claim_in(file_names_, name);
  if (name.starts_with(ranks_folder) && std::isdigit(static_cast<unsigned char>(name[ranks_folder.size()])) != 0)
    throw UsageError("bad name in State: the file '" + name +
                     "': the folders 'rank-NUMBER' are reserved for the files of each rank");
  return files_.emplace_back(FileEntry{std::move(name), std::move(path)});
}

FileEntry& FileEntry::per_rank() {
  each_rank = true;
  return *this;
}

TensorEntry& TensorEntry::sharded(int axis, std::int64_t first, std::int64_t global_extent) {
  if (axis < 0 || static_cast<std::size_t>(axis) >= local.shape.size())
    throw UsageError("State: '" + name + "' of shape " + to_string(local.shape) + " has no axis " + std::to_string(axis));
  const auto at = static_cast<std::size_t>(axis);
  if (first < 0 || global_extent < 0 || first > global_extent - local.shape[at])
    throw UsageError("State: the slab of '" + name + "' (first " + std::to_string(first) + ", length " +
                     std::to_string(local.shape[at]) + ") is not inside its axis of length " +
                     std::to_string(global_extent));
  auto shape = global_shape;
  shape[at] = global_extent;
  check_size(name, shape, local.dtype);
  placement = Placement::sharded;
  global_shape[at] = global_extent;
  offset[at] = first;
  return *this;
}

TensorEntry& TensorEntry::per_rank() {
  check_axes(name, global_shape, max_axes - 1);
  placement = Placement::per_rank;
  return *this;
}

TensorEntry& TensorEntry::part_of_sum() {
  switch (local.dtype) {
    case DType::f64:
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::i64:
    case DType::i32:
      break;
    default:
      throw UsageError("State: '" + name + "' of type " + std::string(name_of(local.dtype)) +
                       " cannot be a part of a sum: only f64, f32, f16, bf16, i64 and i32 can");
  }
  summed = true;
  return per_rank();
}

ValueEntry& ValueEntry::part_of_sum() {
  if (std::holds_alternative<bool*>(value) || std::holds_alternative<std::string*>(value))
    throw UsageError("State: the value '" + name + "' cannot be a part of a sum: only numbers can");
  summed = true;
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

void State::before_save(std::function<void()> call) { before_save_.push_back(std::move(call)); }

void State::bring_up_to_date() const {
  for (const auto& call : before_save_) call();
}

void State::add_summed(const ValueEntry& entry) {
  const auto add = [&]<class T>(T* value) {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
      tensor(entry.name, TensorView{value, trainrt::dtype_of<T>::value, {}}).part_of_sum().optional = entry.optional;
  };
  std::visit(add, entry.value);
}

void State::append(const State& other) {
  for (const auto& entry : other.tensors_) {
    entry.one_of_several ? claim_slab(entry) : claim(entry.name);
    tensors_.push_back(entry);
  }
  for (const auto& entry : other.values_) {
    if (entry.summed) {
      add_summed(entry);
      continue;
    }
    claim(entry.name);
    values_.push_back(entry);
  }
  for (const auto& entry : other.files_) {
    claim_in(file_names_, entry.name);
    files_.push_back(entry);
  }
  before_save_.insert(before_save_.end(), other.before_save_.begin(), other.before_save_.end());
}

}  // namespace trainrt
