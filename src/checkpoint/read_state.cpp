#include <limits>
#include <map>
#include <trainrt/error.hpp>

#include "checkpoint/contents.hpp"
#include "checkpoint/format.hpp"
#include "io/h5_types.hpp"

namespace trainrt::checkpoint {

namespace {

io::H5Id open_dataset(hid_t file, const std::string& name) {
  return io::H5Id(H5Dopen2(file, object_path(name).c_str(), H5P_DEFAULT), H5Dclose, "open '" + name + "' of a checkpoint");
}

/// Selects this rank's part of the whole in the dataset's space.
io::H5Id select(hid_t dataset, const TensorEntry& entry, int rank) {
  const auto whole = io::h5_dataset_shape(dataset);
  auto space = io::h5_space(whole);
  if (whole.empty()) return space;
  std::vector<hsize_t> start(entry.offset.begin(), entry.offset.end());
  std::vector<hsize_t> count(entry.local.shape.begin(), entry.local.shape.end());
  if (entry.placement == Placement::per_rank) {
    start.insert(start.begin(), static_cast<hsize_t>(rank % whole.front()));
    count.insert(count.begin(), 1);
  }
  if (start.size() != whole.size()) throw Error("'" + entry.name + "' has another rank in state.h5 than in its attributes");
  io::h5_check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr),
               "select the slab of '" + entry.name + "'");
  return space;
}

void read(hid_t file, const TensorEntry& entry, int rank) {
  if (entry.local.bytes() == 0) return;
  const auto dataset = open_dataset(file, entry.name);
  const auto from = select(dataset, entry, rank);
  const auto into = io::h5_space(entry.local.shape);
  io::h5_check(H5Dread(dataset, io::h5_type(entry.local.dtype), into, from, H5P_DEFAULT, entry.local.data),
               "read tensor '" + entry.name + "'");
}

template <class T>
T read_scalar(hid_t dataset, DType dtype, const std::string& name) {
  T value{};
  io::h5_check(H5Dread(dataset, io::h5_type(dtype), H5S_ALL, H5S_ALL, H5P_DEFAULT, &value), "read value '" + name + "'");
  return value;
}

void read_into(std::int64_t& value, hid_t dataset, const std::string& name) {
  value = read_scalar<std::int64_t>(dataset, DType::i64, name);
}
void read_into(std::int32_t& value, hid_t dataset, const std::string& name) {
  const auto stored = read_scalar<std::int64_t>(dataset, DType::i64, name);
  if (stored < std::numeric_limits<std::int32_t>::min() || stored > std::numeric_limits<std::int32_t>::max())
    throw UsageError("value '" + name + "' of the checkpoint, " + std::to_string(stored) +
                     ", does not fit into the State's 32-bit integer");
  value = static_cast<std::int32_t>(stored);
}
void read_into(double& value, hid_t dataset, const std::string& name) {
  value = read_scalar<double>(dataset, DType::f64, name);
}
void read_into(bool& value, hid_t dataset, const std::string& name) {
  value = read_scalar<std::int8_t>(dataset, DType::boolean, name) != 0;
}
void read_into(std::string& value, hid_t dataset, const std::string& name) {
  io::H5Id type(H5Dget_type(dataset), H5Tclose, "read the type of value '" + name + "'");
  if (io::h5_check(H5Tis_variable_str(type), "look at value '" + name + "'") > 0)
    throw Error("value '" + name + "' of the checkpoint is no string of fixed length");
  std::string text(H5Tget_size(type), '\0');
  io::h5_check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.data()), "read value '" + name + "'");
  const auto bytes = io::h5_read_integer(dataset, "bytes");
  if (bytes < 0 || static_cast<std::size_t>(bytes) > text.size())
    throw Error("value '" + name + "' of the checkpoint says that it is longer than it is");
  text.resize(static_cast<std::size_t>(bytes));
  value = std::move(text);
}

}  // namespace

void read_state(const State& state, const std::string& checkpoint_dir, const std::vector<Item>& items, int rank) {
  std::map<std::string, const Item*> there;
  for (const auto& item : items) there[item.name] = &item;
  const auto lock = io::h5_lock();
  const auto file = io::h5_open(checkpoint_dir + "/" + view_name);
  for (const auto& entry : state.tensors())
    if (there.contains(entry.name)) read(file, entry, rank);
  for (const auto& entry : state.values()) {
    if (!there.contains(entry.name)) continue;
    const auto dataset = open_dataset(file, entry.name);
    std::visit([&](auto* value) { read_into(*value, dataset, entry.name); }, entry.value);
  }
}

}  // namespace trainrt::checkpoint
